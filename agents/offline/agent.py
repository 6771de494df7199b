"""The player of the Offline learner: the legal action that its classifier rates best."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from agents.base import Actions, Agent, Views
from agents.dqn.agent import choose
from agents.learning.fields import Inputs
from agents.learning.files import CheckpointError, load_state, reading
from agents.learning.games import roles_in
from agents.learning.learner import State
from agents.learning.networks import PlainNetwork
from agents.offline.settings import OfflineSettings
from common.saved import saved_array
from envs.core.game import Game

__all__ = ["OfflineAgent", "make_classifier"]


def make_classifier(game: Game, settings: OfflineSettings, seed: int = 0) -> PlainNetwork:
    """A network with an output for each action."""
    size = Inputs(game, settings.inputs).size
    return PlainNetwork(size, game.facts.num_actions, settings.hidden, seed=seed)


class OfflineAgent(Agent):
    """Plays the legal action that its network rates best; nothing is left to chance.

    Args:
        game: the game to play.
        path: a run of ``train.py`` with ``agent: {id: offline}``, or one of its checkpoints.
        state: what a learner has kept of its player, instead of a path.
    """

    keeps_time = True

    def __init__(self, game: Game, path: str | None = None, state: State | None = None) -> None:
        """Build the network and give it its weights."""
        super().__init__(game)
        if state is None:
            if path is None:
                raise CheckpointError("give the folder of a run, such as offline:runs/my_run")
            state = load_state(Path(path), game)
            if "classifier" not in state:
                raise CheckpointError(f"{path} holds no classifier: give the folder of its run")
        with reading(path or "this state", "a classifier of offline"):
            settings = OfflineSettings.parse(state["settings"])
            self.roles = roles_in(state)
            self._inputs = Inputs(game, settings.inputs)
            self._network = make_classifier(game, settings)
            shape = tuple(self._network.weights.shape)
            weights = saved_array(state, "classifier", np.float32, shape)
            self._network.weights.copy_(torch.from_numpy(weights))

    def act(self, views: Views) -> Actions:
        """One pass of the network for all rows."""
        values = self._network.values_of(self._inputs.of(views.observations))
        return choose(values, views.masks)

    def policy(self, views: Views) -> npt.NDArray[np.float64]:
        """The probability of every action in every row: all on one."""
        out = np.zeros(views.masks.shape)
        out[np.arange(len(views)), self.act(views)] = 1.0
        return out
