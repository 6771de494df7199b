"""Q-learning of both sides of the reduced game, compiled: a million games in a minute.

**Detectives** are one learner who moves all pieces. A state is where they stand, where the fugitive
was last seen and how long ago; an action is a joint move. Nothing else is known to them, and only a
win or a loss is rewarded. In every step the action is chosen, the fugitive replies to where the
detectives stand now, the next state is made, and then the table learns.

**The fugitive** learns against detectives whose plans are fixed. A state is the last sighting, how
long ago that was, and where he is.

Rewards come at the end (``end``), or are learnt backward along the path when the game is over
(``sweep``), or every state learns the discounted result (``result``); ``sighting_reward`` adds a
reward for being near whenever he is seen. With a symmetry, positions that are turned into each
other share their values (``symmetry.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from common.saved import restore, saved_number
from envs.core.compiling import compiled, helper
from envs.core.kernels import RNG
from envs.core.options import Options, option
from envs.core.rng import Words, below, stream, uniform
from experiments.scotland_yard.reduced.graph import GRAPH, TeamGraph, holds
from experiments.scotland_yard.reduced.plans import is_stuck, random_reply
from experiments.scotland_yard.reduced.symmetry import SYMMETRIES, SYMMETRY, find_symmetry

__all__ = ["LEARN_TYPE", "QSettings", "TeamLearner", "answer", "epsilon_now", "update"]

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
            ("num_updates", np.int64),
        ],
    )
)
LEARN_TYPE = from_dtype(LEARN)[::1]
_VALUES = types.float64[:, ::1]
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
        found = np.zeros(1, LEARN)
        s = found[0]
        s.learning_rate, s.discount = self.learning_rate, self.discount
        s.epsilon, s.epsilon_end = self.epsilon, self.epsilon_end
        s.epsilon_games = max(self.epsilon_share * total, 1.0)
        s.has_threshold, s.threshold = self.exploration == "threshold", self.threshold
        s.credit = CREDITS.index(self.credit)
        s.sighting_reward, s.win, s.loss = self.sighting_reward, self.win, self.loss
        return found


@helper
def update(value, learning_rate, reward, discount, best_next):
    """One step of Q-learning; ``best_next`` is 0 at the end of a game.

    >>> round(update(0.2, 0.1, 0.0, 0.9, 0.5), 6), round(update(0.2, 0.1, 1.0, 0.9, 0.0), 6)
    (0.225, 0.28)
    """
    return (1.0 - learning_rate) * value + learning_rate * (reward + discount * best_next)


@helper
def epsilon_now(s):
    """The share of random actions in the present game, falling in a straight line."""
    done = min(s.num_games / s.epsilon_games, 1.0)
    return s.epsilon + done * (s.epsilon_end - s.epsilon)


# ---- detectives ----------------------------------------------------------------------------------


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
        reply = np.int64(random_reply(graph, team, place, rng))
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
        values[row, slot] = update(
            values[row, slot], s.learning_rate, rewards[i], s.discount, best_next
        )


@compiled(
    types.void(
        GRAPH,
        SYMMETRY,
        LEARN_TYPE,
        types.int64,
        types.int64,
        types.int64[::1],
        _INTS,
        _VALUES,
        RNG,
        types.int64[:, ::1],
        types.float64[::1],
        types.float64[:, ::1],
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
                values[row, slot] = update(
                    values[row, slot], s.learning_rate, reward, s.discount, best_next
                )
            else:
                path[length - 1, 0], path[length - 1, 1] = row, slot
                path[length - 1, 2] = team * num_places + seen
                path[length - 1, 3] = length % period
                rewards[length - 1] = reward
            s.num_updates += 1
        if s.credit != AT_END:
            learn_back(graph, symmetry, s, period, length, values, path, rewards)
        curve[number, 0], curve[number, 1], curve[number, 2] = length, total, num_learnt
        s.num_games += 1


@compiled(types.void(GRAPH, SYMMETRY, types.int64[::1], _VALUES, _PLANS))
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


class TeamLearner:
    """Detectives who learn as one.

    >>> from envs import make_game
    >>> from experiments.scotland_yard.reduced.plans import fugitive_anywhere, play_plans
    >>> graph = TeamGraph(make_game("scotland_yard_v0", "reduced", rows=3, columns=3))
    >>> anywhere = fugitive_anywhere(graph)
    >>> learner = TeamLearner(graph, QSettings(), anywhere, total=20_000)
    >>> curve = learner.learn(20_000)
    >>> play_plans(graph, learner.plans(), anywhere).win_rate > 0.95
    True

    Args:
        graph: the board.
        settings: how it learns.
        replies: [roots] the fugitive it learns against.
        total: games that it will play in all.
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
        self.graph, self.settings, self.replies = graph, settings, replies
        self.symmetry = find_symmetry(graph, settings.symmetry)
        self.record: Any = settings.record(total)
        width = int(np.diff(graph.arrays.team_starts).max())
        shape = graph.num_roots * graph.period, width
        self.values = np.full(shape, float(settings.initial))
        self._starts = np.flatnonzero(graph.is_start)
        self._rng: Words = stream(seed, "team learner")
        self._path = np.zeros((graph.rounds, 4), np.int64)

    def learn(self, num_games: int) -> npt.NDArray[np.float64]:
        """Play games: [games, 3] length, sum of rewards, and actions that were chosen as learnt."""
        curve = np.zeros((num_games, 3))
        known = self.graph.arrays, self.symmetry, self.record, self.graph.period, self.graph.rounds
        room = self._rng, self._path, np.zeros(self.graph.rounds)
        _learn_team(*known, self._starts, self.replies, self.values, *room, curve)
        return curve

    def plans(self) -> npt.NDArray[np.int32]:
        """What the table says now, without exploring: [roots, period]."""
        plans = np.full((self.graph.num_roots, self.graph.period), -1, np.int32)
        known = self.graph.arrays, self.symmetry, self._starts
        _greedy_plans(*known, self.values, plans)
        return plans

    def state_dict(self) -> dict[str, Any]:
        """Everything that learning has changed."""
        return {
            "values": self.values.copy(),
            "rng": self._rng.copy(),
            "num_games": int(self.record["num_games"][0]),
            "num_updates": int(self.record["num_updates"][0]),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Become the learner that ``state_dict`` was taken from."""
        restore({"values": self.values, "rng": self._rng}, state)
        for name in ("num_games", "num_updates"):
            self.record[name] = saved_number(state, name)
