"""What detectives do from one sighting to the next, as a table, and games that are played by it.

Between two sightings detectives learn nothing but that he is not caught yet. So whatever they do
without chance is a *plan*: one joint move after another until he is seen again, fixed by where the
pieces stood when he was seen. A table of plans, ``[roots, period]``, is a whole strategy: that of a
search, of a solver, of a table that was learnt. A fugitive who sees everything and draws no lots is
a table as well, ``[roots]``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import types

from envs.core.compiling import compiled, helper
from envs.core.kernels import RNG
from envs.core.rng import below, stream
from experiments.scotland_yard.reduced.graph import GRAPH, TeamGraph, holds

__all__ = ["ANYWHERE", "Games", "fugitive_anywhere", "play_plans"]

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
def random_reply(graph, team, place, rng):
    """A random legal move of the fugitive, or -1."""
    chosen, num_moves = -1, 0
    for at in range(graph.starts[place], graph.starts[place + 1]):
        if not holds(graph.masks[team], graph.targets[at]):
            num_moves += 1
            if below(rng, num_moves) == 0:
                chosen = graph.targets[at]
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
            place = reply if reply >= 0 else random_reply(graph, team, place, rng)
            out[i, 2] = place


def play_plans(
    graph: TeamGraph,
    plans: npt.NDArray[np.int32],
    replies: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64] | None = None,
    rounds: int | None = None,
    seed: int = 0,
) -> Games:
    """Play a table of plans against a table of replies, once from every start.

    Args:
        graph: the board.
        plans: [roots, period] teams.
        replies: [roots] places, or ``ANYWHERE``.
        starts: roots; ``None``: all of them.
        rounds: until he escapes; ``None``: as in the game.
        seed: of a fugitive who moves at random.
    """
    chosen = (
        np.flatnonzero(graph.is_start) if starts is None else np.ascontiguousarray(starts, np.int64)
    )
    out = np.zeros((len(chosen), 3), np.int32)
    limit = graph.rounds if rounds is None else rounds
    _play(graph.arrays, chosen, limit, plans, replies, stream(seed, "fugitive"), out)
    return Games(chosen, out[:, 0], out[:, 1], out[:, 2])


def fugitive_anywhere(graph: TeamGraph) -> npt.NDArray[np.int32]:
    """The table of a fugitive who moves at random."""
    return np.full(graph.num_roots, ANYWHERE, np.int32)
