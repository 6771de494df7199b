"""Slices: what is estimated at the boundaries of a game, as a file holds it.

``Slices`` are databases of solved positions, ``StrengthSlices`` models of strength;
``experiments/no_thanks/makers.py`` makes both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.slices.estimates import (
    ESTIMATES,
    Weights,
    nearest_estimate,
    nearest_params,
    strength_params,
)
from agents.games.no_thanks.solver import SolverSettings
from common.errors import MasqueradeError, one_line
from common.files import read_arrays, write_arrays

Arrays = dict[str, npt.NDArray[Any]]
FORMAT = 2
AS_PUBLISHED = SolverSettings(preference="place", ties="average", cap=True, table_bits=18)
"""Places first, equal branches averaged, and a card with its value in chips is taken."""


@dataclass(frozen=True)
class Slices:
    """A database for every boundary, by the number of cards left there."""

    segments: tuple[int, ...]
    weights: dict[int, tuple[float, ...]]
    """Of the five categories, at every boundary."""
    stored: str = "results"
    seed: int = 0
    source: str = "random"
    rows: dict[int, npt.NDArray[np.int32]] = field(default_factory=dict)
    """[N, 18]: features, then what each player will still gain and his final score, from the mover
    on."""

    settings = AS_PUBLISHED
    estimate = staticmethod(nearest_estimate)

    def boundary(self, cards_left: int, reach: int | None = None) -> int:
        """Where a search from a position with so many cards left ends; 0: at the end."""
        return boundary_below(self.rows, cards_left, reach, self.segments[-1])

    def params(self, boundary: int) -> npt.NDArray[np.float64]:
        """What the estimate reads at a boundary."""
        return nearest_params(self.rows[boundary], self.weights[boundary], self.stored)

    def save(self, path: Path) -> None:
        """Write everything into one file."""
        about = {
            "kind": "nearest",
            "segments": self.segments,
            "weights": {str(left): weights for left, weights in self.weights.items()},
            "stored": self.stored,
            "seed": self.seed,
            "source": self.source,
        }
        write_slices(path, about, {f"rows_{left}": rows for left, rows in self.rows.items()})

    @classmethod
    def of(cls, about: dict[str, Any], arrays: Arrays) -> Slices:
        """What ``save`` has written."""
        return cls(
            tuple(about["segments"]),
            {int(left): tuple(weights) for left, weights in about["weights"].items()},
            about["stored"],
            about["seed"],
            about["source"],
            {int(name.removeprefix("rows_")): rows for name, rows in arrays.items()},
        )


@dataclass(frozen=True)
class StrengthSlices:
    """A model of strength for every slice of the game."""

    segments: tuple[int, ...]
    kind: str
    """``known`` or ``hidden``: which features it goes by."""
    models: list[Weights]
    """By the number of cards left, three a slice."""
    boundaries: list[int] = field(default_factory=list)
    """Where it was fitted, in cards left."""
    about: str = ""
    """How it was made."""

    settings = SolverSettings(preference="return", table_bits=20)

    @property
    def estimate(self) -> Callable[..., None]:
        """The compiled function that says what a position is worth."""
        return ESTIMATES[self.kind]

    def boundary(self, cards_left: int, reach: int | None = None) -> int:
        """Where a search from a position with so many cards left ends; 0: at the end."""
        if self.kind == "hidden":
            return cards_left - 1  # what comes after the next card is nobody's to know
        return boundary_below(self.boundaries, cards_left, reach, self.segments[-1])

    def params(self, boundary: int) -> npt.NDArray[np.float64]:
        """What the estimate reads: one table for all boundaries."""
        return strength_params(self.models)

    def save(self, path: Path) -> None:
        """Write everything into one file."""
        about = {
            "kind": self.kind,
            "segments": self.segments,
            "boundaries": self.boundaries,
            "about": self.about,
        }
        arrays = {
            f"{name}_{i}": getattr(weights, name)
            for i, weights in enumerate(self.models)
            for name in Weights._fields
        }
        write_slices(path, about, arrays)

    @classmethod
    def of(cls, about: dict[str, Any], arrays: Arrays) -> StrengthSlices:
        """What ``save`` has written."""
        count = len(arrays) // len(Weights._fields)
        models = [
            Weights(*(arrays[f"{name}_{i}"] for name in Weights._fields)) for i in range(count)
        ]
        head = tuple(about["segments"]), about["kind"]
        return cls(*head, models, about["boundaries"], about["about"])


def boundary_below(
    boundaries: Sequence[int] | dict[int, npt.NDArray[np.int32]],
    cards_left: int,
    reach: int | None,
    last: int,
) -> int:
    """The next boundary, or with a ``reach`` the last one that is not farther away than that.

    >>> boundary_below([6, 9, 12], 11, None, 6), boundary_below([6, 9, 12], 11, 5, 6)
    (9, 6)
    >>> boundary_below([6, 9, 12], 6, None, 6), boundary_below([6, 9, 12], 8, 9, 6)
    (0, 0)
    """
    if cards_left <= max(last, reach or 0):
        return 0
    below = sorted(left for left in boundaries if left < cards_left)
    near = [left for left in below if reach is not None and cards_left - left <= reach]
    return near[0] if near else below[-1]


def write_slices(path: Path, about: dict[str, Any], arrays: Arrays) -> None:
    """Write a file; it is there as a whole or not at all."""
    told = json.dumps({"format": FORMAT, **about})
    write_arrays(path, {"about": np.array(told), **arrays}, is_compressed=True)


def load_slices(path: Path) -> Slices | StrengthSlices:
    """Read a file of either kind."""
    arrays = read_arrays(path, "make it anew, slices of No Thanks!")
    try:
        about = json.loads(str(arrays.pop("about")))
        kind = about["kind"]
    except (KeyError, ValueError, TypeError, RecursionError) as error:
        reason = one_line(error)
        raise MasqueradeError(f"{path} holds no slices of No Thanks!: {reason}") from error
    if about.get("format") != FORMAT or not isinstance(kind, str):
        raise MasqueradeError(
            f"{path} has format {about.get('format')}, not {FORMAT}: make it anew"
        )
    return (Slices if kind == "nearest" else StrengthSlices).of(about, arrays)
