"""Paranoid search and best-reply search: one player against all others, by alpha-beta.

``paranoid``
    Every other player does the searching player, the hero, as much harm as possible (Sturtevant and
    Korf, 2000). With two players that is minimax.
``best reply``
    Between two moves of the hero only one opponent chooses, the one who can harm him most; the
    others play the first of their moves in the order of the search (Schadd and Winands, 2011; with
    moves in place of passes as in Esser and others, 2013). Trees are as deep as in paranoid search
    and much narrower, and the opponents are less of one mind.

Results are the hero's utility. Values of cut nodes are bounds and are stored as such.
"""

from __future__ import annotations

import numpy as np

from agents.search.nodes import (
    COMPLETE,
    EXACT,
    LOWER,
    NO_ACTION,
    UPPER,
    find,
    is_leaf,
    order_moves,
    state_key,
    store,
)
from agents.search.preference import utility_of
from agents.search.stack import HITS, IS_COMPLETE, PRUNINGS
from envs.core.compiling import inlined
from envs.core.kernels import CHANCE

__all__ = ["absorb_scalar", "close_scalar", "open_scalar"]


@inlined
def set_window(stack, o, depth):
    """Alpha, beta and whose reply is still to come, from the node above."""
    f = stack.frames[depth]
    f.alpha = -np.inf
    f.beta = np.inf
    f.has_replied = 0
    if depth > 0:
        g = stack.frames[depth - 1]
        if g.turn != CHANCE:
            f.alpha = g.alpha
            f.beta = g.beta
        if g.turn != o.hero:
            f.has_replied = g.has_replied
            f.has_replied |= g.turn != CHANCE and g.next_move > 1
    f.floor = f.alpha
    f.ceiling = f.beta


@inlined
def look_up(stack, table, o, depth):
    """Find the node in the table: returns the best move known, and whether the result is."""
    f = stack.frames[depth]
    if table.keys.size == 0 or f.turn == CHANCE:
        return NO_ACTION, False
    f.key = state_key(stack.states[depth], 1 + f.has_replied)
    slot = find(table, f.key)
    if slot < 0:
        return NO_ACTION, False
    hint = table.bests[slot]
    value = table.values[slot, 0]
    bound = table.bounds[slot]
    is_deep = table.depths[slot] == COMPLETE or table.depths[slot] == f.depth_left
    is_enough = bound == EXACT
    is_enough |= bound == LOWER and value >= f.beta
    is_enough |= bound == UPPER and value <= f.alpha
    if not is_deep or not is_enough:
        return hint, False
    stack.result[0] = value
    stack.progress[IS_COMPLETE] = table.depths[slot] == COMPLETE
    stack.counters[HITS] += 1
    f.best = hint
    return hint, True


@inlined
def open_scalar(kernels, evaluation, rules, stack, table, o, depth):
    """Enter a node: it has its result at once (0), or children to be searched (1)."""
    f = stack.frames[depth]
    if is_leaf(kernels, evaluation, rules, stack, o, depth):
        stack.result[0] = utility_of(stack.result, o.num_players, o.hero, o.preference, o.weight)
        return 0
    set_window(stack, o, depth)
    hint, is_known = look_up(stack, table, o, depth)
    if is_known:
        return 0
    # Which move an opponent plays who does not choose must not depend on the table.
    is_opponent = f.turn != o.hero and o.is_best_reply
    order_moves(kernels, evaluation, rules, stack, o, depth, NO_ACTION if is_opponent else hint)
    if is_opponent and f.turn != CHANCE and f.has_replied:
        f.num_moves = 1
    f.next_move = 0
    f.is_complete = 1
    f.utility = -np.inf if f.turn == o.hero else np.inf
    if f.turn == CHANCE:
        f.utility = 0.0
    return 1


@inlined
def absorb_scalar(stack, o, depth):
    """Take in the result of a child; returns 1 if the next one is to be searched."""
    f = stack.frames[depth]
    action = stack.moves[depth, f.next_move - 1]
    result = stack.result[0]
    f.is_complete &= stack.progress[IS_COMPLETE]
    num_left = f.num_moves - f.next_move
    if f.turn == CHANCE:
        f.utility += stack.probs[depth, action] * result
        return num_left > 0
    if f.turn == o.hero:
        if result > f.utility or f.best == NO_ACTION:
            f.utility = result
            f.best = action
        f.alpha = max(f.alpha, f.utility)
    else:
        if result < f.utility or f.best == NO_ACTION:
            f.utility = result
            f.best = action
        f.beta = min(f.beta, f.utility)
    if f.alpha >= f.beta and num_left > 0:
        stack.counters[PRUNINGS] += num_left
        stack.killers[depth] = action
        return 0
    return num_left > 0


@inlined
def close_scalar(stack, table, depth):
    """Leave a node, with what its utility says: a value, or a bound on it."""
    f = stack.frames[depth]
    stack.result[0] = f.utility
    stack.progress[IS_COMPLETE] = f.is_complete
    if table.keys.size == 0 or f.turn == CHANCE:
        return
    bound = EXACT
    if f.utility >= f.ceiling:
        bound = LOWER
    elif f.utility <= f.floor:
        bound = UPPER
    store(stack, table, f.key, COMPLETE if f.is_complete else f.depth_left, f.best, bound)
