"""The compiled part of variance reduction: what could have happened, and what a state is worth.

``line_up`` plays games again from their records. For each event it writes a line: the states that
could have followed, weighted with their probabilities, and the state that did follow, with weight
-1. The weighted sum of any function over a line has mean zero, because the positive part is the
expectation of the negative part.

``add_products`` and ``add_values`` sum over lines: the first products of what the players observe,
to learn weights from, the second those products times the weights that were learned. Products are
put in numbered buckets by hashing (Weinberger and others, "Feature hashing for large scale
multitask learning", 2009), so that their number does not grow with the game.
"""

from __future__ import annotations

import numpy as np
from numba import types

from envs.core.compiling import compiled, helper
from envs.core.kernels import CHANCE, INT, KERNELS, OBSERVATION, OVER, RNG, RULES, STATE, TOTALS
from envs.core.rng import mix

NO_POLICY = -1
MEMO_BITS = 14
"""The values of 2 to this power states are remembered."""

_STATES = types.uint8[:, ::1]
_FLOATS = types.float64[:, ::1]
_INTS = types.int64[::1]
_LINES = types.Tuple((_STATES, TOTALS, _INTS))
_RECORDS = types.Tuple((_INTS, types.int32[:, ::1], _INTS, types.uint64[:, ::1]))
_POLICIES = types.Tuple((types.int64[:, ::1], _FLOATS))
_SCRATCH = types.Tuple((STATE, TOTALS, RNG))
_FEATURES = types.Tuple((_INTS, TOTALS, INT, INT))
_KNOWN = types.Tuple((_FLOATS, types.uint64[::1], _FLOATS))
_LIMITS = types.UniTuple(INT, 2)
_ROOM = types.Tuple((OBSERVATION, TOTALS, _INTS, TOTALS))

_ODD = np.uint64(0x9E3779B97F4A7C15)


# ---- lines: what could have followed, and what did -----------------------------------------------


@helper
def copy_into(source, target):
    """Compiled code here cannot assign one slice to another."""
    for i in range(source.size):
        target[i] = source[i]


@helper
def is_short(kernels, rules, start, state, probs, max_ways):
    """Whether chance can go in few ways from ``start``, judged by where the first outcomes lead."""
    copy_into(start, state)
    num_ways = 1
    while kernels.turn(state, rules) == CHANCE:
        kernels.chance(state, rules, probs)
        first = -1
        num_outcomes = 0
        for outcome in range(probs.size):
            if probs[outcome] > 0.0:
                num_outcomes += 1
                if first < 0:
                    first = outcome
        num_ways *= num_outcomes
        if num_ways > max_ways:
            return False
        kernels.step(state, rules, first)
    return True


@helper
def list_chance(kernels, rules, states, weights, probs):
    """Every way chance can go from ``states[0]``; how many rows, or -1 if they do not fit.

    A row on which chance has still to act is followed further down by its outcomes, and its own
    weight becomes 0.
    """
    weights[0] = 1.0
    num_rows = 1
    row = 0
    while row < num_rows:
        if kernels.turn(states[row], rules) == CHANCE:
            kernels.chance(states[row], rules, probs)
            for outcome in range(probs.size):
                if probs[outcome] > 0.0:
                    if num_rows == weights.size:
                        return -1
                    copy_into(states[row], states[num_rows])
                    kernels.step(states[num_rows], rules, outcome)
                    weights[num_rows] = weights[row] * probs[outcome]
                    num_rows += 1
            weights[row] = 0.0
        row += 1
    return num_rows


@helper
def draw_chance(kernels, rules, start, states, weights, rng):
    """Fill all rows with draws of what could have followed, when that is too much to list."""
    for row in range(weights.size):
        copy_into(start, states[row])
        while kernels.turn(states[row], rules) == CHANCE:
            kernels.step(states[row], rules, kernels.sample(states[row], rules, rng))
        weights[row] = 1.0 / weights.size


