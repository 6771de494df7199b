"""Online outcome sampling (Lisy, Lanctot and Bowling, 2015), compiled.

ISMCTS believes that its opponents know what it holds, because in all its worlds it holds it; more
time makes that worse. Online outcome sampling begins every simulation at the start of the game
instead and learns regrets for all players, by outcome-sampling MCCFR in a table that grows by one
infoset a simulation. In most simulations (``delta``) chance and players are made to do what the
searcher has seen them do, so that the present decision comes up often; what they would have done
otherwise is put right by importance weights. The average policy at the present decision is played.

What one simulation says of an action varies wildly, because the others were not tried and whatever
is rare weighs much. So every action has a baseline, the mean of what it has brought, and a
simulation only corrects that (Schmid and others, "Variance Reduction in Monte Carlo Counterfactual
Regret Minimization", 2019): the mean of the estimates stays what it was.

Averages converge to an equilibrium in two-player zero-sum games, whatever the position.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import types

from agents.ismcts.simulations import SEARCH, play_out, regret_share, regrets_at
from agents.ismcts.tree import (
    DEEPEST,
    NONE,
    SIMULATIONS,
    STEPS,
    add_node,
    copy_bytes,
    extend,
    find_node,
    turn_key,
)
from envs.core.compiling import compiled, inlined
from envs.core.kernels import CHANCE, INT, OVER, UNSEEN
from envs.core.records import Grid, Row, tuple_type
from envs.core.rng import below, first_key, fold, uniform


class Lead(NamedTuple):
    """What simulations are led to, and memory for what is on the way."""

    target: Row[np.int64]
    """[n] the tokens of the searcher."""
    reaches: Grid[np.float64]
    """[NUM_COLUMNS, depth]"""
    probs: Row[np.float64]
    """[outcomes]"""


_NODE, _EDGE, _TURN = range(3)
# Columns of what is kept of a decision on the way.
_OTHERS, _SAMPLED, _AFTER, _CHANCE = range(4)
NUM_COLUMNS = 4
_EXPLORING = 0.4
"""How often the player whose regrets are learnt tries any action."""
_TREMBLE = 0.01
"""How often everybody errs: without that nothing is learnt for decisions after a mistake."""
_SHORTEST_MEMORY = 0.01
"""What the newest value counts in a baseline at least, because policies change."""


@inlined
def is_allowed(kernels, rules, work, o, target, at, action):
    """Whether an action shows the searcher what it has seen next, or nothing."""
    if at >= target.size:
        return True
    token = kernels.seen(work.state, rules, action, o.seat)
    return token == UNSEEN or token == target[at]


@inlined
def draw(kernels, rules, work, o, target, at, choices, is_targeted, rng):
    """Draw by ``choices``: the action, its probability untargeted and targeted, or NONE.

    With ``is_targeted`` only what the searcher may have seen is drawn.
    """
    total = 0.0
    for action in range(choices.size):
        if choices[action] > 0.0 and is_allowed(kernels, rules, work, o, target, at, action):
            total += choices[action]
    left = uniform(rng) * (total if is_targeted else 1.0)
    chosen = NONE
    for action in range(choices.size):
        weight = choices[action]
        if weight > 0.0 and left >= 0.0:
            if is_targeted and not is_allowed(kernels, rules, work, o, target, at, action):
                continue
            chosen = action
            left -= weight
    if chosen == NONE:
        return chosen, 0.0, 0.0
    prob = choices[chosen]
    if not is_allowed(kernels, rules, work, o, target, at, chosen):
        return chosen, prob, 0.0
    return chosen, prob, prob / total


@inlined
def set_weights(pool, choices, slot, is_exploring):
    """Write what is drawn from at a node: regret matching, with exploration or without."""
    choices[:] = 0.0
    total, count = regrets_at(pool, slot, 0)
    at = pool.nodes[slot].first
    while at != NONE:
        edge = pool.edges[at]
        own = _TREMBLE / count + (1.0 - _TREMBLE) * regret_share(edge.regret, total, count)
        edge.prior = own
        choices[edge.action] = own
        if is_exploring:
            choices[edge.action] = _EXPLORING / count + (1.0 - _EXPLORING) * own
        at = edge.next


@inlined
def play(kernels, rules, work, o, target, at, action):
    """Play an action, fold what everybody sees; how much of the target has been seen."""
    token = kernels.seen(work.state, rules, action, o.seat)
    for player in range(o.num_players):
        seen = kernels.seen(work.state, rules, action, player)
        work.keys[player] = fold(work.keys[player], seen)
    kernels.step(work.state, rules, action)
    return at + (token != UNSEEN and at < target.size)


@inlined
def walk(kernels, rules, pool, work, o, lead, traverser, delta, rng):
    """Play one game: ``(depth, sampled, chance)``.

    These are its decisions, how likely it was to be sampled, and the probability of the chance
    events since the last decision.
    """
    for player in range(o.num_players):
        work.keys[player] = first_key(player)
    is_targeted, target, reaches = uniform(rng) < delta, lead.target, lead.reaches
    targeted, untargeted, others, chance, at, depth = 1.0, 1.0, 1.0, 1.0, 0, 0
    turn = kernels.turn(work.state, rules)
    while turn != OVER:
        slot, is_new = np.int64(NONE), False
        if turn == CHANCE:
            kernels.chance(work.state, rules, lead.probs)
        else:
            key = turn_key(work.keys[turn], turn)
            slot, is_new = find_node(pool, key)
            if is_new:
                if not add_node(pool, slot, key):
                    break
                num_legal = kernels.legal(work.state, rules, work.mask[: work.weights.size])
                extend(pool, work, slot, num_legal, 0)
            set_weights(pool, work.weights, slot, turn == traverser)
        choices = lead.probs if turn == CHANCE else work.weights
        action, prob, forced = draw(kernels, rules, work, o, target, at, choices, is_targeted, rng)
        if action == NONE:
            return NONE, 0.0, 0.0
        if turn == CHANCE:
            others *= prob
            chance *= prob
        else:
            edge = pool.nodes[slot].first
            while edge != NONE and pool.edges[edge].action != action:
                edge = pool.edges[edge].next
            if edge == NONE:
                break  # there was no memory for this action
            work.path[_NODE, depth] = slot
            work.path[_EDGE, depth] = edge
            work.path[_TURN, depth] = turn
            reaches[_OTHERS, depth] = others
            reaches[_SAMPLED, depth] = delta * targeted + (1.0 - delta) * untargeted
            reaches[_AFTER, depth] = delta * targeted * forced + (1.0 - delta) * untargeted * prob
            reaches[_CHANCE, depth] = chance
            chance = 1.0
            depth += 1
            if turn != traverser:
                others *= pool.edges[edge].prior
        targeted *= forced
        untargeted *= prob
        at = play(kernels, rules, work, o, target, at, action)
        turn = kernels.turn(work.state, rules)
        if is_new:
            break
    return depth, delta * targeted + (1.0 - delta) * untargeted, chance


@inlined
def baseline(edge, is_own, pays):
    """What an action has brought the traverser so far, as far as that is known.

    An edge has the mean of what it brought its own player (``total``, of ``available`` values, the
    first of them 0); of two players with a fixed sum, ``pays``, the other has got the rest.
    """
    if is_own:
        return edge.total
    return 0.0 if math.isnan(pays) else pays - edge.total


@inlined
def learn_from(edge, value, is_own, pays):
    """Move the mean of an action towards what it has brought the traverser now."""
    if not is_own:
        if math.isnan(pays):
            return
        value = pays - value
    edge.available += 1
    edge.total += (value - edge.total) * max(1.0 / edge.available, _SHORTEST_MEMORY)


@inlined
def learn(pool, work, reaches, depth, traverser, value, sampled, chance, pays):
    """Update regrets of the traverser and averages of the others, from the end to the start.

    ``value`` is what the traverser got. On the way back it becomes the estimate of what each
    decision was worth: a sum over its actions, of which one was tried.
    """
    for i in range(depth - 1, -1, -1):
        slot, chosen, turn = work.path[_NODE, i], work.path[_EDGE, i], work.path[_TURN, i]
        is_own = turn == traverser
        # Chance was led: what is rarer in truth than here counts less.
        value *= chance * reaches[_AFTER, i] / sampled
        tried = pool.edges[chosen]
        known = baseline(tried, is_own, pays)
        correction = (value - known) * reaches[_SAMPLED, i] / reaches[_AFTER, i]
        worth = tried.prior * correction
        at = pool.nodes[slot].first
        while at != NONE:
            edge = pool.edges[at]
            worth += edge.prior * baseline(edge, is_own, pays)
            at = edge.next
        weight = reaches[_OTHERS, i] / reaches[_SAMPLED, i]
        at = pool.nodes[slot].first
        while at != NONE:
            edge = pool.edges[at]
            if is_own:
                gain = baseline(edge, is_own, pays) + (correction if at == chosen else 0.0) - worth
                edge.regret += weight * gain
            else:
                edge.policy += weight * edge.prior
            at = edge.next
        pool.nodes[slot].visits += 1
        tried.visits += 1
        learn_from(tried, value, is_own, pays)
        value, sampled, chance = worth, reaches[_SAMPLED, i], reaches[_CHANCE, i]


@compiled(types.void(*SEARCH, tuple_type(Lead), types.float64, types.float64, INT))
def run_outcome_sampling(
    kernels, optional, rules, roots, rng, pool, work, options, lead, delta, pays, count
):
    """Run ``count`` simulations.

    Args:
        kernels: of the game.
        optional: what else it has.
        rules: of the game.
        roots: [openings, state_size] where games begin.
        rng: of the searcher.
        pool: the table of regrets and averages.
        work: scratch memory.
        options: one record.
        lead: where to, and scratch memory.
        delta: how many simulations are led to the present decision.
        pays: what the returns of two players add up to; NaN for more players or no fixed sum.
        count: how many.
    """
    o = options[0]
    for _ in range(count):
        pool.counters[SIMULATIONS] += 1
        traverser = pool.counters[SIMULATIONS] % o.num_players
        root = roots[below(rng, roots.shape[0])]
        copy_bytes(root, work.state)
        depth, sampled, chance = walk(kernels, rules, pool, work, o, lead, traverser, delta, rng)
        if depth == NONE:
            continue  # it could not be led to where the searcher is
        turn = kernels.turn(work.state, rules)
        while turn == CHANCE:  # where the simulation leaves the table
            kernels.step(work.state, rules, kernels.sample(work.state, rules, rng))
            turn = kernels.turn(work.state, rules)
        _, num_more = play_out(kernels, optional, rules, work, o, turn, np.int64(NONE), rng)
        value = work.totals[traverser]
        learn(pool, work, lead.reaches, depth, traverser, value, sampled, chance, pays)
        pool.counters[DEEPEST] = max(pool.counters[DEEPEST], depth)
        pool.counters[STEPS] += depth + num_more
