"""Games of table learners, compiled: whole series at once, or rows of a batch turn by turn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from agents.tabular.records import DESK, MINDS, SEAT, Desk
from agents.tabular.selection import draw
from agents.tabular.table import has_room
from agents.tabular.turns import consider, end_game, sit_down, take_turn
from envs.core.compiling import compiled, direct, helper
from envs.core.game import Game
from envs.core.kernels import INT, KERNELS, OPTIONAL_KERNELS, OVER, RNG, RULES, STATE
from envs.core.keys import first_key
from envs.core.playing import settle, settle_seen, step_seen
from envs.core.playouts import random_legal
from envs.core.rng import seed_stream, uniform

__all__ = ["RANDOM", "Series", "act_rows", "follow_rows", "make_desk", "play_series", "turn_rows"]

RANDOM = -1
"""``Series.seating``: somebody who plays at random."""

_ROWS = types.int64[::1]
_PLACES = types.int64[:, ::1]
_STATES = types.uint8[:, ::1]
_KEYS = types.uint64[:, ::1]
_RNGS = types.uint64[:, ::1]
_FLOATS = types.float64[:, ::1]


class Series(NamedTuple):
    """Games to be played one after the other, and what came of them."""

    numbers: Any
    """[n] their numbers, from which all their chance follows."""
    seating: Any
    """[n, players] the mind in each seat, 0 or 1, or ``RANDOM``."""
    who: Any
    """[n, players] as whom a mind with a memory knows each player."""
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
    """[players] perfect-recall keys; empty when no coding needs them."""


_SERIES = types.NamedTuple(
    (
        _ROWS,
        _PLACES,
        _PLACES,
        _FLOATS,
        _ROWS,
        RNG,
        RNG,
        STATE,
        RNG,
        _RNGS,
        RNG,
    ),
    Series,
)


def make_desk(game: Game, num_rows: int, has_trail: bool, has_events: bool) -> Desk:
    """Room for games in ``num_rows`` rows.

    Args:
        game: what is played.
        num_rows: games in play at a time.
        has_trail: whether earlier actions are remembered.
        has_events: whether a reward compares states.
    """
    players, actions = game.facts.num_players, game.facts.num_actions
    places = num_rows * players
    longest = game.facts.max_length if has_trail else 0
    seats = np.zeros(places, SEAT)
    seats["last_slot"] = -1
    return Desk(
        seats,
        np.zeros((places, game.state_size if has_events else 0), np.uint8),
        np.zeros((places, longest), np.int64),
        np.zeros((places, longest)),
        np.zeros((places, longest)),
        np.zeros((places, longest), np.int8),
        np.zeros(actions, np.uint64),
        np.zeros(actions, np.int64),
        np.zeros((2, actions)),
        np.zeros(actions),
        np.zeros(actions),
        np.zeros(actions),
        np.zeros(actions, np.int8),
        np.zeros(players),
    )


@helper
def remembers(mind):
    """Whether a mind watches what happens; one that does not learn is as it was made."""
    return mind.record[0].has_memory and mind.record[0].is_learning


@helper
def step_on(kernels, optional, rules, minds, series, game, action, turn):
    """Play an action and the chance after it; whoever has a memory watches. The next turn."""
    state = series.state
    if series.keys.size:
        step_seen(kernels, rules, state, action, series.keys)
    else:
        kernels.step(state, rules, action)
    for player in range(series.seating.shape[1]):
        seated = series.seating[game, player]
        if seated != RANDOM and remembers(minds[seated]):
            mind = minds[seated]
            mind.hooks.watch(state, rules, player, action, series.who[game], mind.memory)
    if series.keys.size:
        return settle_seen(kernels, rules, state, series.rng, series.keys)
    return settle(kernels, optional, rules, state, series.rng)


@helper
def begin(kernels, optional, rules, num_openings, minds, series, game, desk):
    """Seed the generators, set up the game and let everybody sit down; who is to move."""
    number = series.numbers[game]
    num_players = series.seating.shape[1]
    seed_stream(series.chance, number, series.rng)
    for player in range(num_players):
        seed_stream(series.choice, num_players * number + player, series.rngs[player])
        sit_down(desk.seats[player])
    for i in range(2):
        is_there = False
        for player in range(num_players):
            is_there |= series.seating[game, player] == i
        if is_there and minds[i].record[0].is_learning:
            minds[i].record[0].num_games += 1
    kernels.new(series.state, rules, number % num_openings)
    for player in range(series.keys.size):
        series.keys[player] = first_key(player)
    if series.keys.size:
        return settle_seen(kernels, rules, series.state, series.rng, series.keys)
    return settle(kernels, optional, rules, series.state, series.rng)


@compiled(
    INT(KERNELS, OPTIONAL_KERNELS, RULES, INT, types.UniTuple(MINDS, 2), _SERIES, DESK, INT, INT)
)
def _play_series(kernels, optional, rules, num_openings, minds, series, desk, first, longest):
    """Play games from number ``first`` of the series on; the first that was not played.

    It stops before a game in which a table might get too full; ``longest`` is how many entries a
    game can add.
    """
    num_players = series.seating.shape[1]
    key = np.uint64(0)
    for game in range(first, series.numbers.size):
        for mind in minds:
            if not has_room(mind.keys, mind.size, longest):
                return game
        turn = begin(kernels, optional, rules, num_openings, minds, series, game, desk)
        length = 0
        while turn != OVER:
            if series.keys.size:
                key = series.keys[turn]
            mind = series.seating[game, turn]
            rng = series.rngs[turn]
            if mind == RANDOM:
                kernels.legal(series.state, rules, desk.mask)
                action = random_legal(desk.mask, rng)
            else:
                who = series.who[game]
                action = take_turn(
                    minds[mind], kernels, rules, series.state, turn, key, who, turn, desk, rng
                )
            turn = step_on(kernels, optional, rules, minds, series, game, action, turn)
            length += 1
        for player in range(num_players):
            mind = series.seating[game, player]
            if mind != RANDOM:
                rng = series.rngs[player]
                end_game(minds[mind], kernels, rules, series.state, player, player, desk, rng)
        kernels.returns(series.state, rules, series.returns[game])
        series.lengths[game] = length
    return series.numbers.size


@compiled(
    types.void(KERNELS, RULES, MINDS, _ROWS, _ROWS, _STATES, _KEYS, _RNGS, _PLACES, DESK, _ROWS)
)
def _turn_rows(kernels, rules, mind, rows, seats, states, keys, rngs, who, desk, actions):
    """Let the mind take its turn in every row; generators lie by row and seat, like places."""
    num_players = keys.shape[1]
    for i in range(rows.size):
        row, seat = rows[i], seats[i]
        place = num_players * row + seat
        key = keys[row, seat]
        actions[i] = take_turn(
            mind, kernels, rules, states[row], seat, key, who[row], place, desk, rngs[place]
        )


@compiled(types.void(KERNELS, RULES, MINDS, _ROWS, _ROWS, _STATES, _RNGS, _PLACES, _PLACES, DESK))
def _follow_rows(kernels, rules, mind, rows, actions, states, rngs, seating, who, desk):
    """After ``actions`` in ``rows``: watch, and learn where a game is over."""
    num_players = seating.shape[1]
    for i in range(rows.size):
        row = rows[i]
        is_over = kernels.turn(states[row], rules) == OVER
        for player in range(num_players):
            if seating[row, player] == RANDOM:
                continue
            if remembers(mind):
                mind.hooks.watch(states[row], rules, player, actions[i], who[row], mind.memory)
            if is_over:
                place = num_players * row + player
                end_game(mind, kernels, rules, states[row], player, place, desk, rngs[place])


@compiled(
    types.void(
        KERNELS,
        RULES,
        MINDS,
        _ROWS,
        _STATES,
        RNG,
        _RNGS,
        _ROWS,
        INT,
        types.float64,
        DESK,
        _ROWS,
        _FLOATS,
    )
)
def _act_rows(
    kernels, rules, mind, seats, worlds, keys, rngs, who, policy, amount, desk, actions, probs
):
    """Choose without learning, or only write the probabilities if there is room for them."""
    for i in range(seats.size):
        consider(mind, kernels, rules, worlds[i], seats[i], keys[i], who, policy, amount, desk)
        if probs.shape[0]:
            for action in range(probs.shape[1]):
                probs[i, action] = desk.probs[action]
        else:
            actions[i] = draw(desk.probs, uniform(rngs[i]))


# Past Numba's dispatch, which cannot match tuples of records.
play_series = direct(_play_series)
turn_rows = direct(_turn_rows)
follow_rows = direct(_follow_rows)
act_rows = direct(_act_rows)
