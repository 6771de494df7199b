"""The Offline learner: Q-learning in a table, and a classifier made of it when a player is wanted.

1. Q-learning over a bounded table (``agents.tabular``);
2. ``collect``: games are played with the table, and every position met is noted with the action
   that the table thinks best;
3. ``fit``: a network with one output for each action is trained on these by softmax and
   cross-entropy;
4. the player asks the network, not the table, whose values are used for nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from pydantic import Field
from torch import Tensor

from agents.base import Actions, Agent, Views
from agents.dqn.agent import choose
from agents.learning.files import load_player, reading
from agents.learning.games import LearnerGames, roles_in
from agents.learning.learner import Learner, State, Task, named, part
from agents.learning.networks import Adam, Inputs, PlainNetwork
from agents.tabular.learner import QLearning
from agents.tabular.model import TabularSettings
from common.saved import saved_array, saved_number
from envs.core.game import Game
from envs.core.options import Options, option
from envs.core.rng import stream


class OfflineSettings(Options):
    """Settings of the table, of the games that examples are taken from, and of the network.

    >>> OfflineSettings(table={"max_entries": 50_000}).table.max_entries
    50000
    """

    table: TabularSettings = TabularSettings()
    inputs: tuple[str, ...] = Field(
        default=(), description="fields of the observation the network sees; empty: all"
    )
    sample_games: int = option(
        20_000, low=1, high=10**9, help="games with the table in which examples are collected"
    )
    sample_exploration: float = option(
        0.1, low=0.0, high=1.0, help="share of random moves in these games"
    )
    max_examples: int = option(10_000, low=1, high=10**8, help="positions kept, the most frequent")
    hidden: tuple[int, ...] = option(
        (100,), low=1, high=8192, is_list=True, help="units of each hidden layer"
    )
    learning_rate: float = option(3e-3, low=0.0, high=1.0, help="step size of Adam")
    batch_size: int = option(64, low=1, high=65_536, help="examples of one update")
    epochs: int = option(100, low=1, high=10**6, help="passes over the examples, at most")
    patience: int = option(
        20, low=1, high=10**6, help="passes without a better accuracy before it stops"
    )


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
            state = load_player(path, game, "offline", "classifier")
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


NUM_ROWS = 256


class Examples(NamedTuple):
    """What a network is to learn."""

    inputs: npt.NDArray[np.float32]
    """[n, input_size] no two are equal; the most frequent come first."""
    actions: npt.NDArray[np.int64]
    """[n] the best, by the table."""
    counts: npt.NDArray[np.int64]
    """[n] how often each was met."""


def collect(task: Task, player: Agent, settings: OfflineSettings) -> Examples:
    """Let a player of a table play, and note what it does where it knows what it does.

    Args:
        task: the game and who else sits at the table.
        player: its ``policy`` is all on one action where it knows one to be best.
        settings: how many games, with how many random moves, so that other positions are met too;
            what an example shows of a position, and how many of them are kept.
    """
    inputs = Inputs(task.game, settings.inputs)
    games = LearnerGames(task, NUM_ROWS)
    rng = stream(task.seed, "examples")
    rows = np.arange(NUM_ROWS)
    counts: dict[bytes, int] = {}
    best: dict[bytes, int] = {}
    num_over = 0

    def note_ends(ended: npt.NDArray[np.int64]) -> None:
        nonlocal num_over
        num_over += len(ended)

    while num_over < settings.sample_games:
        games.deal(on_end=note_ends)
        views = games.batch.views(rows)
        probs = player.policy(views)
        assert probs is not None, "a table knows its policy"
        shown = inputs.of(views.observations)
        for row in np.flatnonzero(probs.max(axis=1) > 0.999):
            key = shown[row].tobytes()
            counts[key] = counts.get(key, 0) + 1
            best[key] = int(probs[row].argmax())
        exploration = settings.sample_exploration
        actions = choose(probs.astype(np.float32), views.masks, exploration, rng)
        games.rollouts.step(rows, actions)
    kept = sorted(counts, key=lambda key: (-counts[key], key))[: settings.max_examples]
    found = np.frombuffer(b"".join(kept), np.float32).reshape(len(kept), inputs.size)
    return Examples(
        found.copy(),
        np.array([best[key] for key in kept], np.int64),
        np.array([counts[key] for key in kept], np.int64),
    )


def accuracy(
    network: PlainNetwork, inputs: npt.NDArray[np.float32], actions: npt.NDArray[np.int64]
) -> float:
    """The share of examples whose action the network rates best."""
    return float((network.values_of(inputs).argmax(axis=1) == actions).mean())


def fit(
    network: PlainNetwork,
    inputs: npt.NDArray[np.float32],
    actions: npt.NDArray[np.int64],
    rng: np.random.Generator,
    settings: OfflineSettings,
) -> list[float]:
    """Train a network on examples until it names all, or gets no better.

    >>> inputs = np.eye(8, dtype=np.float32)
    >>> actions = np.array([0, 1, 2, 0, 1, 2, 0, 1])
    >>> network = PlainNetwork(input_size=8, num_actions=3, hidden=(16,), seed=0)
    >>> settings = OfflineSettings(learning_rate=0.03)
    >>> fit(network, inputs, actions, np.random.default_rng(0), settings)[-1]
    1.0

    Args:
        network: what is trained; it has its best weights in the end.
        inputs: [n, input_size].
        actions: [n] the right one of each.
        rng: the order of the examples.
        settings: how fast and how long.

    Returns:
        The accuracy on the examples after every pass.
    """
    optimiser = Adam(network.weights)
    wanted = torch.from_numpy(actions)[:, None]
    rows = torch.from_numpy(inputs)
    best, best_weights, found = -1.0, network.weights.clone(), []
    for _ in range(settings.epochs):
        order = rng.permutation(len(inputs))
        for start in range(0, len(order), settings.batch_size):
            chosen = torch.from_numpy(order[start : start + settings.batch_size])
            network.differentiate(rows[chosen], _slopes_towards(wanted[chosen]))
            optimiser.step(network.weights, network.gradient, settings.learning_rate)
        found.append(accuracy(network, inputs, actions))
        if found[-1] > best:
            best = found[-1]
            best_weights.copy_(network.weights)
        if best == 1.0 or _has_stalled(found, settings.patience):
            break
    network.weights.copy_(best_weights)
    return found


def _slopes_towards(wanted: Tensor) -> Any:
    """How cross-entropy changes with each output: the probabilities, less 1 at the right one."""

    def slopes_of(values: Tensor) -> Tensor:
        slopes = torch.softmax(values, dim=1)
        ones = torch.ones(wanted.shape)
        return slopes.scatter_add_(1, wanted, -ones).div_(len(values))

    return slopes_of


def _has_stalled(found: Sequence[float], patience: int) -> bool:
    return len(found) > patience and max(found[-patience:]) <= max(found[:-patience])


TABLE = "table."


class OfflineLearner(Learner):
    """Learns by a table and plays by a network.

    >>> from envs import make_game
    >>> settings = OfflineSettings(sample_games=500, hidden=(16,))
    >>> learner = OfflineLearner(Task(make_game("kuhn_v0")), settings)
    >>> _ = learner.update(5_000)
    >>> type(learner.player()).__name__, learner.accuracy
    ('OfflineAgent', 1.0)
    """

    settings_class = OfflineSettings
    unit = "games"
    settings: OfflineSettings

    def __init__(self, task: Task, settings: OfflineSettings) -> None:
        """Begin with an empty table and without a network."""
        super().__init__(task, settings)
        self._table = QLearning(task, settings.table)
        self._fitted_at = -1
        self._weights: Any = None
        self.accuracy = 0.0
        """Of the last classifier, on its examples."""
        self.num_examples = 0

    def update(self, num_steps: int) -> Mapping[str, float]:
        """Let the table learn from ``num_steps`` games."""
        metrics = dict(self._table.update(num_steps))
        self.num_steps = self._table.num_steps
        metrics["charts/accuracy"] = self.accuracy
        metrics["charts/examples"] = float(self.num_examples)
        return metrics

    def player(self) -> Agent:
        """A player whose classifier knows the present table."""
        return OfflineAgent(self.game, state=self.player_state())

    def player_state(self) -> State:
        """The classifier, trained now if the table has learnt since the last one."""
        self._fit()
        role = self.task.role
        return {"settings": self.settings.to_dict(), "role": role, "classifier": self._weights}

    def _fit(self) -> None:
        if self._fitted_at == self.num_steps:
            return
        settings = self.settings
        examples = collect(self.task, self._table.player(), settings)
        words = stream(self.task.seed, "classifier")
        network = make_classifier(self.game, settings, int(words[0] >> np.uint64(1)))
        if len(examples.actions):
            rng = np.random.default_rng(int(words[1]))
            self.accuracy = max(fit(network, examples.inputs, examples.actions, rng, settings))
        self.num_examples = len(examples.actions)
        self._weights = network.weights.numpy().copy()
        self._fitted_at = self.num_steps

    def state_dict(self) -> State:
        """The table and the last classifier."""
        fitted = {} if self._weights is None else {"classifier": self._weights}
        return {
            **named(TABLE, self._table.state_dict()),
            **fitted,
            "settings": self.settings.to_dict(),
            "role": self.task.role,
            "fitted_at": self._fitted_at,
            "accuracy": self.accuracy,
            "num_examples": self.num_examples,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Become the learner that ``state_dict`` was taken from."""
        self._table.load_state_dict(part(state, TABLE))
        self.num_steps = self._table.num_steps
        self._weights = state.get("classifier")  # its player looks at it
        self._fitted_at = saved_number(state, "fitted_at", low=-1)
        self.accuracy = float(saved_number(state, "accuracy", is_whole=False))
        self.num_examples = saved_number(state, "num_examples")
