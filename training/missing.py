"""Train the runs that a tournament names and that do not exist yet.

A tournament names trained agents by the folders of their runs. In a fresh copy of the project those
folders are empty, but their names say how they came about: ``runs/leduc_v0/dqn-seed1`` is
``configs/leduc/dqn.yaml`` with seed 1.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from agents.learning.device import resolve_device
from agents.learning.files import players
from agents.spec import AgentSpec
from training.config import RunConfig, read_yaml
from training.run_folder import RunFolder
from training.runner import begin_run, resume_run

__all__ = ["is_finished", "source_of", "train_missing"]

_RUN = re.compile(r"runs/(?P<game>\w+)_v\d+/(?P<config>\w+)-seed(?P<seed>\d+)")


def train_missing(agents: Iterable[AgentSpec], device: str = "auto") -> None:
    """Train every run that an agent comes from and that has not been finished here."""
    for agent in agents:
        folder = Path(str(agent.params.get("path", "")))
        source = source_of(folder)
        if source is not None and source[0].exists() and not is_finished(folder):
            _train(*source, folder, resolve_device(device))


def source_of(folder: Path) -> tuple[Path, int] | None:
    """The configuration and the seed that a folder is named after, if it is.

    >>> source_of(Path("runs/leduc_v0/dqn-seed1"))
    (PosixPath('configs/leduc/dqn.yaml'), 1)
    """
    match = _RUN.fullmatch(folder.as_posix())
    if match is None:
        return None
    return Path("configs") / match["game"] / f"{match['config']}.yaml", int(match["seed"])


def is_finished(folder: Path) -> bool:
    """Whether a run has come to its end and kept its player."""
    found = players(folder)
    if not found or not (folder / "config.yaml").exists():
        return False
    _, config = RunFolder.open(folder)
    return int(found[-1].name.removeprefix("step_")) >= config.train.steps


def _train(config: Path, seed: int, folder: Path, device: str) -> None:
    print(f"training {folder} from {config}", file=sys.stderr, flush=True)
    parsed = RunConfig.parse(read_yaml(config, [f"train.seed={seed}"]))
    if (folder / "config.yaml").exists():
        command = f"python train.py --resume {folder}"
        outcome = resume_run(folder, device, command, trusted=parsed.foreign_code())
    else:
        command = f"python train.py --config {config} --seed {seed}"
        outcome = begin_run(parsed, folder, device, command)
    if not outcome.is_finished:
        # Whoever stops a training does not want to see its half-trained player in a table.
        raise KeyboardInterrupt
