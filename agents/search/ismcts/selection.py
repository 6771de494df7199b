"""Which action of a node to try next.

=============  ==================================================================================
``ucb``        UCB1 with the number of visits at which an action was available (Cowling, Powley
               and Whitehouse, "Information Set Monte Carlo Tree Search", 2012)
``ucb_tuned``  the same with the variance of each action (Auer, Cesa-Bianchi and Fischer, 2002)
``puct``       as in AlphaZero: what the priors make likely is tried more
``regret``     regret matching: a mixed strategy, learnt from unbiased estimates
``uniform``    what has been tried least
=============  ==================================================================================

UCB tries every action once before any twice; ties are broken at random.
"""

from __future__ import annotations

import math

import numpy as np

from agents.search.ismcts.memory import NONE
from agents.search.ismcts.settings import PUCT, REGRET, TUNED, UNIFORM
from envs.core.compiling import inlined
from envs.core.rng import below, uniform

__all__ = ["learn_regrets", "select"]

UNTRIED = 1e9


@inlined
def log_of(logs, number):
    """A logarithm from the table, which is quicker, or beyond it."""
    return logs[number] if number < logs.size else math.log(np.float64(number))


@inlined
def score(edge, o, visits, low, scale, mean, log_available):
    """What speaks for an action."""
    if o.selection == UNIFORM:
        return -np.float64(edge.visits)
    if o.selection == PUCT:
        value = (edge.total / edge.visits - low) * scale if edge.visits else mean
        tried = edge.visits + edge.pending
        return value + o.exploration * edge.prior * math.sqrt(visits) / (1.0 + tried)
    if edge.visits == 0:
        return UNTRIED
    value = (edge.total / edge.visits - low) * scale
    wide = log_available / edge.visits
    if o.selection == TUNED:
        variance = edge.squares / edge.visits * scale * scale
        raw = edge.total / edge.visits * scale
        variance = max(variance - raw * raw, 0.0) + math.sqrt(2.0 * wide)
        return value + o.exploration * math.sqrt(wide * min(0.25, variance))
    return value + o.exploration * math.sqrt(wide)


@inlined
def select(pool, work, slot, turn, o, simulation, rng):
    """An edge of the node that is available in this simulation, and its probability."""
    if o.selection == REGRET:
        return select_by_regret(pool, slot, o, simulation, rng)
    node = pool.nodes[slot]
    low, high = pool.ranges[turn, 0], pool.ranges[turn, 1]
    scale = 1.0 / (high - low) if high > low else 1.0
    mean = (node.total / node.visits - low) * scale if node.visits else 0.5
    best, chosen, num_tied = -np.inf, NONE, 0
    available, log_available = 1, 0.0
    at = node.first
    while at != NONE:
        edge = pool.edges[at]
        if edge.simulation == simulation:
            if edge.available != available:  # mostly the same for all actions of a node
                available = edge.available
                log_available = log_of(work.logs, available)
            worth = score(edge, o, node.visits, low, scale, mean, log_available)
            if worth > best:
                best, chosen, num_tied = worth, at, 1
            elif worth == best:
                num_tied += 1
                if below(rng, num_tied) == 0:
                    chosen = at
        at = edge.next
    return chosen, 1.0


@inlined
def select_by_regret(pool, slot, o, simulation, rng):
    """Draw from the positive regrets, mixed with exploration; add the policy up."""
    total, count = 0.0, 0
    at = pool.nodes[slot].first
    while at != NONE:
        edge = pool.edges[at]
        if edge.simulation == simulation:
            total += max(edge.regret, 0.0)
            count += 1
        at = edge.next
    left, chosen, prob = uniform(rng), NONE, 1.0
    at = pool.nodes[slot].first
    while at != NONE:
        edge = pool.edges[at]
        if edge.simulation == simulation:
            own = max(edge.regret, 0.0) / total if total > 0.0 else 1.0 / count
            edge.policy += own
            drawn = o.gamma / count + (1.0 - o.gamma) * own
            if left >= 0.0 and drawn > 0.0:
                chosen, prob = at, drawn
                left -= drawn
        at = edge.next
    return chosen, prob


@inlined
def learn_regrets(pool, slot, chosen, prob, reward, simulation):
    """Add estimates of what each action would have brought beyond the policy.

    The mean of the node is the baseline: an estimate of an action is the baseline, and for the one
    that was tried what it brought beyond it, divided by its probability.
    """
    node = pool.nodes[slot]
    baseline = node.total / node.visits if node.visits else reward
    surplus = (reward - baseline) / prob
    total, count = 0.0, 0
    at = node.first
    while at != NONE:
        edge = pool.edges[at]
        if edge.simulation == simulation:
            total += max(edge.regret, 0.0)
            count += 1
        at = edge.next
    regret = pool.edges[chosen].regret
    own = max(regret, 0.0) / total if total > 0.0 else 1.0 / count
    at = node.first
    while at != NONE:
        edge = pool.edges[at]
        if edge.simulation == simulation:
            edge.regret -= own * surplus
        at = edge.next
    pool.edges[chosen].regret += surplus
