"""Deep Q-learning: everything that can be set, and the player."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from numba import types
from pydantic import Field

from agents.base import Actions, Agent, Views
from agents.learning.device import resolve_device
from agents.learning.experience import ExperienceSettings
from agents.learning.files import CheckpointError, load_player, reading
from agents.learning.games import roles_in
from agents.learning.networks import PLAIN, Inputs, Network, find_module, make_network, weights_of
from common.errors import OptionError
from common.imports import names_from_a_file
from common.saved import saved_array
from envs.core.compiling import compiled, direct
from envs.core.game import Game
from envs.core.kernels import RNG
from envs.core.options import option
from envs.core.rng import Words, random_legal, uniform

REPLAYS = UNIFORM, PRIORITISED, LATEST = "uniform", "prioritised", "latest"
TARGETS = INTERVAL, POLYAK, NONE = "interval", "polyak", "none"
EXPLORATIONS = CONSTANT, LINEAR, PARTS = "constant", "linear", "parts"
OPTIMISERS = ADAM, SGD = "adam", "sgd"
LOSSES = HUBER, SQUARED = "huber", "mse"


class DQNSettings(ExperienceSettings):
    """Settings of deep Q-learning.

    >>> DQNSettings(hidden=(64, 64), replay="prioritised").batch_size
    128
    """

    start: str = Field(
        default="", description="a dqn run or player whose weights it begins with; empty: at random"
    )

    # ---- learning
    optimiser: str = option(ADAM, choices=OPTIMISERS, help="Adam, or plain gradient descent")
    learning_rate: float = option(5e-4, low=0.0, high=1.0, help="step size of the optimiser")
    learning_rate_end: float | None = option(
        None, low=0.0, high=1.0, help="step size at the end of the run, reached in a straight line"
    )
    batch_size: int = option(128, low=1, high=65_536, help="transitions of one update")
    updates_per_step: float = option(
        0.125, low=0.0, high=64.0, help="updates for each of the learner's decisions"
    )
    learn_start: int = option(
        1_000, low=1, high=10**9, help="transitions to collect before the first update"
    )
    # Where chance decides, errors stay large however much is learnt. Squares lead to the mean
    # return of an action, 'huber' to something between mean and median.
    loss: str = option(
        SQUARED, choices=LOSSES, help="errors count by their square, or less if large"
    )
    max_gradient: float = option(
        10.0, low=0.0, high=1e9, help="longer gradients are cut to this length; 0: never"
    )
    # Noise in the targets moves the weights up and down; their average over a while moves less.
    average_share: float = option(
        0.2,
        low=0.0,
        high=1.0,
        help="the player is the network's average over the last so much of its updates; 0: none",
    )

    # ---- targets
    double: bool = option(True, help="the network chooses the next action, the target rates it")
    target: str = option(INTERVAL, choices=TARGETS, help="how the target network follows")
    target_every: int = option(500, low=1, high=10**9, help="interval: updates between two copies")
    target_rate: float = option(0.005, low=0.0, high=1.0, help="polyak: share taken at each update")

    # ---- replay
    replay: str = option(UNIFORM, choices=REPLAYS, help="which transitions an update learns from")
    replay_size: int = option(50_000, low=1, high=10**8, help="transitions kept")
    priority_exponent: float = option(
        0.6, low=0.0, high=1.0, help="prioritised: 0 draws uniformly, 1 in proportion to the error"
    )
    importance: float = option(
        0.4,
        low=0.0,
        high=1.0,
        help="prioritised: correction at the start; 1 (all of it) at the end",
    )

    # ---- exploration
    exploration: str = option(LINEAR, choices=EXPLORATIONS, help="how random moves become rarer")
    exploration_start: float = option(1.0, low=0.0, high=1.0, help="share of random moves at first")
    exploration_end: float = option(0.05, low=0.0, high=1.0, help="the least share")
    exploration_share: float = option(
        0.5, low=1e-9, high=1.0, help="linear: the part of the run until the least is reached"
    )
    exploration_parts: int = option(100, low=1, high=10**6, help="parts: stretches of the run")
    exploration_drop: float = option(0.02, low=0.0, high=1.0, help="parts: fall after each stretch")
    exploration_games: int | None = option(
        None, low=1, high=10**12, help="games that the run will have; null: it goes by its steps"
    )

    def __post_init__(self) -> None:
        """Check what no single setting can."""
        super().__post_init__()
        if self.replay == LATEST and self.replay_size < self.batch_size:
            raise OptionError("replay 'latest' keeps a batch: set replay_size >= batch_size")

    def exploration_after(self, progress: float) -> float:
        """The share of random moves when ``progress`` (0 .. 1) of the run is over.

        >>> settings = DQNSettings(exploration="parts", exploration_end=0.1)
        >>> [round(settings.exploration_after(k / 100), 2) for k in (0, 1, 44, 45, 99)]
        [1.0, 0.98, 0.12, 0.1, 0.1]
        """
        start, end = self.exploration_start, self.exploration_end
        if self.exploration == CONSTANT:
            return start
        if self.exploration == LINEAR:
            return start + (end - start) * min(progress / self.exploration_share, 1.0)
        # A part that is over to within rounding is over.
        num_parts = int(min(progress, 1.0) * self.exploration_parts + 1e-9)
        return max(end, start - self.exploration_drop * num_parts)

    def learning_rate_after(self, progress: float) -> float:
        """The step size when ``progress`` of the run is over."""
        if self.learning_rate_end is None:
            return self.learning_rate
        return self.learning_rate + (self.learning_rate_end - self.learning_rate) * progress

    def average_rate_after(self, num_updates: int) -> float:
        """The share of the network in its average that is renewed by update ``num_updates``.

        >>> DQNSettings(average_share=0.2).average_rate_after(1_000)
        0.005
        """
        return min(1.0, 1.0 / max(self.average_share * num_updates, 1.0))

    def importance_after(self, progress: float) -> float:
        """The exponent of the importance weights when ``progress`` of the run is over."""
        return self.importance + (1.0 - self.importance) * progress


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
            state = load_player(path, game, "dqn", "network")
            self.roles = roles_in(state)
            with reading(str(path), "a network of dqn"):
                settings = DQNSettings.parse(state["settings"])
                history, inputs = settings.history, settings.inputs
                device = resolve_device(device, weights_of(game, settings))
                if network != PLAIN:
                    find_module(network)
                network = _load(game, str(path), settings, state, device)
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


def _load(
    game: Game, path: str, settings: DQNSettings, state: dict[str, Any], device: str
) -> Network:
    try:
        with names_from_a_file():
            network = make_network(game, settings, device)
    except OptionError as error:
        raise CheckpointError(f"{path}: {error}") from None
    # A checkpoint of the learner has both, a player only what it plays with.
    name = "average" if "average" in state else "network"
    weights = saved_array(state, name, np.float32, tuple(network.weights.shape))
    network.weights.copy_(torch.from_numpy(weights))
    return network
