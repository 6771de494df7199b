"""REINFORCE: actions that led to more become likelier.

1. in all games the policy, a softmax over the legal actions, decides once;
2. decisions whose outcome is known move the policy: the slope of ``-log p(action)``, times how much
   the rest of the game brought.

Games and rewards are kept by the shared ``ExperienceGames``, with so many steps to a transition
that every decision waits for the end of its game; networks and Adam are shared as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from agents.base import Actions, Agent, Views
from agents.learning.experience import ExperienceGames, ExperienceSettings, Transitions
from agents.learning.files import load_state
from agents.learning.learner import Learner, State, Task, part
from agents.learning.networks import Adam, Network, make_network
from envs.core.game import Game
from envs.core.options import option
from envs.core.rng import stream, uniform


class ReinforceSettings(ExperienceSettings):
    """What the shared parts are asked for, and the size of a step."""

    learning_rate: float = option(1e-2, low=0.0, high=1.0, help="step size of Adam")


def shares(rated: Tensor, masks: Tensor) -> Tensor:
    """The policy: a softmax over what is legal."""
    return torch.softmax(rated.masked_fill(masks == 0, -torch.inf), 1)


class Reinforce(Learner):
    """Learns a policy from whole games against its opponents."""

    settings_class = ReinforceSettings
    unit = "steps"
    player_id = "tests.support.reinforce.learner:ReinforcePlayer"
    settings: ReinforceSettings

    def __init__(self, task: Task, settings: ReinforceSettings) -> None:
        super().__init__(task, settings)
        seed = int(stream(task.seed, "network")[0] >> 1)
        self.network = make_network(task.game, settings, task.device, seed)
        self.optimiser = Adam(self.network.weights)
        size, num_actions = task.game.observation_size, task.game.facts.num_actions
        self.kept = Transitions.room(4 * settings.num_envs, size, num_actions, has_masks=True)
        whole_game = settings.model_copy(update={"n_steps": task.game.facts.max_length})
        self.games = ExperienceGames(task, whole_game, self.kept)
        self.rng = stream(task.seed, "exploration")
        self.num_used = 0

    def update(self, num_steps: int) -> Mapping[str, Any]:
        """Decide once in every game, learn from what has ended, and so on."""
        returns: list[npt.NDArray[np.float64]] = []

        def note(rows: npt.NDArray[np.int64]) -> None:
            returns.append(self.games.batch.totals[rows, self.games.seats[rows]])

        end = self.num_steps + num_steps
        while self.num_steps < end:
            self.games.deal(on_end=note)
            decisions = self.games.next_decisions(end - self.num_steps)
            player = ReinforcePlayer(self.game, network=self.network)
            probs = player.probs(decisions.inputs, decisions.masks)
            draws = np.array([uniform(self.rng) for _ in probs])
            actions = (probs.cumsum(1) <= draws[:, None]).sum(1)
            self.num_steps += self.games.play(decisions, actions)
            self._learn()
        return {"charts/return": float(np.concatenate(returns).mean())} if returns else {}

    def _learn(self) -> None:
        num_added = int(self.kept.num_added[0])
        rows = np.arange(self.num_used, num_added) % len(self.kept.actions)
        self.num_used = num_added
        if not len(rows):
            return
        inputs, masks, actions, rewards = (
            torch.from_numpy(column[rows])
            for column in (self.kept.inputs, self.kept.masks, self.kept.actions, self.kept.rewards)
        )

        def slopes_of(rated: Tensor) -> Tensor:
            slopes = shares(rated, masks)
            slopes[torch.arange(len(rows)), actions] -= 1.0
            return slopes * (rewards / len(rows))[:, None]

        self.network.differentiate(inputs, slopes_of)
        rate = self.settings.learning_rate
        self.optimiser.step(self.network.weights, self.network.gradient, rate)

    def player(self) -> ReinforcePlayer:
        network = make_network(self.game, self.settings, self.task.device)
        network.weights.copy_(self.network.weights)
        return ReinforcePlayer(self.game, network=network)

    def player_state(self) -> State:
        weights = self.network.weights.numpy().copy()
        return {"settings": self.settings.to_dict(), "network": weights}

    def state_dict(self) -> State:
        games = {f"games.{name}": value for name, value in self.games.state_dict().items()}
        counts = {"num_steps": self.num_steps, "optimiser_steps": self.optimiser.num_steps}
        moments = {
            "mean": self.optimiser.mean.numpy().copy(),
            "square": self.optimiser.square.numpy().copy(),
        }
        return {**self.player_state(), **games, **counts, **moments, "rng": self.rng.copy()}

    def load_state_dict(self, state: State) -> None:
        self.num_steps, self.optimiser.num_steps = state["num_steps"], state["optimiser_steps"]
        self.network.weights.copy_(torch.from_numpy(state["network"]))
        self.optimiser.mean.copy_(torch.from_numpy(state["mean"]))
        self.optimiser.square.copy_(torch.from_numpy(state["square"]))
        self.rng[:] = state["rng"]
        self.games.load_state_dict(part(state, "games."))


class ReinforcePlayer(Agent):
    """Draws from the policy that was learnt."""

    def __init__(self, game: Game, path: str = "", network: Network | None = None) -> None:
        super().__init__(game)
        if network is None:
            state = load_state(Path(path), game)
            network = make_network(game, ReinforceSettings.parse(state["settings"]), "cpu")
            network.weights.copy_(torch.from_numpy(state["network"]))
        self.network = network

    def probs(
        self, inputs: npt.NDArray[np.float32], masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.float64]:
        rated = torch.from_numpy(self.network.values_of(inputs))
        found: npt.NDArray[np.float64] = shares(rated.double(), torch.from_numpy(masks)).numpy()
        return found

    def policy(self, views: Views) -> npt.NDArray[np.float64]:
        return self.probs(views.observations, views.masks)

    def act(self, views: Views) -> Actions:
        draws = np.array([uniform(words) for words in views.rngs])
        return (self.policy(views).cumsum(1) <= draws[:, None]).sum(1)
