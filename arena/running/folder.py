"""What a tournament has left in its folder, read back: specification, summary and games."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arena.playing.match import MatchResult
from arena.running.store import UnitStore
from arena.schedules.schedule import Group
from arena.schedules.spec import TournamentSpec
from arena.schedules.work_units import make_units
from arena.statistics.summary import Summary
from common.errors import MasqueradeError, one_line
from common.files import read_json

__all__ = ["KeptGame", "Tournament", "read_tournament"]

NO_TOURNAMENT = "give the folder of a tournament"


@dataclass(frozen=True)
class KeptGame:
    """One game of a tournament as it was noted, and the deals that were played with it."""

    result: MatchResult
    first_deal: int
    num_deals: int


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

    def find(self, groups: list[Group], group: int, seating: int, deal: int) -> KeptGame | None:
        """One game as it was played, or None if the folder no longer has it."""
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
            return KeptGame(game, unit.first_deal, result.num_games)
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
