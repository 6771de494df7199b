"""The sequence form of a game and the passes over it: reach, values, best responses, CFR.

With perfect recall the last (information set, action) that a player went through stands for all of
the player's own actions so far: a *sequence*. So a game is the information sets of every player,
each with the sequence before it, and for every combination of last sequences that some history ends
with the chance of it times what each player gets. Every player has its own copy of the payoffs,
sorted as its information sets are: by the parts of its division (see ``threads.divide``).

All players' sequences lie in one array, and one more entry, the last, stands for the empty sequence
of whoever has not moved. Of a policy,

* ``reach[sequence]`` is the probability that the player's own choices lead to a sequence;
* ``cf_values[sequence]``, the counterfactual value, is what the player gets from the histories in
  which a sequence is played, weighted by the probability that chance and the others allow for them.

Parents come before children, so a loop upwards goes from the root to the leaves of a player's own
tree and a loop downwards comes back. Parts of that tree are worked on side by side, so what a part
has for the top waits in ``values``, one for each decision, until all parts are done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from agents.cfr.threads import SIZE, THREAD_TEAM, TOP, barrier, divide
from agents.cfr.tree_walk import NONE
from agents.cfr.variants import SETTINGS_TYPE, numbers_of
from envs.core.compiling import compiled, inlined
from envs.core.kernels import INT
from envs.core.records import Grid, Row, record, tuple_type

DECISION = record(
    first_sequence=np.int32,
    num_actions=np.int32,
    parent_sequence=np.int32,
)
PART = record(
    first_decision=np.int64,
    first_inside=np.int64,  # the decisions before it hang on the top
    first_row=np.int64,
)


@dataclass(frozen=True)
class Payoffs:
    """What is paid for every combination of the players' last sequences."""

    sequences: npt.NDArray[np.int32]
    """[n, players]: last sequence of each player, ``num_sequences`` for one who never moved."""
    values: npt.NDArray[np.float64]
    """[n, players]: chance probability times return, summed over the histories that end so."""


class Form(NamedTuple):
    """A game, as compiled code reads it."""

    parts: Annotated[npt.NDArray[Any], PART]
    """Each player's top and then its parts, and one more that says where all end."""
    tops: Row[np.int64]
    """Parts of player *p*: ``tops[p] .. tops[p + 1]``."""
    decisions: Annotated[npt.NDArray[Any], DECISION]
    """Information sets; in every part, and in the top, parents come before children."""
    sequences: Grid[np.int32]
    """[row, player]: the payoffs, once for each player."""
    values: Row[np.float64]
    """[row]: of the player whose row it is."""

    @property
    def num_parts(self) -> int:
        """Parts of the player who has the fewest; so many threads can work side by side."""
        return int(np.diff(self.tops).min()) - 1


FORM = tuple_type(Form)


def make_form(
    infosets: npt.NDArray[Any],
    infoset_starts: npt.NDArray[np.int64],
    sequence_infosets: npt.NDArray[np.int32],
    payoffs: Payoffs,
) -> Form:
    """Divide and sort a game; the arguments are those of ``GameTree``."""
    num_players = payoffs.sequences.shape[1]
    # One more at the end: the empty sequence comes before the roots, and belongs to no set.
    owners = np.append(sequence_infosets, np.int32(NONE))
    sides = [
        _make_side(
            infosets[infoset_starts[player] : infoset_starts[player + 1]],
            int(infoset_starts[player]),
            owners,
            payoffs.sequences[:, player],
        )
        for player in range(num_players)
    ]
    for player, side in enumerate(sides):
        side.parts["first_row"] += player * len(payoffs.sequences)
    beyond = np.zeros(1, PART)
    beyond[0] = len(infosets), len(infosets), num_players * len(payoffs.sequences)
    return Form(
        np.concatenate([*(side.parts for side in sides), beyond]),
        np.cumsum([0, *(len(side.parts) for side in sides)]),
        np.concatenate([side.decisions for side in sides]),
        np.concatenate([payoffs.sequences[side.rows] for side in sides]),
        np.concatenate([payoffs.values[side.rows, p] for p, side in enumerate(sides)]),
    )


class Side(NamedTuple):
    """One player's part of a form; its rows are counted from 0."""

    parts: npt.NDArray[Any]
    decisions: npt.NDArray[Any]
    rows: npt.NDArray[np.int64]
    """The payoffs in the order of the player's parts."""


