"""The vectors over hands of a public tree, and the passes over them: reach, values, CFR.

A player chooses at some public nodes, and at others its hands change. Each such node has a vector
over the player's hands and, for a choice, one more for every action: the player's sequences.
Elsewhere a player's reach, and its counterfactual values, are found where they were last written,
and nothing is copied along.

One public node has few hands, six in one-die Liar's Dice, which is little work for a processor that
adds up many numbers with one instruction. So nodes that are equally far down and have the same
number of actions are put side by side and make one *step*: a vector of all their hands, followed by
one for every action. Where the games end there are *ends*, each with a matrix of payoffs.

Steps and ends are sorted by the *parts* of the player's division (see ``threads.divide``), and a
part's vectors lie together. Parts are worked on side by side: what their first steps have for the
top is handed back when all parts are done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.cfr.public_tree import HAND, PUBLIC_NODE, PublicTree, make_payoffs
from agents.cfr.sequence_form import CFR_ARRAYS
from agents.cfr.threads import SIZE, THREAD_TEAM, TOP, Division, barrier, divide
from agents.cfr.tree_walk import INFOSET, NONE
from agents.cfr.variants import SETTINGS_TYPE, numbers_of
from envs.core.compiling import compiled, inlined
from envs.core.kernels import INT, OVER
from envs.core.records import Grid, Row, record, tuple_type

__all__ = ["Layout", "best_value", "normalize", "pay_ends", "run_vector_cfr", "spread_reach"]

WIDEST = 2048
"""Hands of a step, unless a single public node has more: its vectors should stay in the cache."""

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
    first_end=np.int64,
)


class Vectors(NamedTuple):
    """The layout, as compiled code reads it."""

    parts: Annotated[npt.NDArray[Any], PART]
    """Player 0's top and its parts, then player 1's, and one more that says where all end."""
    tops: Row[np.int64]
    """Parts of player *p*: ``tops[p] .. tops[p + 1]``; its root is the first slot of the first."""
    steps: Annotated[npt.NDArray[Any], STEP]
    """In every part, and in the top, from the root to the leaves."""
    sources: Row[np.int32]
    """For every hand of a step the slot it comes from."""
    ends: Annotated[npt.NDArray[Any], END]
    payoffs: Grid[np.float64]
    """[2, size]: matrices of what each player gets, the other's hand by the player's own."""


VECTORS = tuple_type(Vectors)
_PUBLIC, _HANDS = from_dtype(PUBLIC_NODE)[::1], from_dtype(HAND)[::1]
_INTS = types.int32[::1]


class Stops(NamedTuple):
    """The public nodes where a player has a vector of its own, and where that lies."""

    of_node: Row[np.int32]
    """For every public node the last stop on the way to it, itself included, or NONE."""
    nodes: Row[np.int32]
    parents: Row[np.int32]
    inner: Row[np.int32]
    first_sequence: Row[np.int32]
    stride: Row[np.int32]
    """From the vector of one action to that of the next."""
    first_source: Row[np.int32]


_STOPS = tuple_type(Stops)


@inlined
def keeps_hands(public, hands, q, player):
    """Whether a player's hands at a public node are those of the node before, in the same order."""
    node = public[q]
    if node.num_hands[player] != public[node.parent].num_hands[player]:
        return False
    for h in range(node.num_hands[player]):
        if hands[node.first_hand[player] + h].parent != h:
            return False
    return True


@compiled(INT(_PUBLIC, _HANDS, INT, _STOPS))
def find_stops(public, hands, player, stops):
    """Write where a player stops, and after which other stop; returns how many there are."""
    num_stops = 0
    for q in range(public.size):
        node = public[q]
        before = stops.of_node[node.parent] if q > 0 else NONE
        stops.of_node[q] = before
        if node.player == OVER:
            continue
        if node.player == player or (q > 0 and not keeps_hands(public, hands, q, player)):
            stops.nodes[num_stops] = q
            stops.parents[num_stops] = before
            stops.of_node[q] = num_stops
            num_stops += 1
    return num_stops


@compiled(
    types.void(
        _PUBLIC,
        _HANDS,
        from_dtype(INFOSET)[::1],
        INT,
        INT,
        _STOPS,
        types.int32[:, ::1],
        _INTS,
        _INTS,
    )
)
def connect(public, hands, infosets, player, root, stops, at, sources, order):
    """Write where a player's vector of every public node is, and what its hands come from.

    ``order`` gets the sequence of the tree that is in each slot.
    """
    for q in range(public.size):
        node = public[q]
        outer = root
        if q > 0:
            outer = at[node.parent, player]
            if public[node.parent].player == player:
                before = stops.of_node[node.parent]
                outer = stops.first_sequence[before] + node.rank * stops.stride[before]
        at[q, player] = outer
        stop = stops.of_node[q]
        if stop == NONE or stops.nodes[stop] != q:
            continue
        at[q, player] = stops.inner[stop]
        for h in range(node.num_hands[player]):
            hand = hands[node.first_hand[player] + h]
            sources[stops.first_source[stop] + h] = outer + hand.parent
            if node.player == player:
                slot = stops.first_sequence[stop] + h
                for action in range(node.num_actions):
                    order[slot] = infosets[hand.infoset].first_sequence + action
                    slot += stops.stride[stop]


@dataclass
class Side:
    """One player's steps and parts. Parts lack their ends."""

    stops: Stops
    division: Division
    steps: npt.NDArray[Any]
    parts: npt.NDArray[Any]
    next_slot: int
    next_source: int


