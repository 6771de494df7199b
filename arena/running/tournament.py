"""A tournament from its specification to its table, in a folder that can be taken up again.

The folder holds ``tournament.json`` (what is played, with which versions), ``units/`` (results as
they come) and, at the end, the summary as JSON, Markdown and CSV. A killed tournament goes on with
``has_resume`` and ends with the same table, because every unit depends on the specification alone,
and so does the end of one that is played until a wanted precision.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import json
import platform
import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from arena.playing.match import MatchResult
from arena.running.executors import Played, play_units, prepared
from arena.running.work_units import Unit, UnitStore, make_units, whole_units
from arena.schedules.schedule import Group, Sides
from arena.schedules.spec import TournamentSpec
from arena.statistics.intervals import SequentialStop, mean_interval
from arena.statistics.measure import faults_by_agent, summarise
from arena.statistics.results import Outcomes
from arena.statistics.summary import Stopping, Summary, Traits
from envs.core.errors import MasqueradeError
from envs.core.game import Game

__all__ = ["Progress", "run_tournament"]

Results = list[tuple[Unit, MatchResult]]

# With a wanted precision play ends at the latest after so many times the deals of the first look.
MAX_GROWTH = 4096

# What may change when a folder is taken up again: it changes the table, not the games.
_OF_THE_TABLE = ("deals", "confidence", "big_blind", "roles")


class Progress:
    """A line on the terminal that says how far a tournament is and how long it will take."""

    def __init__(self, total: int, is_shown: bool | None = None) -> None:
        """``total`` is the number of games; shown by default when somebody is looking."""
        self.total = total
        self.done = 0
        self.is_shown = sys.stderr.isatty() if is_shown is None else is_shown
        self._started = time.monotonic()

    def add(self, games: int) -> None:
        """Some games have ended."""
        self.done += games
        if not self.is_shown:
            return
        seconds = time.monotonic() - self._started
        rate = self.done / seconds if seconds > 0 else 0.0
        left = (self.total - self.done) / rate if rate else 0.0
        share = self.done / self.total
        bar = "#" * int(24 * share)
        end = "\n" if self.done >= self.total else ""
        text = (
            f"[{bar:.<24}] {self.done:,} of {self.total:,} games, {rate:,.0f}/s, {left:.0f} s left"
        )
        print(f"\r{text:<78}", end=end, file=sys.stderr, flush=True)


def run_tournament(
    spec: TournamentSpec,
    folder: Path,
    workers: int | None = None,
    has_resume: bool = False,
    until: float | None = None,
    on_start: Callable[[int], Progress] = Progress,
    executor: str = "processes",
    ray_address: str | None = None,
) -> Summary:
    """Play what is missing of a tournament and summarise all of it.

    Args:
        spec: what is played.
        folder: where results are kept.
        workers: how many units to play at a time; the result does not depend on it.
        has_resume: go on with what the folder holds instead of refusing to touch it.
        until: play on after the deals of ``spec`` until the half width of every lead is at most
            this; see ``SequentialStop``.
        on_start: makes the display of progress from the number of games.
        executor: "processes" or "ray"; see ``play_units``, also for what no ``workers`` means.
        ray_address: the cluster.
    """
    if until is not None and not until > 0:
        raise MasqueradeError(f"the wanted half width must be above 0, not {until}")
    is_in_order = executor == "processes" and workers in (None, 1) and until is None
    if spec.has_learners and not is_in_order:
        raise MasqueradeError(
            "learning agents play their games in order: use one worker and no --until"
        )
    game = spec.build_game()
    groups = spec.groups(game)
    spec.role_names(game)
    # What cannot be made is refused before anything is written.
    traits = [Traits.of(agent.build(game)) for agent in spec.agents]
    where: dict[str, Any] = {"workers": workers, "executor": executor, "ray_address": ray_address}
    with prepared(**where):
        _open_folder(spec, folder, has_resume)
        store = UnitStore(folder / "units")

        def play(deals: int) -> Results:
            units = make_units(groups, deals)
            play_them = partial(play_units, spec, **where)
            if spec.luck != "none":
                from arena.variance_reduction.work_units import (
                    with_values,  # compiled code, for those who need it
                )

                units = with_values(spec, units, folder / "luck", play_them, on_start)
            _play_missing(spec, store, units, play_them, on_start)
            return [(unit, store.load(unit)) for unit in units]

        stopping = None
        if until is None:
            results = play(spec.deals)
        else:
            results, stopping = _play_until(
                _make_stop(spec, game, until), groups, spec.sides(game), play
            )
            spec = replace(spec, deals=stopping.looks[-1])
    from arena.statistics.exploitability import (
        distances_of_tournament,  # compiled code, when it is needed
    )

    distances = distances_of_tournament(
        spec, game, failed=faults_by_agent(groups, results, spec.deals)
    )
    summary = summarise(spec, game, groups, results, traits, stopping, distances)
    (folder / "summary.json").write_text(json.dumps(summary.to_dict(), indent=1) + "\n")
    (folder / "summary.md").write_text(summary.to_markdown())
    for name, content in summary.to_csv().items():
        (folder / name).write_text(content)
    return summary


def _make_stop(spec: TournamentSpec, game: Game, until: float) -> SequentialStop:
    """Looks after whole units, beginning with the deals of the specification."""
    facts = game.facts
    first = whole_units(spec.deals)
    team = max(len(side) for side in spec.sides(game))
    return SequentialStop(
        until,
        spec.confidence,
        first,
        whole_units(MAX_GROWTH * first),
        span=team * (facts.max_return - facts.min_return),
        round_up=whole_units,
    )


def _play_until(
    stop: SequentialStop, groups: list[Group], sides: Sides, play: Callable[[int], Results]
) -> tuple[Results, Stopping]:
    """Play until a look finds every lead certain enough.

    Only the results of complete deals in their order decide, so any number of workers, and a
    tournament that was interrupted, come to the same end.
    """
    deals = next(stop.looks())
    while True:
        results = play(deals)
        series = Outcomes.collect(groups, sides, deals, results).lead_series()
        end = stop.stop_at_all(series)
        if end is not None:
            break
        deals = stop.next_look(series)
    series = series[:end]
    looks = tuple(itertools.takewhile(lambda look: look <= end, stop.looks()))
    worst = max(mean_interval(column, stop.confidence).half_width for column in series.T)
    is_reached = stop.reach(series) <= stop.half_width
    return results, Stopping(stop.half_width, worst, looks, is_reached)


def _play_missing(
    spec: TournamentSpec,
    store: UnitStore,
    units: list[Unit],
    play: Callable[[list[Unit]], Generator[Played]],
    on_start: Callable[[int], Progress],
) -> None:
    missing = [unit for unit in units if not store.has(unit)]
    if not missing:
        return
    if spec.has_learners and len(missing) < len(units):
        raise MasqueradeError(
            "what learning agents had learnt is lost: begin anew with another --out"
        )
    progress = on_start(sum(unit.num_deals for unit in missing))
    with closing(play(missing)) as played:  # so that its workers end with it, whatever happens
        for unit, result in played:
            store.save(unit, result)
            progress.add(unit.num_deals)


def _open_folder(spec: TournamentSpec, folder: Path, has_resume: bool) -> None:
    """Note what is played, or check that it is what the folder already holds."""
    path = folder / "tournament.json"
    values = spec.to_dict().items()
    what = json.loads(json.dumps({key: value for key, value in values if key != "deals"}))
    if path.exists():
        if not has_resume:
            raise MasqueradeError(
                f"{folder} holds a tournament: go on with --resume, or choose another --out"
            )
        noted = json.loads(path.read_text())
        before, was_played_with = noted["spec"], noted["versions"]
        played = [key for key in what if key not in _OF_THE_TABLE]
        changed = [key for key in played if before.get(key) != what[key]]
        if changed:
            raise MasqueradeError(
                f"{folder} holds another tournament ({', '.join(changed)} differ): "
                "choose another --out"
            )
    else:
        folder.mkdir(parents=True, exist_ok=True)
        was_played_with = versions()
    path.write_text(json.dumps({"spec": what, "versions": was_played_with}, indent=1) + "\n")


def versions() -> dict[str, Any]:
    """What this tournament was played with."""
    packages = ("masquerade", "numba", "numpy", "gymnasium", "pettingzoo")
    found = {}
    for name in packages:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {"python": platform.python_version(), "machine": platform.machine(), **found}
