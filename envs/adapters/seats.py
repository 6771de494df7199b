"""One learner's seat in many games: the engine of the Gymnasium environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from envs.core.batch import Batch, random_actions
from envs.core.errors import OptionError
from envs.core.game import Game
from envs.core.kernels import OVER
from envs.core.rng import new_rng, stream
from envs.core.views import Views

__all__ = ["Opponent", "SeatGames", "UniformOpponent"]

Indices = npt.NDArray[np.int64]

# How often a game may be dealt again because it ended before the learner was asked.
MAX_DEALS = 1000


class Opponent(Protocol):
    """Anything that can fill a seat; every agent of this project can."""

    def act(self, views: Views) -> Indices:
        """Choose one action for every row."""


class UniformOpponent:
    """Plays every legal action with the same probability."""

    def act(self, views: Views) -> Indices:
        """Draw from each row's own generator."""
        return random_actions(views.masks, views.rngs)


class SeatGames:
    """``size`` games in which one seat belongs to the learner.

    After ``begin`` and ``act`` every row waits for the learner or is over: the opponents have
    moved.

    Args: game: the game to play. size: how many games side by side. seat: the learner's seat, or
        ``"rotate"`` to move one seat on with every game. opponents: one for all other seats, or a
        list with one for each other seat in order after the learner's;
            uniform random players by default.
        seed: root of all randomness.
    """

    def __init__(
        self,
        game: Game,
        size: int,
        seat: int | str = 0,
        opponents: Opponent | Sequence[Opponent] | None = None,
        seed: int | None = None,
    ) -> None:
        """Seat the opponents; no game is begun yet."""
        num_players = game.facts.num_players
        if seat != "rotate" and not (isinstance(seat, int) and 0 <= seat < num_players):
            raise OptionError(f"seat must be from 0 to {num_players - 1} or 'rotate', not {seat!r}")
        others = (
            list(opponents) if isinstance(opponents, Sequence) else [opponents or UniformOpponent()]
        )
        if len(others) == 1:
            others *= num_players - 1
        if len(others) != num_players - 1:
            raise OptionError(
                f"{game!r} has {num_players - 1} other seats: give one opponent for each, "
                f"not {len(others)}"
            )
        self.game = game
        self.size = size
        self.seat = seat
        self.opponents = others
        self.seats: Indices = np.zeros(size, np.int64)
        """[size] the learner's seat in each row."""
        self._paid = np.zeros(size)
        self.reseed(seed)

    def reseed(self, seed: int | None) -> None:
        """Start the series of games anew; the same seed gives the same games."""
        root = int(new_rng()[0]) if seed is None else seed
        self.batch = Batch(self.game, self.size, stream(root, "chance"), stream(root, "choice"))
        self.num_begun = 0

    @property
    def is_over(self) -> npt.NDArray[np.bool_]:
        """[size] whether the game of a row has ended."""
        is_over: npt.NDArray[np.bool_] = self.batch.turns == OVER
        return is_over

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """The games in play, all but the roots of their chance."""
        own = {"seats": self.seats.copy(), "paid": self._paid.copy()}
        return {**self.batch.state_dict(), **own, "num_begun": np.array(self.num_begun)}

    def load_state_dict(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on with games that were saved after the same ``reseed``."""
        self.batch.load_state_dict(state)
        self.seats[:], self._paid[:] = state["seats"], state["paid"]
        self.num_begun = int(state["num_begun"])

    def begin(self, rows: Indices) -> None:
        """Begin new games in ``rows``, up to the learner's first decision.

        A game that ends before the learner is asked anything teaches nothing; it is dealt again.
        """
        for _ in range(MAX_DEALS):
            numbers = self.num_begun + np.arange(len(rows))
            self.num_begun += len(rows)
            self.batch.begin(rows, numbers)
            is_rotating = self.seat == "rotate"
            self.seats[rows] = numbers % self.game.facts.num_players if is_rotating else self.seat
            self._paid[rows] = 0.0
            self._let_opponents_play(rows)
            rows = rows[self.batch.turns[rows] == OVER]
            if not len(rows):
                return
        raise RuntimeError(
            f"seat {self.seat} of {self.game!r} was never asked in {MAX_DEALS} games"
        )

    def act(self, rows: Indices, actions: Indices) -> npt.NDArray[np.float64]:
        """Play the learner's actions and let the others answer.

        Returns: What the learner was paid since it was last told, up to its next decision or the
            end of the game: the rewards of a game add up to its return, and a loser sees the loss.
        """
        self.batch.step(rows, actions)
        self._let_opponents_play(rows)
        totals = self.batch.totals[rows, self.seats[rows]]
        rewards: npt.NDArray[np.float64] = totals - self._paid[rows]
        self._paid[rows] = totals
        return rewards

    def _let_opponents_play(self, rows: Indices) -> None:
        batch, num_players = self.batch, self.game.facts.num_players
        while True:
            turns = batch.turns[rows]
            waiting = rows[(turns != OVER) & (turns != self.seats[rows])]
            if not len(waiting):
                return
            ahead = (batch.turns[waiting] - self.seats[waiting]) % num_players
            for i, opponent in enumerate(self.opponents, start=1):
                mine = waiting[ahead == i]
                if len(mine):
                    views = batch.views(mine)
                    batch.step(mine, opponent.act(views))
                    batch.keep_draws(mine, views)

    def observe(self, rows: Indices) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]:
        """The learner's observations and masks; where a game is over, no action is legal."""
        return self.batch.observe(rows, self.seats[rows])
