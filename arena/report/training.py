"""How the agents of a tournament were made: the curves in the folders of their runs.

An agent that was trained has a parameter with the path of its run, or of a checkpoint in it. A
run's folder holds ``metrics.csv``, a row for each time something was measured (an empty cell was
not), and perhaps ``eval/*.json``. A solver's policy file has its exploitability in itself.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.policy import FILE_NAME, Policy, PolicyError
from arena.schedules.spec import AgentSpec
from common.errors import MasqueradeError
from common.files import read_json, read_text
from envs.core.game import Game

__all__ = ["Run", "read_run", "read_runs"]

Points = list[tuple[float, float]]

STEPS = ("step", "steps", "global_step", "iteration", "iterations")
ENDS = ("_low", "_high")
# A checkpoint lies in runs/<name>/checkpoints/<step>/ at most.
MAX_PARENTS = 3
MAX_POINTS = 400


@dataclass(frozen=True)
class Run:
    """What a training run has noted."""

    agent: str
    curves: dict[str, Points] = field(default_factory=dict)
    """For each metric (step, value), in the order of steps."""
    bands: dict[str, tuple[Points, Points]] = field(default_factory=dict)
    """For metrics that have columns ``.._low`` and ``.._high`` beside them, these."""
    exploitability: float | None = None
    """The last value there is."""


def read_runs(agents: Iterable[AgentSpec], game: Game) -> list[Run]:
    """The runs of those agents that have one."""
    runs = [read_run(agent, game) for agent in agents]
    return [run for run in runs if run is not None]


def read_run(agent: AgentSpec, game: Game) -> Run | None:
    """The run that an agent comes from, or None when it has no folder with measurements."""
    for value in agent.params.values():
        if not isinstance(value, str) or not value or not Path(value).exists():
            continue
        folder, exploitability = _run_folder(Path(value)), _from_policy(Path(value), game)
        if folder is None and exploitability is not None:
            return Run(agent.name, exploitability=exploitability)
        if folder is not None:
            columns = _read_metrics(folder / "metrics.csv")
            if exploitability is None:
                exploitability = _last(columns)
            if exploitability is None:
                exploitability = _from_json(folder / "eval")
            shown = _shown(columns)
            ends = {f"{name}{end}" for name in shown for end in ENDS} & set(shown)
            curves = {name: points for name, points in shown.items() if name not in ends}
            bands = {
                name: (shown[name + ENDS[0]], shown[name + ENDS[1]])
                for name in curves
                if all(name + end in ends for end in ENDS)
            }
            return Run(agent.name, curves, bands, exploitability)
    return None


def _run_folder(path: Path) -> Path | None:
    for folder in (path, *list(path.parents)[:MAX_PARENTS]):
        if (folder / "metrics.csv").is_file():
            return folder
    return path if path.is_dir() and (path / "eval").is_dir() else None


def _read_metrics(path: Path) -> dict[str, Points]:
    """Every numeric column over the column of steps, or over rows when there is none."""
    columns: dict[str, Points] = {}
    if not path.is_file():
        return columns
    try:
        rows = list(csv.DictReader(read_text(path, "").splitlines()))
    except (MasqueradeError, csv.Error):
        return columns  # damaged or not ours: a report does without
    for number, row in enumerate(rows):
        step = next((x for name in STEPS if (x := _number(row.get(name))) is not None), number)
        for name, text in row.items():
            value = _number(text)
            if isinstance(name, str) and name not in STEPS and value is not None:
                columns.setdefault(name, []).append((step, value))
    return columns


def _number(text: Any) -> float | None:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def _shown(columns: dict[str, Points]) -> dict[str, Points]:
    """The curves of evaluations, or those of training where there are none."""
    for start in ("eval/", "charts/"):
        chosen = {name: points for name, points in columns.items() if name.startswith(start)}
        if chosen:
            return {name: _thinned(points) for name, points in chosen.items()}
    return {}


def _thinned(points: Points) -> Points:
    """At most ``MAX_POINTS`` of them, the last included."""
    stride = -(-len(points) // MAX_POINTS)
    return points if stride == 1 else [*points[:-1:stride], points[-1]]


def _last(columns: dict[str, Points]) -> float | None:
    """The last exploitability there is, whatever the rest of its name."""
    for name, points in columns.items():
        if "exploitability" in name.lower():
            return points[-1][1]
    return None


def _from_policy(path: Path, game: Game) -> float | None:
    """What a solver has noted in its policy's file, if there is one."""
    file = path / FILE_NAME if path.is_dir() else path
    if file.suffix != Path(FILE_NAME).suffix or not file.is_file():
        return None
    try:
        return Policy.load(file, game).exploitability
    except PolicyError:
        return None  # another kind of file, or no longer for this game


def _from_json(folder: Path) -> float | None:
    """The exploitability in the last file, by name, that has one."""
    for path in sorted(folder.glob("*.json"), reverse=True):
        try:
            content = read_json(path, "")
        except MasqueradeError:
            continue  # half-written or not ours: a report does without
        named = {key: [(0.0, x)] for key in content if (x := _number(content[key])) is not None}
        if (value := _last(named)) is not None:
            return value
    return None
