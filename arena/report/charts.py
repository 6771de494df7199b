"""Charts as inline SVG that stay sharp and readable at any width.

Places along the width are percentages and everything else is in pixels, so a chart fills its column
on a desk and on a phone without its letters being stretched or shrunk.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from arena.report.markup import Safe, element
from arena.report.words import minus
from arena.statistics.intervals import Interval

__all__ = [
    "Bar",
    "Curve",
    "Dot",
    "Scale",
    "bars",
    "boxes",
    "curves",
    "dots",
    "histogram",
    "scale_for",
    "up_text",
]

ROW = 26
AXIS = 20
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

    def label(self, value: float) -> str:
        """A value as the axis writes it, with the decimals of the distance between ticks."""
        step = self.ticks[1] - self.ticks[0]
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        if round(step * 10**decimals, 6) % 1:
            decimals += 1
        return minus(f"{value:,.{decimals}f}")


def scale_for(
    values: Iterable[float], has_zero: bool = False, about: int = 4, is_whole: bool = False
) -> Scale:
    """An axis with round ticks around all values.

    >>> scale_for([3, 41]).ticks
    (0.0, 10.0, 20.0, 30.0, 40.0, 50.0)

    Args:
        values: what must fit; those that are not finite are left out.
        has_zero: whether 0 must be on the axis.
        about: how many steps are wanted.
        is_whole: whether ticks must be whole numbers.
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
    return Scale(tuple(round(step * i, 12) for i in range(first, max(last, first + 1) + 1)))


# ---- rows with a name, a picture and a figure ----------------------------------------------------


@dataclass(frozen=True)
class Dot:
    """A row of a ladder."""

    name: str
    interval: Interval
    text: str
    is_firm: bool = True


@dataclass(frozen=True)
class Bar:
    """A row of a bar chart."""

    name: str
    value: float
    text: str


def dots(rows: Sequence[Dot], title: str) -> Safe:
    """A ladder: a dot with whiskers for everyone; a hollow dot is an indication only."""
    scale = scale_for(
        [end for row in rows for end in (row.interval.mean, row.interval.low, row.interval.high)]
    )
    pictures = []
    for row in rows:
        mean, low, high = (
            scale.place(x) for x in (row.interval.mean, row.interval.low, row.interval.high)
        )
        middle = ROW / 2
        marks = [_line(low, high, middle, middle, "whisker")]
        marks += [
            _line(x, x, middle - 4, middle + 4, "whisker")
            for x, end in ((low, row.interval.low), (high, row.interval.high))
            if math.isfinite(end)
        ]
        kind = "dot" if row.is_firm else "dot hollow"
        marks.append(element("circle", cx=f"{mean}%", cy=middle, r=5, class_=kind))
        pictures.append(_track(scale, marks))
    return _rows([(row.name, row.text) for row in rows], pictures, scale, title)


def bars(rows: Sequence[Bar], title: str) -> Safe:
    """Bars from 0."""
    scale = scale_for([row.value for row in rows], has_zero=True)
    zero = scale.place(0.0)
    pictures = []
    for row in rows:
        end = scale.place(row.value)
        left, width = min(zero, end), round(abs(end - zero), 3)
        bar = element("rect", x=f"{left}%", y=6, width=f"{width}%", height=ROW - 12, class_="bar")
        pictures.append(_track(scale, [bar]))
    return _rows([(row.name, row.text) for row in rows], pictures, scale, title)


def boxes(rows: Sequence[tuple[str, dict[str, float], str]], title: str) -> Safe:
    """For each row the middle half of its values as a box, the middle nine tenths as a line."""
    values = [value for _, quantiles, _ in rows for value in quantiles.values()]
    scale = scale_for(values, is_whole=True)
    pictures = []
    for _, quantiles, _ in rows:
        at = {share: scale.place(value) for share, value in quantiles.items()}
        middle, width = ROW / 2, round(at["0.75"] - at["0.25"], 3)
        box = element("rect", x=f"{at['0.25']}%", y=7, width=f"{width}%", height=12, class_="box")
        marks = [_line(at["0.05"], at["0.95"], middle, middle, "whisker"), box]
        marks.append(_line(at["0.5"], at["0.5"], 5, ROW - 5, "median"))
        pictures.append(_track(scale, marks))
    return _rows([(name, text) for name, _, text in rows], pictures, scale, title)


def _rows(
    labels: Sequence[tuple[str, str]], pictures: Sequence[Safe], scale: Scale, title: str
) -> Safe:
    lines = [
        element(
            "tr",
            element("th", name, scope="row", title=name),
            element("td", picture, class_="plot"),
            element("td", minus(text), class_="figure"),
        )
        for (name, text), picture in zip(labels, pictures, strict=True)
    ]
    axis = element(
        "tr",
        element("td"),
        element("td", _axis(scale), class_="plot"),
        element("td"),
        aria_hidden="true",
    )
    caption = element("caption", title)
    return element("table", caption, element("tbody", *lines, axis), class_="rows")


