"""Rules of a pursuit with more behind them, for functions that a search hands to compiled code.

Kernels read the rules from their beginning and do not mind what follows: here two words that say
what detectives a fugitive expects (``kinds.py``), and the capture table of the board.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.games.pursuit.capture_player import pair_table
from envs.core.compiling import helper
from envs.core.game import Game

__all__ = ["expectation_at", "tables_of", "with_table"]

_NUM_WORDS = 2
"""Of an expectation: a kind, and a share of chasers."""


def with_table(game: Game) -> npt.NDArray[np.int32]:
    """The rules of a pursuit on one board, room for an expectation, and its capture table."""
    table, order = pair_table(game, "pursuit_search")
    flat = np.zeros(-(-table.size // 4) * 4, np.uint8)
    flat[: table.size] = table.ravel()
    tail = [
        np.zeros(_NUM_WORDS, np.int32),
        order.astype(np.int32),
        flat.view(np.int32),
        np.array([table.shape[1], game.rules.size]),
    ]
    return np.concatenate([game.rules, *tail]).astype(np.int32)


@helper
def expectation_at(rules):
    """Where the two words of an expectation stand; who writes there tells the next simulation."""
    return rules[rules.size - 1]


@helper
def tables_of(r, rules):
    """The capture table and the order of its places."""
    first = rules[rules.size - 1] + _NUM_WORDS
    order = rules[first : first + r.num_slots]
    num_places = np.int64(rules[rules.size - 2])
    words = rules[first + r.num_slots : rules.size - 2]
    num_pairs = num_places * (num_places - 1) // 2
    flat = words.view(np.uint8)[: num_pairs * num_places]
    return flat.reshape((num_pairs, num_places)), order
