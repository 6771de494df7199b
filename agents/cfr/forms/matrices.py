"""What the ends of a public tree pay: a matrix for each, hand against hand.

A public tree can have thousands of ends and few different matrices: who wins a called bid depends
on the bid alone, not on the ones before it. So equal matrices are kept once, which also keeps them
in the cache.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.cfr.forms.public import PublicTree
from agents.cfr.forms.records import NODE, NONE
from envs.core.compiling import compiled
from envs.core.kernels import OVER
from envs.core.rng import mix

__all__ = ["make_payoffs"]


@compiled(
    types.void(
        from_dtype(NODE)[::1],
        types.int32[::1],
        types.int32[:, ::1],
        types.int32[::1],
        types.int64[::1],
        types.int32[:, ::1],
        types.float64[::1],
        types.float64[:, ::1],
        types.float64[:, ::1],
    )
)
def fill_payoffs(nodes, node_public, node_hands, end_of, firsts, shapes, probs, returns, payoffs):
    """Add every finished game to the matrices of its public node."""
    for v in range(nodes.size):
        if nodes[v].player == OVER:
            end = end_of[node_public[v]]
            row, column = node_hands[v, 0], node_hands[v, 1]
            terminal = nodes[v].index
            first = firsts[end] + column * shapes[end, 0] + row
            second = firsts[end] + row * shapes[end, 1] + column
            payoffs[0, first] += probs[terminal] * returns[terminal, 0]
            payoffs[1, second] += probs[terminal] * returns[terminal, 1]


@compiled(
    types.void(
        types.int64[::1],
        types.int32[:, ::1],
        types.uint64[:, ::1],
        types.int32[::1],
        types.int32[::1],
    )
)
def find_equal(firsts, shapes, bits, table, same):
    """Write for every matrix the number of the first that equals it, bit for bit.

    ``table`` is an open-addressing table of 2**k slots, all NONE.
    """
    last = np.uint64(table.size - 1)
    for i in range(firsts.size):
        size = shapes[i, 0] * shapes[i, 1]
        key = np.uint64(shapes[i, 0])
        for k in range(firsts[i], firsts[i] + size):
            key = mix(key + bits[0, k])
        slot = key & last
        while table[slot] != NONE:
            j = table[slot]
            is_same = shapes[i, 0] == shapes[j, 0] and shapes[i, 1] == shapes[j, 1]
            k = 0
            while is_same and k < size:
                one, other = firsts[i] + k, firsts[j] + k
                is_same = bits[0, one] == bits[0, other] and bits[1, one] == bits[1, other]
                k += 1
            if is_same:
                break
            slot = (slot + np.uint64(1)) & last
        if table[slot] == NONE:
            table[slot] = i
        same[i] = table[slot]


def make_payoffs(
    tree: PublicTree, over: npt.NDArray[np.int64], shapes: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Where the matrix of each end begins, and the matrices, with equal ones kept once."""
    sizes = shapes.astype(np.int64).prod(axis=1)
    firsts = np.cumsum(sizes) - sizes
    end_of = np.full(len(tree.public), NONE, np.int32)
    end_of[over] = np.arange(len(over))
    whole = np.zeros((2, int(sizes.sum())))
    game = tree.tree
    fill_payoffs(
        game.nodes,
        tree.node_public,
        tree.node_hands,
        end_of,
        firsts,
        shapes,
        game.terminal_probs,
        game.terminal_returns,
        whole,
    )
    table = np.full(1 << (2 * len(over)).bit_length(), NONE, np.int32)
    same = np.zeros(len(over), np.int32)
    find_equal(firsts, shapes, whole.view(np.uint64), table, same)
    kept = np.flatnonzero(same == np.arange(len(over)))
    places = np.zeros(len(over), np.int64)
    places[kept] = np.cumsum(sizes[kept]) - sizes[kept]
    parts = [whole[:, firsts[i] : firsts[i] + sizes[i]] for i in kept]
    return places[same], np.ascontiguousarray(np.concatenate(parts, axis=1))
