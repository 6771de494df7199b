"""Deep Q-learning as a whole: targets, play, exact resuming, and that it learns."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from agents import make_agent
from agents.base import Actions, Agent, Views
from agents.dqn.agent import DQNSettings, choose
from agents.dqn.learner import Log, Tensors, tensors_of
from agents.dqn.replay import Minibatch, Replay
from agents.learning.experience import Experience, ExperienceGames
from agents.learning.learner import Opponents, Task
from agents.learning.networks import Network, PlainNetwork
from common.errors import OptionError
from envs import make_game
from envs.core.batch import random_actions
from envs.core.game import Game
from envs.core.rng import new_rng
from experiments.holdem.timed import TimedDQN
from tests.support.dqn_parts import SMALL, assert_close, fill, make_learner


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def say_always(network: Network, values: list[float]) -> None:
    """Let a network rate every position alike."""
    network.weights.zero_()
    network.weights[-len(values) :] = torch.tensor(values)


def minibatch(size: int = 1, **columns: Any) -> Tensors:
    """Transitions of Kuhn poker that reward nothing and lead to a position with two actions."""
    defaults = {
        "inputs": torch.zeros(size, 11),
        "actions": torch.zeros(size, 1, dtype=torch.int64),
        "rewards": torch.zeros(size, 1),
        "discounts": torch.ones(size, 1),
        "next_inputs": torch.zeros(size, 11),
        "penalties": torch.zeros(size, 2),
        "weights": torch.ones(size, 1),
    }
    return Minibatch(rows=np.arange(size), **{**defaults, **columns})


# ---- what is learnt ------------------------------------------------------------------------------


class TestTargets:
    def test_value_is_the_mean_of_what_came_of_it(self) -> None:
        learner = make_learner(
            replay="latest", replay_size=16, batch_size=10, learning_rate=0.1, max_gradient=0.0
        )
        fill(learner.replay, [-10.0] * 9 + [200.0])
        for _ in range(600):
            learner._learn(Log())
        values = learner.network.values_of(np.ones((1, 11), np.float32))
        assert values[0, 0] == pytest.approx(11.0, abs=0.05)

    def test_actions_that_were_not_played_have_no_error(self) -> None:
        learner = make_learner(replay="latest", replay_size=16, batch_size=10)
        fill(learner.replay, [5.0] * 10)
        learner._learn(Log())
        assert isinstance(learner.network, PlainNetwork)
        weight, bias = learner.network._gradients[-1]
        assert weight[:, 0].abs().sum() > 0.0
        assert weight[:, 1].abs().sum() == 0.0
        assert bias[1] == 0.0

    def test_double_learning_chooses_with_one_network_and_rates_with_the_other(self) -> None:
        for double, expected in ((False, 5.0), (True, 3.0)):
            learner = make_learner(double=double)
            say_always(learner.network, [1.0, 2.0])
            say_always(learner.target, [5.0, 3.0])
            assert learner._targets(minibatch()).item() == expected

    def test_double_learning_does_not_overestimate(self) -> None:
        """All values are zero, and both networks see them with noise of their own."""
        rng = torch.Generator().manual_seed(0)
        found = {}
        for double in (False, True):
            learner = make_learner(double=double)
            for name in ("network", "target"):
                noise = torch.randn(5000, 2, generator=rng)
                setattr(learner, name, Fixed(noise))
            found[double] = learner._targets(minibatch(5000)).mean().item()
        assert found[False] == pytest.approx(1 / np.sqrt(np.pi), abs=0.05)
        assert found[True] == pytest.approx(0.0, abs=0.05)

    @pytest.mark.parametrize("double", [False, True])
    def test_illegal_next_actions_do_not_count(self, double: bool) -> None:
        learner = make_learner(double=double)
        say_always(learner.network, [1.0, 100.0])
        say_always(learner.target, [2.0, 100.0])
        penalties = torch.tensor([[0.0, -torch.inf]])
        assert learner._targets(minibatch(penalties=penalties)).item() == 2.0

    @pytest.mark.parametrize("double", [False, True])
    def test_after_the_end_there_is_nothing_to_expect(self, double: bool) -> None:
        learner = make_learner(double=double, replay="latest", replay_size=16)
        say_always(learner.network, [1000.0, 1000.0])
        say_always(learner.target, [1000.0, 1000.0])
        fill(learner.replay, [-3.0])
        batch = tensors_of(learner.replay.latest(1), "cpu")
        assert learner._targets(batch).item() == -3.0

    def test_masks_in_the_replay_are_those_of_the_next_decision(self) -> None:
        game = make_game("liars_dice_v0", dice=1, single_round=True)
        learner = make_learner(game, updates_per_step=0.0)
        learner.update(500)
        replay = learner.replay
        goes_on = replay.kept.discounts[: len(replay)] > 0.0
        masks = replay.kept.next_masks[: len(replay)]
        assert goes_on.any()
        assert (~goes_on).any()
        assert (masks[~goes_on] == 1).all()
        # Whoever is asked again faces a bid: calling is legal, and what he bid himself is not.
        own = np.arange(len(replay))[goes_on], replay.kept.actions[: len(replay)][goes_on]
        assert (masks[goes_on][:, -1] == 1).all()
        assert (masks[own] == 0).all()


class Fixed:
    """A network whose ratings are given, row by row."""

    def __init__(self, values: torch.Tensor) -> None:
        self._values = values

    def values(self, _inputs: torch.Tensor) -> torch.Tensor:
        return self._values.clone()


class TestTargetNetwork:
    def test_equals_the_network_only_right_after_the_copy(self) -> None:
        learner = make_learner(target_every=5)
        learner.update(100)
        while learner.num_updates < 23:
            learner._learn(Log())
            is_equal = torch.equal(learner.network.weights, learner.target.weights)
            assert is_equal == (learner.num_updates % 5 == 0)

    def test_polyak_takes_a_share_at_each_update(self) -> None:
        learner = make_learner(target="polyak", target_rate=0.25)
        learner.update(100)
        before = learner.target.weights.clone()
        learner._learn(Log())
        expected = 0.75 * before + 0.25 * learner.network.weights
        assert_close(learner.target.weights, expected)

    def test_none_is_the_network_itself(self) -> None:
        learner = make_learner(target="none")
        assert learner.target is learner.network


class TestUpdates:
    def test_prioritised_updates_change_the_priorities_of_what_they_drew(self) -> None:
        learner = make_learner(replay="prioritised", batch_size=4, updates_per_step=0.0)
        learner.update(200)
        before = learner.replay.priorities.copy()
        learner._learn(Log())
        changed = np.flatnonzero(before != learner.replay.priorities)
        assert 1 <= len(changed) <= 4

    def test_gradients_are_cut_to_the_given_length(self) -> None:
        learner = make_learner(max_gradient=1e-3)
        learner.update(100)
        learner._learn(Log())
        assert learner.network.gradient.norm() == pytest.approx(1e-3, rel=1e-2)

    @pytest.mark.parametrize(("rate", "expected"), [(0.25, 25), (2.0, 200)])
    def test_updates_keep_pace_with_the_decisions(self, rate: float, expected: int) -> None:
        learner = make_learner(updates_per_step=rate, learn_start=1)
        learner.update(60)
        steps_before = learner._steps_before_learning
        learner.update(100 + steps_before - 60)
        assert learner.num_updates == expected

    def test_exploration_by_time(self) -> None:
        """The thesis on hold'em lowers epsilon after each hundredth of the time of its run."""

        def make(start: float) -> TimedDQN:
            by_time = {"exploration": "parts", "exploration_end": 0.1, "exploration_games": 100}
            task = Task(make_game("kuhn_v0"), total=1000)
            learner = TimedDQN(task, DQNSettings.parse({**SMALL, **by_time}))
            looks = itertools.count(start)
            learner.clock = lambda: next(looks)  # every look takes a second
            return learner

        learner = make(50.0)
        assert learner.exploration == 1.0
        learner.update(8 * 6)  # a look at the start, one for each of six rounds, and one at the end
        assert learner.exploration == pytest.approx(1.0 - 7 * 0.02)
        # Seconds are saved, and time between two calls does not count, nor what the clock says.
        resumed = make(9000.0)
        resumed.load_state_dict(learner.state_dict())
        for each in (learner, resumed):
            assert each.exploration == pytest.approx(1.0 - 7 * 0.02)
            next_look = each.clock() + 1000.0
            each.clock = itertools.count(next_look).__next__
            each.update(8)
            assert each.exploration == pytest.approx(1.0 - 9 * 0.02)
        np.testing.assert_array_equal(resumed.network.weights, learner.network.weights)

    def test_exploration_by_games(self) -> None:
        learner = make_learner(
            exploration="linear",
            exploration_share=1.0,
            exploration_end=0.0,
            exploration_games=100,
            total=0,
        )
        while learner.num_games < 50:
            learner.update(8)
        assert learner.exploration == pytest.approx(1.0 - learner.num_games / 100)
        while learner.num_games < 100:
            learner.update(8)
        assert learner.exploration == 0.0

    def test_a_schedule_needs_the_length_of_the_run(self) -> None:
        with pytest.raises(OptionError, match="length of the run"):
            make_learner(total=0)
        assert make_learner(total=0, exploration="constant").exploration == 1.0


