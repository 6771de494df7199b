"""The memory of a search: nodes and edges in arrays that never grow, and scratch space.

Nodes lie in an open hash table under the key of what their observer has seen. A stamp says which
search a node belongs to, so that a new search begins without clearing anything. The edges of a
node are a list: those that were legal at its first visit lie side by side, and others follow
where another world brings other legal actions.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from envs.core.game import Game

__all__ = [
    "COUNTERS",
    "DEEPEST",
    "EDGE",
    "LEFT_OUT",
    "NODE",
    "NONE",
    "NUM_EDGES",
    "NUM_NODES",
    "POOL",
    "SIMULATIONS",
    "STAMP",
    "STEPS",
    "WORK",
    "Pool",
    "Work",
    "make_pool",
    "make_work",
]

NONE = -1

# What a search counts, in ``Pool.counters``.
COUNTERS = ("nodes", "edges", "simulations", "deepest", "left_out", "stamp", "steps")
NUM_NODES, NUM_EDGES, SIMULATIONS, DEEPEST, LEFT_OUT, STAMP, STEPS = range(len(COUNTERS))

MAX_EDGES_PER_NODE = 16
"""On average; memory for more is not made."""

CACHE_LINE = 64
_LOGS = np.log(np.maximum(np.arange(4096.0), 1.0))

NODE = np.dtype(
    (
        np.record,
        [
            ("key", np.uint64),
            ("total", np.float64),  # what its player got, over all visits
            ("visits", np.int32),
            ("first", np.int32),  # of its edges
            ("last", np.int32),
            ("stamp", np.int32),  # of the search; another number: the slot is free
        ],
    )
)
EDGE = np.dtype(
    (
        np.record,
        [
            ("total", np.float64),  # what the player got, over all visits
            ("squares", np.float64),
            ("regret", np.float64),
            ("policy", np.float64),  # what regret matching played, added up
            ("prior", np.float64),
            ("action", np.int32),
            ("next", np.int32),  # edge of the same node, or NONE
            ("visits", np.int32),
            ("available", np.int32),  # visits of the node at which it was legal
            ("simulation", np.int32),  # in which it was last legal
            ("pending", np.int32),  # simulations that wait for the value of a leaf
        ],
    )
)


class Pool(NamedTuple):
    """A tree."""

    nodes: npt.NDArray[np.void]
    """[slots] of ``NODE``."""
    edges: npt.NDArray[np.void]
    """[edges] of ``EDGE``."""
    counters: npt.NDArray[np.int64]
    root_visits: npt.NDArray[np.int64]
    """[actions] at the root, over all worlds."""
    root_totals: npt.NDArray[np.float64]
    ranges: npt.NDArray[np.float64]
    """[players, 2] the lowest and highest result of each."""


class Work(NamedTuple):
    """Scratch memory of one thread."""

    state: npt.NDArray[np.uint8]
    scratch: npt.NDArray[np.uint8]
    mask: npt.NDArray[np.int8]
    """[actions, padded to whole words]: words are quicker to scan."""
    totals: npt.NDArray[np.float64]
    rewards: npt.NDArray[np.float64]
    keys: npt.NDArray[np.uint64]
    observation: npt.NDArray[np.float32]
    weights: npt.NDArray[np.float64]
    """[actions]"""
    path: npt.NDArray[np.int32]
    """[3, depth] node, edge and player of every decision in the tree."""
    probs: npt.NDArray[np.float64]
    """[depth] with which each was drawn."""
    bounds: npt.NDArray[np.float64]
    """[players, 2] lowest and highest return by the facts."""
    teams: npt.NDArray[np.int32]
    logs: npt.NDArray[np.float64]
    """Of the numbers from 0 on: one for every node on every way is too many to work out."""


POOL = types.NamedTuple(
    (
        types.Array(numba.from_dtype(NODE), 1, "C"),
        types.Array(numba.from_dtype(EDGE), 1, "C"),
        types.int64[::1],
        types.int64[::1],
        types.float64[::1],
        types.float64[:, ::1],
    ),
    Pool,
)
WORK = types.NamedTuple(
    (
        types.uint8[::1],
        types.uint8[::1],
        types.int8[::1],
        types.float64[::1],
        types.float64[::1],
        types.uint64[::1],
        types.float32[::1],
        types.float64[::1],
        types.int32[:, ::1],
        types.float64[::1],
        types.float64[:, ::1],
        types.int32[::1],
        types.float64[::1],
    ),
    Work,
)


def make_pool(game: Game, max_nodes: int) -> Pool:
    """Memory for so many nodes; nothing is touched before it is used.

    >>> from envs import make_game
    >>> pool = make_pool(make_game("kuhn_v0"), 1000)
    >>> pool.nodes.nbytes + pool.edges.nbytes
    193536
    """
    num_actions = game.facts.num_actions
    num_slots = 1 << (2 * max_nodes - 1).bit_length()
    num_edges = max(max_nodes * min(num_actions, MAX_EDGES_PER_NODE), num_actions)
    return Pool(
        nodes=_in_lines(num_slots, NODE),
        edges=_in_lines(num_edges, EDGE),
        counters=np.zeros(len(COUNTERS), np.int64),
        root_visits=np.zeros(num_actions, np.int64),
        root_totals=np.zeros(num_actions),
        ranges=np.zeros((game.facts.num_players, 2)),
    )


def _in_lines(count: int, dtype: np.dtype[np.void]) -> npt.NDArray[np.void]:
    """Zeros that begin with a line of the processor's cache, so that no entry lies in two."""
    num_bytes = count * dtype.itemsize
    raw = np.zeros(num_bytes + CACHE_LINE, np.uint8)
    start = -raw.ctypes.data % CACHE_LINE
    return raw[start : start + num_bytes].view(dtype)


def make_work(game: Game) -> Work:
    """Scratch memory for the simulations of one thread."""
    facts = game.facts
    depth = facts.max_length + 2
    return Work(
        state=np.zeros(game.state_size, np.uint8),
        scratch=np.zeros(game.state_size, np.uint8),
        mask=np.zeros(-(-facts.num_actions // 8) * 8, np.int8),
        totals=np.zeros(facts.num_players),
        rewards=np.zeros(facts.num_players),
        keys=np.zeros(facts.num_players, np.uint64),
        observation=np.zeros(game.observation_size, np.float32),
        weights=np.zeros(facts.num_actions),
        path=np.zeros((3, depth), np.int32),
        probs=np.zeros(depth),
        bounds=np.array([[seat.low, seat.high] for seat in facts.seats]),
        teams=np.array([seat.team for seat in facts.seats], np.int32),
        logs=_LOGS,
    )
