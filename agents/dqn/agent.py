"""The player of deep Q-learning: the best legal action, by its network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from numba import types

from agents.base import Actions, Agent, Views
from agents.dqn.settings import DQNSettings
from agents.learning.device import resolve_device
from agents.learning.fields import Inputs
from agents.learning.files import CheckpointError, load_state, reading
from agents.learning.games import roles_in
from agents.learning.networks import (
    PLAIN,
    ModuleNetwork,
    Network,
    PlainNetwork,
    find_module,
    num_weights,
)
from common.imports import was_named
from common.saved import saved_array
from envs.core.compiling import compiled, direct
from envs.core.game import Game
from envs.core.kernels import RNG
from envs.core.playouts import random_legal
from envs.core.rng import Words, uniform

__all__ = ["DQNAgent", "choose", "make_network", "weights_of"]


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


def make_network(
    game: Game, settings: DQNSettings, device: str, seed: int = 0, name: str = ""
) -> Network:
    """A network as the game and the settings ask for.

    Args:
        game: what it is for.
        settings: what it is like.
        device: where it computes.
        seed: of its first weights.
        name: of a module that may be imported; the settings may come from a file, so the name in
            them is not enough.
    """
    input_size = settings.history * Inputs(game, settings.inputs).size
    num_actions = game.facts.num_actions
    if settings.network == PLAIN:
        return PlainNetwork(
            input_size, num_actions, settings.hidden, settings.dueling, device, seed
        )
    own = was_named(settings.network)
    module = find_module(name) if name == settings.network else own
    if module is None:
        raise CheckpointError(
            f"its network is '{settings.network}': name it to run its code, "
            f"params: {{network: '{settings.network}'}}"
        )
    return ModuleNetwork(module, input_size, num_actions, settings.network_params, device, seed)


def weights_of(game: Game, settings: DQNSettings) -> int | None:
    """How many weights the network has; not known of a module of yours."""
    if settings.network != PLAIN:
        return None
    inputs = settings.history * Inputs(game, settings.inputs).size
    return num_weights(inputs, game.facts.num_actions, settings.hidden)


class DQNAgent(Agent):
    """Plays the legal action that its network rates best; nothing is left to chance.

    Args:
        game: the game to play.
        path: a run of ``train.py``, or one of its checkpoints.
        device: where it computes: ``auto``, ``cpu`` or ``cuda``; ``auto`` takes the processor for a
            small network.
        network: the ``module:Class`` of its network, where it was trained with one of yours; or a
            network in memory, instead of a path.
        history: how many observations a network in memory takes.
        inputs: the fields of the observation that a network in memory takes; empty: all.
    """

    keeps_time = True

    def __init__(
        self,
        game: Game,
        path: str | Path | None = None,
        device: str = "auto",
        network: Network | str = PLAIN,
        history: int = 1,
        inputs: Sequence[str] = (),
    ) -> None:
        """Read the network from ``path``, if it is not given."""
        super().__init__(game)
        if isinstance(network, str):
            if path is None:
                raise CheckpointError("give the folder of a run, such as dqn:runs/leduc_dqn")
            state = _read(game, Path(path))
            self.roles = roles_in(state)
            with reading(path, "a network of dqn"):
                settings = DQNSettings.parse(state["settings"])
                history, inputs = settings.history, settings.inputs
                device = resolve_device(device, weights_of(game, settings))
                network = _load(game, Path(path), state, device, network)
        self.network = network
        self.history = history
        self._inputs = Inputs(game, inputs)
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
        inputs = self._inputs.of(views.observations)
        if self.history > 1:
            past = self._inputs.of(views.past_observations(self.history - 1))
            inputs = np.concatenate([past.reshape(len(views), -1), inputs], axis=1)
        return self.network.values_of(inputs)


def _read(game: Game, path: Path) -> dict[str, Any]:
    state = load_state(path, game)
    if "network" not in state or "settings" not in state:
        raise CheckpointError(f"{path} holds no network of dqn: give the folder of a dqn run")
    return state


def _load(game: Game, path: Path, state: dict[str, Any], device: str, name: str) -> Network:
    settings = DQNSettings.parse(state["settings"])
    try:
        network = make_network(game, settings, device, name=name)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None
    # A checkpoint of the learner has both, a player only what it plays with.
    name = "average" if "average" in state else "network"
    weights = saved_array(state, name, np.float32, tuple(network.weights.shape))
    network.weights.copy_(torch.from_numpy(weights))
    return network
