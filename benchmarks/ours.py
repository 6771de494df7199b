"""Our side of benchmarks: moves of many games at once, and random games in one compiled call."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.harness import Chunk, times
from envs.adapters.vector import VectorEnv
from envs.core.batch import random_actions
from envs.core.engine import random_playouts
from envs.core.game import Game
from envs.core.rng import fill_streams, new_rng, stream

STEPS_PER_CHUNK = 4096


def vector_moves(make: Callable[[], Game], num_rows: int = 1024) -> Chunk:
    """Random moves in all rows of a ``VectorEnv``."""
    env = VectorEnv(make(), num_rows)
    shown = env.reset(seed=0)
    rngs = np.empty((num_rows, 4), np.uint64)
    fill_streams(stream(0, "choice"), np.arange(num_rows), rngs)
    num_calls = max(1, STEPS_PER_CHUNK // num_rows)

    def work() -> None:
        nonlocal shown
        for _ in range(num_calls):
            shown = env.step(random_actions(shown.masks, rngs))

    return times(num_calls * num_rows, work)


def playouts(make: Callable[[], Game], num_games: int, deal: Sequence[int] = ()) -> Chunk:
    """Random games in one compiled call, from the position after ``deal``."""
    game, rng = make(), new_rng(0)
    root = game.replay(deal).state if deal else None
    return times(num_games, lambda: random_playouts(game, num_games, rng, root))
