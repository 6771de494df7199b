"""Small boards solved exactly for a fugitive whom detectives always see.

Backward from the end: a position is won in ``n`` rounds if some joint move catches or blocks him,
or leaves him only moves into positions that are won in fewer. With hidden moves no detectives can
be quicker, so this bounds what any player can reach.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import types

from envs.core.compiling import compiled, helper
from experiments.scotland_yard.reduced.graph import GRAPH, TeamGraph, holds
from experiments.scotland_yard.reduced.plans import is_stuck

__all__ = ["NEVER", "rounds_to_win", "visible_moves"]

NEVER = 0
"""Positions that are not won within the limit, and those that cannot be."""

Rounds = npt.NDArray[np.int32]


@helper
def rounds_after(graph, rounds, team, place):
    """Rounds to go once detectives stand there and the fugitive is to move; 0: he gets away."""
    if holds(graph.masks[team], place) or is_stuck(graph, team, place):
        return 1
    most = 0
    for at in range(graph.starts[place], graph.starts[place + 1]):
        if not holds(graph.masks[team], graph.targets[at]):
            number = rounds[team * graph.near.size + graph.targets[at]]
            if number == NEVER:
                return NEVER
            most = max(most, number)
    return most + 1


@compiled(types.int64(GRAPH, types.int64[::1], types.int64, types.int32[::1], types.int32[::1]))
def _sweep(graph, roots, number, rounds, moves):
    """Find what is won in ``number`` rounds; how many positions that are."""
    num_found = 0
    for i in range(roots.size):
        root = roots[i]
        if rounds[root] != NEVER:
            continue
        team, place = root // graph.near.size, root % graph.near.size
        for at in range(graph.team_starts[team], graph.team_starts[team + 1]):
            if rounds_after(graph, rounds, graph.team_targets[at], place) == number:
                # Marked below zero until the sweep is over, so that it counts for the next only.
                moves[root] = graph.team_targets[at]
                num_found += 1
                break
    for i in range(roots.size):
        if rounds[roots[i]] == NEVER and moves[roots[i]] >= 0:
            rounds[roots[i]] = number
    return num_found


def _solve(graph: TeamGraph, limit: int) -> tuple[Rounds, Rounds]:
    roots = np.flatnonzero(graph.is_start)
    rounds = np.full(graph.num_roots, NEVER, np.int32)
    moves = np.full(graph.num_roots, -1, np.int32)
    for number in range(1, limit + 1):
        if _sweep(graph.arrays, roots, number, rounds, moves) == 0:
            break
    return rounds, moves


def rounds_to_win(graph: TeamGraph, limit: int = 200) -> Rounds:
    """In how many rounds detectives to move force a win: [roots] int32, or ``NEVER``.

    >>> from envs import make_game
    >>> graph = TeamGraph(make_game("scotland_yard_v0", "reduced", rows=2, columns=2))
    >>> int(rounds_to_win(graph).max())
    1
    """
    return _solve(graph, limit)[0]


def visible_moves(graph: TeamGraph, limit: int = 200) -> Rounds:
    """A joint move that wins in time, as the team after it: [roots] int32, -1 where none does."""
    return _solve(graph, limit)[1]
