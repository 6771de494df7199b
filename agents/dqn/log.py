"""Means over a chunk of training: the numbers of its curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Log"]

# Every so many updates one is looked at; looking takes a tenth of the time of an update.
LOOK_EVERY = 10


class Log:
    """Sums over a chunk of training."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self._num_games = 0
        self._sum_returns = 0.0
        self._sum_lengths = 0
        self._num_looks = 0
        self._sum_losses = 0.0
        self._sum_values = 0.0
        self._sum_norms = 0.0
        self._values: npt.NDArray[np.float32] | None = None

    def note_games(self, returns: npt.NDArray[np.float64], lengths: npt.NDArray[np.int64]) -> None:
        """Games are over: what the learner's seat got, and how long they were."""
        self._num_games += len(returns)
        self._sum_returns += float(returns.sum())
        self._sum_lengths += int(lengths.sum())

    def note_update(
        self,
        values: npt.NDArray[np.float32],
        errors: npt.NDArray[np.float32],
        norm: float,
        is_huber: bool,
    ) -> None:
        """An update: the values of all actions, the errors of those played, the slope."""
        sizes = np.abs(errors)
        losses = sizes**2 / 2
        if is_huber:
            losses = np.where(sizes > 1.0, sizes - 0.5, losses)
        self._num_looks += 1
        self._sum_losses += float(losses.mean())
        self._sum_values += float(values.mean())
        self._sum_norms += norm
        self._values = values

    def metrics(self, exploration: float) -> Mapping[str, Any]:
        """Averages by their names in TensorBoard; those of which nothing is known are left out."""
        found: dict[str, Any] = {"charts/exploration": exploration}
        if self._num_games:
            found["charts/return"] = self._sum_returns / self._num_games
            found["charts/length"] = self._sum_lengths / self._num_games
        if self._num_looks:
            found["losses/td"] = self._sum_losses / self._num_looks
            found["losses/q_mean"] = self._sum_values / self._num_looks
            found["losses/grad_norm"] = self._sum_norms / self._num_looks
        if self._values is not None:
            found["histograms/q_values"] = self._values.ravel()
        return found
