"""The loop of every search: down to the next child, or back up with a result.

It goes over frames and not by recursion, so that it can stop after any node and go on later.
"""

from __future__ import annotations

import numba
from numba import types

from agents.search.nodes import descend
from agents.search.scalars import absorb_scalar, close_scalar, open_scalar
from agents.search.stack import DEPTH, EVALUATION, IS_ENTERING, NODES, SETTINGS, STACK, TABLE
from agents.search.vectors import absorb_vector, close_vector, open_vector
from envs.core.compiling import compiled
from envs.core.kernels import INT, KERNELS, RULES

__all__ = ["search_frames"]


@compiled(
    INT(
        KERNELS,
        EVALUATION,
        RULES,
        STACK,
        TABLE,
        types.Array(numba.from_dtype(SETTINGS), 1, "C"),
        INT,
    )
)
def search_frames(kernels, evaluation, rules, stack, table, settings, max_nodes):
    """Go on with a search; returns 1 when the root has its result, 0 after ``max_nodes`` nodes."""
    o = settings[0]
    last_node = stack.counters[NODES] + max_nodes
    depth = stack.progress[DEPTH]
    is_entering = stack.progress[IS_ENTERING]
    is_over = 0
    while True:
        if is_entering:
            if stack.counters[NODES] >= last_node:
                break
            if o.is_scalar:
                wants_child = open_scalar(kernels, evaluation, rules, stack, table, o, depth)
            else:
                wants_child = open_vector(kernels, evaluation, rules, stack, table, o, depth)
        else:
            if depth == 0:
                is_over = 1
                break
            depth -= 1
            wants_child = (
                absorb_scalar(stack, o, depth) if o.is_scalar else absorb_vector(stack, o, depth)
            )
            if not wants_child:
                if o.is_scalar:
                    close_scalar(stack, table, depth)
                else:
                    close_vector(stack, table, o, depth)
        if wants_child:
            descend(kernels, rules, stack, o, depth)
            depth += 1
        is_entering = wants_child
    stack.progress[DEPTH] = depth
    stack.progress[IS_ENTERING] = is_entering
    return is_over
