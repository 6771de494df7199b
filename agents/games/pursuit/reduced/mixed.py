"""Optimal mixed play of the reduced game when there is little time.

From one sighting to the next the detectives choose joint moves without news, while the fugitive
sees them: a game in which something is hidden from one side only. What follows the next sighting is
worth what was found for a game with so many rounds fewer. So the whole is solved from its end, one
stretch between sightings at a time, for one position of each class that the symmetries of the board
make, and only where no catch is certain.

A stretch is one linear programme in sequence form (Koller, Megiddo and von Stengel, 1994): the
probabilities of the detectives' sequences of joint moves, and for every sequence and place the most
that the fugitive can make of it. Its value is exact up to the tolerance of the solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csr_array

from agents.games.pursuit.reduced.certain import certain_wins
from agents.games.pursuit.reduced.graph import TeamGraph
from agents.games.pursuit.reduced.symmetry import find_symmetry

__all__ = ["MixedValues", "Stretch", "mixed_values", "solve_stretch"]

Floats = npt.NDArray[np.float64]
Terms = list[tuple[int, float]]
"""A sum: variables and their weights."""


class Stretch(NamedTuple):
    """The solution from one sighting to the next."""

    value: float
    """The fugitive's chance of escape."""
    plans: npt.NDArray[np.int32]
    """[plans, joint moves] what detectives may do: teams after each joint move."""
    probs: Floats
    """[plans] how likely each is."""


class _Rows:
    """Rows of a sparse matrix as they come."""

    def __init__(self) -> None:
        """No rows yet."""
        self.count = 0
        self._at: list[int] = []
        self._columns: list[int] = []
        self._weights: list[float] = []

    def add(self, terms: Terms) -> None:
        """One more row; a variable may be named twice."""
        for variable, weight in terms:
            self._at.append(self.count)
            self._columns.append(variable)
            self._weights.append(weight)
        self.count += 1

    def matrix(self, width: int) -> csr_array:
        """All rows."""
        entries = self._weights, (self._at, self._columns)
        return csr_array(entries, shape=(self.count, width))


class _Programme:
    """The linear programme of one stretch, row by row."""

    def __init__(self, graph: TeamGraph, depth: int, later: Floats | None) -> None:
        """``later``: [roots] his value at the next sighting; ``None``: the game ends there."""
        self.graph, self.depth, self.later = graph, depth, later
        self.num_variables = 1
        self.rows, self.flows = _Rows(), _Rows()
        self.children: dict[int, list[int]] = {}
        self.team_after: dict[int, int] = {}
        self.line: dict[int, tuple[int, ...]] = {0: ()}
        self._known: dict[tuple[int, int], Terms] = {}

    def sequences(self, team: int) -> None:
        """One variable for every sequence of joint moves; those that follow one add up to it."""
        a = self.graph.arrays
        level = [0]
        self.team_after[0] = team
        for _ in range(self.depth):
            after: list[int] = []
            for variable in level:
                here = self.team_after[variable]
                followers = []
                for target in a.team_targets[a.team_starts[here] : a.team_starts[here + 1]]:
                    new = self._new_variable()
                    followers.append(new)
                    self.team_after[new] = int(target)
                    self.line[new] = (*self.line[variable], int(target))
                self.children[variable] = followers
                self.flows.add([(variable, -1.0), *((new, 1.0) for new in followers)])
                after += followers
            level = after

    def worth(self, variable: int, place: int, depth: int) -> Terms:
        """What he can make of a sequence when it is his move: a sum over variables."""
        team = self.team_after[variable]
        free = self._free(team, place)
        if not free:
            return []
        if depth == 1:
            best = 1.0
            if self.later is not None:
                best = max(self.later[team * self.graph.num_places + target] for target in free)
            return [(variable, best)] if best > 0.0 else []
        most = self._new_variable()
        for target in free:
            # most >= what follows from going there, whatever detectives do next
            after = [self.worth_at(child, target, depth - 1) for child in self.children[variable]]
            self.rows.add([(most, -1.0), *(term for terms in after for term in terms)])
        return [(most, 1.0)]

    def worth_at(self, variable: int, place: int, depth: int) -> Terms:
        """The same, worked out once for a sequence and a place."""
        key = variable, place
        if key not in self._known:
            self._known[key] = self.worth(variable, place, depth)
        return self._known[key]

    def solve(self, team: int, place: int) -> Stretch:
        """The least that detectives can allow him."""
        self.sequences(team)
        objective: Terms = []
        for child in self.children[0]:
            objective += self.worth_at(child, place, self.depth)
        costs = np.zeros(self.num_variables)
        for variable, weight in objective:
            costs[variable] += weight
        bounds = np.zeros((self.num_variables, 2))
        bounds[:, 1] = 1.0
        bounds[0, 0] = 1.0
        found = linprog(
            costs,
            A_ub=self.rows.matrix(self.num_variables) if self.rows.count else None,
            b_ub=np.zeros(self.rows.count) if self.rows.count else None,
            A_eq=self.flows.matrix(self.num_variables),
            b_eq=np.zeros(self.flows.count),
            bounds=bounds,
            method="highs",
        )
        assert found.status == 0, found.message
        ends = [variable for variable, line in self.line.items() if len(line) == self.depth]
        probs = np.maximum(found.x[ends], 0.0)
        kept = probs > 1e-9
        plans = np.array([self.line[variable] for variable in ends], np.int32)[kept]
        return Stretch(float(max(found.fun, 0.0)), plans, probs[kept] / probs[kept].sum())

    def _free(self, team: int, place: int) -> list[int]:
        """Where he can go; nothing if he is caught or stuck."""
        a = self.graph.arrays
        taken = a.places[team]
        if place in taken:
            return []
        ways = a.targets[a.starts[place] : a.starts[place + 1]]
        return [int(target) for target in ways if target not in taken]

    def _new_variable(self) -> int:
        self.num_variables += 1
        return self.num_variables - 1


