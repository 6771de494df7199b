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
from agents.learning.learner import Learner, State, Task
from agents.learning.opponents import Opponents
from agents.tabular.games import RANDOM
from agents.tabular.in_step import play_in_step
from agents.tabular.player import make_player
from agents.tabular.series import Played, play_together
from agents.tabular.settings import TabularSettings
from agents.tabular.values import Mind
from agents.uniform import RandomAgent
from envs.core.options import Options
from envs.core.rng import stream

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
        """Begin with an empty table, or the values the coding begins with."""
        super().__init__(task, settings)
        assert isinstance(settings, TabularSettings)
        self.mind = Mind(task.game, self.rule, settings, task.total)
        self.streams = stream(task.seed, "chance"), stream(task.seed, "choice")

    def update(self, amount: int) -> Mapping[str, float]:
        """Play ``amount`` games and learn from every turn."""
        numbers = np.arange(self.num_done, self.num_done + amount)
        returns, lengths = [0.0], [0.0]
        for start in range(0, amount, _CHUNK):
            for played, seats in self._play(numbers[start : start + _CHUNK]):
                returns.extend(played.returns[np.arange(len(seats)), seats])
                lengths.extend(played.lengths)
        self.num_done += amount
        num_games = max(amount, 1)
        return {
            "charts/return": float(np.sum(returns)) / num_games,
            "charts/length": float(np.sum(lengths)) / num_games,
            **self.mind.take_portion(),
        }

    def _play(self, numbers: Indices) -> list[tuple[Played, Indices]]:
        """Play a chunk of games; with each part the learner's seat in each game."""
        task = self.task
        num_players = self.game.facts.num_players
        opponents = task.opponents
        agents = [] if opponents is None else opponents.agents
        self._know(len(agents))
        places = np.full(len(numbers), Opponents.LEARNER)
        if opponents is not None:
            places = opponents.draw(numbers)
        randoms = [i for i, agent in enumerate(agents) if type(agent) is RandomAgent]
        is_alone = places == Opponents.LEARNER
        is_quick = is_alone | np.isin(places, randoms)
        seats = np.where(is_alone, 0, numbers % num_players)
        seating = np.full((len(numbers), num_players), RANDOM)
        seating[is_alone] = 0
        seating[np.arange(len(numbers)), seats] = 0
        # Row 0 of the memory is the learner itself, or everybody if there is one profile for all.
        who = np.where(seating == 0, 0, places[:, None] + 1)
        if not self.mind.settings.lie_by_opponent:
            who[:] = 0
        parts = []
        if is_quick.any():
            quick = numbers[is_quick], seating[is_quick], who[is_quick]
            parts.append((play_together([self.mind], *quick, self.streams), seats[is_quick]))
        if not is_quick.all():
            slow = ~is_quick
            games = numbers[slow], seating[slow], who[slow], places[slow]
            parts.append((play_in_step(self.mind, agents, *games, self.streams), seats[slow]))
        return parts

    def _know(self, num_agents: int) -> None:
        """Have a profile for every opponent, if that is wanted."""
        if self.mind.settings.lie_by_opponent and self.mind.settings.lies != "off":
            self.mind.profiles.grow(1 + num_agents)

    def player(self) -> Agent:
        """A player with a copy of the table."""
        return make_player(self.game, self.mind.state_dict())

    def state_dict(self) -> State:
        """The table, the profiles, and how many games have been played."""
        return {**self.mind.state_dict(), "num_done": self.num_done}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Become the learner that ``state_dict`` was taken from."""
        self.mind.load_state_dict(state)
        self.num_done = int(state["num_done"])


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
    """Q-learning with traces that end at an exploring action (Watkins, 1989)."""

    rule = "q_lambda"


class SarsaLambda(TabularLearner):
    """SARSA with traces (Rummery and Niranjan, 1994)."""

    rule = "sarsa_lambda"
