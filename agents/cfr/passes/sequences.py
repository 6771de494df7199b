"""Passes over the sequence form of a game, compiled: reach, gains, best responses, CFR.

All players' pairs lie in one array, and one more entry, the last, stands for the empty sequence of
whoever has not moved. Of a policy,

* ``reach[pair]`` is the probability that the player's own choices lead to a pair;
* ``gains[pair]`` is what the player gets from the histories in which a pair is played, weighted by
  the probability that chance and the others allow for them: the counterfactual value.

Parents come before children, so a loop upwards goes from the root to the leaves of a player's own
tree and a loop downwards comes back. Parts of that tree are worked on side by side (see
``division``), so what a part has for the top waits in ``values``, one for each decision, until all
parts are done.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from agents.cfr.forms.sequence_form import FORM
from agents.cfr.passes.thread_team import CREW, SIZE, meet
from agents.cfr.variants import SETTINGS_TYPE, numbers_of
from envs.core.compiling import compiled, inlined
from envs.core.kernels import INT

__all__ = ["TABLES", "Tables", "fill_reach", "follow_best", "run_cfr"]

Floats = npt.NDArray[np.float64]


class Tables(NamedTuple):
    """What CFR keeps, one entry for each pair; ``reach`` and ``gains`` have one more at the end."""

    policy: Floats
    regrets: Floats
    sums: Floats
    reach: Floats
    gains: Floats


_FLOATS = types.float64[::1]
TABLES = types.NamedUniTuple(_FLOATS, 5, Tables)


@inlined
def reach_part(form, part, policy, reach):
    """Write the reach of a part's pairs."""
    for s in range(form.parts[part].first_decision, form.parts[part + 1].first_decision):
        decision = form.decisions[s]
        before = reach[decision.parent_pair]
        for pair in range(decision.first_pair, decision.first_pair + decision.num_actions):
            reach[pair] = before * policy[pair]


@compiled(types.void(FORM, INT, _FLOATS, _FLOATS))
def fill_reach(form, player, policy, reach):
    """Write the reach of a player's pairs under a policy."""
    reach[-1] = 1.0
    for part in range(form.tops[player], form.tops[player + 1]):
        reach_part(form, part, policy, reach)


@inlined
def pay_part(form, player, part, reach, gains):
    """Write what the pairs of a part get at once, without what later pairs of the player get."""
    here, beyond = form.parts[part], form.parts[part + 1]
    for s in range(here.first_decision, beyond.first_decision):
        decision = form.decisions[s]
        for pair in range(decision.first_pair, decision.first_pair + decision.num_actions):
            gains[pair] = 0.0
    for row in range(here.first_row, beyond.first_row):
        value = form.values[row]
        for other in range(form.pairs.shape[1]):
            if other != player:
                value *= reach[form.pairs[row, other]]
        gains[form.pairs[row, player]] += value


@inlined
def pay_top(form, player, reach, gains, values):
    """Write what the pairs of the top get, at once and from the parts that hang on it."""
    top = form.tops[player]
    gains[-1] = 0.0
    pay_part(form, player, top, reach, gains)
    for part in range(top + 1, form.tops[player + 1]):
        for s in range(form.parts[part].first_decision, form.parts[part].first_inside):
            gains[form.decisions[s].parent_pair] += values[s]


# ---- best responses ------------------------------------------------------------------------------


@inlined
def best_part(form, part, gains, values, policy):
    """Choose the best action at every decision of a part, from the leaves up."""
    here = form.parts[part]
    for s in range(form.parts[part + 1].first_decision - 1, here.first_decision - 1, -1):
        decision = form.decisions[s]
        best = decision.first_pair
        for pair in range(decision.first_pair, decision.first_pair + decision.num_actions):
            policy[pair] = 0.0
            if gains[pair] > gains[best]:
                best = pair
        policy[best] = 1.0
        values[s] = gains[best]
        if s >= here.first_inside:
            gains[decision.parent_pair] += values[s]


