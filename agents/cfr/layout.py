"""Where the vectors over hands lie in memory: what the passes of ``vector`` work through.

Both players' vectors lie in one array, player 0's first. At a decision of its own a player has one
vector for each action, which are the player's pairs; elsewhere it has a new vector only if its
hands have changed since the public node before. So a player's reach of a public node, and the gains
it gets there, are found where they were last written, and nothing is copied along. What remains to
be done is a list of *steps* for each player, from the root to the leaves, and a list of *ends*.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.cfr.public import HAND, PUBLIC_NODE, PublicTree
from agents.cfr.walk import INFOSET, NODE, NONE
from envs.core.compiling import compiled, helper
from envs.core.kernels import INT, OVER

__all__ = ["VECTORS", "Layout", "Vectors"]

STEP = np.dtype(
    (
        np.record,
        [
            ("inner", np.int32),  # the vector over the hands of this public node
            ("outer", np.int32),  # the vector over the hands of the node before; often the same
            ("first_parent", np.int32),  # where ``parents`` says who came from whom, or NONE
            ("num_hands", np.int32),
            ("num_actions", np.int32),  # 0 where only the hands change
            ("first_pair", np.int32),  # vectors of the actions, one after the other
        ],
    )
)
END = np.dtype(
    (
        np.record,
        [
            ("at", np.int32, (2,)),  # each player's vector
            ("num_hands", np.int32, (2,)),
            ("matrix", np.int64),  # where its payoffs begin
        ],
    )
)


class Vectors(NamedTuple):
    """The layout, as compiled code reads it."""

    steps: npt.NDArray[Any]
    starts: npt.NDArray[np.int64]
    """Steps of player *p*: ``starts[p] .. starts[p + 1]``."""
    slots: npt.NDArray[np.int64]
    """Entries of player *p* in every table: ``slots[p] .. slots[p + 1]``; the first is the root."""
    parents: npt.NDArray[np.int32]
    ends: npt.NDArray[Any]
    payoffs: npt.NDArray[np.float64]
    """[2, size]: matrices of what each player gets, the other's hand by the player's own."""


VECTORS = types.NamedTuple(
    (
        from_dtype(STEP)[::1],
        types.int64[::1],
        types.int64[::1],
        types.int32[::1],
        from_dtype(END)[::1],
        types.float64[:, ::1],
    ),
    Vectors,
)
_PUBLIC, _HANDS = from_dtype(PUBLIC_NODE)[::1], from_dtype(HAND)[::1]


@helper
def keeps_hands(public, hands, q, player):
    """Whether a player's hands at a public node are those of the node before, in the same order."""
    node = public[q]
    if node.num_hands[player] != public[node.parent].num_hands[player]:
        return False
    for h in range(node.num_hands[player]):
        if hands[node.first_hand[player] + h].parent != h:
            return False
    return True


@compiled(
    INT(
        _PUBLIC,
        _HANDS,
        from_dtype(INFOSET)[::1],
        INT,
        INT,
        from_dtype(STEP)[::1],
        types.int32[:, ::1],
        types.int32[::1],
        types.int32[::1],
        types.int64[::1],
    )
)
def lay_out(public, hands, infosets, player, slot, steps, at, firsts, order, counts):
    """Give one player its vectors from ``slot`` on; returns the first slot that is left.

    Writes the steps (their number to ``counts[0]``), where the vector of every public node is
    (``at[:, player]``), and for every slot its pair of the tree (``order``).
    """
    num_steps = counts[0]
    for q in range(public.size):
        node = public[q]
        num_hands = node.num_hands[player]
        outer, is_same = NONE, False
        if q > 0:
            before = public[node.parent]
            outer = at[node.parent, player]
            if before.player == player:
                outer = firsts[node.parent] + node.rank * before.num_hands[player]
            is_same = node.player == OVER or keeps_hands(public, hands, q, player)
        at[q, player] = outer
        if not is_same:
            at[q, player] = slot
            slot += num_hands
        is_own = node.player == player
        if is_own:
            firsts[q] = slot
            for action in range(node.num_actions):
                for h in range(num_hands):
                    infoset = infosets[hands[node.first_hand[player] + h].infoset]
                    order[slot] = infoset.first_pair + action
                    slot += 1
        if q > 0 and (is_own or not is_same):
            step = steps[num_steps]
            step.inner = at[q, player]
            step.outer = outer
            step.first_parent = NONE if is_same else node.first_hand[player]
            step.num_hands = num_hands
            step.num_actions = node.num_actions if is_own else 0
            step.first_pair = firsts[q] if is_own else NONE
            num_steps += 1
        elif is_own:
            return NONE
    counts[0] = num_steps
    return slot


