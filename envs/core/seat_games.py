"""Games with a seat for a learner: the others move by themselves, and new games begin in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from common.errors import MasqueradeError
from common.saved import restore, saved_array
from envs.core.kernels import OVER
from envs.core.rollouts import Rollouts

__all__ = ["SeatGames", "Seating"]

Indices = npt.NDArray[np.int64]
Seating = Callable[[Indices], tuple[Indices, Indices]]
"""From game numbers to the learner's seat in each, [n], and who has all seats, [n, players]."""

# Games that may end in each row before the learner is asked anything.
MAX_DEALS = 1_000


class SeatGames:
    """The games of an engine, in each of which one seat (or every seat) is the learner's.

    Args:
        rollouts: the engine; the learner's seats are those of the ``CALLER``.
        seating: who sits where in game number *n*.
        is_by_row: every row plays games 0, 1, 2 ... of its own seed; else all rows take the next
            number of one series.
    """

    def __init__(self, rollouts: Rollouts, seating: Seating, is_by_row: bool = False) -> None:
        """No game is begun yet."""
        self.rollouts = rollouts
        self.batch = rollouts.batch
        self.seats: Indices = np.zeros(self.batch.size, np.int64)
        """[size] the learner's seat in each row."""
        self._seating = seating
        self._is_by_row = is_by_row
        self._num_begun: Indices = np.zeros(self.batch.size, np.int64)
        self._told = np.zeros(self.batch.size)

    @property
    def is_over(self) -> npt.NDArray[np.bool_]:
        """[size] whether the game of a row has ended."""
        is_over: npt.NDArray[np.bool_] = self.batch.turns == OVER
        return is_over

    def deal(
        self, rows: Indices | None = None, on_end: Callable[[Indices], None] | None = None
    ) -> None:
        """Play on until the learner is to move: others move, new games begin where one is over.

        Args:
            rows: where new games may begin; all rows by default.
            on_end: is told of rows whose games are over before new ones begin in them.
        """
        allowed = np.arange(self.batch.size) if rows is None else rows
        num_deals = 0
        while True:
            over = allowed[self.batch.turns[allowed] == OVER]
            if len(over):
                if on_end and self._num_begun.any():
                    on_end(over)
                self._begin(over)
                num_deals += len(over)
                if num_deals > MAX_DEALS * self.batch.size:
                    raise MasqueradeError(
                        f"the learner was never asked in {num_deals} games of {self.batch.game!r}"
                    )
            elif not self.rollouts.advance():
                return

    def _begin(self, rows: Indices) -> None:
        first = self._num_begun[rows] if self._is_by_row else self._num_begun.sum()
        numbers = first + (0 if self._is_by_row else np.arange(len(rows)))
        self._num_begun[rows] += 1
        self.seats[rows], seating = self._seating(numbers)
        self.rollouts.begin(rows, numbers, seating)
        self._told[rows] = 0.0

    def abandon(self, rows: Indices) -> None:
        """Break games off: ``deal`` begins new ones in these rows."""
        for row in rows[~self.is_over[rows]]:
            self.batch.end(int(row), self.batch.totals[row])

    def act(self, rows: Indices, actions: Indices, loses_illegal: bool = False) -> None:
        """Play the learner's actions and let the others answer.

        Args:
            rows: where the learner is to move.
            actions: what it plays there.
            loses_illegal: an illegal action forfeits the game; else it is an error, and nothing is
                played.
        """
        if loses_illegal:
            is_legal = self.batch.is_legal(rows, actions)
            for row in rows[~is_legal]:
                self.rollouts.forfeit(int(row))
            rows, actions = rows[is_legal], actions[is_legal]
        self.rollouts.step(rows, actions)
        self.rollouts.run()

    def rewards(self, rows: Indices) -> npt.NDArray[np.float64]:
        """What the learner was paid since it was last told: a game's rewards add up to its return.

        Asked after ``act`` they reach up to the next decision or the end, so a loser sees the loss.
        """
        totals = self.batch.totals[rows, self.seats[rows]]
        rewards: npt.NDArray[np.float64] = totals - self._told[rows]
        self._told[rows] = totals
        return rewards

    def observe(self, rows: Indices) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]:
        """The learner's observations and masks; where a game is over, no action is legal."""
        return self.batch.observe(rows, self.seats[rows])

    # ---- keeping ---------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """All games in play, all but the roots of their chance."""
        own = {
            "seats": self.seats.copy(),
            "told": self._told.copy(),
            "num_begun": self._num_begun.copy(),
        }
        return {**self.rollouts.state_dict(), **own}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on with games that were saved with the same game, size and seed."""
        self.rollouts.load_state_dict(state)
        size, players = self.batch.size, self.batch.game.facts.num_players
        self.seats[:] = saved_array(state, "seats", np.int64, (size,), 0, players - 1)
        self._num_begun[:] = saved_array(state, "num_begun", np.int64, (size,), 0, 2**48)
        restore({"told": self._told}, state)
