"""One small network for everybody: two hidden layers, fixed weights, actions drawn by softmax.

Untrained weights give almost equal chances, so that games are about as long as those of random
players. What a network costs does not depend on its weights.
"""

from __future__ import annotations

import numpy as np
import torch

from agents.base import Actions, Agent, Views
from envs.core.batch import weighted_actions
from envs.core.game import Game

__all__ = ["NetworkAgent", "make_network"]

WIDTH = 64


def make_network(num_inputs: int, num_actions: int, seed: int) -> torch.nn.Module:
    """The network of one player; torch works in one thread from now on, for all sides."""
    torch.set_num_threads(1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = torch.nn.Sequential(
            torch.nn.Linear(num_inputs, WIDTH),
            torch.nn.ReLU(),
            torch.nn.Linear(WIDTH, WIDTH),
            torch.nn.ReLU(),
            torch.nn.Linear(WIDTH, num_actions),
        )
    return network.eval().requires_grad_(False)


class NetworkAgent(Agent):
    """Our side: one forward pass for all rows."""

    def __init__(self, game: Game, seed: int = 0) -> None:
        """``seed`` gives the weights."""
        super().__init__(game)
        self._network = make_network(game.observation_size, game.facts.num_actions, seed)

    def act(self, views: Views) -> Actions:
        """Draw by softmax among the legal actions."""
        with torch.inference_mode():
            logits = self._network(torch.from_numpy(views.observations)).numpy()
        weights = np.exp(logits - logits.max(axis=1, keepdims=True)) * views.masks
        return weighted_actions(weights, views.rngs)
