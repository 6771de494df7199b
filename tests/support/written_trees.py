"""Minimax and alpha-beta over trees that are written down: to read, and to test the quick one by.

A tree is a number, which is a leaf with its value, or a sequence of subtrees. The player at the
root maximises, the other minimises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Tree", "Visit", "Walk", "search_tree"]

Tree = float | Sequence["Tree"]


@dataclass(frozen=True)
class Visit:
    """What an inner node was asked and what it answered."""

    path: tuple[int, ...]
    """Which branch was taken at every node from the root."""
    low: float
    high: float
    value: float
    num_read: int
    """How many of its branches were looked at."""


@dataclass
class Walk:
    """A search and what it did."""

    value: float = 0.0
    line: tuple[int, ...] = ()
    """The principal line: the best branch at every node."""
    num_nodes: int = 0
    visits: list[Visit] = field(default_factory=list)
    """Inner nodes in the order in which they were done."""


def search_tree(tree: Tree, has_cuts: bool = True, order: Sequence[int] | None = None) -> Walk:
    """The value of a tree, for the player who moves first in it.

    A branch is better only if it is better strictly. With cuts, a node answers with its bound as
    soon as the other player would avoid it.

    >>> walk = search_tree([[8, 3], [9, [1]]])
    >>> walk.value, walk.line, walk.num_nodes
    (3, (0, 1), 8)

    Args:
        tree: a leaf or a sequence of subtrees.
        has_cuts: alpha-beta; without, plain minimax.
        order: in which order branches are tried, the same at every node; those that a node does
            not have are passed over.
    """
    walk = Walk()
    infinite = float("inf")
    walk.value, walk.line = _visit(tree, True, -infinite, infinite, (), (has_cuts, order), walk)
    return walk


def _visit(
    tree: Tree,
    is_first: bool,
    low: float,
    high: float,
    path: tuple[int, ...],
    how: tuple[bool, Sequence[int] | None],
    walk: Walk,
) -> tuple[float, tuple[int, ...]]:
    walk.num_nodes += 1
    if isinstance(tree, int | float):
        return tree, ()
    has_cuts, order = how
    entry = low, high
    line: tuple[int, ...] = ()
    num_read = 0
    # Without cuts a node knows nothing of what was found elsewhere.
    bounds = [low, high] if has_cuts else [-float("inf"), float("inf")]
    for branch in range(len(tree)) if order is None else order:
        if branch >= len(tree):
            continue
        num_read += 1
        value, rest = _visit(
            tree[branch], not is_first, bounds[0], bounds[1], (*path, branch), how, walk
        )
        if is_first and value > bounds[0]:
            bounds[0], line = value, (branch, *rest)
        elif not is_first and value < bounds[1]:
            bounds[1], line = value, (branch, *rest)
        if has_cuts and bounds[0] >= bounds[1]:
            break
    value = bounds[0] if is_first else bounds[1]
    walk.visits.append(Visit(path, *entry, value, num_read))
    return value, line
