"""Games of table learners, compiled: whole series of self-play, or rows of many games by turns.

A series is a simulator of its own: learners of one process play each other and random players, and
nobody else's games can be read with it. Wherever other agents sit at the table, the rows functions
are handed worlds that were determinized for the learner's seat: such games run on the engine that
plays many games at once, whose caller has the learner's seats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from agents.base import Agent
from agents.tabular.hooks import IDS, KEYS
from agents.tabular.model import MODEL_ARRAYS, SEAT, WORKSPACE, TabularModel, Workspace
from agents.tabular.table import ABSENT, draw, has_room
from agents.tabular.turns import begin_episode, end_game, evaluate_actions, take_turn
from envs.core.compiling import compiled, direct, helper
from envs.core.engine import settle, settle_seen, step_seen
from envs.core.game import Game
from envs.core.kernels import INT, KERNELS, OPTIONAL_KERNELS, OVER, RULES, TOTALS
from envs.core.records import Grid, Row, tuple_type
from envs.core.rng import Words, first_key, new_rng, random_legal, seed_stream, uniform
from envs.core.rollouts import CALLER, Rollouts

RANDOM = -1
"""``Series.seating``: somebody who plays at random."""

_ROWS = types.int64[::1]
_IDS = types.int64[:, ::1]
_STATES = types.uint8[:, ::1]
_RNGS = types.uint64[:, ::1]
_FLOATS = types.float64[:, ::1]


class Series(NamedTuple):
    """Games to be played one after the other, and their results."""

    numbers: Row[np.int64]
    """[n] their numbers, from which all their chance follows."""
    seating: Grid[np.int64]
    """[n, players] the model in each seat, 0 or 1, or ``RANDOM``."""
    opponent_ids: Grid[np.int64]
    """[n, players] the row of an opponent model that belongs to each player."""
    returns: Grid[np.float64]
    """[n, players] filled in."""
    lengths: Row[np.int64]
    """[n] decisions, filled in."""
    chance: Row[np.uint64]
    choice: Row[np.uint64]
    state: Row[np.uint8]
    rng: Row[np.uint64]
    rngs: Grid[np.uint64]
    keys: Row[np.uint64]
    """[players] perfect-recall keys; empty when no abstraction needs them."""


def make_workspace(game: Game, num_rows: int, has_episode: bool, has_events: bool) -> Workspace:
    """Room for games in ``num_rows`` rows.

    Args:
        game: what is played.
        num_rows: games in play at a time.
        has_episode: whether all actions of a game are kept until its end.
        has_events: whether a reward compares states.
    """
    players, actions = game.facts.num_players, game.facts.num_actions
    places = num_rows * players
    longest = game.facts.max_length if has_episode else 0
    seats = np.zeros(places, SEAT)
    seats["last_slot"] = ABSENT
    room = (
        seats,
        np.zeros((places, game.state_size if has_events else 0), np.uint8),
        np.zeros((places, longest), np.int64),
        *(np.zeros((places, longest)) for _ in range(2)),
        np.zeros((places, longest), np.int8),
        np.zeros(actions, np.uint64),
        np.zeros((2, actions)),
        *(np.zeros(actions) for _ in range(3)),
        np.zeros(actions, np.int8),
        np.zeros(players),
    )
    return Workspace._make(room)


# ---- self-play -----------------------------------------------------------------------------------


@helper
def step_on(kernels, optional, rules, models, series, game, action):
    """Play an action and the chance after it; opponent models observe it. The next turn."""
    state = series.state
    if series.keys.size:
        step_seen(kernels, rules, state, action, series.keys)
    else:
        kernels.step(state, rules, action)
    for player in range(series.seating.shape[1]):
        seated = series.seating[game, player]
        # Who does not learn stays as it was made.
        if seated != RANDOM and models[seated].hooks.has_observe:
            model = models[seated]
            if model.record[0].is_learning:
                ids = series.opponent_ids[game]
                model.hooks.observe(state, rules, player, ids, model.memory)
    if series.keys.size:
        return settle_seen(kernels, rules, state, series.rng, series.keys)
    return settle(kernels, optional, rules, state, series.rng)


@helper
def begin(kernels, optional, rules, num_openings, models, series, game, work):
    """Seed the generators and set up the game; who is to move."""
    number = series.numbers[game]
    num_players = series.seating.shape[1]
    seed_stream(series.chance, number, series.rng)
    for player in range(num_players):
        seed_stream(series.choice, num_players * number + player, series.rngs[player])
        begin_episode(work.seats[player])
    for i in range(2):
        is_there = False
        for player in range(num_players):
            is_there |= series.seating[game, player] == i
        if is_there and models[i].record[0].is_learning:
            models[i].record[0].num_games += 1
    kernels.new(series.state, rules, number % num_openings)
    for player in range(series.keys.size):
        series.keys[player] = first_key(player)
    if series.keys.size:
        return settle_seen(kernels, rules, series.state, series.rng, series.keys)
    return settle(kernels, optional, rules, series.state, series.rng)


@compiled(
    INT(
        *(KERNELS, OPTIONAL_KERNELS, RULES, INT),
        *(types.UniTuple(MODEL_ARRAYS, 2), tuple_type(Series), WORKSPACE, INT, INT),
    )
)
def _play_games(kernels, optional, rules, num_openings, models, series, work, first, longest):
    """Play games from number ``first`` of the series on; the first that was not played.

    It stops before a game in which a table might get too full; ``longest`` is how many entries a
    game can add.
    """
    key = np.uint64(0)
    for game in range(first, series.numbers.size):
        for model in models:
            if not has_room(model.keys, model.size, longest):
                return game
        turn = begin(kernels, optional, rules, num_openings, models, series, game, work)
        ids = series.opponent_ids[game]
        length = 0
        while turn != OVER:
            if series.keys.size:
                key = series.keys[turn]
            seated = series.seating[game, turn]
            rng = series.rngs[turn]
            if seated == RANDOM:
                kernels.legal(series.state, rules, work.mask)
                action = random_legal(work.mask, rng)
            else:
                model = models[seated]
                action = take_turn(
                    model, kernels, rules, series.state, turn, key, ids, turn, work, rng
                )
            turn = step_on(kernels, optional, rules, models, series, game, action)
            length += 1
        returns = series.returns[game]
        kernels.returns(series.state, rules, returns)
        for player in range(returns.size):
            seated = series.seating[game, player]
            if seated != RANDOM:
                model, rng = models[seated], series.rngs[player]
                end_game(model, rules, series.state, player, player, returns[player], work, rng)
        series.lengths[game] = length
    return series.numbers.size


# ---- many games with others, by turns ------------------------------------------------------------


@compiled(
    types.void(
        KERNELS, RULES, MODEL_ARRAYS, _ROWS, _ROWS, _STATES, KEYS, _RNGS, _IDS, WORKSPACE, _ROWS
    )
)
def _turn_rows(kernels, rules, model, rows, seats, worlds, keys, rngs, ids, work, actions):
    """Take a turn in each of the rows: learn from the last action, and select the next one.

    ``rows`` says where a game has its place in the workspace and in ``ids``; everything else has
    an entry for each decision.
    """
    for i in range(rows.size):
        place = ids.shape[1] * rows[i] + seats[i]
        own_ids, rng = ids[rows[i]], rngs[i]
        actions[i] = take_turn(
            model, kernels, rules, worlds[i], seats[i], keys[i], own_ids, place, work, rng
        )


@compiled(types.void(RULES, MODEL_ARRAYS, _ROWS, _ROWS, _STATES, _IDS))
def _observe_rows(rules, model, rows, seats, worlds, ids):
    """A move was made in each of the rows: tell the opponent model what the seat may know."""
    for i in range(rows.size):
        model.hooks.observe(worlds[i], rules, seats[i], ids[rows[i]], model.memory)


@compiled(types.void(RULES, MODEL_ARRAYS, _ROWS, _ROWS, _STATES, TOTALS, _RNGS, INT, WORKSPACE))
def _end_rows(rules, model, rows, seats, worlds, totals, rngs, num_players, work):
    """Games are over: learn what each of the seats got, and forget the game."""
    for i in range(rows.size):
        place = num_players * rows[i] + seats[i]
        end_game(model, rules, worlds[i], seats[i], place, totals[i], work, rngs[i])
        begin_episode(work.seats[place])


@compiled(
    types.void(
        *(KERNELS, RULES, MODEL_ARRAYS, _ROWS, _STATES, KEYS, _RNGS, IDS, INT, types.float64),
        *(WORKSPACE, _ROWS, _FLOATS),
    )
)
def _act_rows(
    kernels, rules, model, seats, worlds, keys, rngs, ids, policy, amount, work, actions, probs
):
    """Select without learning, or only write the probabilities if there is room for them."""
    for i in range(seats.size):
        evaluate_actions(
            model, kernels, rules, worlds[i], seats[i], keys[i], ids, policy, amount, work
        )
        if probs.shape[0]:
            for action in range(probs.shape[1]):
                probs[i, action] = work.probs[action]
        else:
            actions[i] = draw(work.probs, uniform(rngs[i]))


# Past Numba's dispatch, which cannot match tuples of records.
play_games = direct(_play_games)
turn_rows = direct(_turn_rows)
observe_rows = direct(_observe_rows)
end_rows = direct(_end_rows)
act_rows = direct(_act_rows)


Indices = npt.NDArray[np.int64]
States = npt.NDArray[np.uint8]
Streams = tuple[Words, Words]
"""Roots of the generators: of dice and cards, and of the players' choices."""


