"""The random player: everybody's first opponent, and the zero of every rating."""

from __future__ import annotations

from agents.base import Actions, Agent, Probs, Views
from envs.core.batch import random_actions

__all__ = ["RandomAgent"]


class RandomAgent(Agent):
    """Plays uniformly among the legal actions."""

    def act(self, views: Views) -> Actions:
        """Draw once from each row's generator."""
        return random_actions(views.masks, views.rngs)

    def policy(self, views: Views) -> Probs:
        """The same for every legal action."""
        probs: Probs = views.masks / views.masks.sum(axis=1, keepdims=True)
        return probs
