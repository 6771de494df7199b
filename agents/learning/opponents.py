"""Who has the other seats while a learner trains.

A list of opponents with weights: fixed agents, ``self`` (the learner as it is now) and ``past``
(one of its earlier selves). Who is met in game *n* depends on the seed and *n*, so a run that is
resumed meets the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from envs.core.rng import Words, fill_streams, stream

__all__ = ["PAST", "SELF", "Opponents"]

SELF = "self"
PAST = "past"

Indices = npt.NDArray[np.int64]


class Opponents:
    """A draw for every game: who plays the seats that are not the learner's.

    >>> Opponents(["self"], seed=0).draw(np.arange(3), num_players=2).tolist()
    [[-1, -1], [-1, -1], [-1, -1]]

    Args:
        entries: agents, ``"self"`` and ``"past"``.
        seed: root of the draws.
        weights: how often each is met; all alike by default.
        is_mixed: draw every seat by itself, instead of one opponent for all other seats.
    """

    LEARNER = -1
    """What ``draw`` gives where the learner plays the other seats itself."""

    def __init__(
        self,
        entries: Sequence[Agent | str],
        seed: int = 0,
        weights: Sequence[float] | None = None,
        is_mixed: bool = False,
    ) -> None:
        """Note who there is; earlier selves come later, by ``add_past``."""
        shares = np.ones(len(entries)) if weights is None else np.array(weights, float)
        self._entries = list(entries)
        self._edges = np.cumsum(shares / shares.sum())
        self._is_mixed = is_mixed
        self._root: Words = stream(seed, "opponents")
        self._fixed = [entry for entry in entries if isinstance(entry, Agent)]
        self._past: list[Agent] = []

    @property
    def has_past(self) -> bool:
        """Whether earlier selves are wanted."""
        return PAST in self._entries

    @property
    def agents(self) -> list[Agent]:
        """All but the learner itself; ``draw`` gives places in this list."""
        return self._fixed + self._past

    def add_past(self, player: Agent) -> None:
        """An earlier self joins."""
        self._past.append(player)

    def draw(self, numbers: Indices, num_players: int = 1) -> Indices:
        """[n, players] for each seat of each game a place in ``agents``, or ``LEARNER``.

        The seats of a game are drawn alike, or each by itself at mixed tables.
        """
        if self._is_mixed:
            slots = numbers[:, None] * num_players + np.arange(num_players)
            return self._draw(slots.ravel()).reshape(slots.shape)
        return np.repeat(self._draw(numbers)[:, None], num_players, axis=1)

    def _draw(self, numbers: Indices) -> Indices:
        words = np.empty((len(numbers), 4), np.uint64)
        fill_streams(self._root, np.ascontiguousarray(numbers, np.int64), words)
        uniforms = (words[:, :2] >> np.uint64(11)).astype(np.float64) / 2.0**53
        chosen = np.searchsorted(self._edges, uniforms[:, 0], side="right")
        places = np.empty(len(numbers), np.int64)
        for i, entry in enumerate(self._entries):
            mine = chosen == i
            places[mine] = self._place(entry, uniforms[mine, 1])
        return places

    def _place(self, entry: Agent | str, uniforms: npt.NDArray[np.float64]) -> Indices | int:
        if isinstance(entry, Agent):
            return next(i for i, agent in enumerate(self._fixed) if agent is entry)
        if entry == SELF or not self._past:  # before there is a past, there is the present
            return self.LEARNER
        return len(self._fixed) + (uniforms * len(self._past)).astype(np.int64)
