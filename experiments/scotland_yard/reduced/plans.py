"""What detectives do from one sighting to the next, as a table; games by it, and the best response.

Between two sightings detectives learn nothing but that he is not caught yet. So whatever they do
without chance is a *plan*: one joint move after another until he is seen again, fixed by where the
pieces stood when he was seen. A table of plans, ``[roots, period]``, is a whole strategy: that of a
search, of a solver, of a table that was learnt. A fugitive who sees everything and draws no lots is
a table as well, ``[roots]``.

The best response is to one table of plans or several; with several, detectives draw one at every
sighting, each as likely as the others. The fugitive sees their moves, so he knows which of the
plans they can still be following. Backward from the last round: from every position, the most that
he can have of escaping, and among equals of the rounds he survives. Against one table that is a
certainty: what he gets against it is what a person gets who has learnt it by heart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import types

from common.errors import OptionError
from envs.core.compiling import compiled, helper
from envs.core.kernels import RNG
from envs.core.rng import below, stream
from experiments.scotland_yard.reduced.graph import GRAPH, TeamGraph, holds

CAUGHT, BLOCKED, ESCAPED = range(3)
ANYWHERE = -2
"""In a fugitive's table: he moves at random."""

_PLANS = types.int32[:, ::1]
_OUT = types.int32[:, ::1]


@dataclass(frozen=True)
class Games:
    """The results of games, one from every start."""

    starts: npt.NDArray[np.int64]
    """[games] the root each began from."""
    rounds: npt.NDArray[np.int32]
    """[games] the round in which it ended."""
    reasons: npt.NDArray[np.int32]
    """[games] 0: caught, 1: blocked, 2: escaped."""
    places: npt.NDArray[np.int32]
    """[games] where the fugitive was at the end."""

    @property
    def is_won(self) -> npt.NDArray[np.bool_]:
        """[games] whether the detectives won."""
        won: npt.NDArray[np.bool_] = self.reasons != ESCAPED
        return won

    @property
    def win_rate(self) -> float:
        """Share of games that the detectives won."""
        return float(self.is_won.mean())

    @property
    def mean_length(self) -> float:
        """Mean rounds of the games that the detectives won."""
        return float(self.rounds[self.is_won].mean()) if self.is_won.any() else float("nan")


@helper
def random_street(graph, team, place, rng):
    """Any street of the fugitive's that is free, or -1."""
    chosen, num_free = -1, 0
    for at in range(graph.starts[place], graph.starts[place + 1]):
        if not holds(graph.masks[team], graph.targets[at]):
            num_free += 1
            if below(rng, num_free) == 0:
                chosen = at
    return chosen


@helper
def is_stuck(graph, team, place):
    """Whether the fugitive has no free neighbour."""
    return graph.near[place] & ~graph.masks[team] == np.uint64(0)


@compiled(types.void(GRAPH, types.int64[::1], types.int64, _PLANS, types.int32[::1], RNG, _OUT))
def _play(graph, starts, rounds, plans, replies, rng, out):
    num_places, period = graph.near.size, plans.shape[1]
    for i in range(starts.size):
        team, place = starts[i] // num_places, starts[i] % num_places
        root = starts[i]
        out[i, 0], out[i, 1], out[i, 2] = rounds, ESCAPED, place
        for number in range(rounds):
            if number % period == 0:
                root = team * num_places + place
            team = plans[root, number % period]
            if holds(graph.masks[team], place):
                out[i, 0], out[i, 1], out[i, 2] = number + 1, CAUGHT, place
                break
            if is_stuck(graph, team, place):
                out[i, 0], out[i, 1], out[i, 2] = number + 1, BLOCKED, place
                break
            reply = replies[team * num_places + place]
            if reply < 0:
                reply = graph.targets[random_street(graph, team, place, rng)]
            place = reply
            out[i, 2] = place


def play_plans(
    graph: TeamGraph,
    plans: npt.NDArray[np.int32],
    replies: npt.NDArray[np.int32],
    seed: int = 0,
) -> Games:
    """Play a table of plans against a table of replies, once from every start.

    Args:
        graph: the board.
        plans: [roots, period] teams.
        replies: [roots] places, or ``ANYWHERE``.
        seed: of a fugitive who moves at random.
    """
    starts = np.flatnonzero(graph.is_start)
    out = np.zeros((len(starts), 3), np.int32)
    _play(graph.arrays, starts, graph.rounds, plans, replies, stream(seed, "fugitive"), out)
    return Games(starts, *out.T)


def fugitive_anywhere(graph: TeamGraph) -> npt.NDArray[np.int32]:
    """The table of a fugitive who moves at random."""
    return np.full(graph.num_roots, ANYWHERE, np.int32)


MOST_TABLES = 60
PER_ROUND = 1e-6
"""What a round survived counts next to an escape: enough to choose among equals."""

_TABLES = types.int32[:, :, ::1]
_VALUES = types.float64[::1]
_INT = types.int64


