"""Games of a table learner with agents of any kind, on the engine that plays many games at once.

The learner's seats are the engine's caller: it is shown what its seats may know, as all players
are, and its compiled code reads worlds that were determinized for them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.tabular.games import end_rows, make_workspace, observe_rows, turn_rows
from agents.tabular.model import TabularModel
from agents.tabular.records import Workspace
from agents.tabular.self_play import GameResults
from agents.tabular.table import ABSENT
from envs.core.kernels import OVER
from envs.core.rng import Words, new_rng
from envs.core.rollouts import CALLER, Rollouts

__all__ = ["follow_growth", "play_rollouts"]

Indices = npt.NDArray[np.int64]

_MAX_ROWS = 256


def play_rollouts(
    model: TabularModel,
    agents: Sequence[Agent],
    numbers: Indices,
    seating: Indices,
    opponent_ids: Indices,
    seed: int,
) -> GameResults:
    """Play games and learn from them.

    Args:
        model: the learner's.
        agents: who else there is.
        numbers: [n] numbers of the games.
        seating: [n, players] a place in ``agents``, or ``CALLER`` where the learner sits.
        opponent_ids: [n, players] the row of its opponent model that belongs to each player.
        seed: root of all chance.
    """
    size = min(_MAX_ROWS, len(numbers))
    games = _Games(model, Rollouts(model.game, agents, size, seed))
    results = GameResults(np.zeros(seating.shape), np.zeros(len(numbers), np.int64))
    game_of = np.full(size, -1)
    num_begun = 0
    while True:
        over = np.flatnonzero(games.rollouts.batch.turns == OVER)
        ended = over[game_of[over] >= 0]
        results.returns[game_of[ended]] = games.rollouts.batch.totals[ended]
        results.lengths[game_of[ended]] = games.lengths[ended]
        game_of[ended] = -1
        begun = np.arange(num_begun, min(num_begun + len(over), len(numbers)))
        if not len(begun) and len(over) == size:
            return results
        rows = over[: len(begun)]
        num_begun += len(begun)
        game_of[rows] = begun
        games.begin(rows, numbers[begun], seating[begun], opponent_ids[begun])
        games.move()


class _Games:
    """The games in play, and the learner's workspace."""

    def __init__(self, model: TabularModel, rollouts: Rollouts) -> None:
        size, game = rollouts.batch.size, model.game
        self.model = model
        self.rollouts = rollouts
        self.lengths: Indices = np.zeros(size, np.int64)
        self._work = make_workspace(game, size, model.has_episode, model.has_events)
        self._ids: Indices = np.zeros((size, game.facts.num_players), np.int64)
        self._rngs: Words = np.zeros((size * game.facts.num_players, 4), np.uint64)
        """[places] the generators of the learner's seats, as it has left them."""
        # What the hooks read is the same in all worlds, so any draw will do.
        self._world_rng = new_rng(0)

    def begin(self, rows: Indices, numbers: Indices, seating: Indices, ids: Indices) -> None:
        """Start games in the rows."""
        self._ids[rows] = ids
        self.lengths[rows] = 0
        self.model.record["num_games"] += len(rows)
        self.rollouts.begin(rows, numbers, seating)

    def move(self) -> None:
        """One action in every row, the learner's first."""
        waiting_for = self.rollouts.waiting_for()
        own = np.flatnonzero(waiting_for == CALLER)
        if len(own):
            self.rollouts.step(own, *self._select(own))
            self._learn(own)
        for player in np.unique(waiting_for[waiting_for >= 0]):
            rows = np.flatnonzero(waiting_for == player)
            self.rollouts.move(rows, int(player))
            self._learn(rows)

    def _select(self, rows: Indices) -> tuple[Indices, Words]:
        model, batch = self.model, self.rollouts.batch
        moved = model.table.make_room(len(rows) * model.entries_per_turn)
        if moved is not None:
            follow_growth(self._work, moved)
        views = batch.views(rows)
        actions = np.empty(len(rows), np.int64)
        known = views.seats, views.first_worlds(), views.keys, views.rngs
        turn_rows(*model.compiled, rows, *known, self._ids, self._work, actions)
        self._rngs[self._places(rows, views.seats)] = views.rngs
        return actions, views.rngs

    def _places(self, rows: Indices, seats: Indices) -> Indices:
        places: Indices = rows * self._ids.shape[1] + seats
        return places

    def _learn(self, moved: Indices) -> None:
        """After a move: tell the opponent model, and learn from games that are over."""
        model, batch, rules = self.model, self.rollouts.batch, self.model.game.rules
        self.lengths[moved] += 1
        told = moved if model.opponents is not None else moved[batch.turns[moved] == OVER]
        places, seats = np.nonzero(self.rollouts.seating[told] == CALLER)
        rows, seats = told[places], seats.astype(np.int64)
        if not len(rows):
            return
        pairs = zip(rows.tolist(), seats.tolist(), strict=True)
        worlds = np.stack([batch.world(row, seat, self._world_rng) for row, seat in pairs])
        if model.opponents is not None:
            observe_rows(rules, model.arrays, rows, seats, worlds, self._ids)
        ended = np.flatnonzero(batch.turns[rows] == OVER)
        rows, seats, worlds = rows[ended], seats[ended], worlds[ended]
        totals, num_players = batch.totals[rows, seats], self._ids.shape[1]
        rngs = self._rngs[self._places(rows, seats)]
        end_rows(rules, model.arrays, rows, seats, worlds, totals, rngs, num_players, self._work)


def follow_growth(work: Workspace, moved: Indices) -> None:
    """The table has grown, and its entries have other places now."""
    for name in ("last_slot", "state_slot"):
        old = work.seats[name]
        work.seats[name] = np.where(old == ABSENT, ABSENT, moved[old])
    if work.episode_slots.size:
        work.episode_slots[:] = moved[work.episode_slots]
