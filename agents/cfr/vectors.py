"""Vectors over hands, and the passes over them: reach, values, best responses, CFR.

A player has *stops*, where it chooses or its hands change. Each has a vector over the player's
hands and, for a choice, one more for every action: the player's sequences. Elsewhere a player's
reach, and its counterfactual values, are found where they were last written, and nothing is copied
along.

What stops and hands are is up to the form of the game. In its sequence form every information set
is a stop with a single hand (:mod:`~agents.cfr.sequence_form`); in the public tree of two players
all hands choose at the same stop (:mod:`~agents.cfr.public_vectors`). Of a policy,

* ``reach`` is the probability that the player's own choices lead to a hand or a sequence;
* ``cf_values``, the counterfactual values, are what the player gets from the histories that go
  through it, weighted by the probability that chance and the others allow for them.

A stop has few hands, six in one-die Liar's Dice, which is little work for a processor that adds up
many numbers with one instruction. So stops that are equally far down and have the same number of
actions are put side by side and make one *step*: a vector of all their hands, followed by one for
every action. What the games pay is in matrices, hand against hand, or in rows, one for every
combination of the players' last sequences.

Steps and payoffs are sorted by the *parts* of the player's division (see ``threads.divide``), and a
part's vectors lie together. Parts are worked on side by side: what their first steps have for the
top is handed back when all parts are done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from agents.cfr.threads import SIZE, THREAD_TEAM, TOP, Division, barrier
from agents.cfr.variants import SETTINGS_TYPE, numbers_of
from envs.core.compiling import compiled, inlined
from envs.core.kernels import INT
from envs.core.records import Grid, Row, record, tuple_type

STEP = record(
    inner=np.int32,  # the vector over its hands
    num_hands=np.int32,
    first_source=np.int32,  # where ``sources`` says what they come from
    first_sequence=np.int32,  # vectors of the actions, one after the other
    num_actions=np.int32,  # 0 where only the hands change
)
END = record(
    matrix=np.int64,  # where its payoffs begin
    own=np.int32,  # the player's vector
    other=np.int32,
    num_own=np.int32,
    num_other=np.int32,
)
PART = record(
    first_slot=np.int64,
    first_step=np.int64,
    first_inside=np.int64,  # the steps before it hang on the top
    first_end=np.int64,  # or row of payoffs
)


class Vectors(NamedTuple):
    """The layout, as compiled code reads it."""

    parts: Annotated[npt.NDArray[Any], PART]
    """Each player's top and then its parts, and one more that says where all end."""
    tops: Row[np.int64]
    """Parts of player *p*: ``tops[p] .. tops[p + 1]``; its root is the first slot of the first."""
    steps: Annotated[npt.NDArray[Any], STEP]
    """In every part, and in the top, from the root to the leaves."""
    sources: Row[np.int32]
    """For every hand of a step the slot it comes from."""
    ends: Annotated[npt.NDArray[Any], END]
    """Where games end, once for each player, if payoffs are in matrices."""
    payoffs: Grid[np.float64]
    """[players, size]: matrices of what each player gets, the other's hand by the player's own."""
    combinations: Grid[np.uint32]
    """[row, players]: slots of last sequences, if payoffs are in rows: once for each player, whose
    slot comes first."""
    amounts: Row[np.float64]
    """[row]: what the player whose row it is gets, times the probability that chance allows."""


VECTORS = tuple_type(Vectors)


class CFRArrays(NamedTuple):
    """What CFR keeps, one entry for each slot."""

    policy: Row[np.float64]
    regrets: Row[np.float64]
    cumulative_policy: Row[np.float64]
    reach: Row[np.float64]
    cf_values: Row[np.float64]


CFR_ARRAYS = tuple_type(CFRArrays)


class Layout(NamedTuple):
    """The vectors of a game, and where its sequences are in them."""

    vectors: Vectors
    slots: npt.NDArray[np.int32]
    """[num_sequences]: of every sequence of the tree."""

    @property
    def num_slots(self) -> int:
        """Entries of every array over the vectors."""
        return int(self.vectors.parts["first_slot"][-1])

    @property
    def num_parts(self) -> int:
        """Parts of the player who has the fewest; so many threads can work side by side."""
        return int(np.diff(self.vectors.tops).min()) - 1


