"""Q-learning of both sides of the reduced game, compiled: a million games in a minute.

**Detectives** are one learner who moves all pieces. A state is where they stand, where the fugitive
was last seen and how long ago; an action is a joint move. Nothing else is known to them, and only a
win or a loss is rewarded. In every step the action is chosen, the fugitive replies to where the
detectives stand now, the next state is made, and then the table learns.

**Detectives one by one** share one table: a state is where the one to move stands, where the others
stand, where the fugitive was last seen and how long ago; an action is one of his own streets. The
first detective moves first, and the others see it: their state has his new place. All learn from
the same rewards.

**The fugitive** learns against detectives whose plans are fixed. A state is the last sighting, how
long ago that was and where he is, so what detectives will do follows from it; an action is one of
his streets.

Rewards come at the end (``end``), or are learnt backward along the path when the game is over
(``sweep``), or every state learns the discounted result (``result``); ``sighting_reward`` adds a
reward for being near whenever he is seen. With a symmetry, positions that are turned into each
other share their values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from envs.core.compiling import compiled, helper
from envs.core.kernels import INT, RNG, TOTALS
from envs.core.options import Options, option
from envs.core.rng import Words, below, stream, uniform
from experiments.scotland_yard.reduced.graph import (
    GRAPH,
    SYMMETRIES,
    SYMMETRY,
    Table,
    TeamGraph,
    find_symmetry,
    holds,
)
from experiments.scotland_yard.reduced.plans import (
    BLOCKED,
    CAUGHT,
    ESCAPED,
    Games,
    is_stuck,
    random_street,
)

CREDITS = ("end", "sweep", "result")
AT_END, SWEEP, RESULT = range(3)
EXPLORATIONS = ("epsilon", "threshold")

LEARN = np.dtype(
    (
        np.record,
        [
            ("learning_rate", np.float64),
            ("discount", np.float64),
            ("epsilon", np.float64),
            ("epsilon_end", np.float64),
            ("epsilon_games", np.float64),
            ("has_threshold", np.int64),
            ("threshold", np.float64),
            ("credit", np.int64),
            ("sighting_reward", np.float64),
            ("win", np.float64),
            ("loss", np.float64),
            ("num_games", np.int64),  # played so far
        ],
    )
)
LEARN_TYPE = from_dtype(LEARN)[::1]
_VALUES, _STARTS, _PATH = types.float64[:, ::1], types.int64[::1], types.int64[:, ::1]
_INTS, _PLANS = types.int32[::1], types.int32[:, ::1]


class QSettings(Options):
    """Settings of a Q-learner of the reduced game; the thesis gives none of the numbers."""

    learning_rate: float = option(0.1, low=0.0, high=1.0, help="alpha")
    discount: float = option(0.95, low=0.0, high=1.0, help="gamma")
    epsilon: float = option(1.0, low=0.0, high=1.0, help="share of random actions at first")
    epsilon_end: float = option(0.05, low=0.0, high=1.0, help="and at last")
    epsilon_share: float = option(0.8, low=0.0, high=1.0, help="share of the games until then")
    exploration: str = option(
        "epsilon",
        choices=EXPLORATIONS,
        help="threshold: random unless the values of all legal actions add up to more than theta",
    )
    threshold: float = option(0.0, low=-1e6, high=1e6, help="theta")
    initial: float = option(0.0, low=-1e6, high=1e6, help="values at first; high is optimistic")
    credit: str = option("end", choices=CREDITS, help="how the result reaches earlier actions")
    sighting_reward: float = option(
        0.0, low=0.0, high=1e3, help="taken off at each sighting for a step of distance"
    )
    win: float = option(1.0, low=-1e6, high=1e6, help="reward of a win")
    loss: float = option(-1.0, low=-1e6, high=1e6, help="reward of a loss")
    symmetry: str = option("none", choices=SYMMETRIES, help="positions that share their values")

    def record(self, total: int) -> Any:
        """The settings as compiled code reads them; ``total`` games are to come."""
        return self.as_record(
            LEARN,
            epsilon_games=max(self.epsilon_share * total, 1.0),
            has_threshold=self.exploration == "threshold",
        )


@helper
def update(s, values, row, slot, reward, best_next):
    """One step of Q-learning; ``best_next`` is 0 at the end of a game."""
    wanted = reward + s.discount * best_next
    values[row, slot] = (1.0 - s.learning_rate) * values[row, slot] + s.learning_rate * wanted


@helper
def epsilon_now(s):
    """The share of random actions in the present game, falling in a straight line."""
    done = min(s.num_games / s.epsilon_games, 1.0)
    return s.epsilon + done * (s.epsilon_end - s.epsilon)


# ---- detectives who learn as one -----------------------------------------------------------------


@helper
def best_slot(graph, symmetry, values, team, root, row):
    """The joint move with the highest value: ``(which, its value, sum over all)``."""
    element = symmetry.elements[root]
    first, last = graph.team_starts[team], graph.team_starts[team + 1]
    best, most, total = first, -1e300, 0.0
    for edge in range(first, last):
        value = values[row, symmetry.slots[element, edge]]
        total += value
        if value > most:
            best, most = edge, value
    return best, most, total


@helper
def row_of(symmetry, period, root, unseen):
    """The row of a state in the table."""
    return symmetry.roots[root] * period + unseen


@helper
def nearness(graph, team, place):
    """Steps of the nearest detective, and half of the others'."""
    total, least = 0, 1 << 30
    for d in range(graph.places.shape[1]):
        steps = graph.distances[graph.places[team, d], place]
        total += steps
        least = min(least, steps)
    return least + 0.5 * (total - least)


