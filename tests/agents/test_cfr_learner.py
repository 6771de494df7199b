"""CFR as a run of ``train.py``: stopped, kept, played, and refused where it must be."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.cfr.learner import CFRLearner, CFRSettings, MCCFRLearner, MCCFRSettings
from agents.cfr.solver import CFRSolver, VectorCFRSolver, make_solver
from agents.learning.files import CheckpointError, load_state, save_state
from agents.learning.learner import Task
from agents.policy import Policy, PolicyAgent, PolicyError
from common.errors import MasqueradeError, OptionError
from envs import make_game
from envs.core.game import Game
from tests.support.broken_games import Guess
from training.config import RunConfig
from training.runner import begin_run, resume_run

LEDUC = make_game("leduc_v0")


def learner_of(game: Game, **settings: Any) -> CFRLearner:
    return CFRLearner(Task(game), CFRSettings(**settings))


def test_stopping_and_going_on_changes_no_bit(tmp_path: Path) -> None:
    whole, first, second = (learner_of(LEDUC) for _ in range(3))
    whole.update(7)
    whole.update(5)
    first.update(7)
    save_state(tmp_path / "step_7", LEDUC, first.state_dict())
    second.load_state_dict(load_state(tmp_path / "step_7", LEDUC))
    assert second.num_steps == 7
    assert second.update(5) == {"charts/exploitability": whole.solver.exploitability()}
    for name, value in whole.state_dict().items():
        np.testing.assert_array_equal(second.state_dict()[name], value)


def test_a_run_can_be_played_as_an_agent(tmp_path: Path) -> None:
    config = RunConfig.parse(
        {
            "game": {"id": "leduc_v0"},
            "agent": {"id": "cfr", "params": {"variant": "cfr+"}},
            "train": {"steps": 60, "checkpoint_every": 20},
            "eval": {"games": 100, "opponents": ["random"]},
            "log": {"tensorboard": False},
        }
    )
    outcome = begin_run(config, tmp_path / "run", is_shown=False)
    assert outcome.is_finished
    agent = make_agent(f"cfr:{tmp_path / 'run'}", LEDUC)
    assert isinstance(agent, PolicyAgent)
    assert agent.table.notes["variant"] == "cfr+"
    last = Policy.load(tmp_path / "run" / "players" / "step_000000000060", LEDUC)
    solver = VectorCFRSolver.of(LEDUC, "cfr+")
    solver.run(60)
    assert last.exploitability == pytest.approx(solver.exploitability(), abs=1e-12)
    assert resume_run(tmp_path / "run", is_shown=False).num_steps == 60


def test_folders_without_a_policy_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="holds no checkpoint"):
        PolicyAgent(LEDUC, path=tmp_path)
    state = learner_of(LEDUC).player_state()
    save_state(tmp_path / "other", LEDUC, {"weights": np.zeros(3)})
    with pytest.raises(PolicyError, match="give the folder of a run of cfr"):
        PolicyAgent(LEDUC, path=tmp_path / "other")
    save_state(tmp_path / "old", LEDUC, {**state, "encoding": [0, "abc"]})
    with pytest.raises(PolicyError, match="older version"):
        PolicyAgent(LEDUC, path=tmp_path / "old")
    save_state(tmp_path / "kuhn", LEDUC, state)
    with pytest.raises(CheckpointError, match="leduc_v0, not on kuhn_v0"):
        PolicyAgent(make_game("kuhn_v0"), path=tmp_path / "kuhn")


def test_the_code_in_the_documentation_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "solving.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    for code in blocks:
        exec(compile(code, "documentation", "exec"), {})
    assert len(Policy.load(tmp_path / "runs" / "leduc.npz", LEDUC)) == 936


def test_form_follows_the_game_unless_it_is_chosen() -> None:
    assert isinstance(make_solver(LEDUC), VectorCFRSolver)
    assert isinstance(make_solver(LEDUC, form="tree"), CFRSolver)
    assert isinstance(make_solver(make_game("kuhn_v0", num_players=3)), CFRSolver)
    assert isinstance(make_solver(Guess()), CFRSolver)  # a move is hidden from the other player
    with pytest.raises(MasqueradeError, match="use CFRSolver"):
        make_solver(Guess(), form="public")
    with pytest.raises(OptionError, match="did you mean 'public'"):
        make_solver(LEDUC, form="publik")


def test_settings_reach_the_solver() -> None:
    learner = learner_of(
        LEDUC, variant="cfr", form="tree", is_alternating=False, delay=3, max_nodes=10_000
    )
    assert isinstance(learner.solver, CFRSolver)
    assert not learner.solver.variant.is_alternating
    assert learner.solver.variant.delay == 3
    with pytest.raises(MasqueradeError, match="more than 9,000 nodes"):
        learner_of(LEDUC, max_nodes=9_000)


def test_no_equilibrium_is_promised_to_three(capsys: pytest.CaptureFixture[str]) -> None:
    learner_of(make_game("kuhn_v0"))
    assert capsys.readouterr().err == ""
    learner_of(make_game("kuhn_v0", num_players=3))
    assert "CFR need not come to an equilibrium" in capsys.readouterr().err


def test_a_game_that_is_too_large_is_refused_with_what_learns_it() -> None:
    with pytest.raises(MasqueradeError, match="are learnt by dqn, by q_lambda, and by mccfr with"):
        CFRLearner(Task(make_game("kuhn_v0")), CFRSettings(max_nodes=9))
    walks = MCCFRLearner(Task(make_game("kuhn_v0")), MCCFRSettings(max_infosets=4))
    with pytest.raises(MasqueradeError, match="when_full to freeze and sampling to outcome"):
        walks.update(1000)
    settings = MCCFRSettings(sampling="outcome", when_full="freeze", max_infosets=50, max_nodes=0)
    games = MCCFRLearner(Task(make_game("no_thanks_v0")), settings)
    games.update(100)
    assert games.num_steps == 100
    assert games.solver.num_left_out > 0
