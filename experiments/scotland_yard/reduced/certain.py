"""Plans that catch the fugitive for certain, wherever he goes.

Detectives keep the set of places where he can be. A plan is a joint move for each round until he is
seen again; each rules out the places that detectives enter and those from which he could not have
moved on. If nothing is left he is caught. Otherwise he will be seen on one of the places that are
left, and a plan is as good as the worst of them. Sweeps over all positions, each with the answers
of the last, find the fewest rounds within which a catch is certain, and a plan that does it.

Of plans with the same worst case the one with the best mean over the places left is taken; where no
catch is certain, places that are certain count as such and others by their distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from numba import types

from agents.games.pursuit.capture import lowest
from envs.core.compiling import compiled, helper
from envs.core.kernels import INT, TOTALS
from experiments.scotland_yard.reduced.graph import GRAPH, TeamGraph, holds
from experiments.scotland_yard.reduced.plans import is_stuck

NOT_CERTAIN = 1000
"""In a table of rounds: no plan catches him for certain."""
_INTS, _SETS = types.int32[::1], types.uint64[::1]


@helper
def survivors(graph, team, possible):
    """Where he can still be after the detectives' move: neither caught nor stuck."""
    left = possible & ~graph.masks[team]
    rest = left
    while rest != np.uint64(0):
        place = lowest(rest)
        rest &= rest - np.uint64(1)
        if is_stuck(graph, team, place):
            left &= ~(np.uint64(1) << np.uint64(place))
    return left


@helper
def spread(graph, team, possible):
    """Where he can be after his own move."""
    reached = np.uint64(0)
    while possible != np.uint64(0):
        reached |= graph.near[lowest(possible)]
        possible &= possible - np.uint64(1)
    return reached & ~graph.masks[team]


@helper
def sighting_cost(graph, rounds, team, possible, most):
    """Worst and mean rounds from the next sighting on, over all places where that may be.

    Beyond ``most`` nobody wants to know how many.
    """
    worst, total, num = 0, 0.0, 0
    while possible != np.uint64(0):
        place = lowest(possible)
        possible &= possible - np.uint64(1)
        number = rounds[team * graph.near.size + place]
        worst = max(worst, number)
        if worst > most:
            break
        num += 1
        total += number
        if number == NOT_CERTAIN:
            steps = 1 << 30
            for d in range(graph.places.shape[1]):
                steps = min(steps, graph.distances[graph.places[team, d], place])
            total += 10 * steps
    return worst, total / max(num, 1)


@compiled(
    INT(GRAPH, INT, types.int64[::1], _INTS, types.int32[:, ::1], TOTALS, _INTS, _INTS, _SETS, INT)
)
def _sweep(graph, period, roots, rounds, plans, means, cursor, teams, sets, wants_means):
    """Look for better plans from every root with what is known now; how many were found."""
    num_places, num_better = graph.near.size, 0
    for i in range(roots.size):
        root = roots[i]
        # An odometer over joint moves, one digit a round.
        teams[0], sets[0] = root // num_places, np.uint64(1) << np.uint64(root % num_places)
        depth = 0
        cursor[0] = graph.team_starts[teams[0]]
        is_better = False
        while depth >= 0:
            if cursor[depth] >= graph.team_starts[teams[depth] + 1]:
                depth -= 1
                if depth >= 0:
                    cursor[depth] += 1
                continue
            target = graph.team_targets[cursor[depth]]
            left = survivors(graph, target, sets[depth])
            teams[depth + 1] = target
            if left != np.uint64(0) and depth + 1 < period:
                if depth + 2 > rounds[root] - 1 + wants_means:
                    cursor[depth] += 1  # cannot be quicker than what is known
                    continue
                sets[depth + 1] = spread(graph, target, left)
                depth += 1
                cursor[depth] = graph.team_starts[target]
                continue
            worst, mean = depth + 1, float(depth + 1)
            if left != np.uint64(0):
                later, mean = sighting_cost(
                    graph, rounds, target, spread(graph, target, left), rounds[root]
                )
                worst = min(NOT_CERTAIN, period + later)
                mean += period
            if worst < rounds[root] or (
                wants_means and worst == rounds[root] and mean < means[root]
            ):
                is_better = True
                rounds[root], means[root] = worst, mean
                for step in range(period):
                    plans[root, step] = teams[min(step, depth) + 1]
                for step in range(depth + 1, period):
                    # He is caught by then; whatever follows must only be legal.
                    plans[root, step] = graph.team_targets[graph.team_starts[plans[root, step - 1]]]
            cursor[depth] += 1
        num_better += is_better
    return num_better


@dataclass(frozen=True)
class CertainWins:
    """What detectives can be certain of."""

    rounds: npt.NDArray[np.int32]
    """[roots] the fewest rounds within which he is caught for certain, or ``NOT_CERTAIN``."""
    plans: npt.NDArray[np.int32]
    """[roots, period] the teams after each joint move of a plan that does it."""


@lru_cache(maxsize=8)
def certain_wins(graph: TeamGraph) -> CertainWins:
    """Solve a board, once.

    >>> from envs import make_game
    >>> graph = TeamGraph(make_game("scotland_yard_v0", "reduced", rows=3, columns=3))
    >>> int(certain_wins(graph).rounds[graph.is_start].max())
    5
    """
    roots = np.flatnonzero(graph.is_start)
    rounds = np.full(graph.num_roots, NOT_CERTAIN, np.int32)
    plans = np.full((graph.num_roots, graph.period), -1, np.int32)
    means = np.full(graph.num_roots, np.inf)
    cursor = np.zeros(graph.period + 1, np.int32)
    room = cursor, np.zeros(graph.period + 1, np.int32), np.zeros(graph.period + 1, np.uint64)
    known = graph.arrays, graph.period, roots, rounds, plans, means, *room
    while _sweep(*known, 0):
        pass
    # Now that the worst cases are known, the best of the plans that have them.
    _sweep(*known, 1)
    return CertainWins(rounds, plans)


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


@compiled(INT(GRAPH, types.int64[::1], INT, _INTS, _INTS))
def _sweep_seen(graph, roots, number, rounds, moves):
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


def solve_seen(graph: TeamGraph) -> tuple[Rounds, Rounds]:
    """A fugitive whom detectives always see: in how many rounds they win, and a move that does it.

    Backward from the end: a position is won in ``n`` rounds if some joint move catches or blocks
    him, or leaves him only moves into positions that are won in fewer. With hidden moves no
    detectives can be quicker, so this bounds what any player can reach.

    >>> from envs import make_game
    >>> graph = TeamGraph(make_game("scotland_yard_v0", "reduced", rows=2, columns=2))
    >>> int(solve_seen(graph)[0].max())
    1

    Returns:
        [roots] rounds, or ``NEVER``, and [roots] the team after the move, or -1.
    """
    roots = np.flatnonzero(graph.is_start)
    rounds = np.full(graph.num_roots, NEVER, np.int32)
    moves = np.full(graph.num_roots, -1, np.int32)
    number = 1
    while _sweep_seen(graph.arrays, roots, number, rounds, moves):
        number += 1
    return rounds, moves
