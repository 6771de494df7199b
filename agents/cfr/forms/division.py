"""Cut a forest into parts that threads can work on side by side.

Nodes with much below them are the *top*. Under it hang subtrees, and neighbouring ones are bundled
into *parts* of about the same weight. Who goes from the leaves to the roots does the parts first,
in any order or all at once, and the top last; who goes from the roots does it the other way round.

The cut depends on the forest alone, so results do not depend on the number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from envs.core.compiling import compiled
from envs.core.kernels import INT

__all__ = ["TOP", "Division", "divide"]

TOP = 0
MOST_PARTS = 32
SMALLEST_PART = 4096
"""Weight below which a part is not worth a thread's while."""

NONE = -1


class Division(NamedTuple):
    """Where every node of a forest belongs."""

    parts: npt.NDArray[np.int64]
    """The number of its part: TOP, or 1 and up."""
    levels: npt.NDArray[np.int64]
    """How many nodes of the same part lie between it and where the part begins."""

    @property
    def num_parts(self) -> int:
        """Parts, the top not counted."""
        return int(self.parts.max(initial=TOP))


@compiled(types.void(types.int32[::1], types.int64[::1], INT, types.int64[::1], types.int64[::1]))
def cut(parents, below, limit, parts, levels):
    """Write parts and levels; ``below`` is the weight of everything from a node downwards."""
    part, filled = TOP, limit
    for v in range(parents.size):
        parent = parents[v]
        hangs_on_top = parent == NONE or parts[parent] == TOP
        if below[v] > limit:
            parts[v] = TOP
        elif not hangs_on_top:
            parts[v] = parts[parent]
        else:
            if filled + below[v] > limit:
                part += 1
                filled = 0
            parts[v] = part
            filled += below[v]
        begins = parent == NONE or parts[parent] != parts[v]
        levels[v] = 0 if begins else levels[parent] + 1


@compiled(types.void(types.int32[::1], types.int64[::1]))
def add_up(parents, weights):
    """Add to the weight of every node what lies below it."""
    for v in range(parents.size - 1, -1, -1):
        if parents[v] != NONE:
            weights[parents[v]] += weights[v]


def divide(parents: npt.NDArray[np.int32], weights: npt.NDArray[np.int64]) -> Division:
    """Divide a forest.

    Args:
        parents: [n] of every node, NONE at a root; parents come before children.
        weights: [n] how much work every node is.

    >>> parents = np.array([-1, 0, 0, 0, 1, 2], np.int32)
    >>> divide(parents, np.full(6, 3000)).parts.tolist()  # one root, and what hangs on it
    [0, 0, 0, 1, 2, 3]
    """
    below = np.array(weights, np.int64)
    add_up(parents, below)
    whole = int(below[parents == NONE].sum())
    division = Division(np.zeros(len(parents), np.int64), np.zeros(len(parents), np.int64))
    cut(parents, below, max(whole // MOST_PARTS, SMALLEST_PART), *division)
    return division
