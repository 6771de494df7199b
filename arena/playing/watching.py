"""Learners at the table: after every move they are told what their seats may know."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agents.base import Agent, TimeStep
from common.errors import MasqueradeError, reason_of
from envs.core.batch import Batch
from envs.core.kernels import OVER
from envs.core.rng import seed_stream, stream
from envs.core.rollouts import FAULTS

__all__ = ["Learners"]


class Learners:
    """The agents of a match that learn; without any it does nothing."""

    def __init__(self, agents: Sequence[Agent], seed: int) -> None:
        """Find the seats of the learners."""
        self._agents = agents
        self._seats = [seat for seat, agent in enumerate(agents) if agent.is_learning]
        self._names = tuple(agent.name for agent in agents)
        self._number = -1
        self._root = stream(seed, "watching")
        self._rngs = np.zeros((len(agents), 4), np.uint64)

    def __bool__(self) -> bool:
        """Whether anybody learns."""
        return bool(self._seats)

    def tell(self, batch: Batch, row: int) -> None:
        """Something has happened in the game of ``row``, the only one in play."""
        number, is_over = int(batch.numbers[row]), int(batch.turns[row]) == OVER
        if number != self._number:
            self._number = number
            for seat, rng in enumerate(self._rngs):
                seed_stream(self._root, number * len(self._rngs) + seat, rng)
        for seat in self._seats:
            world = batch.world(row, seat, self._rngs[seat])
            total = float(batch.totals[row, seat])
            game_id = int(batch.game_ids(np.array([row]), np.array([seat]))[0])
            self._tell_agent(TimeStep(game_id, seat, self._names, world, total, is_over))

    def _tell_agent(self, step: TimeStep) -> None:
        agent = self._agents[step.seat]
        try:
            agent.observe(step)
        except FAULTS as error:
            raise MasqueradeError(
                f"{agent.name or repr(agent)} failed while it watched a game: {reason_of(error)}"
            ) from error
