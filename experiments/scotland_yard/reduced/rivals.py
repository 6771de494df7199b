"""The other learners of the reduced game: a fugitive, and detectives who learn one by one.

**The fugitive** learns against detectives whose plans are fixed. A state is the last sighting, how
long ago that was and where he is, so what detectives will do follows from it; an action is one of
his streets.

**Detectives one by one** share one table: a state is where the one to move stands, where the others
stand, where the fugitive was last seen and how long ago; an action is one of his own streets. The
first detective moves first, and the others see it: their state has his new place. All learn from
the same rewards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from envs.core.compiling import compiled, helper
from envs.core.kernels import RNG
from envs.core.rng import Words, below, stream, uniform
from experiments.scotland_yard.reduced.graph import GRAPH, TeamGraph, holds
from experiments.scotland_yard.reduced.learning import (
    LEARN_TYPE,
    QSettings,
    answer,
    epsilon_now,
    update,
)
from experiments.scotland_yard.reduced.plans import (
    BLOCKED,
    CAUGHT,
    ESCAPED,
    Games,
    is_stuck,
)

__all__ = ["FugitiveLearner", "PieceLearner"]

_VALUES = types.float64[:, ::1]
_PLANS, _STARTS = types.int32[:, ::1], types.int64[::1]


# ---- the fugitive --------------------------------------------------------------------------------


@helper
def best_street(graph, values, row, team, place):
    """His best street that is free: ``(which, its value)``; there is one."""
    best, most = -1, -1e300
    for at in range(graph.starts[place], graph.starts[place + 1]):
        value = values[row, at - graph.starts[place]]
        if value > most and not holds(graph.masks[team], graph.targets[at]):
            best, most = at, value
    return best, most


@helper
def random_street(graph, team, place, rng):
    """Any street of his that is free."""
    chosen, num_free = -1, 0
    for at in range(graph.starts[place], graph.starts[place + 1]):
        if not holds(graph.masks[team], graph.targets[at]):
            num_free += 1
            if below(rng, num_free) == 0:
                chosen = at
    return chosen


@compiled(
    types.void(GRAPH, LEARN_TYPE, types.int64, _STARTS, _PLANS, _VALUES, RNG, types.float64[:, ::1])
)
def _learn_fugitive(graph, learn, rounds, starts, plans, values, rng, curve):
    s = learn[0]
    num_places, period = graph.near.size, plans.shape[1]
    for number in range(curve.shape[0]):
        root = starts[below(rng, starts.size)]
        place, epsilon = root % num_places, epsilon_now(s)
        last_row, last_slot, length, num_learnt = -1, 0, 0, 0
        while True:
            unseen = length % period
            team = plans[root, unseen]
            length += 1
            if holds(graph.masks[team], place) or is_stuck(graph, team, place):
                reward = s.loss
                break
            row = (root * period + unseen) * num_places + place
            at, most = best_street(graph, values, row, team, place)
            if last_row >= 0:
                values[last_row, last_slot] = update(
                    values[last_row, last_slot], s.learning_rate, 0.0, s.discount, most
                )
                s.num_updates += 1
            if uniform(rng) < epsilon:
                at = random_street(graph, team, place, rng)
            else:
                num_learnt += 1
            last_row, last_slot = row, at - graph.starts[place]
            place = graph.targets[at]
            if length == rounds:
                reward = s.win
                break
            if length % period == 0:
                root = team * num_places + place
        if last_row >= 0:
            values[last_row, last_slot] = update(
                values[last_row, last_slot], s.learning_rate, reward, s.discount, 0.0
            )
            s.num_updates += 1
        curve[number, 0], curve[number, 1], curve[number, 2] = length, reward, num_learnt
        s.num_games += 1


@compiled(types.void(GRAPH, types.int64, _STARTS, _PLANS, _VALUES, types.int32[:, ::1]))
def _play_learnt(graph, rounds, starts, plans, values, out):
    num_places, period = graph.near.size, plans.shape[1]
    for i in range(starts.size):
        root = starts[i]
        place = root % num_places
        out[i, 0], out[i, 1] = rounds, ESCAPED
        for number in range(rounds):
            unseen = number % period
            team = plans[root, unseen]
            if holds(graph.masks[team], place) or is_stuck(graph, team, place):
                is_caught = holds(graph.masks[team], place)
                out[i, 0], out[i, 1] = number + 1, CAUGHT if is_caught else BLOCKED
                break
            row = (root * period + unseen) * num_places + place
            at, _ = best_street(graph, values, row, team, place)
            place = graph.targets[at]
            if unseen == period - 1:
                root = team * num_places + place
        out[i, 2] = place


class FugitiveLearner:
    """A fugitive who learns against detectives with fixed plans.

    Args:
        graph: the board.
        settings: how he learns.
        plans: [roots, period] the detectives.
        total: games that he will play in all.
        seed: of starts and exploration.
    """

    def __init__(
        self,
        graph: TeamGraph,
        settings: QSettings,
        plans: npt.NDArray[np.int32],
        total: int,
        seed: int = 0,
    ) -> None:
        """Begin with nothing learnt."""
        self.graph, self.plans = graph, plans
        self.record: Any = settings.record(total)
        width = int(np.diff(graph.arrays.starts).max())
        num_rows = graph.num_roots * graph.period * graph.num_places
        self.values = np.full((num_rows, width), float(settings.initial))
        self._starts = np.flatnonzero(graph.is_start)
        self._rng: Words = stream(seed, "fugitive learner")

    def learn(self, num_games: int) -> npt.NDArray[np.float64]:
        """Play games: [games, 3] length, reward, and moves that were chosen as learnt."""
        curve = np.zeros((num_games, 3))
        known = self.graph.arrays, self.record, self.graph.rounds, self._starts
        _learn_fugitive(*known, self.plans, self.values, self._rng, curve)
        return curve

    def play(self, plans: npt.NDArray[np.int32] | None = None) -> Games:
        """One game from every start, as learnt, against the same detectives or others."""
        out = np.zeros((len(self._starts), 3), np.int32)
        chosen = self.plans if plans is None else plans
        known = self.graph.arrays, self.graph.rounds, self._starts, chosen
        _play_learnt(*known, self.values, out)
        return Games(self._starts, out[:, 0], out[:, 1], out[:, 2])


# ---- detectives one by one -----------------------------------------------------------------------


@helper
def piece_row(graph, team, d, seen, unseen, period):
    """The row of the detective to move: his own place, then the others' in order."""
    num_places = graph.near.size
    number = np.int64(graph.places[team, d])
    for other in range(graph.places.shape[1]):
        if other != d:
            number = number * num_places + graph.places[team, other]
    return (number * num_places + seen) * period + unseen


