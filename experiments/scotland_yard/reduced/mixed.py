"""Optimal mixed play of the reduced game when there is little time.

From one sighting to the next the detectives choose joint moves without news, while the fugitive
sees them: a game in which something is hidden from one side only. What follows the next sighting is
worth what was found for a game with so many rounds fewer. So the whole is solved from its end, one
stretch between sightings at a time, for one position of each class that the symmetries of the board
make, and only where no catch is certain.

A stretch is one linear programme in sequence form (Koller, Megiddo and von Stengel, 1994): the
probabilities of the detectives' sequences of joint moves, and for every sequence and place the most
that the fugitive can make of it. Its value is exact up to the tolerance of the solver. Its dual is
the fugitive's own mixture: how often he takes each street after each sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csr_array

from experiments.scotland_yard.reduced.certain import certain_wins
from experiments.scotland_yard.reduced.graph import TeamGraph, find_symmetry

Floats = npt.NDArray[np.float64]
Terms = list[tuple[int, float]]
"""A sum: variables and their weights."""


@dataclass(frozen=True)
class Stretch:
    """The solution from one sighting to the next."""

    graph: TeamGraph
    value: float
    """The fugitive's chance of escape."""
    plans: npt.NDArray[np.int32]
    """[plans, joint moves] what detectives may do: teams after each joint move."""
    probs: Floats
    """[plans] how likely each is."""
    flows: dict[tuple[int, ...], Floats]
    """By the joint moves so far and his place: how likely he takes each free street."""
    later: Floats | None
    """[roots] his chance at the next sighting; ``None``: the game ends there."""

    def joint_moves(self, teams: Sequence[int]) -> dict[int, float]:
        """How likely each next team is, after these; nothing if no plan begins like this."""
        done = len(teams)
        is_followed = (self.plans[:, :done] == np.array(teams, np.int32)).all(axis=1)
        found: dict[int, float] = {}
        for team, prob in zip(self.plans[is_followed, done], self.probs[is_followed], strict=True):
            found[int(team)] = found.get(int(team), 0.0) + float(prob)
        total = sum(found.values())
        return {team: prob / total for team, prob in found.items()}

    def streets(self, teams: Sequence[int], place: int) -> dict[int, float]:
        """How likely he goes to each place, after these joint moves."""
        free = free_places(self.graph, teams[-1], place)
        likely = self.flows.get((*teams, place), np.ones(len(free)))
        if len(teams) == self.plans.shape[1] and self.later is not None:
            worth = self.later[[teams[-1] * self.graph.num_places + target for target in free]]
            likely = (worth == worth.max()).astype(np.float64)
        return dict(zip(free, (likely / likely.sum()).tolist(), strict=True))


def free_places(graph: TeamGraph, team: int, place: int) -> list[int]:
    """Where he can go; nothing if he is caught or stuck."""
    a = graph.arrays
    taken = a.places[team]
    if place in taken:
        return []
    ways = a.targets[a.starts[place] : a.starts[place + 1]]
    return [int(target) for target in ways if target not in taken]


def _matrix(rows: Sequence[Terms], width: int) -> csr_array:
    """Rows of sums as a sparse matrix; a variable may be named twice in a row."""
    at = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    columns, weights = zip(*chain.from_iterable(rows), strict=True)
    return csr_array((weights, (at, columns)), shape=(len(rows), width))


class _Programme:
    """The linear programme of one stretch, row by row."""

    def __init__(self, graph: TeamGraph, depth: int, later: Floats | None) -> None:
        """``later``: [roots] his value at the next sighting; ``None``: the game ends there."""
        self.graph, self.depth, self.later = graph, depth, later
        self.num_variables = 1
        self.rows: list[Terms] = []
        self.flows: list[Terms] = []
        self.children: dict[int, list[int]] = {}
        self.team_after: dict[int, int] = {}
        self.line: dict[int, tuple[int, ...]] = {0: ()}
        self.choices: list[tuple[int, int, int, int]] = []
        """His choices: the sequence before, his place, and which rows are about where he goes."""
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
                self.flows.append([(variable, -1.0), *((new, 1.0) for new in followers)])
                after += followers
            level = after

    def worth(self, variable: int, place: int, depth: int) -> Terms:
        """What he can make of a sequence when it is his move: a sum over variables."""
        team = self.team_after[variable]
        free = free_places(self.graph, team, place)
        if not free:
            return []
        if depth == 1:
            best = 1.0
            if self.later is not None:
                best = max(self.later[team * self.graph.num_places + target] for target in free)
            return [(variable, best)] if best > 0.0 else []
        most = self._new_variable()
        rows: list[Terms] = []
        for target in free:
            # most >= what follows from going there, whatever detectives do next
            after = [self.worth_at(child, target, depth - 1) for child in self.children[variable]]
            rows.append([(most, -1.0), *(term for terms in after for term in terms)])
        self.choices.append((variable, place, len(self.rows), len(rows)))
        self.rows += rows
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
        # No variable has an upper bound of its own, which would take a part of the dual.
        bounds = np.array([[0.0, np.inf]] * self.num_variables)
        bounds[0] = 1.0
        found = linprog(
            costs,
            A_ub=_matrix(self.rows, self.num_variables) if self.rows else None,
            b_ub=np.zeros(len(self.rows)) if self.rows else None,
            A_eq=_matrix(self.flows, self.num_variables),
            b_eq=np.zeros(len(self.flows)),
            bounds=bounds,
            method="highs",
        )
        assert found.status == 0, found.message
        ends = [variable for variable, line in self.line.items() if len(line) == self.depth]
        probs = np.maximum(found.x[ends], 0.0)
        kept = probs > 1e-9
        plans = np.array([self.line[variable] for variable in ends], np.int32)[kept]
        weights = probs[kept] / probs[kept].sum()
        flows = self._flows(-found.ineqlin.marginals if self.rows else np.zeros(0))
        value = float(max(found.fun, 0.0))
        return Stretch(self.graph, value, plans, weights, flows, self.later)

    def _flows(self, dual: Floats) -> dict[tuple[int, ...], Floats]:
        """His mixture; where he gets nothing, or never comes, none is needed."""
        flows: dict[tuple[int, ...], Floats] = {}
        for variable, place, first, count in self.choices:
            likely = np.maximum(dual[first : first + count], 0.0)
            if likely.sum() > 1e-9:
                flows[*self.line[variable], place] = likely / likely.sum()
        return flows

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


