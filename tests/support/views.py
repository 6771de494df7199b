"""Views of given positions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agents.base import Views
from envs.core import Batch, Position, new_rng
from envs.core.keys import first_key, fold
from envs.core.rows import determinize_movers


def views_of(positions: Sequence[Position]) -> Views:
    """What the players to move in these positions of one game may know."""
    rows = np.arange(len(positions))
    batch = Batch(positions[0].game, len(rows), new_rng(0), new_rng(1))
    batch.begin(rows, rows)  # for the generators
    for row, position in enumerate(positions):
        batch._states[row] = position.state
        batch.turns[row] = position.turn
    return batch.views(rows)


def views_after(position: Position) -> Views:
    """What the player to move knows after the whole game up to a position, with its tokens."""
    game, seat = position.game, position.turn
    walk = game.new_position(position.number)
    key, tokens = first_key(seat), []
    for action in position.history:
        tokens.append(game.kernels.seen(walk.state, game.rules, action, seat))
        key = fold(key, tokens[-1])
        walk.apply(action)
    worlds = position.state.copy()[None, :]
    rngs = new_rng(2)[None, :].copy()
    determinize_movers(game.kernels, game.rules, rngs, worlds)
    return Views(
        game,
        np.array([seat]),
        np.array([key], np.uint64),
        rngs,
        worlds,
        np.array([1], np.uint64),
        np.array([tokens], np.int64),
    )