@helper
def put_piece(graph, team, d, place):
    """The team with one detective put elsewhere; two may share a place for a moment."""
    number = np.int64(0)
    for other in range(graph.places.shape[1]):
        here = place if other == d else graph.places[team, other]
        number = number * graph.near.size + here
    return number


@helper
def allows(graph, start, team, d, place):
    """Whether some joint move from ``start`` begins like ``team`` and has ``d`` on ``place``."""
    for edge in range(graph.team_starts[start], graph.team_starts[start + 1]):
        target = graph.team_targets[edge]
        is_same = graph.places[target, d] == place
        for earlier in range(d):
            is_same &= graph.places[target, earlier] == graph.places[team, earlier]
        if is_same:
            return True
    return False


@helper
def best_piece_move(graph, values, row, start, team, d):
    """The best street of the detective to move: ``(which, its value)``."""
    place = graph.places[team, d]
    best, most = -1, -1e300
    for at in range(graph.starts[place], graph.starts[place + 1]):
        value = values[row, at - graph.starts[place]]
        if value > most and allows(graph, start, team, d, graph.targets[at]):
            best, most = at, value
    return best, most


@helper
def random_piece_move(graph, start, team, d, rng):
    """Any street that the rules allow him."""
    place = graph.places[team, d]
    chosen, num_free = -1, 0
    for at in range(graph.starts[place], graph.starts[place + 1]):
        if allows(graph, start, team, d, graph.targets[at]):
            num_free += 1
            if below(rng, num_free) == 0:
                chosen = at
    return chosen


