"""Arrays of a stranger's checkpoint: of another shape or kind, or out of range, they are refused.

Whoever makes a file makes its checksum too. Compiled code checks no bounds, so each of these would
crash the interpreter, hang it, or be played without a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.learning.files import (
    ARRAYS,
    COMPLETE,
    CheckpointError,
    _sum_of,
    checkpoints,
    load_state,
    players,
    reading,
)
from common.saved import DamagedStateError
from envs import make_game
from envs.core.batch import Batch, random_actions
from envs.core.rng import stream
from training.config import RunConfig
from training.run_folder import RunFolder
from training.runner import begin_run, make_learner, resume_run

RUNS: dict[str, tuple[str, dict[str, Any], int]] = {
    "q_learning": ("kuhn_v0", {}, 40),
    "double_q": ("kuhn_v0", {}, 40),
    "cfr": ("kuhn_v0", {"threads": 1}, 20),
    "mccfr": ("kuhn_v0", {"threads": 1, "max_infosets": 100}, 200),
    "dqn": ("leduc_v0", {"hidden": [8], "num_envs": 4, "replay_size": 200, "learn_start": 8}, 60),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    made = {}
    for agent, (game, params, steps) in RUNS.items():
        content = {
            "game": {"id": game},
            "agent": {"id": agent, "params": params},
            "train": {"steps": steps, "checkpoint_every": steps // 2},
            "eval": {"games": 2, "exploitability": False},
            "log": {"tensorboard": False},
        }
        made[agent] = begin_run(RunConfig.parse(content), folder / agent, is_shown=False).folder
    return made


def changed(array: np.ndarray) -> Iterator[np.ndarray]:
    """The same array as it must not be."""
    yield np.array(7.0)
    yield np.array("text")
    yield array[..., None]
    if array.ndim and array.size:
        yield np.concatenate([array, array])
        yield array[: len(array) // 2]
    if array.size and array.dtype.kind == "f":
        yield np.full_like(array, np.nan)
        yield np.full_like(array, np.inf)
        yield array.astype(np.complex128)


# Numbers that have the right kind and lead out of an array, or nowhere.
OUT_OF_RANGE = {
    "q_learning": {"visits": -1, "keys": 5},
    "mccfr": {"sizes": 3, "actions": 10**6, "keys": 9},
    "dqn": {
        "replay.actions": 99,
        "replay.num_added": -5,
        "games.seating": 7,
        "games.seats": 9,
        "games.batch.states": 255,
        "games.batch.turns": 1000,
        "games.batch.lengths": 10**6,
        "games.batch.histories": -9,
        "games.experience.num_waiting": 10**9,
        "games.experience.actions": -1,
    },
}


def forge(folder: Path, name: str, value: np.ndarray) -> dict[str, np.ndarray]:
    """Put another array into a checkpoint, with a checksum that fits; what was there before."""
    with np.load(folder / ARRAYS) as file:
        arrays = {key: file[key] for key in file.files}
    np.savez(folder / ARRAYS, **{**arrays, name: value})
    (folder / COMPLETE).write_text(_sum_of(folder))
    return arrays


def mend(folder: Path, arrays: dict[str, np.ndarray]) -> None:
    np.savez(folder / ARRAYS, **arrays)
    (folder / COMPLETE).write_text(_sum_of(folder))


@pytest.mark.parametrize("agent", RUNS)
def test_no_array_of_a_player_is_believed(runs: dict[str, Path], agent: str) -> None:
    folder, game = players(runs[agent])[-1], make_game(RUNS[agent][0])
    with np.load(folder / ARRAYS) as file:
        names = [name for name in file.files if file[name].size]
    for name in names:
        with np.load(folder / ARRAYS) as file:
            whole = file[name]
        for value in changed(whole):
            arrays = forge(folder, name, value)
            with pytest.raises((CheckpointError, ValueError), match="is damaged") as refused:
                make_agent(agent, game, path=str(folder))
            assert "\n" not in str(refused.value)
            mend(folder, arrays)
    assert make_agent(agent, game, path=str(folder))


@pytest.mark.parametrize("agent", RUNS)
def test_no_array_of_a_learner_is_believed(runs: dict[str, Path], agent: str) -> None:
    last = checkpoints(runs[agent])[-1]
    _, config = RunFolder.open(runs[agent])
    state, game, num_refused = load_state(last), config.build_game(), 0
    arrays = {name: part for name, part in state.items() if isinstance(part, np.ndarray)}
    for name, array in arrays.items():
        values = list(changed(array)) if array.size else []
        if name == "spans":  # of a walk that has seen no end yet they are infinite
            values = [value for value in values if value.dtype != array.dtype]
        if name in OUT_OF_RANGE.get(agent, {}):
            values.append(np.full_like(array, OUT_OF_RANGE[agent][name]))
        for value in values:
            learner = make_learner(config, game)
            try:
                with reading(last, "a memory"):
                    learner.load_state_dict({**state, name: value})
            except CheckpointError as error:
                assert "\n" not in str(error), name  # noqa: PT017, the name is told
                num_refused += 1
            else:
                pytest.fail(f"{name} was believed: {value.dtype} {value.shape}")
    assert num_refused > 8


def test_resume_takes_the_checkpoint_before_a_forged_one(
    runs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    run = runs["mccfr"]
    before, last = checkpoints(run)
    forge(last, "sizes", np.full(3, 10**9))
    assert resume_run(run, is_shown=False).is_finished
    said = capsys.readouterr().err
    assert "sizes must be int64" in said
    assert f"resuming from {before.name}" in said
    assert checkpoints(run)[-1] == last  # trained again


def test_games_of_a_file_are_played_again_and_must_come_to_the_same() -> None:
    game = make_game("leduc_v0")

    def batch() -> Batch:
        return Batch(game, 4, stream(0, "chance"), stream(0, "choice"), has_record=True)

    played, rows = batch(), np.arange(4)
    played.begin(rows, rows)
    views = played.views(rows)
    played.step(rows, random_actions(views.masks, views.rngs))
    state = played.state_dict()
    again = batch()
    again.load_state_dict(state)
    np.testing.assert_array_equal(again._states, played._states)
    for name, value in (("states", 255), ("turns", 0), ("totals", 99.0), ("keys", 3)):
        forged = {**state, name: np.full_like(state[name], value)}
        with pytest.raises(DamagedStateError, match="row"):
            batch().load_state_dict(forged)
    forged = {**state, "histories": np.full_like(state["histories"], 10**6)}
    with pytest.raises(DamagedStateError, match="breaks the rules"):
        batch().load_state_dict(forged)