@helper
def answer(graph, s, period, rounds, team, place, seen, length, replies, rng):
    """What follows a joint move: his place, where he was last seen, the reward, if it is over."""
    if holds(graph.masks[team], place) or is_stuck(graph, team, place):
        return place, seen, s.win, True
    if length == rounds:
        return place, seen, s.loss, True
    reply = np.int64(replies[team * graph.near.size + place])
    if reply < 0:
        reply = np.int64(graph.targets[random_street(graph, team, place, rng)])
    if length % period == 0:
        return reply, reply, -s.sighting_reward * nearness(graph, team, reply), False
    return reply, seen, 0.0, False


@helper
def learn_back(graph, symmetry, s, period, length, values, path, rewards):
    """Learn from the last action of a game to its first."""
    result = 0.0
    num_places = graph.near.size
    for i in range(length - 1, -1, -1):
        row, slot = path[i, 0], path[i, 1]
        result = rewards[i] + s.discount * result
        if s.credit == RESULT:
            values[row, slot] += s.learning_rate * (result - values[row, slot])
            continue
        best_next = 0.0
        if i < length - 1:
            team, root = path[i, 2] // num_places, path[i, 2]
            new_row = row_of(symmetry, period, root, path[i, 3])
            _, best_next, _ = best_slot(graph, symmetry, values, team, root, new_row)
        update(s, values, row, slot, rewards[i], best_next)


@compiled(
    types.void(
        GRAPH, SYMMETRY, LEARN_TYPE, INT, INT, _STARTS, _INTS, _VALUES, RNG, _PATH, TOTALS, _VALUES
    )
)
def _learn_team(
    graph, symmetry, learn, period, rounds, starts, replies, values, rng, path, rewards, curve
):
    """Play and learn a game for every row of ``curve``: its length, reward, learnt actions."""
    s = learn[0]
    num_places = graph.near.size
    for number in range(curve.shape[0]):
        start = starts[below(rng, starts.size)]
        team, place = start // num_places, start % num_places
        seen, epsilon = place, epsilon_now(s)
        total, num_learnt, length, is_over = 0.0, 0, 0, False
        while not is_over:
            unseen = length % period
            root = team * num_places + seen
            row = row_of(symmetry, period, root, unseen)
            edge, _, everything = best_slot(graph, symmetry, values, team, root, row)
            is_known = not s.has_threshold or everything > s.threshold
            if is_known and uniform(rng) >= epsilon:
                num_learnt += 1
            else:
                first = graph.team_starts[team]
                edge = first + below(rng, graph.team_starts[team + 1] - first)
            slot = symmetry.slots[symmetry.elements[root], edge]
            team = graph.team_targets[edge]
            length += 1
            best_next = 0.0
            place, seen, reward, is_over = answer(
                graph, s, period, rounds, team, place, seen, length, replies, rng
            )
            if not is_over:
                new_root = team * num_places + seen
                new_row = row_of(symmetry, period, new_root, length % period)
                _, best_next, _ = best_slot(graph, symmetry, values, team, new_root, new_row)
            total += reward
            if s.credit == AT_END:
                update(s, values, row, slot, reward, best_next)
            else:
                path[length - 1, 0], path[length - 1, 1] = row, slot
                path[length - 1, 2] = team * num_places + seen
                path[length - 1, 3] = length % period
                rewards[length - 1] = reward
        if s.credit != AT_END:
            learn_back(graph, symmetry, s, period, length, values, path, rewards)
        curve[number, 0], curve[number, 1], curve[number, 2] = length, total, num_learnt
        s.num_games += 1


@compiled(types.void(GRAPH, SYMMETRY, _STARTS, _VALUES, _PLANS))
def _greedy_plans(graph, symmetry, roots, values, plans):
    num_places, period = graph.near.size, plans.shape[1]
    for i in range(roots.size):
        team, seen = roots[i] // num_places, roots[i] % num_places
        for step in range(period):
            root = team * num_places + seen
            row = row_of(symmetry, period, root, step)
            edge, _, _ = best_slot(graph, symmetry, values, team, root, row)
            team = graph.team_targets[edge]
            plans[roots[i], step] = team


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


@compiled(types.void(GRAPH, LEARN_TYPE, INT, INT, _STARTS, _INTS, _VALUES, RNG, _PATH, _VALUES))
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
                    update(s, values, last[d, 0], last[d, 1], reward, most)
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
            update(s, values, last[d, 0], last[d, 1], reward, 0.0)
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


