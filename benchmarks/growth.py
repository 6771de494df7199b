"""How our own cost grows with whatever a user can choose: as a table and as a plot."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.timing import Chunk, Clock, Progress, amount, timed_rate
from common.errors import OptionError
from common.files import whole_file

__all__ = [
    "PAINTER",
    "Curve",
    "Series",
    "curve_table",
    "draw_curves",
    "dress",
    "measure_curves",
    "save_figure",
]

Series = dict[str, dict[int, float]]
"""Name of a line -> x -> median rate."""

COLORS = ("#2a78d6", "#eb6834", "#1baa7a")
PAINTER = "masquerade benchmarks"
"""By which a picture says who has drawn it."""
INK, FAINT = "#30302e", "#d8d7d2"
TITLE: dict[str, Any] = {"loc": "left", "fontsize": 10, "color": INK}


@dataclass(frozen=True, eq=False)
class Curve:
    """A rate against a number that a user chooses."""

    name: str
    what: str
    """One line for ``--list``."""
    x_label: str
    lines: Mapping[str, Mapping[int, Callable[[], Chunk]]]
    """Name of a line -> x -> what makes the work of that point."""
    unit: str = "steps/s"
    is_logarithmic: bool = False

    @property
    def num_points(self) -> int:
        """How many measurements one round takes."""
        return sum(len(points) for points in self.lines.values())


def measure_curves(
    curves: Sequence[Curve], rounds: int, seconds: float, clock: Clock, progress: Progress
) -> dict[Curve, Series]:
    """Measure all points in interleaved rounds and take medians."""
    points = [
        (curve, line, x) for curve in curves for line, made in curve.lines.items() for x in made
    ]
    chunks = []
    for curve, line, x in points:
        progress.say(f"preparing {curve.name}: {line}, {x}")
        chunk = curve.lines[line][x]()
        chunk()
        chunks.append(chunk)
    values: list[list[float]] = [[] for _ in points]
    for number in range(rounds):
        for i, (curve, line, x) in enumerate(points):
            progress.advance(f"round {number + 1} of {rounds}, {curve.name}: {line}, {x}")
            values[i].append(timed_rate(chunks[i], seconds, clock))
    grown: dict[Curve, Series] = {curve: {line: {} for line in curve.lines} for curve in curves}
    for (curve, line, x), rates in zip(points, values, strict=True):
        grown[curve][line][x] = statistics.median(rates)
    return grown


def curve_table(curve: Curve, series: Series) -> str:
    """One column for each x, one line for each line of the plot."""
    xs = sorted({x for rates in series.values() for x in rates})
    width = max(map(len, series)) + 2
    lines = [
        f"{curve.what}, {curve.unit}",
        " " * width + "".join(f"{x:>12,}" for x in xs) + f"  {curve.x_label}",
    ]
    for name, rates in series.items():
        lines.append(
            f"{name:<{width}}"
            + "".join(f"{amount(rates[x]) if x in rates else '-':>12}" for x in xs)
        )
    return "\n".join(lines)


def draw_curves(grown: Mapping[Curve, Series], path: Path) -> None:
    """Draw one panel for each curve; raises ``ImportError`` without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(
        1, len(grown), figsize=(4.6 * len(grown), 3.6), squeeze=False, layout="constrained"
    )
    for panel, (curve, series) in zip(panels[0], grown.items(), strict=True):
        _draw_panel(panel, curve, series)
    save_figure(figure, path, dpi=150)


def save_figure(figure: Any, path: Path, dpi: int = 110) -> None:
    """Write a picture, whole or not at all, and let go of it."""
    from matplotlib import pyplot

    kind = path.suffix[1:].lower() or "png"
    if kind not in figure.canvas.get_supported_filetypes():
        raise OptionError(f"{path} is no picture that can be drawn: end it in .png or .svg")
    with whole_file(path) as file:
        about = {"png": {"Software": PAINTER}}.get(kind)
        figure.savefig(file, dpi=dpi, format=kind, metadata=about)
    pyplot.close(figure)


def dress(panel: Any, has_legend: bool = True) -> None:
    """What all our plots look like: faint lines across, no box."""
    panel.grid(axis="y", color=FAINT, linewidth=0.8)
    panel.set_axisbelow(True)
    panel.tick_params(colors=INK, labelsize=8)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    if has_legend:
        panel.legend(frameon=False, fontsize=8)


def _draw_panel(panel: Any, curve: Curve, series: Series) -> None:
    from matplotlib import ticker

    for color, (name, rates) in zip(COLORS, series.items(), strict=False):
        panel.plot(
            list(rates),
            list(rates.values()),
            color=color,
            marker="o",
            markersize=4,
            linewidth=2,
            label=name,
        )
    xs = sorted({x for rates in series.values() for x in rates})
    panel.set_title(curve.what, **TITLE)
    panel.set_xlabel(curve.x_label, color=INK)
    panel.set_ylabel(curve.unit, color=INK)
    if curve.is_logarithmic:
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 3)))
    else:
        panel.set_ylim(bottom=0)
    panel.set_xticks(xs, [f"{x:,}" for x in xs])
    panel.minorticks_off()
    panel.yaxis.set_major_formatter(ticker.EngFormatter(sep=""))
    dress(panel, has_legend=len(series) > 1)
