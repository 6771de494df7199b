"""When to stop a tournament that is played until its leads are known well enough.

Whoever looks again and again and stops at the first look that seems precise stops too early: an
ordinary 95 % interval covers the truth at one look, not at all of them. A *confidence sequence*
does: with the wanted probability the truth lies within it after every deal at once, so play may
stop at any time, for any reason. This one is the normal mixture of Robbins (1970) with the variance
that the results show (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024, "Time-uniform central
limit theory and asymptotic confidence sequences"): after ``n`` deals with standard deviation ``s``

    mean ± s sqrt(2 (n r + 1) / (n² r) log(sqrt(n r + 1) / (1 - confidence)))

It is about half as wide again as an interval at a fixed number of deals, which is the price of
looking. The bounds of the returns are not in it: with stacks of a hundred big blinds they would let
no tournament end. They count only where all deals went alike and nothing shows a spread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from common.errors import MasqueradeError
from common.statistics import (
    DEFAULT_CONFIDENCE,
    Blocks,
    Interval,
    block_means,
    normal_quantile,
)

Floats = npt.NDArray[np.float64]

# The sequence is tightest after so many times the deals of the first look.
TIGHTEST = 16


@dataclass(frozen=True)
class SequentialStop:
    """Play until the interval is narrow enough, looking at fixed numbers of deals only.

    Looks come on a geometric schedule (``min_blocks``, then ``growth`` times more). The answer
    depends on the deals in their order and on nothing else. Workers may run ahead: the table is
    made of the first ``stop_at(...)`` deals, whoever played them.

    >>> stop = SequentialStop(half_width=0.1, min_blocks=50)
    >>> coin = np.random.default_rng(0).integers(0, 2, 1000)
    >>> stop.stop_at(coin[:60]), stop.stop_at(coin)
    (None, 304)
    """

    half_width: float
    """Wanted half width, in the unit of the values."""
    confidence: float = DEFAULT_CONFIDENCE
    """Wanted coverage of all looks together."""
    min_blocks: int = 100
    """Deals before the first look."""
    max_blocks: int | None = None
    """Deals after which play ends in any case."""
    growth: float = 1.25
    """Each look comes after this many times the deals of the one before."""
    span: float = 1.0
    """Largest difference between two deals' means, for deals that all went alike."""
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
        return self.stop_at_all(block_means(values)[:, None])

    def stop_at_all(self, series: Floats) -> int | None:
        """Return the number of deals at which every one of several series is narrow enough.

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
        return max(self._reach(*_spread(column), len(series)) for column in series.T)

    def interval(self, values: npt.ArrayLike | Blocks) -> Interval:
        """The mean of [deals, ...] with an interval that holds however play came to its end."""
        means = Blocks.of(values).series
        mean, reach = float(means.mean()), self._reach(*_spread(means), len(means))
        return Interval(mean, mean - reach, mean + reach)

    def _reach(self, variance: float, distance: float, num_blocks: int) -> float:
        """Half width after so many deals.

        Args:
            variance: of the deals so far.
            distance: between the lowest and the highest of them.
            num_blocks: how many deals.
        """
        doubt = 1 - self.confidence
        if distance == 0:
            # After n equal deals another result is at most as likely as log(1 / p) / n, but for a
            # doubt p: a quarter of all there is, so that most is left for what has a spread.
            return self.span * math.log(4 / doubt) / num_blocks
        # A rare result that was seen a few times may be rarer or more frequent than it looks.
        variance += distance**2 / num_blocks
        # With this ratio the sequence is tightest at TIGHTEST * min_blocks (the same paper).
        best = -2 * math.log(doubt) + math.log(1 - 2 * math.log(doubt))
        ratio = num_blocks * best / (TIGHTEST * self.min_blocks)
        wide = 2 * (ratio + 1) / ratio * math.log(math.sqrt(ratio + 1) / doubt)
        return math.sqrt(variance * wide / num_blocks)

    def next_look(self, series: Floats) -> int:
        """The look at which play will probably end, or the next one after the deals so far.

        Playing on to there in one go saves looks that would not have ended play; it changes nothing
        about the end, which ``stop_at_all`` still finds look by look.

        Args:
            series: [deals, series] results so far.
        """
        spreads = [_spread(column) for column in series.T]
        chosen = 0
        for num_blocks in self.looks():
            if chosen and max(self._reach(*s, chosen) for s in spreads) <= self.half_width:
                break
            if num_blocks > len(series):
                chosen = num_blocks
        assert chosen, "play is at its maximum and has no next look"
        return chosen


def _spread(values: Floats) -> tuple[float, float]:
    """The variance, and the distance between the lowest and the highest."""
    return float(values.var(ddof=1)), float(np.ptp(values))
