"""Ctrl-C while a tournament trains its runs: it stops, says how to go on, and loses nothing."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agents.learning.files import checkpoints
from envs.core.errors import MasqueradeError
from envs.core.rollouts import FAULTS
from training import missing

ROOT = Path(__file__).resolve().parents[2]
RUN = "runs/kuhn_v0/slow-seed0"
CONFIG = """\
game: {id: kuhn_v0}
agent: {id: q_learning}
train: {steps: 900_000_000, log_every: 1000, eval_every: 900_000_000, checkpoint_every: 900_000_000}
eval: {games: 2, exploitability: false}
log: {tensorboard: false}
"""


def test_ctrl_c_while_runs_are_trained_plays_nobody(tmp_path: Path) -> None:
    (tmp_path / "configs" / "kuhn").mkdir(parents=True)
    (tmp_path / "configs" / "kuhn" / "slow.yaml").write_text(CONFIG)
    words = [
        "match",
        "kuhn_v0",
        "random",
        f"q_learning:{RUN}",
        "other=q_learning:runs/kuhn_v0/x-seed1",
    ]
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "evaluate.py"), *words, "--games", "4"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    metrics = tmp_path / RUN / "metrics.csv"
    while not (metrics.exists() and len(metrics.read_text().splitlines()) > 2):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
        assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert "go on with the same command" in errors.splitlines()[-1]
    assert not (tmp_path / "runs" / "tournaments").exists(), "nobody has played"
    assert checkpoints(tmp_path / RUN), "what was learnt is kept"
    assert not missing.is_finished(tmp_path / RUN)
    assert said == ""


def test_an_error_of_ours_comes_back_with_its_traceback(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Only bad input gets one line: a fault of this program must be seen as one, where it is."""
    import evaluate
    from arena import commands

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(commands, "run_tournament", broken)
    with pytest.raises(RuntimeError, match="a fault of ours") as raised:
        evaluate.main(["match", "kuhn_v0", "random", "kuhn_rule", "--games", "4"])
    assert raised.traceback[-1].name == "broken"
    assert not issubclass(RuntimeError, MasqueradeError)
    assert KeyboardInterrupt not in FAULTS
