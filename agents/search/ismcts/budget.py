"""How long to search, and keeping to it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Budget", "spend"]

FIRST_CHUNK = 8
"""Simulations before the first look at the clock."""
LONGEST_CHUNK = 0.01
"""Seconds between two looks at the clock, about."""
UNTIMED_CHUNK = 1 << 16
NUM_LOOKS = 20
"""At the visits, in a search that may stop early and has no clock."""


@dataclass(frozen=True)
class Budget:
    """How long to search: at most so many simulations and seconds."""

    iterations: int | None = 1000
    seconds: float | None = None
    stops_early: bool = False
    """Whether to leave out simulations that cannot change which action has most visits."""


def spend(
    budget: Budget,
    start: float,
    clock: Callable[[], float],
    run: Callable[[int], None],
    lead: Callable[[], int] | None = None,
) -> None:
    """Call ``run`` with numbers of simulations until the budget is used up.

    ``lead`` tells how many visits the first action is ahead of the second, for a budget that stops
    early. How many simulations are left is known, or follows from the pace,
    the quicker of the last chunk's and the whole search's.

    >>> spend(Budget(100_000), 0.0, lambda: 0.0, print)
    65536
    34464
    >>> spend(Budget(160, stops_early=True), 0.0, lambda: 0.0, print, lambda: 148)
    8
    8
    """
    left, seconds = budget.iterations, budget.seconds
    chunk, done = UNTIMED_CHUNK if seconds is None else FIRST_CHUNK, 0
    if budget.stops_early and seconds is None and left:
        chunk = max(left // NUM_LOOKS, 1)
    while left is None or left > 0:
        began = clock() if seconds is not None else 0.0
        if seconds is not None and began - start >= seconds:
            return
        count = chunk if left is None else min(chunk, left)
        run(count)
        if left is not None:
            left -= count
        possible = math.inf if left is None else left
        if seconds is not None:
            now = clock()
            each = max(now - began, 1e-9) / count
            rest = max(seconds - (now - start), 0.0)
            chunk = int(max(1, min(min(LONGEST_CHUNK, rest) / each, 2.0 * chunk)))
            done += count
            possible = min(possible, rest / min(each, max(now - start, 1e-9) / done))
        if budget.stops_early and lead is not None and lead() > possible:
            return
