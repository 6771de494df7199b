"""The folder of a tournament: opened or gone on with, filled unit by unit, and read back."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from arena.match import Fault, MatchResult
from arena.schedule import Group, WorkUnit, make_units
from arena.spec import TournamentSpec
from arena.summary import Summary
from common.errors import FileError, MasqueradeError, one_line
from common.files import (
    check_folder,
    make_folder,
    read_arrays,
    read_json,
    write_arrays,
    write_json,
    write_text,
)
from common.imports import versions

NO_TOURNAMENT = "give the folder of a tournament"
# What may change when a tournament is resumed: it changes the table, not the games.
OF_THE_TABLE = ("deals", "confidence", "unit")
AGAIN = "remove it, and its games are played again"


def check_place(folder: Path, has_resume: bool) -> None:
    """Refuse a folder of something else, or a tournament that is not to be gone on with."""
    check_folder(folder, "tournament.json", ["seed"])
    if (folder / "tournament.json").exists():
        _check_resume(folder, has_resume)
    elif (folder / "seed").exists():
        _read_seed(folder / "seed")  # somebody else's file of this name is no number


def _check_resume(folder: Path, has_resume: bool) -> None:
    if not has_resume:
        raise MasqueradeError(
            f"{folder} holds a tournament: go on with --resume, or choose another --out"
        )


def open_folder(spec: TournamentSpec, folder: Path, has_resume: bool) -> TournamentSpec:
    """Note what is played, or check that it is what the folder already holds; choose the seed."""
    path, seed_path = folder / "tournament.json", folder / "seed"
    what = _noted(spec)
    marks = {agent.name: agent.fingerprint() for agent in spec.agents}
    if path.exists():
        _check_resume(folder, has_resume)
        noted = read_json(path, "choose another --out")
        before, was_played_with = noted.get("spec"), noted.get("versions")
        if not isinstance(before, dict):
            raise MasqueradeError(f"{path} is damaged (it has no spec): choose another --out")
        seed = _read_seed(seed_path)
        spec = spec if spec.seed is not None else replace(spec, seed=seed)
        changed = _changed(what, before) + ["seed"] * (spec.seed != seed)
        if changed:
            raise MasqueradeError(
                f"{folder} holds another tournament ({', '.join(changed)} differ): "
                "choose another --out"
            )
        known = noted.get("fingerprints")
        known = known if isinstance(known, dict) else marks
        others = [name for name in marks if known.get(name, marks[name]) != marks[name]]
        if others:
            raise MasqueradeError(
                f"{folder} holds games of another {', '.join(others)} (its files have changed "
                "since): play anew with another --out"
            )
    else:
        was_played_with, spec = versions(), spec.with_seed()
        write_text(seed_path, f"{spec.root_seed}\n", mode=0o600)
    write_json(path, {"spec": what, "versions": was_played_with, "fingerprints": marks})
    return spec


def holds_another(spec: TournamentSpec, folder: Path) -> bool:
    """Whether a folder holds a tournament of other games than this one."""
    path = folder / "tournament.json"
    if not path.exists():
        return False
    before = read_json(path, "choose another --out").get("spec")
    return not isinstance(before, dict) or bool(_changed(_noted(spec), before))


def _noted(spec: TournamentSpec) -> dict[str, Any]:
    """What a folder says of its tournament, as JSON has it."""
    noted: dict[str, Any] = json.loads(json.dumps(spec.to_dict()))
    return {key: value for key, value in noted.items() if key not in ("deals", "seed")}


def _changed(what: dict[str, Any], before: dict[str, Any]) -> list[str]:
    """What differs of the games."""
    return [key for key in what if key not in OF_THE_TABLE and before.get(key) != what[key]]


def _read_seed(path: Path) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError) as error:
        raise MasqueradeError(
            f"{path} cannot be read: a tournament is resumed with the seed in it; if there is "
            "none, choose another --out"
        ) from error


# ---- results of work units, each a file that is whole or not there -------------------------------


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


# ---- read back -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tournament:
    """A tournament that has been played."""

    folder: Path
    summary: Summary

    @property
    def spec(self) -> TournamentSpec:
        """What was played."""
        return self.summary.spec

    @property
    def versions(self) -> dict[str, str]:
        """What it was played with."""
        notes = read_json(self.folder / "tournament.json", NO_TOURNAMENT)
        found = notes.get("versions")
        found = found if isinstance(found, dict) else {}
        return {one_line(name): one_line(value) for name, value in found.items()}

    def find(
        self, groups: list[Group], group: int, seating: int, deal: int
    ) -> tuple[MatchResult, range] | None:
        """One game as it was noted, and the deals that were played with it; None if it is gone."""
        if not (self.folder / "units").is_dir():
            return None
        store = UnitStore(self.folder / "units")
        for unit in make_units(groups, self.spec.deals):
            row = deal - unit.first_deal
            if (unit.group, unit.seating) != (group, seating) or not 0 <= row < unit.num_deals:
                continue
            if not store.has(unit):
                return None
            result = store.load(unit)
            faults = [fault for fault in result.faults if fault.game == deal]
            one = slice(row, row + 1)
            game = MatchResult(result.returns[one], result.lengths[one], faults)
            return game, range(unit.first_deal, unit.first_deal + result.num_games)
        return None


def read_tournament(folder: Path) -> Tournament:
    """Read the folder of a tournament that has come to its end."""
    if not folder.is_dir():
        raise MasqueradeError(f"{folder} is no folder: give one that a tournament has written")
    read_json(folder / "tournament.json", NO_TOURNAMENT)
    fix = "finish the tournament first, with --resume"
    content = read_json(folder / "summary.json", fix)
    try:
        return Tournament(folder, Summary.from_dict(content))
    except MasqueradeError as error:
        raise MasqueradeError(f"{folder / 'summary.json'}: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise MasqueradeError(
            f"{folder} was summarised by another version, or is damaged (no {one_line(error)}): "
            "run its tournament again with --resume"
        ) from error
