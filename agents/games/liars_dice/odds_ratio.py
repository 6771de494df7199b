"""Odds: how a probability moves when something becomes so many times as likely as before."""

from __future__ import annotations

from envs.core.compiling import helper

__all__ = ["multiply_odds"]


@helper
def multiply_odds(prob, factor, bound):
    """A probability after its odds are multiplied; it moves by at most ``bound``.

    >>> multiply_odds(0.5, 3.0, 1.0), multiply_odds(0.5, 3.0, 0.125)
    (0.75, 0.625)
    """
    moved = prob * factor / (prob * factor + 1.0 - prob)
    return min(max(moved, prob - bound), prob + bound)
