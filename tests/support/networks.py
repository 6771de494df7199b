"""Networks of somebody's own, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

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


class Layers(nn.Module):
    """The layers of a plain network, as torch writes them."""

    def __init__(
        self, observation_size: int, num_actions: int, hidden: Sequence[int], dueling: bool
    ) -> None:
        super().__init__()
        sizes = [observation_size, *hidden]
        self.hidden = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(sizes))
        self.half = sizes[-1] // 2 if dueling else 0
        self.value = nn.Linear(self.half, 1) if dueling else None
        self.actions = nn.Linear(sizes[-1] - self.half, num_actions)

    def forward(self, inputs: Tensor) -> Tensor:
        for layer in self.hidden:
            inputs = torch.relu(layer(inputs))
        added: Tensor = self.actions(inputs[:, self.half :])
        if self.value is None:
            return added
        value: Tensor = self.value(inputs[:, : self.half])
        return value + added - added.mean(1, keepdim=True)


class Normed(nn.Module):
    """With statistics, which are buffers."""

    def __init__(self, observation_size: int, num_actions: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(observation_size)
        self.norm.running_mean = torch.randn(observation_size)
        self.last = nn.Linear(observation_size, num_actions)

    def forward(self, inputs: Tensor) -> Tensor:
        rated: Tensor = self.last(self.norm(inputs))
        return rated


class Wrong(Normed):
    """Forgets the actions."""

    def forward(self, inputs: Tensor) -> Tensor:
        return super().forward(inputs).sum(1)


class Told(nn.Linear):
    """Keeps what it is told of the game."""

    def __init__(
        self, observation_size: int, num_actions: int, game: Any, fields: Any, history: int
    ) -> None:
        super().__init__(observation_size, num_actions)
        self.game, self.fields, self.history = game, fields, history