# ---- laying out ----------------------------------------------------------------------------------


class Places(NamedTuple):
    """Where the vectors of every stop of a player are."""

    inner: Row[np.int32]
    first_sequence: Row[np.int32]
    stride: Row[np.int32]
    """From the vector of one action to that of the next."""
    first_source: Row[np.int32]


@dataclass
class Side:
    """One player's steps and parts. Parts lack their ends."""

    places: Places
    division: Division
    steps: npt.NDArray[Any]
    parts: npt.NDArray[Any]
    beyond: tuple[int, int, int]
    """The first slot, step and source of the next player."""

    @property
    def root(self) -> int:
        """The slot of whoever has not stopped yet."""
        return int(self.parts["first_slot"][TOP])


def make_side(
    hands: npt.NDArray[np.int64],
    actions: npt.NDArray[np.int64],
    division: Division,
    order: npt.NDArray[np.int64],
    before: Side | None,
    widest: int,
) -> Side:
    """Lay out a player's vectors.

    Args:
        hands: of every stop.
        actions: of every stop, 0 where only the hands change.
        division: of the stops.
        order: of the stops, by parts and levels.
        before: the player before, behind whose vectors these come.
        widest: hands of a step, unless a single stop has more.
    """
    first_slot, first_step, first_source = before.beyond if before else (0, 0, 0)
    hands, actions = hands[order], actions[order]
    parts, levels = division.parts[order], division.levels[order]
    before_stop = np.cumsum(hands) - hands
    firsts = _first_of_steps(np.stack([parts, levels, actions]), before_stop, widest)
    widths = np.diff(before_stop[firsts], append=hands.sum())
    sizes = widths * (1 + actions[firsts])

    steps = np.zeros(len(firsts), STEP)
    steps["inner"] = first_slot + 1 + np.cumsum(sizes) - sizes  # the root comes first
    steps["num_hands"], steps["num_actions"] = widths, actions[firsts]
    steps["first_source"] = first_source + before_stop[firsts]
    steps["first_sequence"] = steps["inner"] + widths

    step_of = np.repeat(np.arange(len(firsts)), np.diff(firsts, append=len(order)))
    offsets = before_stop - before_stop[firsts][step_of]
    places = Places(*(np.zeros(len(order), np.int32) for _ in Places._fields))
    for name in ("inner", "first_sequence", "first_source"):
        getattr(places, name)[order] = steps[name][step_of] + offsets
    places.stride[order] = widths[step_of]

    table = _make_parts(parts[firsts], levels[firsts], division.num_parts)
    table["first_slot"] = first_slot
    table["first_slot"][1:] = steps["inner"][table["first_step"][1:]]
    table["first_step"] += first_step
    table["first_inside"] += first_step
    used = 1 + int(sizes.sum()), len(steps), int(hands.sum())
    beyond = first_slot + used[0], first_step + used[1], first_source + used[2]
    return Side(places, division, steps, table, beyond)


def _make_parts(
    parts: npt.NDArray[np.int64], levels: npt.NDArray[np.int64], num_parts: int
) -> npt.NDArray[Any]:
    """The steps of every part, given the part and the level of each step."""
    table = np.zeros(num_parts + 1, PART)
    hangs_on_top = (parts != TOP) & (levels == 0)
    num_hanging = np.bincount(parts, hangs_on_top, len(table)).astype(np.int64)
    table["first_step"] = np.searchsorted(parts, np.arange(len(table)))
    table["first_inside"] = table["first_step"] + num_hanging
    return table


def _first_of_steps(
    keys: npt.NDArray[np.int64], before: npt.NDArray[np.int64], widest: int
) -> npt.NDArray[np.int64]:
    """Where a new step begins: another key, or more hands than a step should have."""
    is_new = np.ones(keys.shape[1], bool)
    is_new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    group_firsts = np.flatnonzero(is_new)
    sizes = np.diff(group_firsts, append=len(is_new))
    chunks = (before - np.repeat(before[group_firsts], sizes)) // widest
    is_new[1:] |= chunks[1:] != chunks[:-1]
    return np.flatnonzero(is_new)


