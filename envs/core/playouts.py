"""Random play, compiled: the yardstick of speed and the simplest thing one can do with a game."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import (
    CHANCE,
    INT,
    KERNELS,
    MASK,
    OPTIONAL_KERNELS,
    OVER,
    RNG,
    RULES,
    STATE,
    TOTALS,
)
from envs.core.rng import Words, below

__all__ = ["PlayoutResult", "random_legal", "random_playouts"]


# Draws from all actions, hoping for a legal one, before the legal ones are counted.
_NUM_TRIES = 4


@helper
def random_legal(mask, rng):
    """A uniform legal action: a few quick tries, which mostly succeed, then a count and a scan."""
    for _ in range(_NUM_TRIES):
        action = below(rng, mask.size)
        if mask[action]:
            return action
    num_legal = np.int64(0)  # in plain Python a sum of int8 would overflow
    for action in range(mask.size):
        num_legal += mask[action]
    nth = below(rng, num_legal)
    for action in range(mask.size):
        nth -= mask[action]
        if nth < 0:
            return action
    return -1


@compiled(
    INT(KERNELS, OPTIONAL_KERNELS, RULES, STATE, RNG, INT, STATE, MASK, TOTALS, TOTALS, TOTALS)
)
def _playouts(kernels, optional, rules, root, rng, num_games, state, mask, totals, sums, squares):
    """Play games from ``root``; add returns and their squares up; return the steps."""
    num_steps = 0
    for _ in range(num_games):
        for i in range(root.size):
            state[i] = root[i]
        if optional.has_playout:
            num_steps += optional.playout(state, rules, rng, mask)
        turn = kernels.turn(state, rules)
        while turn != OVER:
            if turn == CHANCE:
                action = kernels.sample(state, rules, rng)
            else:
                kernels.legal(state, rules, mask)
                action = random_legal(mask, rng)
            kernels.step(state, rules, action)
            num_steps += 1
            turn = kernels.turn(state, rules)
        kernels.returns(state, rules, totals)
        for player in range(totals.size):
            sums[player] += totals[player]
            squares[player] += totals[player] ** 2
    return num_steps


@dataclass(frozen=True)
class PlayoutResult:
    """What came of a number of random games."""

    num_games: int
    num_steps: int
    """Actions and chance events of all games together."""
    mean_returns: npt.NDArray[np.float64]
    standard_errors: npt.NDArray[np.float64]


def random_playouts(
    game: Game, num_games: int, rng: Words, root: npt.NDArray[np.uint8] | None = None
) -> PlayoutResult:
    """Play games at random, from the start or from the state ``root``.

    >>> from envs import make_game
    >>> from envs.core.rng import new_rng
    >>> random_playouts(make_game("kuhn_v0"), 1000, new_rng(0)).num_games
    1000
    """
    if num_games < 1:
        raise ValueError(f"num_games must be at least 1, not {num_games}")
    if root is None:
        root = game.new_position().state
    sums, squares, totals = np.zeros((3, game.facts.num_players))
    buffers = np.empty(game.state_size, np.uint8), np.empty(game.facts.num_actions, np.int8), totals
    tables = game.kernels, game.optional, game.rules
    num_steps = _playouts(*tables, root, rng, num_games, *buffers, sums, squares)
    means = sums / num_games
    variances = np.maximum(squares / num_games - means**2, 0.0)
    return PlayoutResult(num_games, int(num_steps), means, np.sqrt(variances / num_games))