@compiled(types.float64(FORM, INT, _FLOATS, _FLOATS, _FLOATS, _FLOATS))
def follow_best(form, player, reach, gains, values, policy):
    """Write a player's best response to the others' reach into ``policy``, and return its value.

    Of equal actions the first is played.
    """
    top = form.tops[player]
    for part in range(top + 1, form.tops[player + 1]):
        pay_part(form, player, part, reach, gains)
        best_part(form, part, gains, values, policy)
    pay_top(form, player, reach, gains, values)
    best_part(form, top, gains, values, policy)
    return gains[-1]


# ---- CFR -----------------------------------------------------------------------------------------


@inlined
def match_regrets(decision, regrets, extra, scale, policy):
    """Play in proportion to the positive part of ``regrets + scale * extra``."""
    first, end = decision.first_pair, decision.first_pair + decision.num_actions
    total = 0.0
    for pair in range(first, end):
        policy[pair] = max(regrets[pair] + scale * extra[pair], 0.0)
        total += policy[pair]
    for pair in range(first, end):
        policy[pair] = policy[pair] / total if total > 0.0 else 1.0 / decision.num_actions


@inlined
def update_part(form, tables, values, part, t, settings):
    """Average the policy of a part, add up its regrets, and choose its next policy."""
    weight, keep_gain, keep_loss, scale = numbers_of(t, settings)
    here = form.parts[part]
    for s in range(form.parts[part + 1].first_decision - 1, here.first_decision - 1, -1):
        decision = form.decisions[s]
        first, end = decision.first_pair, decision.first_pair + decision.num_actions
        value = 0.0
        for pair in range(first, end):
            value += tables.policy[pair] * tables.gains[pair]
        for pair in range(first, end):
            tables.gains[pair] -= value
            tables.sums[pair] += weight * tables.reach[pair]
            regret = tables.regrets[pair] + tables.gains[pair]
            # Adding zero makes a forgotten regret 0.0 and not -0.0, which would show in policies.
            tables.regrets[pair] = regret * (keep_gain if regret >= 0.0 else keep_loss) + 0.0
        values[s] = value
        if s >= here.first_inside:
            tables.gains[decision.parent_pair] += value
        match_regrets(decision, tables.regrets, tables.gains, scale, tables.policy)


@inlined
def reach_share(form, first, beyond, tables, crew, worker):
    """Do a worker's share of the reach of some players; when it is over, all have done theirs."""
    if worker == 0:
        for player in range(first, beyond):
            reach_part(form, form.tops[player], tables.policy, tables.reach)
    meet(crew)
    for player in range(first, beyond):
        top, end = form.tops[player], form.tops[player + 1]
        for part in range(top + 1 + worker, end, crew[SIZE]):
            reach_part(form, part, tables.policy, tables.reach)
    meet(crew)


@compiled(types.void(FORM, TABLES, _FLOATS, SETTINGS_TYPE, CREW, INT, INT, INT))
def run_cfr(form, tables, values, record, crew, worker, done, num_iterations):
    """Do a worker's share of so many iterations after ``done`` earlier ones.

    Every worker takes some of the parts, and worker 0 the tops. ``reach`` must fit the policy.
    """
    settings = record[0]
    num_players = form.pairs.shape[1]
    for t in range(done + 1, done + num_iterations + 1):
        for player in range(num_players):
            top, end = form.tops[player], form.tops[player + 1]
            for part in range(top + 1 + worker, end, crew[SIZE]):
                pay_part(form, player, part, tables.reach, tables.gains)
                update_part(form, tables, values, part, t, settings)
            meet(crew)
            if worker == 0:
                pay_top(form, player, tables.reach, tables.gains, values)
                update_part(form, tables, values, top, t, settings)
            if settings.is_alternating:
                reach_share(form, player, player + 1, tables, crew, worker)
        if not settings.is_alternating:
            reach_share(form, 0, num_players, tables, crew, worker)
