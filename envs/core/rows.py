"""Rows of states, compiled: what batches and views do to many games in one call.

Compiled code trusts the types, rows and seats it is given; ``Batch`` checks them first.
"""

from __future__ import annotations

import numpy as np
from numba import types

from envs.core.compiling import compiled, direct, helper
from envs.core.kernels import CHANCE, INT, KERNELS, MASK, OVER, RNG, RULES
from envs.core.keys import first_key, fold
from envs.core.rng import one_way_block, seed_stream

__all__ = [
    "begin_rows",
    "busiest_rows",
    "determinize_movers",
    "legal_movers",
    "legal_rows",
    "look_rows",
    "observe_movers",
    "observe_rows",
    "step_rows",
    "waiting_rows",
]

# 192 bits that nobody knows are enough for a generator; the rest of its state may be anything.
FOURTH_WORD = np.uint64(0x9E3779B97F4A7C15)

_STATES = types.uint8[:, ::1]
_RNGS = types.uint64[:, ::1]
_KEYS = types.uint64[:, ::1]
_MASKS = types.int8[:, ::1]
_ROWS = types.int64[::1]
_HISTORIES = types.int32[:, ::1]
_TOTALS = types.float64[:, ::1]
_TOKENS = types.int64[:, :, ::1]
_OBSERVATIONS = types.float32[:, ::1]


@helper
def _play(kernels, rules, state, action, keys, tokens, history, length):
    """Play an action; fold and note what each player sees of it, write it down: the new length."""
    for player in range(keys.size):
        token = kernels.seen(state, rules, action, player)
        keys[player] = fold(keys[player], token)
        if length < tokens.shape[1]:
            tokens[player, length] = token
    if length < history.size:
        history[length] = action
    kernels.step(state, rules, action)
    return length + 1


@helper
def _settle(kernels, rules, state, rng, keys, tokens, history, length):
    """Play all chance that is due: ``(turn, length)``."""
    turn = kernels.turn(state, rules)
    while turn == CHANCE:
        outcome = kernels.sample(state, rules, rng)
        length = _play(kernels, rules, state, outcome, keys, tokens, history, length)
        turn = kernels.turn(state, rules)
    return turn, length


