"""The boards of a game: found by name, read from a file, or a pool of random maps.

**Balance.** How fair a map is shows when simple players meet on it many times, detectives who head
for where the fugitive was last seen and a fugitive who keeps away from the nearest: the balance
score is the share of games that the detectives win. With ``max_imbalance`` maps whose score is too
far from one half are drawn anew.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from common.errors import one_line
from envs.core.compiling import compiled
from envs.core.kernels import CHANCE, INT, OVER, RNG, RULES, STATE
from envs.core.rng import stream
from envs.pursuit.board import Board, BoardError, load_board
from envs.pursuit.generators import grid_board, random_board
from envs.pursuit.kernels import new, sample, step, turn
from envs.pursuit.options import SHIPPED, PursuitOptions
from envs.pursuit.record import ESCAPED
from envs.pursuit.record import STATE as RECORD
from envs.pursuit.rollout import plain_choice
from envs.pursuit.tables import Table, pack_rules

__all__ = ["FOLDER", "balance", "boards_of", "named_board", "rules_of"]

FOLDER = Path(__file__).resolve().parent / "maps"
NUM_TRIAL_GAMES = 400


def named_board(name: str, rows: int = 5, columns: int = 5) -> Board:
    """A shipped board by its name, or any board file by its path.

    >>> len(named_board("city").nodes)
    200
    """
    if name == "grid":
        return grid_board(rows, columns)
    if name in SHIPPED:
        return load_board(FOLDER / f"{name}.json")
    if not os.path.exists(name):  # which says no to names that no file can have, too
        listing = ", ".join(SHIPPED)
        words = one_line(name, 80)
        raise BoardError(f"there is no board '{words}': name one of {listing}, or a file")
    return load_board(name)


@lru_cache(maxsize=64)
def boards_of(options: PursuitOptions) -> tuple[Board, ...]:
    """The boards that a game with these options is played on."""
    if options.board != "random":
        return (named_board(options.board, options.rows, options.columns),)
    limit = options.max_imbalance

    def is_fair(board: Board) -> bool:
        return limit is None or abs(balance(board, options) - 0.5) <= limit

    numbers = range(options.first_map, options.first_map + options.num_maps)
    return tuple(
        random_board(options.recipe, options.map_seed, number, is_fair) for number in numbers
    )


@lru_cache(maxsize=64)
def rules_of(options: PursuitOptions) -> Table:
    """The rules array of a game with these options, made once."""
    rules = pack_rules(options, boards_of(options))
    rules.setflags(write=False)
    return rules


@compiled(INT(RULES, STATE, RNG, INT))
def _count_wins(rules, state, rng, num_games):
    """Let simple players meet; how often detectives win."""
    num_wins = 0
    s = state.view(RECORD)[0]
    for _ in range(num_games):
        new(state, rules, 0)
        while turn(state, rules) != OVER:
            if turn(state, rules) == CHANCE:
                step(state, rules, sample(state, rules, rng))
            else:
                step(state, rules, plain_choice(state, rules, rng))
        num_wins += s.reason < ESCAPED
    return num_wins


def balance(
    board: Board, options: PursuitOptions, num_games: int = NUM_TRIAL_GAMES, seed: int = 0
) -> float:
    """The share of games that detectives win on a board when simple players meet.

    >>> 0.0 <= balance(grid_board(5, 5), PursuitOptions(detective_tickets=99), 10) <= 1.0
    True
    """
    rules = pack_rules(options, (board,))
    rules.setflags(write=False)
    state: Any = np.zeros(RECORD.itemsize, np.uint8)
    return int(_count_wins(rules, state, stream(seed, "balance"), num_games)) / num_games
