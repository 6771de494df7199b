"""Rule players of pursuits: hand-worked choices, brute force, fairness and strength."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.base import Agent
from agents.games.pursuit.simple import paid_distance, way_finder
from arena.match import play_match
from common.errors import MasqueradeError
from envs import make_game
from envs.core.batch import Batch
from envs.core.game import Game
from envs.core.position import Position
from envs.core.rng import below, new_rng
from envs.pursuit.options import FAR, FUGITIVE_MOVE, NOTHING, RULES, RULES_SIZE, STATE, map_of
from envs.pursuit.tables import distances
from tests.support.pursuits import belief, cell, play, record, slots, started, targets
from tests.support.sampling import IS_FULL

PLAYERS = ("pursuit_greedy", "pursuit_heuristic", "pursuit_belief", "pursuit_foresight")
QUICK: dict[str, dict[str, Any]] = {"pursuit_foresight": {"num_rounds": 1}}
SETS: list[tuple[str, dict[str, Any]]] = [
    ("scotland_yard_v0", {}),
    ("scotland_yard_v0", {"preset": "reduced"}),
    ("scotland_yard_v0", {"moving": "in_order", "seats": "each", "detective_tickets": (3, 2, 1)}),
    ("phantom_v0", {"preset": "map_1"}),
    ("phantom_v0", {"preset": "visible_starts", "num_maps": 3, "rows": 6, "columns": 6}),
    ("phantom_v0", {"rows": 5, "columns": 5, "num_detectives": 3, "double_moves": 2}),
]


def choice(agent: Agent, position: Position, seed: int = 1) -> int:
    """What an agent plays for the seat to move."""
    rows = np.arange(1)
    batch = Batch(position.game, 1, new_rng(0), new_rng(seed))
    batch.begin(rows, rows)
    batch._states[0] = position.state
    batch.turns[0] = position.turn
    return int(agent.act(batch.views(rows))[0])


def some_positions(game: Game, seed: int, count: int) -> list[Position]:
    """Positions of random games in which somebody is to move."""
    rng, found = new_rng(seed), []
    while len(found) < count:
        position = game.new_position()
        position.play_chance(rng)
        while not position.is_over:
            if below(rng, 4) == 0:
                found.append(position.copy())
            legal = position.legal_actions()
            position.apply(legal[int(below(rng, len(legal)))])
            position.play_chance(rng)
    return found[:count]


@pytest.mark.parametrize(("game_id", "options"), SETS)
@pytest.mark.parametrize("name", PLAYERS)
def test_every_player_plays_every_option_set_alike_in_any_batch(
    name: str, game_id: str, options: dict[str, Any]
) -> None:
    """An illegal action would be refused by the match."""
    game = make_game(game_id, **options)
    agent, other = make_agent(name, game, **QUICK.get(name, {})), make_agent("random", game)
    num_players = game.facts.num_players
    for seats in ([agent] * num_players, [other, *[agent] * (num_players - 1)]):
        whole = play_match(game, seats, 40, seed=2)
        small = play_match(game, seats, 40, seed=2, batch_size=7)
        assert (whole.returns == small.returns).all()


@pytest.mark.parametrize(("game_id", "options"), SETS[:4])
@pytest.mark.parametrize("name", PLAYERS)
def test_what_is_drawn_for_the_hidden_place_matters_to_no_detective(
    name: str, game_id: str, options: dict[str, Any]
) -> None:
    game = make_game(game_id, **options)
    rng = new_rng(3)
    for position in some_positions(game, 4, 60):
        if position.turn == 0:
            continue
        chosen = set()
        for _ in range(3):
            # The same draws for the agent, another truth behind the view.
            twin = position.copy()
            twin.state[:] = position.determinized(position.turn, rng)
            chosen.add(choice(make_agent(name, game, **QUICK.get(name, {})), twin))
        assert len(chosen) == 1


def test_other_games_are_refused_by_name() -> None:
    with pytest.raises(
        MasqueradeError,
        match=r"^pursuit_belief plays scotland_yard_v0 and phantom_v0, not kuhn_v0$",
    ):
        make_agent("pursuit_belief", make_game("kuhn_v0"))


# ---- the heuristics ------------------------------------------------------------------------------


def test_the_heuristic_fugitive_moves_as_far_from_the_nearest_as_brute_force_says() -> None:
    game: Any = make_game("phantom_v0", "map_1")
    steps = distances(game.boards[0], game.boards[0].num_slots)
    agent = make_agent("pursuit_heuristic", game)
    num_moves = 0
    for position in some_positions(game, 5, 150):
        s = record(position)
        if s.phase != FUGITIVE_MOVE:
            continue

        def gap(place: int, pieces: Any = s.place[1:6]) -> int:
            return int(min(steps[piece, place] for piece in pieces))

        best = max(gap(place) for place in targets(position))
        assert gap(choice(agent, position) % slots(position)) == best
        num_moves += 1
    assert num_moves > 15


def ways_by_exhaustion(game: Any, position: Position, piece: int, goal: int) -> int:
    """The shortest paid way, by trying every sequence of moves, shorter ones first."""
    s = record(position)
    board = game.boards[0]
    held = [int(n) for n in s.tickets[piece, : len(board.tickets)]]
    ends = {(int(s.place[piece]), *held)}
    for length in range(12):
        if any(end[0] == goal for end in ends):
            return length
        ends = {
            (target - 1, *(n - (k == kind) for k, n in enumerate(end[1:])))
            for end in ends
            for kind in range(len(held))
            if end[1 + kind] > 0
            for target in board.neighbours(end[0] + 1, kind)
        }
    return FAR


def test_paid_ways_are_as_long_as_exhaustive_search_says() -> None:
    """Few tokens, so that plain distances are often not paid for."""
    game: Any = make_game(
        "phantom_v0", rows=4, columns=5, num_detectives=2, detective_tickets=(3, 2, 1)
    )
    finder = way_finder(game)
    r = game.rules[:RULES_SIZE].view(RULES)[0]
    m = map_of(game.rules, 0)
    steps = distances(game.boards[0], 20)
    num_longer = 0
    for position, node in itertools.product(some_positions(game, 6, 25), game.boards[0].nodes):
        s = position.state.view(STATE)[0]
        if s.place[1] < 0:
            continue
        goal = node.number - 1
        start = int(s.place[1])
        found = paid_distance(s, r, game.rules, m, 1, NOTHING, start, goal, True, finder)
        assert found == ways_by_exhaustion(game, position, 1, goal)
        num_longer += found > steps[start, goal]
    assert num_longer > 20


def test_a_heuristic_detective_takes_a_step_of_a_shortest_paid_way() -> None:
    game: Any = make_game(
        "phantom_v0", rows=4, columns=5, num_detectives=2, detective_tickets=(3, 2, 1)
    )
    agent = make_agent("pursuit_heuristic", game)
    num_steps = 0
    for position in some_positions(game, 7, 200):
        s = record(position)
        piece, goal = int(s.piece), int(s.seen_place)
        if position.turn != 1 or goal < 0 or s.place[piece] in (-1, goal):
            continue
        lengths = {}
        for action in position.legal_actions():
            after = position.copy()
            record(after).place[piece] = action % 20
            record(after).tickets[piece, action // 20] -= 1
            lengths[action] = ways_by_exhaustion(game, after, piece, goal)
        if min(lengths.values()) < FAR:
            assert lengths[choice(agent, position)] == min(lengths.values())
            num_steps += 1
    assert num_steps > 20


def test_heuristic_detectives_ignore_the_tickets_shown() -> None:
    """Only the last sighting counts: another log and belief change nothing."""
    game: Any = make_game("phantom_v0", "map_1")
    agent = make_agent("pursuit_heuristic", game)
    for position in some_positions(game, 8, 80):
        if position.turn != 1:
            continue
        twin = position.copy()
        record(twin).belief[:] = np.roll(record(twin).belief, 3)
        record(twin).log_kind[1:] = 0
        assert choice(agent, twin) == choice(agent, position)


def test_random_starts_and_first_moves_are_uniform() -> None:
    game: Any = make_game(
        "phantom_v0",
        board="grid",
        rows=1,
        columns=6,
        num_detectives=1,
        detective_tickets=9,
        fugitive_tickets=9,
    )
    agent = make_agent("pursuit_heuristic", game)
    position = game.new_position()
    starts = [choice(agent, position, seed) for seed in range(1200)]
    counts = np.bincount(starts, minlength=6)
    assert len(counts) == 6
    assert (np.abs(counts - 200) < 65).all()


# ---- greedy and belief ---------------------------------------------------------------------------


def test_greedy_players_by_hand() -> None:
    game: Any = make_game("scotland_yard_v0", "reduced")
    agent = make_agent("pursuit_greedy", game)
    position = started(game, [cell(0, 0), cell(0, 4)], cell(2, 2))
    # Down or right bring detective 1 nearer; right has the lower number.
    assert choice(agent, position) == cell(0, 1)
    play(position, cell(0, 1), cell(0, 3))
    assert choice(agent, position) == cell(3, 2)


def test_a_belief_detective_enters_the_only_place_where_he_can_be() -> None:
    game: Any = make_game("scotland_yard_v0", "reduced")
    agent = make_agent("pursuit_belief", game)
    position = started(game, [cell(4, 4), cell(0, 1)], cell(0, 0))
    play(position, choice(agent, position) % 25)
    assert choice(agent, position) == cell(0, 0)


def test_belief_detectives_share_out_two_places() -> None:
    """He is on one of two cells; each detective stands beside one of them and enters it."""
    game: Any = make_game("scotland_yard_v0", "reduced")
    agent = make_agent("pursuit_belief", game)
    position = started(game, [cell(0, 3), cell(4, 1)], cell(2, 2))
    s = record(position)
    s.belief[:] = 0
    s.belief[cell(0, 2)] = s.belief[cell(4, 2)] = 1
    s.place[0] = cell(4, 2)
    assert choice(agent, position) == cell(0, 2)
    play(position, cell(0, 2))
    assert belief(position) == {cell(4, 2): 1.0}
    assert choice(agent, position) == cell(4, 2)


def test_a_fugitive_who_sees_the_detectives_starts_far_from_them() -> None:
    game: Any = make_game("phantom_v0", "visible_starts")
    agent, other = make_agent("pursuit_belief", game), make_agent("random", game)
    result = play_match(game, [agent, other], 300, seed=4)
    assert (result.lengths > 6).all(), "no game ends in the placement"


def win_rate(game: Game, fugitive: str, detectives: str, num_games: int = 600) -> float:
    """The share of games that detectives win."""
    seats = [make_agent(fugitive, game), make_agent(detectives, game)]
    return float((play_match(game, seats, num_games, seed=6).returns[:, 1] > 0).mean())


def test_simple_players_win_about_as_often_as_the_thesis_says() -> None:
    """There, of 150 games: random detectives 12 %, heuristic ones and a random Phantom 100 %."""
    rates = []
    for preset in ("map_1", "map_2", "map_3"):
        game = make_game("phantom_v0", preset)
        rates.append(win_rate(game, "pursuit_heuristic", "random"))
        assert win_rate(game, "random", "pursuit_heuristic", 200) > 0.98
    assert 0.077 < np.mean(rates) < 0.182


MAPS = ["map_1", "map_2", "map_3"] if IS_FULL else ["map_3"]


@pytest.mark.parametrize("preset", MAPS)
def test_belief_detectives_beat_heuristic_ones(preset: str) -> None:
    game = make_game("phantom_v0", preset)
    for fugitive in ("pursuit_heuristic", "pursuit_belief"):
        plain, better = (
            win_rate(game, fugitive, name, 300) for name in ("pursuit_heuristic", "pursuit_belief")
        )
        assert better > plain + 0.07


@pytest.mark.parametrize("preset", MAPS)
def test_a_belief_fugitive_escapes_more_often_than_a_heuristic_one(preset: str) -> None:
    game = make_game("phantom_v0", preset)
    for detectives in ("pursuit_heuristic", "pursuit_belief"):
        plain, better = (
            win_rate(game, name, detectives) for name in ("pursuit_heuristic", "pursuit_belief")
        )
        assert better <= plain - (0.02 if detectives == "pursuit_heuristic" else 0.0)


@pytest.mark.parametrize(
    ("detectives", "points"),
    [("pursuit_belief", 15), ("pursuit_greedy", 5)] if IS_FULL else [("pursuit_belief", 15)],
)
def test_a_fugitive_with_foresight_escapes_more_often(detectives: str, points: int) -> None:
    """Also from detectives whom he does not expect."""
    game = make_game("phantom_v0", "map_1")
    plain, ahead = (
        win_rate(game, fugitive, detectives, 300)
        for fugitive in ("pursuit_belief", "pursuit_foresight")
    )
    assert 100 * (plain - ahead) > points
    with pytest.raises(MasqueradeError, match="num_rounds must be from 1 to 4"):
        make_agent("pursuit_foresight", game, num_rounds=9)
