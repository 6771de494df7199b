"""The public tree of a two-player game: what everybody sees, with the private hands at each node.

A *public node* is what an onlooker sees of a history; a *hand* of a player is one of the
information states the player can have there (in Leduc poker a card, in Liar's Dice the dice). All
hands of a player choose at the same public node, among the same actions, so a pass over the game
can work on vectors over hands.

Nodes of the game tree go to the same public node when their parents do, the same action was played
and the public saw the same token. What is shown at the end of a game matters no more: histories
that end with the same action share a public node, which has the hands of its parent.

From one public node to the next, a player's hands stay what they are in most games most of the
time; after a private card or a public one they split or vanish, and ``HAND.parent`` says which hand
came from which.

A public tree can have thousands of ends and few different payoffs, hand against hand: who wins a
called bid depends on the bid alone, not on the ones before it. So ``make_payoffs`` keeps equal
matrices once, which also keeps them in the cache.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.cfr.tree import GameTree
from agents.cfr.tree_walk import INFOSET, NODE, NONE
from common.errors import MasqueradeError
from envs.core.compiling import compiled, inlined
from envs.core.kernels import INT, OVER
from envs.core.records import Grid, Row, record, tuple_type
from envs.core.rng import mix

__all__ = ["HAND", "PUBLIC_NODE", "NoPublicTreeError", "PublicTree", "make_payoffs"]

PUBLIC_NODE = record(
    key=np.uint64,  # of what the public has seen; 0 at the end of a game
    parent=np.int32,
    action=np.int32,  # that led here, or NONE after chance
    rank=np.int32,  # of that action among the legal ones
    player=np.int32,  # to move, CHANCE or OVER
    num_actions=np.int32,  # at a decision
    first_hand=(np.int32, (2,)),  # hands of each player lie in a row in ``hands``
    num_hands=(np.int32, (2,)),
    first_child=np.int32,
    next_sibling=np.int32,
    last_found=np.int32,  # the child that was looked up last
)
HAND = record(
    key=np.uint64,  # what the player has seen
    node=np.int32,  # public node
    player=np.int32,
    local=np.int32,  # its place among the player's hands there
    parent=np.int32,  # the place of the hand it came from, at the parent
    infoset=np.int32,  # when the player is to move
)


class NoPublicTreeError(MasqueradeError):
    """A game whose players do not choose at common public nodes."""


FINE, TWO_TURNS, TWO_MASKS, FULL = range(4)
NUM_PUBLIC, NUM_HANDS, NUM_GROUPED, NUM_OPEN = range(4)
FIRST_ROOM = 1024
"""Public nodes and hands that there is room for at first: few games have as many as nodes."""


class Sketch(NamedTuple):
    """What ``group_nodes`` fills."""

    public: Annotated[npt.NDArray[Any], PUBLIC_NODE]
    hands: Annotated[npt.NDArray[Any], HAND]
    node_public: Row[np.int32]
    """Public node of every node of the game tree."""
    node_hands: Grid[np.int32]
    """Place of each player's hand at that public node."""
    table: Row[np.int32]
    """Open-addressing table of 2**k slots: number of a hand, or NONE."""

    def grown(self, num_hands: int) -> Sketch:
        """The same with twice the room; so many hands are in use."""
        public = np.zeros(2 * len(self.public), PUBLIC_NODE)
        hands = np.zeros(2 * len(self.hands), HAND)
        public[: len(self.public)], hands[: len(self.hands)] = self.public, self.hands
        table = np.full(2 * len(self.table), NONE, np.int32)
        sketch = self._replace(public=public, hands=hands, table=table)
        enter_hands(sketch, num_hands)
        return sketch


_NODES, _INFOSETS = from_dtype(NODE)[::1], from_dtype(INFOSET)[::1]
_SKETCH = tuple_type(Sketch)


@inlined
def find_child(public, at, action, key, num_public):
    """The child of a public node with this action and key; ``num_public`` when it is new.

    Histories come in the same order under every deal, so the child is mostly the one after the last
    found.
    """
    parent = public[at]
    last = parent.last_found
    child = last
    while child != NONE:
        if public[child].action == action and public[child].key == key:
            parent.last_found = child
            return np.int64(child)
        child = public[child].next_sibling
    child = parent.first_child
    while child != last:
        if public[child].action == action and public[child].key == key:
            parent.last_found = child
            return np.int64(child)
        child = public[child].next_sibling
    # New: it goes to the end of the list, behind whatever follows the last found.
    if last == NONE:
        parent.first_child = num_public
    else:
        while public[last].next_sibling != NONE:
            last = public[last].next_sibling
        public[last].next_sibling = num_public
    parent.last_found = num_public
    return num_public


