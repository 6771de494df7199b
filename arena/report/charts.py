"""Axes of charts with round ticks; ``charts.html`` draws on them.

Places along the width are percentages and everything else is in pixels, so a chart fills its column
on a desk and on a phone without its letters being stretched or shrunk.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from arena.report.words import minus

__all__ = ["Scale", "scale_for", "up_text"]

# Part of the width left free at either side, so that dots and labels at the ends are not cut off.
MARGIN = 3.0


@dataclass(frozen=True)
class Scale:
    """From values to places along an axis."""

    ticks: tuple[float, ...]
    """Round values; the first and the last are the ends of the axis."""
    left: float = MARGIN
    """Percentage of the width left free before the first."""

    def place(self, value: float) -> float:
        """Percentage of the width, within the chart for whatever value."""
        low, high = self.ticks[0], self.ticks[-1]
        share = (value - low) / (high - low)
        width = 100 - MARGIN - self.left
        return round(self.left + width * min(1.0, max(0.0, share)), 3)

    @property
    def labels(self) -> list[tuple[float, str, bool]]:
        """Where each label stands, its text, and whether it gives way where room is scarce.

        On a phone only every other label has room; 0 is always one of them.
        """
        origin = self.ticks.index(0.0) if 0.0 in self.ticks else 0
        return [
            (self.place(tick), self.label(tick), bool((number - origin) % 2))
            for number, tick in enumerate(self.ticks)
        ]

    def height(self, value: float, plot: float) -> float:
        """The place of a value on an axis that goes up, in pixels of a plot so high."""
        share = (value - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])
        return round(8 + (plot - 16) * (1 - share), 2)

    def label(self, value: float) -> str:
        """A value as the axis writes it, with the decimals of the distance between ticks."""
        step = self.ticks[1] - self.ticks[0]
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        if round(step * 10**decimals, 6) % 1:
            decimals += 1
        return minus(f"{value:,.{decimals}f}")


def scale_for(
    values: Iterable[float],
    has_zero: bool = False,
    about: int = 4,
    is_whole: bool = False,
    left: float = MARGIN,
) -> Scale:
    """An axis with round ticks around all values.

    >>> scale_for([3, 41]).ticks
    (0.0, 10.0, 20.0, 30.0, 40.0, 50.0)

    Args:
        values: what must fit; those that are not finite are left out.
        has_zero: whether 0 must be on the axis.
        about: how many steps are wanted.
        is_whole: whether ticks must be whole numbers.
        left: percentage of the width to leave free.
    """
    finite = [float(value) for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    if has_zero:
        low, high = min(0.0, low), max(0.0, high)
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999)
    step = max(1.0, round(step)) if is_whole else step
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(step * i, 12) for i in range(first, max(last, first + 1) + 1))
    return Scale(ticks, left)


def up_text(value: float) -> str:
    """A value with three significant figures.

    >>> up_text(0.012345), up_text(1234.5)
    ('0.0123', '1,234')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
