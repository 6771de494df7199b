"""What pairing deals gains.

The unit of chance is a **deal**: one set of dice, cards or map, played in every seating of its
players. The games of a deal share their chance events, so they are not independent, but the deals
are: ``common.statistics`` has intervals for them.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from common.errors import MasqueradeError
from common.statistics import Blocks

__all__ = ["paired_gain"]


def paired_gain(values: npt.ArrayLike, blocks: Blocks | None = None) -> float:
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
        blocks: the same by what was played with the same deals, if not all seatings were.
    """
    table = np.asarray(values, np.float64)
    if table.ndim != 2 or len(table) < 2:
        raise MasqueradeError(f"need [deals, seatings] with two deals or more, not {table.shape}")
    unpaired = float(table.var(axis=0, ddof=1).mean())
    blocks = blocks or Blocks.of(table)
    paired = table.shape[1] * float(blocks.shares**2 @ blocks.values.var(axis=0, ddof=1))
    if unpaired == 0:
        return 1.0
    return unpaired / paired if paired > 1e-15 * unpaired else math.inf
