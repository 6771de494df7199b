"""What a benchmark says: jobs, curves, what came of them, tables, plots, verdict."""

from __future__ import annotations

import platform
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from common.errors import OptionError
from common.files import whole_file

Chunk = Callable[[], float]
"""Does a small piece of work and says how much it was."""
PACKAGES = (
    *("liteefg", "networkx", "numba", "open_spiel", "pettingzoo"),
    *("pgx", "phevaluator", "rlcard", "torch"),
)
"""Distributions of peers; whose version a report shows is found by the peer's name."""


# ---- what is measured ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """One comparison: the same work by us and by a peer.

    Both sides are made when the run begins; the function that comes back does a small piece of work
    (milliseconds) and says how much it was. A peer that raises ``ImportError`` is not installed.
    """

    name: str
    what: str
    """One line for ``--list``: what both sides do."""
    ours: Callable[[], Chunk]
    peer: Callable[[], Chunk]
    peer_name: str
    unit: str = "steps/s"
    """Of work a second; without ``/s`` both functions return a time that they have measured
    themselves, and less is better."""
    target: float | None = None
    """The ratio that ``--check`` demands; ``None`` for a row that only informs."""

    @property
    def is_duration(self) -> bool:
        """Whether less is better."""
        return not self.unit.endswith("/s")

    @property
    def peer_title(self) -> str:
        """The peer's name with the version of its package."""
        words = self.peer_name.lower()
        versions = (package_version(name) for name in PACKAGES if name.replace("_", "") in words)
        version = next(versions, None)
        return f"{self.peer_name} ({version})" if version else self.peer_name


@dataclass(frozen=True)
class Measurement:
    """What came of one job."""

    job: Job
    ours: tuple[float, ...]
    """One value for each round."""
    peer: tuple[float, ...]
    """Empty when the peer was skipped."""
    skipped: str | None = None
    """Why there is no peer."""

    @property
    def ratio(self) -> float | None:
        """How many times better than the peer we are, by the medians."""
        if not self.peer:
            return None
        return self._ratio(statistics.median(self.ours), statistics.median(self.peer))

    @property
    def spread(self) -> tuple[float, float] | None:
        """The lowest and the highest ratio of a single round."""
        ratios = [self._ratio(ours, peer) for ours, peer in zip(self.ours, self.peer, strict=False)]
        return (min(ratios), max(ratios)) if ratios else None

    @property
    def has_missed(self) -> bool:
        """Whether the ratio was measured and is below its target."""
        ratio, target = self.ratio, self.job.target
        return ratio is not None and target is not None and ratio < target

    def _ratio(self, ours: float, peer: float) -> float:
        return peer / ours if self.job.is_duration else ours / peer

    def to_dict(self) -> dict[str, Any]:
        """The row of the JSON file."""
        return {
            "job": self.job.name,
            "ours": statistics.median(self.ours),
            "peer": statistics.median(self.peer) if self.peer else None,
            "peer_name": self.job.peer_title,
            "unit": self.job.unit,
            "ratio": self.ratio,
            "target": self.job.target,
            "spread": self.spread,
            "rounds": len(self.ours),
            "skipped": self.skipped,
            "what": self.job.what,
        }


Series = dict[str, dict[int, float]]
"""Name of a line -> x -> median rate."""


@dataclass(frozen=True, eq=False)
class Curve:
    """How our own rate grows with a number that a user chooses."""

    name: str
    what: str
    """One line for ``--list``."""
    x_label: str
    lines: Mapping[str, Mapping[int, Callable[[], Chunk]]]
    """Name of a line -> x -> what makes the work of that point."""
    unit: str = "steps/s"
    is_logarithmic: bool = False


# ---- as text -------------------------------------------------------------------------------------

TABLE = "{:<20}{:>12}{:>12}  {:<14}{:>7}  {:<17}{:<12}{}"


