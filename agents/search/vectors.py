"""Max^n, with two ways to prune it that are sound for more than two players.

Every node has a vector of results, one for each player; the mover chooses the child he likes best
(Luckhardt and Irani, 1986). A player may move several times in a row. All nodes of one player in a
row are one group: what counts for a cut is the best result that the player of the group above has
found so far anywhere in it, and the best that the mover has found here.

``korf``
    Shallow pruning (Korf, 1991), for players who want their own return: results add up to at most
    ``sum_bound`` and nobody gets less than ``low``, so what the mover is sure of bounds what is
    left for the player above.
``placement``
    For players who want places, without any bound on the sum. Once the mover is sure of a first
    place, and the player above has one that he would have to give up here or to share, that player
    will not come.

A node that was cut has a value that is never chosen above it, and that is all that can be said of
it; only values that are known to be exact enter the table. With ties averaged neither pruning is
exact: a mean of two results that are alike to the mover may have another place than both.
"""

from __future__ import annotations

import numpy as np

from agents.search.nodes import (
    COMPLETE,
    EXACT,
    NO_ACTION,
    NOBODY,
    copy_values,
    find,
    is_leaf,
    order_moves,
    read_vector,
    state_key,
    store,
)
from agents.search.preference import EPSILON, place_of, utility_of
from agents.search.stack import IS_COMPLETE, IS_EXACT, PRUNINGS
from envs.core.compiling import helper, inlined
from envs.core.kernels import CHANCE
from envs.core.rng import mix

__all__ = [
    "AVERAGE",
    "FIRST",
    "HIGH",
    "LOW",
    "PRUNINGS_BY_NAME",
    "RANDOM",
    "TIES",
    "absorb_vector",
    "close_vector",
    "open_vector",
]

PRUNINGS_BY_NAME = ("none", "korf", "placement")
NO_PRUNING, KORF, PLACEMENT = range(len(PRUNINGS_BY_NAME))
TIES = ("first", "low", "high", "average", "random")
FIRST, LOW, HIGH, AVERAGE, RANDOM = range(len(TIES))


@helper
def is_cut(f, o):
    """Whether the player above will not come here, whatever the other moves lead to."""
    n = o.num_players
    if o.pruning == KORF:
        most = o.sum_bound - f.value[f.turn] - (n - 2) * o.low
        # Of equal results the first is kept only under that rule of ties.
        margin = -EPSILON if o.ties == FIRST else EPSILON
        return most + margin < f.above[f.above_player]
    above = place_of(f.above, n, f.above_player)
    mine = place_of(f.value, n, f.turn)
    return (above == 1.0 and mine <= 1.5) or (above <= 1.5 and mine == 1.0)


@inlined
def set_context(stack, o, depth):
    """What the player above and the mover himself have found before this node."""
    f = stack.frames[depth]
    f.above_player = NOBODY
    f.has_own = 0
    if depth > 0 and f.turn != CHANCE:
        g = stack.frames[depth - 1]
        if g.turn == f.turn:
            f.above_player = g.above_player
            copy_values(g.above, f.above, o.num_players)
            f.has_own = g.has_own
            f.own_utility = g.own_utility
            copy_values(g.own, f.own, o.num_players)
        elif g.turn != CHANCE and g.has_own:
            f.above_player = g.turn
            copy_values(g.own, f.above, o.num_players)
    f.had_own = f.has_own


@inlined
def open_vector(kernels, evaluation, rules, stack, table, o, depth):
    """Enter a node: it has its result at once (0), or children to be searched (1)."""
    f = stack.frames[depth]
    if is_leaf(kernels, evaluation, rules, stack, o, depth):
        return 0
    hint = NO_ACTION
    if table.keys.size > 0 or o.ties == RANDOM:
        f.key = state_key(stack.states[depth], 0)
    if table.keys.size > 0 and f.turn != CHANCE:
        slot = find(table, f.key)
        if slot >= 0:
            hint = table.bests[slot]
            if table.depths[slot] == COMPLETE or table.depths[slot] == f.depth_left:
                read_vector(stack, table, slot)
                f.best = hint
                return 0
    set_context(stack, o, depth)
    order_moves(kernels, evaluation, rules, stack, o, depth, hint)
    f.next_move = 0
    f.num_tied = 0
    f.was_cut = 0
    f.is_exact = 1
    f.is_complete = 1
    f.value[:] = 0.0
    return 1


@inlined
def settle_tie(f, stack, o, action):
    """Two children are alike to the mover: keep one of them, or the mean of both."""
    f.num_tied += 1
    takes = False
    if o.ties == AVERAGE:
        for player in range(o.num_players):
            f.value[player] += (stack.result[player] - f.value[player]) / f.num_tied
    elif o.ties == LOW:
        takes = action < f.best
    elif o.ties == HIGH:
        takes = action > f.best
    elif o.ties == RANDOM:
        # The same position is always decided alike, or stored values would contradict new ones.
        word = mix(f.key ^ o.seed ^ mix(np.uint64(f.num_tied)))
        takes = word % np.uint64(f.num_tied) == np.uint64(0)
    if takes:
        f.best = action
        copy_values(stack.result, f.value, o.num_players)


@inlined
def absorb_vector(stack, o, depth):
    """Take in the result of a child; returns 1 if the next one is to be searched."""
    f = stack.frames[depth]
    action = stack.moves[depth, f.next_move - 1]
    f.is_complete &= stack.progress[IS_COMPLETE]
    f.is_exact &= stack.progress[IS_EXACT]
    num_left = f.num_moves - f.next_move
    n = o.num_players
    if f.turn == CHANCE:
        for player in range(n):
            f.value[player] += stack.probs[depth, action] * stack.result[player]
        return num_left > 0
    child = stack.frames[depth + 1]
    if not stack.progress[IS_EXACT] and child.turn == f.turn and child.was_cut:
        f.was_cut = 1  # the player above has done with the whole group
    utility = utility_of(stack.result, n, f.turn, o.preference, o.weight)
    if f.best == NO_ACTION or utility > f.utility + EPSILON:
        f.best = action
        f.utility = utility
        f.num_tied = 1
        copy_values(stack.result, f.value, n)
    elif utility >= f.utility - EPSILON:
        settle_tie(f, stack, o, action)
    if o.pruning == NO_PRUNING:
        return num_left > 0
    mine = f.utility
    if o.ties == AVERAGE:  # a mean may be liked otherwise than what it is the mean of
        mine = utility_of(f.value, n, f.turn, o.preference, o.weight)
    if not f.has_own or mine > f.own_utility + EPSILON:
        f.has_own = 1
        f.own_utility = mine
        copy_values(f.value, f.own, n)
    if num_left > 0 and f.above_player != NOBODY and is_cut(f, o):
        stack.counters[PRUNINGS] += num_left
        stack.killers[depth] = action
        f.was_cut = 1
        return 0
    return num_left > 0


@inlined
def close_vector(stack, table, o, depth):
    """Leave a node: its value is the result, and enters the table if it is exact.

    Children that are not exact were cut because of a result that the mover has found in his group.
    If he found it at this node or below, he chooses it or a better one, and his value is exact; if
    above this node, nothing is known of the value here.
    """
    f = stack.frames[depth]
    copy_values(f.value, stack.result, o.num_players)
    is_exact = not f.was_cut and (f.is_exact or not f.had_own)
    stack.progress[IS_EXACT] = is_exact
    stack.progress[IS_COMPLETE] = f.is_complete
    if is_exact and table.keys.size > 0 and f.turn != CHANCE:
        store(stack, table, f.key, COMPLETE if f.is_complete else f.depth_left, f.best, EXACT)
