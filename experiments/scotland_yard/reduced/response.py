"""The fugitive's best response to detectives whose plans are known.

Detectives are tables of plans, one or several; with several they draw one at every sighting, each
as likely as the others. The fugitive sees their moves, so he knows which of the plans they can
still be following. Backward from the last round: from every position, the most that he can have of
escaping, and among equals of the rounds he survives. Against one table that is a certainty: what he
gets against it is what a person gets who has learnt it by heart.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import types

from common.errors import OptionError
from envs.core.compiling import compiled
from experiments.scotland_yard.reduced.graph import GRAPH, TeamGraph, holds
from experiments.scotland_yard.reduced.plans import is_stuck

__all__ = ["MOST_TABLES", "BestResponse"]

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


class BestResponse:
    """The fugitive who knows the plans.

    >>> from envs import make_game
    >>> from experiments.scotland_yard.reduced.certain import certain_wins
    >>> graph = TeamGraph(make_game("scotland_yard_v0", "reduced", rows=3, columns=3))
    >>> BestResponse(graph, certain_wins(graph).plans[None]).survival
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

    @property
    def rounds_survived(self) -> npt.NDArray[np.float64]:
        """[starts] rounds that he survives against one table."""
        found: npt.NDArray[np.float64] = np.round((self.values % 1.0) / PER_ROUND)
        return found

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
