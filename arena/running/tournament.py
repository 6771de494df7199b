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
import json
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from arena.playing.match import MatchResult
from arena.running.context import Played, WorkerContext
from arena.running.executors import play_units, prepared
from arena.running.store import UnitStore
from arena.schedules.spec import TournamentSpec
from arena.schedules.work_units import WorkUnit, make_units, whole_units
from arena.statistics.measure import faults_by_agent, summarise
from arena.statistics.results import Results
from arena.statistics.stopping import SequentialStop
from arena.statistics.summary import SHARED, AgentInfo, Stopping, Summary
from common.errors import MasqueradeError
from common.files import check_folder, read_json, write_json, write_text
from common.imports import versions
from common.progress import Progress
from envs.core.sides import side_bounds

__all__ = ["holds_another", "run_tournament"]

PlayedUnits = list[tuple[WorkUnit, MatchResult]]

# With a wanted precision play ends at the latest after so many times the deals of the first look.
MAX_GROWTH = 4096

# What may change when a tournament is resumed: it changes the table, not the games.
_OF_THE_TABLE = ("deals", "confidence", "unit")


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
    is_in_order = executor == "processes" and workers in (None, 1) and until is None
    if spec.has_learners and not is_in_order:
        raise MasqueradeError(
            "learning agents play their games in order: use one worker and no --until"
        )
    # What cannot be made is refused before anything is written.
    context = context or WorkerContext(spec)
    game = context.game
    infos = [AgentInfo.of(agent) for agent in context.agents]
    where: dict[str, Any] = {"workers": workers, "executor": executor, "ray_address": ray_address}
    stop = stopping = None
    with prepared(**where):
        spec = _open_folder(spec, folder, has_resume)
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
    from arena.statistics.exploitability import distances_of_tournament

    agents = [
        agent_spec.build(game) if agent_spec.learning else agent  # as it was before it learnt
        for agent_spec, agent in zip(spec.agents, context.agents, strict=True)
    ]
    groups = context.groups
    failed = faults_by_agent(groups, played, spec.deals)
    distances = distances_of_tournament(game, agents, spec.root_seed, failed)
    interval = stop.interval if stop else None
    summary = summarise(spec, game, groups, played, infos, stopping, distances, interval)
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
        from arena.running.pilots import with_values

        units = with_values(spec, units, folder / "pilots", play)
    missing = [unit for unit in units if not store.has(unit)]
    if missing:
        if spec.has_learners and len(missing) < len(units):
            raise MasqueradeError(
                "what learning agents had learnt is lost: begin anew with another --out"
            )
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


def _open_folder(spec: TournamentSpec, folder: Path, has_resume: bool) -> TournamentSpec:
    """Note what is played, or check that it is what the folder already holds; choose the seed."""
    path, seed_path = folder / "tournament.json", folder / "seed"
    hidden = ("deals", "seed")
    values = {key: value for key, value in spec.to_dict().items() if key not in hidden}
    what = json.loads(json.dumps(values))
    marks = {agent.name: agent.fingerprint() for agent in spec.agents}
    if path.exists():
        _check_resume(folder, has_resume)
        noted = read_json(path, "choose another --out")
        before, was_played_with = noted.get("spec"), noted.get("versions")
        if not isinstance(before, dict):
            raise MasqueradeError(f"{path} is damaged (it has no spec): choose another --out")
        before = SHARED | before
        seed = _read_seed(seed_path)
        spec = spec if spec.seed is not None else replace(spec, seed=seed)
        played = [key for key in what if key not in _OF_THE_TABLE]
        changed = [key for key in played if before.get(key) != what[key]]
        changed += ["seed"] if spec.seed != seed else []
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
    left_out = ("deals", "seed", *_OF_THE_TABLE)
    what = json.loads(json.dumps(spec.to_dict()))
    played = {key: value for key, value in what.items() if key not in left_out}
    if not isinstance(before, dict):
        return True
    return any((SHARED | before).get(key) != played[key] for key in played)


def _read_seed(path: Path) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError) as error:
        raise MasqueradeError(
            f"{path} cannot be read: a tournament is resumed with the seed in it; if there is "
            "none, choose another --out"
        ) from error
