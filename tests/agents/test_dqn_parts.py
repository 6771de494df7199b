"""The parts of deep Q-learning: network, replay, experience, schedules."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import torch

from agents.dqn.agent import DQNSettings, choose
from agents.dqn.replay import LEAST_ERROR, Replay
from agents.learning.experience import (
    Experience,
    ExperienceGames,
    ExperienceSettings,
    Transitions,
)
from agents.learning.learner import Task
from agents.learning.networks import (
    Adam,
    Inputs,
    ModuleNetwork,
    PlainNetwork,
    find_module,
    make_network,
)
from common.errors import OptionError
from envs import make_game
from envs.core.rng import new_rng
from tests.support.dqn_parts import assert_close, fill
from tests.support.networks import Layers, Normed, Wrong


def turned(flat: torch.Tensor, network: PlainNetwork) -> torch.Tensor:
    """Flat weights of a plain network in the order of torch."""
    parts, start = [], 0
    for weight, _ in network._layers:
        rows, columns = weight.shape
        middle, end = start + rows * columns, start + rows * columns + columns
        parts += [flat[start:middle].view(rows, columns).t().reshape(-1), flat[middle:end]]
        start = end
    return torch.cat(parts)


class TestNetwork:
    @pytest.mark.parametrize("dueling", [False, True])
    @pytest.mark.parametrize("hidden", [(6,), (8, 5)])
    def test_gradient_is_that_of_autograd(self, dueling: bool, hidden: tuple[int, ...]) -> None:
        plain = PlainNetwork(4, 3, hidden, dueling, seed=1)
        module = ModuleNetwork(Layers, 4, 3, {"hidden": hidden, "dueling": dueling})
        # Torch keeps the weights of a layer the other way round.
        module.weights.copy_(turned(plain.weights, plain))
        inputs, wanted = torch.randn(16, 4), torch.randn(16, 3)
        assert_close(module.values(inputs), plain.values(inputs))
        for network in (plain, module):
            network.differentiate(inputs, lambda values: values - wanted)
        assert plain.gradient.abs().sum() > 0.0
        assert_close(module.gradient, turned(plain.gradient, plain))

    def test_a_module_computes_with_the_flat_weights_and_saves_its_buffers(self) -> None:
        first, second = (ModuleNetwork(Normed, 4, 3, seed=seed) for seed in (1, 2))
        inputs = torch.randn(5, 4)
        assert not torch.equal(first.values(inputs), second.values(inputs))
        second.weights.copy_(first.weights)
        assert torch.equal(first.values(inputs), second.values(inputs))
        first.differentiate(inputs, torch.ones_like)
        num_params = sum(param.numel() for param in first.module.parameters())
        assert num_params < len(first.weights)
        assert (first.gradient[num_params:] == 0.0).all()
        assert torch.equal(first.values(inputs), second.values(inputs))

    def test_what_is_no_network_is_refused(self) -> None:
        with pytest.raises(OptionError, match="network 'nowhere:Net' cannot be found"):
            find_module("nowhere:Net")
        with pytest.raises(OptionError, match=r"is no torch.nn.Module"):
            find_module("torch:zeros")
        with pytest.raises(OptionError, match=r"turn \[2, 4\] into \[2, 3\]"):
            ModuleNetwork(Wrong, 4, 3)

    def test_a_module_is_told_of_the_game_and_its_fields_if_it_asks(self) -> None:
        game, name = make_game("leduc_v0"), "tests.support.networks:Told"
        settings = DQNSettings(network=name, history=2, inputs=("card", "public*"))
        network = make_network(game, settings, "cpu")
        assert isinstance(network, ModuleNetwork)
        shown = Inputs(game, settings.inputs)
        assert network.module.game is game
        assert network.module.history == 2
        assert 0 < sum(field.size for field in network.module.fields) == shown.size
        assert network.values(torch.zeros(1, 2 * shown.size)).shape == (1, 3)

    def test_dueling_subtracts_the_mean_of_the_additions(self) -> None:
        network = PlainNetwork(4, 3, (8,), dueling=True, seed=2)
        inputs = torch.randn(5, 4)
        before = network.values(inputs)
        (value_weight, value_bias), (_, action_bias) = network._layers[-2:]
        features = torch.relu(inputs @ network._layers[0][0] + network._layers[0][1])
        expected = features[:, :4] @ value_weight + value_bias
        assert_close(before.mean(1, keepdim=True), expected)
        action_bias += 7.0  # the same for all actions: no difference between them
        assert_close(network.values(inputs), before)
        value_bias += 7.0
        assert_close(network.values(inputs), before + 7.0)

    def test_adam_is_that_of_torch(self) -> None:
        ours, theirs = torch.ones(5), torch.ones(5, requires_grad=True)
        optimiser, reference = Adam(ours), torch.optim.Adam([theirs], lr=0.01)
        for _ in range(20):
            gradient = torch.randn(5)
            optimiser.step(ours, gradient, 0.01)
            theirs.grad = gradient
            reference.step()
        assert_close(ours, theirs.detach())

    def test_weights_depend_on_the_seed_and_not_on_torch(self) -> None:
        first = PlainNetwork(4, 2, (8,), seed=3).weights
        torch.rand(10)
        assert torch.equal(first, PlainNetwork(4, 2, (8,), seed=3).weights)
        assert not torch.equal(first, PlainNetwork(4, 2, (8,), seed=4).weights)


class TestReplay:
    def test_oldest_gives_way(self) -> None:
        replay = Replay(4, 2, 2)
        fill(replay, [1, 2, 3])
        assert len(replay) == 3
        fill(replay, [4, 5, 6])
        assert len(replay) == 4
        assert sorted(replay.kept.rewards.tolist()) == [3, 4, 5, 6]
        assert replay.latest(3).rewards.tolist() == [4, 5, 6]

    def test_draws_are_uniform_over_what_is_there(self) -> None:
        replay = Replay(100, 2, 2)
        fill(replay, range(10))
        rewards = replay.draw(50_000, new_rng(0)).rewards
        counts = np.bincount(rewards.astype(int), minlength=10)
        assert len(counts) == 10
        # Chi-square with 9 degrees of freedom: above 27.9 once in a thousand.
        assert ((counts - 5000) ** 2 / 5000).sum() < 27.9

    @pytest.mark.parametrize("is_latest", [False, True])
    def test_illegal_next_actions_are_drawn_with_minus_infinity(self, is_latest: bool) -> None:
        replay = Replay(8, 2, 2)
        fill(replay, range(8))
        replay.kept.next_masks[:] = [[1, 0], [0, 1]] * 4
        batch = replay.latest(8) if is_latest else replay.draw(32, new_rng(0))
        expected = np.where(replay.kept.next_masks[batch.rows] == 1, 0.0, -np.inf)
        np.testing.assert_array_equal(batch.penalties, expected)
        np.testing.assert_array_equal(batch.rewards, replay.kept.rewards[batch.rows])

    def test_weights_of_uniform_draws_are_one(self) -> None:
        replay = Replay(8, 2, 2)
        fill(replay, range(5))
        assert (replay.draw(16, new_rng(0)).weights == 1.0).all()

    @pytest.mark.parametrize("capacity", [5, 8])
    def test_draws_follow_the_priorities(self, capacity: int) -> None:
        replay = Replay(capacity, 2, 2, priority_exponent=0.5)
        fill(replay, range(5))
        errors = np.array([0.0, 1.0, 4.0, 9.0, 16.0])
        replay.rate(np.arange(5), errors)
        expected = (errors + LEAST_ERROR) ** 0.5
        expected /= expected.sum()
        batch = replay.draw(100_000, new_rng(1), importance=0.7)
        found = np.bincount(batch.rows, minlength=5) / 100_000
        np.testing.assert_allclose(found, expected, atol=1e-3)
        weights = (5 * expected[batch.rows]) ** -0.7
        np.testing.assert_allclose(batch.weights, weights / weights.max(), rtol=1e-5)

    def test_new_transitions_get_the_largest_priority_so_far(self) -> None:
        replay = Replay(4, 2, 2, priority_exponent=1.0)
        fill(replay, range(2))
        assert replay.priorities.tolist() == [1.0, 1.0]
        replay.rate(np.array([0]), np.array([-7.0]))
        fill(replay, range(3))  # the last of them falls on the first place
        expected = 7.0 + LEAST_ERROR
        assert replay.priorities.tolist() == [expected, 1.0, expected, expected]

    def test_sum_of_the_tree_stays_that_of_the_leaves(self) -> None:
        replay = Replay(37, 2, 2, priority_exponent=1.0)
        fill(replay, range(50))
        rng = np.random.default_rng(0)
        for _ in range(20):
            replay.rate(rng.integers(0, 37, 8), rng.normal(size=8))
        assert replay._tree[1] == pytest.approx(replay.priorities.sum())


class Reference:
    """One seat's experience the slow way: keep all, then add up."""

    def __init__(self, discount: float, n_steps: int, history: int) -> None:
        self.discount, self.n_steps, self.history = discount, n_steps, history
        self.seen: list[npt.NDArray[np.float32]] = []
        self.actions: list[int] = []
        self.totals: list[float] = []
        self.masks: list[npt.NDArray[np.int8]] = []

    def input_at(self, i: int) -> npt.NDArray[np.float32]:
        zeros = [np.zeros_like(self.seen[0])] * self.history
        return np.concatenate((zeros + self.seen[: i + 1])[-self.history :])

    def transitions(self, end: float) -> list[tuple[object, ...]]:
        totals = [*self.totals, end]
        found = []
        for i, action in enumerate(self.actions):
            last = min(i + self.n_steps, len(self.actions))
            rewards = [totals[j + 1] - totals[j] for j in range(i, last)]
            total = sum(r * self.discount**k for k, r in enumerate(rewards))
            is_over = i + self.n_steps >= len(self.actions)
            after = np.zeros_like(self.input_at(i)) if is_over else self.input_at(last)
            mask = np.ones(3, np.int8) if is_over else self.masks[last]
            discount = 0.0 if is_over else self.discount**self.n_steps
            found.append((self.input_at(i), action, total, discount, after, mask))
        return found


