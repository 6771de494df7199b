"""Views of given positions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agents.advice import views_at
from agents.base import Views
from envs.core.batch import Batch
from envs.core.position import Position
from envs.core.rng import new_rng


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
    return views_at([position])
