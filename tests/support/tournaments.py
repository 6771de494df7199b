"""Tournaments with planted agents, and what becomes of their workers."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.spec import AgentSpec
from arena.match import MatchResult
from arena.schedule import WorkUnit, make_units
from arena.spec import TournamentSpec
from arena.workers import WorkerContext, play_units

__all__ = ["DEADLY", "PROJECT", "alive", "played", "processes", "tournament"]
__all__ += ["units_of", "wait_until"]

DEADLY = "tests.support.deadly_agents"
PROJECT = Path(__file__).resolve().parents[2]


def tournament(folder: Path, agent: str, deals: int = 300, **params: Any) -> TournamentSpec:
    """Two random players and a planted one: their units are mixed."""
    params = {"folder": str(folder), **params} if agent != "Unready" else params
    planted = AgentSpec(f"tests.support.deadly_agents:{agent}", params, "planted")
    agents = AgentSpec.parse("random"), AgentSpec.parse("other=random"), planted
    return TournamentSpec("kuhn_v0", agents, deals=deals, seed=0)


def units_of(spec: TournamentSpec) -> list[WorkUnit]:
    return make_units(spec.groups(spec.build_game()), spec.deals)


def plain(result: MatchResult) -> tuple[Any, ...]:
    return result.returns.tolist(), result.lengths.tolist(), result.faults


def played(spec: TournamentSpec, **arguments: Any) -> dict[WorkUnit, Any]:
    """The result of every unit, each of which must come once."""
    results: dict[WorkUnit, Any] = {}
    context = WorkerContext(spec)
    for unit, result in play_units(context, units_of(spec), **arguments):
        assert unit not in results
        results[unit] = plain(result)
    return results


def processes(folder: Path) -> set[int]:
    return {int(path.name.split()[1]) for path in folder.glob("process *")}


def alive(folder: Path) -> set[int]:
    """Workers that have played and are still there."""
    found = set()
    for process in processes(folder) - {os.getpid()}:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            continue
        found.add(process)
    return found


def wait_until(is_so: Callable[[], object]) -> None:
    while not is_so():
        time.sleep(0.01)
