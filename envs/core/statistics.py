"""Means and rates with their intervals, for every room that measures something.

Student's quantile and the normal one are scipy's. Wilson's interval is not: ``binomtest`` wants
whole wins, and a tie is half a one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from envs.core.errors import MasqueradeError

__all__ = [
    "DEFAULT_CONFIDENCE",
    "Interval",
    "block_means",
    "mean_interval",
    "normal_quantile",
    "wilson",
]

Floats = npt.NDArray[np.float64]

DEFAULT_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """An estimate and the range that holds the truth with some confidence.

    The text has three decimals, or those of a format such as ``.0f``. An interval whose two sides
    differ in the decimals shown is written with its ends.

    >>> print(Interval(0.512, 0.499, 0.525), "|", Interval(0.9, 0.71, 0.96))
    0.512 ± 0.013 | 0.900 [0.710, 0.960]
    >>> f"{Interval(120.4, 101.2, 139.6):.0f}"
    '120 ± 19'
    """

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """The larger of the two sides."""
        return max(self.mean - self.low, self.high - self.mean)

    def excludes(self, value: float) -> bool:
        """Whether the value lies outside."""
        return not self.low <= value <= self.high

    def times(self, factor: float) -> Interval:
        """The same in another unit; times -1 it is seen from the other side.

        >>> print(Interval(0.1, 0.05, 0.15).times(100))
        10.000 ± 5.000
        """
        ends = sorted((factor * self.low, factor * self.high))
        return Interval(factor * self.mean + 0.0, *(end + 0.0 for end in ends))  # no minus zeros

    def __format__(self, spec: str) -> str:
        spec = f"z{spec or '.3f'}"  # z: no minus before a zero
        below, above = format(self.mean - self.low, spec), format(self.high - self.mean, spec)
        if below == above:
            return f"{self.mean:{spec}} ± {above}"
        return f"{self.mean:{spec}} [{self.low:{spec}}, {self.high:{spec}}]"

    def __str__(self) -> str:
        return format(self, "")


def normal_quantile(confidence: float) -> float:
    """How many standard errors a two-sided interval reaches to each side.

    >>> round(normal_quantile(0.95), 3)
    1.96
    """
    if not 0 < confidence < 1:
        raise MasqueradeError(f"confidence must lie between 0 and 1, not {confidence}")
    return float(special.ndtri(0.5 + confidence / 2))


def wilson(wins: float, games: float, confidence: float = DEFAULT_CONFIDENCE) -> Interval:
    """Return the win rate of independent games with Wilson's score interval (1927).

    A tie counts as half a win. With a share ``t`` of ties the variance of one game's score is
    ``p (1 - p) - t / 4``, less than the ``p (1 - p)`` used here, so with ties the interval is a
    little too wide, never too narrow. The mean is the observed rate, not Wilson's centre.

    Games that share a deal are not independent: count a deal as one game.

    >>> print(wilson(8, 10))
    0.800 [0.490, 0.943]

    Args:
        wins: number of wins, plus half the number of ties.
        games: number of games, at least 1.
        confidence: wanted coverage.
    """
    if games < 1 or not 0 <= wins <= games:
        raise MasqueradeError(f"need 0 <= wins <= games and a game, not {wins} wins of {games}")
    z2 = normal_quantile(confidence) ** 2
    rate = wins / games
    centre = (rate + z2 / (2 * games)) / (1 + z2 / games)
    reach = math.sqrt(z2 * (rate * (1 - rate) + z2 / (4 * games)) / games) / (1 + z2 / games)
    # At 0 and at all wins one end is exactly the rate; rounding must not put it on the other side.
    return Interval(rate, max(0.0, min(centre - reach, rate)), min(1.0, max(centre + reach, rate)))


def mean_interval(
    values: npt.ArrayLike, confidence: float = DEFAULT_CONFIDENCE, span: float = 0.0
) -> Interval:
    """Return the mean of independent values with Student's t interval.

    A single value, whose spread is unknown, has an infinite interval. Few values need not show how
    far others can lie: if what is rare pays much, as a big pot does in poker, the spread of those
    without one is far too small. So the interval reaches to each side at least as far as one more
    deal could move the mean. Deals that are all alike do not show their spread at all: then it
    reaches as far as deals of another kind can move the mean that are rare enough not to be met,
    which is a share of ``1 - (1 - confidence) ** (1 / deals)`` of all.

    >>> print(mean_interval([1.0, 2.0, 3.0, 4.0]))
    2.500 ± 2.054
    >>> print(mean_interval([1.0, 2.0, 3.0, 4.0], span=20.0))
    2.500 ± 2.500
    >>> print(mean_interval([1.0, 1.0], span=2.0), "|", mean_interval([1.0] * 200, span=2.0))
    1.000 ± 1.553 | 1.000 ± 0.030

    Args:
        values: [deals] or [deals, ...]; whatever belongs to one deal is averaged first.
        confidence: wanted coverage.
        span: the largest difference that there can be between two deals, if it is known.
    """
    means = block_means(values)
    normal_quantile(confidence)
    if len(means) < 2:
        return Interval(float(means.mean()), -math.inf, math.inf)
    t = float(special.stdtrit(len(means) - 1, 0.5 + confidence / 2))
    reach = t * float(means.std(ddof=1)) / math.sqrt(len(means))
    least = span / 2 / len(means)
    if np.ptp(means) <= 1e-12 * (1 + abs(float(means[0]))):
        least = span * (1 - (1 - confidence) ** (1 / len(means)))
    reach = max(reach, least)
    mean = float(means.mean())
    return Interval(mean, mean - reach, mean + reach)


def block_means(values: npt.ArrayLike) -> Floats:
    """Average everything but the first axis: [deals, ...] -> [deals]."""
    table = np.asarray(values, np.float64)
    if table.ndim == 0 or table.size == 0:
        raise MasqueradeError(f"need results of at least one deal, not an array {table.shape}")
    means: Floats = table.reshape(len(table), -1).mean(axis=1)
    return means
