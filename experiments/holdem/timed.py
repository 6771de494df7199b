"""Deep Q-learning whose exploration follows the clock, as the thesis on hold'em has it.

There epsilon falls after each hundredth of the *time* of the run. Such a run cannot be repeated
draw for draw: how far it has come depends on the machine. So this is no setting of ``dqn``, but a
learner of its own, ``agent: {id: "experiments.holdem.timed:TimedDQN"}``.
"""

from __future__ import annotations

import time

from agents.dqn.learner import DQNLearner, Log
from agents.learning.learner import State


class TimedDQN(DQNLearner):
    """A DQN learner that goes by seconds of learning.

    Its settings are those of ``dqn``, and so are its players. Only ``exploration_games`` means
    something else: the *seconds* that the run will learn for. Without it the run goes by its steps.
    """

    player_id = "dqn"
    clock = staticmethod(time.perf_counter)
    """Seconds; another clock may be handed in."""
    seconds = 0.0
    """Of learning so far; what happens between two updates does not count."""

    @property
    def progress(self) -> float:
        """The part of the time that is over."""
        length = self.settings.exploration_games
        return min(self.seconds / length, 1.0) if length else super().progress

    def update(self, num_steps: int) -> dict[str, float]:
        """Learn, and count the seconds until the last update of the network."""
        self._begun = self.clock() - self.seconds
        metrics = super().update(num_steps)
        self.seconds = self.clock() - self._begun
        return {**metrics, "charts/exploration": self.exploration}

    def _play(self, at_most: int, log: Log) -> int:
        self.seconds = self.clock() - self._begun
        return super()._play(at_most, log)

    def state_dict(self) -> State:
        """What every DQN learner keeps, and the seconds."""
        return {**super().state_dict(), "seconds": self.seconds}

    def load_state_dict(self, state: State) -> None:
        """Become the learner that ``state`` was taken from."""
        super().load_state_dict(state)
        self.seconds = float(state["seconds"])
