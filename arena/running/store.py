"""Results of work units in a folder, each a file that is whole or not there."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from arena.playing.match import Fault, MatchResult
from arena.schedules.work_units import WorkUnit
from common.errors import FileError, one_line
from common.files import make_folder, read_arrays, write_arrays

__all__ = ["UnitStore"]

AGAIN = "remove it, and its games are played again"


class UnitStore:
    """Results of work units in a folder."""

    def __init__(self, folder: Path) -> None:
        """Use ``folder``, and make it if need be."""
        self.folder = folder
        make_folder(folder)

    def _path(self, unit: WorkUnit) -> Path:
        return self.folder / f"{unit.name}.npz"

    def has(self, unit: WorkUnit) -> bool:
        """Whether all deals of the unit are there; a damaged file counts as none."""
        try:
            return self._path(unit).exists() and self.load(unit).num_games >= unit.num_deals
        except FileError:
            return False

    def save(self, unit: WorkUnit, result: MatchResult) -> None:
        """Keep a result."""
        faults = json.dumps([[fault.game, fault.seat, fault.reason] for fault in result.faults])
        arrays = {
            "returns": result.returns,
            "lengths": result.lengths,
            "faults": np.array(faults),
        }
        if result.corrected is not None:
            arrays["corrected"] = result.corrected
        write_arrays(self._path(unit), arrays)

    def load(self, unit: WorkUnit) -> MatchResult:
        """Read a result."""
        path = self._path(unit)
        parts = read_arrays(path, AGAIN)
        try:
            returns, lengths, corrected = parts["returns"], parts["lengths"], parts.get("corrected")
            faults = [
                Fault(int(game), int(seat), one_line(reason))
                for game, seat, reason in json.loads(str(parts["faults"]))
            ]
        except (KeyError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
            raise FileError(f"{path} is damaged ({one_line(error)}): {AGAIN}") from error
        seats = range(returns.shape[1] if returns.ndim == 2 else 0)
        is_fine = (
            returns.dtype == np.float64
            and lengths.dtype == np.int64
            and lengths.shape == returns.shape[:1]
            and np.isfinite(returns).all()
            and all(fault.seat in seats for fault in faults)
        )
        if corrected is not None:
            is_fine &= corrected.shape == returns.shape and bool(np.isfinite(corrected).all())
        if not is_fine or not seats:
            raise FileError(f"{path} is damaged (its arrays do not fit each other): {AGAIN}")
        return MatchResult(returns, lengths, faults, corrected)
