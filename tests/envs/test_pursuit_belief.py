"""The belief against brute force over histories, and what determinized worlds have in common."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from envs import make_game
from envs.core.checking import check_game
from envs.core.kernels import OVER
from envs.core.rng import below, new_rng
from tests.support.pursuit_worlds import compare_with_histories, look
from tests.support.pursuits import belief, record
from tests.support.sampling import IS_FULL

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("scotland_yard_v0", {"preset": "reduced", "rows": 3, "columns": 3, "rounds": 6}),
    (
        "scotland_yard_v0",
        {
            "board": "random",
            "rows": 3,
            "columns": 4,
            "num_detectives": 2,
            "detective_tickets": (3, 2, 2),
            "black_tickets": 2,
            "double_moves": 1,
            "rounds": 4,
            "reveals": (3,),
        },
    ),
    ("phantom_v0", {"rows": 3, "columns": 4, "num_detectives": 2, "rounds": 6}),
    (
        "phantom_v0",
        {
            "rows": 3,
            "columns": 4,
            "num_detectives": 2,
            "rounds": 5,
            "placement_order": "detectives_first",
            "fugitive_tickets": (1, 1, 1),
            "detective_tickets": (2, 1, 1),
        },
    ),
    ("phantom_v0", {"rows": 3, "columns": 3, "num_detectives": 1, "rounds": 5, "reveals": 0}),
]
ids = [f"{game_id}-{i}" for i, (game_id, _) in enumerate(GAMES)]


@pytest.mark.parametrize(("game_id", "options"), GAMES, ids=ids)
def test_the_belief_counts_the_histories_that_detectives_cannot_rule_out(
    game_id: str, options: dict[str, Any]
) -> None:
    game = make_game(game_id, **options)
    assert sum(compare_with_histories(game.new_position(), seed) for seed in range(6)) > 25


@pytest.mark.parametrize(("game_id", "options"), GAMES, ids=ids)
def test_worlds_are_drawn_as_often_as_histories_lead_to_them(
    game_id: str, options: dict[str, Any]
) -> None:
    game = make_game(game_id, **options)
    rng = new_rng(8)
    position = game.new_position()
    while len(belief(position)) < 3:
        if position.is_over:
            position = game.new_position()
        legal = position.legal_actions()
        position.apply(legal[int(below(rng, len(legal)))])
    weights = belief(position)
    counts: Counter[int] = Counter()
    for _ in range(6000):
        counts[int(game.record(position.determinized(1, rng)).place[0])] += 1
    assert set(counts) == set(weights)
    total = sum(weights.values())
    for place, weight in weights.items():
        share = weight / total
        assert abs(counts[place] / 6000 - share) < 5 * np.sqrt(share * (1 - share) / 6000)


def test_only_the_hidden_place_differs_between_worlds() -> None:
    game = make_game("scotland_yard_v0")
    rng = new_rng(3)
    for _ in range(5):
        position = game.new_position()
        while not position.is_over:
            if position.turn >= 0:
                world = position.determinized(1, rng)
                differing = np.flatnonzero(world != position.state)
                at, size = game.state_dtype.fields["place"][1], 2  # type: ignore[index]
                assert set(differing) <= set(range(at, at + size))
                assert position.determinized(0, rng).tobytes() == position.state.tobytes()
            legal = position.legal_actions()
            position.apply(legal[int(below(rng, len(legal)))])


WATCHED = [
    pytest.param("scotland_yard_v0", {}, id="original"),
    pytest.param("scotland_yard_v0", {"preset": "reduced"}, id="reduced"),
    pytest.param("scotland_yard_v0", {"seats": "each", "moving": "in_order"}, id="seat each"),
    pytest.param("phantom_v0", {"board": "map_1"}, id="phantom"),
    pytest.param("phantom_v0", {"preset": "visible_starts", "board": "map_2"}, id="visible starts"),
]


@pytest.mark.parametrize(("game_id", "options"), WATCHED)
def test_nothing_that_detectives_get_depends_on_the_hidden_place(
    game_id: str, options: dict[str, Any]
) -> None:
    """Observation, text, picture, status, and the words of a refused action, whoever is to move."""
    game: Any = make_game(game_id, **options)
    rng = new_rng(6)
    num_compared = {True: 0, False: 0}
    while min(num_compared.values()) < (4 if IS_FULL else 1):
        position = game.new_position()
        while not position.is_over:
            is_own = position.turn >= 1
            if position.turn >= 0 and len(belief(position)) > 1 and below(rng, 3) == 0:
                viewer = position.turn if is_own else 1
                looks = {look(game, position, viewer, is_own, rng) for _ in range(3)}
                assert len(looks) == 1
                num_compared[is_own] += 1
            legal = position.legal_actions()
            position.apply(legal[int(below(rng, len(legal)))])


def test_detectives_learn_of_the_end_and_of_nothing_else() -> None:
    """Tokens of one decision tell histories apart by its end alone, where he is not seen."""
    game = make_game("scotland_yard_v0", "reduced", rows=3, columns=3)
    rng = new_rng(9)
    ends = set()
    for _ in range(60):
        position = game.new_position()
        position.play_chance(rng)
        while not position.is_over:
            legal = position.legal_actions()
            if position.turn == 1:
                for action in legal:
                    token = int(game.kernels.seen(position.state, game.rules, action, 1))
                    after = position.copy()
                    after.apply(action)
                    reason = int(record(after).reason)
                    expected = {0: 0, 1: 1, 2: 2, 3: 0}[reason]
                    assert token == 4 * action + expected + 1
                    ends.add(expected)
            position.apply(legal[int(below(rng, len(legal)))])
    assert ends == {0, 1, 2}


def test_after_the_end_a_world_has_the_same_result() -> None:
    rng = new_rng(12)
    for game_id, options in GAMES:
        game = make_game(game_id, **options)
        for _ in range(30):
            position = game.new_position()
            while not position.is_over:
                legal = position.legal_actions()
                position.apply(legal[int(below(rng, len(legal)))])
            twin = position.copy()
            twin.state[:] = position.determinized(1, rng)
            assert twin.turn == OVER
            assert (twin.returns() == position.returns()).all()
            assert belief(position)[int(record(twin).place[0])] > 0


@pytest.mark.parametrize("moving", ["in_order", "any_order", "at_once"])
@pytest.mark.parametrize("first", ["fugitive", "detectives"])
@pytest.mark.parametrize("starts", ["drawn", "chosen"])
def test_every_mix_of_options_keeps_the_contract(moving: str, first: str, starts: str) -> None:
    game = make_game(
        "scotland_yard_v0",
        board="random",
        rows=4,
        columns=4,
        num_maps=2,
        num_detectives=3,
        moving=moving,
        first=first,
        starts=starts,
        detective_tickets=(3, 2, 1),
        fugitive_tickets=(2, 2, 1),
        black_tickets=1,
        double_moves=1,
        may_step_on_detective=first == "detectives",
        stuck_detectives="leave" if starts == "drawn" else "stay",
        rounds=8,
    )
    check_game(game, num_games=6)
