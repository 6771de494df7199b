"""Passes over the vectors of a public tree, compiled: reach, gains, CFR, best responses.

Of a policy, ``reach`` is the probability that a player's own choices lead to a hand or a pair, and
``gains`` is what the player gets there, weighted by the probability that chance and the other allow
for it. ``layout`` says where they lie. Parts are worked on side by side (see ``division``): what
their first steps have for the top is handed back when all parts are done.
"""

from __future__ import annotations

from numba import types

from agents.cfr.forms.layout import VECTORS
from agents.cfr.passes.sequences import TABLES
from agents.cfr.passes.thread_team import CREW, SIZE, meet
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
            first = step.first_pair + action * step.num_hands
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
    """Write a player's reach of all hands and pairs under a policy."""
    spread_top(vectors, player, policy, reach)
    for part in range(vectors.tops[player] + 1, vectors.tops[player + 1]):
        spread_part(vectors, part, policy, reach)


@inlined
def pay_part(vectors, player, part, reach, gains):
    """Write what a player's vectors of a part get at once, from the games that end there."""
    here, beyond = vectors.parts[part], vectors.parts[part + 1]
    gains[here.first_slot : beyond.first_slot] = 0.0
    payoffs = vectors.payoffs[player]
    for k in range(here.first_end, beyond.first_end):
        end = vectors.ends[k]
        own = gains[end.own : end.own + end.num_own]
        other = reach[end.other : end.other + end.num_other]
        for j in range(other.size):
            weight = other[j]
            if weight != 0.0:
                row = payoffs[end.matrix + j * end.num_own :]
                for h in range(own.size):
                    own[h] += weight * row[h]


@compiled(types.void(VECTORS, INT, _FLOATS, _FLOATS))
def pay_ends(vectors, player, reach, gains):
    """Write what all of a player's vectors get at once."""
    for part in range(vectors.tops[player], vectors.tops[player + 1]):
        pay_part(vectors, player, part, reach, gains)


@inlined
def hand_back(vectors, step, gains):
    """Add the gains of hands to where they came from."""
    inner = gains[step.inner : step.inner + step.num_hands]
    sources = vectors.sources[step.first_source : step.first_source + step.num_hands]
    for h in range(inner.size):
        gains[sources[h]] += inner[h]


@inlined
def pay_top(vectors, player, reach, gains):
    """Write what the vectors of the top get, at once and from the parts that hang on it."""
    top = vectors.tops[player]
    pay_part(vectors, player, top, reach, gains)
    for part in range(top + 1, vectors.tops[player + 1]):
        for k in range(vectors.parts[part].first_step, vectors.parts[part].first_inside):
            hand_back(vectors, vectors.steps[k], gains)


@inlined
def divide_by(step, totals, policy):
    """Make probabilities of weights whose sums are known; uniform ones where all are 0."""
    uniform = 1.0 / step.num_actions
    for action in range(step.num_actions):
        first = step.first_pair + action * step.num_hands
        own = policy[first : first + step.num_hands]
        for h in range(own.size):
            own[h] = own[h] / totals[h] if totals[h] > 0.0 else uniform


@inlined
def update_hands(step, tables, weight, keep_gain, keep_loss, scale):
    """Average, regrets and next policy of all hands of a step.

    Each loop runs over slices, whose indices are known not to be negative: only such loops become
    vector instructions. The policy has no use for the vector over hands, so sums are made there.
    """
    num_hands = step.num_hands
    values = tables.gains[step.inner : step.inner + num_hands]
    totals = tables.policy[step.inner : step.inner + num_hands]
    for action in range(step.num_actions):
        first, end = (
            step.first_pair + action * num_hands,
            step.first_pair + (action + 1) * num_hands,
        )
        own, gains = tables.policy[first:end], tables.gains[first:end]
        for h in range(num_hands):
            values[h] += own[h] * gains[h]
    for h in range(num_hands):
        totals[h] = 0.0
    for action in range(step.num_actions):
        first, end = (
            step.first_pair + action * num_hands,
            step.first_pair + (action + 1) * num_hands,
        )
        own, gains = tables.policy[first:end], tables.gains[first:end]
        regrets, sums, reach = (
            tables.regrets[first:end],
            tables.sums[first:end],
            tables.reach[first:end],
        )
        for h in range(num_hands):
            sums[h] += weight * reach[h]
            gain = gains[h] - values[h]
            regret = regrets[h] + gain
            # Adding zero makes a forgotten regret 0.0 and not -0.0, which would show in policies.
            regret = regret * (keep_gain if regret >= 0.0 else keep_loss) + 0.0
            regrets[h] = regret
            own[h] = max(regret + scale * gain, 0.0)
            totals[h] += own[h]
    divide_by(step, totals, tables.policy)


