"""Games of table learners, compiled: whole series of self-play, or rows of many games by turns.

A series is a simulator of its own: learners of one process play each other and random players, and
nobody else's games can be read with it. Wherever other agents sit at the table, the rows functions
are handed worlds that were determinized for the learner's seat.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from agents.tabular.hooks import IDS, KEYS
from agents.tabular.records import MODEL_ARRAYS, SEAT, WORKSPACE, Workspace
from agents.tabular.selection import draw
from agents.tabular.table import ABSENT, has_room
from agents.tabular.turns import begin_episode, end_game, evaluate_actions, take_turn
from envs.core.compiling import compiled, direct, helper
from envs.core.game import Game
from envs.core.kernels import INT, KERNELS, OPTIONAL_KERNELS, OVER, RNG, RULES, STATE, TOTALS
from envs.core.keys import first_key
from envs.core.playing import settle, settle_seen, step_seen
from envs.core.playouts import random_legal
from envs.core.rng import seed_stream, uniform

__all__ = [
    "RANDOM",
    "Series",
    "act_rows",
    "end_rows",
    "make_workspace",
    "observe_rows",
    "play_games",
    "turn_rows",
]

RANDOM = -1
"""``Series.seating``: somebody who plays at random."""

_ROWS = types.int64[::1]
_IDS = types.int64[:, ::1]
_STATES = types.uint8[:, ::1]
_RNGS = types.uint64[:, ::1]
_FLOATS = types.float64[:, ::1]


class Series(NamedTuple):
    """Games to be played one after the other, and their results."""

    numbers: Any
    """[n] their numbers, from which all their chance follows."""
    seating: Any
    """[n, players] the model in each seat, 0 or 1, or ``RANDOM``."""
    opponent_ids: Any
    """[n, players] the row of an opponent model that belongs to each player."""
    returns: Any
    """[n, players] filled in."""
    lengths: Any
    """[n] decisions, filled in."""
    chance: Any
    choice: Any
    state: Any
    rng: Any
    rngs: Any
    keys: Any
    """[players] perfect-recall keys; empty when no abstraction needs them."""


_SERIES = types.NamedTuple(
    (_ROWS, _IDS, _IDS, _FLOATS, _ROWS, RNG, RNG, STATE, RNG, _RNGS, RNG), Series
)


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
        np.zeros(actions, np.int64),
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
        if seated != RANDOM and models[seated].record[0].has_opponent_model:
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
        *(types.UniTuple(MODEL_ARRAYS, 2), _SERIES, WORKSPACE, INT, INT),
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
