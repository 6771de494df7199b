"""Capture tables: against brute force, and by following them in real games."""

from __future__ import annotations

from itertools import combinations, permutations, product
from math import comb
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.games.pursuit.capture import ESCAPES, CaptureTable, capture_table
from agents.games.pursuit.capture_player import expectation_at, hunt_by_table
from agents.games.pursuit.search import (
    CONSTANT,
    LONGEST,
    PER_LOG_PLACES,
    PER_ROUND,
    PER_ROUND_LEFT,
    capture_choice,
    capture_estimate,
    with_table,
)
from arena.match import play_match
from common.errors import OptionError
from envs import make_game
from envs.core.batch import Batch
from envs.core.game import Game
from envs.core.rng import new_rng
from envs.pursuit.board import Board
from envs.pursuit.game import Pursuit
from envs.pursuit.generators import MapRecipe, grid_board, random_board
from envs.pursuit.options import DETECTIVE_MOVE
from envs.pursuit.tables import named_board


def rounds_in(found: CaptureTable, detectives: tuple[int, ...], fugitive: int) -> int:
    """Rounds until he is caught, if he is to move; places from 0, in any order."""
    team = sorted(found.places.index(place) for place in detectives)
    row = sum(comb(place, i) for i, place in enumerate(team, start=1))
    return int(found.table[row, found.places.index(fugitive)])


