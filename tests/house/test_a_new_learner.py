"""A new learner is one folder and one line: everything else finds it by itself.

The line is put into ``agents/__init__.py`` as a process reads it, so that nothing else is changed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agents.learning.learner import Task
from envs import make_game
from tests.support.reinforce.learner import Reinforce, ReinforceSettings

PROJECT = Path(__file__).resolve().parents[2]
TABLE = "TRAINED: dict[str, tuple[str, str]] = {\n"
PLACE = "tests.support.reinforce.learner"
LINE = f'    "reinforce": ("{PLACE}:Reinforce", "{PLACE}:ReinforcePlayer"),\n'
START = f"""
import importlib.util, runpy, sys
spec = importlib.util.find_spec("agents")
text = open(spec.origin).read()
assert {TABLE!r} in text
module = sys.modules["agents"] = importlib.util.module_from_spec(spec)
exec(text.replace({TABLE!r}, {TABLE + LINE!r}), module.__dict__)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
CONFIG = """
game: {id: kuhn_v0}
agent: {id: reinforce, params: {hidden: [32]}}
train: {steps: 12_000, opponents: [random], checkpoint_every: 4_000, eval_every: 12_000}
eval: {games: 500, opponents: [random]}
"""


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", START, *map(str, words)]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("learner")
    (folder / "own.yaml").write_text(CONFIG)
    done = run("train.py", "--config", folder / "own.yaml", "--out", folder / "run")
    assert done.returncode == 0, done.stderr
    return folder / "run"


def test_train_lists_it() -> None:
    assert "reinforce: Learns a policy from whole games" in run("train.py", "--list").stdout


def test_it_learns(trained: Path) -> None:
    rows = (trained / "metrics.csv").read_text().splitlines()
    names = rows[0].split(",")
    returns = [float(row.split(",")[names.index("charts/return")]) for row in rows[1:]]
    # The best answer to a random player wins 11/24 a game. 12,000 decisions are some 8,000 games,
    # the last of the parts alone has a standard error below 0.04.
    assert returns[-1] > 0.25


def test_it_goes_on_where_it_stopped() -> None:
    task, settings = Task(make_game("kuhn_v0"), seed=5), ReinforceSettings(hidden=(8,), num_envs=4)
    whole, half = Reinforce(task, settings), Reinforce(task, settings)
    half.update(300)
    rest = Reinforce(task, settings)
    rest.load_state_dict(half.state_dict())
    assert [whole.update(300), whole.update(300)][1] == rest.update(300)
    for name, value in whole.state_dict().items():
        np.testing.assert_array_equal(value, rest.state_dict()[name])


def test_it_is_told_what_it_does_not_know(trained: Path) -> None:
    words = (
        "train.py",
        "--config",
        trained.parent / "own.yaml",
        "--set",
        "agent.params.learning_rat=1",
    )
    assert "did you mean 'learning_rate'" in run(*words).stderr


def test_it_plays_in_a_tournament(trained: Path, tmp_path: Path) -> None:
    words = "match", "kuhn_v0", f"reinforce:{trained}", "random", "--games", "400", "--seed", "1"
    done = run("evaluate.py", *words, "--out", tmp_path / "t")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "t" / "tournament.json").read_text())