# ---- play ----------------------------------------------------------------------------------------


class TestChoice:
    values = np.array([[0.0, 9.0, 1.0]] * 10_000, np.float32)
    masks = np.array([[1, 0, 1]] * 10_000, np.int8)

    def test_best_legal_action(self) -> None:
        assert (choose(self.values, self.masks) == 2).all()

    def test_first_of_equals(self) -> None:
        assert choose(np.zeros((1, 3), np.float32), np.array([[0, 1, 1]], np.int8)).tolist() == [1]

    def test_exploration_draws_legal_actions_only(self) -> None:
        actions = choose(self.values, self.masks, 0.5, new_rng(0))
        shares = np.bincount(actions, minlength=3) / len(actions)
        np.testing.assert_allclose(shares, [0.25, 0.0, 0.75], atol=0.02)


class Counting(Agent):
    """Plays at random and notes how many rows each call had."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.calls: list[int] = []

    def act(self, views: Views) -> Actions:
        self.calls.append(len(views))
        return random_actions(views.masks, views.rngs)


class TestGames:
    def test_rows_of_one_opponent_go_to_it_in_one_call(self) -> None:
        game = make_game("kuhn_v0")
        agents = [Counting(game), Counting(game)]
        learner = make_learner(game, opponents=Opponents(agents), num_envs=64)
        learner.update(64)
        assert all(agent.calls[0] > 8 for agent in agents)

    @pytest.mark.parametrize(("learns_from", "expected"), [("all", 1.0), ("one", 0.5)])
    def test_seats_that_teach(self, learns_from: str, expected: float) -> None:
        learner = make_learner(learns_from=learns_from, updates_per_step=0.0, replay_size=10_000)
        learner.update(1000)
        assert learner.num_steps == 1000
        numbers = learner.games.batch.numbers
        # A game of Kuhn poker between random players has 2.25 decisions.
        assert numbers.max() * 2.25 * expected == pytest.approx(1000, rel=0.1)

    @pytest.mark.parametrize("amount", [1, 7, 8, 100])
    def test_update_makes_exactly_so_many_decisions(self, amount: int) -> None:
        learner = make_learner(updates_per_step=0.0)
        learner.update(amount)
        waiting = learner.games._experience.waiting.num_waiting.sum()
        assert learner.num_steps == learner.replay.num_added + waiting == amount

    def test_the_learner_sits_in_all_seats_and_opens_no_more_than_others(self) -> None:
        game = make_game("liars_dice_v0", dice=1, single_round=True, first_player="alternate")
        opponents = Opponents([make_agent("random", game)])
        learner = make_learner(game, opponents=opponents, num_envs=64)
        learner.games.deal()
        seats, numbers = learner.games.seats, learner.games.batch.numbers
        opens = (numbers % 2) == seats
        assert opens.mean() == pytest.approx(0.5, abs=0.1)
        assert seats.mean() == pytest.approx(0.5, abs=0.1)

    @pytest.mark.parametrize(
        ("game_id", "params"),
        [
            ("kuhn_v0", {"num_players": 5}),
            ("leduc_v0", {"num_players": 5}),
            ("liars_dice_v0", {"num_players": 6}),
        ],
    )
    def test_large_tables(self, game_id: str, params: dict[str, Any]) -> None:
        game = make_game(game_id, **params)
        opponents = Opponents(["self", make_agent("random", game)])
        learner = make_learner(game, opponents=opponents, n_steps=3, history=2)
        metrics = learner.update(400)
        assert np.isfinite(metrics["losses/td"])

    @pytest.mark.parametrize(
        ("game_id", "params"),
        [("leduc_v0", {}), ("liars_dice_v0", {"num_players": 3, "dice": 1, "rewards": "dice"})],
    )
    def test_rewards_of_a_game_add_up(self, game_id: str, params: dict[str, Any]) -> None:
        """... to the return less what the seat had when it was first asked: 10^5 games."""
        game = make_game(game_id, **params)
        settings = DQNSettings(num_envs=4096, replay_size=20_000)
        replay = Replay(20_000, game.observation_size, game.facts.num_actions)
        games = ExperienceGames(Task(game), settings, replay.kept)
        audit = Audit(games._experience)
        rng = new_rng(0)
        while audit.num_games < 100_000:
            games.deal()
            asked = games.next_decisions(10**9)
            values = np.zeros(asked.masks.shape, np.float32)
            games.play(asked, choose(values, asked.masks, 1.0, rng))
        assert audit.num_paid > 100_000
        assert audit.largest_error < 1e-5


class Audit:
    """Adds the rewards of every slot up, as they go into the replay."""

    def __init__(self, experience: Experience) -> None:
        self._inner = experience.close
        self._experience = experience
        num_slots = len(experience.waiting.paid)
        self._sums, self._firsts = np.zeros(num_slots), np.zeros(num_slots)
        self.num_games = self.num_paid = 0
        self.largest_error = 0.0
        experience.close = self._close  # type: ignore[method-assign]

    def _close(
        self,
        slots: npt.NDArray[np.int64],
        inputs: npt.NDArray[np.float32],
        masks: npt.NDArray[np.int8],
        totals: npt.NDArray[np.float64],
        units: npt.NDArray[np.float64] | None = None,
        is_over: bool = False,
    ) -> None:
        experience, kept = self._experience, self._experience.kept
        is_first = experience.waiting.num_decisions[slots] == 0
        self._firsts[slots[is_first]] = totals[is_first]
        self._sums[slots[is_first]] = 0.0
        paid = slots[experience.waiting.num_waiting[slots] > 0]
        before = int(kept.num_added[0])
        self._inner(slots, inputs, masks, totals, units, is_over)
        rows = np.arange(before, kept.num_added[0]) % len(kept.rewards)
        self._sums[paid] += kept.rewards[rows]
        if is_over:
            errors = np.abs(self._sums[slots] - (totals - self._firsts[slots]))
            self.largest_error = max(self.largest_error, float(errors[~is_first].max(initial=0.0)))
            self.num_games += len(slots) // 2
            self.num_paid += len(paid)
