"""What walks do with vectors over the hands of a round, compiled: pay, share out, learn."""

from __future__ import annotations

import numpy as np

from envs.core.compiling import helper, inlined, summing

__all__ = [
    "ONE",
    "TINY",
    "ZERO",
    "add_weights",
    "learn",
    "pay_call",
    "share",
    "take_best",
    "take_share",
]

ZERO, ONE, TWO = np.float32(0.0), np.float32(1.0), np.float32(2.0)
TINY = np.float32(1e-25)
"""What is smaller is taken as 0: numbers near the end of the range of floats are a hundred times as
slow, and under discounts regrets and reach do get there."""


@summing
def reach_with(reach, fits, num_fitting):
    """How likely the other has at least so many fitting dice, and has got here."""
    total = ZERO
    for h in range(reach.size):
        total += reach[h] if fits[h] >= num_fitting else ZERO
    return total


@inlined
def pay_call(shape, player, standing, reach, width, is_bidder, cf_values):
    """Write what each hand of the player gets, from 1 to -1, when the standing bid is called."""
    # A hand with k fitting dice wins for its bidder against everybody who has the rest. So the
    # value is a sum over k of what one fitting die more adds.
    other_fits, fits = shape.fits[1 - player, standing], shape.fits[player, standing]
    count = shape.counts[standing]
    sign = ONE if is_bidder else -ONE
    below = reach_with(reach, other_fits, count)
    base = sign * (TWO * below - reach_with(reach, other_fits, 0))
    for h in range(width):
        cf_values[h] = base
    for k in range(1, min(count, shape.dice[player]) + 1):
        enough = reach_with(reach, other_fits, count - k)
        step = sign * TWO * (enough - below)
        below = enough
        for h in range(width):
            cf_values[h] += step if fits[h] >= k else ZERO


@inlined
def add_weights(weights, width, num_actions, totals):
    """Sum what is positive over actions, for every hand."""
    for h in range(width):
        totals[h] = ZERO
    for action in range(num_actions):
        row = weights[action * width : (action + 1) * width]
        for h in range(width):
            totals[h] += max(row[h], ZERO)
    # What is not known at all is uniform, which ``share`` makes of a negative total.
    for h in range(width):
        if totals[h] <= ZERO:
            totals[h] = -np.float32(num_actions)


@helper
def share(weight, total):
    """The probability that belongs to a weight."""
    return max(weight, ZERO) / total if total > ZERO else -ONE / total


@inlined
def learn(regrets, choices, width, num_actions, totals, cf_values, keep_positive, keep_negative):
    """Values of the policy, and new regrets."""
    for h in range(width):
        cf_values[h] = ZERO
    for action in range(num_actions):
        row = regrets[action * width : (action + 1) * width]
        choice = choices[action]
        for h in range(width):
            cf_values[h] += share(row[h], totals[h]) * choice[h]
    for action in range(num_actions):
        row = regrets[action * width : (action + 1) * width]
        choice = choices[action]
        for h in range(width):
            regret = row[h] + (choice[h] - cf_values[h])
            regret *= keep_positive if regret >= ZERO else keep_negative
            row[h] = regret if abs(regret) > TINY else ZERO


@inlined
def take_best(choices, width, num_actions, sign, cf_values):
    """Values of the best action of every hand, or of the worst if ``sign`` is -1."""
    for h in range(width):
        cf_values[h] = choices[0, h]
    for action in range(1, num_actions):
        for h in range(width):
            cf_values[h] = sign * max(sign * cf_values[h], sign * choices[action, h])


@inlined
def take_share(weights, choices, width, num_actions, totals, cf_values):
    """Values of a policy."""
    for h in range(width):
        cf_values[h] = ZERO
    for action in range(num_actions):
        row = weights[action * width : (action + 1) * width]
        for h in range(width):
            cf_values[h] += share(row[h], totals[h]) * choices[action, h]
