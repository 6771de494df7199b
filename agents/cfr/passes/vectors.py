"""Passes over the vectors of a public tree, compiled: reach, values, CFR, best responses.

Of a policy, ``reach`` is the probability that a player's own choices lead to a hand or a sequence,
and ``cf_values``, the counterfactual values, are what the player gets there, weighted by the
probability that chance and the other allow for it. ``layout`` says where they lie. Parts are
worked on side by side (see ``division``): what their first steps have for the top is handed back
when all parts are done.
"""

from __future__ import annotations

from numba import types

from agents.cfr.forms.layout import VECTORS
from agents.cfr.passes.sequences import CFR_ARRAYS
from agents.cfr.passes.thread_team import SIZE, THREAD_TEAM, barrier
from agents.cfr.variants import SETTINGS_TYPE, numbers_of
from envs.core.compiling import compiled, inlined
from envs.core.kernels import INT

__all__ = ["best_value", "normalize", "pay_ends", "run_vector_cfr", "spread_reach"]

_FLOATS = types.float64[::1]


@inlined
def spread_part(vectors, part, policy, reach):
    """Write a player's reach of the vectors of a part."""
    for k in range(vectors.parts[part].first_step, vectors.parts[part + 1].first_step):
        step = vectors.steps[k]
        inner = reach[step.inner : step.inner + step.num_hands]
        sources = vectors.sources[step.first_source : step.first_source + step.num_hands]
        for h in range(inner.size):
            inner[h] = reach[sources[h]]
        for action in range(step.num_actions):
            first = step.first_sequence + action * step.num_hands
            own, after = policy[first : first + step.num_hands], reach[first:]
            for h in range(own.size):
                after[h] = inner[h] * own[h]


@inlined
def spread_top(vectors, player, policy, reach):
    """Write a player's reach of the root and of the vectors of the top."""
    top = vectors.tops[player]
    reach[vectors.parts[top].first_slot] = 1.0
    spread_part(vectors, top, policy, reach)


@compiled(types.void(VECTORS, INT, _FLOATS, _FLOATS))
def spread_reach(vectors, player, policy, reach):
    """Write a player's reach of all hands and sequences under a policy."""
    spread_top(vectors, player, policy, reach)
    for part in range(vectors.tops[player] + 1, vectors.tops[player + 1]):
        spread_part(vectors, part, policy, reach)


@inlined
def pay_part(vectors, player, part, reach, cf_values):
    """Write what a player's vectors of a part get at once, from the games that end there."""
    here, beyond = vectors.parts[part], vectors.parts[part + 1]
    cf_values[here.first_slot : beyond.first_slot] = 0.0
    payoffs = vectors.payoffs[player]
    for k in range(here.first_end, beyond.first_end):
        end = vectors.ends[k]
        own = cf_values[end.own : end.own + end.num_own]
        other = reach[end.other : end.other + end.num_other]
        for j in range(other.size):
            weight = other[j]
            if weight != 0.0:
                row = payoffs[end.matrix + j * end.num_own :]
                for h in range(own.size):
                    own[h] += weight * row[h]


@compiled(types.void(VECTORS, INT, _FLOATS, _FLOATS))
def pay_ends(vectors, player, reach, cf_values):
    """Write what all of a player's vectors get at once."""
    for part in range(vectors.tops[player], vectors.tops[player + 1]):
        pay_part(vectors, player, part, reach, cf_values)


@inlined
def hand_back(vectors, step, cf_values):
    """Add the counterfactual values of hands to where they came from."""
    inner = cf_values[step.inner : step.inner + step.num_hands]
    sources = vectors.sources[step.first_source : step.first_source + step.num_hands]
    for h in range(inner.size):
        cf_values[sources[h]] += inner[h]


@inlined
def pay_top(vectors, player, reach, cf_values):
    """Write what the vectors of the top get, at once and from the parts that hang on it."""
    top = vectors.tops[player]
    pay_part(vectors, player, top, reach, cf_values)
    for part in range(top + 1, vectors.tops[player + 1]):
        for k in range(vectors.parts[part].first_step, vectors.parts[part].first_inside):
            hand_back(vectors, vectors.steps[k], cf_values)


@inlined
def divide_by(step, totals, policy):
    """Make probabilities of weights whose totals are known; uniform ones where all are 0."""
    uniform = 1.0 / step.num_actions
    for action in range(step.num_actions):
        first = step.first_sequence + action * step.num_hands
        own = policy[first : first + step.num_hands]
        for h in range(own.size):
            own[h] = own[h] / totals[h] if totals[h] > 0.0 else uniform


