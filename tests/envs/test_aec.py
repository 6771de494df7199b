"""The PettingZoo face: its own tests, its wrappers' guarantees, rewards, copies, pictures."""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from typing import Any

import numpy as np
import pettingzoo
import pytest
import torch
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils.wrappers import (
    AssertOutOfBoundsWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)

import envs.adapters
from common.errors import IllegalActionError
from envs import GAMES, kuhn_v0, leduc_v0, liars_dice_v0, make_env, make_raw_env
from envs.adapters import GameEnv
from envs.core.game import Game
from tests.support.option_sets import every_option_set

# PettingZoo 1.27 keeps a list of its own environments that may have dictionary observations and
# warns for all others.
FALSE_WARNINGS = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box",
)


def play_out(env: Any, rng: np.random.Generator, max_steps: int = 10**6) -> list[Any]:
    """Play one game at random; the log has everything an agent is shown."""
    log = []
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        log.append((agent, observation["observation"].tolist(), reward, terminated, truncated))
        if terminated or truncated:
            env.step(None)
        else:
            env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        if len(log) == max_steps:
            break
    return log


@every_option_set
@pytest.mark.parametrize("is_raw", [False, True])
def test_pettingzoo_api_test_passes_without_unexpected_warnings(game: Game, is_raw: bool) -> None:
    with warnings.catch_warnings():
        for message in FALSE_WARNINGS:
            warnings.filterwarnings("ignore", message)
        api_test(GameEnv(game, is_raw=is_raw), num_cycles=100)


@every_option_set
def test_pettingzoo_seed_test_passes(game: Game) -> None:
    seed_test(lambda: GameEnv(game), num_cycles=50)


@pytest.mark.parametrize("game_id", GAMES)
def test_every_door_leads_to_the_same_game(game_id: str) -> None:
    doors = [make_env(game_id), getattr(envs, game_id).env()]
    if hasattr(pettingzoo, "make"):  # since version 1.27
        doors.append(pettingzoo.make("aec", f"masquerade/{game_id}"))
    logs = []
    for env in doors:
        env.reset(seed=5)
        logs.append(play_out(env, np.random.default_rng(1)))
    assert all(log == logs[0] for log in logs)
    assert getattr(envs, game_id).raw_env().is_raw
    assert str(doors[0]) == game_id


def test_env_plays_like_raw_env_inside_pettingzoos_three_wrappers() -> None:
    ours = leduc_v0.env()
    raw = TerminateIllegalWrapper(leduc_v0.raw_env(), illegal_reward=-1)
    wrapped = OrderEnforcingWrapper(AssertOutOfBoundsWrapper(raw))
    for seed in range(30):
        ours.reset(seed=seed)
        wrapped.reset(seed=seed)
        assert play_out(ours, np.random.default_rng(seed)) == play_out(
            wrapped, np.random.default_rng(seed)
        )


def test_an_illegal_move_ends_the_game_as_pettingzoos_wrapper_does(capsys: Any) -> None:
    # Nobody has bet yet, so folding (action 0) is illegal for the first player of Leduc. It costs
    # as much as the worst game, and the other player gets what is left of the sum.
    logs = []
    for env in (leduc_v0.env(), TerminateIllegalWrapper(leduc_v0.raw_env(), illegal_reward=-13)):
        env.reset(seed=0)
        env.step(0)
        log = play_out(env, np.random.default_rng(0))
        logs.append([(agent, *rest) for agent, _, _, *rest in log])
        rewards = {agent: reward for agent, _, reward, _, _ in log}
        assert rewards["player_0"] == -13.0
        assert env.agents == []
    assert logs[0] == logs[1]


@pytest.mark.parametrize("num_players", [2, 3])
def test_an_illegal_move_costs_the_lowest_return_and_pays_no_more_than_the_game(
    num_players: int, capsys: Any
) -> None:
    env = leduc_v0.env(num_players=num_players)
    env.reset(seed=0)
    env.step(2)  # a raise
    env.step(1)  # a call
    for _ in range(num_players - 2):
        env.step(1)
    mover = env.agent_selection
    env.step(0)  # nobody has bet in this round: there is nothing to fold to
    totals = dict(env._cumulative_rewards)
    assert totals.pop(mover) == -13.0
    assert list(totals.values()) == [13.0 / (num_players - 1)] * (num_players - 1)


