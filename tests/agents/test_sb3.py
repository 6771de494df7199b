"""Stable-Baselines3 models as learners and players of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.base import Actions, Agent, Views
from agents.learning.files import load_state, save_state
from agents.learning.learner import Opponents, Task
from agents.sb3.learner import SB3Learner
from agents.sb3.player import SB3Agent, SB3Settings
from agents.sb3.vec_env import SeatVecEnv, TrainingVecEnv
from arena.match import play_match
from common.errors import MasqueradeError
from envs import make_game
from envs.adapters.vector import SeatVectorEnv
from envs.core.batch import random_actions
from envs.core.game import Game
from envs.core.rng import new_rng, stream
from tests.support.sampling import IS_FULL

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


@pytest.mark.parametrize("algorithm", ALGORITHMS if IS_FULL else ALGORITHMS[:1])
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


def make_env(game: Game, opponent: Agent | str, size: int = 16) -> TrainingVecEnv:
    env = TrainingVecEnv(Task(game, 3, Opponents([opponent])), size)
    env.games.play_as(Counting(game))
    return env


def test_opponents_answer_for_all_games_in_one_call() -> None:
    game = make_game("leduc_v0")
    for entry in (Counting(game), "self"):
        env = make_env(game, entry, 64)
        env.reset()
        asked = entry if isinstance(entry, Counting) else env.games.rollouts.players[0]
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


# ---- outside train.py ----------------------------------------------------------------------------


def play_at_random(env: Any, num_steps: int = 30) -> list[Any]:
    """What a random model sees of its games."""
    observations, draws, seen = env.reset(), np.random.default_rng(0), []
    for _ in range(num_steps):
        scores = draws.random(env.action_masks().shape) * env.action_masks()
        seen.append((observations, *env.step(scores.argmax(axis=1))[1:3]))
        observations = env._look()
    return seen


def test_it_plays_the_games_of_the_vector_environment() -> None:
    game = make_game("leduc_v0")
    rule = make_agent("leduc_rule", game)
    ours = SeatVecEnv(game, 8, "rotate", rule)
    ours.seed(5)
    theirs = SeatVectorEnv(game, 8, "rotate", rule)
    observations, infos = theirs.reset(seed=5)
    draws = np.random.default_rng(0)
    assert np.array_equal(ours.reset(), observations)
    num_ended = 0
    for _ in range(50):
        masks = ours.action_masks()
        assert np.array_equal(masks, infos["action_mask"])
        actions = (draws.random(masks.shape) * masks).argmax(axis=1)
        observations, rewards, terminated, _, infos = theirs.step(actions)
        seen, paid, is_over, told = ours.step(actions)
        assert np.array_equal(seen, observations)
        assert np.allclose(paid, rewards)
        assert np.array_equal(is_over, terminated)
        for row in np.flatnonzero(is_over):
            assert np.array_equal(told[row]["terminal_observation"], infos["final_obs"][row])
        num_ended += int(is_over.sum())
    assert num_ended > 50


def test_a_seed_gives_the_same_games_again_and_a_reset_others() -> None:
    env = SeatVecEnv(make_game("kuhn_v0"), 4)
    runs = []
    for seed in (1, 1, None):
        if seed is not None:
            env.seed(seed)
        runs.append([part for step in play_at_random(env) for part in step])
    first, again, other = runs
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize("name", ["MaskablePPO", "A2C"] if IS_FULL else ["A2C"])
def test_algorithms_of_the_library_learn_in_it(name: str) -> None:
    import sb3_contrib
    import stable_baselines3

    game = make_game("kuhn_v0")
    env = SeatVecEnv(game, 8, opponents=make_agent("random", game))
    algorithm = getattr(sb3_contrib if name == "MaskablePPO" else stable_baselines3, name)
    batches = {"batch_size": 64} if name == "MaskablePPO" else {}
    model = algorithm(
        "MlpPolicy", env, n_steps=16, learning_rate=3e-3, seed=0, device="cpu", **batches
    )
    model.learn(12_000)
    recent = [episode["r"] for episode in model.ep_info_buffer]
    # Nobody gets more than 5/12 a game from the random player, and random play gets 0.
    assert np.mean(recent) > 0.1
    assert {episode["l"] for episode in model.ep_info_buffer} <= {1, 2}


def test_a_model_for_one_seat_sits_there_alone() -> None:
    env = SeatVecEnv(make_game("kuhn_v0"), 8, seat=1)
    env.reset()
    for _ in range(20):
        assert (env.games.seats == 1).all()
        assert (env.games.batch.turns == 1).all()
        env.step(np.ones(8, np.int64))
