"""How long to search, and keeping to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Budget", "spend"]

FIRST_CHUNK = 8
"""Simulations before the first look at the clock."""
LONGEST_CHUNK = 0.01
"""Seconds between two looks at the clock, about."""
UNTIMED_CHUNK = 1 << 16


@dataclass(frozen=True)
class Budget:
    """How long to search: at most so many simulations and seconds."""

    iterations: int | None = 1000
    seconds: float | None = None


def spend(
    budget: Budget, start: float, clock: Callable[[], float], run: Callable[[int], None]
) -> None:
    """Call ``run`` with numbers of simulations until the budget is used up.

    >>> spend(Budget(100_000), 0.0, lambda: 0.0, print)
    65536
    34464
    """
    left, seconds = budget.iterations, budget.seconds
    chunk = UNTIMED_CHUNK if seconds is None else FIRST_CHUNK
    while left is None or left > 0:
        began = clock() if seconds is not None else 0.0
        if seconds is not None and began - start >= seconds:
            return
        count = chunk if left is None else min(chunk, left)
        run(count)
        if left is not None:
            left -= count
        if seconds is not None:
            now = clock()
            each = max(now - began, 1e-9) / count
            rest = max(min(LONGEST_CHUNK, seconds - (now - start)), 0.0)
            chunk = int(max(1, min(rest / each, 2.0 * chunk)))
