"""The environment a model learns in: our single-agent environment with drawn opponents."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.opponents import Opponents
from envs.adapters.single_agent import SingleAgentEnv
from envs.core.game import Game

__all__ = ["SchoolEnv"]

_LARGE = 2**32


class SchoolEnv(SingleAgentEnv):
    """A seat that moves on with every game, against whoever is drawn for that game.

    Args:
        game: the game to learn.
        number: which of the model's environments this is; each plays other games.
        seed: root of all chance.
        opponents: who is met.
        myself: the player that sits in the other seats when the learner is drawn itself.
    """

    def __init__(
        self, game: Game, number: int, seed: int, opponents: Opponents, myself: Agent
    ) -> None:
        """Seat nobody yet: opponents come with the first game."""
        super().__init__(game, seat="rotate", illegal="lose")
        self._drawn = opponents
        self._myself = myself
        self._first = number * _LARGE
        self._place = Opponents.LEARNER
        self._games.reseed(seed * 1_000_003 + number)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Draw the opponent of the next game and begin it; chance was seeded at the start."""
        number = np.array([self._first + self._games.num_begun])
        self._meet(int(self._drawn.draw(number)[0]))
        return super().reset(options=options)

    def _meet(self, place: int) -> None:
        self._place = place
        chosen = self._myself if place == Opponents.LEARNER else self._drawn.agents[place]
        self._games.opponents = [chosen] * (self.game.facts.num_players - 1)

    def state_dict(self) -> dict[str, Any]:
        """The game in play."""
        return {**self._games.state_dict(), "place": np.array(self._place)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on with that game."""
        self._games.load_state_dict(state)
        self._meet(int(state["place"]))
        self._look()