def _make_side(
    infosets: npt.NDArray[Any],
    start: int,
    owners: npt.NDArray[np.int32],
    own_sequences: npt.NDArray[np.int32],
) -> Side:
    """Divide the information sets of a player, the first of which has the number ``start``.

    Args:
        infosets: of the player.
        start: the number of the first one.
        owners: the number of every sequence's information set.
        own_sequences: the player's last sequence in each row of the payoffs.
    """
    parents = owners[infosets["parent_sequence"]]
    parents[parents != NONE] -= start
    division = divide(parents, infosets["num_actions"].astype(np.int64))
    hangs_on_top = (division.parts != TOP) & (division.levels == 0)
    order = np.lexsort((~hangs_on_top, division.parts))
    decisions = np.empty(len(infosets), DECISION)
    for name in DECISION.names or ():
        decisions[name] = infosets[name][order]

    # Who never moves ends with the empty sequence, which belongs to the top.
    own = owners[own_sequences]
    row_parts = np.append(division.parts, TOP)[np.where(own == NONE, NONE, own - start)]
    rows = np.lexsort((own_sequences, row_parts))

    parts = np.zeros(division.num_parts + 1, PART)
    numbers = np.arange(len(parts))
    num_hanging = np.bincount(division.parts, hangs_on_top, len(parts)).astype(np.int64)
    parts["first_decision"] = start + np.searchsorted(division.parts[order], numbers)
    parts["first_inside"] = parts["first_decision"] + num_hanging
    parts["first_row"] = np.searchsorted(row_parts[rows], numbers)
    return Side(parts, decisions, rows)


Floats = npt.NDArray[np.float64]


class CFRArrays(NamedTuple):
    """What CFR keeps, one entry for each sequence.

    ``reach`` and ``cf_values`` have one more at the end.
    """

    policy: Row[np.float64]
    regrets: Row[np.float64]
    cumulative_policy: Row[np.float64]
    reach: Row[np.float64]
    cf_values: Row[np.float64]


_FLOATS = types.float64[::1]
CFR_ARRAYS = tuple_type(CFRArrays)


@inlined
def reach_part(form, part, policy, reach):
    """Write the reach of a part's sequences."""
    for s in range(form.parts[part].first_decision, form.parts[part + 1].first_decision):
        decision = form.decisions[s]
        before = reach[decision.parent_sequence]
        for sequence in range(
            decision.first_sequence, decision.first_sequence + decision.num_actions
        ):
            reach[sequence] = before * policy[sequence]


@compiled(types.void(FORM, INT, _FLOATS, _FLOATS))
def fill_reach(form, player, policy, reach):
    """Write the reach of a player's sequences under a policy."""
    reach[-1] = 1.0
    for part in range(form.tops[player], form.tops[player + 1]):
        reach_part(form, part, policy, reach)


@inlined
def pay_part(form, player, part, reach, cf_values):
    """Write what the sequences of a part get at once, without what the player's later ones get."""
    here, beyond = form.parts[part], form.parts[part + 1]
    for s in range(here.first_decision, beyond.first_decision):
        decision = form.decisions[s]
        for sequence in range(
            decision.first_sequence, decision.first_sequence + decision.num_actions
        ):
            cf_values[sequence] = 0.0
    for row in range(here.first_row, beyond.first_row):
        value = form.values[row]
        for other in range(form.sequences.shape[1]):
            if other != player:
                value *= reach[form.sequences[row, other]]
        cf_values[form.sequences[row, player]] += value


@inlined
def pay_top(form, player, reach, cf_values, values):
    """Write what the sequences of the top get, at once and from the parts that hang on it."""
    top = form.tops[player]
    cf_values[-1] = 0.0
    pay_part(form, player, top, reach, cf_values)
    for part in range(top + 1, form.tops[player + 1]):
        for s in range(form.parts[part].first_decision, form.parts[part].first_inside):
            cf_values[form.decisions[s].parent_sequence] += values[s]


# ---- best responses ------------------------------------------------------------------------------


@inlined
def best_part(form, part, cf_values, values, policy):
    """Choose the best action at every decision of a part, from the leaves up."""
    here = form.parts[part]
    for s in range(form.parts[part + 1].first_decision - 1, here.first_decision - 1, -1):
        decision = form.decisions[s]
        best = decision.first_sequence
        for sequence in range(
            decision.first_sequence, decision.first_sequence + decision.num_actions
        ):
            policy[sequence] = 0.0
            if cf_values[sequence] > cf_values[best]:
                best = sequence
        policy[best] = 1.0
        values[s] = cf_values[best]
        if s >= here.first_inside:
            cf_values[decision.parent_sequence] += values[s]