@compiled(
    types.void(
        GRAPH,
        LEARN_TYPE,
        types.int64,
        types.int64,
        _STARTS,
        types.int32[::1],
        _VALUES,
        RNG,
        types.int64[:, ::1],
        types.float64[:, ::1],
    )
)
def _learn_pieces(graph, learn, period, rounds, starts, replies, values, rng, last, curve):
    """``last``: [detectives, 2] row and slot of everybody's last action."""
    s = learn[0]
    num_places, num_pieces = graph.near.size, graph.places.shape[1]
    for number in range(curve.shape[0]):
        first = starts[below(rng, starts.size)]
        team, place = first // num_places, first % num_places
        seen, epsilon, length, total = place, epsilon_now(s), 0, 0.0
        reward = 0.0
        is_over = False
        while not is_over:
            start = team
            for d in range(num_pieces):
                row = piece_row(graph, team, d, seen, length % period, period)
                at, most = best_piece_move(graph, values, row, start, team, d)
                if length > 0:
                    value = values[last[d, 0], last[d, 1]]
                    values[last[d, 0], last[d, 1]] = update(
                        value, s.learning_rate, reward, s.discount, most
                    )
                    s.num_updates += 1
                if uniform(rng) < epsilon:
                    at = random_piece_move(graph, start, team, d, rng)
                last[d, 0], last[d, 1] = row, at - graph.starts[graph.places[team, d]]
                team = put_piece(graph, team, d, graph.targets[at])
            length += 1
            place, seen, reward, is_over = answer(
                graph, s, period, rounds, team, place, seen, length, replies, rng
            )
            total += reward
        for d in range(num_pieces):
            values[last[d, 0], last[d, 1]] = update(
                values[last[d, 0], last[d, 1]], s.learning_rate, reward, s.discount, 0.0
            )
        curve[number, 0], curve[number, 1] = length, total
        s.num_games += 1


@compiled(types.void(GRAPH, _STARTS, _VALUES, _PLANS))
def _piece_plans(graph, roots, values, plans):
    num_places, period = graph.near.size, plans.shape[1]
    for i in range(roots.size):
        team, seen = roots[i] // num_places, roots[i] % num_places
        for step in range(period):
            start = team
            for d in range(graph.places.shape[1]):
                row = piece_row(graph, team, d, seen, step, period)
                at, _ = best_piece_move(graph, values, row, start, team, d)
                team = put_piece(graph, team, d, graph.targets[at])
            plans[roots[i], step] = team


class PieceLearner:
    """Detectives who learn one by one, from one table.

    Args:
        graph: the board.
        settings: how they learn; without a symmetry and with credit at the end.
        replies: [roots] the fugitive they learn against.
        total: games that they will play in all.
        seed: of starts and exploration.
    """

    def __init__(
        self,
        graph: TeamGraph,
        settings: QSettings,
        replies: npt.NDArray[np.int32],
        total: int,
        seed: int = 0,
    ) -> None:
        """Begin with nothing learnt."""
        self.graph, self.replies = graph, replies
        self.record: Any = settings.record(total)
        width = int(np.diff(graph.arrays.starts).max())
        self.values = np.full((graph.num_roots * graph.period, width), float(settings.initial))
        self._starts = np.flatnonzero(graph.is_start)
        self._rng: Words = stream(seed, "piece learner")

    def learn(self, num_games: int) -> npt.NDArray[np.float64]:
        """Play games: [games, 2] length and sum of rewards."""
        curve = np.zeros((num_games, 2))
        known = self.graph.arrays, self.record, self.graph.period, self.graph.rounds, self._starts
        last = np.zeros((self.graph.num_detectives, 2), np.int64)
        _learn_pieces(*known, self.replies, self.values, self._rng, last, curve)
        return curve

    def plans(self) -> npt.NDArray[np.int32]:
        """What the table says now, without exploring: [roots, period]."""
        plans = np.full((self.graph.num_roots, self.graph.period), -1, np.int32)
        _piece_plans(self.graph.arrays, self._starts, self.values, plans)
        return plans
