"""What a benchmark says: jobs, what came of them, the table, the verdict and the JSON rows."""

from __future__ import annotations

import platform
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.timing import Chunk, amount

__all__ = ["Job", "Row", "machine", "missed_targets", "table", "verdict"]

TABLE = "{:<20}{:>12}{:>12}  {:<14}{:>7}  {:<17}{:<12}{}"


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
    target: float | None = None
    """The ratio that ``--check`` demands; ``None`` for a row that only informs."""
    package: str | None = None
    """Distribution of the peer, whose version the report shows."""
    is_duration: bool = False
    """The function returns a time it has measured itself, in ``unit``, and less is better."""


@dataclass(frozen=True)
class Row:
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
        return (
            self._ratio(statistics.median(self.ours), statistics.median(self.peer))
            if self.peer
            else None
        )

    @property
    def spread(self) -> tuple[float, float] | None:
        """The lowest and the highest ratio of a single round."""
        ratios = [self._ratio(ours, peer) for ours, peer in zip(self.ours, self.peer, strict=False)]
        return (min(ratios), max(ratios)) if ratios else None

    @property
    def has_missed(self) -> bool:
        """Whether the ratio was measured and is below its target."""
        return (
            self.ratio is not None and self.job.target is not None and self.ratio < self.job.target
        )

    @property
    def peer_title(self) -> str:
        """The peer's name with the version of its package."""
        version = package_version(self.job.package) if self.job.package else None
        return f"{self.job.peer_name} ({version})" if version else self.job.peer_name

    def _ratio(self, ours: float, peer: float) -> float:
        return peer / ours if self.job.is_duration else ours / peer

    def to_dict(self) -> dict[str, Any]:
        """The row of the JSON file."""
        return {
            "job": self.job.name,
            "ours": statistics.median(self.ours),
            "peer": statistics.median(self.peer) if self.peer else None,
            "peer_name": self.peer_title,
            "unit": self.job.unit,
            "ratio": self.ratio,
            "target": self.job.target,
            "spread": self.spread,
            "rounds": len(self.ours),
            "skipped": self.skipped,
            "what": self.job.what,
        }


def table(rows: Sequence[Row]) -> str:
    """All rows, one line each."""
    lines = [
        TABLE.format("job", "ours", "peer", "unit", "ratio", "spread", "target", "peer's name")
    ]
    for row in rows:
        ours = amount(statistics.median(row.ours))
        job, spread, ratio = row.job, row.spread, row.ratio
        if ratio is None or spread is None:
            cells = ours, "-", job.unit, "-", "-", _target_text(row), f"skipped: {row.skipped}"
        else:
            peer = amount(statistics.median(row.peer))
            low, high = map(_times, spread)
            cells = (
                ours,
                peer,
                job.unit,
                _times(ratio),
                f"{low} to {high}",
                _target_text(row),
                row.peer_title,
            )
        lines.append(TABLE.format(job.name, *cells).rstrip())
    return "\n".join(lines)


def _times(ratio: float) -> str:
    """Three digits, and thousands written out.

    >>> _times(3.456), _times(1566.0)
    ('3.46', '1,566')
    """
    return f"{ratio:,.0f}" if ratio >= 1000 else f"{ratio:.3g}"


def _target_text(row: Row) -> str:
    if row.job.target is None:
        return "-"
    verdict = "skipped" if row.ratio is None else "missed" if row.has_missed else "met"
    return f"{row.job.target:g} {verdict}"


def missed_targets(rows: Sequence[Row]) -> list[str]:
    """Every ratio below its target, in words."""
    return [
        f"{row.job.name} {row.ratio:.4g} < {row.job.target:g}" for row in rows if row.has_missed
    ]


def verdict(rows: Sequence[Row]) -> str:
    """The last line of ``--check``."""
    missed = missed_targets(rows)
    met = sum(row.job.target is not None and row.ratio is not None for row in rows) - len(missed)
    skipped = [row.job.name for row in rows if row.ratio is None]
    first = (
        f"below target: {', '.join(missed)}" if missed else f"no ratio below its target ({met} met)"
    )
    return first + (f"; skipped, not counted: {', '.join(skipped)}" if skipped else "")


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
    if info.is_file():
        names = [
            line.split(":", 1)[1].strip()
            for line in info.read_text().splitlines()
            if line.startswith("model name")
        ]
        model = names[0] if names else model
    packages = ", ".join(f"{name} {package_version(name)}" for name in ("numba", "numpy"))
    return f"{model}, Python {platform.python_version()}, {packages}"