@compiled(types.void(GRAPH, LEARN_TYPE, INT, _STARTS, _PLANS, _VALUES, RNG, _VALUES))
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
                update(s, values, last_row, last_slot, 0.0, most)
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
            update(s, values, last_row, last_slot, reward, 0.0)
        curve[number, 0], curve[number, 1], curve[number, 2] = length, reward, num_learnt
        s.num_games += 1


@compiled(types.void(GRAPH, INT, _STARTS, _PLANS, _VALUES, _PLANS))
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


# ---- the learners --------------------------------------------------------------------------------


class _Learner(ABC):
    """A table of values that games fill.

    Args:
        graph: the board.
        settings: how it learns.
        met: what the other side does: a fugitive's replies, or the detectives' plans.
        total: games that it will play in all.
        seed: of starts and exploration.
    """

    name: str
    """Of its chance."""

    def __init__(
        self, graph: TeamGraph, settings: QSettings, met: Table, total: int, seed: int = 0
    ) -> None:
        """Begin with nothing learnt."""
        self.graph, self.settings, self.met = graph, settings, met
        self.record = settings.record(total)
        self.values = np.full(self._shape(), float(settings.initial))
        self._starts = np.flatnonzero(graph.is_start)
        self._rng: Words = stream(seed, self.name)

    def learn(self, num_games: int) -> npt.NDArray[np.float64]:
        """Play games: [games, 3] length, sum of rewards, and actions that were chosen as learnt."""
        curve = np.zeros((num_games, 3))
        self._learn(curve)
        return curve

    @abstractmethod
    def _shape(self) -> tuple[int, int]:
        """States and actions of the table."""

    @abstractmethod
    def _learn(self, curve: npt.NDArray[np.float64]) -> None:
        """Play and learn a game for every row of the curve."""


class TeamLearner(_Learner):
    """Detectives who learn as one.

    >>> from envs import make_game
    >>> from experiments.scotland_yard.reduced.plans import fugitive_anywhere, play_plans
    >>> graph = TeamGraph(make_game("scotland_yard_v0", "reduced", rows=3, columns=3))
    >>> anywhere = fugitive_anywhere(graph)
    >>> learner = TeamLearner(graph, QSettings(), anywhere, total=20_000)
    >>> curve = learner.learn(20_000)
    >>> play_plans(graph, learner.plans(), anywhere).win_rate > 0.95
    True
    """

    name = "team learner"

    def _shape(self) -> tuple[int, int]:
        self.symmetry = find_symmetry(self.graph, self.settings.symmetry)
        width = int(np.diff(self.graph.arrays.team_starts).max())
        return self.graph.num_roots * self.graph.period, width

    def _learn(self, curve: npt.NDArray[np.float64]) -> None:
        graph = self.graph
        known = graph.arrays, self.symmetry, self.record, graph.period, graph.rounds
        room = self._rng, np.zeros((graph.rounds, 4), np.int64), np.zeros(graph.rounds)
        _learn_team(*known, self._starts, self.met, self.values, *room, curve)

    def plans(self) -> Table:
        """What the table says now, without exploring: [roots, period]."""
        plans = np.full((self.graph.num_roots, self.graph.period), -1, np.int32)
        known = self.graph.arrays, self.symmetry, self._starts
        _greedy_plans(*known, self.values, plans)
        return plans


class PieceLearner(_Learner):
    """Detectives who learn one by one, from one table; without a symmetry, credit at the end."""

    name = "piece learner"

    def _shape(self) -> tuple[int, int]:
        width = int(np.diff(self.graph.arrays.starts).max())
        return self.graph.num_roots * self.graph.period, width

    def _learn(self, curve: npt.NDArray[np.float64]) -> None:
        known = self.graph.arrays, self.record, self.graph.period, self.graph.rounds, self._starts
        last = np.zeros((self.graph.num_detectives, 2), np.int64)
        _learn_pieces(*known, self.met, self.values, self._rng, last, curve)

    def plans(self) -> Table:
        """What the table says now, without exploring: [roots, period]."""
        plans = np.full((self.graph.num_roots, self.graph.period), -1, np.int32)
        _piece_plans(self.graph.arrays, self._starts, self.values, plans)
        return plans


class FugitiveLearner(_Learner):
    """A fugitive who learns against detectives with fixed plans."""

    name = "fugitive learner"

    def _shape(self) -> tuple[int, int]:
        width = int(np.diff(self.graph.arrays.starts).max())
        return self.graph.num_roots * self.graph.period * self.graph.num_places, width

    def _learn(self, curve: npt.NDArray[np.float64]) -> None:
        known = self.graph.arrays, self.record, self.graph.rounds, self._starts
        _learn_fugitive(*known, self.met, self.values, self._rng, curve)

    def play(self, plans: Table | None = None) -> Games:
        """One game from every start, as learnt, against the same detectives or others."""
        out = np.zeros((len(self._starts), 3), np.int32)
        chosen = self.met if plans is None else plans
        known = self.graph.arrays, self.graph.rounds, self._starts, chosen
        _play_learnt(*known, self.values, out)
        return Games(self._starts, *out.T)
