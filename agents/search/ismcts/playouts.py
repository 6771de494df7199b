"""What follows the tree: play to the end, or to an estimate, and what everybody gets from it."""

from __future__ import annotations

from agents.search.ismcts.nodes import random_of
from agents.search.preference import BY_PLACE, place_of
from envs.core.compiling import inlined
from envs.core.kernels import CHANCE, OVER
from envs.core.playing import settle
from envs.core.rng import uniform

__all__ = ["play_out", "policy_action", "set_rewards"]

MARGIN = 0.02
"""Of a reward by place: what the score counts among equal places."""


@inlined
def policy_action(kernels, optional, rules, work, o, rng):
    """An action of the rollout policy."""
    if o.has_rule and uniform(rng) >= o.epsilon:
        return optional.rollout(work.state, rules, rng)
    num_legal = kernels.legal(work.state, rules, work.mask[: work.weights.size])
    return random_of(work.mask, num_legal, rng)


@inlined
def play_out(kernels, optional, rules, work, o, turn, last, rng):
    """Play ``work.state`` to the end or the depth, write the totals; who moved last."""
    depth = 0
    while turn != OVER:
        if turn == CHANCE or (o.rollout_depth and depth == o.rollout_depth):
            optional.evaluate(work.state, rules, work.totals)
            return last, depth
        last = turn
        kernels.step(work.state, rules, policy_action(kernels, optional, rules, work, o, rng))
        depth += 1
        if o.stops_at_chance:
            turn = kernels.turn(work.state, rules)
        else:
            turn = settle(kernels, optional, rules, work.state, rng)
    kernels.returns(work.state, rules, work.totals)
    return last, depth


@inlined
def set_rewards(pool, work, o, last):
    """Make rewards of totals: by team, by place if that is what counts, and within known ranges."""
    num_players = o.num_players
    for player in range(num_players):
        total, count = 0.0, 0
        for other in range(num_players):
            if work.teams[other] == work.teams[player]:
                total += work.totals[other]
                count += 1
        reward = total / count
        low, high = work.bounds[player, 0], work.bounds[player, 1]
        if o.preference == BY_PLACE and num_players > 1:
            worse = num_players - place_of(work.totals, num_players, player)
            own = (work.totals[player] - low) / (high - low)
            reward = (worse + MARGIN * own) / (num_players - 1 + MARGIN)
        elif (
            o.coalition > 0.0
            and last >= 0
            and last != player
            and work.teams[last] == work.teams[player]
            and reward > 0.5 * (low + high)
        ):
            reward -= o.coalition * (reward - low)
        work.rewards[player] = reward
        if o.is_by_seen:
            pool.ranges[player, 0] = min(pool.ranges[player, 0], reward)
            pool.ranges[player, 1] = max(pool.ranges[player, 1], reward)
