"""The folder of a run: all that is needed to read, repeat or continue it.

===================  =============================================================================
``config.yaml``      every value, chosen or by default
``command.txt``      how the run was started and resumed
``versions.json``    with what
``metrics.csv``      the curves: the same seed gives the same file
``events.*``         the same for TensorBoard, with rates
``checkpoints/``     the last complete ones, from which training goes on
``players/``         the player at every checkpoint
``best.json``        which of them was the best in its evaluation
``eval/``            every evaluation in full
===================  =============================================================================
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from agents.learning.files import EARLIER, CheckpointError, checkpoints, players, read_header
from common.errors import MasqueradeError
from common.files import (
    append_text,
    check_folder,
    make_folder,
    read_json,
    remove_file,
    write_json,
    write_text,
)
from common.imports import names_from_a_file, versions
from training.config import RunConfig, read_yaml

CONFIG, BEST = "config.yaml", "best.json"
COMMAND, VERSIONS = "command.txt", "versions.json"


class RunFolder:
    """Reads and writes the files of one run."""

    def __init__(self, path: Path) -> None:
        """Name the folder; ``begin`` makes it, ``open`` finds it."""
        self.path = path
        self.metrics = path / "metrics.csv"

    @classmethod
    def begin(cls, path: Path, config: RunConfig, command: str) -> RunFolder:
        """Make a new folder and note what is to be done."""
        if (path / CONFIG).exists():
            raise MasqueradeError(
                f"{path} is not empty: continue it with --resume {path}, or choose another --out"
            )
        # What was killed while it began has nothing to go on from, and is begun again.
        check_folder(path, CONFIG, (COMMAND, VERSIONS))
        make_folder(path)
        # The configuration comes last: a folder with one is a run.
        write_text(path / COMMAND, command + "\n")
        write_json(path / VERSIONS, versions())
        write_text(path / CONFIG, config.to_yaml())
        return cls(path)

    @classmethod
    def open(cls, path: Path, trusts_all: bool = False) -> tuple[RunFolder, RunConfig]:
        """Find a run and what it was to do; a learner of somebody's is imported by trust only."""
        if not (path / CONFIG).exists():
            raise MasqueradeError(f"{path} is not a run: give a folder made by train.py")
        try:
            content = read_yaml(path / CONFIG)
            # All sections are written; a file that was cut would be read as another run's.
            if content.keys() < RunConfig.model_fields.keys():
                raise MasqueradeError("it is cut or damaged: begin the run again")
            with nullcontext() if trusts_all else names_from_a_file():
                return cls(path), RunConfig.parse(content)
        except MasqueradeError as error:
            raise type(error)(f"{path / CONFIG}: {error}") from error

    def note_command(self, command: str) -> None:
        """Add a line to the commands."""
        append_text(self.path / COMMAND, command + "\n")

    # ---- checkpoints -----------------------------------------------------------------------------

    def checkpoint(self, step: int) -> Path:
        """Where the checkpoint of a step goes."""
        return self.path / "checkpoints" / f"step_{step:012d}"

    def player(self, step: int) -> Path:
        """Where the player of a step goes."""
        return self.path / "players" / f"step_{step:012d}"

    def forget_after(self, step: int) -> None:
        """Remove players and evaluations of later steps, which will be made again.

        And what a process that was killed had begun to write.
        """
        for file in self.path.rglob(".*.partial"):
            remove_file(file)
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
        write_json(self.path / "eval" / f"step_{step:012d}.json", {"step": step, **values})

    def best(self) -> dict[str, Any] | None:
        """Which player was best, and its score; nothing if that cannot be read."""
        kinds = {"player": str, "step": int, "score": float}
        try:
            best = read_json(self.path / BEST, "")
            return {name: kind(best[name]) for name, kind in kinds.items()}
        except (MasqueradeError, KeyError, TypeError, ValueError):
            return None

    def write_best(self, best: Mapping[str, Any] | None) -> None:
        """Note which player is best."""
        if best is None:
            (self.path / BEST).unlink(missing_ok=True)
        else:
            write_json(self.path / BEST, dict(best))


def step_of_checkpoint(folder: Path) -> int:
    """The step of a checkpoint, as its own header says."""
    step = read_header(folder).get("step")
    if not isinstance(step, int) or step < 0:
        raise CheckpointError(f"{folder} is damaged (no step): {EARLIER}")
    return step


def _step_of(path: Path) -> int:
    return int(path.name.removeprefix("step_").removesuffix(".json"))
