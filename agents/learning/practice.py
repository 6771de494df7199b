"""The games that a network practises in: many at once, its opponents included.

Game *n* is dealt from (seed, *n*), and who is met in it depends on (seed, *n*) too. In each the
learner has one seat, which changes from game to game; the other seats belong to whoever was drawn.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.learning.learner import State, Task, part
from agents.learning.opponents import Opponents
from envs.core.batch import Batch
from envs.core.errors import MasqueradeError
from envs.core.kernels import OVER
from envs.core.rng import stream

__all__ = ["PracticeGames"]

Indices = npt.NDArray[np.int64]

# Games that may end in all rows before the learner is asked anything.
MAX_DEALS = 1_000


class PracticeGames:
    """``size`` games in play.

    Args:
        task: the game, the seed and the opponents.
        size: how many games side by side.
        has_record: keep the moves of every game, for earlier selves that look back.
        myself: who plays the other seats where the learner has drawn itself. Without such a player
            it is the learner's turn in these seats too.
    """

    def __init__(
        self, task: Task, size: int, has_record: bool = False, myself: Agent | None = None
    ) -> None:
        """Set up the tables; ``deal`` begins the games."""
        game, seed = task.game, task.seed
        self._opponents = task.opponents
        agents = self._agents
        is_recorded = has_record or any(agent.wants_tokens for agent in agents)
        self.batch = Batch(game, size, stream(seed, "chance"), stream(seed, "choice"), is_recorded)
        self.myself = myself
        self.seats: Indices = np.zeros(size, np.int64)
        """[size] the learner's seat."""
        self._met: Indices = np.full(size, Opponents.LEARNER, np.int64)
        """[size] who has the other seats."""
        self._num_openings = len(game.openings)
        self._next_number = 0
        for agent in agents:
            agent.begin_match()

    @property
    def _agents(self) -> list[Agent]:
        return self._opponents.agents if self._opponents else []

    def deal(self, finish: Callable[[Indices], None]) -> None:
        """Play on until the learner is to move in every row: others move, new games begin.

        Args:
            finish: is told of rows whose games are over before new ones begin in them.
        """
        batch = self.batch
        num_deals = 0
        if not self._next_number:
            self._begin(np.arange(batch.size))
        while True:
            over = np.flatnonzero(batch.turns == OVER)
            if len(over):
                finish(over)
                self._begin(over)
                num_deals += len(over)
                if num_deals > MAX_DEALS * batch.size:
                    raise MasqueradeError(
                        f"the learner was never asked in {num_deals} games of {batch.game!r}"
                    )
            elif not self.let_others_move():
                return

    def let_others_move(self) -> bool:
        """Play a move in every row that waits for somebody else; whether there was any."""
        batch = self.batch
        is_others = (batch.turns != OVER) & (batch.turns != self.seats)
        if self.myself is None:
            is_others &= self._met != Opponents.LEARNER
        waiting = np.flatnonzero(is_others)
        met = self._met[waiting]
        # Rows that wait for the same agent go to it in one call, whatever its seats.
        for place in np.unique(met):
            rows = waiting[met == place]
            views = batch.views(rows)
            batch.step(rows, self._agent(int(place)).act(views))
            batch.keep_draws(rows, views)
        return len(waiting) > 0

    def _agent(self, place: int) -> Agent:
        if place != Opponents.LEARNER:
            return self._agents[place]
        assert self.myself is not None
        return self.myself

    def _begin(self, rows: Indices) -> None:
        numbers = self._next_number + np.arange(len(rows))
        self._next_number += len(rows)
        self.batch.begin(rows, numbers)
        # Whoever opens changes from game to game as well, and must not always be the learner.
        self.seats[rows] = numbers // self._num_openings % self.batch.game.facts.num_players
        if self._opponents is not None:
            self._met[rows] = self._opponents.draw(numbers)

    # ---- memory ----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        """All games in play."""
        state: State = {
            "seats": self.seats.copy(),
            "met": self._met.copy(),
            "next_number": self._next_number,
        }
        for name, array in self.batch.state_dict().items():
            state[f"batch.{name}"] = array
        return state

    def load_state_dict(self, state: State) -> None:
        """Go on with the games that ``state`` was taken from."""
        self.seats[:] = state["seats"]
        self._met[:] = state["met"]
        self._next_number = int(state["next_number"])
        self.batch.load_state_dict(part(state, "batch."))
