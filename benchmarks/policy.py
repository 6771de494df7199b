"""The random player of every Python loop here: one line, the same for us and for the peers.

Choosing must cost little, or it would hide what is measured: PettingZoo's
``action_space.sample(mask)`` takes longer than one of our steps. So random numbers are drawn
beforehand, and the legal actions of a mask are looked up.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

__all__ = ["LegalTable", "numbers", "pick", "pick_by_softmax"]

NUM_DRAWS = 1 << 16

T = TypeVar("T")


def numbers(seed: int = 0) -> Iterator[float]:
    """Uniform numbers below 1, drawn beforehand and used in a circle."""
    return itertools.cycle(np.random.default_rng(seed).random(NUM_DRAWS).tolist())


def pick(choices: Sequence[T], draws: Iterator[float]) -> T:
    """One of the legal actions or outcomes, all alike."""
    return choices[int(next(draws) * len(choices))]


def pick_by_softmax(logits: Sequence[float], legal: Sequence[int], draws: Iterator[float]) -> int:
    """One of the legal actions, by the softmax of its logit; logits are small."""
    weights = [math.exp(logits[action]) for action in legal]
    left = next(draws) * sum(weights)
    for action, weight in zip(legal, weights, strict=True):
        left -= weight
        if left < 0.0:
            return action
    return legal[-1]  # rounding may leave a rest


class LegalTable(dict[bytes, tuple[int, ...]]):
    """The legal actions of a mask by its bytes, worked out when a mask is first met.

    Args:
        never: an action that is left out, such as the fold, so that games are equally long in
            libraries with different rules of folding.
    """

    def __init__(self, never: int | None = None) -> None:
        """Start with no mask."""
        super().__init__()
        self._never = never

    def __missing__(self, key: bytes) -> tuple[int, ...]:
        """Read an ``int8`` mask."""
        legal = np.frombuffer(key, np.int8).nonzero()[0].tolist()
        self[key] = tuple(action for action in legal if action != self._never)
        return self[key]
