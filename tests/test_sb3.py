"""Stable-Baselines3 models as learners and players of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.files import load_state, save_state
from agents.learner import Task
from agents.opponents import Opponents
from agents.sb3.learner import SB3Learner
from agents.sb3.player import SB3Agent
from agents.sb3.settings import SB3Settings
from arena.match import play_match
from envs import make_game
from envs.core.errors import MasqueradeError

SMALL = {"num_envs": 2, "n_steps": 32, "batch_size": 32, "hidden": [16], "learning_starts": 50}
ALGORITHMS = ["MaskablePPO", "PPO", "DQN"]


def make_learner(algorithm: str, seed: int = 0, **settings: Any) -> SB3Learner:
    game = make_game("kuhn_v0")
    opponents = Opponents([make_agent("kuhn_rule", game), "self"], seed)
    task = Task(game, seed, opponents, total=4000)
    return SB3Learner(task, SB3Settings.parse({"algorithm": algorithm, **SMALL, **settings}))


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    assert one.keys() == other.keys()
    return all(
        np.array_equal(one[name], other[name])
        if isinstance(one[name], np.ndarray)
        else one[name] == other[name]
        for name in one
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_resumed_model_learns_the_same(algorithm: str, tmp_path: Path) -> None:
    whole = make_learner(algorithm)
    whole.update(200)
    save_state(tmp_path / "state", whole.game, whole.state_dict())
    np.random.random(7)  # noqa: NPY002 - somebody else's draws do not matter
    expected = [dict(whole.update(200)), dict(whole.update(100))]
    resumed = make_learner(algorithm)
    resumed.load_state_dict(load_state(tmp_path / "state", whole.game))
    assert [dict(resumed.update(200)), dict(resumed.update(100))] == expected
    assert same(resumed.state_dict(), whole.state_dict())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_another_seed_learns_something_else(algorithm: str) -> None:
    states = []
    for seed in (0, 0, 1):
        learner = make_learner(algorithm, seed)
        learner.update(200)
        states.append(learner.state_dict())
    assert same(states[0], states[1])
    assert not same(states[0], states[2])


def test_the_player_is_an_agent_like_any_other(tmp_path: Path) -> None:
    learner = make_learner("PPO")
    learner.update(100)
    game = learner.game
    save_state(tmp_path / "state", game, learner.player_state())
    loaded = make_agent(f"sb3:{tmp_path / 'state'}", game)
    rule = make_agent("kuhn_rule", game)
    results = [
        play_match(game, [player, rule], 300, seed=5) for player in (loaded, learner.player())
    ]
    assert np.array_equal(results[0].returns, results[1].returns)
    with pytest.raises(MasqueradeError, match="sb3 needs a trained model: write sb3:RUN"):
        SB3Agent(game)


def test_a_frozen_player_does_not_change_with_its_learner() -> None:
    learner = make_learner("MaskablePPO")
    player = learner.player()
    rule = make_agent("kuhn_rule", learner.game)
    before = play_match(learner.game, [player, rule], 200, seed=1).returns
    learner.update(500)
    after = play_match(learner.game, [player, rule], 200, seed=1).returns
    assert np.array_equal(before, after)


@pytest.mark.parametrize("algorithm", ["MaskablePPO", "DQN"])
def test_a_model_learns_to_beat_the_random_player(algorithm: str) -> None:
    game = make_game("kuhn_v0")
    opponent = make_agent("random", game)
    settings = {"num_envs": 8, "n_steps": 64, "learning_rate": 3e-3, "hidden": [32]}
    settings |= {"train_freq": 2, "learning_starts": 200, "target_update_interval": 200}
    task = Task(game, 0, Opponents([opponent]), total=4000)
    parsed = SB3Settings.parse({"algorithm": algorithm, "batch_size": 128, **settings})
    learner = SB3Learner(task, parsed)
    learner.update(4000)
    player = learner.player()
    first = play_match(game, [player, opponent], 2000, seed=9).returns[:, 0]
    second = play_match(game, [opponent, player], 2000, seed=9).returns[:, 1]
    values = (first + second) / 2
    # Nobody gets more than 5/12 a game from the random player; half of it is clearly learnt.
    assert values.mean() - 2 * values.std() / np.sqrt(len(values)) > 0.2
