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

from common.errors import MasqueradeError

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


def t_quantile(confidence: float, degrees: float) -> float:
    """The same where the standard error is an estimate with so many degrees of freedom.

    >>> round(t_quantile(0.95, 19), 3)
    2.093
    """
    normal = normal_quantile(confidence)
    return normal if math.isinf(degrees) else float(special.stdtrit(degrees, 0.5 + confidence / 2))


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


@dataclass(frozen=True)
class Blocks:
    """Independent observations of a mean, in streams that may have means of their own.

    A block is everything that was played with one deal of one stream of deals, by its mean.
    """

    values: Floats
    """[deals, streams]"""
    shares: Floats
    """[streams] how much each stream counts; they add up to 1."""

    @classmethod
    def of(cls, values: npt.ArrayLike | Blocks) -> Blocks:
        """A single stream of [deals] or [deals, ...], which is averaged; blocks stay."""
        if isinstance(values, Blocks):
            return values
        return cls(block_means(values)[:, None], np.ones(1))

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return self.values.size

    @property
    def worth(self) -> float:
        """How many blocks of equal weight: fewer than there are, if one stream counts for more."""
        return len(self.values) / float(self.shares.max())

    @property
    def series(self) -> Floats:
        """[deals] the weighted mean over streams; these are independent too."""
        found: Floats = self.values @ self.shares
        return found

    @property
    def mean(self) -> float:
        """The estimate."""
        return float(self.series.mean())

    @property
    def spread(self) -> tuple[float, float]:
        """The variance of the mean, measured within streams, and its degrees of freedom.

        Two variances over the variance of that variance (Satterthwaite 1946), by the fourth moment
        where tails are heavier than normal: if few of many deals make the spread, it is known as
        badly as from few. The variance is 0 if all blocks of every stream are alike.
        """
        values, shares = self.values, self.shares
        if len(values) == 1:  # streams are all that can be compared
            values, shares = (values * shares * len(shares)).T, np.ones(1)
        num_deals = len(values)
        if num_deals < 2 or (np.ptp(values, axis=0) <= 1e-12 * (1 + np.abs(values[0]))).all():
            return 0.0, math.inf
        squares = (values - values.mean(axis=0)) ** 2
        total = squares.sum(axis=0)
        variances = shares**2 * total / (num_deals - 1) / num_deals
        tails = (squares**2).sum(axis=0) / np.where(total > 0, total, 1) ** 2 - 1 / num_deals
        doubt = np.maximum(tails, 2 / (num_deals - 1))
        variance = float(variances.sum())
        return variance, 2 * variance**2 / float(variances**2 @ doubt)


def mean_interval(
    values: npt.ArrayLike | Blocks,
    confidence: float = DEFAULT_CONFIDENCE,
    bounds: tuple[float, float] | None = None,
) -> Interval:
    """Return the mean of independent values with Student's t interval, or Wilson's between bounds.

    Student's has as many degrees of freedom as the spread is known with; see ``Blocks.spread``. A
    single value, whose spread is unknown, has an infinite interval.

    Between bounds the values count as the number of independent games, won or lost, that would know
    the mean as well: ``rate (1 - rate)`` over the measured variance, and fewer because that is
    measured too (the modified Wilson interval of Korn and Graubard 1998). Far from the bounds it is
    Student's; near them, where that is too short on one side, it is Wilson's. Values that are all
    alike do not show their spread at all: then it reaches as far as others can move the mean that
    are rare enough not to be met, which is a share of ``1 - ((1 - confidence) / 2) ** (1 / deals)``
    of all; streams that differ reach each by itself. ``python -m benchmarks.coverage`` shows how
    often it is right.

    >>> print(mean_interval([1.0, 2.0, 3.0, 4.0]))
    2.500 ± 2.054
    >>> print(mean_interval([1.0, 0.5, 1.0, 1.0, 1.0], bounds=(0.0, 1.0)))
    0.900 [0.441, 0.990]
    >>> print(mean_interval([1.0] * 5, bounds=(0.0, 1.0)), "|", mean_interval([0.0] * 200,
    ...     bounds=(-1.0, 1.0)))
    1.000 [0.478, 1.000] | 0.000 ± 0.018

    Args:
        values: [deals] or [deals, ...], whatever belongs to one deal is averaged first; or blocks
            of several streams of deals.
        confidence: wanted coverage.
        bounds: the least and the most that a value can be, if that is known; values beyond, such as
            returns after variance reduction, move them.
    """
    blocks = Blocks.of(values)
    mean, (variance, degrees) = blocks.mean, blocks.spread
    reach = t_quantile(confidence, degrees) * math.sqrt(variance)
    if bounds is None:
        reach = reach if blocks.count > 1 else math.inf
        return Interval(mean, mean - reach, mean + reach)
    low, high = min(bounds[0], blocks.values.min()), max(bounds[1], blocks.values.max())
    if variance == 0:
        ends, shares, deals = blocks.values[0], blocks.shares, float(len(blocks.values))
        if np.ptp(ends) <= 1e-12 * (1 + abs(mean)):  # all are like one stream
            ends, shares, deals = ends[:1], np.ones(1), blocks.worth
        share = 1 - ((1 - confidence) / 2) ** (1 / deals)
        below, above = (share * np.linalg.norm(shares * room) for room in (ends - low, high - ends))
        return Interval(mean, float(mean - below), float(mean + above))
    rate = min(1.0, max(0.0, (mean - low) / (high - low)))
    games = rate * (1 - rate) * ((high - low) * normal_quantile(confidence) / reach) ** 2
    found = wilson(rate * max(1.0, games), max(1.0, games), confidence)
    return Interval(mean, *(low + (high - low) * end for end in (found.low, found.high)))


def block_means(values: npt.ArrayLike) -> Floats:
    """Average everything but the first axis: [deals, ...] -> [deals]."""
    table = np.asarray(values, np.float64)
    if table.ndim == 0 or table.size == 0:
        raise MasqueradeError(f"need results of at least one deal, not an array {table.shape}")
    means: Floats = table.reshape(len(table), -1).mean(axis=1)
    return means
