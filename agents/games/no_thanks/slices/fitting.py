"""Fitting the model of strength to expected places, by gradient descent (Adam) in NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.slices.features import NUM_PLAYERS
from agents.games.no_thanks.slices.strength import NUM_INPUTS, NUM_TRAITS, Weights

__all__ = ["fit", "new_weights", "predict"]

Array = npt.NDArray[np.float64]
BATCH = 256
RATE, RATE_END = 3e-3, 2e-4
DECAY = 1e-4
"""Weight decay: what the data do not ask for fades."""


def _turned(traits: Array) -> Array:
    """[N, players, inputs]: each player's own features first, then those of who follows him."""
    flat = traits.reshape(len(traits), NUM_INPUTS)
    turned = [np.roll(flat, -NUM_TRAITS * player, axis=1) for player in range(NUM_PLAYERS)]
    return np.stack(turned, axis=1)


def _places(strengths: Array) -> Array:
    differences = strengths[:, :, None] - strengths[:, None, :]
    chances: Array = (1.0 / (1.0 + np.exp(-differences)) - 0.5).sum(axis=2)
    return chances


def _strengths(weights: Weights, x: Array) -> tuple[Array, Array]:
    units = np.maximum(x @ weights.hidden[:, :-1].T + weights.hidden[:, -1], 0.0)
    return x @ weights.direct + units @ weights.out, units


def new_weights(num_hidden: int, rng: np.random.Generator) -> Weights:
    """Weights to begin with: all strengths are equal."""
    hidden = rng.normal(0.0, 1.0 / np.sqrt(NUM_INPUTS), (num_hidden, NUM_INPUTS + 1))
    return Weights(np.zeros(NUM_INPUTS), hidden, np.zeros(num_hidden))


def predict(weights: Weights, traits: Array) -> Array:
    """[N, players] expected places from the middle, of ``traits`` [N, players, traits]."""
    return _places(_strengths(weights, _turned(traits))[0])


def fit(
    weights: Weights, traits: Array, places: Array, epochs: int, rng: np.random.Generator
) -> Weights:
    """Go on fitting ``weights``.

    Args:
        weights: to begin with.
        traits: [N, players, traits] from the mover on.
        places: [N, players] from the middle, from the mover on.
        epochs: passes over all rows.
        rng: for the order of the rows.
    """
    x = _turned(traits)
    # In units of its spread each feature learns at the same pace.
    scale = 1.0 / np.maximum(x.std(axis=(0, 1)), 1e-6)
    x = x * scale
    values = [
        weights.direct / scale,
        np.concatenate([weights.hidden[:, :-1] / scale, weights.hidden[:, -1:]], axis=1),
        weights.out.copy(),
    ]
    first = [np.zeros_like(value) for value in values]
    second = [np.zeros_like(value) for value in values]
    num_steps = epochs * -(-len(x) // BATCH)
    step = 0
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x), BATCH):
            rows = order[start : start + BATCH]
            rate = RATE + (RATE_END - RATE) * step / num_steps
            step += 1
            slopes = _gradients(Weights(*values), x[rows], places[rows])
            for i, slope in enumerate(slopes):
                first[i] += 0.1 * (slope - first[i])
                second[i] += 0.001 * (slope**2 - second[i])
                mean = first[i] / (1.0 - 0.9**step)
                size = np.sqrt(second[i] / (1.0 - 0.999**step)) + 1e-8
                values[i] = values[i] - rate * (mean / size + DECAY * values[i])
    direct, hidden, out = values
    hidden = np.concatenate([hidden[:, :-1] * scale, hidden[:, -1:]], axis=1)
    return Weights(direct * scale, hidden, out)


def _gradients(weights: Weights, x: Array, places: Array) -> Sequence[Array]:
    """Of the mean squared error of expected places."""
    strengths, units = _strengths(weights, x)
    differences = strengths[:, :, None] - strengths[:, None, :]
    chances = 1.0 / (1.0 + np.exp(-differences))
    errors = (chances - 0.5).sum(axis=2) - places
    slopes = chances * (1.0 - chances)
    by_strength = errors * slopes.sum(axis=2) - np.einsum("nij,nj->ni", slopes, errors)
    by_strength *= 2.0 / len(x)
    by_unit = by_strength[:, :, None] * weights.out * (units > 0.0)
    ones = np.ones((*x.shape[:2], 1))
    return (
        np.einsum("np,npi->i", by_strength, x),
        np.einsum("nph,npi->hi", by_unit, np.concatenate([x, ones], axis=2)),
        np.einsum("np,nph->h", by_strength, units),
    )
