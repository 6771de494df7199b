"""Capture tables: against brute force, and by following them in real games."""

from __future__ import annotations

from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.games.pursuit.capture import ESCAPES, capture_table
from arena.playing.match import play_match
from envs import make_game
from envs.core.errors import OptionError
from envs.pursuit.board import Board
from envs.pursuit.generators import MapRecipe, grid_board, random_board
from envs.pursuit.pool import named_board


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
            assert table.rounds(team, x) == found.get((team, x), ESCAPES)
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


def test_sets_alone_take_less_memory_and_say_the_same() -> None:
    board = grid_board(4, 4)
    full, sets = (capture_table(board, 2, has_rounds=has) for has in (True, False))
    assert (full.lost == sets.lost).all()
    assert full.counts == sets.counts
    assert sets.num_bytes < full.num_bytes


def test_four_detectives_are_too_many() -> None:
    with pytest.raises(OptionError, match="1 to 3 detectives"):
        capture_table(grid_board(3, 3), 4)


def test_the_rounds_of_a_table_grow_by_one_along_the_best_line() -> None:
    board = grid_board(4, 4)
    table = capture_table(board, 2)
    rng = np.random.default_rng(0)
    for _ in range(30):
        a, b, x = (int(place) for place in rng.choice(16, 3, replace=False))
        rounds = table.rounds((a, b), x)
        replies = [t - 1 for t in board.neighbours(x + 1) if t - 1 not in (a, b)]
        after = []
        for y in replies:
            moves = joint_moves(board, (a, b))
            best = min(0 if y in team else table.rounds((team[0], team[1]), y) for team in moves)
            after.append(best)
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


def test_a_pool_of_maps_is_refused_with_one_line() -> None:
    with pytest.raises(OptionError, match="num_maps=1"):
        make_agent("pursuit_capture", make_game("phantom_v0", num_maps=2, rows=5, columns=5))