def table(rows: Sequence[Measurement]) -> str:
    """All rows, one line each."""
    head = ("job", "ours", "peer", "unit", "ratio", "spread", "target", "peer's name")
    lines = [TABLE.format(*head)]
    for row in rows:
        ours = amount(statistics.median(row.ours))
        job, spread, ratio = row.job, row.spread, row.ratio
        peer, times, between, name = "-", "-", "-", f"skipped: {row.skipped}"
        if ratio is not None and spread is not None:
            peer, times = amount(statistics.median(row.peer)), _times(ratio)
            between, name = " to ".join(map(_times, spread)), job.peer_title
        target = _target_text(row)
        cells = (job.name, ours, peer, job.unit, times, between, target, name)
        lines.append(TABLE.format(*cells).rstrip())
    return "\n".join(lines)


def amount(value: float) -> str:
    """A number with three digits or more.

    >>> amount(1234567.8), amount(12.345)
    ('1,234,568', '12.3')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _times(ratio: float) -> str:
    """Three digits, and thousands written out.

    >>> _times(3.456), _times(1566.0)
    ('3.46', '1,566')
    """
    return f"{ratio:,.0f}" if ratio >= 1000 else f"{ratio:.3g}"


def _target_text(row: Measurement) -> str:
    if row.job.target is None:
        return "-"
    verdict = "skipped" if row.ratio is None else "missed" if row.has_missed else "met"
    return f"{row.job.target:g} {verdict}"


def missed_targets(rows: Sequence[Measurement]) -> list[str]:
    """Every ratio below its target, in words."""
    return [
        f"{row.job.name} {row.ratio:.4g} < {row.job.target:g}" for row in rows if row.has_missed
    ]


def verdict(rows: Sequence[Measurement]) -> str:
    """The last line of ``--check``."""
    missed = missed_targets(rows)
    met = sum(row.job.target is not None and row.ratio is not None for row in rows) - len(missed)
    skipped = [row.job.name for row in rows if row.ratio is None]
    first = (
        f"below target: {', '.join(missed)}" if missed else f"no ratio below its target ({met} met)"
    )
    return first + (f"; skipped, not counted: {', '.join(skipped)}" if skipped else "")


def curve_table(curve: Curve, series: Series) -> str:
    """One column for each x, one line for each line of the plot."""
    xs = sorted({x for rates in series.values() for x in rates})
    width = max(map(len, series)) + 2
    head = " " * width + "".join(f"{x:>12,}" for x in xs) + f"  {curve.x_label}"
    lines = [f"{curve.what}, {curve.unit}", head]
    for name, rates in series.items():
        cells = (f"{amount(rates[x]) if x in rates else '-':>12}" for x in xs)
        lines.append(f"{name:<{width}}{''.join(cells)}")
    return "\n".join(lines)


def package_version(name: str) -> str | None:
    """The installed version of a distribution."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def machine() -> str:
    """Processor and versions, in one line."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.is_file() else ():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    packages = ", ".join(f"{name} {package_version(name)}" for name in ("numba", "numpy"))
    return f"{model}, Python {platform.python_version()}, {packages}"


# ---- as pictures ---------------------------------------------------------------------------------

COLORS = ("#2a78d6", "#eb6834", "#1baa7a")
PAINTER = "masquerade benchmarks"
"""By which a picture says who has drawn it."""
INK, FAINT = "#30302e", "#d8d7d2"
TITLE: dict[str, Any] = {"loc": "left", "fontsize": 10, "color": INK}


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


def _draw_panel(panel: Any, curve: Curve, series: Series) -> None:
    from matplotlib import ticker

    style: dict[str, Any] = {"marker": "o", "markersize": 4, "linewidth": 2}
    for color, (name, rates) in zip(COLORS, series.items(), strict=False):
        panel.plot(list(rates), list(rates.values()), color=color, label=name, **style)
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


def dress(panel: Any, has_legend: bool = True) -> None:
    """What all our plots look like: faint lines across, no box."""
    panel.grid(axis="y", color=FAINT, linewidth=0.8)
    panel.set_axisbelow(True)
    panel.tick_params(colors=INK, labelsize=8)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    if has_legend:
        panel.legend(frameon=False, fontsize=8)


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