@inlined
def find_slot(sketch, at, player, key):
    """The slot of the table where a hand is, or where it belongs."""
    last = np.uint64(sketch.table.size - 1)
    slot = mix(key + np.uint64(at)) & last
    while sketch.table[slot] != NONE:
        hand = sketch.hands[sketch.table[slot]]
        if hand.key == key and hand.node == at and hand.player == player:
            break
        slot = (slot + np.uint64(1)) & last
    return slot


@compiled(types.void(_SKETCH, INT))
def enter_hands(sketch, num_hands):
    """Enter the first hands into an empty table."""
    for i in range(num_hands):
        hand = sketch.hands[i]
        sketch.table[find_slot(sketch, hand.node, hand.player, hand.key)] = i


@inlined
def find_hand(sketch, at, player, key, num_hands):
    """The hand of a player with this key at a public node; ``num_hands`` when it is new."""
    slot = find_slot(sketch, at, player, key)
    if sketch.table[slot] == NONE:
        sketch.table[slot] = num_hands
    return np.int64(sketch.table[slot])


@inlined
def same_actions(infosets, sequence_actions, one, other):
    """Whether two information sets have the same legal actions."""
    first, second = infosets[one], infosets[other]
    if first.num_actions != second.num_actions:
        return False
    for i in range(first.num_actions):
        if (
            sequence_actions[first.first_sequence + i]
            != sequence_actions[second.first_sequence + i]
        ):
            return False
    return True


@inlined
def place_node(nodes, infosets, key, sketch, v, counts):
    """Find or make the public node of a node of the game tree."""
    node = nodes[v]
    at = 0
    if node.parent == NONE:
        num_public = 0
    else:
        num_public = counts[NUM_PUBLIC]
        action = NONE if node.sequence == NONE else node.action
        at = find_child(sketch.public, sketch.node_public[node.parent], action, key, num_public)
    sketch.node_public[v] = at
    if at == num_public:
        counts[NUM_PUBLIC] += 1
        public = sketch.public[at]
        public.parent = NONE if v == 0 else sketch.node_public[node.parent]
        public.action = NONE if node.sequence == NONE else node.action
        public.rank = 0
        if node.sequence != NONE:
            public.rank = node.sequence - infosets[nodes[node.parent].index].first_sequence
        public.key = key
        public.player = node.player
        public.num_actions = infosets[node.index].num_actions if node.player >= 0 else 0
        public.first_child = NONE
        public.next_sibling = NONE
        public.last_found = NONE
    return at


@compiled(INT(_NODES, _INFOSETS, types.int32[::1], types.uint64[:, ::1], _SKETCH, types.int64[::1]))
def group_nodes(nodes, infosets, sequence_actions, open_keys, sketch, counts):
    """Give every node of the game tree its public node and both players their hands.

    When there is no room left it says FULL, and goes on from there when it is called again.
    """
    for v in range(counts[NUM_GROUPED], nodes.size):
        node = nodes[v]
        counts[NUM_GROUPED] = v
        if counts[NUM_PUBLIC] == sketch.public.size or counts[NUM_HANDS] + 2 > sketch.hands.size:
            return FULL
        row = counts[NUM_OPEN]
        key = np.uint64(0) if node.player == OVER else open_keys[row, 2]
        at = place_node(nodes, infosets, key, sketch, v, counts)
        public = sketch.public[at]
        if public.player != node.player:
            return TWO_TURNS
        for player in range(2):
            if node.player == OVER:
                sketch.node_hands[v, player] = sketch.node_hands[node.parent, player]
                continue
            which = find_hand(sketch, at, player, open_keys[row, player], counts[NUM_HANDS])
            hand = sketch.hands[which]
            if which == counts[NUM_HANDS]:
                counts[NUM_HANDS] += 1
                hand.key = open_keys[row, player]
                hand.node = at
                hand.player = player
                hand.local = public.num_hands[player]
                hand.parent = 0 if v == 0 else sketch.node_hands[node.parent, player]
                hand.infoset = node.index if node.player == player else NONE
                public.num_hands[player] += 1
                if hand.local == 0:
                    public.first_hand[player] = which  # for now: any hand that is to move there
                elif hand.infoset != NONE:
                    other = sketch.hands[public.first_hand[player]].infoset
                    if not same_actions(infosets, sequence_actions, other, hand.infoset):
                        return TWO_MASKS
            sketch.node_hands[v, player] = hand.local
        counts[NUM_OPEN] += node.player != OVER
    return FINE