def solve_stretch(graph: TeamGraph, root: int, depth: int, later: Floats | None = None) -> Stretch:
    """Solve what lies between a sighting and the next, or the end.

    >>> from envs import make_game
    >>> graph = TeamGraph(make_game("scotland_yard_v0", "reduced", rows=2, columns=3))
    >>> solve_stretch(graph, graph.root(0, 1, 5), 1).value
    1.0

    Args:
        graph: the board.
        root: the position at the sighting.
        depth: joint moves until the next one.
        later: [roots] what the fugitive has of each position there; ``None``: the game ends.
    """
    team, place = divmod(root, graph.num_places)
    return _Programme(graph, depth, later).solve(team, place)


@dataclass(frozen=True)
class MixedValues:
    """The fugitive's chance of escape when both sides play as well as can be."""

    rounds: int
    values: Floats
    """[roots]"""
    num_programmes: int
    """Linear programmes that had to be solved for this number of rounds."""

    def win_rate(self, graph: TeamGraph) -> float:
        """The detectives' share of wins over all starts."""
        return 1.0 - float(self.values[graph.is_start].mean())


def mixed_values(graph: TeamGraph, rounds: int) -> list[MixedValues]:
    """Solve games of so many rounds, and the shorter ones that they end in; the shortest first.

    >>> from envs import make_game
    >>> graph = TeamGraph(make_game("scotland_yard_v0", "reduced", rows=2, columns=3))
    >>> [round(found.win_rate(graph), 4) for found in mixed_values(graph, 4)]
    [0.8333, 1.0]
    """
    certain = certain_wins(graph).rounds
    symmetry = find_symmetry(graph, "exchange")
    starts = np.flatnonzero(graph.is_start)
    solved: list[MixedValues] = []
    later: Floats | None = None
    for left in range((rounds - 1) % graph.period + 1, rounds + 1, graph.period):
        values = np.zeros(graph.num_roots)
        doubtful = np.unique(symmetry.roots[starts[certain[starts] > left]])
        for root in doubtful:
            values[root] = solve_stretch(graph, int(root), min(left, graph.period), later).value
        values = values[symmetry.roots]
        values[~graph.is_start] = 0.0
        solved.append(MixedValues(left, values, len(doubtful)))
        later = values
    return solved
