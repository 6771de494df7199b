"""Runs that somebody wants to see play, and that are not there yet.

A tournament names trained agents by the folders of their runs. In a fresh copy of the project those
folders are empty, but their names say how they came about: ``runs/leduc_v0/dqn-seed1`` is
``configs/leduc/dqn.yaml`` with seed 1.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from agents.device import resolve_device
from agents.files import players
from arena.agent_spec import AgentSpec
from training.config import RunConfig, read_yaml
from training.run_folder import RunFolder
from training.runner import begin_run, resume_run

__all__ = ["train_missing"]

_RUN = re.compile(r"runs/(?P<game>\w+)_v\d+/(?P<config>\w+)-seed(?P<seed>\d+)")


def train_missing(agents: Iterable[AgentSpec], device: str = "auto") -> None:
    """Train every run that an agent comes from and that has not been finished here."""
    for agent in agents:
        path = str(agent.params.get("path", ""))
        match = _RUN.fullmatch(path)
        if match is None:
            continue
        config = Path("configs") / match["game"] / f"{match['config']}.yaml"
        if config.exists() and not _is_finished(Path(path)):
            _train(config, Path(path), match["seed"], resolve_device(device))


def _is_finished(folder: Path) -> bool:
    found = players(folder)
    if not found or not (folder / "config.yaml").exists():
        return False
    _, config = RunFolder.open(folder)
    return int(found[-1].name.removeprefix("step_")) >= config.train.amount


def _train(config: Path, folder: Path, seed: str, device: str) -> None:
    print(f"training {folder} from {config}", file=sys.stderr, flush=True)
    if (folder / "config.yaml").exists():
        resume_run(folder, device, command=f"python train.py --resume {folder}")
        return
    parsed = RunConfig.parse(read_yaml(config, [f"train.seed={seed}"]))
    begin_run(parsed, folder, device, command=f"python train.py --config {config} --seed {seed}")