@inlined
def update_part(vectors, tables, part, t, settings):
    """All decisions of a part, from the leaves up; what hangs on the top is not handed back yet."""
    weight, keep_gain, keep_loss, scale = numbers_of(t, settings)
    here = vectors.parts[part]
    for k in range(vectors.parts[part + 1].first_step - 1, here.first_step - 1, -1):
        step = vectors.steps[k]
        if step.num_actions:
            update_hands(step, tables, weight, keep_gain, keep_loss, scale)
        if k >= here.first_inside:
            hand_back(vectors, step, tables.gains)


@inlined
def spread_share(vectors, first, beyond, tables, crew, worker):
    """Do a worker's share of the reach of some players; when it is over, all have done theirs."""
    if worker == 0:
        for player in range(first, beyond):
            spread_top(vectors, player, tables.policy, tables.reach)
    meet(crew)
    for player in range(first, beyond):
        top, end = vectors.tops[player], vectors.tops[player + 1]
        for part in range(top + 1 + worker, end, crew[SIZE]):
            spread_part(vectors, part, tables.policy, tables.reach)
    meet(crew)


@compiled(types.void(VECTORS, TABLES, SETTINGS_TYPE, CREW, INT, INT, INT))
def run_vector_cfr(vectors, tables, record, crew, worker, done, num_iterations):
    """Do a worker's share of so many iterations after ``done`` earlier ones.

    Every worker takes some of the parts, and worker 0 the tops. ``reach`` must fit the policy.
    """
    settings = record[0]
    for t in range(done + 1, done + num_iterations + 1):
        for player in range(2):
            top, end = vectors.tops[player], vectors.tops[player + 1]
            for part in range(top + 1 + worker, end, crew[SIZE]):
                pay_part(vectors, player, part, tables.reach, tables.gains)
                update_part(vectors, tables, part, t, settings)
            meet(crew)
            if worker == 0:
                pay_top(vectors, player, tables.reach, tables.gains)
                update_part(vectors, tables, top, t, settings)
            if settings.is_alternating:
                spread_share(vectors, player, player + 1, tables, crew, worker)
        if not settings.is_alternating:
            spread_share(vectors, 0, 2, tables, crew, worker)


# ---- best responses ------------------------------------------------------------------------------


@inlined
def best_part(vectors, part, gains):
    """Gains of the best actions of a part, from the leaves up."""
    here = vectors.parts[part]
    for k in range(vectors.parts[part + 1].first_step - 1, here.first_step - 1, -1):
        step = vectors.steps[k]
        if step.num_actions:
            best = gains[step.inner : step.inner + step.num_hands]
            for h in range(best.size):
                best[h] = gains[step.first_pair + h]
            for action in range(1, step.num_actions):
                choice = gains[step.first_pair + action * step.num_hands :]
                for h in range(best.size):
                    best[h] = max(best[h], choice[h])
        if k >= here.first_inside:
            hand_back(vectors, step, gains)


@compiled(types.float64(VECTORS, INT, _FLOATS, _FLOATS))
def best_value(vectors, player, reach, gains):
    """What a best response of the player gets against the other's reach."""
    top = vectors.tops[player]
    for part in range(top + 1, vectors.tops[player + 1]):
        pay_part(vectors, player, part, reach, gains)
        best_part(vectors, part, gains)
    pay_top(vectors, player, reach, gains)
    best_part(vectors, top, gains)
    return gains[vectors.parts[top].first_slot]


@compiled(types.void(VECTORS, _FLOATS, _FLOATS))
def normalize(vectors, sums, policy):
    """Weights of pairs as probabilities, uniform where all are 0."""
    for k in range(vectors.steps.size):
        step = vectors.steps[k]
        totals = policy[step.inner : step.inner + step.num_hands]
        for h in range(totals.size):
            totals[h] = 0.0
        for action in range(step.num_actions):
            first = step.first_pair + action * step.num_hands
            own, weights = policy[first : first + step.num_hands], sums[first:]
            for h in range(own.size):
                own[h] = weights[h]
                totals[h] += weights[h]
        divide_by(step, totals, policy)
