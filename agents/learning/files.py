"""What learners know, as files: one folder with the arrays and the rest.

``state.npz`` holds the arrays, ``state.json`` everything else with the game it belongs to, and
``COMPLETE`` is written last: a folder without it does not count. Nothing is pickled, so a file from
a stranger can do no harm.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from envs.core.errors import MasqueradeError
from envs.core.game import Game

__all__ = [
    "CheckpointError",
    "checkpoint_folder",
    "checkpoints",
    "load_state",
    "players",
    "read_header",
    "save_state",
]

VERSION = 2
ARRAYS, HEADER, COMPLETE = "state.npz", "state.json", "COMPLETE"
_STEP = re.compile(r"step_(\d+)$")


class CheckpointError(MasqueradeError):
    """A checkpoint that is missing, damaged, or of another game."""


def save_state(folder: Path, game: Game, state: Mapping[str, Any], **header: Any) -> None:
    """Write ``state`` to a new folder, which is whole or not there.

    Args:
        folder: where to; it must not exist.
        game: the game that was learnt, noted so that it is not loaded into another one.
        state: arrays, and whatever JSON can say.
        header: more to note, such as ``agent="dqn"``.
    """
    partial = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
        rest = {name: value for name, value in state.items() if name not in arrays}
        with (partial / ARRAYS).open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        noted = {"version": VERSION, "game": game.id, "options": game.options.to_dict(), **header}
        text = json.dumps({**noted, "arrays": sorted(arrays), "state": rest}, indent=1)
        (partial / HEADER).write_text(text + "\n", encoding="utf-8")
        (partial / COMPLETE).write_text(f"{_sum_of(partial)}\n")
        os.replace(partial, folder)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise CheckpointError(
            f"{folder} cannot be written: {error.strerror or error}; earlier checkpoints are whole"
        ) from error


def load_state(path: Path, game: Game | None = None) -> dict[str, Any]:
    """Read a state back; with ``game``, only if it is of that game with the same structure."""
    folder = checkpoint_folder(path)
    header = read_header(folder)
    if game is not None:
        _check_game(folder, header, game)
    if (folder / COMPLETE).read_text().strip() != _sum_of(folder):
        raise CheckpointError(f"{folder} is damaged: take an earlier checkpoint")
    try:
        with np.load(folder / ARRAYS, allow_pickle=False) as file:
            arrays = {name: file[name] for name in header["arrays"]}
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise CheckpointError(
            f"{folder} is damaged ({ARRAYS}: {error}): take an earlier checkpoint"
        ) from error
    return {**arrays, **header["state"]}


def read_header(path: Path) -> dict[str, Any]:
    """What a checkpoint says of itself: game, options, agent, settings."""
    folder = checkpoint_folder(path)
    try:
        header: dict[str, Any] = json.loads((folder / HEADER).read_text(encoding="utf-8"))
        version = header["version"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{folder} is damaged ({HEADER} cannot be read): take an earlier checkpoint"
        ) from error
    if version != VERSION:
        raise CheckpointError(
            f"{folder} is of version {version} and this program reads {VERSION}: train again"
        )
    return header


def checkpoints(run: Path) -> list[Path]:
    """The complete checkpoints of a run, from which training can go on, earliest first."""
    return _complete(run / "checkpoints")


def players(run: Path) -> list[Path]:
    """What a run has kept of its players at every checkpoint, earliest first."""
    return _complete(run / "players")


def _complete(folder: Path) -> list[Path]:
    found = {}
    for child in folder.glob("step_*"):
        match = _STEP.search(child.name)
        if match and (child / COMPLETE).exists():
            found[int(match[1])] = child
    return [found[step] for step in sorted(found)]


def checkpoint_folder(path: Path) -> Path:
    """From a path to a checkpoint, that; from one to a run, its best player, or its last."""
    path = Path(path)
    if (path / COMPLETE).exists():
        return path
    found = players(path) or checkpoints(path)
    if not found:
        raise CheckpointError(f"{path} holds no checkpoint: give the folder of a run of train.py")
    try:
        best = json.loads((path / "best.json").read_text(encoding="utf-8"))["player"]
    except (OSError, ValueError, KeyError, TypeError):
        return found[-1]
    return next((folder for folder in found if folder.name == best), found[-1])


def _check_game(folder: Path, header: Mapping[str, Any], game: Game) -> None:
    if header["game"] != game.id:
        raise CheckpointError(f"{folder} was trained on {header['game']}, not on {game.id}")
    misfit = game.options.misfit(header["options"])
    if misfit:
        raise CheckpointError(f"{folder} was trained with {misfit}: play it with these options")


def _sum_of(folder: Path) -> str:
    total = 0
    for name in (ARRAYS, HEADER):
        total = zlib.crc32((folder / name).read_bytes(), total)
    return f"{total:08x}"
