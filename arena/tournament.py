"""A tournament from its specification to its summary, in a folder in which it can be resumed.

The folder holds ``tournament.json`` (what is played, with which versions), ``seed``, ``units/``
(results as they come) and, at the end, ``summary.json``. A killed tournament goes on with
``has_resume`` and ends with the same summary, because every unit depends on the specification
alone, and so does the end of one that is played until a wanted precision.

The root seed is in no other file until the games are over, and in no environment or command line
that a player from outside is started with. Its file can be read by its owner alone (mode 600); a
program of the same user that looks for it could still find it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from arena.folder import UnitStore, open_folder
from arena.match import MatchResult
from arena.measure import faults_by_agent, summarise
from arena.results import Results
from arena.schedule import WorkUnit, make_units, whole_units
from arena.spec import TournamentSpec
from arena.stopping import SequentialStop
from arena.summary import Stopping, Summary
from arena.workers import Played, WorkerContext, play_units, prepared
from common.errors import MasqueradeError
from common.files import write_json
from common.progress import Progress
from envs.core.facts import side_bounds

PlayedUnits = list[tuple[WorkUnit, MatchResult]]

# With a wanted precision play ends at the latest after so many times the deals of the first look.
MAX_GROWTH = 4096


def run_tournament(
    spec: TournamentSpec,
    folder: Path,
    workers: int | None = None,
    has_resume: bool = False,
    until: float | None = None,
    executor: str = "processes",
    ray_address: str | None = None,
    context: WorkerContext | None = None,
) -> Summary:
    """Play what is missing of a tournament and summarise all of it.

    Args:
        spec: what is played.
        folder: where results are kept.
        workers: how many units to play at a time; the result does not depend on it.
        has_resume: go on with what the folder holds instead of refusing to touch it.
        until: play on after the deals of ``spec`` until the half width of every lead is at most
            this, in the unit in which results are read; see ``SequentialStop``.
        executor: "processes" or "ray"; see ``play_units``, also for what no ``workers`` means.
        ray_address: the cluster.
        context: the game and the agents of ``spec``, if they have been made already.
    """
    if until is not None and not until > 0:
        raise MasqueradeError(f"the wanted half width must be above 0, not {until}")
    # What cannot be made is refused before anything is written.
    context = context or WorkerContext(spec)
    game = context.game
    unsteady = [place for place, agent in enumerate(context.agents) if not agent.is_reproducible]
    where: dict[str, Any] = {"workers": workers, "executor": executor, "ray_address": ray_address}
    stop = stopping = None
    with prepared(**where):
        spec = open_folder(spec, folder, has_resume)
        context.choose_seed(spec)
        store = UnitStore(folder / "units")
        play = partial(_play, context, store, folder, partial(play_units, context, **where))
        if until is None:
            played = play(spec.deals)
        else:
            stop = _make_stop(context, until / spec.read_in(game).scale)
            played, stopping = _play_until(stop, context, play)
            spec = replace(spec, deals=stopping.looks[-1])
            stopping = replace(stopping, half_width=until)
    # Imported when needed: compiled code that takes seconds to load.
    from arena.exploitability import distances_of_tournament

    groups = context.groups
    failed = faults_by_agent(groups, played, spec.deals)
    distances = distances_of_tournament(game, context.agents, spec.root_seed, failed)
    interval = stop.interval if stop else None
    summary = summarise(spec, game, groups, played, unsteady, stopping, distances, interval)
    write_json(folder / "summary.json", summary.to_dict())
    return summary


def _play(
    context: WorkerContext,
    store: UnitStore,
    folder: Path,
    play: Callable[[list[WorkUnit]], Generator[Played]],
    deals: int,
) -> PlayedUnits:
    """The results of so many deals; what is missing is played."""
    spec, units = context.spec, make_units(context.groups, deals)
    if spec.variance_reduction != "none":
        # Imported when needed: compiled code that takes seconds to load.
        from arena.variance_values import with_values

        units = with_values(spec, units, folder / "pilots", play)
    missing = [unit for unit in units if not store.has(unit)]
    if missing:
        total = sum(unit.num_deals for unit in missing)
        with (
            closing(Progress(total, "games", has_pulse=True)) as progress,
            closing(play(missing)) as played,  # so that its workers end with it, whatever happens
        ):
            progress.show(0)
            for unit, result in played:
                store.save(unit, result)
                progress.add(unit.num_deals)
    return [(unit, store.load(unit)) for unit in units]


def _make_stop(context: WorkerContext, until: float) -> SequentialStop:
    """Looks after whole units, beginning with the deals of the specification."""
    spec, bounds = context.spec, side_bounds(context.game.facts)
    first = whole_units(spec.deals)
    return SequentialStop(
        until,
        spec.confidence,
        first,
        whole_units(MAX_GROWTH * first),
        span=max(high for _, high in bounds) - min(low for low, _ in bounds),
        round_up=whole_units,
    )


def _play_until(
    stop: SequentialStop, context: WorkerContext, play: Callable[[int], PlayedUnits]
) -> tuple[PlayedUnits, Stopping]:
    """Play until a look finds every lead certain enough.

    Only the results of complete deals in their order decide, so any number of workers, and a
    tournament that was interrupted, come to the same end.
    """
    facts = context.game.facts
    deals = next(stop.looks())
    while True:
        played = play(deals)
        shared = context.spec.shared_deals
        series = Results.collect(context.groups, facts, deals, played, shared).lead_series()
        end = stop.stop_at_all(series)
        if end is not None:
            break
        deals = stop.next_look(series)
    looks = tuple(itertools.takewhile(lambda look: look <= end, stop.looks()))
    reach = stop.reach(series[:end])
    scale = context.spec.read_in(context.game).scale
    return played, Stopping(stop.half_width, reach * scale, looks, reach <= stop.half_width)