class Layout:
    """The vectors of a public tree.

    Attributes:
        vectors: what compiled code reads.
        order: [num_slots] int32, the sequence of the tree in every slot, NONE where there is none.
        slots, sequences: the slots that have one, and which.
        num_parts: of the player who has fewer; so many threads can work side by side.
    """

    def __init__(self, tree: PublicTree) -> None:
        """Lay out both players' vectors and the payoffs."""
        first = _make_side(tree, 0, 0, 0, 0)
        second = _make_side(tree, 1, first.next_slot, len(first.steps), first.next_source)
        sides = first, second
        sources = np.zeros(second.next_source, np.int32)
        self.order = np.full(second.next_slot, NONE, np.int32)
        at = np.zeros((len(tree.public), 2), np.int32)
        for player, side in enumerate(sides):
            root = int(side.parts["first_slot"][TOP])
            connect(
                tree.public,
                tree.hands,
                tree.tree.infosets,
                player,
                root,
                side.stops,
                at,
                sources,
                self.order,
            )
        steps = np.concatenate([side.steps for side in sides])
        ends, payoffs = _make_ends(tree, at, sides)
        beyond = np.zeros(1, PART)
        beyond[0] = second.next_slot, len(steps), len(steps), len(ends)
        parts = np.concatenate([first.parts, second.parts, beyond])
        tops = np.array([0, len(first.parts), len(parts) - 1])
        self.vectors = Vectors(parts, tops, steps, sources, ends, payoffs)
        self.slots = np.flatnonzero(self.order != NONE)
        self.sequences = self.order[self.slots]
        self.num_parts = min(side.division.num_parts for side in sides)

    @property
    def nbytes(self) -> int:
        """Bytes of the layout, without the arrays of a solver."""
        return self.order.nbytes + sum(array.nbytes for array in self.vectors)


def _make_side(
    tree: PublicTree, player: int, first_slot: int, first_step: int, first_source: int
) -> Side:
    stops = Stops(*(np.zeros(len(tree.public), np.int32) for _ in Stops._fields))
    num_stops = find_stops(tree.public, tree.hands, player, stops)
    stops = Stops(stops.of_node, *(array[:num_stops] for array in stops[1:]))
    nodes = tree.public[stops.nodes]
    hands = nodes["num_hands"][:, player].astype(np.int64)
    actions = np.where(nodes["player"] == player, nodes["num_actions"], 0)
    division = divide(stops.parents, hands * (1 + actions))

    order = np.lexsort((actions, division.levels, division.parts))
    hands, actions = hands[order], actions[order]
    parts, levels = division.parts[order], division.levels[order]
    before = np.cumsum(hands) - hands
    firsts = _first_of_steps(np.stack([parts, levels, actions]), before)
    widths = np.diff(before[firsts], append=hands.sum())
    sizes = widths * (1 + actions[firsts])

    steps = np.zeros(len(firsts), STEP)
    steps["inner"] = first_slot + 1 + np.cumsum(sizes) - sizes  # the root comes first
    steps["num_hands"], steps["num_actions"] = widths, actions[firsts]
    steps["first_source"] = first_source + before[firsts]
    steps["first_sequence"] = steps["inner"] + widths

    step_of = np.repeat(np.arange(len(firsts)), np.diff(firsts, append=num_stops))
    offsets = before - before[firsts][step_of]
    for name in ("inner", "first_sequence", "first_source"):
        getattr(stops, name)[order] = steps[name][step_of] + offsets
    stops.stride[order] = widths[step_of]

    table = _make_parts(parts[firsts], levels[firsts], division.num_parts)
    table["first_slot"] = first_slot
    table["first_slot"][1:] = steps["inner"][table["first_step"][1:]]
    table["first_step"] += first_step
    table["first_inside"] += first_step
    next_slot = first_slot + 1 + int(sizes.sum())
    return Side(stops, division, steps, table, next_slot, first_source + int(hands.sum()))


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
    keys: npt.NDArray[np.int64], before: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Where a new step begins: another key, or more hands than a step should have."""
    is_new = np.ones(keys.shape[1], bool)
    is_new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    group_firsts = np.flatnonzero(is_new)
    sizes = np.diff(group_firsts, append=len(is_new))
    chunks = (before - np.repeat(before[group_firsts], sizes)) // WIDEST
    is_new[1:] |= chunks[1:] != chunks[:-1]
    return np.flatnonzero(is_new)


# ---- ends ----------------------------------------------------------------------------------------


def _make_ends(
    tree: PublicTree, at: npt.NDArray[np.int32], sides: tuple[Side, Side]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
    """The ends of player 0 and of player 1, and their payoffs; parts learn where theirs begin."""
    over = np.flatnonzero(tree.public["player"] == OVER)
    shapes = np.ascontiguousarray(tree.public["num_hands"][tree.public["parent"][over]])
    matrices, payoffs = make_payoffs(tree, over, shapes)
    ends = np.zeros((2, len(over)), END)
    for player, side in enumerate(sides):
        stops = side.stops.of_node[over]
        # One more at the end, for those who have not stopped before the game is over.
        parts = np.append(side.division.parts, TOP)[stops]
        order = np.lexsort((matrices, parts))
        own = ends[player]
        own["matrix"] = matrices[order]
        own["own"], own["other"] = at[over[order], player], at[over[order], 1 - player]
        own["num_own"], own["num_other"] = shapes[order, player], shapes[order, 1 - player]
        numbers = np.arange(len(side.parts))
        side.parts["first_end"] = player * len(over) + np.searchsorted(parts[order], numbers)
    return ends.ravel(), payoffs


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
