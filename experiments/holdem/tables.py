"""Tables of mixed players from one set, and what each of them wins there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from common.statistics import Interval, mean_interval
from envs.core.game import Game
from envs.core.rollouts import Rollouts

NUM_ROWS = 2048
Indices = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def draw_tables(
    num_members: int, num_players: int, num_games: int, seed: int, member: int | None = None
) -> Indices:
    """[games, players] who sits where: different members at random, if there are enough.

    With ``member`` that one sits at every table.

    >>> draw_tables(9, 6, 2, seed=0, member=3).shape
    (2, 6)
    """
    rng = np.random.default_rng([seed, num_members, num_players])
    if num_members < num_players:
        seating = rng.integers(0, num_members, (num_games, num_players))
    else:
        order = rng.random((num_games, num_members)).argsort(axis=1)
        seating = order[:, :num_players]
    if member is not None:
        missing = ~(seating == member).any(axis=1)
        seats = rng.integers(0, num_players, num_games)
        seating[missing, seats[missing]] = member
    return seating.astype(np.int64)


def play_tables(game: Game, agents: Sequence[Agent], seating: Indices, seed: int) -> Floats:
    """[games, players] what every seat got; game *i* has the deal of (seed, *i*)."""
    rollouts = Rollouts(game, agents, min(NUM_ROWS, len(seating)), seed)
    found = np.zeros(seating.shape)
    for first in range(0, len(seating), NUM_ROWS):
        numbers = np.arange(first, min(first + NUM_ROWS, len(seating)))
        rows = numbers - first
        rollouts.begin(rows, numbers, seating[numbers])
        rollouts.run()
        found[numbers] = rollouts.batch.totals[rows]
    return found


def intervals(seating: Indices, returns: Floats, num_members: int) -> list[Interval]:
    """What each member got per game it sat in."""
    return [mean_interval(returns[seating == member]) for member in range(num_members)]
