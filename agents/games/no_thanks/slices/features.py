"""A position at a boundary as twelve numbers, from the player to move on.

=============  ====  =============================================================================
lead cards     0, 1  those of the next player and of the one after him, less the mover's
extensions     2-4   cards to come that extend a run of each player
their values   5, 6  the sums, less the mover's
chips          7, 8  less the mover's
joins          9-11  gaps between runs of each player all of whose cards are still to come
=============  ====  =============================================================================

They forget which cards are to come and in which order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.solving.board import load_board, make_board
from envs.core.compiling import helper, inlined
from envs.no_thanks import NoThanks

__all__ = [
    "CATEGORIES",
    "NUM_CATEGORIES",
    "NUM_FEATURES",
    "NUM_PLAYERS",
    "count_bits",
    "extensions",
    "features",
    "joins",
    "sum_values",
    "write_features",
]

CATEGORIES = (0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 4)
"""Which category each number belongs to."""
NUM_FEATURES = len(CATEGORIES)
NUM_CATEGORIES = 5
NUM_PLAYERS = 3


@helper
def count_bits(cards):
    """How many cards a set has."""
    count = 0
    while cards != 0:
        cards &= cards - 1
        count += 1
    return count


@helper
def sum_values(b, cards):
    """The sum of the values of a set."""
    total = 0
    card = 0
    while cards != 0:
        if cards & 1:
            total += b.lowest + b.step * card
        cards >>= 1
        card += 1
    return total


@helper
def extensions(b, coming, player):
    """The cards of ``coming`` that lie beside a run of ``player``, as a set."""
    owned = b.owned[player]
    return coming & ((owned << 1) | (owned >> 1))


@helper
def joins(b, coming, player):
    """How many gaps between runs of ``player`` can still be closed by cards of ``coming``.

    Carrying from the card above a run through cards to come ends on a card of the player's if and
    only if all of the gap is to come.
    """
    owned = b.owned[player]
    tops = (owned << 1) & ~owned & coming  # the first card of every gap
    after = (coming + tops) & ~coming  # the first card beyond each stretch that begins there
    return count_bits(after & owned)


@inlined
def write_features(b):
    """Write the twelve numbers into the board."""
    n = 3
    at = b.features
    coming = b.rest[b.num_taken]
    mover = b.to_move
    total = 0
    for ahead in range(n):
        player = mover + ahead if mover + ahead < n else mover + ahead - n
        beside = extensions(b, coming, player)
        values = sum_values(b, beside)
        at[2 + ahead] = count_bits(beside)
        at[9 + ahead] = joins(b, coming, player)
        if ahead == 0:
            total = values
        else:
            at[ahead - 1] = b.leads[player] - b.leads[mover]
            at[4 + ahead] = values - total
            at[6 + ahead] = b.chips[player] - b.chips[mover]


def features(game: NoThanks, state: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32]:
    """The twelve numbers of a state, from Python."""
    board = make_board()
    load_board(board, state, game.rules, 0)
    write_features(board[0])
    found: npt.NDArray[np.int32] = board[0]["features"][:NUM_FEATURES].astype(np.int32)
    return found
