"""Small boards solved exactly for a fugitive whom detectives always see.

Rounds as in the reduced game: detectives move at once, to different targets, then the fugitive, who
loses if he cannot. Backward from the end: a position is won in ``n`` rounds if some joint move
catches or blocks him, or leaves him only moves into positions that are won in fewer. With hidden
moves no detectives can be quicker, so this bounds what any player can reach.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt

from envs.pursuit.board import Board

__all__ = ["NEVER", "rounds_to_win"]

NEVER = 0
"""Positions that are not won within the limit, and those that cannot be."""

Rounds = npt.NDArray[np.int64]


def rounds_to_win(board: Board, limit: int = 50) -> Rounds:
    """In how many rounds two detectives to move force a win: [first, second, fugitive] int64.

    Places are numbered from 0. ``NEVER`` where two pieces stand on one place, or where the fugitive
    holds out for ``limit`` rounds.

    >>> from envs.pursuit.generators import grid_board
    >>> int(rounds_to_win(grid_board(2, 2)).max())
    1
    """
    size = board.num_slots
    around = [
        np.array([n - 1 for n in board.neighbours(place + 1)], np.int64) for place in range(size)
    ]
    is_target = np.zeros((size, size), bool)
    for place, targets in enumerate(around):
        is_target[place, targets] = True
    rounds = np.zeros((size, size, size), np.int64)
    for number in range(1, limit + 1):
        won = _won_after_detectives(is_target, rounds > 0, size)
        fresh = np.zeros_like(rounds, dtype=bool)
        for a, b in product(range(size), repeat=2):
            if a != b:
                # Any legal pair of targets that wins against a fugitive on each place.
                pairs = won[np.ix_(around[a], around[b])]
                fresh[a, b] = pairs.any(axis=(0, 1))
                fresh[a, b, [a, b]] = False
        fresh &= rounds == 0
        if not fresh.any():
            break
        rounds[fresh] = number
    return rounds


def _won_after_detectives(
    is_target: npt.NDArray[np.bool_], is_won: npt.NDArray[np.bool_], size: int
) -> npt.NDArray[np.bool_]:
    """Whether detectives have won after their move: [first, second, fugitive] bool."""
    won = np.zeros((size, size, size), bool)
    for a, b in product(range(size), repeat=2):
        if a == b:
            continue
        may_enter = is_target.copy()
        may_enter[:, [a, b]] = False
        won[a, b] = ~(may_enter & ~is_won[a, b]).any(axis=1)
        won[a, b, [a, b]] = True
    return won
