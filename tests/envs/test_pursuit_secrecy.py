"""Any rules a pursuit can have: the belief is exact and nothing shows detectives the hidden place.

Options are drawn at random: both games, one to six detectives, a seat for each, black tickets,
double moves, a ferry, detectives who drop out, every order of moving and placing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from common.errors import OptionError
from envs import make_game
from envs.core.position import Position
from envs.core.rng import below, new_rng
from tests.support.pursuit_worlds import compare_with_histories, look
from tests.support.pursuits import belief, record

LINES = {
    "taxi": [[1, 2], [2, 3], [3, 4], [5, 6], [6, 7], [7, 8], [9, 10], [10, 11], [11, 12], [1, 5]],
    "bus": [[1, 3], [6, 8], [8, 12], [5, 9], [2, 6], [10, 12]],
    "ferry": [[4, 9], [3, 11]],
}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Twelve places, two transports with tickets and a ferry without."""
    names = [{"name": name, "color": "#336699", "needs_black": name == "ferry"} for name in LINES]
    board = {
        "format": "masquerade board",
        "version": 1,
        "name": "harbour",
        "transports": names,
        "nodes": [{"number": n + 1, "x": n % 4, "y": n // 4} for n in range(12)],
        "edges": LINES,
    }
    path: Path = tmp_path_factory.mktemp("boards") / "harbour.json"
    path.write_text(json.dumps(board))
    return str(path)


OPTIONS = st.fixed_dictionaries(
    {
        "num_detectives": st.sampled_from([1, 2, 3, 6]),
        "seats": st.sampled_from(["team", "each"]),
        "moving": st.sampled_from(["in_order", "any_order", "at_once"]),
        "first": st.sampled_from(["fugitive", "detectives"]),
        "starts": st.sampled_from(["drawn", "chosen"]),
        "placement_order": st.sampled_from(["fugitive_first", "detectives_first"]),
        "placement_is_round": st.booleans(),
        "start_is_known": st.booleans(),
        "detective_tickets": st.sampled_from([(1, 1), (2, 1), (4, 4)]),
        "fugitive_tickets": st.sampled_from(["unlimited", (1, 1), (2, 2)]),
        "black_tickets": st.integers(0, 3),
        "double_moves": st.integers(0, 2),
        "spent_tickets": st.sampled_from(["supply", "fugitive"]),
        "stuck_detectives": st.sampled_from(["leave", "stay"]),
        "may_share": st.booleans(),
        "may_step_on_detective": st.booleans(),
        "reveals": st.sampled_from([0, 2, (2, 4)]),
        "rounds": st.integers(2, 5),
    }
)
SOME_GAMES = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
GAME_IDS = st.sampled_from(["scotland_yard_v0", "phantom_v0"])


def game_of(game_id: str, harbour: str, options: dict[str, Any]) -> Any:
    try:
        return make_game(game_id, board=harbour, **options)
    except OptionError:  # these options do not go together
        assume(False)


@SOME_GAMES
@given(GAME_IDS, OPTIONS, st.integers(0, 2**31))
def test_the_belief_is_brute_force_under_any_rules(
    harbour: str, game_id: str, options: dict[str, Any], seed: int
) -> None:
    game = game_of(game_id, harbour, options)
    compare_with_histories(game.new_position(), seed)


@SOME_GAMES
@given(GAME_IDS, OPTIONS, st.integers(0, 2**31))
def test_no_detective_gets_anything_that_depends_on_the_hidden_place(
    harbour: str, game_id: str, options: dict[str, Any], seed: int
) -> None:
    game = game_of(game_id, harbour, options)
    rng = new_rng(seed)
    position = game.new_position()
    while not position.is_over:
        if position.turn >= 0 and len(belief(position)) > 1:
            for viewer in range(1, game.facts.num_players):
                is_own = position.turn == viewer
                looks = {look(game, position, viewer, is_own, rng) for _ in range(2)}
                assert len(looks) == 1
                assert len({said(game, position, viewer, rng) for _ in range(2)}) == 1
        legal = position.legal_actions()
        position.apply(legal[int(below(rng, len(legal)))])


def said(game: Any, position: Position, viewer: int, rng: Any) -> str:
    """Words that are said whoever looks: the last line of a game, and what actions are called."""
    twin = position.copy()
    twin.state[:] = position.determinized(viewer, rng)
    words = [game.status(twin.state)]
    if position.turn == viewer:
        words += [twin.action_text(action) for action in twin.legal_actions()]
    return "\n".join(words)


def test_the_rules_drawn_here_reach_what_they_are_for(harbour: str) -> None:
    """Ferries are taken, detectives drop out, and double moves are made, or nothing was shown."""
    game = make_game(
        "scotland_yard_v0", board=harbour, num_detectives=2, detective_tickets=(2, 1), rounds=8
    )
    rng, ferry = new_rng(1), [{4, 9}, {3, 11}]
    num_out = num_ferry = num_double = 0
    for _ in range(60):
        position = game.new_position()
        while not position.is_over:
            before = int(record(position).place[0]) + 1
            legal = position.legal_actions()
            position.apply(legal[int(below(rng, len(legal)))])
            num_ferry += {before, int(record(position).place[0]) + 1} in ferry
        num_out += int(record(position).is_out) > 0
        num_double += int(record(position).doubles_left) < 2
    assert min(num_out, num_ferry, num_double) > 5
