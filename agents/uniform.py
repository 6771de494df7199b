"""The random player: everybody's first opponent, and the zero of every rating."""

from __future__ import annotations

from agents.base import Actions, Agent, Views
from envs.core.batch import random_actions

__all__ = ["RandomAgent"]


class RandomAgent(Agent):
    """Plays uniformly among the legal actions."""

    def act(self, views: Views) -> Actions:
        """Draw once from each row's generator."""
        return random_actions(views.masks, views.rngs)
