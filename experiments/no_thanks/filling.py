"""Many rows, each from a position of its own, in one process or several.

Row *i* depends on its number and on nothing else, so that the result is the same for any number of
processes. Pieces that are done are kept in a folder, and a second start takes them from there.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from common.files import open_file, whole_file
from common.processes import side_by_side

PIECE = 100
"""Rows that are kept together."""
Rows = npt.NDArray[Any]


class RowMaker(Protocol):
    """What makes rows; it is sent to every process."""

    @property
    def about(self) -> str:
        """What tells these rows from all others."""

    @property
    def title(self) -> str:
        """What they are, for somebody who waits for them."""

    def worker(self) -> Callable[[int, int], Rows]:
        """A function that makes the rows from one number up to another."""


@dataclass(frozen=True)
class Filling:
    """How rows are made."""

    workers: int = 1
    report: Callable[[str], None] | None = None
    """Told how far it is, every few seconds."""
    folder: Path | None = None
    """Where pieces are kept; ``None``: nowhere."""


def fill(job: RowMaker, size: int, filling: Filling | None = None) -> Rows:
    """Make ``size`` rows."""
    filling = filling or Filling()
    pieces = [(first, min(first + PIECE, size)) for first in range(0, size, PIECE)]
    found: dict[tuple[int, int], Rows] = {}
    for piece in pieces:
        path = _path(job, filling, *piece)
        rows = None if path is None else _kept(path)
        if rows is not None and len(rows) == piece[1] - piece[0]:
            found[piece] = rows
    missing = [piece for piece in pieces if piece not in found]
    started = told = time.monotonic()
    makers = side_by_side(partial(_piece, job), missing, filling.workers)
    for number, (piece, rows) in enumerate(makers, start=1):
        found[piece] = rows
        path = _path(job, filling, *piece)
        if path is not None:
            with whole_file(path) as file:
                np.save(file, rows)
        now = time.monotonic()
        if filling.report and (now - told > 5 or number == len(missing)):
            told = now
            left = (now - started) / number * (len(missing) - number)
            done = sum(len(each) for each in found.values())
            filling.report(f"{job.title}: {done} of {size} rows, {left:.0f} s left")
    return np.concatenate([found[piece] for piece in pieces])


def _kept(path: Path) -> Rows | None:
    """A piece that was made before; one that is damaged is made again."""
    try:
        with open_file(path) as file:
            rows: Rows = np.load(file, allow_pickle=False)
    except Exception:  # of damage NumPy says whatever its parsers raise
        return None
    return rows if rows.dtype.kind != "f" or np.isfinite(rows).all() else None


_WORKER: dict[str, Callable[[int, int], Rows]] = {}
"""The worker of the job at hand, kept between the pieces of a process."""


def _piece(job: RowMaker, piece: tuple[int, int]) -> Rows:
    if job.about not in _WORKER:
        _WORKER.clear()
        _WORKER[job.about] = job.worker()
    return _WORKER[job.about](*piece)


def _path(job: RowMaker, filling: Filling, first: int, last: int) -> Path | None:
    if filling.folder is None:
        return None
    return filling.folder / f"{_digest(job.about)}-{first}-{last}.npy"


@cache
def _digest(about: str) -> str:
    return hashlib.sha256(about.encode()).hexdigest()[:12]