def sort_ends(
    side: Side, player: int, stops: npt.NDArray[Any], key: npt.NDArray[Any]
) -> npt.NDArray[np.int64]:
    """The order of a player's payoffs: by parts and by ``key``; parts learn where theirs begin.

    ``stops`` has the player's last stop before each payoff, or NONE.
    """
    # One more at the end, for those who have not stopped before the game is over.
    parts = np.append(side.division.parts, TOP)[stops]
    order = np.lexsort((key, parts))
    numbers = np.arange(len(side.parts))
    side.parts["first_end"] = player * len(stops) + np.searchsorted(parts[order], numbers)
    return order


def put_together(sides: Sequence[Side], sources: npt.NDArray[np.int32], **payoffs: Any) -> Vectors:
    """The vectors of all players, with payoffs of either kind: those fields of ``Vectors``."""
    num_players = len(sides)
    kinds: dict[str, Any] = {
        "ends": np.zeros(0, END),
        "payoffs": np.zeros((num_players, 0)),
        "combinations": np.zeros((0, num_players), np.uint32),
        "amounts": np.zeros(0),
        **payoffs,
    }
    next_slot, num_steps, _ = sides[-1].beyond
    beyond = np.zeros(1, PART)
    beyond[0] = next_slot, num_steps, num_steps, len(kinds["ends"]) + len(kinds["amounts"])
    return Vectors(
        np.concatenate([*(side.parts for side in sides), beyond]),
        np.cumsum([0, *(len(side.parts) for side in sides)]),
        np.concatenate([side.steps for side in sides]),
        sources,
        **kinds,
    )


# ---- passes --------------------------------------------------------------------------------------

Floats = npt.NDArray[np.float64]
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
def pay_matrices(vectors, player, part, reach, cf_values):
    """Add what a player's vectors of a part get at once, for payoffs in matrices."""
    payoffs = vectors.payoffs[player]
    for k in range(vectors.parts[part].first_end, vectors.parts[part + 1].first_end):
        end = vectors.ends[k]
        own = cf_values[end.own : end.own + end.num_own]
        other = reach[end.other : end.other + end.num_other]
        for j in range(other.size):
            weight = other[j]
            if weight != 0.0:
                row = payoffs[end.matrix + j * end.num_own :]
                for h in range(own.size):
                    own[h] += weight * row[h]


@inlined
def pay_rows(vectors, part, reach, cf_values):
    """The same for payoffs in rows."""
    # Unsigned indices spare the compiler the check for negative ones.
    combinations = vectors.combinations
    for row in range(vectors.parts[part].first_end, vectors.parts[part + 1].first_end):
        value = vectors.amounts[row]
        for other in range(1, combinations.shape[1]):
            value *= reach[combinations[row, other]]
        cf_values[combinations[row, 0]] += value


@inlined
def pay_part(vectors, player, part, reach, cf_values):
    """Write what a player's vectors of a part get at once, from the games that end there."""
    cf_values[vectors.parts[part].first_slot : vectors.parts[part + 1].first_slot] = 0.0
    if vectors.ends.size:
        pay_matrices(vectors, player, part, reach, cf_values)
    else:
        pay_rows(vectors, part, reach, cf_values)


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
        first = step.first_sequence + action * num_hands
        end = first + num_hands
        own, cf_values = arrays.policy[first:end], arrays.cf_values[first:end]
        for h in range(num_hands):
            values[h] += own[h] * cf_values[h]
    for h in range(num_hands):
        totals[h] = 0.0
    for action in range(step.num_actions):
        first = step.first_sequence + action * num_hands
        end = first + num_hands
        own, cf_values = arrays.policy[first:end], arrays.cf_values[first:end]
        regrets, reach = arrays.regrets[first:end], arrays.reach[first:end]
        cumulative_policy = arrays.cumulative_policy[first:end]
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
def run_cfr(vectors, arrays, record, team, worker, done, num_iterations):
    """Do a worker's share of so many iterations after ``done`` earlier ones.

    Every worker takes some of the parts, and worker 0 the tops. ``reach`` must fit the policy.
    """
    settings = record[0]
    num_players = vectors.tops.size - 1
    for t in range(done + 1, done + num_iterations + 1):
        for player in range(num_players):
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
            spread_share(vectors, 0, num_players, arrays, team, worker)


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
