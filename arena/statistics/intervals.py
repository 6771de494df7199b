"""How sure a table of results is: intervals, the gain of paired deals, and when to stop.

The unit of chance is a **deal**: one set of dice, cards or map, played in every seating of its
players. The games of a deal share their luck, so they are not independent, but the deals are.
Every function here that takes ``[deals, seatings]`` therefore treats a whole deal as one block.

Everything is a pure function of arrays; generators are handed in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special  # type: ignore[import-untyped]

from envs.core.errors import MasqueradeError

__all__ = [
    "Interval",
    "SequentialStop",
    "games_needed",
    "mean_interval",
    "normal_quantile",
    "paired_bootstrap",
    "paired_gain",
    "wilson",
]

Floats = npt.NDArray[np.float64]

DEFAULT_CONFIDENCE = 0.95
# Resampled values held in memory at a time: 2**20 indices are 8 MB.
_CHUNK = 1 << 20


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
        """The same in another unit.

        >>> print(Interval(0.1, 0.05, 0.15).times(100))
        10.000 ± 5.000
        """
        return Interval(factor * self.mean, factor * self.low, factor * self.high)

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

    Games that share a deal are not independent: use ``paired_bootstrap`` for those.

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


def mean_interval(values: npt.ArrayLike, confidence: float = DEFAULT_CONFIDENCE) -> Interval:
    """Return the mean of independent values with Student's t interval.

    A single value, whose spread is unknown, has an infinite interval.

    >>> print(mean_interval([1.0, 2.0, 3.0, 4.0]))
    2.500 ± 2.054

    Args:
        values: [deals] or [deals, ...]; whatever belongs to one deal is averaged first.
        confidence: wanted coverage.
    """
    means = _block_means(values)
    normal_quantile(confidence)
    if len(means) < 2:
        return Interval(float(means.mean()), -math.inf, math.inf)
    t = float(special.stdtrit(len(means) - 1, 0.5 + confidence / 2))
    reach = t * float(means.std(ddof=1)) / math.sqrt(len(means))
    mean = float(means.mean())
    return Interval(mean, mean - reach, mean + reach)


def paired_bootstrap(
    blocks: npt.ArrayLike,
    rng: np.random.Generator,
    confidence: float = DEFAULT_CONFIDENCE,
    num_resamples: int = 2000,
) -> Interval:
    """Return the mean over deals with a bootstrap interval that resamples whole deals.

    All seatings of a deal are drawn together, so that luck which cancels within a deal stays
    cancelled. The interval is BCa (Efron 1987: bias-corrected and accelerated), which follows a
    skewed distribution where a percentile interval lags behind; the acceleration of a mean is its
    skewness over ``6 sqrt(deals)``, so no jackknife is needed. One deal alone has an infinite
    interval; deals that are all alike have an empty one.

    >>> deals = [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0]] * 25
    >>> print(paired_bootstrap(deals, np.random.default_rng(0)))
    0.500 [0.431, 0.570]

    Args:
        blocks: [deals, ...] results; the first axis is what is resampled.
        rng: source of the resamples.
        confidence: wanted coverage.
        num_resamples: how many resamples; 2000 place the ends within a few percent of the width.
    """
    means = _block_means(blocks)
    reach = normal_quantile(confidence)
    mean = float(means.mean())
    if len(means) < 2:
        return Interval(mean, -math.inf, math.inf)
    centred = means - mean
    spread = float(np.sum(centred**2))
    if spread <= 1e-24 * len(means) * max(1.0, mean * mean):
        return Interval(mean, mean, mean)
    resampled = np.sort(_resampled_means(means, rng, num_resamples))
    # Ties between a resample and the mean count half, as with any discrete statistic.
    below = np.mean(resampled < mean) + 0.5 * np.mean(resampled == mean)
    bias = special.ndtri(np.clip(below, 1 / num_resamples, 1 - 1 / num_resamples))
    acceleration = float(np.sum(centred**3)) / (6 * spread**1.5)
    shifted = bias + np.array([-reach, reach])
    # Beyond Efron's pole (a handful of very skewed deals) the level is that of the outermost deal.
    levels = special.ndtr(bias + shifted / np.maximum(1 - acceleration * shifted, 1e-3))
    low, high = np.quantile(resampled, levels)
    return Interval(mean, float(low), float(high))


def paired_gain(values: npt.ArrayLike) -> float:
    """Return how many times fewer games the paired design needs for an interval of the same width.

    Take ``N`` games in ``S`` seatings. *Paired*: ``N / S`` deals, each in all seatings; the mean
    has variance ``Var(deal mean) / (N / S) = S Var(deal mean) / N``. *Unpaired*: a fresh deal for
    each game, still ``N / S`` games per seating; the variance is ``(1 / N)`` times the average over
    seatings of ``Var(result in that seating)``. Widths go with the root of variance over games, so
    the ratio of the two variances is the ratio of games::

        gain = average variance of a seating / (S * variance of a deal's mean)

    Both come from the same ``[deals, seatings]``. With equal variances and a correlation ``r``
    between seatings this is ``1 / (1 + (S - 1) r)``: above 1 when luck in one seat is bad luck in
    another, below 1 when the seatings of a deal repeat each other. The unpaired design is given
    balanced seats too, so an advantage of the first seat is not counted as a gain.

    >>> rng = np.random.default_rng(0)
    >>> luck, noise = rng.normal(size=10_000), rng.normal(size=(10_000, 2))
    >>> round(paired_gain(noise + np.sqrt(3) * luck[:, None] * [1, -1]), 1)  # r = -3 / 4
    4.0

    Args:
        values: [deals, seatings] result of one player (or team) in each seating.
    """
    table = np.asarray(values, np.float64)
    if table.ndim != 2 or len(table) < 2:
        raise MasqueradeError(f"need [deals, seatings] with two deals or more, not {table.shape}")
    unpaired = float(table.var(axis=0, ddof=1).mean())
    paired = table.shape[1] * float(table.mean(axis=1).var(ddof=1))
    if unpaired == 0:
        return 1.0
    return unpaired / paired if paired > 1e-15 * unpaired else math.inf


def games_needed(
    values: npt.ArrayLike, half_width: float, confidence: float = DEFAULT_CONFIDENCE
) -> int:
    """Return how many games, in whole deals, will reach an interval of a wanted half width.

    The spread of a deal's mean is taken from the results so far, which makes this a forecast:
    from a hundred deals it is good to about 15 %.

    >>> coin = np.array([[0.0], [1.0]] * 500)
    >>> games_needed(coin, half_width=0.01)
    9614

    Args:
        values: [deals] or [deals, seatings] results of a first part of the match.
        half_width: wanted half width, in the unit of the values.
        confidence: wanted coverage.
    """
    means = _block_means(values)
    if half_width <= 0 or len(means) < 2:
        raise MasqueradeError("need a half width above 0 and two deals or more")
    games_per_deal = np.asarray(values).size // len(means)
    errors = normal_quantile(confidence) * float(means.std(ddof=1)) / half_width
    return max(2, math.ceil(errors**2)) * games_per_deal


@dataclass(frozen=True)
class SequentialStop:
    """Play until the interval is narrow enough, looking at fixed numbers of deals only.

    Peeking costs coverage: among many looks, the first that seems precise is more often one whose
    spread came out too small. Three things keep that small. Looks come on a geometric schedule
    (``min_blocks``, then ``growth`` times more: 29 looks from 100 deals to 50,000, 25 % too many
    games at worst). There is a minimum of deals. And at ``n`` deals the variance is taken as
    ``s² + (2 span)² / n`` (after Chow and Robbins 1965), so that a run of equal results cannot look
    certain: nothing ends before ``2 z span / half_width`` deals.

    What remains, in simulations of 3000 stops: around an even score the mean is unbiased and a 95 %
    interval covers 94 to 96 %. Near a win rate of 0 or 1 spread and mean are tied. At 0.9 and 0.98
    the mean was off by up to 7 % of the half width, towards the end of the scale; Wilson's interval
    still covered 94 to 97 %, but Student's only 86 to 95 % (with a fixed number of games, 92 to
    96 %). So report win rates near the ends with ``wilson`` or the bootstrap.

    The answer depends on the deals in their order and on nothing else. Workers may run ahead: the
    table is made of the first ``stop_at(...)`` deals, whoever played them.

    >>> stop = SequentialStop(half_width=0.1, min_blocks=50)
    >>> coin = np.random.default_rng(0).integers(0, 2, 1000)
    >>> stop.stop_at(coin[:60]), stop.stop_at(coin)
    (None, 124)
    """

    half_width: float
    """Wanted half width, in the unit of the values."""
    confidence: float = DEFAULT_CONFIDENCE
    """Wanted coverage."""
    min_blocks: int = 100
    """Deals before the first look."""
    max_blocks: int | None = None
    """Deals after which play ends in any case."""
    growth: float = 1.25
    """Each look comes after this many times the deals of the one before."""
    span: float = 1.0
    """Largest difference between two deals' means: 1 for win rates, else from the utilities."""
    round_up: Callable[[int], int] = int
    """From a number of deals to the next after which there can be a look, for play in batches."""

    def __post_init__(self) -> None:
        normal_quantile(self.confidence)
        if self.half_width <= 0 or self.growth <= 1 or self.min_blocks < 2 or self.span < 0:
            raise MasqueradeError(
                f"need half_width > 0, growth > 1, min_blocks >= 2 and span >= 0, not {self}"
            )

    def looks(self) -> Iterator[int]:
        """Count up the numbers of deals at which to look; without end if there is no maximum."""
        num_blocks = self.round_up(self.min_blocks)
        while self.max_blocks is None or num_blocks < self.max_blocks:
            yield num_blocks
            num_blocks = self.round_up(math.ceil(num_blocks * self.growth))
        if self.max_blocks is not None:
            yield self.max_blocks

    def stop_at(self, values: npt.ArrayLike) -> int | None:
        """Return the number of deals at which play ends, or None when more are needed.

        Args:
            values: [deals] or [deals, seatings] results so far, in the order of the deals.
        """
        return self.stop_at_all(_block_means(values)[:, None])

    def stop_at_all(self, series: Floats) -> int | None:
        """Return the number of deals at which every one of several series is narrow enough.

        >>> coins = np.random.default_rng(0).integers(0, 2, (1000, 3)) * [0.1, 1, 0.5]
        >>> SequentialStop(half_width=0.1, min_blocks=50).stop_at_all(coins)
        124

        Args:
            series: [deals, series] a result of each series for each deal so far, in order.
        """
        for num_blocks in self.looks():
            if num_blocks > len(series):
                return None
            is_last = num_blocks == self.max_blocks
            if is_last or self.reach(series[:num_blocks]) <= self.half_width:
                return num_blocks
        return None

    def reach(self, series: Floats) -> float:
        """The half width that a look sees: that of the least certain of [deals, series]."""
        num_blocks = len(series)
        t = float(special.stdtrit(num_blocks - 1, 0.5 + self.confidence / 2))
        variance = float(series.var(axis=0, ddof=1).max()) + (2 * self.span) ** 2 / num_blocks
        return t * math.sqrt(variance / num_blocks)

    def next_look(self, series: Floats) -> int:
        """The look at which play will probably end, or the next one after the deals so far.

        Playing on to there in one go saves looks that would not have ended play; it changes nothing
        about the end, which ``stop_at_all`` still finds look by look.

        Args:
            series: [deals, series] results so far.
        """
        z, wanted = normal_quantile(self.confidence), self.half_width
        spread = z * z * float(series.var(axis=0, ddof=1).max())
        # The n with z² (s² + 4 span² / n) / n = wanted².
        end = (spread + math.hypot(spread, 4 * wanted * z * self.span)) / (2 * wanted**2)
        chosen = None
        for num_blocks in self.looks():
            if num_blocks > len(series) and (chosen is None or num_blocks <= end):
                chosen = num_blocks
            elif chosen is not None:
                break
        assert chosen is not None, "play is at its maximum and has no next look"
        return chosen


