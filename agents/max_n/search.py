"""Max^n, paranoid search and best-reply search: one loop, down to the next child or back up.

**Max^n**, with two ways to prune it that are sound for more than two players. Every node has a
vector of results, one for each player; the mover chooses the child he likes best (Luckhardt and
Irani, 1986). A player may move several times in a row. All nodes of one player in a row are one
group: what counts for a cut is the best result that the player of the group above has found so far
anywhere in it, and the best that the mover has found here.

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

**Paranoid search and best-reply search**: one player against all others, by alpha-beta. Results are
one number a node, the hero's utility; values of cut nodes are bounds and are stored as such.

``paranoid``
    Every other player does the searching player, the hero, as much harm as possible (Sturtevant and
    Korf, 2000). With two players that is minimax.
``best reply``
    Between two moves of the hero only one opponent chooses, the one who can harm him most; the
    others play the first of their moves in the order of the search (Schadd and Winands, 2011; with
    moves in place of passes as in Esser and others, 2013). Trees are as deep as in paranoid search
    and much narrower, and the opponents are less of one mind.
"""

from __future__ import annotations

import numpy as np
from numba import from_dtype

from agents.max_n.frames import (
    COMPLETE,
    EXACT,
    LOWER,
    NO_ACTION,
    NOBODY,
    SETTINGS,
    STACK,
    TABLE,
    UPPER,
    copy_values,
    descend,
    find,
    is_leaf,
    order_moves,
    read_result,
    state_key,
    store,
)
from agents.max_n.preference import EPSILON, place_of, utility_of
from envs.core.compiling import compiled, helper, inlined
from envs.core.kernels import CHANCE, INT, KERNELS, OPTIONAL_KERNELS, RULES
from envs.core.rng import mix

PRUNINGS = ("none", "korf", "placement")
NO_PRUNING, KORF, PLACEMENT = range(len(PRUNINGS))
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
    f.is_complete &= stack.progress[0].is_complete
    f.is_exact &= stack.progress[0].is_exact
    num_left = f.num_moves - f.next_move
    n = o.num_players
    if f.turn == CHANCE:
        for player in range(n):
            f.value[player] += stack.probs[depth, action] * stack.result[player]
        return num_left > 0
    child = stack.frames[depth + 1]
    if not stack.progress[0].is_exact and child.turn == f.turn and child.was_cut:
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
        stack.progress[0].prunings += num_left
        f.was_cut = 1
        return 0
    return num_left > 0


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
def absorb_scalar(stack, o, depth):
    """Take in the result of a child; returns 1 if the next one is to be searched."""
    f = stack.frames[depth]
    action = stack.moves[depth, f.next_move - 1]
    result = stack.result[0]
    f.is_complete &= stack.progress[0].is_complete
    num_left = f.num_moves - f.next_move
    if f.turn == CHANCE:
        f.utility += stack.probs[depth, action] * result
        return num_left > 0
    is_better = result > f.utility if f.turn == o.hero else result < f.utility
    if is_better or f.best == NO_ACTION:
        f.utility = result
        f.best = action
    if f.turn == o.hero:
        f.alpha = max(f.alpha, f.utility)
    else:
        f.beta = min(f.beta, f.utility)
    if f.alpha >= f.beta and num_left > 0:
        stack.progress[0].prunings += num_left
        return 0
    return num_left > 0


# ---- nodes of both kinds -------------------------------------------------------------------------


@inlined
def look_up(stack, table, o, depth):
    """Find the node in the table: returns the best move known, and whether the result is."""
    f = stack.frames[depth]
    if f.turn == CHANCE or (table.keys.size == 0 and o.ties != RANDOM):
        return NO_ACTION, False
    f.key = state_key(stack.states[depth], 1 + f.has_replied if o.is_scalar else 0)
    slot = find(table, f.key) if table.keys.size > 0 else -1
    if slot < 0:
        return NO_ACTION, False
    hint, value, bound = table.bests[slot], table.values[slot, 0], table.bounds[slot]
    is_known = table.depths[slot] == COMPLETE or table.depths[slot] == f.depth_left
    is_known &= (
        bound == EXACT
        or (bound == LOWER and value >= f.beta)
        or (bound == UPPER and value <= f.alpha)
    )
    if is_known:
        read_result(stack, table, slot)
        f.best = hint
    return hint, is_known


