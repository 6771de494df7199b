"""Learners at the table: after every move they are told what their seats may know."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agents.base import Agent, Moment
from envs.core.batch import Batch
from envs.core.errors import MasqueradeError
from envs.core.game import Game
from envs.core.kernels import OVER
from envs.core.position import Position
from envs.core.rng import seed_stream, stream

__all__ = ["Learners"]


class Learners:
    """The agents of a match that learn; without any it does nothing."""

    def __init__(self, game: Game, agents: Sequence[Agent], seed: int) -> None:
        """Find the seats of the learners."""
        self._agents = agents
        self._seats = [seat for seat, agent in enumerate(agents) if agent.is_learning]
        self._names = tuple(agent.name for agent in agents)
        self._position = Position(game)
        self._root = stream(seed, "watching")
        self._rngs = np.zeros((len(agents), 4), np.uint64)

    def __bool__(self) -> bool:
        """Whether anybody learns."""
        return bool(self._seats)

    def tell(self, batch: Batch, row: int) -> None:
        """Something has happened in the game of ``row``, the only one in play."""
        number, is_over = int(batch.numbers[row]), int(batch.turns[row]) == OVER
        history = batch.history(row)
        if not self._position.history:
            self._begin(batch.game, number)
        for action in history[len(self._position.history) :]:
            self._position.apply(action)
        for seat in self._seats:
            world = self._position.determinized(seat, self._rngs[seat])
            total = float(batch.totals[row, seat])
            self._tell_agent(Moment(number, seat, self._names, world, total, is_over))
        if is_over:
            self._begin(batch.game, number)

    def _begin(self, game: Game, number: int) -> None:
        self._position = game.new_position(number)
        players = game.facts.num_players
        for seat in range(players):
            seed_stream(self._root, number * players + seat, self._rngs[seat])

    def _tell_agent(self, moment: Moment) -> None:
        agent = self._agents[moment.seat]
        try:
            agent.watch(moment)
        except Exception as error:
            raise MasqueradeError(
                f"{agent.name or repr(agent)} failed while it watched game {moment.game_number}: "
                f"{type(error).__name__}: {error}"
            ) from error
