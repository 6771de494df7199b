"""Batches in the middle of their games, and other worlds that players cannot tell from them."""

from __future__ import annotations

import numpy as np

from envs.core.batch import Batch, random_actions
from envs.core.game import Game
from envs.core.kernels import OVER
from envs.core.rng import new_rng, stream

ROWS = 64
MOVES = {"scotland_yard_v0": (0, 3, 13), "phantom_v0": (0, 4, 13)}
"""Moves after which there is something that the player to move does not know; (0, 2) elsewhere."""


def moves_of(game: Game) -> tuple[int, ...]:
    """After how many moves to look."""
    return MOVES.get(game.id, (0, 2))


def batch_in_mid_game(game: Game, num_moves: int, seed: int) -> Batch:
    """Games after so many random moves; those that ended meanwhile are begun again."""
    roots = stream(seed, "chance"), stream(seed, "choice")
    batch = Batch(game, ROWS, *roots, has_record=True, has_tokens=True, num_past=4)
    rows = np.arange(ROWS)
    batch.begin(rows, rows)
    for _ in range(num_moves):
        playing = rows[batch.turns != OVER]
        views = batch.views(playing)
        batch.step(playing, random_actions(views.masks, views.rngs))
        over = rows[batch.turns == OVER]
        batch.begin(over, over + ROWS)
    return batch


def swap_worlds(batch: Batch, seed: int) -> int:
    """Put another world that the player to move cannot tell apart into every row."""
    before = batch._states.copy()
    rngs = np.stack([new_rng(seed + i) for i in range(ROWS)])
    for row in range(ROWS):
        seat = int(batch.turns[row])
        batch.game.kernels.determinize(batch._states[row], batch.game.rules, seat, rngs[row])
    return int((before != batch._states).any(axis=1).sum())
