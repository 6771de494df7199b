"""Threads that share the work of a pass over a game: teams, numbers they all change, and parts.

Compiled code runs outside the interpreter's lock, so every worker is a thread that makes one
compiled call and stays in it for all iterations. Where a worker needs what the others have written,
all of them wait at a ``barrier``, which takes a fraction of a microsecond when each has a core of
its own. Work without such an order is taken by number: whoever is free does the next piece.

``swap``, ``add`` and ``load`` are atomic: nothing comes between reading a number and writing it,
and whoever sees a change also sees all that was written before it. In plain Python there is one
thread at a time.

``divide`` cuts a forest into parts to work on side by side. Nodes with much below them are the
*top*. Under it hang subtrees, and neighbouring ones are bundled into *parts* of about the same
weight. Who goes from the leaves to the roots does the parts first, in any order or all at once, and
the top last; who goes from the roots does it the other way round. The cut depends on the forest
alone, so results do not depend on the number of threads.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from envs.core.compiling import JIT_DISABLED, compiled, inlined
from envs.core.kernels import INT

ORDER = "seq_cst"
WORD_SIZE = 8


def _pointer(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind = signature.args[0]
    array = make_array(kind)(context, builder, args[0])
    return cgutils.get_item_pointer(context, builder, kind, array, [args[1]])


def _swap(_context: Any, words: Any, index: Any, expected: Any, new: Any) -> Any:
    """What ``words[index]`` was; it becomes ``new`` if that was ``expected``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature, args)
        result = builder.cmpxchg(pointer, args[2], args[3], ORDER, ORDER)
        return builder.extract_value(result, 0)

    return types.uint64(words, types.int64, types.uint64, types.uint64), generate


def _add(_context: Any, numbers: Any, index: Any, amount: Any) -> Any:
    """What ``numbers[index]`` was before ``amount`` was added to it."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature, args)
        return builder.atomic_rmw("add", pointer, args[2], ORDER)

    return types.int64(numbers, types.int64, types.int64), generate


def _look(_context: Any, numbers: Any, index: Any) -> Any:
    """What ``numbers[index]`` is now."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature, args)
        return builder.load_atomic(pointer, ORDER, WORD_SIZE)

    return types.int64(numbers, types.int64), generate


def _swap_in_python(words: Any, index: int, expected: Any, new: Any) -> Any:
    old = words[index]
    if old == expected:
        words[index] = new
    return old


def _add_in_python(numbers: Any, index: int, amount: int) -> Any:
    old = numbers[index]
    numbers[index] += amount
    return old


def _look_in_python(numbers: Any, index: int) -> Any:
    return numbers[index]


swap: Any = _swap_in_python if JIT_DISABLED else intrinsic(_swap)
add: Any = _add_in_python if JIT_DISABLED else intrinsic(_add)
load: Any = _look_in_python if JIT_DISABLED else intrinsic(_look)


Result = TypeVar("Result")
ThreadTeam = npt.NDArray[np.int64]

THREAD_TEAM = types.int64[::1]
# Places in a team. They are far apart: what everybody watches is alone in its line of cache.
SIZE, ARRIVALS, NUM_PIECES, NUM_TAKEN = 0, 16, 32, 48
NONE = -1
PATIENCE = 2_000
"""Looks at the others before a waiting worker lets somebody else have its core."""
ENTRIES_PER_SECOND = 100_000_000
"""About what a core does."""


def make_team(num_workers: int) -> ThreadTeam:
    """What so many workers share; each ``run`` of compiled code needs a new one."""
    team = np.zeros(64, np.int64)
    team[SIZE] = num_workers
    return team


def work_together(num_workers: int, work: Callable[[int], Result]) -> list[Result]:
    """Call ``work(0)``, ``work(1)`` and so on, each on its own thread, and wait for all.

    In plain Python they work one after the other.

    >>> work_together(3, lambda worker: worker * worker)
    [0, 1, 4]
    """
    if num_workers == 1 or JIT_DISABLED:
        return [work(worker) for worker in range(num_workers)]
    with ThreadPoolExecutor(num_workers - 1) as pool:
        others = pool.map(work, range(1, num_workers))
        return [work(0), *others]


def stretches(num_iterations: int, num_entries: int) -> Iterator[int]:
    """Iterations over so many numbers, cut into stretches of about a second.

    Python hears Ctrl-C between two compiled calls and not during one.

    >>> list(stretches(25, num_entries=10_000_000))
    [10, 10, 5]
    """
    longest = max(ENTRIES_PER_SECOND // max(num_entries, 1), 1)
    while num_iterations > 0:
        yield min(num_iterations, longest)
        num_iterations -= longest


# ---- in compiled code ----------------------------------------------------------------------------

_YIELD = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
step_aside: Any = types.ExternalFunction(_YIELD, types.int32())


@inlined
def barrier(team):
    """Wait until every worker of the team has come here as often as this one."""
    size = team[SIZE]
    if size > 1:
        ticket = add(team, ARRIVALS, 1)
        last = ticket - ticket % size + size
        looks = 0
        while load(team, ARRIVALS) < last:
            looks += 1
            if looks > PATIENCE:
                step_aside()


@inlined
def give_out(team, num_pieces):
    """Offer pieces of work by number; one worker does this before a barrier."""
    team[NUM_PIECES] = num_pieces
    team[NUM_TAKEN] = 0


@inlined
def take(team):
    """The number of a piece that nobody else has taken, or NONE when all are taken."""
    number = add(team, NUM_TAKEN, 1)
    return number if number < team[NUM_PIECES] else NONE


TOP = 0
MOST_PARTS = 32
SMALLEST_PART = 4096
"""Weight below which a part is not worth a thread's while."""


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
