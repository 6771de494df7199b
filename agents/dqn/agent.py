"""The player that deep Q-learning becomes: the best legal action, by its network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from numba import types

from agents.base import Actions, Agent, Views
from agents.dqn.network import QNetwork
from agents.dqn.settings import DQNSettings
from agents.learning.device import resolve_device
from agents.learning.files import CheckpointError, load_state
from envs.core.compiling import compiled, direct
from envs.core.game import Game
from envs.core.kernels import RNG
from envs.core.playouts import random_legal
from envs.core.rng import Words, uniform

__all__ = ["DQNAgent", "choose", "make_network"]


@compiled(
    types.void(types.float32[:, ::1], types.int8[:, ::1], types.float64, RNG, types.int64[::1])
)
def _choose_all(values, masks, exploration, rng, actions):
    for i in range(actions.size):
        if exploration > 0.0 and uniform(rng) < exploration:
            actions[i] = random_legal(masks[i], rng)
            continue
        best = -1
        for action in range(masks.shape[1]):
            if masks[i, action] and (best < 0 or values[i, action] > values[i, best]):
                best = action
        actions[i] = best


_choose_rows = direct(_choose_all)


def choose(
    values: npt.NDArray[np.float32],
    masks: npt.NDArray[np.int8],
    exploration: float = 0.0,
    rng: Words | None = None,
) -> Actions:
    """The best legal action of every row (the first of equals), or now and then a random one.

    >>> values, masks = np.array([[1.0, 3.0, 2.0]], np.float32), np.array([[1, 0, 1]], np.int8)
    >>> choose(values, masks)
    array([2])
    """
    actions = np.empty(len(values), np.int64)
    words = np.zeros(4, np.uint64) if rng is None else rng
    _choose_rows(values, masks, float(exploration), words, actions)
    return actions


def make_network(game: Game, settings: DQNSettings, device: str, seed: int = 0) -> QNetwork:
    """A network of the size that a game and the settings ask for."""
    return QNetwork(
        settings.history * game.observation_size,
        game.facts.num_actions,
        settings.layers,
        settings.dueling,
        device,
        seed,
    )


class DQNAgent(Agent):
    """Plays the legal action that its network rates best; nothing is left to chance.

    Args:
        game: the game to play.
        path: a run of ``train.py``, or one of its checkpoints.
        device: where it computes: ``auto``, ``cpu`` or ``cuda``.
        network: a network in memory, instead of a path.
        history: how many observations that network takes.
    """

    keeps_time = True

    def __init__(
        self,
        game: Game,
        path: str | Path | None = None,
        device: str = "auto",
        network: QNetwork | None = None,
        history: int = 1,
    ) -> None:
        """Read the network from ``path``, if it is not given."""
        super().__init__(game)
        if network is None:
            if path is None:
                raise CheckpointError("give the folder of a run, such as dqn:runs/leduc_dqn")
            network, history = _load(game, Path(path), resolve_device(device))
        self.network = network
        self.history = history
        # Earlier observations are known in recorded games only.
        self.num_past = history - 1

    def act(self, views: Views) -> Actions:
        """One pass of the network for all rows."""
        return choose(self.values(views), views.masks)

    def policy(self, views: Views) -> npt.NDArray[np.float64]:
        """The probability of every action in every row: all on one."""
        out = np.zeros(views.masks.shape)
        out[np.arange(len(views)), self.act(views)] = 1.0
        return out

    def values(self, views: Views) -> npt.NDArray[np.float32]:
        """What the network expects of every action, legal or not: [n, num_actions] float32."""
        inputs = views.observations
        if self.history > 1:
            past = views.past_observations(self.history - 1)
            inputs = np.concatenate([past.reshape(len(views), -1), inputs], axis=1)
        return self.network.values_of(inputs)


def _load(game: Game, path: Path, device: str) -> tuple[QNetwork, int]:
    state: dict[str, Any] = load_state(path, game)
    if "network" not in state or "settings" not in state:
        raise CheckpointError(f"{path} holds no network of dqn: give the folder of a dqn run")
    settings = DQNSettings.parse(state["settings"])
    network = make_network(game, settings, device)
    # A checkpoint of the learner has both, a player only what it plays with.
    network.weights.copy_(torch.from_numpy(state.get("average", state["network"])))
    return network, settings.history
