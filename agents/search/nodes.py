"""What every search does with a node: order its moves, go down, look it up, store it."""

from __future__ import annotations

import numpy as np

from agents.search.preference import utility_of
from agents.search.stack import (
    DEEPEST,
    DEPTH,
    HITS,
    IS_COMPLETE,
    IS_ENTERING,
    IS_EXACT,
    LEAVES,
    NODES,
    STORED,
)
from envs.core.compiling import helper, inlined
from envs.core.kernels import CHANCE, OVER
from envs.core.rng import mix

__all__ = [
    "COMPLETE",
    "EXACT",
    "GUESS",
    "HIGH_FIRST",
    "LOWER",
    "LOW_FIRST",
    "NOBODY",
    "NO_ACTION",
    "ORDERS",
    "UPPER",
    "begin",
    "copy_values",
    "descend",
    "find",
    "is_leaf",
    "order_moves",
    "read_vector",
    "state_key",
    "store",
]

NOBODY = -1
NO_ACTION = -1
COMPLETE = 1 << 30
"""Depth of a value that rests on the ends of games alone."""
EXACT, LOWER, UPPER = 0, 1, 2
"""Bounds of stored values; a search for vectors stores exact ones only."""
ORDERS = ("low_first", "high_first", "guess")
LOW_FIRST, HIGH_FIRST, GUESS = range(len(ORDERS))

_NUM_PROBES = 8
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@helper
def copy_values(source, target, num_players):
    """Copy a vector of results; an assignment of slices would allocate."""
    for player in range(num_players):
        target[player] = source[player]


@inlined
def begin(stack):
    """Prepare for the search of the state in the first row."""
    stack.progress[DEPTH] = 0
    stack.progress[IS_ENTERING] = 1


@helper
def state_key(row, salt):
    """A hash of the words of a state, never 0."""
    words = row.view(np.uint64)
    key = np.uint64(salt) * _GOLDEN
    for i in range(words.size):
        key = (key ^ words[i]) * np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(29)
    return mix(key) | np.uint64(1)


@inlined
def find(table, key):
    """The slot of a position, or -1."""
    last = np.uint64(table.keys.size - 1)
    for probe in range(_NUM_PROBES):
        slot = np.int64((key + np.uint64(probe)) & last)
        if table.keys[slot] == key:
            return slot
        if table.keys[slot] == np.uint64(0):
            return -1
    return -1


@inlined
def store(stack, table, key, depth, best, bound):
    """Enter ``stack.result``, in place of the shallowest of a few if there is no room."""
    last = np.uint64(table.keys.size - 1)
    slot = np.int64(key & last)
    for probe in range(_NUM_PROBES):
        other = np.int64((key + np.uint64(probe)) & last)
        if table.keys[other] == key or table.keys[other] == np.uint64(0):
            slot = other
            break
        if table.depths[other] < table.depths[slot]:
            slot = other
    table.keys[slot] = key
    table.depths[slot] = depth
    table.bests[slot] = best
    table.bounds[slot] = bound
    copy_values(stack.result, table.values[slot], stack.result.size)
    stack.counters[STORED] += 1


@inlined
def is_leaf(kernels, evaluation, rules, stack, o, depth):
    """Count a node that is entered; at a leaf everybody's returns become the result."""
    stack.counters[NODES] += 1
    stack.counters[DEEPEST] = max(stack.counters[DEEPEST], depth)
    f = stack.frames[depth]
    state = stack.states[depth, : o.state_size]
    f.turn = kernels.turn(state, rules)
    f.best = NO_ACTION
    if f.turn == OVER:
        kernels.returns(state, rules, stack.result)
    elif f.turn != CHANCE and f.depth_left <= 0:
        evaluation.evaluate(state, rules, stack.result)
    else:
        return False
    stack.counters[LEAVES] += 1
    stack.progress[IS_EXACT] = 1
    stack.progress[IS_COMPLETE] = f.turn == OVER
    return True


@inlined
def read_vector(stack, table, slot):
    """Make a stored exact value the result."""
    copy_values(table.values[slot], stack.result, stack.result.size)
    stack.progress[IS_EXACT] = 1
    stack.progress[IS_COMPLETE] = table.depths[slot] == COMPLETE
    stack.counters[HITS] += 1


@inlined
def descend(kernels, rules, stack, o, depth):
    """Play the next move of the node at ``depth`` into the row below it."""
    f = stack.frames[depth]
    action = stack.moves[depth, f.next_move]
    f.next_move += 1
    for i in range(stack.states.shape[1]):
        stack.states[depth + 1, i] = stack.states[depth, i]
    kernels.step(stack.states[depth + 1, : o.state_size], rules, action)
    is_decision = f.turn != CHANCE
    stack.frames[depth + 1].depth_left = f.depth_left - is_decision


@inlined
def move_to_front(moves, num_moves, action):
    """Search ``action`` first, if it is among the moves."""
    for i in range(num_moves):
        if moves[i] == action:
            for j in range(i, 0, -1):
                moves[j] = moves[j - 1]
            moves[0] = action
            return


@inlined
def order_moves(kernels, evaluation, rules, stack, o, depth, hint):
    """Write the legal moves of a node in the order in which they are to be searched."""
    f = stack.frames[depth]
    state = stack.states[depth, : o.state_size]
    kernels.legal(state, rules, stack.mask)
    moves = stack.moves[depth]
    count = 0
    for i in range(stack.mask.size):
        action = stack.mask.size - 1 - i if o.order == HIGH_FIRST else i
        if stack.mask[action]:
            moves[count] = action
            count += 1
    f.num_moves = count
    if f.turn == CHANCE:
        kernels.chance(state, rules, stack.probs[depth])
        return
    if o.order == GUESS and count > 1:
        sort_by_guess(kernels, evaluation, rules, stack, o, depth)
    if o.has_killers:
        move_to_front(moves, count, stack.killers[depth])
    move_to_front(moves, count, hint)


@inlined
def sort_by_guess(kernels, evaluation, rules, stack, o, depth):
    """Sort moves by the estimate of what they lead to, the best for the mover first."""
    f = stack.frames[depth]
    moves = stack.moves[depth]
    for i in range(f.num_moves):
        for j in range(stack.scratch.size):
            stack.scratch[j] = stack.states[depth, j]
        kernels.step(stack.scratch, rules, moves[i])
        evaluation.evaluate(stack.scratch, rules, stack.result)
        guess = utility_of(stack.result, o.num_players, f.turn, o.preference, o.weight)
        action = moves[i]
        at = i
        while at > 0 and stack.guesses[at - 1] < guess:
            stack.guesses[at] = stack.guesses[at - 1]
            moves[at] = moves[at - 1]
            at -= 1
        stack.guesses[at] = guess
        moves[at] = action
