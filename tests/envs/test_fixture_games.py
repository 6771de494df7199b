"""Games unlike the suite's first ones go through everything generic in ``envs``."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

from common.errors import MasqueradeError
from envs.adapters.aec import GameEnv
from envs.adapters.single_agent import SingleAgentEnv
from envs.adapters.vector import SeatVectorEnv, VectorEnv
from envs.core.batch import random_actions
from envs.core.checking import check_game
from envs.core.facts import (
    forfeit_returns,
    is_symmetric,
    is_two_sided,
    is_zero_sum_duel,
    roles_of,
    seats_of_role,
    side_returns,
    sides_of,
)
from envs.core.game import Game
from envs.core.kernels import OVER
from envs.core.rng import new_rng
from envs.core.rollouts import Rollouts, UniformPlayer
from tests.support.fixture_games import Hideout, Market, Showdown
from tests.support.sampling import IS_FULL

GAMES = [
    Market(),
    Hideout(),
    Hideout(num_seats=3),
    Showdown(),
    Showdown(num_players=3),
]
every_fixture = pytest.mark.parametrize("game", GAMES, ids=repr)


@pytest.mark.parametrize("game", [*GAMES, Showdown(num_players=4, all_in=True)], ids=repr)
def test_the_contract_holds(game: Game) -> None:
    check_game(game, num_games=None if IS_FULL else 8)


@every_fixture
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_pettingzoos_tests_pass(game: Game) -> None:
    api_test(GameEnv(game), num_cycles=200)
    seed_test(lambda: GameEnv(game), num_cycles=50)


@every_fixture
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gymnasiums_test_passes(game: Game) -> None:
    check_env(SingleAgentEnv(game, seat="rotate"), skip_render_check=True)


@every_fixture
def test_the_rewards_of_an_aec_game_are_its_returns(game: Game) -> None:
    env, rng = GameEnv(game), np.random.default_rng(0)
    env.reset(seed=0)
    for _ in range(40):
        env.reset()
        totals = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            totals[agent] += reward
            if terminated or truncated:
                env.step(None)
                continue
            assert observation is not None
            env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        assert list(totals.values()) == pytest.approx(env.position().returns().tolist())


def test_a_game_in_which_nobody_ever_decides_is_refused_in_a_line() -> None:
    game = Showdown(num_players=4, all_in=True)
    for begin in (
        lambda: GameEnv(game).reset(seed=3),
        lambda: VectorEnv(game, 3).reset(seed=0),
        lambda: SingleAgentEnv(game).reset(seed=0),
        lambda: SeatVectorEnv(game, 2).reset(seed=0),
    ):
        with pytest.raises(MasqueradeError, match=r"asked in \d+ games of showdown_v0"):
            begin()


@every_fixture
def test_vectors_pay_what_games_return(game: Game) -> None:
    env = VectorEnv(game, 16)
    rngs = np.stack([new_rng(i) for i in range(16)])
    shown = env.reset(seed=0)
    totals = np.zeros((16, game.facts.num_players))
    num_over = 0
    for _ in range(60):
        shown = env.step(random_actions(shown.masks, rngs))
        totals += shown.rewards
        for row in np.flatnonzero(shown.dones):
            sides = side_returns(game.facts, totals[row])
            if game.facts.return_sum is not None:
                assert sides.sum() == pytest.approx(game.facts.return_sum)
            totals[row], num_over = 0.0, num_over + 1
    assert num_over > 20


@every_fixture
def test_rows_of_the_vector_environment_are_single_environments(game: Game) -> None:
    vector = SeatVectorEnv(game, 3, seat="rotate")
    singles = [SingleAgentEnv(game, seat="rotate") for _ in range(3)]
    observations, infos = vector.reset(seed=7)
    rng = np.random.default_rng(0)
    now = [env.reset(seed=7 + i) for i, env in enumerate(singles)]
    for _ in range(60):
        for i, (observation, info) in enumerate(now):
            assert (observations[i] == observation).all()
            assert (infos["action_mask"][i] == info["action_mask"]).all()
            assert infos["seat"][i] == info["seat"]
        actions = np.array([rng.choice(np.flatnonzero(info["action_mask"])) for _, info in now])
        observations, rewards, dones, _, infos = vector.step(actions)
        for i, env in enumerate(singles):
            observation, reward, terminated, _, info = env.step(actions[i])
            assert (reward, terminated) == (rewards[i], dones[i])
            if terminated:
                assert (infos["final_obs"][i] == observation).all()
                observation, info = env.reset()
            now[i] = observation, info


def test_the_registry_reaches_the_vector_environment() -> None:
    import envs.adapters

    assert envs.adapters
    env = gymnasium.make_vec("masquerade/kuhn-v0", num_envs=2, num_players=3, seat=1)
    assert isinstance(env.unwrapped, SeatVectorEnv)
    assert env.unwrapped.game.facts.num_players == 3


def test_only_masked_rows_are_reset() -> None:
    env = SeatVectorEnv(Market(), 4)
    env.reset(seed=0)
    env.step(np.zeros(4, np.int64))
    before, _ = env._games.observe(np.arange(4))
    mask = np.array([True, False, True, False])
    after, infos = env.reset(options={"reset_mask": mask})
    assert (after[~mask] == before[~mask]).all()
    assert (after[mask] != before[mask]).any()
    assert infos["_action_mask"].all()
    with pytest.raises(ValueError, match="4 booleans"):
        env.reset(options={"reset_mask": [1, 0]})


# ---- sides ---------------------------------------------------------------------------------------


def test_sides_follow_from_teams() -> None:
    team = Hideout(num_seats=3).facts
    assert sides_of(team) == ((0,), (1, 2))
    assert roles_of(team) == ("fugitive", "searcher")
    assert seats_of_role(team, "searcher") == (1, 2)
    assert is_two_sided(team)
    assert not is_symmetric(team)
    assert not is_zero_sum_duel(team)
    assert is_zero_sum_duel(Hideout().facts)
    assert is_symmetric(Market().facts)
    assert side_returns(team, np.array([[1.0, -1.0, -1.0]])).tolist() == [[1.0, -1.0]]


@pytest.mark.parametrize(
    ("game", "seat", "totals", "expected"),
    [
        (Hideout(num_seats=3), 2, [0, 0, 0], [1.0, -1.0, -1.0]),  # team mates are not rewarded
        (Hideout(num_seats=3), 0, [0, 0, 0], [-1.0, 1.0, 1.0]),
        (Market(), 1, [3, 5, 2], [3.0, 0.0, 2.0]),  # general-sum: the others keep what they have
        (Showdown(num_players=3), 2, [0, 0, 0], [0.5, 0.5, -1.0]),  # at most its own stake
    ],
)
def test_a_forfeit_costs_the_culprits_side_its_lowest_return(
    game: Game, seat: int, totals: list[float], expected: list[float]
) -> None:
    assert forfeit_returns(game.facts, seat, np.array(totals, float)).tolist() == expected


@every_fixture
def test_a_forfeit_never_pays_more_than_the_game_can(game: Game) -> None:
    for seat in range(game.facts.num_players):
        returns = forfeit_returns(game.facts, seat, np.full(game.facts.num_players, 99.0))
        for own, total in zip(game.facts.seats, returns, strict=True):
            assert own.low <= total <= own.high


# ---- the engine ----------------------------------------------------------------------------------


class Listener:
    """Plays the first legal action and notes which of its games are over."""

    def __init__(self) -> None:
        self.ids: set[int] = set()
        self.ended: list[tuple[int, int, tuple[float, ...]]] = []

    def act(self, views: Any) -> Any:
        self.ids.update(views.game_ids.tolist())
        return views.masks.argmax(axis=1)

    def end_games(self, ids: Any, seats: Any, returns: Any) -> None:
        for game_id, seat, own in zip(ids.tolist(), seats.tolist(), returns, strict=True):
            self.ended.append((game_id, seat, tuple(own)))


def test_tables_of_many_different_players_tell_each_of_the_end() -> None:
    game = Showdown(num_players=6)
    players = [Listener() for _ in range(6)]
    rollouts = Rollouts(game, players, size=8, seed=1)
    seating = np.stack([np.roll(np.arange(6), row) for row in range(8)])
    rollouts.begin(np.arange(8), np.arange(8), seating)
    rollouts.run()
    batch = rollouts.batch
    places = {
        int(batch.game_ids(np.array([row]), np.array([seat]))[0]): (row, seat)
        for row in range(8)
        for seat in range(6)
    }
    assert len(places) == 48
    for number, player in enumerate(players):
        for game_id, seat, returns in player.ended:
            row, place = places[game_id]
            assert (place, seating[row, seat]) == (seat, number)
            assert returns == tuple(batch.totals[row])
        assert player.ids <= {game_id for game_id, _, _ in player.ended}
        assert len(player.ended) == len({game_id for game_id, _, _ in player.ended})
    assert (rollouts.batch.turns == OVER).all()


def test_a_fault_costs_its_own_game_alone() -> None:
    class Faulty(UniformPlayer):
        def act(self, views: Any) -> Any:
            if (views.seats == 1).any() and len(views) == 1:
                raise RuntimeError("broken")
            return super().act(views)

    faults: list[tuple[int, int, str]] = []
    game = Market()
    rollouts = Rollouts(game, [Faulty()], 4, seed=0, on_fault=lambda *found: faults.append(found))
    rollouts.begin(np.arange(1), np.arange(1), np.zeros((1, 3), np.int64))
    rollouts.run()
    assert [(row, seat) for row, seat, _ in faults] == [(0, 1)]
    assert rollouts.batch.totals[0, 1] == 0.0


# ---- bad calls from Python -----------------------------------------------------------------------


def test_rows_and_seats_are_checked() -> None:
    rollouts = Rollouts(Market(), [UniformPlayer()], 2, seed=0)
    batch = rollouts.batch
    rollouts.begin(np.arange(2), np.arange(2), np.zeros((2, 3), np.int64))
    for rows in ([10**6], [-1], [[0]]):
        with pytest.raises(IndexError, match="from 0 to 1"):
            batch.views(np.array(rows))
        with pytest.raises(IndexError, match="from 0 to 1"):
            batch.step(np.array(rows), np.array([0]))
    with pytest.raises(IndexError, match="seats from 0 to 2"):
        batch.observe(np.array([0]), np.array([77]))
    with pytest.raises(ValueError, match="named twice"):
        batch.step(np.array([0, 0]), np.array([0, 0]))
    with pytest.raises(ValueError, match="none below 0"):
        batch.begin(np.array([0]), np.array([-3]))
    batch.step(np.array([0, 1]), np.array([0, 0]))  # and it goes on as if nothing had happened