@helper
def list_actions(kernels, rules, start, states, weights, policy):
    """The states after every action that the player to move may choose; how many."""
    num_rows = 0
    for action in range(policy.size):
        if policy[action] > 0.0:
            copy_into(start, states[num_rows])
            kernels.step(states[num_rows], rules, action)
            weights[num_rows] = policy[action]
            num_rows += 1
    return num_rows


@helper
def list_outcomes(kernels, rules, state, states, weights, max_listed, num_draws, probs, rng):
    """What chance can make of ``state``: all of it if that is little, else draws; how many."""
    if is_short(kernels, rules, state, states[0], probs, max_listed):
        copy_into(state, states[0])
        num_rows = list_chance(kernels, rules, states[:max_listed], weights[:max_listed], probs)
        if num_rows >= 0:
            return num_rows
    draw_chance(kernels, rules, state, states[:num_draws], weights[:num_draws], rng)
    return num_draws


@compiled(_LIMITS(KERNELS, RULES, INT, _RECORDS, _POLICIES, INT, _LIMITS, _SCRATCH, _LINES))
def line_up(kernels, rules, num_openings, records, policies, game, limits, scratch, lines):
    """Write the lines of the games from ``game`` on until there is no room for another.

    Args:
        kernels: the functions of the game.
        rules: its rules.
        num_openings: how many openings take turns.
        records: [games] numbers, [games, length] histories, [games] lengths and [games, 4]
            generators, for draws where chance can go in too many ways.
        policies: [games, length] the row of each decision, or ``NO_POLICY``, in [rows, actions]
            probabilities.
        game: the first game to write.
        limits: rows that a list of all ways of chance may take, and how many ways to draw where
            there are more.
        scratch: a state, the probabilities of chance outcomes and a generator to work with.
        lines: [rows] states, weights and games.

    Returns:
        The first game that is not written, and the number of rows that are.
    """
    numbers, histories, lengths, rngs = records
    policy_rows, policy_probs = policies
    max_listed, num_draws = limits
    state, probs, rng = scratch
    states, weights, games = lines
    longest = 1 + max(max_listed, num_draws, policy_probs.shape[1])
    num_rows = 0
    while game < numbers.size:
        row = num_rows
        copy_into(rngs[game], rng)
        kernels.new(state, rules, numbers[game] % num_openings)
        move = 0
        while move < lengths[game]:
            if row + longest > weights.size:
                return game, num_rows
            first = row
            ahead, ahead_weights = states[row:], weights[row:]
            if kernels.turn(state, rules) == CHANCE:
                row += list_outcomes(
                    kernels, rules, state, ahead, ahead_weights, max_listed, num_draws, probs, rng
                )
                while move < lengths[game] and kernels.turn(state, rules) == CHANCE:
                    kernels.step(state, rules, histories[game, move])
                    move += 1
            else:
                policy_row = policy_rows[game, move] if policy_rows.size else NO_POLICY
                if policy_row != NO_POLICY:
                    policy = policy_probs[policy_row]
                    row += list_actions(kernels, rules, state, ahead, ahead_weights, policy)
                kernels.step(state, rules, histories[game, move])
                move += 1
            if row > first:
                copy_into(state, states[row])
                weights[row] = -1.0
                row += 1
                games[first:row] = game
        game += 1
        num_rows = row
    return game, num_rows


# ---- what is known of a state --------------------------------------------------------------------


@helper
def write_entries(kernels, rules, state, columns, scales, observation, totals, ids, entries):
    """A constant, the totals, and what the players observe unless it is over: those not zero."""
    ids[0] = 0
    entries[0] = 1.0
    num_entries = 1
    num_players = totals.size
    kernels.returns(state, rules, totals)
    for player in range(num_players):
        if totals[player] != 0.0:
            ids[num_entries] = 1 + player
            entries[num_entries] = totals[player] * scales[player]
            num_entries += 1
    if kernels.turn(state, rules) == OVER:
        return num_entries
    column = 0
    for player in range(num_players):
        first = player * observation.size
        if column < columns.size and columns[column] < first + observation.size:
            kernels.observe(state, rules, player, observation)
        while column < columns.size and columns[column] < first + observation.size:
            value = observation[columns[column] - first]
            if value != 0.0 and num_entries < ids.size:
                ids[num_entries] = 1 + num_players + column
                entries[num_entries] = value * scales[num_players + column]
                num_entries += 1
            column += 1
    return num_entries


