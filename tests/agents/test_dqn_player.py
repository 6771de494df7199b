"""Deep Q-learning: exact resuming, its player, networks of one's own, and that it learns."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from agents import LEARNERS, make_agent
from agents.base import Agent
from agents.dqn.agent import DQNAgent, DQNSettings, choose
from agents.dqn.learner import DQNLearner
from agents.learning.files import CheckpointError, load_state, save_state
from agents.learning.learner import Opponents
from agents.learning.networks import ModuleNetwork
from common.errors import MasqueradeError, OptionError
from envs import make_game
from envs.core.batch import Batch, random_actions
from envs.core.position import Position
from envs.core.rng import stream
from tests.support.dqn_parts import make_learner

HERE = "tests.support.networks"
WIDE = (128, 128)  # the default, which says nothing about a network of one's own


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# ---- memory --------------------------------------------------------------------------------------


def same(first: Any, second: Any) -> bool:
    if isinstance(first, np.ndarray):
        return first.dtype == second.dtype and np.array_equal(first, second)
    return bool(first == second)


VARIANTS: list[dict[str, Any]] = [
    {},
    {
        "replay": "prioritised",
        "n_steps": 3,
        "dueling": True,
        "history": 2,
        "target": "polyak",
        "learning_rate_end": 1e-5,
    },
    {"replay": "latest", "target": "none", "double": False, "loss": "huber", "learns_from": "one"},
    {
        "network": f"{HERE}:Gated",
        "network_params": {"width": 12},
        "history": 2,
        "hidden": WIDE,
    },
]


class TestResuming:
    @pytest.mark.parametrize("settings", VARIANTS, ids=["plain", "everything", "online", "module"])
    def test_save_and_load_in_between_changes_nothing(
        self, settings: dict[str, Any], tmp_path: Path
    ) -> None:
        game = make_game("leduc_v0")

        def make(past: list[Agent]) -> DQNLearner:
            opponents = Opponents(["self", make_agent("leduc_rule", game), "past"], seed=5)
            for player in past:
                opponents.add_past(player)
            return make_learner(game, opponents=opponents, replay_size=300, **settings)

        straight = make([])
        straight.update(301)
        past = straight.player()
        straight.task.opponents.add_past(past)  # type: ignore[union-attr]
        save_state(tmp_path / "state", game, straight.state_dict(), agent="dqn")
        resumed = make([past])
        resumed.load_state_dict(load_state(tmp_path / "state", game))
        metrics, again = straight.update(300), resumed.update(300)
        assert metrics.keys() == again.keys()
        assert all(same(metrics[name], again[name]) for name in metrics)
        state, other = straight.state_dict(), resumed.state_dict()
        assert state.keys() == other.keys()
        assert [k for k in state if not same(state[k], other[k])] == []

    def test_same_seed_same_curves(self) -> None:
        runs = [make_learner(seed=seed).update(500) for seed in (3, 3, 4)]
        assert all(same(runs[0][name], runs[1][name]) for name in runs[0])
        assert runs[0]["losses/td"] != runs[2]["losses/td"]

    def test_other_settings_are_refused(self) -> None:
        state = make_learner().state_dict()
        with pytest.raises(MasqueradeError, match="other settings"):
            make_learner(batch_size=17).load_state_dict(state)


class TestPlayer:
    def test_stays_as_it_was(self) -> None:
        learner = make_learner()
        learner.update(200)
        player = learner.player()
        before = player.network.weights.clone()
        learner.update(200)
        assert torch.equal(player.network.weights, before)
        assert not torch.equal(learner.network.weights, before)

    @pytest.mark.parametrize("history", [1, 3])
    def test_from_a_file_plays_like_the_learner(self, history: int, tmp_path: Path) -> None:
        game = make_game("leduc_v0")
        learner = make_learner(game, history=history, dueling=True)
        learner.update(300)
        save_state(tmp_path / "player", game, learner.player_state(), agent="dqn")
        player = make_agent(f"dqn:{tmp_path / 'player'}", game, device="cpu")
        assert isinstance(player, DQNAgent)
        assert player.num_past == history - 1
        # Its inputs at the tables are those that the learner has seen.
        batch = Batch(game, 64, stream(0, "chance"), stream(0, "choice"), num_past=history - 1)
        seen = np.zeros((64, 2, history, game.observation_size), np.float32)
        rows = np.arange(64)
        batch.begin(rows, rows)
        for _ in range(3):
            rows = np.flatnonzero(batch.turns >= 0)
            views = batch.views(rows)
            seen[rows, views.seats, :-1] = seen[rows, views.seats, 1:]
            seen[rows, views.seats, -1] = views.observations
            inputs = seen[rows, views.seats].reshape(len(rows), -1)
            expected = learner.player().network.values_of(inputs)
            np.testing.assert_array_equal(player.values(views), expected)
            np.testing.assert_array_equal(player.act(views), choose(expected, views.masks))
            actions = random_actions(views.masks, views.rngs)
            batch.step(rows, actions, views.rngs)

    def test_has_the_average_of_the_last_updates(self, tmp_path: Path) -> None:
        learner = make_learner(average_share=0.25, learn_start=16, updates_per_step=0.1)
        average = learner.network.weights.clone()
        for number in range(1, 13):
            while learner.num_updates < number:
                learner.update(1)
            # The first four updates are forgotten at once, of the twelfth a third is kept.
            average += (learner.network.weights - average) / max(number / 4, 1)
        torch.testing.assert_close(learner.player().network.weights, average)
        assert not torch.allclose(learner.network.weights, average)
        save_state(tmp_path / "all", learner.game, learner.state_dict(), agent="dqn")
        player = make_agent(f"dqn:{tmp_path / 'all'}", learner.game, device="cpu")
        assert isinstance(player, DQNAgent)
        torch.testing.assert_close(player.network.weights, average)

    def test_without_an_average_has_the_network(self) -> None:
        learner = make_learner(average_share=0.0)
        learner.update(300)
        assert torch.equal(learner.player().network.weights, learner.network.weights)

    def test_what_is_no_network_is_refused(self, tmp_path: Path) -> None:
        game = make_game("kuhn_v0")
        save_state(tmp_path / "other", game, {"table": np.zeros(3)}, agent="sarsa")
        with pytest.raises(CheckpointError, match="no network of dqn"):
            make_agent(f"dqn:{tmp_path / 'other'}", game)
        with pytest.raises(CheckpointError, match="folder of a run"):
            make_agent("dqn", game)

    def test_learner_and_player_have_the_same_id(self) -> None:
        assert LEARNERS["dqn"] == "agents.dqn.learner:DQNLearner"

    def test_without_torch_one_line_says_what_to_install(self) -> None:
        code = (
            "import sys; sys.modules['torch'] = None\n"
            "from agents import agent_class\n"
            "try:\n    agent_class('dqn')\nexcept ValueError as error:\n    print(error)"
        )
        told = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        (line,) = told.stdout.splitlines()
        assert line.endswith("needs torch: pip install -c constraints.txt -e '.[train]'")


class TestModule:
    """A network of one's own."""

    settings: ClassVar[dict[str, Any]] = {
        "network": f"{HERE}:Gated",
        "network_params": {"width": 12},
        "hidden": WIDE,
    }

    def test_it_learns_and_its_player_comes_back_from_a_file(self, tmp_path: Path) -> None:
        learner = make_learner(**self.settings)
        assert isinstance(learner.network, ModuleNetwork)
        before = learner.network.weights.clone()
        learner.update(400)
        assert not torch.equal(learner.network.weights, before)
        save_state(tmp_path / "player", learner.game, learner.player_state(), agent="dqn")
        loaded = DQNAgent(
            learner.game, tmp_path / "player", "cpu", network=self.settings["network"]
        )
        inputs = np.random.default_rng(0).random((9, 11), np.float32)
        expected = learner.player().network.values_of(inputs)
        assert (loaded.network.values_of(inputs) == expected).all()
        assert (expected != make_learner(**self.settings).network.values_of(inputs)).any()

    def test_no_code_is_imported_because_a_file_names_it(self, tmp_path: Path) -> None:
        learner = make_learner()
        state = learner.player_state()
        state["settings"] = {**DQNSettings().to_dict(), "network": "tests.support.trap:Trap"}
        save_state(tmp_path / "player", learner.game, state, agent="dqn")
        with pytest.raises(
            CheckpointError, match=r"its network is 'tests\.support\.trap:Trap', which"
        ):
            make_agent(f"dqn:{tmp_path / 'player'}", learner.game)
        assert "tests.support.trap" not in sys.modules
        with pytest.raises(OptionError, match=r"network 'tests\.support\.trap:Trap' cannot be"):
            make_agent(
                f"dqn:{tmp_path / 'player'}", learner.game, network="tests.support.trap:Trap"
            )


