"""The vectors of a public tree: both players' hands, laid out for the passes of ``vectors``.

A player stops at the public nodes where it chooses, and at those where its hands change. Where the
games end there are *ends*, each with a matrix of payoffs, hand against hand.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.cfr.public_tree import HAND, PUBLIC_NODE, PublicTree, make_payoffs
from agents.cfr.threads import divide
from agents.cfr.tree_walk import INFOSET, NONE
from agents.cfr.vectors import END, Layout, Side, make_side, put_together, sort_ends
from envs.core.compiling import compiled, inlined
from envs.core.kernels import INT, OVER
from envs.core.records import Row, tuple_type

WIDEST = 2048
"""Hands of a step, unless a single public node has more: its vectors should stay in the cache."""

_PUBLIC, _HANDS = from_dtype(PUBLIC_NODE)[::1], from_dtype(HAND)[::1]
_INFOSETS = from_dtype(INFOSET)[::1]
_INTS, _PLACES = types.int32[::1], types.int32[:, ::1]


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


@compiled(types.void(_PUBLIC, _HANDS, _INFOSETS, INT, INT, _STOPS, _PLACES, _INTS, _INTS))
def connect(public, hands, infosets, player, root, stops, at, sources, slots):
    """Write where a player's vectors are, by public nodes and by sequences of the tree.

    ``sources`` gets what the hands come from.
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
                    slots[infosets[hand.infoset].first_sequence + action] = slot
                    slot += stops.stride[stop]


def lay_out_public(tree: PublicTree) -> Layout:
    """The vectors of both players and the payoffs."""
    first = _make_side(tree, 0, None)
    sides = first, _make_side(tree, 1, first[1])
    sources = np.zeros(sides[1][1].beyond[2], np.int32)
    slots = np.zeros(tree.tree.num_sequences, np.int32)
    at = np.zeros((len(tree.public), 2), np.int32)
    for player, (stops, side) in enumerate(sides):
        where = at, sources, slots
        connect(tree.public, tree.hands, tree.tree.infosets, player, side.root, stops, *where)
    ends, payoffs = _make_ends(tree, at, sides)
    vectors = put_together([side for _, side in sides], sources, ends=ends, payoffs=payoffs)
    return Layout(vectors, slots)


def _make_side(tree: PublicTree, player: int, before: Side | None) -> tuple[Stops, Side]:
    stops = Stops(*(np.zeros(len(tree.public), np.int32) for _ in Stops._fields))
    num_stops = find_stops(tree.public, tree.hands, player, stops)
    where, parents = stops.nodes[:num_stops], stops.parents[:num_stops]
    nodes = tree.public[where]
    hands = nodes["num_hands"][:, player].astype(np.int64)
    actions = np.where(nodes["player"] == player, nodes["num_actions"], 0)
    division = divide(parents, hands * (1 + actions))
    order = np.lexsort((actions, division.levels, division.parts))
    side = make_side(hands, actions, division, order, before, WIDEST)
    return Stops(stops.of_node, where, parents, *side.places), side


def _make_ends(
    tree: PublicTree, at: npt.NDArray[np.int32], sides: tuple[tuple[Stops, Side], ...]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
    """The ends of player 0 and of player 1, and their payoffs; parts learn where theirs begin."""
    over = np.flatnonzero(tree.public["player"] == OVER)
    shapes = np.ascontiguousarray(tree.public["num_hands"][tree.public["parent"][over]])
    matrices, payoffs = make_payoffs(tree, over, shapes)
    ends = np.zeros((2, len(over)), END)
    for player, (stops, side) in enumerate(sides):
        order = sort_ends(side, player, stops.of_node[over], matrices)
        own = ends[player]
        own["matrix"] = matrices[order]
        own["own"], own["other"] = at[over[order], player], at[over[order], 1 - player]
        own["num_own"], own["num_other"] = shapes[order, player], shapes[order, 1 - player]
    return ends.ravel(), payoffs
