"""Files that are missing, cut, empty or of another kind: one line, and what was there before."""

from __future__ import annotations

import json
import os
import resource
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import evaluate
import train
from agents import make_agent
from agents.learning.files import CheckpointError, checkpoints, players
from common.errors import FileError, MasqueradeError
from common.files import read_arrays, read_json, read_yaml, write_arrays, write_json, write_text
from envs import make_game
from training.config import RunConfig
from training.metrics import Events
from training.runner import begin_run, resume_run

KUHN = make_game("kuhn_v0")
RUN: dict[str, Any] = {
    "game": {"id": "kuhn_v0"},
    "agent": {"id": "planted"},
    "train": {"steps": 100, "checkpoint_every": 20, "seed": 3},
    "eval": {"games": 2, "exploitability": False},
    "log": {"tensorboard": False},
}
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "zeros": lambda content: bytes(len(content)),
    "another encoding": lambda content: content.decode("latin-1").encode("utf-16"),
    "a list": lambda content: b"[1, 2]",
    "deep": lambda content: b"[" * 100_000,
}


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agents.LEARNERS, "planted", "tests.support.planted_learner:PlantedLearner")
    monkeypatch.setitem(agents.AGENTS, "planted", "tests.support.planted_learner:PlantedPlayer")


def damage(path: Path, how: str) -> None:
    path.write_bytes(DAMAGES[how](path.read_bytes()))


def one_line_of(capsys: pytest.CaptureFixture[str], door: str) -> str:
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith(door)]
    assert len(lines) == 1
    return lines[0]


# ---- the writer ----------------------------------------------------------------------------------


def test_a_file_is_the_old_one_until_the_new_one_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "folder" / "file.json"
    write_json(path, {"old": 1})

    def fail(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileError, match=r"No space left on device\): make room"):
        write_json(path, {"new": 2})
    assert read_json(path, "") == {"old": 1}
    assert os.listdir(path.parent) == ["file.json"]


def test_what_has_the_place_of_a_folder_gets_one_line(tmp_path: Path) -> None:
    write_text(tmp_path / "file", "in the way")
    with pytest.raises(FileError, match="cannot be written"):
        write_text(tmp_path / "file" / "below", "text")
    with pytest.raises(FileError, match="cannot be written"):
        write_text(tmp_path, "text")


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("read", [read_json, read_yaml, read_arrays])
def test_every_reader_answers_in_one_line(tmp_path: Path, how: str, read: Any) -> None:
    path = tmp_path / "file"
    if read is read_arrays:
        write_arrays(path, {"x": np.arange(1000)})
    else:
        path.write_text(json.dumps({"key": "valü" * 50}))
    damage(path, how)
    with pytest.raises(FileError) as refused:
        read(path, "take another")
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 1000


