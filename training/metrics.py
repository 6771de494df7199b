"""Curves: every number once in ``metrics.csv``, and once more for TensorBoard.

The file holds what the same seed gives again, so nothing that depends on the clock is in it: those
numbers go to TensorBoard alone.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from envs.core.errors import MasqueradeError

__all__ = ["Events", "MetricsFile"]

STEP = "step"


class MetricsFile:
    """A table with a row for each point, and a column for each name met so far.

    Args:
        path: the file; rows already in it are kept.
        up_to: drop rows beyond this step, which a resumed run will write again.
    """

    def __init__(self, path: Path, up_to: int | None = None) -> None:
        """Read what is there."""
        self.path = path
        self._rows: list[dict[str, str]] = []
        self._columns = [STEP]
        if path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                reader = csv.DictReader(file)
                self._columns = list(reader.fieldnames or [STEP])
                rows = list(reader)
            self._rows = [row for row in rows if up_to is None or int(row[STEP]) <= up_to]
            if len(self._rows) < len(rows):
                used = [c for c in self._columns if any(row[c] for row in self._rows)]
                self._columns = used or [STEP]
            self._write_all()

    def add(self, step: int, values: Mapping[str, float]) -> None:
        """Add a row; numbers are written so that they are read back exactly."""
        row = {STEP: str(step), **{name: repr(float(value)) for name, value in values.items()}}
        self._rows.append(row)
        fresh = [name for name in row if name not in self._columns]
        if fresh or not self.path.exists():
            self._columns += fresh
            self._write_all()
            return
        text = io.StringIO()
        csv.DictWriter(text, self._columns, restval="", lineterminator="\n").writerow(row)
        with self.path.open("a", encoding="utf-8", newline="") as file:
            file.write(text.getvalue())

    def _write_all(self) -> None:
        partial = self.path.with_suffix(".partial")
        with partial.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, self._columns, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows({c: row.get(c, "") for c in self._columns} for row in self._rows)
        partial.replace(self.path)


class Events:
    """TensorBoard's event files, by its own writer: no other framework is needed.

    Args:
        folder: where they go.
        from_step: the step from which a run is resumed; what older files say beyond it is void.
    """

    def __init__(self, folder: Path, from_step: int | None = None) -> None:
        """Begin a new file."""
        try:
            from tensorboard.compat.proto.event_pb2 import Event, SessionLog
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ImportError as error:
            raise MasqueradeError(
                "TensorBoard is not installed: pip install -c constraints.txt -e '.[train]', "
                "or --set log.tensorboard=false"
            ) from error
        folder.mkdir(parents=True, exist_ok=True)
        self._event = Event
        self._writer = EventFileWriter(str(folder), flush_secs=5)
        if from_step is not None:
            start = SessionLog(status=SessionLog.START)
            self._writer.add_event(Event(step=from_step + 1, session_log=start))

    def add(self, step: int, values: Mapping[str, Any]) -> None:
        """Scalars, and histograms where a value is an array."""
        from tensorboard.compat.proto.summary_pb2 import Summary

        summary = Summary()
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                summary.value.add(tag=name, histo=_histogram(value))
            else:
                summary.value.add(tag=name, simple_value=float(value))
        self._add(step, summary)

    def add_text(self, name: str, text: str) -> None:
        """A text, such as the configuration, shown as Markdown."""
        from tensorboard.plugins.text.summary_v2 import text_pb

        self._add(0, text_pb(name, text))

    def _add(self, step: int, summary: Any) -> None:
        self._writer.add_event(self._event(step=step, summary=summary, wall_time=time.time()))

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()


def _histogram(values: np.ndarray[Any, Any]) -> Any:
    from tensorboard.compat.proto.summary_pb2 import HistogramProto

    values = values[np.isfinite(values)].astype(float).ravel()
    if not len(values):
        return HistogramProto()
    counts, edges = np.histogram(values, bins=30)
    return HistogramProto(
        min=values.min(),
        max=values.max(),
        num=len(values),
        sum=values.sum(),
        sum_squares=(values**2).sum(),
        bucket_limit=edges[1:].tolist(),
        bucket=counts.tolist(),
    )