@compiled(types.float64(GRAPH, _TABLES, _INT, _INT, _INT, _INT, _INT, _VALUES))
def _before_team(graph, tables, root, possible, step, place, left, later):
    """His value when detectives are to move, who follow one of the ``possible`` plans."""
    num_possible = 0
    for k in range(tables.shape[0]):
        num_possible += (possible >> k) & 1
    value, done = 0.0, 0
    for k in range(tables.shape[0]):
        if not (possible >> k) & 1 or (done >> k) & 1:
            continue
        team = np.int64(tables[k, root, step])
        same, num_same = 0, 0
        for other in range(k, tables.shape[0]):
            if (possible >> other) & 1 and tables[other, root, step] == team:
                same |= 1 << other
                num_same += 1
        done |= same
        if holds(graph.masks[team], place) or is_stuck(graph, team, place):
            continue
        best = 0.0
        for at in range(graph.starts[place], graph.starts[place + 1]):
            target = np.int64(graph.targets[at])
            if holds(graph.masks[team], target):
                continue
            worth = PER_ROUND
            if left == 1:
                worth += 1.0
            elif step + 1 == tables.shape[2]:
                worth += later[team * graph.near.size + target]
            else:
                worth += _before_team(graph, tables, root, same, step + 1, target, left - 1, later)
            best = max(best, worth)
        value += best * num_same / num_possible
    return value


@compiled(types.void(GRAPH, _TABLES, types.int64[::1], _INT, _VALUES, _VALUES))
def _back_up(graph, tables, roots, left, later, values):
    """Fill the values of all sightings with ``left`` rounds to go."""
    everything = (1 << tables.shape[0]) - 1
    for i in range(roots.size):
        place = roots[i] % graph.near.size
        values[roots[i]] = _before_team(graph, tables, roots[i], everything, 0, place, left, later)


@compiled(types.void(GRAPH, _TABLES, _INT, _INT, _INT, _INT, _INT, _INT, _VALUES, _VALUES))
def _rate_replies(graph, tables, root, possible, step, team, place, left, later, worth):
    """What each of his moves is worth after the joint move of number ``step``; -1: not legal."""
    worth[:] = -1.0
    for at in range(graph.starts[place], graph.starts[place + 1]):
        target = np.int64(graph.targets[at])
        if holds(graph.masks[team], target):
            continue
        if left == 1:
            worth[target] = 1.0
        elif step + 1 == tables.shape[2]:
            worth[target] = later[team * graph.near.size + target]
        else:
            worth[target] = _before_team(
                graph, tables, root, possible, step + 1, target, left - 1, later
            )


class BestFugitive:
    """The fugitive who knows the plans.

    >>> from envs import make_game
    >>> from experiments.scotland_yard.reduced.certain import certain_wins
    >>> graph = TeamGraph(make_game("scotland_yard_v0", "reduced", rows=3, columns=3))
    >>> BestFugitive(graph, certain_wins(graph).plans[None]).survival
    0.0

    Args:
        graph: the board.
        tables: [tables, roots, period] plans that detectives draw from.
        rounds: until he escapes; ``None``: as in the game.
    """

    def __init__(
        self, graph: TeamGraph, tables: npt.NDArray[np.int32], rounds: int | None = None
    ) -> None:
        """Work backward from the last round."""
        if not 1 <= len(tables) <= MOST_TABLES:
            raise OptionError(f"from 1 to {MOST_TABLES} tables of plans, not {len(tables)}")
        self.graph = graph
        self.tables = np.ascontiguousarray(tables, np.int32)
        self.rounds = graph.rounds if rounds is None else rounds
        self._starts = np.flatnonzero(graph.is_start)
        self._values: dict[int, npt.NDArray[np.float64]] = {}
        later = np.zeros(graph.num_roots)
        first = (self.rounds - 1) % graph.period + 1
        for left in range(first, self.rounds + 1, graph.period):
            values = np.zeros(graph.num_roots)
            _back_up(graph.arrays, self.tables, self._starts, left, later, values)
            self._values[left] = later = values

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """[starts] the probability of escape, with ``PER_ROUND`` added for each round survived."""
        return self._values[self.rounds][self._starts]

    @property
    def survival(self) -> float:
        """Share of all starts from which he escapes.

        Exact against one table; against several at most ``PER_ROUND`` times the rounds too high.
        """
        values = np.floor(self.values) if len(self.tables) == 1 else self.values
        return float(values.mean())

    def reply(self, root: int, teams: list[int], place: int, rounds_left: int) -> int:
        """His best move after the detectives' joint moves since the last sighting.

        Args:
            root: the position when he was last seen.
            teams: where detectives stood after each of their moves since then.
            place: where he is.
            rounds_left: with the present one.
        """
        possible, step = 0, len(teams) - 1
        for k in range(len(self.tables)):
            is_same = (self.tables[k, root, : len(teams)] == teams).all()
            possible |= int(is_same) << k
        # Detectives who leave the tables are met as if they went on with the first.
        possible = possible or 1
        at_sighting = rounds_left + step
        later = self._values.get(at_sighting - self.graph.period, np.zeros(self.graph.num_roots))
        worth = np.empty(self.graph.num_places)
        known = self.graph.arrays, self.tables, root, possible, step, teams[-1], place
        _rate_replies(*known, rounds_left, later, worth)
        return int(np.argmax(worth))