@inlined
def open_node(kernels, evaluation, rules, stack, table, o, depth):
    """Enter a node: it has its result at once (0), or children to be searched (1)."""
    f = stack.frames[depth]
    if is_leaf(kernels, evaluation, rules, stack, o, depth):
        if o.is_scalar:
            value = utility_of(stack.result, o.num_players, o.hero, o.preference, o.weight)
            stack.result[0] = value
        return 0
    if o.is_scalar:
        set_window(stack, o, depth)
    hint, is_known = look_up(stack, table, o, depth)
    if is_known:
        return 0
    # Which move an opponent plays who does not choose must not depend on the table.
    is_opponent = f.turn != o.hero and o.is_best_reply
    order_moves(kernels, evaluation, rules, stack, o, depth, NO_ACTION if is_opponent else hint)
    f.next_move = 0
    f.is_complete = 1
    if o.is_scalar:
        if is_opponent and f.turn != CHANCE and f.has_replied:
            f.num_moves = 1
        f.utility = -np.inf if f.turn == o.hero else np.inf
        if f.turn == CHANCE:
            f.utility = 0.0
    else:
        set_context(stack, o, depth)
        f.num_tied = 0
        f.was_cut = 0
        f.is_exact = 1
        f.value[:] = 0.0
    return 1


@inlined
def close_node(stack, table, o, depth):
    """Come back from a child: 1 if the next one is to be searched, else the node is left.

    Its value then is the result. A vector enters the table if it is exact, a number says what it is
    a bound of.

    Children that are not exact were cut because of a result that the mover has found in his group.
    If he found it at this node or below, he chooses it or a better one, and his value is exact; if
    above this node, nothing is known of the value here.
    """
    if absorb_scalar(stack, o, depth) if o.is_scalar else absorb_vector(stack, o, depth):
        return 1
    f = stack.frames[depth]
    is_stored, bound = True, EXACT
    if o.is_scalar:
        stack.result[0] = f.utility
        if f.utility >= f.ceiling:
            bound = LOWER
        elif f.utility <= f.floor:
            bound = UPPER
    else:
        copy_values(f.value, stack.result, o.num_players)
        is_stored = not f.was_cut and (f.is_exact or not f.had_own)
        stack.progress[0].is_exact = is_stored
    stack.progress[0].is_complete = f.is_complete
    if is_stored and table.keys.size > 0 and f.turn != CHANCE:
        store(stack, table, f.key, COMPLETE if f.is_complete else f.depth_left, f.best, bound)
    return 0


@compiled(INT(KERNELS, OPTIONAL_KERNELS, RULES, STACK, TABLE, from_dtype(SETTINGS)[::1], INT))
def search_frames(kernels, evaluation, rules, stack, table, settings, max_nodes):
    """Go on with a search; returns 1 when the root has its result, 0 after ``max_nodes`` nodes."""
    o = settings[0]
    last_node = stack.progress[0].nodes + max_nodes
    depth = stack.progress[0].depth
    is_entering = stack.progress[0].is_entering
    is_over = 0
    while True:
        if is_entering:
            if stack.progress[0].nodes >= last_node:
                break
            wants_child = open_node(kernels, evaluation, rules, stack, table, o, depth)
        elif depth == 0:
            is_over = 1
            break
        else:
            depth -= 1
            wants_child = close_node(stack, table, o, depth)
        if wants_child:
            descend(kernels, rules, stack, o, depth)
            depth += 1
        is_entering = wants_child
    stack.progress[0].depth = depth
    stack.progress[0].is_entering = is_entering
    return is_over
