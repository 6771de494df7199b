"""Curves: every number once in ``metrics.csv``, and once more for TensorBoard.

The file holds what the same seed gives again, so nothing that depends on the clock is in it: those
numbers go to TensorBoard alone.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import os
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from common.errors import FileError, MasqueradeError, one_line
from common.files import append_text, make_folder, read_text, write_text

STEP = "step"
_numbers = itertools.count()
"""Of event files, several of which may begin in one second."""


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
            self._read(up_to)
            self._write_all()

    def _read(self, up_to: int | None) -> None:
        text = read_text(self.path, "remove it: only the curves up to here are in it")
        reader = csv.DictReader(io.StringIO(text))
        try:
            self._columns = [STEP, *(c for c in reader.fieldnames or () if c != STEP)]
            # Whoever was stopped while it wrote has left half a row; it will be made again.
            rows = [row for row in reader if None not in row and None not in row.values()]
            last = math.inf if up_to is None else up_to
            self._rows = [row for row in rows if row[STEP].isdecimal() and int(row[STEP]) <= last]
        except (csv.Error, KeyError, ValueError) as error:  # such as a step of 5000 digits
            raise FileError(
                f"{self.path} is damaged ({one_line(error)}): remove it, and go on without the "
                "curves up to here"
            ) from error
        if len(self._rows) < len(rows):
            used = [c for c in self._columns if any(row[c] for row in self._rows)]
            self._columns = used or [STEP]

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
        append_text(self.path, text.getvalue())

    def _write_all(self) -> None:
        file = io.StringIO()
        writer = csv.DictWriter(file, self._columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({c: row.get(c, "") for c in self._columns} for row in self._rows)
        write_text(self.path, file.getvalue())


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
            from tensorboard.summary.writer.record_writer import RecordWriter
        except ImportError as error:
            raise MasqueradeError(
                "TensorBoard is not installed: pip install -c constraints.txt -e '.[train]', "
                "or --set log.tensorboard=false"
            ) from error
        make_folder(folder)
        # Named as TensorBoard's own, but written at once and here: its thread would say what it has
        # against a full disk in its own way.
        names = int(time.time()), socket.gethostname(), os.getpid(), next(_numbers)
        path = folder / ".".join(["events.out.tfevents", *map(str, names)])
        self._file = path.open("ab", buffering=0)
        self._event, self._writer = Event, RecordWriter(self._file)
        self._write(file_version="brain.Event:2")
        if from_step is not None:
            start = SessionLog(status=SessionLog.START)
            self._write(step=from_step + 1, session_log=start)

    def add(self, step: int, values: Mapping[str, Any]) -> None:
        """Scalars, and histograms where a value is an array."""
        from tensorboard.compat.proto.summary_pb2 import Summary

        summary = Summary()
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                summary.value.add(tag=name, histo=_histogram(value))
            else:
                summary.value.add(tag=name, simple_value=float(value))
        self._write(step=step, summary=summary)

    def add_text(self, name: str, text: str) -> None:
        """A text, such as the configuration, shown as Markdown."""
        from tensorboard.plugins.text.summary_v2 import text_pb

        self._write(step=0, summary=text_pb(name, text))

    def add_settings(self, settings: Mapping[str, Any]) -> None:
        """What the run was told, for the HParams tab."""
        from tensorboard.plugins.hparams.summary_v2 import hparams_pb

        self._write(step=0, summary=hparams_pb(dict(_leaves(settings))))

    def _write(self, **content: Any) -> None:
        event = self._event(wall_time=time.time(), **content)
        self._writer.write(event.SerializeToString())

    def close(self) -> None:
        """End the file."""
        self._file.close()


def _leaves(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Settings with the path to each, as plain values.

    >>> dict(_leaves({"train": {"steps": 5, "opponents": ["self"]}}))
    {'train.steps': 5, 'train.opponents': "['self']"}
    """
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{before}{name}.")
        elif value is not None:
            yield f"{before}{name}", value if isinstance(value, bool | int | float) else str(value)


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
