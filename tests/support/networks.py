"""A network of somebody's own, for tests."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Gated(nn.Module):
    """Two layers, one of which opens and closes the other."""

    def __init__(self, observation_size: int, num_actions: int, width: int) -> None:
        super().__init__()
        self.inner = nn.Linear(observation_size, width)
        self.gate = nn.Linear(observation_size, width)
        self.last = nn.Linear(width, num_actions)

    def forward(self, observations: Tensor) -> Tensor:
        opened = torch.tanh(self.inner(observations)) * torch.sigmoid(self.gate(observations))
        rated: Tensor = self.last(opened)
        return rated
