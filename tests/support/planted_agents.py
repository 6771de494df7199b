"""Agents of known strength, for tournaments whose right answer is known before they are played."""

from __future__ import annotations

from typing import Any

import numpy as np

from agents import make_agent
from agents.base import Agent, Views
from envs.core.game import Game
from envs.core.rng import uniform


class Folder(Agent):
    """Kuhn poker: passes with a given probability and bets otherwise, whatever the card.

    Against a player who always passes, betting more often wins more: a ladder by ``passes``.
    """

    def __init__(self, game: Game, passes: float) -> None:
        super().__init__(game)
        self.passes = passes

    def act(self, views: Views) -> Any:
        draws = np.array([uniform(rng) for rng in views.rngs])
        return np.where(draws < self.passes, 0, 1)


class Raiser(Folder):
    """Kuhn poker: always bets."""

    def __init__(self, game: Game) -> None:
        super().__init__(game, passes=0.0)


class Broken(Agent):
    """Fails in every game."""

    def act(self, views: Views) -> Any:
        raise RuntimeError("always")


class Blunderer(Agent):
    """Plays like the rule player of its game, but now and then at random.

    The more often it is right the better it plays: a ladder by ``right``.
    """

    def __init__(self, game: Game, right: float = 0.9) -> None:
        super().__init__(game)
        self.right = right
        self._rule = make_agent(f"{game.id.rpartition('_v')[0]}_rule", game)
        self._random = make_agent("random", game)

    def act(self, views: Views) -> Any:
        is_right = np.array([uniform(rng) for rng in views.rngs]) < self.right
        return np.where(is_right, self._rule.act(views), self._random.act(views))