class TestExperience:
    @pytest.mark.parametrize("n_steps", [1, 2, 3, 5])
    @pytest.mark.parametrize("history", [1, 3])
    def test_transitions_are_those_of_the_slow_way(self, n_steps: int, history: int) -> None:
        rng = np.random.default_rng(n_steps)
        kept = Transitions.room(500, 2 * history, 3, has_masks=True)
        settings = ExperienceSettings(n_steps=n_steps, discount=0.9)
        experience = Experience(kept, 4, settings)
        for _ in range(30):
            reference = Reference(0.9, n_steps, history)
            slot = rng.integers(0, 4, 1)
            num_before = kept.num_added[0]
            for _ in range(rng.integers(1, 8)):
                seen = rng.normal(size=(1, 2)).astype(np.float32)
                mask = rng.integers(0, 2, (1, 3)).astype(np.int8)
                total, action = rng.normal(size=1), rng.integers(0, 3, 1)
                reference.seen.append(seen[0])
                inputs = reference.input_at(len(reference.seen) - 1)[None]
                experience.close(slot, inputs, mask, total)
                experience.open(slot, inputs, mask, action)
                reference.masks.append(mask[0])
                reference.totals.append(float(total[0]))
                reference.actions.append(int(action[0]))
            end = rng.normal(size=1)
            experience.close_for_good(slot, end)
            expected = reference.transitions(float(end[0]))
            rows = range(num_before, kept.num_added[0])
            assert len(rows) == len(expected)
            for i, (row, wanted) in enumerate(zip(rows, expected, strict=True)):
                found = [column[row] for column in kept[:6]]
                assert kept.slots[row] == slot[0]
                np.testing.assert_array_equal(kept.masks[row], reference.masks[i])
                for value, want in zip(found, wanted, strict=True):
                    np.testing.assert_allclose(value, want, rtol=1e-5, atol=1e-6)

    @pytest.mark.parametrize("history", [1, 3])
    def test_a_seat_is_shown_what_it_saw_at_its_last_decisions(self, history: int) -> None:
        """Against itself and its past, in every row and seat, and nothing of the game before."""
        game, size = make_game("leduc_v0"), make_game("leduc_v0").observation_size
        settings = ExperienceSettings(history=history, num_envs=16)
        kept = Transitions.room(4_000, history * size, game.facts.num_actions)
        games = ExperienceGames(Task(game), settings, kept)
        nothing = np.zeros(size, np.float32)
        seen: dict[int, list[npt.NDArray[np.float32]]] = {}
        rng = new_rng(0)

        def forget(rows: npt.NDArray[np.int64]) -> None:
            for row in rows:
                seen[2 * row] = seen[2 * row + 1] = []

        for _ in range(60):
            games.deal(on_end=forget)
            decisions = games.next_decisions(10_000)
            observations, _ = games.batch.observe(decisions.rows, decisions.slots % 2)
            for i, slot in enumerate(decisions.slots.tolist()):
                seen[slot] = [*seen.get(slot, []), observations[i]]
                wanted = ([nothing] * history + seen[slot])[-history:]
                np.testing.assert_array_equal(decisions.inputs[i], np.concatenate(wanted))
            values = np.zeros(decisions.masks.shape, np.float32)
            games.play(decisions, choose(values, decisions.masks, 1.0, rng))
        assert int(kept.num_added[0]) > 500

    def test_rewards_are_scaled(self) -> None:
        replay = Replay(4, 1, 2)
        experience = Experience(replay.kept, 1, ExperienceSettings(reward_scale=0.1))
        slot = np.zeros(1, np.int64)
        inputs, masks = np.ones((1, 1), np.float32), np.ones((1, 2), np.int8)
        experience.close(slot, inputs, masks, np.array([-2.0]))
        experience.open(slot, inputs, masks, np.zeros(1, np.int64))
        experience.close_for_good(slot, np.array([8.0]))
        assert replay.kept.rewards[0] == pytest.approx(1.0)

    @pytest.mark.parametrize("n_steps", [1, 2])
    def test_values_in_stakes_are_those_in_returns_over_what_is_at_stake(
        self, n_steps: int
    ) -> None:
        """With q = Q / stake the targets of both must agree: q = r / stake + weight * q'."""
        replay = Replay(4, 1, 2)
        settings = ExperienceSettings(n_steps=n_steps, discount=0.9)
        experience = Experience(replay.kept, 1, settings)
        slot, stakes = np.zeros(1, np.int64), [2.0, 5.0, 20.0]
        for stake, total in zip(stakes, [0.0, 1.0, 4.0], strict=True):
            inputs, units = np.ones((1, 1), np.float32), np.array([stake])
            masks = np.ones((1, 2), np.int8)
            experience.close(slot, inputs, masks, np.array([total]), units)
            experience.open(slot, inputs, masks, np.zeros(1, np.int64), units)
        value = 7.0  # of the last decision, in returns
        if n_steps == 1:
            target = (1.0 + 0.9 * (3.0 + 0.9 * value)) / 2.0
            later = replay.kept.rewards[1] + replay.kept.discounts[1] * value / 20.0
        else:
            target = (1.0 + 0.9 * 3.0 + 0.81 * value) / 2.0
            later = value / 20.0
        found = replay.kept.rewards[0] + replay.kept.discounts[0] * later
        assert found == pytest.approx(target)


