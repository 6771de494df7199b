"""How sure a table of results is: intervals over deals, and the gain of pairing them.

The unit of chance is a **deal**: one set of dice, cards or map, played in every seating of its
players. The games of a deal share their chance events, so they are not independent, but the deals
are. Every function here that takes ``[deals, seatings]`` treats a whole deal as one block.

Everything is a pure function of arrays.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import special

from envs.core.errors import MasqueradeError
from envs.core.statistics import DEFAULT_CONFIDENCE, Interval, block_means, normal_quantile, wilson

__all__ = ["paired_gain", "paired_rate"]


def paired_rate(blocks: npt.ArrayLike, confidence: float = DEFAULT_CONFIDENCE) -> Interval:
    """Return a rate over deals, such as of wins, with Wilson's interval for paired games.

    Games of a deal are not independent, so the deals count as the number of independent games that
    would know the rate as well: ``rate (1 - rate)`` over the measured variance of its mean, and a
    little less because that variance is measured too (Student's quantile for the normal one; the
    modified Wilson interval of Korn and Graubard 1998). Between players who are alike it is close
    to Student's t; near 0 and 1, where t is too short on one side, it is Wilson's. Deals that all
    went alike count as games. ``python -m benchmarks.coverage`` shows how often it is right.

    >>> deals = [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0]] * 25
    >>> print(paired_rate(deals))
    0.500 ± 0.070

    Args:
        blocks: [deals, ...] results from 0 to 1; whatever belongs to one deal is averaged first.
        confidence: wanted coverage.
    """
    means = block_means(blocks)
    num_deals, rate = len(means), min(1.0, max(0.0, float(means.mean())))
    variance = float(means.var(ddof=1)) if num_deals > 1 else 0.0
    if variance <= 1e-24:
        return wilson(rate * num_deals, num_deals, confidence)
    shrunk = normal_quantile(confidence) / special.stdtrit(num_deals - 1, 0.5 + confidence / 2)
    games = max(1.0, num_deals * rate * (1 - rate) / variance * float(shrunk) ** 2)
    return wilson(rate * games, games, confidence)


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
