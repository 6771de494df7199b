"""Games of a table learner against agents of any kind: many at a time, turn by turn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.tabular.games import RANDOM, follow_rows, make_desk, turn_rows
from agents.tabular.records import Desk
from agents.tabular.series import Played, Streams
from agents.tabular.table import ABSENT
from agents.tabular.values import Mind
from envs.core.batch import Batch
from envs.core.kernels import OVER
from envs.core.rng import Words

__all__ = ["follow_growth", "play_in_step"]

Indices = npt.NDArray[np.int64]

_MAX_ROWS = 256


class _OpenBatch(Batch):
    """A batch whose states the learner's compiled code may read; agents get views, as ever."""

    @property
    def states(self) -> npt.NDArray[np.uint8]:
        """[rows, state_size]."""
        return self._states

    @property
    def choice_rngs(self) -> Words:
        """[rows * players, 4]."""
        return self._choice_rngs


def play_in_step(
    mind: Mind,
    agents: Sequence[Agent],
    numbers: Indices,
    seating: Indices,
    who: Indices,
    places: Indices,
    streams: Streams,
) -> Played:
    """Play each game of ``numbers`` against ``agents[places[i]]``.

    Args:
        mind: the learner.
        agents: who plays the seats that are not the learner's.
        numbers: [n] numbers of the games.
        seating: [n, players] 0 where the learner sits.
        who: [n, players] as whom its memory knows each player.
        places: [n] the opponent of each game.
        streams: roots of all chance.
    """
    table = _Tables(mind, agents, len(numbers), streams)
    played = Played(np.zeros(seating.shape), np.zeros(len(numbers), np.int64))
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
            table.begin(ended[: len(games)], games, numbers, seating, who, places)
            waiting += len(games)
            rows = np.setdiff1d(rows, ended[len(games) :])
        table.move(rows)
    return played


class _Tables:
    """The rows in play, who sits where, and the learner's desk."""

    def __init__(
        self, mind: Mind, agents: Sequence[Agent], num_games: int, streams: Streams
    ) -> None:
        game = mind.game
        size = min(_MAX_ROWS, num_games)
        players = game.facts.num_players
        has_record = any(agent.wants_tokens for agent in agents)
        self.mind = mind
        self.agents = agents
        self.batch = _OpenBatch(game, size, *streams, has_record)
        self.desk: Desk = make_desk(game, size, mind.has_trail, mind.has_events)
        self.seating = np.full((size, players), RANDOM)
        self.who = np.zeros((size, players), np.int64)
        self.opponents = np.zeros(size, np.int64)
        self.game_of = np.full(size, -1)
        self.lengths = np.zeros(size, np.int64)

    def begin(
        self,
        rows: Indices,
        games: Indices,
        numbers: Indices,
        seating: Indices,
        who: Indices,
        places: Indices,
    ) -> None:
        """Start the games in the rows."""
        players = self.batch.game.facts.num_players
        self.seating[rows] = seating[games]
        self.who[rows] = who[games]
        self.opponents[rows] = places[games]
        self.game_of[rows] = games
        self.lengths[rows] = 0
        desk_places = (rows[:, None] * players + np.arange(players)).ravel()
        self.desk.seats["last_slot"][desk_places] = ABSENT
        self.desk.seats["trail_length"][desk_places] = 0
        self.mind.record["num_games"] += len(rows)
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
                self.batch.keep_draws(waiting, views.rngs)
                self._step(waiting, np.ascontiguousarray(actions, np.int64))

    def _learner_moves(self, rows: Indices, seats: Indices) -> None:
        mind, batch, game = self.mind, self.batch, self.batch.game
        moved = mind.table.make_room(len(rows) * mind.entries_per_turn)
        if moved is not None:
            follow_growth(self.desk, moved)
        actions = np.empty(len(rows), np.int64)
        states, keys, rngs = batch.states, batch.keys, batch.choice_rngs
        turn_rows(
            game.kernels,
            game.rules,
            mind.arrays,
            rows,
            seats,
            states,
            keys,
            rngs,
            self.who,
            self.desk,
            actions,
        )
        self._step(rows, actions)

    def _step(self, rows: Indices, actions: Indices) -> None:
        batch, game = self.batch, self.batch.game
        batch.step(rows, actions)
        self.lengths[rows] += 1
        follow_rows(
            game.kernels,
            game.rules,
            self.mind.arrays,
            rows,
            actions,
            batch.states,
            batch.choice_rngs,
            self.seating,
            self.who,
            self.desk,
        )


def follow_growth(desk: Desk, moved: Indices) -> None:
    """The table has grown, and its entries have other places now."""
    for name in ("last_slot", "state_slot"):
        old = desk.seats[name]
        desk.seats[name] = np.where(old == ABSENT, ABSENT, moved[old])
    if desk.trail_slots.size:
        desk.trail_slots[:] = moved[desk.trail_slots]
