"""The games that a learner plays while it learns: many at once, its opponents included.

Game *n* is dealt from (seed, *n*), and who is met in it depends on (seed, *n*) too. In each the
learner has one seat, which changes from game to game; the other seats belong to whoever was drawn,
or to the learner itself.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.learning.learner import Task
from envs.core.rollouts import CALLER, Rollouts
from envs.core.seat_games import SeatGames

__all__ = ["LearnerGames"]

Indices = npt.NDArray[np.int64]


class LearnerGames(SeatGames):
    """``size`` games in play.

    Args:
        task: the game, the seed, the opponents and the seats the learner may have.
        size: how many games side by side.
        num_past: how many earlier observations are kept for earlier selves that look back.
        myself: who plays the other seats where the learner has drawn itself. Without such a player
            it is the learner's turn in these seats too.
    """

    def __init__(
        self, task: Task, size: int, num_past: int = 0, myself: Agent | None = None
    ) -> None:
        """Set up the games; ``deal`` begins them."""
        self._opponents = task.opponents
        self._own_seats = np.array(task.seats)
        self._num_openings = task.game.facts.num_openings
        self.myself = myself
        rollouts = Rollouts(task.game, self._players(), size, task.seed, num_past=num_past)
        super().__init__(rollouts, self._draw_seating)
        for agent in self._opponents.agents if self._opponents else []:
            agent.begin_match()

    def _players(self) -> list[Agent]:
        """Earlier selves join while it learns, so the list is made anew."""
        others = self._opponents.agents if self._opponents else []
        return [self.myself, *others]  # type: ignore[list-item]  # nobody sits there without one

    def _draw_seating(self, numbers: Indices) -> tuple[Indices, Indices]:
        num_players = self.batch.game.facts.num_players
        # Whoever opens changes from game to game as well, and must not always be the learner.
        seats = self._own_seats[numbers // self._num_openings % len(self._own_seats)]
        self.rollouts.players = self._players()
        seating = np.zeros((len(numbers), num_players), np.int64)
        if self._opponents is not None:
            seating = 1 + self._opponents.draw(numbers, num_players)
        if self.myself is None:
            seating[seating == 0] = CALLER
        seating[np.arange(len(numbers)), seats] = CALLER
        return seats, seating
