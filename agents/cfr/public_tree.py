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

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.cfr.tree import GameTree
from agents.cfr.tree_walk import NODE, NONE
from common.errors import MasqueradeError
from envs.core.compiling import compiled, inlined
from envs.core.kernels import INT, OVER
from envs.core.records import record
from envs.core.rng import fold

PUBLIC_NODE = record(
    parent=np.int32,
    rank=np.int32,  # of the action that led here among the legal ones
    player=np.int32,  # to move, CHANCE or OVER
    num_actions=np.int32,  # at a decision
    first_hand=(np.int32, (2,)),  # hands of each player lie in a row in ``hands``
    num_hands=(np.int32, (2,)),
)
HAND = record(
    key=np.uint64,  # what the player has seen
    parent=np.int32,  # the place of the hand it came from, at the parent
    infoset=np.int32,  # when the player is to move
)

# In the table of names, whose number *n* is written as *n + 1*.
EMPTY = 0
FIRST_ROOM = 1024
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class NoPublicTreeError(MasqueradeError):
    """A game whose players do not choose at common public nodes."""


@compiled(types.void(from_dtype(NODE)[::1], types.uint64[:, ::1], types.uint64[::1]))
def name_nodes(nodes, open_keys, names):
    """Write what is the same for nodes of one public node and for no others.

    It is made of the name of the parent, the action, and what the public saw of it.
    """
    num_open = 0
    for v in range(nodes.size):
        node = nodes[v]
        before = np.uint64(0) if node.parent == NONE else names[node.parent]
        action = NONE if node.sequence == NONE else node.action
        seen = np.uint64(0) if node.player == OVER else open_keys[num_open, 2]
        names[v] = fold(fold(before, action + 2), np.int64(seen))
        num_open += node.player != OVER


@inlined
def find_slot(names, name, firsts, table, last):
    """The slot of the table where a name is, or where it belongs."""
    slot = name & last
    while table[slot] != EMPTY and names[firsts[table[slot] - 1]] != name:
        slot = (slot + np.uint64(1)) & last
    return slot


@compiled(INT(types.uint64[::1], types.int64[::1], types.int32[::1], types.int32[::1]))
def number_names(names, firsts, table, numbers):
    """Number names as they come up, and write where each does first; how many there are.

    Few games have as many as nodes: only as much of the table is used as those found so far need.
    """
    num_found, size = 0, FIRST_ROOM
    for v in range(names.size):
        if 2 * num_found >= size:
            table[:size] = EMPTY
            size *= 2
            for i in range(num_found):
                name = names[firsts[i]]
                table[find_slot(names, name, firsts, table, np.uint64(size - 1))] = i + 1
        slot = find_slot(names, names[v], firsts, table, np.uint64(size - 1))
        if table[slot] == EMPTY:
            firsts[num_found] = v
            num_found += 1
            table[slot] = num_found
        numbers[v] = table[slot] - 1
    return num_found


def _number(
    names: npt.NDArray[np.uint64],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """A number for each name in the order in which they come up, and where each does first."""
    size = len(names)
    firsts, numbers = np.empty(size, np.int64), np.empty(size, np.int32)
    table = np.zeros(max(1 << (4 * size).bit_length(), FIRST_ROOM), np.int32)
    return numbers, firsts[: number_names(names, firsts, table, numbers)]


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
        self._find_nodes()
        self._check(self._find_hands())

    def _find_nodes(self) -> None:
        nodes, infosets = self.tree.nodes, self.tree.infosets
        names = np.empty(len(nodes), np.uint64)
        name_nodes(nodes, self.tree.open_keys, names)
        self.node_public, firsts = _number(names)
        first = nodes[firsts]
        self.public = np.zeros(len(first), PUBLIC_NODE)
        self.public["parent"] = self.node_public[first["parent"]]
        self.public["parent"][0] = NONE
        self.public["player"] = first["player"]
        is_choice, is_chosen = first["player"] >= 0, first["sequence"] != NONE
        sizes = infosets["num_actions"][first["index"][is_choice]]
        self.public["num_actions"][is_choice] = sizes
        above = nodes["index"][first["parent"][is_chosen]]
        ranks = first["sequence"][is_chosen] - infosets["first_sequence"][above]
        self.public["rank"][is_chosen] = ranks

    def _find_hands(self) -> npt.NDArray[np.int64]:
        """Give both players their hands; returns for each the first of the player's at its node."""
        nodes, is_over = self.tree.nodes, self.tree.nodes["player"] == OVER
        where = np.flatnonzero(~is_over)
        # Hands of a player at a public node are a group.
        groups = (2 * self.node_public[where].astype(np.int64) + [[0], [1]]).ravel()
        keys = self.tree.open_keys[:, :2].T.ravel()
        numbers, firsts = _number(keys + groups.astype(np.uint64) * _SPREAD)
        order = np.argsort(groups[firsts], kind="stable")
        firsts = firsts[order]
        own, at = groups[firsts] % 2, np.tile(where, 2)[firsts]
        sizes = np.bincount(groups[firsts], minlength=2 * len(self.public))
        starts = np.cumsum(sizes) - sizes
        places = np.empty(len(order), np.int32)
        places[order] = np.arange(len(order)) - starts[groups[firsts]]

        self.node_hands = np.empty((len(nodes), 2), np.int32)
        self.node_hands[where] = places[numbers].reshape(2, -1).T
        self.node_hands[is_over] = self.node_hands[nodes["parent"][is_over]]
        self.public["num_hands"] = sizes.reshape(-1, 2)
        self.public["first_hand"] = starts.reshape(-1, 2)
        self.hands = np.zeros(len(order), HAND)
        self.hands["key"] = keys[firsts]
        self.hands["parent"] = np.where(at == 0, 0, self.node_hands[nodes["parent"][at], own])
        self.hands["infoset"] = np.where(nodes["player"][at] == own, nodes["index"][at], NONE)
        first_hands: npt.NDArray[np.int64] = starts[groups[firsts]]
        return first_hands

    def _check(self, first_hands: npt.NDArray[np.int64]) -> None:
        """Refuse a game whose public does not see whose turn it is, or what is legal."""
        tree, infosets = self.tree, self.tree.infosets
        owners = self.hands["infoset"]
        is_own = owners != NONE
        is_seen = (self.public["player"][self.node_public] == tree.nodes["player"]).all()
        if not is_seen or is_own.sum() != tree.num_infosets:
            self._refuse("turns")
        # For every information set that of the first hand at its public node.
        same = np.empty(tree.num_infosets, np.int32)
        same[owners[is_own]] = owners[first_hands[is_own]]
        starts, sizes, actions = (
            infosets["first_sequence"],
            infosets["num_actions"],
            tree.sequence_actions,
        )
        others = np.arange(tree.num_sequences) + (starts[same] - starts)[tree.sequence_infosets]
        if (sizes[same] != sizes).any() or (actions[others] != actions).any():
            self._refuse("actions")

    def _refuse(self, difference: str) -> None:
        raise NoPublicTreeError(
            f"in {self.tree.game!r} the public does not see whose turn it is or what is legal "
            f"(it differs in {difference}): use CFRSolver"
        )

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
