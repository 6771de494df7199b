"""Stable-Baselines3 models as learners and players of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.base import Actions, Agent, Views
from agents.learning.files import load_state, save_state
from agents.learning.learner import Task
from agents.learning.opponents import Opponents
from agents.sb3.env import SchoolVecEnv
from agents.sb3.learner import SB3Learner
from agents.sb3.player import SB3Agent
from agents.sb3.settings import SB3Settings
from arena.playing.match import play_match
from envs import make_game
from envs.core.batch import random_actions
from envs.core.errors import MasqueradeError
from envs.core.game import Game
from envs.core.rng import new_rng, stream

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


@pytest.mark.parametrize("algorithm", ["PPO", "MaskablePPO"])
def test_a_new_policy_has_almost_the_largest_entropy(algorithm: str) -> None:
    curves = make_learner(algorithm).update(100)
    largest = np.log(2)  # two actions, both always legal
    assert 0.9 * largest < curves["charts/entropy"] <= largest
    assert "charts/exploration" not in curves


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


class Counting(Agent):
    """Notes how many rows it was asked for at once."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.sizes: list[int] = []

    def act(self, views: Views) -> Actions:
        self.sizes.append(len(views))
        return random_actions(views.masks, views.rngs)


def make_env(game: Game, opponent: Agent | str, size: int = 16) -> SchoolVecEnv:
    env = SchoolVecEnv(Task(game, 3, Opponents([opponent])), size)
    env.games.myself = Counting(game)
    return env


def test_opponents_answer_for_all_games_in_one_call() -> None:
    game = make_game("leduc_v0")
    for entry in (Counting(game), "self"):
        env = make_env(game, entry, 64)
        env.reset()
        asked = entry if isinstance(entry, Counting) else env.games.myself
        assert isinstance(asked, Counting)
        assert asked.sizes[0] == 32  # those games in which it opens


def test_rewards_of_a_game_add_up_to_its_return() -> None:
    game = make_game("liars_dice_v0", dice=1)
    env = make_env(game, "self")
    rng = new_rng(0)
    env.reset()
    paid, num_decisions, num_ended = np.zeros(16), np.zeros(16), 0
    for _ in range(60):
        masks = env.action_masks()
        assert masks.any(axis=1).all()
        actions = random_actions(masks.astype(np.int8), np.tile(rng, (16, 1)))
        rng = stream(int(rng[0] >> 1), "next")
        _, rewards, is_over, infos = env.step(actions)
        paid += rewards
        num_decisions += 1
        for row in np.flatnonzero(is_over):
            episode = infos[row]["episode"]
            assert episode["r"] == pytest.approx(paid[row])
            assert abs(paid[row]) == 1.0
            assert episode["l"] == num_decisions[row]
            assert infos[row]["terminal_observation"].shape == (game.observation_size,)
            num_ended += 1
        paid[is_over] = num_decisions[is_over] = 0.0
    assert num_ended > 16
    log = env.take_log()
    assert abs(log["charts/return"]) < 1.0
    assert log["charts/length"] >= 2.0
    assert env.take_log() == {}


def test_an_illegal_action_is_no_way_out_of_a_lost_game() -> None:
    game = make_game("leduc_v0")
    env = make_env(game, "self")
    env.reset()
    is_fold_legal = env.action_masks()[:, 0]
    _, rewards, is_over, _ = env.step(np.zeros(16, np.int64))
    assert is_fold_legal.any()
    assert not is_fold_legal.all()
    assert is_over.all()
    assert (rewards[~is_fold_legal] == game.facts.min_return).all()
    assert (rewards[is_fold_legal] > game.facts.min_return).all()
    assert env.action_masks().any(axis=1).all()  # the next games have begun


def test_the_library_finds_the_masks() -> None:
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

    env = make_env(make_game("leduc_v0"), "self")
    env.reset()
    assert is_masking_supported(env)
    assert np.array_equal(get_action_masks(env), env.action_masks())
    with pytest.raises(AttributeError):
        env.env_method("render")