@helper
def pair_key(first_id, second_id):
    """What the buckets of all products with these two factors have in common."""
    return mix(mix(np.uint64(first_id) + _ODD) + np.uint64(second_id))


@helper
def bucket_of(key, third_id, num_bits):
    """Where the product with a third factor belongs."""
    # Multiplied twice, so that the high bits depend on every bit of the number.
    key = (key ^ (np.uint64(third_id) * _ODD)) * _ODD
    return np.int64(key >> np.uint64(64 - num_bits))


@helper
def add_state_products(ids, entries, num_entries, degree, num_bits, weight, sums):
    """Add all products of up to ``degree`` entries to their buckets.

    Thanks to the constant, which is an entry like the others, products of fewer are among those of
    three.
    """
    for i in range(num_entries if degree == 3 else 1):
        for j in range(i, num_entries if degree >= 2 else 1):
            key = pair_key(ids[i], ids[j])
            product = weight * entries[i] * entries[j]
            for k in range(j, num_entries):
                sums[bucket_of(key, ids[k], num_bits)] += product * entries[k]


@helper
def write_value(ids, entries, num_entries, degree, num_bits, table, out):
    """The sum of the same products, each times the weights of its bucket."""
    out[:] = 0.0
    for i in range(num_entries if degree == 3 else 1):
        for j in range(i, num_entries if degree >= 2 else 1):
            key = pair_key(ids[i], ids[j])
            product = entries[i] * entries[j]
            for k in range(j, num_entries):
                bucket = bucket_of(key, ids[k], num_bits)
                for player in range(out.size):
                    out[player] += product * entries[k] * table[bucket, player]


@helper
def hash_state(state):
    """The bytes of a state as one number, never 0."""
    num_words = state.size // 8
    words = state[: 8 * num_words].view(np.uint64)
    key = _ODD
    for i in range(num_words):
        key = (key ^ words[i]) * _ODD
        key ^= key >> np.uint64(32)
    for i in range(8 * num_words, state.size):
        key = (key ^ np.uint64(state[i])) * _ODD
        key ^= key >> np.uint64(32)
    return mix(key) | np.uint64(1)


@compiled(types.void(KERNELS, RULES, _LINES, INT, _FEATURES, _ROOM, _FLOATS))
def add_products(kernels, rules, lines, num_rows, features, room, sums):
    """Sum the products of each game by bucket: [games, buckets]."""
    states, weights, games = lines
    columns, scales, degree, num_bits = features
    observation, totals, ids, entries = room
    for row in range(num_rows):
        if weights[row] == 0.0:
            continue
        num_entries = write_entries(
            kernels, rules, states[row], columns, scales, observation, totals, ids, entries
        )
        add_state_products(
            ids, entries, num_entries, degree, num_bits, weights[row], sums[games[row]]
        )


@compiled(types.void(KERNELS, RULES, _LINES, INT, _FEATURES, _ROOM, _KNOWN, _FLOATS))
def add_values(kernels, rules, lines, num_rows, features, room, known, sums):
    """Sum the values of each game: [games, players].

    Many games of a small game pass through the same states: beside the weights, what is known holds
    a memo of the last value for each remainder of the hash of a state.
    """
    table, memo_keys, memo = known
    states, weights, games = lines
    columns, scales, degree, num_bits = features
    observation, totals, ids, entries = room
    for row in range(num_rows):
        if weights[row] == 0.0:
            continue
        key = hash_state(states[row])
        slot = key >> np.uint64(64 - MEMO_BITS)
        if memo_keys[slot] != key:
            memo_keys[slot] = key
            num_entries = write_entries(
                kernels, rules, states[row], columns, scales, observation, totals, ids, entries
            )
            write_value(ids, entries, num_entries, degree, num_bits, table, memo[slot])
        for player in range(sums.shape[1]):
            sums[games[row], player] += weights[row] * memo[slot, player]
