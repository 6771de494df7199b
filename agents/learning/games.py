"""The games that a learner plays while it learns: many at once, its opponents included.

Game *n* is dealt from (seed, *n*), and who is met in it depends on (seed, *n*) too. In each the
learner has one seat, which changes from game to game; the other seats belong to whoever was drawn,
or to the learner itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.learning.learner import Opponents, Task
from common.errors import OptionError
from envs.core.rollouts import CALLER, Rollouts, SeatGames

Indices = npt.NDArray[np.int64]


def roles_in(state: Mapping[str, Any]) -> tuple[str, ...]:
    """The roles that the player of a learner's state can play; empty: all of them.

    >>> roles_in({"role": "detective"}), roles_in({"role": ""}), roles_in({})
    (('detective',), (), ())
    """
    role = state.get("role")
    return (str(role),) if role else ()


def draw_seats(task: Task, numbers: Indices) -> tuple[Indices, Indices]:
    """Who sits where in games of these numbers.

    An opponent that cannot play the role of a seat leaves it to the learner, if that is a role of
    the learner's: so a learner that is drawn with a rule player for the other side has its whole
    team.

    >>> from envs import make_game
    >>> seats, places = draw_seats(Task(make_game("kuhn_v0")), np.arange(3))
    >>> seats.tolist(), places.tolist()
    ([0, 1, 0], [[-1, -1], [-1, -1], [-1, -1]])

    Returns:
        The learner's first seat in each game, [n], and who has all seats, [n, players]: a place in
        ``task.opponents.agents``, or ``Opponents.LEARNER``.
    """
    facts = task.game.facts
    own = np.array(task.seats)
    # Whoever opens changes from game to game as well, and must not always be the learner.
    seats = own[numbers // facts.num_openings % len(own)]
    places = np.full((len(numbers), facts.num_players), Opponents.LEARNER)
    if task.opponents is not None:
        places = task.opponents.draw(numbers, facts.num_players)
        for place, agent in enumerate(task.opponents.agents):
            for seat in range(facts.num_players if agent.roles else 0):
                if not agent.can_sit(seat):
                    places[places[:, seat] == place, seat] = Opponents.LEARNER
    places[np.arange(len(numbers)), seats] = Opponents.LEARNER
    others = np.setdiff1d(np.arange(facts.num_players), own)
    if (places[:, others] == Opponents.LEARNER).any():
        raise OptionError(
            f"a learner of role '{task.role}' sits in no seat of another role: "
            "give opponents that play the others, not self or past"
        )
    return seats, places


class LearnerGames(SeatGames):
    """``size`` games in play.

    Args:
        task: the game, the seed, the opponents and the seats the learner may have.
        size: how many games side by side.
        num_past: how many earlier observations are kept for earlier selves that look back.
    """

    def __init__(self, task: Task, size: int, num_past: int = 0) -> None:
        """Set up the games; ``deal`` begins them."""
        self._task = task
        self._myself: Agent | None = None
        # With a record, games of a checkpoint can be played again before anybody relies on them.
        rollouts = Rollouts(
            task.game, self._players(), size, task.seed, has_record=True, num_past=num_past
        )
        super().__init__(rollouts, self._draw_seating)
        for agent in task.opponents.agents if task.opponents else []:
            agent.begin_match()

    def play_as(self, myself: Agent) -> None:
        """Let a player have the other seats where the learner has drawn itself.

        Without one it is the learner's turn in these seats too.
        """
        self._myself = myself
        # Games that were saved in the middle go on before another is begun.
        self.rollouts.players = self._players()

    def _players(self) -> list[Agent]:
        """Earlier selves join while it learns, so the list is made anew."""
        others = self._task.opponents.agents if self._task.opponents else []
        return [self._myself, *others]  # type: ignore[list-item]  # nobody sits there without one

    def _draw_seating(self, numbers: Indices) -> tuple[Indices, Indices]:
        self.rollouts.players = self._players()
        seats, places = draw_seats(self._task, numbers)
        seating = 1 + places
        if self._myself is None:
            seating[seating == 0] = CALLER
        seating[np.arange(len(numbers)), seats] = CALLER
        return seats, seating