# ---- runs ----------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return begin_run(RunConfig.parse(RUN), tmp_path / "run", is_shown=False).folder


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("name", ["state.json", "state.npz"])
def test_a_damaged_last_checkpoint_falls_back_to_the_one_before(
    run: Path, name: str, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    curves = (run / "metrics.csv").read_bytes()
    before, last = checkpoints(run)
    damage(last / name, how)
    assert resume_run(run, is_shown=False).is_finished
    said = capsys.readouterr().err
    assert f"resuming from {before.name}" in said
    assert (run / "metrics.csv").read_bytes() == curves
    assert checkpoints(run)[-1] == last
    assert last.with_name(f"{last.name}.damaged").exists()


def test_without_any_whole_checkpoint_it_begins_again(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    curves = (run / "metrics.csv").read_bytes()
    for folder in checkpoints(run):
        (folder / "state.npz").unlink()
    assert resume_run(run, is_shown=False).is_finished
    assert "resuming from the beginning" in capsys.readouterr().err
    assert (run / "metrics.csv").read_bytes() == curves


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_player_is_refused_in_one_line(run: Path, how: str) -> None:
    damage(players(run)[-1] / "state.json", how)
    with pytest.raises(CheckpointError, match="take an earlier checkpoint") as refused:
        make_agent("planted", KUHN, path=str(players(run)[-1]))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("name", ["config.yaml", "best.json", "metrics.csv"])
def test_other_files_of_a_run_end_in_no_traceback(
    run: Path, name: str, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_json(run / "best.json", {"player": "x", "step": 1, "score": 0.5})
    damage(run / name, how)
    code = train.main(["--resume", str(run), "--quiet"])
    if name == "config.yaml":
        assert code == 2
        assert "config.yaml" in one_line_of(capsys, "train.py:")
    else:
        assert code in (0, 2)


def test_half_a_row_of_a_curve_is_made_again(run: Path) -> None:
    path = run / "metrics.csv"
    whole = path.read_text()
    path.write_text(whole[:-5])
    checkpoints(run)[-1].joinpath("state.json").unlink()
    assert resume_run(run, is_shown=False).is_finished
    assert path.read_text() == whole


@pytest.mark.parametrize("learner", ["sb3", "dqn", "q_learning", "cfr"])
def test_another_learners_run_is_refused_in_one_line(run: Path, learner: str) -> None:
    with pytest.raises(MasqueradeError) as refused:
        make_agent(learner, KUHN, path=str(run))
    assert "\n" not in str(refused.value)


# ---- tournaments ---------------------------------------------------------------------------------


@pytest.fixture
def played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Path]:
    folder = tmp_path / "played"
    assert evaluate.main(match(folder)) == 0
    capsys.readouterr()
    return folder


def match(folder: Path, *words: str) -> list[str]:
    base = ["match", "kuhn_v0", "random", "kuhn_rule", "--games", "20", "--out", str(folder)]
    return [*base, *words]


@pytest.mark.parametrize("how", DAMAGES)
def test_damaged_units_are_played_again(played: Path, how: str) -> None:
    summary = (played / "summary.json").read_bytes()
    for unit in (played / "units").iterdir():
        damage(unit, how)
    assert evaluate.main(match(played, "--resume")) == 0
    assert (played / "summary.json").read_bytes() == summary


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("name", ["tournament.json", "summary.json", "seed"])
def test_other_files_of_a_tournament_get_one_line(
    played: Path, name: str, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(played / name, how)
    if name != "seed":
        assert evaluate.main(["report", str(played)]) == 2
        assert name in one_line_of(capsys, "evaluate.py:") or name == "tournament.json"
    code = evaluate.main(match(played, "--resume"))
    is_whole = name == "summary.json" or (name, how) == ("seed", "cut")  # which is "0" as well
    assert code == (0 if is_whole else 2)


def test_a_player_that_was_trained_anew_is_not_mixed_with_the_old_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = RunConfig.parse(RUN)
    run = begin_run(config, tmp_path / "run", is_shown=False).folder
    words = ["match", "kuhn_v0", "random", f"planted:{run}", "--games", "20"]
    words += ["--out", str(tmp_path / "played")]
    assert evaluate.main(words) == 0
    assert evaluate.main([*words, "--resume"]) == 0
    other = RunConfig.parse({**RUN, "train": {**RUN["train"], "seed": 4}})
    run.rename(tmp_path / "old")
    begin_run(other, run, is_shown=False)
    capsys.readouterr()
    assert evaluate.main([*words, "--resume"]) == 2
    assert "its files have changed" in one_line_of(capsys, "evaluate.py:")


def test_another_tournament_gets_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for others in (["kuhn_rule"], ["other=random"], ["kuhn_rule", "other=random"]):
        assert evaluate.main(["tournament", "kuhn_v0", "random", *others, "--games", "4"]) == 0
    assert len(list((tmp_path / "runs" / "tournaments").iterdir())) == 3


def test_a_full_disk_is_heard_where_event_files_are_written(tmp_path: Path) -> None:
    """By whoever trains, who says so in one line, and not by a thread that prints a traceback."""
    num_threads = threading.active_count()
    events = Events(tmp_path)
    events.add(1, {"x": 1.0})
    assert threading.active_count() == num_threads
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
        with pytest.raises(OSError, match="too large"):
            events.add(2, {"x": 1.0})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
        events.close()
