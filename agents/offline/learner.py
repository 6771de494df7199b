"""The Offline learner: Q-learning in a table, and a classifier made of it when a player is wanted.

The values of the table are used for nothing but naming the best action of every position.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.base import Agent
from agents.learning.fields import Inputs
from agents.learning.learner import Learner, State, Task, part
from agents.offline.agent import OfflineAgent, make_classifier
from agents.offline.classifier import fit
from agents.offline.examples import collect
from agents.offline.settings import OfflineSettings
from agents.tabular.learner import QLearning
from common.saved import saved_number
from envs.core.rng import stream

__all__ = ["OfflineLearner"]

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
        settings, seed = self.settings, self.task.seed
        examples = collect(
            self.task,
            self._table.player(),
            Inputs(self.game, settings.inputs),
            settings.sample_games,
            settings.sample_exploration,
            settings.max_examples,
        )
        words = stream(seed, "classifier")
        network = make_classifier(self.game, settings, int(words[0] >> np.uint64(1)))
        if len(examples.actions):
            found = fit(
                network,
                examples.inputs,
                examples.actions,
                np.random.default_rng(int(words[1])),
                learning_rate=settings.learning_rate,
                batch_size=settings.batch_size,
                epochs=settings.epochs,
                patience=settings.patience,
            )
            self.accuracy = max(found)
        self.num_examples = len(examples.actions)
        self._weights = network.weights.numpy().copy()
        self._fitted_at = self.num_steps

    def state_dict(self) -> State:
        """The table and the last classifier."""
        state = {f"{TABLE}{name}": value for name, value in self._table.state_dict().items()}
        fitted = {} if self._weights is None else {"classifier": self._weights}
        return {
            **state,
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