def _block_means(values: npt.ArrayLike) -> Floats:
    """Average everything but the first axis: [deals, ...] -> [deals]."""
    table = np.asarray(values, np.float64)
    if table.ndim == 0 or table.size == 0:
        raise MasqueradeError(f"need results of at least one deal, not an array {table.shape}")
    means: Floats = table.reshape(len(table), -1).mean(axis=1)
    return means


def _resampled_means(means: Floats, rng: np.random.Generator, num_resamples: int) -> Floats:
    """Means of resamples of the same size: [deals] -> [num_resamples].

    Results such as wins and losses take few values; then drawing how often each occurs is the same
    experiment as drawing the deals one by one, and its cost does not grow with the deals.
    """
    num_blocks = len(means)
    distinct, counts = np.unique(means, return_counts=True)
    if len(distinct) * 10 <= num_blocks:
        drawn = rng.multinomial(num_blocks, counts / num_blocks, size=num_resamples)
        return np.asarray(drawn @ distinct / num_blocks, np.float64)
    rows = max(1, _CHUNK // num_blocks)
    pieces = [
        means[rng.integers(num_blocks, size=(min(rows, num_resamples - first), num_blocks))].mean(1)
        for first in range(0, num_resamples, rows)
    ]
    return np.concatenate(pieces)
