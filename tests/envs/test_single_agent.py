"""The Gymnasium face: its own checker, masks for MaskablePPO, and the loser's reward."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import envs.adapters  # noqa: F401  (enters the games in Gymnasium's registry)
from agents import make_agent
from agents.base import Agent, Views
from common.errors import IllegalActionError, MasqueradeError, OptionError
from envs import GAMES, gymnasium_id, make_game
from envs.adapters import SingleAgentEnv
from envs.adapters.rendering import RENDER_MODES
from envs.core.game import Game
from tests.support.option_sets import every_option_set


class Chooser(Agent):
    """Always plays the lowest (or highest) legal action."""

    def __init__(self, game: Game, is_high: bool) -> None:
        super().__init__(game)
        self.is_high = is_high

    def act(self, views: Views) -> Any:
        masks = views.masks
        highest = masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
        return highest if self.is_high else masks.argmax(axis=1)


@every_option_set
def test_gymnasium_check_env_passes_without_warnings(game: Game) -> None:
    check_env(SingleAgentEnv(game, seat="rotate"), skip_render_check=True)


@pytest.mark.parametrize("game_id", GAMES)
def test_registered_environments_pass_the_checker_with_every_render_mode(game_id: str) -> None:
    for mode in (None, *RENDER_MODES):
        env = gymnasium.make(gymnasium_id(game_id), render_mode=mode)
        check_env(env.unwrapped)


def test_the_loser_sees_the_loss_after_its_last_move() -> None:
    # The learner always bids as low as it can; the opponent calls whenever it can, and one of them
    # loses the round.
    game = make_game("liars_dice_v0", preset="openspiel")
    env = SingleAgentEnv(game, seat=0, opponents=Chooser(game, is_high=True))
    outcomes = set()
    for seed in range(30):
        _, info = env.reset(seed=seed)
        _, reward, terminated, truncated, _ = env.step(int(info["action_mask"].argmax()))
        assert terminated
        assert not truncated
        outcomes.add(reward)
    assert outcomes == {-1.0, 1.0}


@every_option_set
def test_the_rewards_of_a_game_add_up_to_the_learners_return(game: Game) -> None:
    env = SingleAgentEnv(game, seat="rotate")
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    for _ in range(15):
        _, info = env.reset()
        total, terminated = 0.0, False
        while not terminated:
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            _, reward, terminated, _, info = env.step(action)
            total += reward
        assert total == pytest.approx(env._games.batch.totals[0, info["seat"]])


def test_a_learner_who_is_out_gets_its_reward_when_the_others_have_finished() -> None:
    game = make_game("liars_dice_v0", num_players=3, dice=1, rewards="winner")
    env = SingleAgentEnv(game, seat=0)
    rng = np.random.default_rng(0)
    ends = []
    for seed in range(40):
        _, info = env.reset(seed=seed)
        total, terminated = 0.0, False
        while not terminated:
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            _, reward, terminated, _, info = env.step(action)
            total += reward
        ends.append(total)
    assert set(ends) == {-0.5, 1.0}


def test_a_game_that_ends_before_the_learner_is_asked_is_dealt_again() -> None:
    # Seat 0 opens and seat 1 calls at once: seat 2 would never be asked, however often the cards
    # are dealt.
    game = make_game("liars_dice_v0", num_players=3, dice=1, single_round=True)
    env = SingleAgentEnv(game, seat=2, opponents=[Chooser(game, False), Chooser(game, True)])
    with pytest.raises(MasqueradeError, match="was never asked"):
        env.reset(seed=0)
    # Against random players it is asked often enough.
    env = SingleAgentEnv(game, seat=2)
    for seed in range(20):
        _, info = env.reset(seed=seed)
        assert info["action_mask"].any()


def test_opponents_sit_in_seat_order_after_the_learner() -> None:
    game = make_game("kuhn_v0", num_players=3)
    always_pass, always_bet = Chooser(game, False), Chooser(game, True)
    env = SingleAgentEnv(game, seat=1, opponents=[always_bet, always_pass])
    observation, _ = env.reset(seed=0)
    # Seat 0 is the second after the learner and has passed; then seat 2 bets.
    moves = game.observation_fields(observation)["moves"]
    assert moves[:2].tolist() == [1.0, 0.0]
    observation, *_ = env.step(0)
    moves = game.observation_fields(observation)["moves"]
    assert moves[4:6].tolist() == [0.0, 1.0]


def test_an_illegal_action_loses_or_raises_as_chosen() -> None:
    game = make_game("leduc_v0")
    env = SingleAgentEnv(game)
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step(0)
    assert (reward, terminated, info["is_illegal"]) == (-13.0, True, True)
    strict = SingleAgentEnv(game, illegal="raise")
    strict.reset(seed=0)
    with pytest.raises(IllegalActionError, match="choose from 1"):
        strict.step(0)
    with pytest.raises(OptionError, match="'raise' or 'lose'"):
        SingleAgentEnv(game, illegal="ignore")


def test_the_learner_is_shown_its_own_hand_only() -> None:
    env = SingleAgentEnv(make_game("liars_dice_v0"), seat=1, render_mode="ansi")
    env.reset(seed=0)
    own, other = env.render().splitlines()[1], env.render().splitlines()[0]
    assert "?" in other
    assert "?" not in own


def test_opponents_may_be_agents_of_the_project() -> None:
    game = make_game("kuhn_v0")
    env = SingleAgentEnv(game, opponents=make_agent("random", game))
    env.reset(seed=0)
    assert env.action_masks().tolist() == [True, True]


def test_maskable_ppo_trains_on_it_unchanged() -> None:
    from sb3_contrib import MaskablePPO

    env = gymnasium.make("masquerade/liars_dice-v0", dice=1, seat="rotate", illegal="raise")
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=64, batch_size=32, n_epochs=1, seed=0, device="cpu"
    )
    model.learn(256)  # raises on the first illegal action
    observation, info = env.reset(seed=1)
    action, _ = model.predict(observation, action_masks=info["action_mask"], deterministic=True)
    assert info["action_mask"][int(action)]


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_gymnasiums_own_vectors_find_an_action_at_every_step(mode: AutoresetMode) -> None:
    # With the reset in the next step there is an action between two games, too.
    game = make_game("leduc_v0")
    env = SyncVectorEnv([lambda: SingleAgentEnv(game, illegal="raise")] * 3, autoreset_mode=mode)
    rng = np.random.default_rng(0)
    _, infos = env.reset(seed=0)
    num_over = 0
    for _ in range(60):
        actions = [rng.choice(np.flatnonzero(mask)) for mask in infos["action_mask"]]
        _, _, is_over, _, infos = env.step(np.array(actions))
        num_over += is_over.sum()
        if mode == AutoresetMode.DISABLED and is_over.any():
            _, infos = env.reset(options={"reset_mask": is_over})
            infos["action_mask"] = np.stack([each.action_masks() for each in env.envs])
    assert num_over > 10