# ---- it learns -----------------------------------------------------------------------------------


def exact_value(player: DQNAgent, seat: int, position: Position) -> float:
    """What the player gets in ``seat`` of Kuhn poker against a random player."""
    if position.is_over:
        return float(position.returns()[seat])
    moves = position.legal_actions()
    if position.turn == seat:
        observation = position.observation(seat)[None]
        mask = np.zeros((1, 2), np.int8)
        mask[0, moves] = 1
        moves = choose(player.network.values_of(observation), mask).tolist()
    values = []
    for move in moves:
        after = position.game.replay([*position.history, move])
        values.append(exact_value(player, seat, after))
    return float(np.mean(values))


def test_kuhn_against_a_random_player_is_played_perfectly() -> None:
    """The best response gets 1/2 in the first seat and 5/12 in the second."""
    game = make_game("kuhn_v0")
    opponents = Opponents([make_agent("random", game)])
    learner = make_learner(
        game, total=8_000, opponents=opponents, hidden=(32,), batch_size=64, learning_rate=3e-3,
        learning_rate_end=1e-4, target_every=50,
    )  # fmt: skip
    learner.update(8_000)
    player = learner.player()
    values = [exact_value(player, seat, game.new_position()) for seat in (0, 1)]
    assert values == pytest.approx([1 / 2, 5 / 12])
