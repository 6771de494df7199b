"""What a search has found: for logs, for advice and for whoever wants to look inside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Analysis", "final_policy"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Analysis:
    """One decision, searched.

    Shares and values are those of ``actions``, the legal ones in rising order.
    """

    seat: int
    actions: npt.NDArray[np.int64]
    """[k] the legal actions."""
    visits: npt.NDArray[np.int64]
    """[k] simulations that began with each."""
    shares: Floats
    """[k] the same as parts of one; the policy if nothing was searched."""
    values: Floats
    """[k] the mean result of each for the seat; NaN where none was tried."""
    policy: Floats
    """[k] with which probability each is played."""
    variation: tuple[int, ...] = ()
    """The most visited actions in turn, in one world that the seat cannot tell from the true one;
    chance events are left out."""
    simulations: int = 0
    nodes: int = 0
    depth: int = 0
    """Decisions on the longest way through the tree."""
    steps: int = 0
    """Decisions of all simulations together."""
    left_out: int = 0
    """Nodes and actions for which there was no memory."""
    seconds: float = 0.0
    counters: dict[str, int] = field(default_factory=dict)

    @property
    def best(self) -> int:
        """The action of the highest probability, the first of equals."""
        return int(self.actions[int(np.argmax(self.policy))])

    def __str__(self) -> str:
        """How much was searched, for logs and replays."""
        return (
            f"{self.simulations:,} simulations, {self.nodes:,} nodes, depth {self.depth}, "
            f"{self.seconds:.3f} s"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for logs and pages.

        >>> import numpy as np
        >>> one = np.ones(1)
        >>> found = Analysis(0, np.array([3]), np.array([5]), one, one, one, simulations=5)
        >>> found.to_dict()["best"]
        3
        """
        return {
            "seat": self.seat,
            "best": self.best,
            "actions": self.actions.tolist(),
            "visits": self.visits.tolist(),
            "shares": self.shares.tolist(),
            "values": [None if np.isnan(value) else value for value in self.values.tolist()],
            "policy": self.policy.tolist(),
            "variation": list(self.variation),
            "simulations": self.simulations,
            "nodes": self.nodes,
            "depth": self.depth,
            "steps": self.steps,
            "left_out": self.left_out,
            "seconds": self.seconds,
        }


def final_policy(final: str, visits: Floats, values: Floats, mixed: Floats) -> Floats:
    """How likely each action is to be played.

    Most visits (then the best value) or the best value (then most visits) is played for sure;
    a mixture is what ``mixed`` says. With nothing to go by every action is as likely.

    >>> import numpy as np
    >>> visits, values = np.array([4.0, 4.0, 2.0]), np.array([0.1, 0.3, 0.9])
    >>> final_policy("visits", visits, values, visits)
    array([0., 1., 0.])
    >>> final_policy("value", visits, values, visits)
    array([0., 0., 1.])
    >>> final_policy("mixture", visits, values, visits)
    array([0.4, 0.4, 0.2])
    """
    if not visits.sum():
        return np.full(len(visits), 1.0 / len(visits))
    if final == "mixture" and mixed.sum() > 0.0:
        return np.asarray(mixed / mixed.sum(), np.float64)
    known = np.where(np.isnan(values), -np.inf, values)
    first, second = (known, visits) if final == "value" else (visits, known)
    policy = np.zeros(len(visits))
    policy[np.lexsort((second, first))[-1]] = 1.0
    return policy