def joint_moves(board: Board, team: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Teams after a round, by plain Python: in any order, each to a place that is free then."""
    found = set()
    for order in permutations(range(len(team))):
        stack = [(0, team)]
        while stack:
            step, now = stack.pop()
            if step == len(team):
                found.add(tuple(sorted(now)))
                continue
            piece = order[step]
            ways = {
                target - 1
                for kind, transport in enumerate(board.transports)
                if not transport.needs_black
                for target in board.neighbours(now[piece] + 1, kind)
            }
            free = [target for target in ways if target not in now]
            stack.extend(
                (step + 1, (*now[:piece], target, *now[piece + 1 :]))
                for target in free or [now[piece]]
            )
    return found


def brute_force(board: Board, num_detectives: int) -> dict[tuple[tuple[int, ...], int], int]:
    """Rounds to a catch with the fugitive to move, by going over everything again and again."""
    places = [node.number - 1 for node in board.nodes]
    teams = list(combinations(places, num_detectives))
    moves = {team: joint_moves(board, team) for team in teams}
    rounds: dict[tuple[tuple[int, ...], int], int] = {}
    for number in range(1, 60):
        fresh = {}
        for team, x in product(teams, places):
            if x in team or (team, x) in rounds:
                continue
            replies = [target - 1 for target in board.neighbours(x + 1)]
            if all(
                any(y in after or (after, y) in rounds for after in moves[team])
                for y in replies
                if y not in team
            ):
                fresh[team, x] = number
        if not fresh:
            break
        rounds |= fresh
    return rounds


BOARDS = [
    pytest.param(grid_board(3, 3), 1, id="grid-1"),
    pytest.param(grid_board(3, 4), 2, id="grid-2"),
    pytest.param(grid_board(2, 4), 3, id="grid-3"),
    pytest.param(random_board(MapRecipe(4, 4, 0.8, 0.4, 0.2, "radius", 2), 1, 0), 2, id="map"),
]


@pytest.mark.parametrize(("board", "num_detectives"), BOARDS)
def test_tables_agree_with_brute_force(board: Board, num_detectives: int) -> None:
    table = capture_table(board, num_detectives)
    found = brute_force(board, num_detectives)
    places = [node.number - 1 for node in board.nodes]
    for team in combinations(places, num_detectives):
        for x in set(places) - set(team):
            assert rounds_in(table, team, x) == found.get((team, x), ESCAPES)
    assert sum(table.counts) == len(found)


def test_two_detectives_who_see_him_always_catch_him_in_the_city() -> None:
    table = capture_table(named_board("city"), 2)
    assert table.num_positions == 200 * 199 // 2 * 198
    assert table.share_lost == 1.0
    assert table.table.max() == len(table.counts) == 14


def test_without_a_ferry_he_is_lost_no_later() -> None:
    city = named_board("city")
    with_ferry, without = (capture_table(city, 2, has_ferry=has).table for has in (True, False))
    is_position = with_ferry > 0
    assert (without[is_position] <= with_ferry[is_position]).all()
    assert (without[is_position] < with_ferry[is_position]).any()


def test_four_detectives_are_too_many() -> None:
    with pytest.raises(OptionError, match="1 to 3 detectives"):
        capture_table(grid_board(3, 3), 4)


def test_the_rounds_of_a_table_grow_by_one_along_the_best_line() -> None:
    board = grid_board(4, 4)
    table = capture_table(board, 2)
    rng = np.random.default_rng(0)
    for _ in range(30):
        a, b, x = (int(place) for place in rng.choice(16, 3, replace=False))
        rounds = rounds_in(table, (a, b), x)
        replies = [t - 1 for t in board.neighbours(x + 1) if t - 1 not in (a, b)]
        after = []
        for y in replies:
            moves = joint_moves(board, (a, b))
            later = (0 if y in team else rounds_in(table, team, y) for team in moves)
            after.append(min(later))
        assert rounds == 1 + max(after, default=0)


# ---- the player ----------------------------------------------------------------------------------


def test_detectives_with_tables_catch_more_than_those_who_count_steps() -> None:
    game = make_game("phantom_v0", board="map_2")
    phantom = make_agent("pursuit_belief", game)
    rates = []
    for agent_id in ("pursuit_belief", "pursuit_capture"):
        result = play_match(game, [phantom, make_agent(agent_id, game)], 300, seed=6)
        rates.append((result.returns[:, 1] > 0).mean())
    assert rates[1] > rates[0] + 0.05


@pytest.mark.parametrize(
    "options",
    [
        {"preset": "reduced"},
        {"preset": "reduced", "rows": 2, "columns": 3, "num_detectives": 1},
        {"rounds": 6},
    ],
)
def test_the_player_plays_every_kind_of_game(options: dict[str, Any]) -> None:
    game = make_game("scotland_yard_v0", **options)
    agent = make_agent("pursuit_capture", game)
    result = play_match(game, [agent, agent], 20, seed=1)
    assert not result.faults


@pytest.mark.parametrize("agent_id", ["pursuit_capture", "pursuit_search"])
def test_a_pool_of_maps_is_refused_with_one_line(agent_id: str) -> None:
    with pytest.raises(OptionError, match="num_maps=1"):
        make_agent(agent_id, make_game("phantom_v0", num_maps=2, rows=5, columns=5))


# ---- search by tables ----------------------------------------------------------------------------


def middle_states(game: Game, number: int) -> list[Any]:
    """States of detectives in the middle of games of rule players."""
    player, found = make_agent("pursuit_belief", game), []

    def keep(batch: Batch, rows: Any) -> None:
        for row in rows.tolist():
            position, history = game.new_position(), batch.history(row)
            for action in history[: 2 * len(history) // 3]:
                position.apply(action)
            if game.record(position.state).phase == DETECTIVE_MOVE:
                found.append(position.state)

    play_match(game, [player, player], number, seed=11, on_end=keep)
    return found


def test_rollouts_of_the_search_are_the_moves_of_the_player() -> None:
    """In any state of a detective; both go by the table that lies behind the rules."""
    game = make_game("phantom_v0", board="map_1")
    rules = with_table(game)
    states = middle_states(game, 40)
    assert len(states) > 10
    for number, state in enumerate(states):
        action = hunt_by_table(state, rules, new_rng(number))
        assert action >= 0
        assert capture_choice(state, rules, new_rng(number)) == action


def test_behind_the_rules_lies_the_table_of_the_board() -> None:
    game = make_game("phantom_v0", board="map_1")
    assert isinstance(game, Pursuit)
    found = capture_table(game.boards[0], 2, has_ferry=False)
    rules = with_table(game)
    behind, (num_places, at) = rules[expectation_at(rules) + 2 :], rules[-2:]
    order, words = np.split(behind, [game.header.num_slots])
    assert (words.view(np.uint8)[: found.table.size] == found.table.ravel()).all()
    assert (order[list(found.places)] == np.arange(num_places)).all()
    assert (rules[:at] == game.rules).all()


def test_an_estimate_is_that_of_the_best_pair_on_average_over_the_belief() -> None:
    game = make_game("phantom_v0", board="map_1")
    assert isinstance(game, Pursuit)
    table, rules = capture_table(game.boards[0], 2, has_ferry=False), with_table(game)
    for state in middle_states(game, 40):
        s, out = game.record(state), np.zeros(2)
        pairs = list(combinations([int(place) for place in s.place[1:6]], 2))
        weights = {int(place): s.belief[place] for place in np.flatnonzero(s.belief)}
        mean = sum(
            weight * min(rounds_in(table, pair, place) or LONGEST for pair in pairs)
            for place, weight in weights.items()
        ) / sum(weights.values())
        mean -= sum(not s.moved >> piece & 1 for piece in range(5)) / 5  # who comes nearer
        odds = CONSTANT + PER_ROUND * mean + PER_LOG_PLACES * np.log(len(weights))
        odds += PER_ROUND_LEFT * (game.options.rounds - s.round_number)
        capture_estimate(state, rules, out)
        assert out[1] == pytest.approx(np.tanh(odds / 2))
        assert out[0] == -out[1]


def test_search_by_tables_catches_who_does_not_think() -> None:
    game = make_game("scotland_yard_v0", preset="reduced", num_detectives=2)
    agent = make_agent("pursuit_search", game, iterations=200)
    result = play_match(game, [make_agent("random", game), agent], 30, seed=4)
    assert (result.returns[:, 1] > 0).mean() > 0.9


def test_a_guide_is_for_the_search_without_tables() -> None:
    with pytest.raises(OptionError, match="mo_ismcts"):
        make_agent("pursuit_search", make_game("phantom_v0", board="map_1"), guide="random")