class GameResults(NamedTuple):
    """Returns and lengths of some games."""

    returns: npt.NDArray[np.float64]
    """[games, players]."""
    lengths: Indices
    """[games] decisions."""


def play_series(
    models: Sequence[TabularModel],
    numbers: Indices,
    seating: Indices,
    opponent_ids: Indices | None,
    streams: Streams,
) -> GameResults:
    """Play games in which one model or two sit, and learn from them if they may.

    Args:
        models: one, or two that play the same game.
        numbers: [n] numbers of the games, from which their chance follows.
        seating: [n, players] the model in each seat, or ``RANDOM``.
        opponent_ids: [n, players] the row of an opponent model that belongs to each player;
            ``None``: all share one.
        streams: roots of all chance.
    """
    game = models[0].game
    num_games, num_players = seating.shape
    needs_keys = any(model.abstraction.needs_infosets for model in models)
    ids = np.zeros_like(seating) if opponent_ids is None else opponent_ids
    series = Series(
        np.ascontiguousarray(numbers, np.int64),
        np.ascontiguousarray(seating, np.int64),
        np.ascontiguousarray(ids, np.int64),
        np.zeros((num_games, num_players)),
        np.zeros(num_games, np.int64),
        *streams,
        np.zeros(game.state_size, np.uint8),
        np.zeros(4, np.uint64),
        np.zeros((num_players, 4), np.uint64),
        np.zeros(num_players if needs_keys else 0, np.uint64),
    )
    has_episode = any(model.has_episode for model in models)
    has_events = any(model.has_events for model in models)
    work = make_workspace(game, 1, has_episode, has_events)
    longest = game.facts.max_length * max(model.entries_per_turn for model in models)
    first = 0
    while first < num_games:
        for model in models:
            model.table.make_room(longest)
        pair = models[0].arrays, models[-1].arrays
        rules = game.kernels, game.optional, game.rules, game.facts.num_openings
        first = play_games(*rules, pair, series, work, first, longest)
    return GameResults(series.returns, series.lengths)