@helper
def _seed_seats(root, number, first, choice_rngs, world_rngs, ids, block, num_players):
    """Seed what the players of a game are given, from place ``first`` on.

    The id of the game and three words for each seat are taken from one-way blocks, as few as will
    do. A player may work out the generator of its own worlds, and nobody else's. Every seat knows
    the game by an id of its own, so that whoever has two cannot put together what they see.
    """
    one_way_block(root, number, 0, block)
    ids[0] = block[0]
    at = 1
    for place in range(first, first + num_players):
        for word in range(3):
            if at % block.size == 0:
                one_way_block(root, number, at // block.size, block)
            choice_rngs[place, word] = block[at % block.size]
            at += 1
        choice_rngs[place, 3] = FOURTH_WORD
        seed_stream(choice_rngs[place], 0, world_rngs[place])
    for seat in range(1, num_players):
        if at % block.size == 0:
            one_way_block(root, number, at // block.size, block)
        ids[seat] = block[at % block.size]
        at += 1


@compiled(
    types.void(
        *(KERNELS, RULES, INT, _RNGS, _RNGS, RNG, _ROWS, _ROWS, _RNGS, _RNGS, _KEYS),
        *(_STATES, _RNGS, _ROWS, _TOTALS, _KEYS, _TOKENS, _HISTORIES, _ROWS),
    )
)
def _begin_rows(
    kernels,
    rules,
    num_openings,
    chance,
    choice,
    block,
    rows,
    numbers,
    choice_rngs,
    world_rngs,
    game_ids,
    states,
    rngs,
    turns,
    totals,
    keys,
    tokens,
    histories,
    lengths,
):
    """Seed the generators of game ``numbers[i]`` and begin it in row ``rows[i]``.

    ``chance`` and ``choice`` ([rows, 4] uint64) are the roots of each row.
    """
    num_players = keys.shape[1]
    for i in range(rows.size):
        row, number = rows[i], numbers[i]
        state, rng = states[row], rngs[row]
        seed_stream(chance[row], number, rng)
        first = num_players * row
        ids = game_ids[row]
        _seed_seats(choice[row], number, first, choice_rngs, world_rngs, ids, block, num_players)
        for seat in range(num_players):
            keys[row, seat] = first_key(seat)
        kernels.new(state, rules, number % num_openings)
        turns[row], lengths[row] = _settle(
            kernels, rules, state, rng, keys[row], tokens[row], histories[row], 0
        )
        kernels.returns(state, rules, totals[row])


@compiled(
    INT(
        *(KERNELS, RULES, _ROWS, _ROWS, _RNGS, _RNGS, MASK, _ROWS),
        *(_STATES, _RNGS, _ROWS, _TOTALS, _KEYS, _TOKENS, _HISTORIES, _ROWS),
    )
)
def _step_rows(
    kernels,
    rules,
    rows,
    actions,
    own_rngs,
    choice_rngs,
    mask,
    chosen,
    states,
    rngs,
    turns,
    totals,
    keys,
    tokens,
    histories,
    lengths,
):
    """Play every action and return -1; or play none and return the first that is not legal.

    ``own_rngs`` are the generators of the players to move, who have drawn from them; none if empty.
    ``chosen`` ([rows] int64) finds a row that is named twice: one entry per row, all below zero
    before and after.
    """
    wrong = -1
    for i in range(rows.size):
        row, action = rows[i], actions[i]
        if turns[row] < 0 or chosen[row] >= 0 or not 0 <= action < mask.size:
            wrong = i
            break
        kernels.legal(states[row], rules, mask)
        if not mask[action]:
            wrong = i
            break
        chosen[row] = i
    for i in range(rows.size if wrong < 0 else wrong):
        chosen[rows[i]] = -1
    if wrong >= 0:
        return wrong
    for i in range(own_rngs.shape[0]):
        place = keys.shape[1] * rows[i] + turns[rows[i]]
        for word in range(4):
            choice_rngs[place, word] = own_rngs[i, word]
    for i in range(rows.size):
        row = rows[i]
        state, own_keys, own_tokens, history = states[row], keys[row], tokens[row], histories[row]
        length = _play(
            kernels, rules, state, actions[i], own_keys, own_tokens, history, lengths[row]
        )
        turns[row], lengths[row] = _settle(
            kernels, rules, state, rngs[row], own_keys, own_tokens, history, length
        )
        kernels.returns(state, rules, totals[row])
    return -1


@compiled(
    types.void(
        *(KERNELS, RULES, _ROWS, _ROWS, _STATES, _KEYS, _RNGS, _RNGS),
        *(_ROWS, _STATES, RNG, _RNGS),
    )
)
def _look_rows(
    kernels,
    rules,
    rows,
    turns,
    states,
    keys,
    choice_rngs,
    world_rngs,
    seats,
    worlds,
    own_keys,
    own_rngs,
):
    """Make what the player to move in each of the rows may have: seat, world, key, generator."""
    num_players = keys.shape[1]
    for i in range(rows.size):
        row = rows[i]
        seat = turns[row]
        place = num_players * row + seat
        seats[i] = seat
        own_keys[i] = keys[row, seat]
        for word in range(4):
            own_rngs[i, word] = choice_rngs[place, word]
        for byte in range(states.shape[1]):
            worlds[i, byte] = states[row, byte]
        kernels.determinize(worlds[i], rules, seat, world_rngs[place])


@compiled(types.void(_ROWS, types.int64[:, ::1], _ROWS))
def _waiting_rows(turns, seating, waiting_for):
    """Whom each row waits for: the player in the seat that is to move, or nobody (``OVER``)."""
    for row in range(turns.size):
        turn = turns[row]
        waiting_for[row] = OVER if turn == OVER else seating[row, max(turn, 0)]


@compiled(INT(_ROWS, types.int64[:, ::1], _ROWS, _ROWS))
def _busiest_rows(turns, seating, counts, rows):
    """Find out for whom the most rows wait, and write these rows: who it is.

    The last place of ``counts`` is for games that are over; they count if it is 0, not below.
    """
    nobody = counts.size - 1
    for row in range(turns.size):
        turn = turns[row]
        who = nobody if turn == OVER else seating[row, max(turn, 0)]
        rows[row] = who
        if who >= 0:
            counts[who] += 1
    most = counts.argmax()
    num_rows = 0
    for row in range(turns.size):
        if rows[row] == most:
            rows[num_rows] = row
            num_rows += 1
    counts[most] = num_rows
    return most


@compiled(types.void(KERNELS, RULES, _STATES, _ROWS, _ROWS, _ROWS, _MASKS))
def _legal_rows(kernels, rules, states, rows, seats, turns, masks):
    """Write the mask of every row whose seat is to move and leave the others as they are."""
    for i in range(rows.size):
        if turns[rows[i]] == seats[i]:
            kernels.legal(states[rows[i]], rules, masks[i])


@compiled(types.void(KERNELS, RULES, _STATES, _ROWS, _ROWS, _OBSERVATIONS))
def _observe_rows(kernels, rules, states, rows, players, observations):
    for i in range(rows.size):
        kernels.observe(states[rows[i]], rules, players[i], observations[i])


@compiled(types.void(KERNELS, RULES, _STATES, _MASKS))
def _legal_movers(kernels, rules, states, masks):
    """Write what is legal for the player to move in each state: [n, num_actions]."""
    for i in range(masks.shape[0]):
        kernels.legal(states[i], rules, masks[i])


@compiled(types.void(KERNELS, RULES, _STATES, _OBSERVATIONS))
def _observe_movers(kernels, rules, states, observations):
    """Write what the player to move in each state observes: [n, observation_size]."""
    for i in range(observations.shape[0]):
        kernels.observe(states[i], rules, kernels.turn(states[i], rules), observations[i])


@compiled(types.void(KERNELS, RULES, _RNGS, _STATES))
def _determinize_movers(kernels, rules, rngs, states):
    """Determinize each state for the player to move in it."""
    for i in range(states.shape[0]):
        kernels.determinize(states[i], rules, kernels.turn(states[i], rules), rngs[i])


# Past Numba's dispatch: these are called once for each turn of a match.
begin_rows, step_rows, look_rows = direct(_begin_rows), direct(_step_rows), direct(_look_rows)
legal_rows, observe_rows = direct(_legal_rows), direct(_observe_rows)
legal_movers, observe_movers = direct(_legal_movers), direct(_observe_movers)
determinize_movers = direct(_determinize_movers)
waiting_rows, busiest_rows = direct(_waiting_rows), direct(_busiest_rows)