@compiled(types.float64(FORM, INT, _FLOATS, _FLOATS, _FLOATS, _FLOATS))
def follow_best(form, player, reach, cf_values, values, policy):
    """Write a player's best response to the others' reach into ``policy``, and return its value.

    Of equal actions the first is played.
    """
    top = form.tops[player]
    for part in range(top + 1, form.tops[player + 1]):
        pay_part(form, player, part, reach, cf_values)
        best_part(form, part, cf_values, values, policy)
    pay_top(form, player, reach, cf_values, values)
    best_part(form, top, cf_values, values, policy)
    return cf_values[-1]


# ---- CFR -----------------------------------------------------------------------------------------


@inlined
def match_regrets(decision, regrets, extra, scale, policy):
    """Play in proportion to the positive part of ``regrets + scale * extra``."""
    first, end = decision.first_sequence, decision.first_sequence + decision.num_actions
    total = 0.0
    for sequence in range(first, end):
        policy[sequence] = max(regrets[sequence] + scale * extra[sequence], 0.0)
        total += policy[sequence]
    for sequence in range(first, end):
        policy[sequence] = policy[sequence] / total if total > 0.0 else 1.0 / decision.num_actions


@inlined
def update_part(form, arrays, values, part, t, settings):
    """Average the policy of a part, add up its regrets, and choose its next policy."""
    weight, keep_positive, keep_negative, scale = numbers_of(t, settings)
    here = form.parts[part]
    for s in range(form.parts[part + 1].first_decision - 1, here.first_decision - 1, -1):
        decision = form.decisions[s]
        first, end = decision.first_sequence, decision.first_sequence + decision.num_actions
        value = 0.0
        for sequence in range(first, end):
            value += arrays.policy[sequence] * arrays.cf_values[sequence]
        for sequence in range(first, end):
            arrays.cf_values[sequence] -= value
            arrays.cumulative_policy[sequence] += weight * arrays.reach[sequence]
            regret = arrays.regrets[sequence] + arrays.cf_values[sequence]
            # Adding zero makes a forgotten regret 0.0 and not -0.0, which would show in policies.
            arrays.regrets[sequence] = (
                regret * (keep_positive if regret >= 0.0 else keep_negative) + 0.0
            )
        values[s] = value
        if s >= here.first_inside:
            arrays.cf_values[decision.parent_sequence] += value
        match_regrets(decision, arrays.regrets, arrays.cf_values, scale, arrays.policy)


@inlined
def reach_share(form, first, beyond, arrays, team, worker):
    """Do a worker's share of the reach of some players; when it is over, all have done theirs."""
    if worker == 0:
        for player in range(first, beyond):
            reach_part(form, form.tops[player], arrays.policy, arrays.reach)
    barrier(team)
    for player in range(first, beyond):
        top, end = form.tops[player], form.tops[player + 1]
        for part in range(top + 1 + worker, end, team[SIZE]):
            reach_part(form, part, arrays.policy, arrays.reach)
    barrier(team)


@compiled(types.void(FORM, CFR_ARRAYS, _FLOATS, SETTINGS_TYPE, THREAD_TEAM, INT, INT, INT))
def run_cfr(form, arrays, values, record, team, worker, done, num_iterations):
    """Do a worker's share of so many iterations after ``done`` earlier ones.

    Every worker takes some of the parts, and worker 0 the tops. ``reach`` must fit the policy.
    """
    settings = record[0]
    num_players = form.sequences.shape[1]
    for t in range(done + 1, done + num_iterations + 1):
        for player in range(num_players):
            top, end = form.tops[player], form.tops[player + 1]
            for part in range(top + 1 + worker, end, team[SIZE]):
                pay_part(form, player, part, arrays.reach, arrays.cf_values)
                update_part(form, arrays, values, part, t, settings)
            barrier(team)
            if worker == 0:
                pay_top(form, player, arrays.reach, arrays.cf_values, values)
                update_part(form, arrays, values, top, t, settings)
            if settings.is_alternating:
                reach_share(form, player, player + 1, arrays, team, worker)
        if not settings.is_alternating:
            reach_share(form, 0, num_players, arrays, team, worker)
