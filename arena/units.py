"""Pieces of a tournament that can be played anywhere, in any order, and kept one by one.

A unit is one seating of one group over a block of deals. What comes of it depends on the tournament
and on nothing else, so units may be spread over processes, lost and played again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from agents.base import Agent
from arena.design import Group
from arena.match import Fault, MatchResult, play_match
from arena.spec import TournamentSpec
from envs.core.game import Game

__all__ = ["DEALS_PER_UNIT", "Unit", "UnitStore", "make_units", "play_units"]

DEALS_PER_UNIT = 500


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


def make_units(groups: list[Group], deals: int, first_deal: int = 0) -> list[Unit]:
    """All units of ``deals`` deals, those of the first deals first."""
    return [
        Unit(g, s, start, min(DEALS_PER_UNIT, deals - start))
        for start in range(first_deal, deals, DEALS_PER_UNIT)
        for g, group in enumerate(groups)
        for s in range(len(group.seatings))
    ]


class _Table:
    """A game with its agents, made once per process."""

    def __init__(self, spec: TournamentSpec) -> None:
        self.spec = spec
        self.game: Game = spec.build_game()
        self.groups = spec.groups(self.game)
        self.agents: list[Agent] = [agent.build(self.game) for agent in spec.agents]

    def play(self, unit: Unit) -> MatchResult:
        seating = self.groups[unit.group].seatings[unit.seating]
        seats = [self.agents[agent] for agent in seating]
        return play_match(
            self.game,
            seats,
            unit.num_deals,
            seed=self.spec.seed,
            first_game=unit.first_deal,
            has_forfeits=True,
        )


_table: _Table | None = None


def _set_up(spec: TournamentSpec) -> None:
    global _table  # one per worker process, set by its initializer
    _table = _Table(spec)


def _play_in_worker(unit: Unit) -> MatchResult:
    assert _table is not None
    return _table.play(unit)


def play_units(
    spec: TournamentSpec, units: list[Unit], workers: int = 1
) -> Iterator[tuple[Unit, MatchResult]]:
    """Play units here or in worker processes, and yield each as it is done."""
    if workers <= 1 or len(units) <= 1:
        table = _Table(spec)
        for unit in units:
            yield unit, table.play(unit)
        return
    context = get_context("spawn")  # no state of this process leaks into a worker
    with ProcessPoolExecutor(workers, context, _set_up, (spec,)) as pool:
        futures = {pool.submit(_play_in_worker, unit): unit for unit in units}
        for future in as_completed(futures):
            yield futures[future], future.result()


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
        np.savez(partial, returns=result.returns, lengths=result.lengths, faults=np.array(faults))
        os.replace(partial, self._path(unit))

    def load(self, unit: Unit) -> MatchResult:
        """Read a result."""
        with np.load(self._path(unit), allow_pickle=False) as file:
            faults = [Fault(*fault) for fault in json.loads(str(file["faults"]))]
            return MatchResult(file["returns"], file["lengths"], faults)
