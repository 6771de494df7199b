"""Passes over the sequence form of a game, compiled: reach, gains, best responses, CFR.

All players' pairs lie in one array, and one more entry, the last, stands for the empty sequence of
whoever has not moved. Of a policy,

* ``reach[pair]`` is the probability that the player's own choices lead to a pair;
* ``gains[pair]`` is what the player gets from the histories in which a pair is played, weighted by
  the probability that chance and the others allow for them: the counterfactual value.

An information set has a higher number than the ones before it, so a loop upwards goes from the root
to the leaves of a player's own tree and a loop downwards comes back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.cfr.tree import GameTree
from agents.cfr.variants import SETTINGS_TYPE, average_weight, discount
from agents.cfr.walk import INFOSET
from envs.core.compiling import compiled, helper
from envs.core.kernels import INT

__all__ = ["Form", "Tables", "fill_gains", "fill_reach", "follow_best", "run_cfr", "sequence_form"]

Floats = npt.NDArray[np.float64]


class Form(NamedTuple):
    """A game: the information sets of every player, and the payoffs (see ``GameTree``)."""

    infosets: npt.NDArray[Any]
    starts: npt.NDArray[np.int64]
    pairs: npt.NDArray[np.int32]
    values: Floats


class Tables(NamedTuple):
    """What CFR keeps, one entry for each pair; ``reach`` and ``gains`` have one more at the end."""

    policy: Floats
    regrets: Floats
    sums: Floats
    reach: Floats
    gains: Floats


FORM = types.NamedTuple(
    (from_dtype(INFOSET)[::1], types.int64[::1], types.int32[:, ::1], types.float64[:, ::1]), Form
)
_FLOATS = types.float64[::1]
TABLES = types.NamedUniTuple(_FLOATS, 5, Tables)


def sequence_form(tree: GameTree) -> Form:
    """The arrays of a tree that the passes read."""
    payoffs = tree.payoffs
    return Form(tree.infosets, tree.infoset_starts, payoffs.pairs, payoffs.values)


@compiled(types.void(FORM, INT, _FLOATS, _FLOATS))
def fill_reach(form, player, policy, reach):
    """Write the reach of a player's pairs under a policy."""
    reach[-1] = 1.0
    for s in range(form.starts[player], form.starts[player + 1]):
        infoset = form.infosets[s]
        before = reach[infoset.parent_pair]
        for pair in range(infoset.first_pair, infoset.first_pair + infoset.num_actions):
            reach[pair] = before * policy[pair]


@compiled(types.void(FORM, INT, _FLOATS, _FLOATS))
def fill_gains(form, player, reach, gains):
    """Write what a player's pairs get at once, without what later pairs of the player get."""
    gains[-1] = 0.0
    for s in range(form.starts[player], form.starts[player + 1]):
        infoset = form.infosets[s]
        for pair in range(infoset.first_pair, infoset.first_pair + infoset.num_actions):
            gains[pair] = 0.0
    for row in range(form.pairs.shape[0]):
        value = form.values[row, player]
        for other in range(form.pairs.shape[1]):
            if other != player:
                value *= reach[form.pairs[row, other]]
        gains[form.pairs[row, player]] += value


@compiled(types.void(FORM, INT, _FLOATS, _FLOATS))
def follow_best(form, player, gains, policy):
    """Write a best response to ``policy``, and its value to the last entry of ``gains``.

    ``gains`` comes from ``fill_gains``; of equal actions the first is played.
    """
    for s in range(form.starts[player + 1] - 1, form.starts[player] - 1, -1):
        infoset = form.infosets[s]
        best = infoset.first_pair
        for pair in range(infoset.first_pair, infoset.first_pair + infoset.num_actions):
            policy[pair] = 0.0
            if gains[pair] > gains[best]:
                best = pair
        policy[best] = 1.0
        gains[infoset.parent_pair] += gains[best]


@helper
def match_regrets(infoset, regrets, extra, scale, policy):
    """Play in proportion to the positive part of ``regrets + scale * extra``."""
    first, end = infoset.first_pair, infoset.first_pair + infoset.num_actions
    total = 0.0
    for pair in range(first, end):
        policy[pair] = max(regrets[pair] + scale * extra[pair], 0.0)
        total += policy[pair]
    for pair in range(first, end):
        policy[pair] = policy[pair] / total if total > 0.0 else 1.0 / infoset.num_actions


@helper
def update_player(form, tables, player, t, settings):
    """Average a player's policy, add up its regrets, and choose its next policy."""
    weight = average_weight(t, settings)
    keep_gain, keep_loss = discount(t, settings.alpha), discount(t, settings.beta)
    scale = 1.0 if settings.is_predictive else 0.0
    for s in range(form.starts[player + 1] - 1, form.starts[player] - 1, -1):
        infoset = form.infosets[s]
        first, end = infoset.first_pair, infoset.first_pair + infoset.num_actions
        value = 0.0
        for pair in range(first, end):
            value += tables.policy[pair] * tables.gains[pair]
        for pair in range(first, end):
            tables.gains[pair] -= value
            tables.sums[pair] += weight * tables.reach[pair]
            regret = tables.regrets[pair] + tables.gains[pair]
            # Adding zero makes a forgotten regret 0.0 and not -0.0, which would show in policies.
            tables.regrets[pair] = regret * (keep_gain if regret >= 0.0 else keep_loss) + 0.0
        tables.gains[infoset.parent_pair] += value
        match_regrets(infoset, tables.regrets, tables.gains, scale, tables.policy)


@compiled(types.void(FORM, TABLES, SETTINGS_TYPE, INT, INT))
def run_cfr(form, tables, record, done, num_iterations):
    """Run so many iterations after ``done`` earlier ones; ``reach`` must fit the policy."""
    settings = record[0]
    num_players = form.pairs.shape[1]
    for t in range(done + 1, done + num_iterations + 1):
        for player in range(num_players):
            fill_gains(form, player, tables.reach, tables.gains)
            if settings.is_alternating:
                update_player(form, tables, player, t, settings)
                fill_reach(form, player, tables.policy, tables.reach)
        if not settings.is_alternating:
            for player in range(num_players):
                update_player(form, tables, player, t, settings)
                fill_reach(form, player, tables.policy, tables.reach)
