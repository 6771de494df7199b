"""What learners know, as files: one folder with the arrays and the rest.

``state.npz`` holds the arrays, ``state.json`` everything else with the game it belongs to, and
``COMPLETE`` is written last: a folder without it does not count. Nothing is pickled, so a file from
a stranger can do no harm.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from common.errors import FileError, MasqueradeError, OptionError, one_line
from common.files import (
    checksum,
    read_arrays,
    read_json,
    read_text,
    write_arrays,
    write_json,
    write_text,
)
from common.saved import DamagedStateError
from envs.core.game import Game

VERSION = 2
ARRAYS, HEADER, COMPLETE = "state.npz", "state.json", "COMPLETE"
EARLIER = "take an earlier checkpoint, or train again"
TRAIN_AGAIN = "name the agent that was trained there, or train it again"
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
        arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
        rest = {name: value for name, value in state.items() if name not in arrays}
        write_arrays(partial / ARRAYS, arrays)
        noted = {"version": VERSION, "game": game.id, "options": game.options.to_dict(), **header}
        write_json(partial / HEADER, {**noted, "arrays": sorted(arrays), "state": rest})
        write_text(partial / COMPLETE, f"{_sum_of(partial)}\n")
        os.replace(partial, folder)
    except (FileError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CheckpointError(
            f"{folder} cannot be kept; earlier ones are whole: {reason}"
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def load_state(path: Path, game: Game | None = None) -> dict[str, Any]:
    """Read a state back; with ``game``, only if it is of that game with the same structure."""
    folder = checkpoint_folder(path)
    header = read_header(folder)
    if game is not None:
        _check_game(folder, header, game)
    if read_text(folder / COMPLETE, EARLIER, CheckpointError).strip() != _sum_of(folder):
        raise CheckpointError(f"{folder} is damaged: {EARLIER}")
    arrays = read_arrays(folder / ARRAYS, EARLIER, CheckpointError, header["arrays"])
    return {**arrays, **header["state"]}


def load_player(path: Path | str | None, game: Game, agent_id: str, needs: str) -> dict[str, Any]:
    """The state of a player of ``agent_id``, of which ``needs`` names the part that tells it."""
    if path is None:
        raise CheckpointError(
            f"{agent_id} needs a trained model: write {agent_id}:RUN, to give the folder of a run"
        )
    state = load_state(Path(path), game)
    if needs not in state:
        raise CheckpointError(
            f"{path} holds no {needs} of {agent_id}: give the folder of a run of {agent_id}"
        )
    return state


@contextmanager
def reading(path: Path | str, what: str, fix: str = TRAIN_AGAIN) -> Iterator[None]:
    """Whatever goes wrong in here is the fault of a file, and is told in one line.

    Args:
        path: the run or checkpoint.
        what: what it should hold, such as "a table of sarsa".
        fix: what to do about it.
    """
    try:
        yield
    except DamagedStateError as error:
        raise CheckpointError(f"{path} is damaged ({error}): {EARLIER}") from error
    except MasqueradeError:
        raise
    # What a wrong part of a state makes NumPy, torch and our own classes raise.
    except (
        *(AssertionError, AttributeError, IndexError, KeyError, MemoryError),
        *(OverflowError, RuntimeError, TypeError, ValueError),
    ) as error:
        reason = f"{type(error).__name__}: {one_line(error)}"
        if "CUDA" in reason or "NVIDIA" in reason:  # no fault of the file
            raise OptionError(
                f"{path} cannot be read onto the graphics card ({reason}): use --device cpu"
            ) from error
        raise CheckpointError(f"{path} does not hold {what} ({reason}): {fix}") from error


def read_header(path: Path) -> dict[str, Any]:
    """What a checkpoint says of itself: game, options, agent, settings."""
    folder = checkpoint_folder(path)
    header = read_json(folder / HEADER, EARLIER, CheckpointError)
    version = header.get("version")
    if version != VERSION:
        raise CheckpointError(
            f"{folder} is of version {version!r} and this program reads {VERSION}: train again"
        )
    kinds = {"game": str, "options": dict, "arrays": list, "state": dict}
    for name, kind in kinds.items():
        if not isinstance(header.get(name), kind):
            raise CheckpointError(f"{folder} is damaged ({HEADER} has no {name}): {EARLIER}")
    if not all(isinstance(name, str) for name in header["arrays"]):
        raise CheckpointError(f"{folder} is damaged ({HEADER} has no arrays): {EARLIER}")
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
        best = read_json(path / "best.json", "").get("player")
    except MasqueradeError:
        return found[-1]
    return next((folder for folder in found if folder.name == best), found[-1])


def _check_game(folder: Path, header: Mapping[str, Any], game: Game) -> None:
    if header["game"] != game.id:
        raise CheckpointError(f"{folder} was trained on {header['game']}, not on {game.id}")
    misfit = game.options.misfit(header["options"])
    if misfit:
        raise CheckpointError(f"{folder} was trained with {misfit}: play it with these options")


def _sum_of(folder: Path) -> str:
    try:
        return checksum(folder / name for name in (ARRAYS, HEADER))
    except OSError as error:
        name = Path(str(error.filename)).name
        raise CheckpointError(
            f"{folder} is damaged ({name}: {error.strerror}): {EARLIER}"
        ) from error