class PublicTree:
    """The public nodes of a game and the hands at each.

    Attributes:
        public: [num_public] record ``PUBLIC_NODE``; parents come before children.
        hands: [num_hands] record ``HAND``, sorted by public node, player and place.
        node_public: [num_nodes] int32, the public node of every node of the game tree.
        node_hands: [num_nodes, 2] int32, the place of each player's hand there, or at the parent
            when the game is over.

    >>> from envs import make_game
    >>> PublicTree(GameTree(make_game("kuhn_v0"), has_keys=True))
    PublicTree(kuhn_v0(): 11 public nodes, up to 3 and 3 hands)
    """

    def __init__(self, tree: GameTree) -> None:
        """Group the nodes of a tree that was made with ``has_keys``."""
        self.tree = tree
        if tree.num_players != 2:
            raise NoPublicTreeError(f"{tree.game!r} is not for two players: use CFRSolver")
        if not tree.open_keys.size:
            raise MasqueradeError(
                "the tree has no keys: make it with GameTree(game, has_keys=True)"
            )
        size = len(tree.nodes)
        sketch = Sketch(
            np.zeros(FIRST_ROOM, PUBLIC_NODE),
            np.zeros(FIRST_ROOM, HAND),
            np.empty(size, np.int32),
            np.empty((size, 2), np.int32),
            np.full(4 * FIRST_ROOM, NONE, np.int32),
        )
        counts = np.zeros(4, np.int64)
        result = FULL
        while result == FULL:
            result = group_nodes(
                tree.nodes, tree.infosets, tree.sequence_actions, tree.open_keys, sketch, counts
            )
            if result == FULL:
                sketch = sketch.grown(int(counts[NUM_HANDS]))
        hands = sketch.hands[: counts[NUM_HANDS]]
        if result == FINE and (hands["infoset"] != NONE).sum() != tree.num_infosets:
            result = TWO_TURNS
        if result != FINE:
            reason = "actions" if result == TWO_MASKS else "turns"
            raise NoPublicTreeError(
                f"in {tree.game!r} the public does not see whose turn it is or what is legal "
                f"(it differs in {reason}): use CFRSolver"
            )
        self.public = sketch.public[: counts[NUM_PUBLIC]].copy()
        self.node_public, self.node_hands = sketch.node_public, sketch.node_hands
        self._sort(hands)

    def _sort(self, hands: npt.NDArray[Any]) -> None:
        sizes = self.public["num_hands"].ravel()
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).reshape(-1, 2)
        self.public["first_hand"] = starts
        self.hands = np.empty_like(hands)
        self.hands[starts[hands["node"], hands["player"]] + hands["local"]] = hands

    def __repr__(self) -> str:
        """The game and the size."""
        most = self.public["num_hands"].max(axis=0)
        return (
            f"PublicTree({self.tree.game!r}: {len(self.public):,} public nodes, "
            f"up to {most[0]} and {most[1]} hands)"
        )


def make_payoffs(
    tree: PublicTree, over: npt.NDArray[np.int64], shapes: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Where the matrix of each end begins, and the matrices, with equal ones kept once."""
    sizes = shapes.astype(np.int64).prod(axis=1)
    firsts = np.cumsum(sizes) - sizes
    game, num_entries = tree.tree, int(sizes.sum())
    end_of = np.full(len(tree.public), NONE)
    end_of[over] = np.arange(len(over))
    # Terminals are numbered in the order of the nodes.
    terminals = np.flatnonzero(game.nodes["player"] == OVER)
    ends = end_of[tree.node_public[terminals]]
    rows, columns = tree.node_hands[terminals].T.astype(np.int64)
    places_of = rows + columns * shapes[ends, 0], columns + rows * shapes[ends, 1]
    values = game.terminal_probs[:, None] * game.terminal_returns
    whole = np.stack(
        [np.bincount(firsts[ends] + places_of[p], values[:, p], num_entries) for p in (0, 1)]
    )
    seen: dict[bytes, int] = {}  # the first of those that are equal, bit for bit
    same = np.zeros(len(over), np.int32)
    for i, (first, size) in enumerate(zip(firsts.tolist(), sizes.tolist(), strict=True)):
        matrix = shapes[i].tobytes() + whole[:, first : first + size].tobytes()
        same[i] = seen.setdefault(matrix, i)
    kept = np.flatnonzero(same == np.arange(len(over)))
    places = np.zeros(len(over), np.int64)
    places[kept] = np.cumsum(sizes[kept]) - sizes[kept]
    parts = [whole[:, firsts[i] : firsts[i] + sizes[i]] for i in kept]
    return places[same], np.ascontiguousarray(np.concatenate(parts, axis=1))
