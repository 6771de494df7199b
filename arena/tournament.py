"""A tournament from its specification to its table, in a folder that can be taken up again.

The folder holds ``tournament.json`` (what is played, with which versions), ``units/`` (results as
they come) and, at the end, the summary. A killed tournament goes on with ``has_resume`` and ends
with the same table, because every unit depends on the specification alone.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.spec import TournamentSpec
from arena.summary import Summary, summarise
from arena.units import Unit, UnitStore, make_units, play_units
from envs.core.errors import MasqueradeError

__all__ = ["Progress", "run_tournament"]

# With a wanted precision the number of deals is doubled until it is reached, at most so often: few
# looks at the result keep its intervals honest.
MAX_DOUBLINGS = 12


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
    workers: int = 1,
    has_resume: bool = False,
    until: float | None = None,
    on_start: Callable[[int], Progress] = Progress,
) -> Summary:
    """Play what is missing of a tournament and summarise all of it.

    Args:
        spec: what is played.
        folder: where results are kept.
        workers: processes to use; the result does not depend on it.
        has_resume: go on with what the folder holds instead of refusing to touch it.
        until: play on, with twice as many deals each time, until the half width of every
            comparison is at most this.
        on_start: makes the display of progress from the number of games.
    """
    if workers < 1:
        raise MasqueradeError(f"workers must be at least 1, not {workers}")
    game = spec.build_game()
    groups = spec.groups(game)
    for agent in spec.agents:
        agent.build(game)  # what cannot be made is refused before anything is written
    _open_folder(spec, folder, has_resume)
    store = UnitStore(folder / "units")
    for _ in range(MAX_DOUBLINGS):
        units = make_units(groups, spec.deals)
        _play_missing(spec, store, units, workers, on_start)
        summary = summarise(spec, game, groups, [(unit, store.load(unit)) for unit in units])
        if until is None or summary.worst_half_width <= until:
            break
        spec = replace(spec, deals=2 * spec.deals)
    (folder / "summary.json").write_text(json.dumps(summary.to_dict(), indent=1) + "\n")
    (folder / "summary.md").write_text(summary.to_markdown())
    return summary


def _play_missing(
    spec: TournamentSpec,
    store: UnitStore,
    units: list[Unit],
    workers: int,
    on_start: Callable[[int], Progress],
) -> None:
    missing = [unit for unit in units if not store.has(unit)]
    if not missing:
        return
    progress = on_start(sum(unit.num_deals for unit in missing))
    for unit, result in play_units(spec, missing, workers):
        store.save(unit, result)
        progress.add(unit.num_deals)


def _open_folder(spec: TournamentSpec, folder: Path, has_resume: bool) -> None:
    """Note what is played, or check that it is what the folder already holds."""
    path = folder / "tournament.json"
    what = {key: value for key, value in spec.to_dict().items() if key != "deals"}
    what = json.loads(json.dumps(what))
    if path.exists():
        if not has_resume:
            raise MasqueradeError(
                f"{folder} holds a tournament: go on with --resume, or choose another --out"
            )
        before = json.loads(path.read_text())["spec"]
        changed = [key for key in what if before.get(key) != what[key]]
        if changed:
            raise MasqueradeError(
                f"{folder} holds another tournament ({', '.join(changed)} differ): "
                "choose another --out"
            )
        return
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"spec": what, "versions": versions()}, indent=1) + "\n")


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