def test_an_illegal_move_in_a_raw_env_raises_and_changes_nothing() -> None:
    env = leduc_v0.raw_env()
    env.reset(seed=0)
    before = env.position()
    with pytest.raises(IllegalActionError, match=r"choose from 1 \(call\), 2 \(raise\)"):
        env.step(0)
    assert (env.position().state == before.state).all()
    assert env.position().history == before.history


@pytest.mark.parametrize("action", [-1, 3, 10**6, None, 1.0, "call"])
@pytest.mark.parametrize("make", [leduc_v0.env, leduc_v0.raw_env])
def test_an_action_out_of_range_is_refused(make: Any, action: Any) -> None:
    env = make()
    env.reset(seed=0)
    with pytest.raises(IllegalActionError, match="choose from 0 to 2"):
        env.step(action)


def test_nothing_can_be_asked_before_reset() -> None:
    env = kuhn_v0.env()
    for name in (
        "agents",
        "rewards",
        "terminations",
        "truncations",
        "infos",
        "agent_selection",
        "num_agents",
    ):
        with pytest.raises(AttributeError):
            getattr(env, name)
    calls = [env.render, env.state, env.agent_iter, env.last]
    for call in (*calls, lambda: env.observe("player_0"), lambda: env.step(0)):
        with pytest.raises(Exception, match="reset"):
            call()


def test_a_loop_that_does_not_step_is_refused() -> None:
    env = kuhn_v0.env()
    env.reset(seed=0)
    with pytest.raises(AssertionError, match="need to call step"):
        for _ in env.agent_iter():
            pass


def test_after_the_end_only_none_is_accepted() -> None:
    env = kuhn_v0.env()
    env.reset(seed=0)
    env.step(0)
    env.step(0)
    assert env.terminations == {"player_0": True, "player_1": True}
    with pytest.raises(ValueError, match="None"):
        env.step(0)


@every_option_set
def test_rewards_add_up_to_the_returns_of_every_player(game: Game) -> None:
    env = GameEnv(game)
    rng = np.random.default_rng(0)
    env.reset(seed=1)
    for _ in range(10):
        env.reset()
        paid = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            observation, reward, terminated, _, _ = env.last()
            paid[agent] += reward
            env.step(
                None if terminated else int(rng.choice(np.flatnonzero(observation["action_mask"])))
            )
        assert list(paid.values()) == pytest.approx(env.position().returns().tolist())


def test_the_loser_sees_the_loss_and_lost_dice_are_paid_round_by_round() -> None:
    env = liars_dice_v0.env(dice=2, rewards="dice")
    env.reset(seed=0)
    seen = []
    while env.agents and not all(env.terminations.values()):
        # The highest bid is almost surely false: the caller wins every round.
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[-1]))
        seen.append(dict(env.rewards))
    paid = [rewards for rewards in seen if any(rewards.values())]
    assert all(sorted(rewards.values()) == [-1.0, 1.0] for rewards in paid)
    totals = {agent: sum(rewards[agent] for rewards in seen) for agent in seen[0]}
    assert min(totals.values()) < 0
    assert env.last()[1] == env._cumulative_rewards[env.agent_selection]


def test_a_player_without_dice_stays_but_is_never_selected() -> None:
    env = liars_dice_v0.env(num_players=4, dice=1)
    rng = np.random.default_rng(3)
    env.reset(seed=2)
    selected_when_out = 0
    for agent in env.agent_iter():
        observation, _, terminated, _, _ = env.last()
        if terminated:
            env.step(None)
            continue
        assert env.agents == env.possible_agents
        left = env.game.record(env.position().state).dice_left
        selected_when_out += left[env.possible_agents.index(agent)] == 0
        env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    assert selected_when_out == 0


@every_option_set
def test_only_the_player_to_move_has_a_mask(game: Game) -> None:
    env = GameEnv(game)
    env.reset(seed=0)
    for agent in env.agents:
        mask = env.observe(agent)["action_mask"]
        assert mask.dtype == np.int8
        assert mask.any() == (agent == env.agent_selection)


@pytest.mark.parametrize("is_illegal", [False, True])
def test_when_the_game_is_over_every_observation_allows_an_action(is_illegal: bool) -> None:
    # TorchRL draws one from whatever it is shown last, and cannot from a mask of zeros.
    env = make_env("leduc_v0")
    env.reset(seed=1)
    while not env.terminations[env.agent_selection]:
        legal = np.flatnonzero(env.last()[0]["action_mask"])
        env.step(0 if is_illegal else int(legal[-1]))
    assert env.observe("player_1")["action_mask"].all()
    for _ in env.agent_iter():
        assert env.last()[0]["action_mask"].all()
        env.step(None)


