"""Sampling solvers as runs of ``train.py``: curves, players, full tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import train
from agents import make_agent
from agents.cfr.learner import MCCFRLearner, MCCFRSettings
from agents.cfr.mccfr import SamplingSolver
from agents.cfr.tree import GameTree
from agents.learning.files import load_state, save_state
from agents.learning.learner import Task
from agents.policy import Policy, PolicyAgent
from common.errors import MasqueradeError
from envs import make_game
from envs.core.game import Game

LEDUC = make_game("leduc_v0")


def learner_of(game: Game, seed: int = 0, **settings: Any) -> MCCFRLearner:
    return MCCFRLearner(Task(game, seed), MCCFRSettings(**{"max_infosets": 1000, **settings}))


def test_stopping_and_going_on_changes_no_bit(tmp_path: Path) -> None:
    whole, first, second = (learner_of(LEDUC, seed=3) for _ in range(3))
    whole.update(70)
    values = whole.update(50)
    first.update(70)
    save_state(tmp_path / "step_70", LEDUC, first.state_dict())
    second.load_state_dict(load_state(tmp_path / "step_70", LEDUC))
    assert second.num_steps == 70
    assert second.update(50) == values
    for name, value in whole.state_dict().items():
        np.testing.assert_array_equal(second.state_dict()[name], value, err_msg=name)


def test_the_seed_of_the_run_is_that_of_the_solver() -> None:
    learner, solver = learner_of(LEDUC, seed=5), SamplingSolver(LEDUC, 5, max_infosets=1000)
    learner.update(100)
    solver.run(100)
    np.testing.assert_array_equal(learner.state_dict()["regrets"], solver.state_dict()["regrets"])


def test_curves_have_exploitability_where_the_game_is_small() -> None:
    values = learner_of(LEDUC).update(100)
    assert values.keys() == {"charts/infosets", "charts/exploitability"}
    assert learner_of(LEDUC, max_nodes=9_000).update(100).keys() == {"charts/infosets"}
    assert learner_of(LEDUC, max_nodes=0).player().table.exploitability is None
    frozen = learner_of(LEDUC, max_infosets=50, when_full="freeze").update(100)
    assert frozen["charts/infosets"] == 50.0
    assert frozen["charts/left_out"] > 0.0


def test_memory_is_told_before_the_start(capsys: pytest.CaptureFixture[str]) -> None:
    learner_of(LEDUC)
    assert "1,000 information sets takes 92.8 kB" in capsys.readouterr().err


def test_a_run_can_be_played_as_an_agent(tmp_path: Path) -> None:
    settings = ["train.steps=400", "eval.games=20", "log.tensorboard=false", "train.seed=2"]
    arguments = [part for text in settings for part in ("--set", text)]
    run = tmp_path / "run"
    config = ["--config", "configs/leduc/mccfr_vr.yaml", "--quiet"]
    assert train.main([*config, *arguments, "--out", str(run)]) == 0
    for agent_id in ("cfr", "mccfr"):
        agent = make_agent(f"{agent_id}:{run}", LEDUC)
        assert isinstance(agent, PolicyAgent)
        assert agent.table.notes["baselines"] == "history"
    last = Policy.load(run / "players" / "step_000000000400", LEDUC)
    solver = SamplingSolver(
        LEDUC, 2, sampling="outcome", baselines="history", max_infosets=1000, max_histories=4000
    )
    for _ in range(100):
        solver.run(4)
    assert last.exploitability == pytest.approx(solver.exploitability(GameTree(LEDUC)), abs=1e-12)


def test_a_run_whose_table_is_full_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    too_small = ["--set", "agent.params.max_infosets=50", "--set", "train.steps=400"]
    config = ["--config", "configs/leduc/mccfr_external.yaml", "--out", str(tmp_path / "run")]
    assert train.main([*config, *too_small, "--quiet"]) == 2
    told = capsys.readouterr().err
    assert "raise max_infosets or max_entries, or set when_full to freeze" in told
    assert "Traceback" not in told


def test_every_player_of_a_large_game_is_a_policy() -> None:
    game = make_game("liars_dice_v0", num_players=3)
    learner = learner_of(
        game, sampling="outcome", max_infosets=5_000, max_entries=200_000, when_full="freeze"
    )
    values = learner.update(20)
    assert "charts/exploitability" not in values
    assert len(learner.player().table) == values["charts/infosets"] > 100


def test_a_learner_refuses_a_state_of_another_game() -> None:
    state = learner_of(make_game("kuhn_v0")).state_dict()
    with pytest.raises(MasqueradeError, match="game 'kuhn_v0'"):
        learner_of(LEDUC).load_state_dict(state)
