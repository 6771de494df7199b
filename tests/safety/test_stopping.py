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
from common.errors import MasqueradeError
from envs.core.rollouts import FAULTS
from training.runner import is_finished

pytestmark = pytest.mark.alone

ROOT = Path(__file__).resolve().parents[2]
CONFIG = """\
game: {id: kuhn_v0, params: {num_players: 3}}
agent: {id: q_learning}
train: {steps: 900_000_000, log_every: 1000, eval_every: 900_000_000, checkpoint_every: 900_000_000}
eval: {games: 2, exploitability: false}
log: {tensorboard: false}
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_while_runs_are_trained_plays_nobody(tmp_path: Path, workers: int) -> None:
    """Also if only the tournament hears of it, not the runs that it trains side by side."""
    (tmp_path / "configs" / "kuhn").mkdir(parents=True)
    (tmp_path / "configs" / "kuhn" / "slow.yaml").write_text(CONFIG)
    runs = [f"runs/kuhn_v0/slow-seed{seed}" for seed in range(3)]
    words = [
        *("match", "kuhn_v0"),
        *(f"a{number}=q_learning:{run}" for number, run in enumerate(runs)),
        *("--option", "num_players=3", "--games", "6", "--workers", str(workers)),
    ]
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "evaluate.py"), *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that runs the tests in the background lets them ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    begun = [tmp_path / run / "metrics.csv" for run in runs[:workers]]
    while not all(path.exists() and len(path.read_text().splitlines()) > 2 for path in begun):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
        assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert errors.splitlines()[-1] == "stopped; the same command goes on"
    assert not (tmp_path / "runs" / "tournaments").exists(), "nobody has played"
    for run in runs[:workers]:
        assert checkpoints(tmp_path / run), "what was learnt is kept"
        assert not is_finished(tmp_path / run)
    assert not (tmp_path / runs[-1]).exists(), "no other run is begun"
    assert said == ""


def test_an_error_of_ours_comes_back_with_its_traceback(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Only bad input gets one line: a fault of this program must be seen as one, where it is."""
    import evaluate
    from masquerade import commands

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(commands, "run_tournament", broken)
    with pytest.raises(RuntimeError, match="a fault of ours") as raised:
        evaluate.main(["match", "kuhn_v0", "random", "kuhn_rule", "--games", "4"])
    assert raised.traceback[-1].name == "broken"
    assert not issubclass(RuntimeError, MasqueradeError)
    assert KeyboardInterrupt not in FAULTS
