"""The folder of a run: all that is needed to read, repeat or continue it.

===================  =============================================================================
``config.yaml``      every value, chosen or by default
``command.txt``      how the run was started and resumed
``versions.json``    with what
``metrics.csv``      the curves: the same seed gives the same file
``tensorboard/``     the same for the eye, with rates
``checkpoints/``     the last complete ones, from which training goes on
``players/``         the player at every checkpoint
``best.json``        which of them was the best in its evaluation
``eval/``            every evaluation in full
===================  =============================================================================
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.learning.files import checkpoints, players, read_header
from envs.core.errors import MasqueradeError
from envs.core.versions import versions
from training.config import RunConfig, read_yaml

__all__ = ["RunFolder"]


class RunFolder:
    """Reads and writes the files of one run."""

    def __init__(self, path: Path) -> None:
        """Name the folder; ``begin`` makes it, ``open`` finds it."""
        self.path = path
        self.metrics = path / "metrics.csv"
        self.tensorboard = path / "tensorboard"

    @classmethod
    def begin(cls, path: Path, config: RunConfig, command: str) -> RunFolder:
        """Make a new folder and note what is to be done."""
        if path.exists() and any(path.iterdir()):
            raise MasqueradeError(
                f"{path} is not empty: continue it with --resume {path}, or choose another --out"
            )
        run = cls(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            (path / "config.yaml").write_text(config.to_yaml(), encoding="utf-8")
            (path / "command.txt").write_text(command + "\n", encoding="utf-8")
            run._write_json("versions.json", versions())
        except OSError as error:
            raise MasqueradeError(f"{path} cannot be written: {error.strerror}") from error
        return run

    @classmethod
    def open(cls, path: Path) -> tuple[RunFolder, RunConfig]:
        """Find a run and what it was to do."""
        if not (path / "config.yaml").exists():
            raise MasqueradeError(f"{path} is not a run: give a folder made by train.py")
        return cls(path), RunConfig.parse(read_yaml(path / "config.yaml"))

    def note_command(self, command: str) -> None:
        """Add a line to the commands."""
        with (self.path / "command.txt").open("a", encoding="utf-8") as file:
            file.write(command + "\n")

    # ---- checkpoints -----------------------------------------------------------------------------

    def checkpoint(self, step: int) -> Path:
        """Where the checkpoint of a step goes."""
        return self.path / "checkpoints" / f"step_{step:012d}"

    def player(self, step: int) -> Path:
        """Where the player of a step goes."""
        return self.path / "players" / f"step_{step:012d}"

    def last_checkpoint(self) -> Path | None:
        """The last complete one."""
        found = checkpoints(self.path)
        return found[-1] if found else None

    def forget_after(self, step: int) -> None:
        """Remove players and evaluations of later steps, which will be made again."""
        for folder in players(self.path):
            if _step_of(folder) > step:
                shutil.rmtree(folder)
        for file in (self.path / "eval").glob("step_*.json"):
            if _step_of(file) > step:
                file.unlink()

    def remove_old(self, keep: int) -> None:
        """Remove all full checkpoints but the last ``keep``."""
        for folder in checkpoints(self.path)[:-keep]:
            shutil.rmtree(folder)

    def past_players(self, step: int) -> list[Path]:
        """Players kept up to a step."""
        return [folder for folder in players(self.path) if _step_of(folder) <= step]

    # ---- evaluations -----------------------------------------------------------------------------

    def write_evaluation(self, step: int, values: Mapping[str, Any]) -> None:
        """Keep one evaluation in full."""
        (self.path / "eval").mkdir(exist_ok=True)
        self._write_json(f"eval/step_{step:012d}.json", {"step": step, **values})

    def best(self) -> dict[str, Any] | None:
        """Which player was best, and its score."""
        path = self.path / "best.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def write_best(self, best: Mapping[str, Any] | None) -> None:
        """Note which player is best."""
        if best is None:
            (self.path / "best.json").unlink(missing_ok=True)
        else:
            self._write_json("best.json", best)

    def _write_json(self, name: str, values: Mapping[str, Any]) -> None:
        partial = self.path / f"{name}.partial"
        partial.write_text(json.dumps(dict(values), indent=1) + "\n", encoding="utf-8")
        os.replace(partial, self.path / name)


def step_of_checkpoint(folder: Path) -> int:
    """The step of a checkpoint, as its own header says."""
    return int(read_header(folder)["step"])


def _step_of(path: Path) -> int:
    return int(path.name.removeprefix("step_").removesuffix(".json"))
