"""Action selection: from the values of a decision to the probability of every action.

* ``epsilon``: with probability epsilon any legal action, all alike, otherwise the best;
* ``epsilon_other``: with probability epsilon one of the *other* legal actions;
* ``vdbe``: ``epsilon`` with an epsilon of its own for every state, large where values still change
  (M. Tokic, "Adaptive epsilon-greedy exploration in reinforcement learning based on value
  differences", 2010);
* ``softmax``: in proportion to exp(value / temperature);
* ``matching``: in proportion to the size of the value, a roulette wheel.

Equally good actions share the probability of the best.
"""

from __future__ import annotations

import math

import numpy as np

from envs.core.compiling import helper

__all__ = [
    "CONSTANT",
    "EPSILON",
    "EPSILON_OTHER",
    "EXPONENTIAL",
    "GREEDY",
    "LINEAR",
    "MATCHING",
    "POLICIES",
    "SCHEDULES",
    "SOFTMAX",
    "VDBE",
    "best_value",
    "draw",
    "scheduled",
    "vdbe_epsilon",
    "write_probs",
]

POLICIES = ("epsilon", "epsilon_other", "vdbe", "softmax", "matching")
EPSILON, EPSILON_OTHER, VDBE, SOFTMAX, MATCHING = range(5)
GREEDY = -1
SCHEDULES = ("constant", "linear", "exponential")
CONSTANT, LINEAR, EXPONENTIAL = range(3)


@helper
def best_value(mask, values):
    """The highest value of a legal action."""
    best = -np.inf
    for action in range(mask.size):
        if mask[action] and values[action] > best:
            best = values[action]
    return best


@helper
def write_probs(policy, amount, mask, values, probs):
    """Write the probability of every action; ``amount`` is epsilon or the temperature."""
    best = best_value(mask, values)
    num_legal = 0
    num_best = 0
    for action in range(mask.size):
        if mask[action]:
            num_legal += 1
            num_best += values[action] == best
    of_other, of_best = 0.0, 1.0 / num_best
    if policy in (EPSILON, VDBE):
        of_other = amount / num_legal
        of_best = of_other + (1.0 - amount) / num_best
    elif policy == EPSILON_OTHER and num_legal > 1:
        # One of the best is taken as the best; the rest of them are "other" actions.
        of_other = amount / (num_legal - 1)
        of_best = (1.0 - amount + (num_best - 1) * of_other) / num_best
    if policy not in (SOFTMAX, MATCHING):
        for action in range(mask.size):
            probs[action] = 0.0
            if mask[action]:
                probs[action] = of_best if values[action] == best else of_other
        return
    total = 0.0
    for action in range(mask.size):
        probs[action] = 0.0
        if mask[action]:
            if policy == MATCHING:
                probs[action] = abs(values[action])
            else:
                probs[action] = math.exp((values[action] - best) / amount)
            total += probs[action]
    share = 1.0 / total if total > 0.0 else 0.0
    for action in range(mask.size):
        probs[action] *= share
        if total == 0.0 and mask[action]:  # a wheel without any weight
            probs[action] = 1.0 / num_legal


@helper
def draw(probs, number):
    """The action that a uniform ``number`` in [0, 1) falls on."""
    chosen = 0
    reached = 0.0
    for action in range(probs.size):
        if probs[action] > 0.0:
            chosen = action  # also if rounding leaves a gap before 1
            reached += probs[action]
            if number < reached:
                break
    return chosen


@helper
def scheduled(schedule, start, end, share):
    """Where an amount stands after a share of its schedule."""
    share = min(share, 1.0)
    if schedule == LINEAR:
        return start + (end - start) * share
    if schedule == EXPONENTIAL:
        return start * (end / start) ** share
    return start


@helper
def vdbe_epsilon(epsilon, change, sensitivity, weight):
    """The epsilon of a state after one of its values has changed by ``change``."""
    decay = math.exp(-abs(change) / sensitivity)
    return weight * (1.0 - decay) / (1.0 + decay) + (1.0 - weight) * epsilon
