"""The reduced game with a fugitive who is always seen: every start is a win, and how soon."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from agents.games.pursuit.visible import Rounds, rounds_to_win
from envs import make_game
from envs.core import Position, below, new_rng
from envs.pursuit.generators import grid_board
from tests.support.pursuits import record


def test_detectives_win_every_start_within_seven_rounds() -> None:
    rounds = rounds_to_win(grid_board(5, 5))
    counts = np.bincount(rounds[rounds > 0], minlength=8)[1:].tolist()
    assert sum(counts) == 13_800
    assert counts == [3516, 712, 1576, 2680, 2760, 1784, 772]
    assert rounds[rounds > 0].mean() == pytest.approx(3.645, abs=0.001)


def test_small_grids_are_won_from_every_start() -> None:
    assert (rounds_to_win(grid_board(2, 3)) > 0).sum() == 6 * 5 * 4


def joint_move(rounds: Rounds, position: Position) -> tuple[int, int]:
    """Two targets after which every reply of the fugitive is won in fewer rounds."""
    a, b, x = (int(record(position).place[piece]) for piece in (1, 2, 0))
    board = grid_board(5, 5)
    for first, second in itertools.product(board.neighbours(a + 1), board.neighbours(b + 1)):
        if first == second:
            continue
        replies = set(board.neighbours(x + 1)) - {first, second}
        after = [int(rounds[first - 1, second - 1, reply - 1]) for reply in replies]
        if x + 1 in (first, second) or all(0 < n < rounds[a, b, x] for n in after):
            return first - 1, second - 1
    raise AssertionError("the table promises a win that no move reaches")


def test_detectives_who_follow_the_table_win_in_time_by_the_rules_of_the_game() -> None:
    game: Any = make_game("scotland_yard_v0", "reduced", reveals=1)
    rounds, rng = rounds_to_win(grid_board(5, 5)), new_rng(2)
    for _ in range(60):
        position = game.new_position()
        position.play_chance(rng)
        start = tuple(int(record(position).place[piece]) for piece in (1, 2, 0))
        while not position.is_over:
            if position.turn == 1:
                for target in joint_move(rounds, position):
                    if not position.is_over:
                        position.apply(target)
            else:
                legal = position.legal_actions()
                position.apply(legal[int(below(rng, len(legal)))])
        assert position.returns()[1] == 1.0
        assert record(position).round_number <= rounds[start]
