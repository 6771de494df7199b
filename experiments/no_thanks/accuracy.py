"""Predicted places against true ones, for positions that can be solved to the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.slices.agent import load_slices
from agents.games.no_thanks.slices.database import FINAL_WEIGHTS
from agents.games.no_thanks.slices.positions import played_position, random_position
from agents.games.no_thanks.solving import Solver, SolverSettings
from common.statistics import mean_interval
from experiments.no_thanks.making import KNOWN, ONES, file_of
from experiments.runner import Row, Settings

__all__ = ["predicted_places"]

Floats = npt.NDArray[np.float64]
State = npt.NDArray[np.uint8]


def _places(values: Floats) -> Floats:
    """Places from the middle, of vectors of scores."""
    ahead = np.sign(values[:, :, None] - values[:, None, :])
    found: Floats = ahead.sum(axis=2) / 2
    return found


def predicted_places(settings: Settings) -> Iterator[Row]:
    """A: mean error of a place, by the size of the database, its weights, and the estimate."""
    estimates = {
        "100 positions": file_of(settings, 100),
        "400 positions": file_of(settings, 400),
        "1000 positions": file_of(settings, 1000),
        "1000 positions, final weights": file_of(settings, 1000, FINAL_WEIGHTS),
        "1000 positions, gains": file_of(settings, 1000, stored="gains"),
        "400 positions, fitted weights": file_of(settings, 400, ONES, "fitted"),
        "regression, 1000 positions": file_of(settings, 1000, kind="regression"),
        "network, 1000 positions": file_of(settings, 1000, kind="network"),
    }
    number = settings.games(200)
    sources = ((random_position, "random"), (played_position, "played"))
    for make, words in sources:
        found = {left: _positions(settings, make, left, number) for left in (6, 9)}
        for left, boundary in ((6, 6), (9, 9), (9, 6)):
            states, truth = found[left]
            way = "asked there" if left == boundary else f"searched to {boundary}"
            for name, path in estimates.items():
                errors = np.abs(_predicted(states, path, boundary) - truth).mean(axis=1)
                yield Row.of(
                    "A",
                    f"error of a place, {words} positions, {left} cards left, {way}: {name}",
                    mean_interval(errors),
                    games=number,
                )


def _positions(
    settings: Settings, make: Callable[..., State], left: int, number: int
) -> tuple[list[State], Floats]:
    """Positions with so many cards left, and everybody's true places."""
    seeds = ([settings.seed, 7, left, i] for i in range(number))
    states = [make(KNOWN, left, np.random.default_rng(seed)) for seed in seeds]
    solver = Solver(KNOWN, SolverSettings(table_bits=22))
    values = []
    for state in states:
        solver.forget()
        values.append(solver.solve(state).values)
    return states, _places(np.array(values))


def _predicted(states: list[State], path: object, boundary: int) -> Floats:
    slices = load_slices(path)  # type: ignore[arg-type]
    solver = Solver(KNOWN, slices.settings, slices.estimate)
    params = slices.params(boundary)
    values = np.array([solver.solve(state, boundary, params).values for state in states])
    return _places(values) if slices.preference == "place" else values
