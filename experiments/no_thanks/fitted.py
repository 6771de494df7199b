"""Weights of the features for every slice of its own, fitted to solved positions without any games.

In a database every row has a nearest neighbour among the others. The better the weights, the nearer
what became of the neighbour is to what became of the row: the mean squared error of score
differences is what is made small, by a random walk in the logarithms of the weights. The positions
of a boundary are solved with the weights of the boundary after it, so slices are made one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from agents.games.no_thanks.slices.database import SEGMENTS, NearestJob, Slices, known_game
from agents.games.no_thanks.slices.features import CATEGORIES, NUM_CATEGORIES, NUM_FEATURES
from agents.games.no_thanks.slices.filling import Filling, fill
from agents.games.no_thanks.slices.nearest import STORED
from envs.no_thanks import NoThanks
from experiments.no_thanks.tuning import candidate, scale_weights

__all__ = ["fit_weights", "make_fitted_slices", "neighbour_error"]

FACTORS = (2.0, 1.5, 1.2)
"""By how much the walk changes a weight at most, in one third of its steps each."""


def neighbour_error(
    rows: npt.NDArray[np.int32], weights: Sequence[float] | npt.NDArray[np.float64], stored: str
) -> float:
    """Mean squared error of score differences when every row is told by its nearest neighbour.

    >>> rows = np.zeros((4, 18), np.int32)
    >>> rows[:, 0], rows[:, 15] = [0, 1, 10, 11], [5, 5, 7, 7]
    >>> neighbour_error(rows, [1.0] * 5, "results")
    0.0
    """
    points = rows[:, :NUM_FEATURES] * np.asarray(weights)[list(CATEGORIES)]
    _, found = cKDTree(points).query(points, k=2)
    # Of two equal points either may be the nearest to itself.
    own = np.arange(len(rows))
    neighbour = np.where(found[:, 0] == own, found[:, 1], found[:, 0])
    first = NUM_FEATURES + 3 * STORED[::-1].index(stored)
    values = rows[:, first : first + 3].astype(np.float64)
    errors = values[neighbour] - values
    differences = errors[:, 1:] - errors[:, :1]
    return float((differences**2).mean())


def fit_weights(
    rows: npt.NDArray[np.int32], stored: str, num_steps: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """The best weights that a random walk of ``num_steps`` finds."""
    best = scale_weights([1.0] * NUM_CATEGORIES)
    least = neighbour_error(rows, best, stored)
    for step in range(num_steps):
        tried = candidate(best, FACTORS[step * len(FACTORS) // num_steps], rng)
        error = neighbour_error(rows, tried, stored)
        if error < least:
            best, least = tried, error
    return best


def make_fitted_slices(
    game: NoThanks,
    size: int,
    segments: Sequence[int] = SEGMENTS,
    seed: int = 0,
    source: str = "random",
    stored: str = "results",
    num_steps: int = 60,
    filling: Filling | None = None,
) -> Slices:
    """Databases whose weights are fitted at every boundary; see ``make_slices``."""
    known = known_game(game, segments)
    boundaries = list(accumulate(reversed(segments)))[:-1]
    ones = tuple([1.0] * NUM_CATEGORIES)
    slices = Slices(tuple(segments), dict.fromkeys(boundaries, ones), stored, seed, source)
    for left in boundaries:
        # What is kept meanwhile is told apart by the weights behind this boundary.
        job = NearestJob(known, replace(slices, rows=dict(slices.rows)), left)
        slices.rows[left] = fill(job, size, filling or Filling())
        rng = np.random.default_rng([seed, left])
        found = fit_weights(slices.rows[left], stored, num_steps, rng)
        slices.weights[left] = tuple(found.tolist())
    return slices
