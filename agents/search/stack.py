"""The memory of a search: a frame for every node on the way to the present one, and a table.

A search is a loop over frames, not a recursion, so it can stop after any node and go on later:
that is how it keeps a time limit without reading a clock.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from envs.core.addresses import Addresses, AddressesType
from envs.core.kernels import RETURNS

__all__ = [
    "COUNTERS",
    "EVALUATION",
    "FRAME",
    "MAX_PLAYERS",
    "SETTINGS",
    "STACK",
    "TABLE",
    "Evaluation",
    "Stack",
    "Table",
    "make_stack",
    "make_table",
]

MAX_PLAYERS = 8

# What is counted, in the order of ``Stack.counters``.
COUNTERS = ("nodes", "leaves", "prunings", "hits", "stored", "deepest")
NODES, LEAVES, PRUNINGS, HITS, STORED, DEEPEST = range(len(COUNTERS))

# Where a search stands, in ``Stack.progress``.
DEPTH, IS_ENTERING, IS_EXACT, IS_COMPLETE = range(4)

FRAME = np.dtype(
    (
        np.record,
        [
            ("value", np.float64, (MAX_PLAYERS,)),  # the best so far; of a chance node, the sum
            ("own", np.float64, (MAX_PLAYERS,)),  # the mover's best since somebody else moved
            ("above", np.float64, (MAX_PLAYERS,)),  # that of the player who moved before
            ("own_utility", np.float64),  # of ``own`` for the mover
            ("utility", np.float64),  # of ``value`` for the mover, before ties are averaged
            ("alpha", np.float64),
            ("beta", np.float64),
            ("floor", np.float64),  # alpha and
            ("ceiling", np.float64),  # beta when the node was entered
            ("key", np.uint64),
            ("turn", np.int32),
            ("depth_left", np.int32),  # decisions until the position is estimated
            ("num_moves", np.int32),
            ("next_move", np.int32),  # which of the moves comes next
            ("best", np.int32),  # action, or NO_ACTION
            ("num_tied", np.int32),
            ("above_player", np.int32),  # or NOBODY, when there is nothing to compare with
            ("has_own", np.int32),
            ("had_own", np.int32),  # when the node was entered
            ("was_cut", np.int32),
            ("is_exact", np.int32),  # all children so far were
            ("is_complete", np.int32),  # no position below was estimated
            ("has_replied", np.int32),  # best-reply search: an opponent has chosen
        ],
    )
)
SETTINGS = np.dtype(
    (
        np.record,
        [
            ("weight", np.float64),  # of a place
            ("sum_bound", np.float64),  # no result adds up to more
            ("low", np.float64),  # no player gets less
            ("seed", np.uint64),
            ("num_players", np.int32),
            ("state_size", np.int32),
            ("preference", np.int32),
            ("pruning", np.int32),
            ("ties", np.int32),
            ("order", np.int32),
            ("has_killers", np.int32),
            ("hero", np.int32),  # of paranoid and best-reply search
            ("is_best_reply", np.int32),
            ("is_scalar", np.int32),  # paranoid and best-reply search: one number a node
        ],
    )
)


class Stack(NamedTuple):
    """Where a search stands."""

    frames: npt.NDArray[np.void]
    """[depth] of ``FRAME``."""
    states: npt.NDArray[np.uint8]
    """[depth, bytes]: padded with zeros to whole words, which are quicker to hash."""
    moves: npt.NDArray[np.int32]
    """[depth, actions]: in the order in which they are searched."""
    probs: npt.NDArray[np.float64]
    """[depth, outcomes]: of chance nodes."""
    killers: npt.NDArray[np.int32]
    """[depth]: the action that last made a cut there."""
    mask: npt.NDArray[np.int8]
    guesses: npt.NDArray[np.float64]
    """[actions]: for sorting."""
    scratch: npt.NDArray[np.uint8]
    result: npt.NDArray[np.float64]
    """[players]: of the node that was left last."""
    progress: npt.NDArray[np.int64]
    counters: npt.NDArray[np.int64]


class Table(NamedTuple):
    """Positions that were searched before; of 2**k slots, or of none."""

    keys: npt.NDArray[np.uint64]
    depths: npt.NDArray[np.int32]
    bests: npt.NDArray[np.int32]
    bounds: npt.NDArray[np.int8]
    values: npt.NDArray[np.float64]
    """[slots, players]; a search for one player uses the first column."""


STACK = types.NamedTuple(
    (
        types.Array(numba.from_dtype(FRAME), 1, "C"),
        types.uint8[:, ::1],
        types.int32[:, ::1],
        types.float64[:, ::1],
        types.int32[::1],
        types.int8[::1],
        types.float64[::1],
        types.uint8[::1],
        types.float64[::1],
        types.int64[::1],
        types.int64[::1],
    ),
    Stack,
)
TABLE = types.NamedTuple(
    (
        types.uint64[::1],
        types.int32[::1],
        types.int32[::1],
        types.int8[::1],
        types.float64[:, ::1],
    ),
    Table,
)
EVALUATION = AddressesType("masquerade.Evaluation", {"evaluate": RETURNS})


class Evaluation(Addresses):
    """The function that estimates the returns of a position which is not searched."""

    numba_type = EVALUATION
    decorator = "@kernel({})"


def make_stack(
    max_depth: int, state_size: int, num_actions: int, num_outcomes: int, num_players: int
) -> Stack:
    """Memory for a search of at most ``max_depth`` moves and chance events."""
    depth = max_depth + 2
    width = max(num_actions, num_outcomes)
    return Stack(
        frames=np.zeros(depth, FRAME),
        states=np.zeros((depth, -(-state_size // 8) * 8), np.uint8),
        moves=np.zeros((depth, width), np.int32),
        probs=np.zeros((depth, max(1, num_outcomes)), np.float64),
        killers=np.full(depth, -1, np.int32),
        mask=np.zeros(width, np.int8),
        guesses=np.zeros(width, np.float64),
        scratch=np.zeros(state_size, np.uint8),
        result=np.zeros(num_players, np.float64),
        progress=np.zeros(4, np.int64),
        counters=np.zeros(len(COUNTERS), np.int64),
    )


def make_table(bits: int, num_players: int) -> Table:
    """A transposition table of ``2**bits`` slots; 0 bits make one that is never used."""
    size = 2**bits if bits else 0
    return Table(
        keys=np.zeros(size, np.uint64),
        depths=np.zeros(size, np.int32),
        bests=np.zeros(size, np.int32),
        bounds=np.zeros(size, np.int8),
        values=np.zeros((size, num_players), np.float64),
    )
