"""Results of work units in a folder, each a file that is whole or not there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np

from arena.playing.match import Fault, MatchResult
from arena.schedules.work_units import WorkUnit

__all__ = ["UnitStore"]


class UnitStore:
    """Results of work units in a folder."""

    def __init__(self, folder: Path) -> None:
        """Use ``folder``, and make it if need be."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def _path(self, unit: WorkUnit) -> Path:
        return self.folder / f"{unit.name}.npz"

    def has(self, unit: WorkUnit) -> bool:
        """Whether all deals of the unit are there."""
        return self._path(unit).exists() and self.load(unit).num_games >= unit.num_deals

    def save(self, unit: WorkUnit, result: MatchResult) -> None:
        """Keep a result."""
        partial = self.folder / f".{unit.name}.{os.getpid()}.npz"
        faults = json.dumps([[fault.game, fault.seat, fault.reason] for fault in result.faults])
        corrected = {} if result.corrected is None else {"corrected": result.corrected}
        np.savez(
            partial,
            returns=result.returns,
            lengths=result.lengths,
            faults=np.array(faults),
            **corrected,  # type: ignore[arg-type]
        )
        os.replace(partial, self._path(unit))

    def load(self, unit: WorkUnit) -> MatchResult:
        """Read a result."""
        with np.load(self._path(unit), allow_pickle=False) as file:
            faults = [Fault(*fault) for fault in json.loads(str(file["faults"]))]
            return MatchResult(file["returns"], file["lengths"], faults, file.get("corrected"))
