"""Our side of benchmarks: moves and playouts, and what the table of functions costs.

* ``handwritten_playouts``: Liar's Dice with OpenSpiel's rules as one loop, without record or mask.
* ``playouts_twice``: the generic loop with one of its parts called twice; what it loses is the cost
  of that part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numba import types

from benchmarks.harness import Chunk, times
from envs.adapters.vector import VectorEnv
from envs.core.batch import random_actions
from envs.core.compiling import compiled
from envs.core.engine import random_playouts
from envs.core.game import Game
from envs.core.kernels import CHANCE, INT, KERNELS, MASK, OVER, RNG, RULES, STATE, TOTALS
from envs.core.rng import below, fill_streams, new_rng, random_legal, stream

__all__ = [
    "CHOICE",
    "LEGAL",
    "NOTHING",
    "TURN",
    "handwritten_playouts",
    "playouts",
    "playouts_twice",
    "vector_moves",
]

STEPS_PER_CHUNK = 4096
FACES = 6
NOTHING, TURN, LEGAL, CHOICE = range(4)


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


@compiled(types.float64(types.int64[::1], RNG, INT))
def _handwritten(num_of_face, rng, num_games):
    """Bid or call at random from the first bid on; the sum of the first player's returns."""
    liar = num_of_face.sum() * FACES
    total = 0.0
    for _ in range(num_games):
        player, bid = 0, -1
        while True:
            # The legal actions are the higher bids and, once there is a bid, the call: a range.
            action = bid + 1 + below(rng, liar - bid - (bid < 0))
            if action == liar:
                break
            bid = action
            player = 1 - player
        face = bid % FACES
        num_found = num_of_face[face]
        if face != FACES - 1:
            num_found += num_of_face[FACES - 1]
        has_caller_won = num_found < 1 + bid // FACES
        total += 1.0 if (player == 0) == has_caller_won else -1.0
    return total


def handwritten_playouts(deal: list[int], num_games: int) -> Chunk:
    """Five-dice Liar's Dice after ``deal``, by the loop above."""
    num_of_face = np.bincount(deal, minlength=FACES).astype(np.int64)
    rng = new_rng(0)
    return times(num_games, lambda: _handwritten(num_of_face, rng, num_games))


@compiled(INT(KERNELS, RULES, STATE, RNG, INT, INT, STATE, MASK, TOTALS))
def _twice(kernels, rules, root, rng, num_games, part, state, mask, totals):
    """The loop of ``random_playouts`` with ``part`` called twice, and a sum that depends on it."""
    extra = 0
    for _ in range(num_games):
        for i in range(root.size):
            state[i] = root[i]
        turn = kernels.turn(state, rules)
        while turn != OVER:
            if turn == CHANCE:
                action = kernels.sample(state, rules, rng)
            else:
                kernels.legal(state, rules, mask)
                if part == LEGAL:
                    extra += kernels.legal(state, rules, mask)
                if part == CHOICE:
                    extra += random_legal(mask, rng)
                action = random_legal(mask, rng)
            kernels.step(state, rules, action)
            turn = kernels.turn(state, rules)
            if part == TURN:
                extra += kernels.turn(state, rules)
        kernels.returns(state, rules, totals)
    return extra


def playouts_twice(game: Game, root: np.ndarray, num_games: int, part: int) -> Chunk:
    """Random playouts from ``root``, with ``part`` called twice (``NOTHING``: the plain loop)."""
    rng = new_rng(0)
    state, mask = np.empty(game.state_size, np.uint8), np.empty(game.facts.num_actions, np.int8)
    arrays = state, mask, np.zeros(game.facts.num_players)
    return times(
        num_games, lambda: _twice(game.kernels, game.rules, root, rng, num_games, part, *arrays)
    )