@every_option_set
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_in_mid_game_is_an_independent_equal_game(game: Game, duplicate: Any) -> None:
    env = GameEnv(game)
    env.reset(seed=4)
    play_out(env, np.random.default_rng(0), max_steps=2)
    twin = duplicate(env)
    log = play_out(env, np.random.default_rng(9))
    assert play_out(twin, np.random.default_rng(9)) == log
    env.reset()
    twin.reset()  # the generators were copied too
    assert play_out(env, np.random.default_rng(1)) == play_out(twin, np.random.default_rng(1))


@pytest.mark.parametrize(
    "keep",
    [
        lambda shown: shown,
        lambda shown: shown["observation"],
        lambda shown: shown["observation"][1:],
        lambda shown: shown["observation"].reshape(2, -1)[0],
        lambda shown: memoryview(shown["observation"]),
        lambda shown: torch.from_numpy(shown["observation"]),
        lambda shown: shown["action_mask"].view(np.bool_),
    ],
    ids=["dictionary", "array", "slice", "reshaped", "memoryview", "tensor", "mask"],
)
def test_what_is_kept_of_an_observation_is_never_written_again(keep: Any) -> None:
    env = leduc_v0.env()
    env.reset(seed=0)
    kept, copies = [], []
    rng = np.random.default_rng(0)
    for _ in range(5):
        env.reset()
        for _agent in env.agent_iter():
            shown, _, terminated, _, _ = env.last()
            kept.append(keep(shown))
            copies.append(copy.deepcopy(shown))
            legal = np.flatnonzero(shown["action_mask"])
            del shown
            env.step(None if terminated else int(rng.choice(legal)))
    for one, other in zip(kept, copies, strict=True):
        assert np.array_equal(_flat(one), _flat(keep(other)))


def _flat(value: Any) -> Any:
    if isinstance(value, dict):
        return np.concatenate([np.asarray(v, np.float32).ravel() for v in value.values()])
    return np.asarray(value)


@every_option_set
def test_a_game_log_replays_to_the_same_bytes(game: Game) -> None:
    env = GameEnv(game)
    env.reset(seed=8)
    env.reset()
    play_out(env, np.random.default_rng(2))
    position = env.position()
    assert (
        game.replay(position.history, position.number).state.tobytes() == position.state.tobytes()
    )
    assert position.is_over


@every_option_set
def test_the_global_generators_play_no_part(game: Game) -> None:
    logs = []
    for disturbance in (0, 1):
        np.random.seed(disturbance)  # noqa: NPY002
        random.seed(disturbance)
        env = GameEnv(game)
        env.reset(seed=6)
        logs.append(play_out(env, np.random.default_rng(0)))
    assert logs[0] == logs[1]


def test_state_is_everybodys_observation() -> None:
    env = kuhn_v0.env(num_players=3)
    env.reset(seed=0)
    assert env.state().shape == (3 * env.game.observation_size,)


def test_alternating_first_player_follows_the_number_of_the_game() -> None:
    env = liars_dice_v0.env(num_players=3, first_player="alternate")
    env.reset(seed=0)
    starters = [env.agent_selection]
    for _ in range(4):
        env.reset()
        starters.append(env.agent_selection)
    assert starters == ["player_0", "player_1", "player_2", "player_0", "player_1"]


def test_raw_env_is_made_by_name() -> None:
    assert make_raw_env("kuhn_v0", num_players=3).is_raw


@pytest.mark.parametrize("is_raw", [False, True])
def test_writing_into_an_observation_changes_nothing_that_is_shown_later(is_raw: bool) -> None:
    env = (make_raw_env if is_raw else make_env)("leduc_v0")
    env.reset(seed=3)
    kept = env.last()[0]
    before = {name: array.copy() for name, array in kept.items()}
    for array in kept.values():
        array[:] = 0
    for shown in (env.last()[0], env.observe(env.agent_selection), env.last()[0]):
        assert shown is not kept
        for name, array in before.items():
            np.testing.assert_array_equal(shown[name], array)
            shown[name][:] = 1
    env.step(int(np.flatnonzero(before["action_mask"])[0]))
    assert env.last()[0]["action_mask"].any()