class MixedPlay:
    """Both sides of short games, solved as far as somebody asks.

    One position of each class that the symmetries make is solved, where no catch is certain.
    """

    def __init__(self, graph: TeamGraph) -> None:
        """Find the certain catches; nothing else is solved yet."""
        self.graph = graph
        self.certain = certain_wins(graph)
        self.symmetry = find_symmetry(graph, "exchange")
        self._values: dict[int, MixedValues] = {}
        self._stretches: dict[tuple[int, int], Stretch] = {}

    def is_mixed(self, root: int, left: int) -> bool:
        """Whether detectives cannot be sure of a catch from a sighting with ``left`` rounds."""
        return bool(self.certain.rounds[root] > left)

    def doubtful(self, left: int) -> npt.NDArray[np.int64]:
        """The positions that stand for a class in which no catch is certain."""
        starts = np.flatnonzero(self.graph.is_start & (self.certain.rounds > left))
        found: npt.NDArray[np.int64] = np.unique(self.symmetry.roots[starts]).astype(np.int64)
        return found

    def stretch(self, root: int, left: int) -> Stretch:
        """The solution from a position that stands for its class."""
        if (root, left) not in self._stretches:
            period = self.graph.period
            later = self.values(left - period).values if left > period else None
            self._stretches[root, left] = solve_stretch(self.graph, root, min(left, period), later)
        return self._stretches[root, left]

    def values(self, left: int) -> MixedValues:
        """His chances from every sighting with ``left`` rounds to go."""
        if left not in self._values:
            roots = self.doubtful(left)
            values = np.zeros(self.graph.num_roots)
            values[roots] = [self.stretch(int(root), left).value for root in roots]
            values = values[self.symmetry.roots]
            values[~self.graph.is_start] = 0.0
            self._values[left] = MixedValues(left, values, len(roots))
        return self._values[left]


# ---- what best responses gain --------------------------------------------------------------------


def exploitability(play: MixedPlay, rounds: int) -> tuple[float, float]:
    """What the best fugitive and the best detectives gain against mixed play, each as a share.

    Exact, mean over all starts, in games of so many rounds: the chance of escape that a fugitive
    has who knows the detectives' mixture, less his value, and the same for the other side.

    >>> from envs import make_game
    >>> graph = TeamGraph(make_game("scotland_yard_v0", "reduced", rows=3, columns=3))
    >>> [abs(round(gain, 6)) for gain in exploitability(MixedPlay(graph), 2)]
    [0.0, 0.0]
    """
    graph = play.graph
    escape: Floats | None = None
    hunt: Floats | None = None
    for left in range((rounds - 1) % graph.period + 1, rounds + 1, graph.period):
        found = np.zeros((2, graph.num_roots))
        for root in play.doubtful(left):
            stretch = play.stretch(int(root), left)
            place = int(root) % graph.num_places
            found[0, root] = _best_escape(stretch, (), place, escape)
            found[1, root] = _best_hunt(stretch, int(root) // graph.num_places, {place: 1.0}, hunt)
        escape, hunt = found[:, play.symmetry.roots] * graph.is_start
    values, starts = play.values(rounds).values, graph.is_start
    assert escape is not None
    assert hunt is not None
    return float((escape - values)[starts].mean()), float((values - hunt)[starts].mean())


def _best_escape(
    stretch: Stretch, teams: tuple[int, ...], place: int, later: Floats | None
) -> float:
    """The most that he can have of detectives who draw their plans as in the solution."""
    graph, value = stretch.graph, 0.0
    for team, prob in stretch.joint_moves(teams).items():
        line, worth = (*teams, team), [0.0]
        for target in free_places(graph, team, place):
            if len(line) < stretch.plans.shape[1]:
                worth.append(_best_escape(stretch, line, target, later))
            else:
                worth.append(1.0 if later is None else later[team * graph.num_places + target])
        value += prob * max(worth)
    return value


def _best_hunt(
    stretch: Stretch,
    team: int,
    likely: dict[int, float],
    later: Floats | None,
    line: tuple[int, ...] = (),
) -> float:
    """The least that detectives can allow him if he mixes as in the solution."""
    graph, a = stretch.graph, stretch.graph.arrays
    least = 1.0
    for target in a.team_targets[a.team_starts[team] : a.team_starts[team + 1]].tolist():
        teams, after = (*line, target), dict[int, float]()
        for place, prob in likely.items():
            if free_places(graph, target, place):
                for street, share in stretch.streets(teams, place).items():
                    if share > 0.0:
                        after[street] = after.get(street, 0.0) + prob * share
        if after and len(teams) < stretch.plans.shape[1]:
            value = _best_hunt(stretch, target, after, later, teams)
        else:
            worth = 1.0 if later is None else later[target * graph.num_places + np.array([*after])]
            value = float((np.array([*after.values()]) * worth).sum()) if after else 0.0
        least = min(least, value)
    return least
