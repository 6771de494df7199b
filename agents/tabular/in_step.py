"""Games of a table learner against agents of any kind: many at a time, turn by turn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.tabular.games import RANDOM, end_rows, make_workspace, observe_rows, turn_rows
from agents.tabular.model import TabularModel
from agents.tabular.records import Workspace
from agents.tabular.self_play import GameResults, Streams
from agents.tabular.table import ABSENT
from envs.core.batch import Batch, _determinize_rows
from envs.core.kernels import OVER
from envs.core.rng import Words

__all__ = ["follow_growth", "play_in_step"]

Indices = npt.NDArray[np.int64]

_MAX_ROWS = 256


class _SeatBatch(Batch):
    """A batch that shows worlds to seats that are not to move."""

    def worlds(self, rows: Indices, seats: Indices) -> tuple[npt.NDArray[np.uint8], Words]:
        """Worlds of the seats, and their generators."""
        rngs = self._choice_rngs[rows * self.game.facts.num_players + seats]
        worlds = np.empty((len(rows), self.game.state_size), np.uint8)
        game = self.game
        _determinize_rows(game.kernels, game.rules, self._states, rows, seats, rngs.copy(), worlds)
        return worlds, rngs


def play_in_step(
    model: TabularModel,
    agents: Sequence[Agent],
    numbers: Indices,
    seating: Indices,
    opponent_ids: Indices,
    places: Indices,
    streams: Streams,
) -> GameResults:
    """Play each game of ``numbers`` against ``agents[places[i]]``.

    Args:
        model: the learner's.
        agents: who plays the seats that are not the learner's.
        numbers: [n] numbers of the games.
        seating: [n, players] 0 where the learner sits.
        opponent_ids: [n, players] the row of its opponent model that belongs to each player.
        places: [n] the opponent of each game.
        streams: roots of all chance.
    """
    table = _Tables(model, agents, len(numbers), streams)
    played = GameResults(np.zeros(seating.shape), np.zeros(len(numbers), np.int64))
    waiting = 0  # the next game to begin
    rows = np.arange(table.batch.size)
    while len(rows):
        ended = rows[table.batch.turns[rows] == OVER]
        if len(ended):
            done = table.game_of[ended]
            has_game = done >= 0
            played.returns[done[has_game]] = table.batch.totals[ended[has_game]]
            played.lengths[done[has_game]] = table.lengths[ended[has_game]]
            games = np.arange(waiting, min(waiting + len(ended), len(numbers)))
            table.begin(ended[: len(games)], games, numbers, seating, opponent_ids, places)
            waiting += len(games)
            rows = np.setdiff1d(rows, ended[len(games) :])
        table.move(rows)
    return played


class _Tables:
    """The rows in play, who sits where, and the learner's desk."""

    def __init__(
        self, model: TabularModel, agents: Sequence[Agent], num_games: int, streams: Streams
    ) -> None:
        game = model.game
        size = min(_MAX_ROWS, num_games)
        players = game.facts.num_players
        has_record = any(agent.wants_tokens for agent in agents)
        self.model = model
        self.agents = agents
        self.batch = _SeatBatch(game, size, *streams, has_record)
        self.work = make_workspace(game, size, model.has_episode, model.has_events)
        self.seating = np.full((size, players), RANDOM)
        self.opponent_ids = np.zeros((size, players), np.int64)
        self.opponents = np.zeros(size, np.int64)
        self.game_of = np.full(size, -1)
        self.lengths = np.zeros(size, np.int64)

    def begin(
        self,
        rows: Indices,
        games: Indices,
        numbers: Indices,
        seating: Indices,
        opponent_ids: Indices,
        places: Indices,
    ) -> None:
        """Start the games in the rows."""
        self.seating[rows] = seating[games]
        self.opponent_ids[rows] = opponent_ids[games]
        self.opponents[rows] = places[games]
        self.game_of[rows] = games
        self.lengths[rows] = 0
        self.model.record["num_games"] += len(rows)
        self.batch.begin(rows, numbers[games])

    def move(self, rows: Indices) -> None:
        """One action in every row, the learner's first."""
        turns = self.batch.turns[rows]
        rows, turns = rows[turns != OVER], turns[turns != OVER]
        is_mine = self.seating[rows, turns] != RANDOM
        if is_mine.any():
            self._learner_moves(rows[is_mine], turns[is_mine])
        others = rows[~is_mine]
        for i, agent in enumerate(self.agents):
            waiting = others[self.opponents[others] == i]
            if len(waiting):
                views = self.batch.views(waiting)
                actions = agent.act(views)
                self.batch.keep_draws(waiting, views)
                self._step(waiting, np.ascontiguousarray(actions, np.int64))

    def _learner_moves(self, rows: Indices, seats: Indices) -> None:
        model, batch, game = self.model, self.batch, self.batch.game
        moved = model.table.make_room(len(rows) * model.entries_per_turn)
        if moved is not None:
            follow_growth(self.work, moved)
        actions = np.empty(len(rows), np.int64)
        views = batch.views(rows)
        # What the table reads is the same in every world: no draw of the player's own is spent.
        rngs = views.rngs.copy()
        worlds = views.worlds()
        views.rngs[:] = rngs
        turn_rows(
            game.kernels,
            game.rules,
            model.arrays,
            rows,
            seats,
            worlds,
            views.keys,
            views.rngs,
            self.opponent_ids,
            self.work,
            actions,
        )
        batch.keep_draws(rows, views)
        self._step(rows, actions)

    def _step(self, rows: Indices, actions: Indices) -> None:
        batch, model = self.batch, self.model
        batch.step(rows, actions)
        self.lengths[rows] += 1
        is_over = batch.turns[rows] == OVER
        told = rows if model.opponents is not None else rows[is_over]
        rows, seats = np.nonzero(self.seating[told] != RANDOM)
        rows, seats = told[rows], np.ascontiguousarray(seats, np.int64)
        if not len(rows):
            return
        worlds, rngs = batch.worlds(rows, seats)
        rules, players = batch.game.rules, batch.game.facts.num_players
        if model.opponents is not None:
            observe_rows(rules, model.arrays, rows, seats, worlds, self.opponent_ids)
        ended = np.flatnonzero(batch.turns[rows] == OVER)
        if len(ended):
            rows, seats, worlds, rngs = rows[ended], seats[ended], worlds[ended], rngs[ended]
            totals = batch.totals[rows, seats]
            end_rows(rules, model.arrays, rows, seats, worlds, totals, rngs, players, self.work)


def follow_growth(work: Workspace, moved: Indices) -> None:
    """The table has grown, and its entries have other places now."""
    for name in ("last_slot", "state_slot"):
        old = work.seats[name]
        work.seats[name] = np.where(old == ABSENT, ABSENT, moved[old])
    if work.episode_slots.size:
        work.episode_slots[:] = moved[work.episode_slots]
