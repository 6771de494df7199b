"""Threads that share the work of a pass over a game.

Compiled code runs outside the interpreter's lock, so every worker is a thread that makes one
compiled call and stays in it for all iterations. Where a worker needs what the others have written,
all of them wait at a ``barrier``, which takes a fraction of a microsecond when each has a core of
its own. Work without such an order is taken by number: whoever is free does the next piece.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from numba import types

from agents.cfr.passes.atomics import add, load
from envs.core.compiling import JIT_DISABLED, inlined

__all__ = [
    "SIZE",
    "THREAD_TEAM",
    "ThreadTeam",
    "barrier",
    "give_out",
    "make_team",
    "stretches",
    "take",
    "work_together",
]

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