class TestSettings:
    @pytest.mark.parametrize(
        ("drop", "num_parts"), [(0.01, 90), (0.015, 60), (0.02, 45), (0.03, 30)]
    )
    def test_exploration_after_k_parts(self, drop: float, num_parts: int) -> None:
        settings = DQNSettings(exploration="parts", exploration_drop=drop, exploration_end=0.1)
        shares = [settings.exploration_after(k / 100) for k in range(101)]
        assert shares[0] == 1.0
        assert shares[num_parts - 1] > 0.1 + 1e-9
        assert shares[num_parts:] == pytest.approx([0.1] * (101 - num_parts))
        assert shares[7] == pytest.approx(1.0 - 7 * drop)
        # Nothing changes within a part.
        assert settings.exploration_after(0.0799) == shares[7]

    def test_exploration_in_a_straight_line(self) -> None:
        settings = DQNSettings(exploration_end=0.2, exploration_share=0.5)
        shares = [settings.exploration_after(k / 4) for k in range(5)]
        assert shares == pytest.approx([1.0, 0.6, 0.2, 0.2, 0.2])

    def test_constant_exploration(self) -> None:
        settings = DQNSettings(exploration="constant", exploration_start=0.3)
        assert {settings.exploration_after(k / 4) for k in range(5)} == {0.3}

    def test_step_size_in_a_straight_line(self) -> None:
        settings = DQNSettings(learning_rate=1e-3, learning_rate_end=0.0)
        assert settings.learning_rate_after(0.25) == pytest.approx(7.5e-4)

    @pytest.mark.parametrize(
        ("values", "word"),
        [
            ({"hidden": 1, "dueling": True}, "dueling"),
            ({"network": "a:B", "hidden": 7}, "has its own layers"),
            ({"network": "a:B", "dueling": True}, "has its own layers"),
            ({"network_params": {"depth": 2}}, "set network"),
            ({"network": "deep"}, "network must be 'plain' or 'module:name'"),
            ({"replay": "latest", "replay_size": 8}, "replay_size"),
            ({"batch_size": 0}, "batch_size"),
            ({"replay": "priority"}, "replay"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, values: dict[str, object], word: str) -> None:
        with pytest.raises(OptionError, match=word):
            DQNSettings.parse(values)
