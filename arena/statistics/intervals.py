"""How sure a table of results is: intervals over deals, and the gain of pairing them.

The unit of chance is a **deal**: one set of dice, cards or map, played in every seating of its
players. The games of a deal share their chance events, so they are not independent, but the deals
are. Every function here that takes ``[deals, seatings]`` treats a whole deal as one block.

Everything is a pure function of arrays; generators are handed in.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import special

from envs.core.errors import MasqueradeError
from envs.core.statistics import DEFAULT_CONFIDENCE, Interval, block_means, normal_quantile

__all__ = ["paired_bootstrap", "paired_gain"]

Floats = npt.NDArray[np.float64]

# Resampled values held in memory at a time: 2**20 indices are 8 MB.
_CHUNK = 1 << 20


def paired_bootstrap(
    blocks: npt.ArrayLike,
    rng: np.random.Generator,
    confidence: float = DEFAULT_CONFIDENCE,
    num_resamples: int = 2000,
) -> Interval:
    """Return the mean over deals with a bootstrap interval that resamples whole deals.

    All seatings of a deal are drawn together, so that chance that cancels within a deal stays
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
    means = block_means(blocks)
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
    """Return how many times fewer games paired deals need for an equally wide interval.

    Take ``N`` games in ``S`` seatings. *Paired*: ``N / S`` deals, each in all seatings; the mean
    has variance ``Var(deal mean) / (N / S) = S Var(deal mean) / N``. *Unpaired*: a fresh deal for
    each game, still ``N / S`` games per seating; the variance is ``(1 / N)`` times the average over
    seatings of ``Var(result in that seating)``. Widths go with the root of variance over games, so
    the ratio of the two variances is the ratio of games::

        gain = average variance of a seating / (S * variance of a deal's mean)

    Both come from the same ``[deals, seatings]``. With equal variances and a correlation ``r``
    between seatings this is ``1 / (1 + (S - 1) r)``: above 1 when a deal that is good for one seat
    is bad for another, below 1 when the seatings of a deal repeat each other. The unpaired games
    have balanced seats too, so an advantage of the first seat is not counted as a gain.

    >>> rng = np.random.default_rng(0)
    >>> deal, noise = rng.normal(size=10_000), rng.normal(size=(10_000, 2))
    >>> round(paired_gain(noise + np.sqrt(3) * deal[:, None] * [1, -1]), 1)  # r = -3 / 4
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