@inlined
def update_hands(step, arrays, weight, keep_positive, keep_negative, scale):
    """Average, regrets and next policy of all hands of a step.

    Each loop runs over slices, whose indices are known not to be negative: only such loops become
    vector instructions. The policy has no use for the vector over hands, so totals are made
    there.
    """
    num_hands = step.num_hands
    values = arrays.cf_values[step.inner : step.inner + num_hands]
    totals = arrays.policy[step.inner : step.inner + num_hands]
    for action in range(step.num_actions):
        first, end = (
            step.first_sequence + action * num_hands,
            step.first_sequence + (action + 1) * num_hands,
        )
        own, cf_values = arrays.policy[first:end], arrays.cf_values[first:end]
        for h in range(num_hands):
            values[h] += own[h] * cf_values[h]
    for h in range(num_hands):
        totals[h] = 0.0
    for action in range(step.num_actions):
        first, end = (
            step.first_sequence + action * num_hands,
            step.first_sequence + (action + 1) * num_hands,
        )
        own, cf_values = arrays.policy[first:end], arrays.cf_values[first:end]
        regrets, cumulative_policy, reach = (
            arrays.regrets[first:end],
            arrays.cumulative_policy[first:end],
            arrays.reach[first:end],
        )
        for h in range(num_hands):
            cumulative_policy[h] += weight * reach[h]
            instant = cf_values[h] - values[h]
            regret = regrets[h] + instant
            # Adding zero makes a forgotten regret 0.0 and not -0.0, which would show in policies.
            regret = regret * (keep_positive if regret >= 0.0 else keep_negative) + 0.0
            regrets[h] = regret
            own[h] = max(regret + scale * instant, 0.0)
            totals[h] += own[h]
    divide_by(step, totals, arrays.policy)


@inlined
def update_part(vectors, arrays, part, t, settings):
    """All decisions of a part, from the leaves up; what hangs on the top is not handed back yet."""
    weight, keep_positive, keep_negative, scale = numbers_of(t, settings)
    here = vectors.parts[part]
    for k in range(vectors.parts[part + 1].first_step - 1, here.first_step - 1, -1):
        step = vectors.steps[k]
        if step.num_actions:
            update_hands(step, arrays, weight, keep_positive, keep_negative, scale)
        if k >= here.first_inside:
            hand_back(vectors, step, arrays.cf_values)


@inlined
def spread_share(vectors, first, beyond, arrays, team, worker):
    """Do a worker's share of the reach of some players; when it is over, all have done theirs."""
    if worker == 0:
        for player in range(first, beyond):
            spread_top(vectors, player, arrays.policy, arrays.reach)
    barrier(team)
    for player in range(first, beyond):
        top, end = vectors.tops[player], vectors.tops[player + 1]
        for part in range(top + 1 + worker, end, team[SIZE]):
            spread_part(vectors, part, arrays.policy, arrays.reach)
    barrier(team)


@compiled(types.void(VECTORS, CFR_ARRAYS, SETTINGS_TYPE, THREAD_TEAM, INT, INT, INT))
def run_vector_cfr(vectors, arrays, record, team, worker, done, num_iterations):
    """Do a worker's share of so many iterations after ``done`` earlier ones.

    Every worker takes some of the parts, and worker 0 the tops. ``reach`` must fit the policy.
    """
    settings = record[0]
    for t in range(done + 1, done + num_iterations + 1):
        for player in range(2):
            top, end = vectors.tops[player], vectors.tops[player + 1]
            for part in range(top + 1 + worker, end, team[SIZE]):
                pay_part(vectors, player, part, arrays.reach, arrays.cf_values)
                update_part(vectors, arrays, part, t, settings)
            barrier(team)
            if worker == 0:
                pay_top(vectors, player, arrays.reach, arrays.cf_values)
                update_part(vectors, arrays, top, t, settings)
            if settings.is_alternating:
                spread_share(vectors, player, player + 1, arrays, team, worker)
        if not settings.is_alternating:
            spread_share(vectors, 0, 2, arrays, team, worker)


# ---- best responses ------------------------------------------------------------------------------


@inlined
def best_part(vectors, part, cf_values):
    """Values of the best actions of a part, from the leaves up."""
    here = vectors.parts[part]
    for k in range(vectors.parts[part + 1].first_step - 1, here.first_step - 1, -1):
        step = vectors.steps[k]
        if step.num_actions:
            best = cf_values[step.inner : step.inner + step.num_hands]
            for h in range(best.size):
                best[h] = cf_values[step.first_sequence + h]
            for action in range(1, step.num_actions):
                choice = cf_values[step.first_sequence + action * step.num_hands :]
                for h in range(best.size):
                    best[h] = max(best[h], choice[h])
        if k >= here.first_inside:
            hand_back(vectors, step, cf_values)


@compiled(types.float64(VECTORS, INT, _FLOATS, _FLOATS))
def best_value(vectors, player, reach, cf_values):
    """What a best response of the player gets against the other's reach."""
    top = vectors.tops[player]
    for part in range(top + 1, vectors.tops[player + 1]):
        pay_part(vectors, player, part, reach, cf_values)
        best_part(vectors, part, cf_values)
    pay_top(vectors, player, reach, cf_values)
    best_part(vectors, top, cf_values)
    return cf_values[vectors.parts[top].first_slot]


@compiled(types.void(VECTORS, _FLOATS, _FLOATS))
def normalize(vectors, cumulative_policy, policy):
    """Weights of sequences as probabilities, uniform where all are 0."""
    for k in range(vectors.steps.size):
        step = vectors.steps[k]
        totals = policy[step.inner : step.inner + step.num_hands]
        for h in range(totals.size):
            totals[h] = 0.0
        for action in range(step.num_actions):
            first = step.first_sequence + action * step.num_hands
            own, weights = policy[first : first + step.num_hands], cumulative_policy[first:]
            for h in range(own.size):
                own[h] = weights[h]
                totals[h] += weights[h]
        divide_by(step, totals, policy)
