"""Variance reduction in a tournament: a pilot for each group, then units that carry its values.

What a state is worth depends on who plays, so every group has a pilot, and every seating values of
its own. Pilots are work units like others: they can be played anywhere, and what they find depends
on the specification alone. It is kept in the folder of the tournament, for ``--resume``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

import numpy as np

from agents.base import Agent
from arena.playing.match import MatchResult
from arena.schedules.spec import Seeds, TournamentSpec
from arena.schedules.work_units import WorkUnit
from arena.variance_reduction.correction import Values, corrections, record_match
from arena.variance_reduction.values import pilot_values
from common.errors import FileError
from common.files import make_folder
from common.progress import Progress
from envs.core.game import Game

__all__ = ["CorrectedUnit", "Pilot", "PilotResult", "play_corrected", "with_values"]


@dataclass(frozen=True)
class Pilot(WorkUnit):
    """Games of all seatings of a group, to learn from; ``num_deals`` of each."""


@dataclass(frozen=True)
class PilotResult(MatchResult):
    """What was learned from a pilot; its games are forgotten."""

    values: Sequence[Values] = ()
    """For each seating."""


@dataclass(frozen=True)
class CorrectedUnit(WorkUnit):
    """A unit with what it takes to correct its returns."""

    values: Values = field(kw_only=True, compare=False, repr=False)


def play_corrected(
    spec: TournamentSpec,
    game: Game,
    seatings: Sequence[Sequence[Agent]],
    unit: WorkUnit,
    seeds: Seeds,
) -> MatchResult:
    """Play a pilot and learn from it, or play a unit and correct it.

    Args:
        spec: the tournament.
        game: its game.
        seatings: for each seating of the unit's group the agent in each seat.
        unit: what to play.
        seeds: of the unit's seating.
    """
    reduction = spec.variance_reduction
    if isinstance(unit, Pilot):
        values = pilot_values(game, seatings, spec.root_seed, reduction, unit.num_deals)
        nothing = np.zeros((0, game.facts.num_players)), np.zeros(0, np.int64)
        return PilotResult(*nothing, values=values)
    assert isinstance(unit, CorrectedUnit), "with_values makes units that can be corrected"
    agents = seatings[unit.seating]
    block = {**seeds, "first_game": unit.first_deal}
    result, records = record_match(game, agents, unit.num_deals, has_forfeits=True, **block)
    added = corrections(game, agents, unit.values, records, seeds["seed"], reduction)
    return replace(result, corrected=result.returns + added)


def with_values(
    spec: TournamentSpec,
    units: Sequence[WorkUnit],
    folder: Path,
    play: Callable[[list[WorkUnit]], Generator[tuple[WorkUnit, MatchResult]]],
) -> list[WorkUnit]:
    """Give every unit the values of its seating, from pilots that are played if need be.

    Args:
        spec: the tournament.
        units: what is to be played.
        folder: where the values are kept.
        play: plays units wherever that is done.
    """
    make_folder(folder)
    game = spec.build_game()
    seatings = sorted({(unit.group, unit.seating) for unit in units})
    paths = {place: folder / "group{:04d}_seating{:02d}.npz".format(*place) for place in seatings}
    missing = sorted({group for (group, _), path in paths.items() if _read(path, game) is None})
    num_seatings = Counter(group for group, _ in seatings)
    pilots = [Pilot(group, 0, 0, -(-spec.pilot // num_seatings[group])) for group in missing]
    if pilots:
        total = spec.pilot * len(pilots)
        with (
            closing(Progress(total, "games of the pilot", has_pulse=True)) as progress,
            closing(play([*pilots])) as played,
        ):
            progress.show(0)
            for unit, result in played:
                assert isinstance(result, PilotResult)
                for seating, values in enumerate(result.values):
                    values.save(paths[unit.group, seating])
                progress.add(spec.pilot)
    values_of = {place: Values.load(path) for place, path in paths.items()}
    return [
        CorrectedUnit(*astuple(unit), values=values_of[unit.group, unit.seating]) for unit in units
    ]


def _read(path: Path, game: Game) -> Values | None:
    """What is there; a file that is damaged counts as one that is not."""
    try:
        values = Values.load(path) if path.exists() else None
    except FileError:
        return None
    return values if values is not None and values.fits(game) else None
