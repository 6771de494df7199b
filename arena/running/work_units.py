"""Pieces of a tournament that can be played anywhere, in any order, and kept one by one.

A unit is one seating of one group over a block of deals. What comes of it depends on the tournament
and on nothing else, so units may be spread over processes, lost and played again (``executors``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count, pairwise
from pathlib import Path

import numpy as np

from agents.base import Agent
from arena.playing.match import Fault, MatchResult, play_match
from arena.schedules.schedule import Group
from arena.schedules.spec import TournamentSpec
from envs.core.game import Game

__all__ = ["DEALS_PER_UNIT", "Table", "Unit", "UnitStore", "make_units", "whole_units"]

# A batch of 2000 games is played 1.5 times as fast as four of 500, so a unit of a large tournament
# has as many. The first ones are smaller, so that slow agents too keep many workers busy. None of
# this may depend on the number of workers: a network rounds differently in batches of another size.
DEALS_PER_UNIT = 2000
FIRST_DEALS = (0, 100, 200, 500, 1000)


@dataclass(frozen=True)
class Unit:
    """Block of deals ``first_deal ..`` of one seating of one group."""

    group: int
    seating: int
    first_deal: int
    num_deals: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"group{self.group:04d}_seating{self.seating:02d}_deal{self.first_deal:09d}"


def make_units(groups: list[Group], deals: int) -> list[Unit]:
    """All units of ``deals`` deals, those of the first deals first.

    >>> [unit.num_deals for unit in make_units([Group((0, 1), ((0, 1),))], 7000)]
    [100, 100, 300, 500, 1000, 2000, 2000, 1000]
    """
    return [
        Unit(g, s, start, min(end, deals) - start)
        for start, end in pairwise(_starts(deals))
        for g, group in enumerate(groups)
        for s in range(len(group.seatings))
    ]


def whole_units(deals: int) -> int:
    """The first number of deals, from ``deals`` on, at which a unit ends.

    >>> whole_units(1000), whole_units(1001)
    (1000, 2000)
    """
    *_, end = _starts(deals)
    return end


def _starts(deals: int) -> Iterator[int]:
    """Where units begin, up to the first number that is not below ``deals``."""
    for start in chain(FIRST_DEALS, count(DEALS_PER_UNIT, DEALS_PER_UNIT)):
        yield start
        if start >= deals:
            return


class Table:
    """A game with its agents, made once per process."""

    def __init__(self, spec: TournamentSpec) -> None:
        """Make what ``spec`` names."""
        self.spec = spec
        self.game: Game = spec.build_game()
        self.groups = spec.groups(self.game)
        self.agents: list[Agent] = [agent.build(self.game) for agent in spec.agents]

    def play(self, unit: Unit) -> MatchResult:
        """Play the deals of a unit; who fails forfeits."""
        seating = self.groups[unit.group].seatings[unit.seating]
        seats = [self.agents[agent] for agent in seating]
        if self.spec.luck != "none":
            from arena.variance_reduction.work_units import (
                play_with_luck,  # compiled code, for those who need it
            )

            return play_with_luck(self, unit)
        return play_match(
            self.game,
            seats,
            unit.num_deals,
            seed=self.spec.seed,
            first_game=unit.first_deal,
            has_forfeits=True,
        )


class UnitStore:
    """Results of units in a folder, each a file that is whole or not there."""

    def __init__(self, folder: Path) -> None:
        """Use ``folder``, and make it if need be."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def _path(self, unit: Unit) -> Path:
        return self.folder / f"{unit.name}.npz"

    def has(self, unit: Unit) -> bool:
        """Whether all deals of the unit are there."""
        return self._path(unit).exists() and self.load(unit).num_games >= unit.num_deals

    def save(self, unit: Unit, result: MatchResult) -> None:
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

    def load(self, unit: Unit) -> MatchResult:
        """Read a result."""
        with np.load(self._path(unit), allow_pickle=False) as file:
            faults = [Fault(*fault) for fault in json.loads(str(file["faults"]))]
            return MatchResult(file["returns"], file["lengths"], faults, file.get("corrected"))