def _track(scale: Scale, marks: Iterable[Safe]) -> Safe:
    grid = [_line(x, x, 0, ROW, "grid") for x in map(scale.place, scale.ticks)]
    if scale.ticks[0] < 0 < scale.ticks[-1]:
        zero = scale.place(0.0)
        grid.append(_line(zero, zero, 0, ROW, "zero"))
    return element("svg", *grid, *marks, width="100%", height=ROW, aria_hidden="true")


def _line(x1: float, x2: float, y1: float, y2: float, class_: str) -> Safe:
    return element("line", x1=f"{x1}%", x2=f"{x2}%", y1=y1, y2=y2, class_=class_)


def _axis(scale: Scale) -> Safe:
    # On a phone only every other label has room; 0 is always one of them.
    origin = scale.ticks.index(0.0) if 0.0 in scale.ticks else 0
    labels = [
        element(
            "text",
            scale.label(tick),
            x=f"{scale.place(tick)}%",
            y=AXIS - 6,
            text_anchor="middle",
            class_="minor" if (number - origin) % 2 else None,
        )
        for number, tick in enumerate(scale.ticks)
    ]
    return element("svg", *labels, width="100%", height=AXIS, class_="axis", aria_hidden="true")


# ---- pictures of their own -----------------------------------------------------------------------

PLOT = 160


def histogram(edges: Sequence[float], counts: Sequence[int], title: str) -> Safe:
    """How often whole numbers were at least ``edges[i]`` and less than ``edges[i + 1]``."""
    scale = scale_for([edges[0] - 0.5, edges[-1] - 0.5], about=6, is_whole=True)
    tallest = max(counts, default=1) or 1
    columns = []
    for left, right, count in zip(edges, edges[1:], counts, strict=False):
        start, end = scale.place(left - 0.5), scale.place(right - 0.5)
        height = round((PLOT - 10) * count / tallest, 2)
        gap = 0.15 if end - start > 1 else 0.0
        values = f"{left:g}" if right - left == 1 else f"{left:g} to {right - 1:g}"
        columns.append(
            element(
                "rect",
                element("title", f"{values}: {count:,} games"),
                x=f"{round(start + gap, 3)}%",
                y=PLOT - height,
                width=f"{round(end - start - 2 * gap, 3)}%",
                height=height,
                class_="bar",
            )
        )
    grid = [_line(MARGIN, 100 - MARGIN, PLOT - 0.5, PLOT - 0.5, "zero")]
    picture = element("svg", *grid, *columns, width="100%", height=PLOT, role="img")
    return element(
        "figure", element("figcaption", title), picture, _axis(scale), class_="chart narrow"
    )


Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Curve:
    """A line over steps, perhaps within a band."""

    name: str
    points: Points
    band: tuple[Points, Points] = ((), ())
    """The low and the high end."""


def curves(series: Sequence[Curve], title: str) -> Safe:
    """Lines over steps, one for each series, with a legend."""
    steps = scale_for([x for curve in series for x, _ in curve.points], about=5)
    across = replace(steps, left=9.0)  # room for the labels of the heights
    up = scale_for([y for c in series for points in (c.points, *c.band) for _, y in points])

    def height(value: float) -> float:
        share = (value - up.ticks[0]) / (up.ticks[-1] - up.ticks[0])
        return round(8 + (PLOT - 16) * (1 - share), 2)

    def path(points: Points) -> str:
        return " ".join(f"{across.place(x)},{height(y)}" for x, y in points)

    marks = []
    for tick in up.ticks:
        y = height(tick)
        marks.append(_line(0, 100, y, y, "grid"))
        marks.append(element("text", up.label(tick), x=2, y=y - 3, class_="tick"))
    lines, ends, legend = [], [], []
    for number, curve in enumerate(series):
        kind = f"series s{number % 8}" + (" dashed" if number // 8 % 2 else "")
        low, high = curve.band
        lines.append(
            element("polygon", points=path([*low, *reversed(high)]), class_=f"band {kind}")
        )
        lines.append(element("polyline", points=path(curve.points), class_=kind))
        x, y = curve.points[-1]
        ends.append(element("circle", cx=f"{across.place(x)}%", cy=height(y), r=4, class_=kind))
        swatch = element("span", class_=f"swatch {kind}", aria_hidden="true")
        legend.append(element("li", swatch, f"{curve.name} ({up_text(y)})"))
    stretched = element(
        "svg",
        *lines,
        viewBox=f"0 0 100 {PLOT}",
        preserveAspectRatio="none",
        width="100%",
        height=PLOT,
    )
    picture = element("svg", *marks, stretched, *ends, width="100%", height=PLOT, role="img")
    return element(
        "figure",
        element("figcaption", title),
        picture,
        _axis(across),
        element("ul", *legend, class_="legend"),
        class_="chart",
    )


def up_text(value: float) -> str:
    """A value with three significant figures.

    >>> up_text(0.012345), up_text(1234.5)
    ('0.0123', '1,234')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