class Turns:
    """A learner's part in games that lie in rows: its turns, and what it learns from them.

    Worlds are such as its seat cannot tell from the true one.
    """

    def __init__(self, model: TabularModel, num_rows: int = 1) -> None:
        """Nothing has been played yet."""
        num_players = model.game.facts.num_players
        self.model = model
        self.work = make_workspace(model.game, num_rows, model.has_episode, model.has_events)
        self.ids: Indices = np.zeros((num_rows, num_players), np.int64)
        """[rows, players] the row of the opponent model that belongs to each player."""
        self._rngs: Words = np.zeros((num_rows * num_players, 4), np.uint64)
        """[places] the generators of the learner's seats, as it has left them."""

    def select(
        self, rows: Indices, seats: Indices, worlds: States, keys: Words, rngs: Words
    ) -> Indices:
        """Learn from the last turn of the seats, and select their actions."""
        work, model = self.work, self.model
        moved = model.table.make_room(len(rows) * model.entries_per_turn)
        if moved is not None:  # the table has grown, and its entries have other places now
            for name in ("last_slot", "state_slot"):
                old = work.seats[name]
                work.seats[name] = np.where(old == ABSENT, ABSENT, moved[old])
            if work.episode_slots.size:
                work.episode_slots[:] = moved[work.episode_slots]
        actions = np.empty(len(rows), np.int64)
        known = seats, worlds, keys, rngs
        turn_rows(*model.compiled, rows, *known, self.ids, work, actions)
        self._rngs[self._places(rows, seats)] = rngs
        return actions

    def _places(self, rows: Indices, seats: Indices) -> Indices:
        places: Indices = rows * self.ids.shape[1] + seats
        return places

    def observe(self, rows: Indices, seats: Indices, worlds: States) -> None:
        """After a move: tell the opponent model."""
        if self.model.opponents is not None:
            observe_rows(self.model.game.rules, self.model.arrays, rows, seats, worlds, self.ids)

    def end(
        self, rows: Indices, seats: Indices, worlds: States, totals: npt.NDArray[np.float64]
    ) -> None:
        """Games are over: learn what the seats got in them."""
        model, rngs = self.model, self._rngs[self._places(rows, seats)]
        how = totals, rngs, self.ids.shape[1], self.work
        end_rows(model.game.rules, model.arrays, rows, seats, worlds, *how)


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
    """The games in play, and the learner's part in them."""

    def __init__(self, model: TabularModel, rollouts: Rollouts) -> None:
        self.model = model
        self.rollouts = rollouts
        self.lengths: Indices = np.zeros(rollouts.batch.size, np.int64)
        self._turns = Turns(model, rollouts.batch.size)
        # What the hooks read is the same in all worlds, so any draw will do.
        self._world_rng = new_rng(0)

    def begin(self, rows: Indices, numbers: Indices, seating: Indices, ids: Indices) -> None:
        """Start games in the rows."""
        self._turns.ids[rows] = ids
        self.lengths[rows] = 0
        self.model.record["num_games"] += len(rows)
        self.rollouts.begin(rows, numbers, seating)

    def move(self) -> None:
        """One action in every row, the learner's first."""
        waiting_for = self.rollouts.waiting_for()
        own = np.flatnonzero(waiting_for == CALLER)
        if len(own):
            views = self.rollouts.batch.views(own)
            known = views.seats, views.first_worlds(), views.keys, views.rngs
            self.rollouts.step(own, self._turns.select(own, *known), views.rngs)
            self._learn(own)
        for player in np.unique(waiting_for[waiting_for >= 0]):
            rows = np.flatnonzero(waiting_for == player)
            self.rollouts.move(rows, int(player))
            self._learn(rows)

    def _learn(self, moved: Indices) -> None:
        """After a move: tell the opponent model, and learn from games that are over."""
        batch = self.rollouts.batch
        self.lengths[moved] += 1
        told = moved if self.model.opponents is not None else moved[batch.turns[moved] == OVER]
        places, seats = np.nonzero(self.rollouts.seating[told] == CALLER)
        rows, seats = told[places], seats.astype(np.int64)
        if not len(rows):
            return
        pairs = zip(rows.tolist(), seats.tolist(), strict=True)
        worlds = np.stack([batch.world(row, seat, self._world_rng) for row, seat in pairs])
        self._turns.observe(rows, seats, worlds)
        ended = np.flatnonzero(batch.turns[rows] == OVER)
        rows, seats = rows[ended], seats[ended]
        self._turns.end(rows, seats, worlds[ended], batch.totals[rows, seats])