@compiled(
    types.void(
        from_dtype(NODE)[::1],
        types.int32[::1],
        types.int32[:, ::1],
        types.int32[::1],
        from_dtype(END)[::1],
        types.float64[::1],
        types.float64[:, ::1],
        types.float64[:, ::1],
    )
)
def fill_payoffs(nodes, node_public, node_hands, end_of, ends, probs, returns, payoffs):
    """Add every finished game to the matrices of its public node."""
    for v in range(nodes.size):
        if nodes[v].player == OVER:
            end = ends[end_of[node_public[v]]]
            row, column = node_hands[v, 0], node_hands[v, 1]
            terminal = nodes[v].index
            first = end.matrix + column * end.num_hands[0] + row
            second = end.matrix + row * end.num_hands[1] + column
            payoffs[0, first] += probs[terminal] * returns[terminal, 0]
            payoffs[1, second] += probs[terminal] * returns[terminal, 1]


class Layout:
    """The vectors of a public tree.

    Attributes:
        vectors: what compiled code reads.
        order: [num_slots] int32, the pair of the tree in every slot, NONE where there is none.
        most_hands: of any player at any public node.
    """

    def __init__(self, tree: PublicTree) -> None:
        """Lay out both players' vectors and the payoffs."""
        public, hands = tree.public, tree.hands
        room = tree.tree.num_pairs + len(hands)
        order = np.full(room, NONE, np.int32)
        steps = np.zeros(2 * len(public), STEP)
        at, firsts = np.zeros((len(public), 2), np.int32), np.full(len(public), NONE, np.int32)
        starts, slots, counts = np.zeros(3, np.int64), np.zeros(3, np.int64), np.zeros(1, np.int64)
        for player in (0, 1):
            slots[player + 1] = lay_out(
                public,
                hands,
                tree.tree.infosets,
                player,
                int(slots[player]),
                steps,
                at,
                firsts,
                order,
                counts,
            )
            starts[player + 1] = counts[0]
        self.order = order[: slots[2]]
        self.most_hands = int(public["num_hands"].max())
        ends, payoffs = _make_ends(tree, at)
        self.vectors = Vectors(
            steps[: starts[2]], starts, slots, hands["parent"].copy(), ends, payoffs
        )

    @property
    def nbytes(self) -> int:
        """Bytes of the layout, without the tables of a solver."""
        return self.order.nbytes + sum(array.nbytes for array in self.vectors)


def _make_ends(
    tree: PublicTree, at: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
    """The ends of the public tree, and their payoffs with equal matrices kept once."""
    public = tree.public
    over = np.flatnonzero(public["player"] == OVER)
    ends = np.zeros(len(over), END)
    ends["at"] = at[over]
    ends["num_hands"] = public["num_hands"][public["parent"][over]]
    sizes = ends["num_hands"].astype(np.int64).prod(axis=1)
    ends["matrix"] = np.cumsum(sizes) - sizes
    end_of = np.full(len(public), NONE, np.int32)
    end_of[over] = np.arange(len(over))
    whole = np.zeros((2, int(sizes.sum())))
    game = tree.tree
    fill_payoffs(
        game.nodes,
        tree.node_public,
        tree.node_hands,
        end_of,
        ends,
        game.terminal_probs,
        game.terminal_returns,
        whole,
    )
    return _share_matrices(ends, sizes, whole)


def _share_matrices(
    ends: npt.NDArray[Any], sizes: npt.NDArray[np.int64], whole: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
    """Keep one copy of equal matrices, and put the ends that share one next to each other."""
    known: dict[tuple[int, bytes], int] = {}
    parts: list[npt.NDArray[np.float64]] = []
    size = 0
    for i in range(len(ends)):
        start = int(ends["matrix"][i])
        part = whole[:, start : start + sizes[i]]
        key = int(ends["num_hands"][i, 0]), part.tobytes()
        if key not in known:
            known[key] = size
            parts.append(part)
            size += int(sizes[i])
        ends["matrix"][i] = known[key]
    order = np.argsort(ends["matrix"], kind="stable")
    return ends[order], np.ascontiguousarray(np.concatenate(parts, axis=1))
