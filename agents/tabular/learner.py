"""Table learners as ``train.py`` knows them.

Games against itself and against random play are played in one compiled call, hundreds of thousands
of decisions a second. Games against other agents go in lock-step, so that an agent answers for many
games at a time; what the learner does with a turn is the same compiled code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.learning.games import draw_seats
from agents.learning.learner import Learner, State, Task
from agents.learning.opponents import Opponents
from agents.tabular.games import RANDOM
from agents.tabular.model import TabularModel
from agents.tabular.player import make_player
from agents.tabular.rollouts import play_rollouts
from agents.tabular.self_play import GameResults, play_series
from agents.tabular.settings import TabularSettings
from agents.uniform import RandomAgent
from common.saved import saved_number
from envs.core.options import Options
from envs.core.rng import stream
from envs.core.rollouts import CALLER

__all__ = [
    "DoubleQ",
    "ExpectedSarsa",
    "QLambda",
    "QLearning",
    "Sarsa",
    "SarsaLambda",
    "TabularLearner",
]

# So many games in a row are sorted by opponent, those that are compiled first.
_CHUNK = 1024

Indices = npt.NDArray[np.int64]


class TabularLearner(Learner):
    """Learns the values of actions from play, one number for each.

    >>> from envs import make_game
    >>> learner = QLearning(Task(make_game("kuhn_v0")), TabularSettings())
    >>> learner.update(10_000)["charts/table_size"]
    24.0
    """

    settings_class = TabularSettings
    unit = "games"
    rule: ClassVar[str]
    """Its id."""

    def __init__(self, task: Task, settings: Options) -> None:
        """Begin with an empty table, or the values that belong to the abstraction."""
        super().__init__(task, settings)
        assert isinstance(settings, TabularSettings)
        self.model = TabularModel(task.game, self.rule, settings, task.total)
        self.streams = stream(task.seed, "chance"), stream(task.seed, "choice")

    def update(self, num_steps: int) -> Mapping[str, float]:
        """Play ``num_steps`` games and learn from every turn."""
        numbers = np.arange(self.num_steps, self.num_steps + num_steps)
        returns, lengths = [0.0], [0.0]
        for start in range(0, num_steps, _CHUNK):
            for played, seats in self._play(numbers[start : start + _CHUNK]):
                returns.extend(played.returns[np.arange(len(seats)), seats])
                lengths.extend(played.lengths)
        self.model.table.trim()
        self.num_steps += num_steps
        num_games = max(num_steps, 1)
        return {
            "charts/return": float(np.sum(returns)) / num_games,
            "charts/length": float(np.sum(lengths)) / num_games,
            **self.model.take_metrics(),
        }

    def _play(self, numbers: Indices) -> list[tuple[GameResults, Indices]]:
        """Play a chunk of games; with each part the learner's seat in each game."""
        agents = self.task.opponents.agents if self.task.opponents else []
        self.model.know_opponents(len(agents))
        seats, places = draw_seats(self.task, numbers)
        is_own = places == Opponents.LEARNER
        seats[is_own.all(axis=1)] = self.task.seats[0]
        # Row 0 of an opponent model is the learner itself, or everybody if all share one.
        by_opponent = self.model.opponents is not None and self.model.opponents.by_opponent
        ids = places + 1 if by_opponent else np.zeros_like(places)
        is_random = np.isin(places, [i for i, a in enumerate(agents) if type(a) is RandomAgent])
        is_quick = (is_own | is_random).all(axis=1)
        parts = []
        if is_quick.any():
            seating = np.where(is_own, 0, RANDOM)[is_quick]
            quick = play_series(
                [self.model], numbers[is_quick], seating, ids[is_quick], self.streams
            )
            parts.append((quick, seats[is_quick]))
        if not is_quick.all():
            slow = ~is_quick
            seating = np.where(is_own, CALLER, places)[slow]
            played = play_rollouts(
                self.model, agents, numbers[slow], seating, ids[slow], self.task.seed
            )
            parts.append((played, seats[slow]))
        return parts

    def player(self) -> Agent:
        """A player with a copy of the table."""
        return make_player(self.game, self.state_dict())

    def state_dict(self) -> State:
        """The table, the opponent model, and how many games have been played."""
        return {**self.model.state_dict(), "role": self.task.role, "num_steps": self.num_steps}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Become the learner that ``state_dict`` was taken from."""
        self.model.load_state_dict(state)
        self.num_steps = saved_number(state, "num_steps")


class QLearning(TabularLearner):
    """Towards the best next value (Watkins, 1989)."""

    rule = "q_learning"


class Sarsa(TabularLearner):
    """Towards the value of the next action (Rummery and Niranjan, 1994)."""

    rule = "sarsa"


class ExpectedSarsa(TabularLearner):
    """Towards the mean next value (van Seijen and others, 2009)."""

    rule = "expected_sarsa"


class DoubleQ(TabularLearner):
    """Two tables that check each other (van Hasselt, 2010)."""

    rule = "double_q"


class QLambda(TabularLearner):
    """Q-learning with eligibility traces that end at an exploring action (Watkins, 1989)."""

    rule = "q_lambda"


class SarsaLambda(TabularLearner):
    """SARSA with eligibility traces (Rummery and Niranjan, 1994)."""

    rule = "sarsa_lambda"
