"""What a search of rounds works with: settings, a frame for every card, a table, counters."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types

__all__ = ["COUNTERS", "FRAME", "MEMORY", "SETTINGS", "TIES", "Memory"]

TIES = ("take", "pay", "average")
TAKE_IF_EQUAL, PAY_IF_EQUAL, AVERAGE = range(len(TIES))
COUNTERS = ("nodes", "leaves", "prunings", "hits", "stored")
NODES, LEAVES, PRUNINGS, HITS, STORED = range(len(COUNTERS))
DEPTH, IS_ENTERING, TAKES, CAN_PAY = range(4)  # where a search stands, in ``Memory.progress``

FRAME = np.dtype(
    (
        np.record,
        [
            ("key", np.uint64),  # 0: the card has chips on it, so nothing is looked up
            ("place", np.float64),  # of the last player who could take, if he had
            ("turns", np.int32),  # how many players have paid since
            ("cost", np.int32),  # of the take that is searched
            ("pot", np.int32),  # that went with it
        ],
    )
)
SETTINGS = np.dtype(
    (
        np.record,
        [
            ("weight", np.float64),  # of a place
            ("margin", np.float64),  # by return: what a point of difference adds to a place
            ("sum_bound", np.float64),  # by return: no result adds up to more,
            ("low", np.float64),  # and nobody gets less
            ("stop", np.int32),  # cards taken where the search ends
            ("preference", np.int32),
            ("ties", np.int32),
        ],
    )
)


class Memory(NamedTuple):
    """What a search needs, made once."""

    frames: npt.NDArray[np.void]
    """[cards]."""
    takes: npt.NDArray[np.float64]
    """[cards, turns, players]: the result of taking a card after so many payments."""
    result: npt.NDArray[np.float64]
    """[players]: of the position that was left last."""
    paid: npt.NDArray[np.float64]
    """[players]: the result of paying at the root, if that is possible."""
    keys: npt.NDArray[np.uint64]
    """[slots, 1 + players]: the table; the first word of a slot is its key, or 0."""
    values: npt.NDArray[np.float64]
    """[slots, 1 + players]: the same memory; after the key come the results."""
    progress: npt.NDArray[np.int64]
    counters: npt.NDArray[np.int64]


MEMORY = types.NamedTuple(
    (
        types.Array(numba.from_dtype(FRAME), 1, "C"),
        types.float64[:, :, ::1],
        types.float64[::1],
        types.float64[::1],
        types.uint64[:, ::1],
        types.float64[:, ::1],
        types.int64[::1],
        types.int64[::1],
    ),
    Memory,
)
