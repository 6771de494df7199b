"""A position at a boundary as twelve numbers, from the player to move on.

=============  ====  =============================================================================
lead cards     0, 1  those of the next player and of the one after him, less the mover's
extensions     2-4   cards to come that extend a run of each player
their values   5, 6  the sums, less the mover's
chips          7, 8  less the mover's
joins          9-11  gaps between runs of each player all of whose cards are still to come
=============  ====  =============================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from envs.core.compiling import helper
from envs.no_thanks.kernels import RULES, STATE, card_value

__all__ = ["CATEGORIES", "NUM_CATEGORIES", "NUM_FEATURES", "features", "features_of"]

CATEGORIES = (0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 4)
"""Which category each number belongs to."""
NUM_FEATURES = len(CATEGORIES)
NUM_CATEGORIES = 5
NUM_PLAYERS = 3


@helper
def cards_to_come(s, r):
    """The cards that have not been taken, the one that is face up included, as a set."""
    cards = np.int64(0)
    for place in range(s.num_taken, r.deck_size):
        cards |= np.int64(1) << s.deck[place]
    return cards


@helper
def extensions(s, r, coming, player):
    """How many cards to come lie beside a run of ``player``, and the sum of their values."""
    count = 0
    total = 0
    for card in range(r.num_cards):
        if (coming >> card) & 1:
            has_below = card > 0 and s.owner[card - 1] == player
            has_above = card + 1 < r.num_cards and s.owner[card + 1] == player
            if has_below or has_above:
                count += 1
                total += card_value(r, card)
    return count, total


@helper
def joins(s, r, coming, player):
    """How many gaps between runs of ``player`` can still be closed."""
    count = 0
    is_open = False  # a run lies below, and all cards since may come
    for card in range(r.num_cards):
        if s.owner[card] == player:
            if is_open and s.owner[card - 1] != player:
                count += 1
            is_open = True
        elif not (coming >> card) & 1:
            is_open = False
    return count


@helper
def features_of(s, r):
    """The twelve numbers; runs need cards in steps of one."""
    a = s.to_move
    b = a + 1 if a + 1 < NUM_PLAYERS else 0
    c = b + 1 if b + 1 < NUM_PLAYERS else 0
    coming = cards_to_come(s, r)
    count_a, total_a = extensions(s, r, coming, a)
    count_b, total_b = extensions(s, r, coming, b)
    count_c, total_c = extensions(s, r, coming, c)
    return (
        np.int64(s.leads[b] - s.leads[a]),
        np.int64(s.leads[c] - s.leads[a]),
        np.int64(count_a),
        np.int64(count_b),
        np.int64(count_c),
        np.int64(total_b - total_a),
        np.int64(total_c - total_a),
        np.int64(s.chips[b] - s.chips[a]),
        np.int64(s.chips[c] - s.chips[a]),
        np.int64(joins(s, r, coming, a)),
        np.int64(joins(s, r, coming, b)),
        np.int64(joins(s, r, coming, c)),
    )


def features(game: Any, state: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32]:
    """The twelve numbers of a state, from Python."""
    s, r = state.view(STATE)[0], game.rules[: len(RULES.names or ())].view(RULES)[0]
    return np.array(features_of(s, r), np.int32)
