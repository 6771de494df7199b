"""A network that is taught which action is right, by softmax and cross-entropy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from agents.learning.networks import Adam, PlainNetwork

__all__ = ["accuracy", "fit"]


def accuracy(
    network: PlainNetwork, inputs: npt.NDArray[np.float32], actions: npt.NDArray[np.int64]
) -> float:
    """The share of examples whose action the network rates best."""
    return float((network.values_of(inputs).argmax(axis=1) == actions).mean())


def fit(
    network: PlainNetwork,
    inputs: npt.NDArray[np.float32],
    actions: npt.NDArray[np.int64],
    rng: np.random.Generator,
    *,
    learning_rate: float = 3e-3,
    batch_size: int = 64,
    epochs: int = 100,
    patience: int = 20,
) -> list[float]:
    """Train a network on examples until it names all, or gets no better.

    >>> inputs = np.eye(8, dtype=np.float32)
    >>> actions = np.array([0, 1, 2, 0, 1, 2, 0, 1])
    >>> network = PlainNetwork(input_size=8, num_actions=3, hidden=(16,), seed=0)
    >>> fit(network, inputs, actions, np.random.default_rng(0), learning_rate=0.03)[-1]
    1.0

    Args:
        network: what is trained; it has its best weights in the end.
        inputs: [n, input_size].
        actions: [n] the right one of each.
        rng: the order of the examples.
        learning_rate: step size of Adam.
        batch_size: examples of one update.
        epochs: passes over all examples, at most.
        patience: passes without a better accuracy before it stops.

    Returns:
        The accuracy on the examples after every pass.
    """
    optimiser = Adam(network.weights)
    wanted = torch.from_numpy(actions)[:, None]
    rows = torch.from_numpy(inputs)
    best, best_weights, found = -1.0, network.weights.clone(), []
    for _ in range(epochs):
        order = rng.permutation(len(inputs))
        for start in range(0, len(order), batch_size):
            chosen = torch.from_numpy(order[start : start + batch_size])
            network.differentiate(rows[chosen], _slopes_towards(wanted[chosen]))
            optimiser.step(network.weights, network.gradient, learning_rate)
        found.append(accuracy(network, inputs, actions))
        if found[-1] > best:
            best = found[-1]
            best_weights.copy_(network.weights)
        if best == 1.0 or _has_stalled(found, patience):
            break
    network.weights.copy_(best_weights)
    return found


def _slopes_towards(wanted: Tensor) -> Any:
    """How cross-entropy changes with each output: the probabilities, less 1 at the right one."""

    def slopes_of(values: Tensor) -> Tensor:
        slopes = torch.softmax(values, dim=1)
        ones = torch.ones(wanted.shape)
        return slopes.scatter_add_(1, wanted, -ones).div_(len(values))

    return slopes_of


def _has_stalled(found: Sequence[float], patience: int) -> bool:
    return len(found) > patience and max(found[-patience:]) <= max(found[:-patience])
