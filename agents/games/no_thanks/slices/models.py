"""Slices with a model of strength in place of a database, made backwards in the same way.

``python -m agents.games.no_thanks.slices.models runs/strength.npz --size 3000`` fits one: at every
boundary, from the last one backwards, positions are searched to the next boundary, where the model
that was fitted there says what becomes of them; their expected places are what the model here is
fitted to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.slices.database import SEGMENTS, boundary_below, known_game
from agents.games.no_thanks.slices.features import NUM_PLAYERS
from agents.games.no_thanks.slices.filling import Filling, fill
from agents.games.no_thanks.slices.fitting import fit, new_weights
from agents.games.no_thanks.slices.keeping import read_slices, write_slices
from agents.games.no_thanks.slices.positions import make_position
from agents.games.no_thanks.slices.strength import (
    CARDS_PER_SLICE,
    KINDS,
    NUM_INPUTS,
    NUM_TRAITS,
    Weights,
    inputs_of,
    strength_params,
)
from agents.games.no_thanks.solving import Solver, SolverSettings
from common.commands import COUNT, SEED, WORKERS, Parser, answers_in_one_line, at_least
from common.files import check_out
from envs.no_thanks import NoThanks

__all__ = ["StrengthSlices", "main", "make_strength"]

EPOCHS = 60


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

    preference = "return"
    settings = SolverSettings(preference="return", table_bits=20)

    @property
    def estimate(self) -> Callable[..., None]:
        """The compiled function that says what a position is worth."""
        return KINDS[self.kind][1]

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
    def load(cls, path: Path, kind: str = "known") -> StrengthSlices:
        """Read a file that ``save`` has written."""
        about, arrays = read_slices(path, kind)
        count = len(arrays) // len(Weights._fields)
        models = [
            Weights(*(arrays[f"{name}_{i}"] for name in Weights._fields)) for i in range(count)
        ]
        return cls(tuple(about["segments"]), kind, models, about["boundaries"], about["about"])


def make_strength(
    game: NoThanks,
    size: int,
    segments: Sequence[int] = SEGMENTS,
    num_hidden: int = 16,
    seed: int = 0,
    source: str = "played",
    filling: Filling | None = None,
) -> StrengthSlices:
    """Fit a model at every boundary, from the last one backwards; see ``make_slices``."""
    known = known_game(game, segments)
    rng = np.random.default_rng([seed, num_hidden])
    count = game.options.deck_size // CARDS_PER_SLICE + 1
    models = [new_weights(num_hidden, rng) for _ in range(count)]
    about = f"{size} {source} positions a boundary, {num_hidden} hidden units, seed {seed}"
    slices = StrengthSlices(tuple(segments), "known", models, [], about)
    for left in list(accumulate(reversed(segments)))[:-1]:
        job = StrengthJob(known, slices, left, seed, source)
        rows = fill(job, size, filling or Filling())
        traits = rows[:, :NUM_INPUTS].reshape(size, NUM_PLAYERS, NUM_TRAITS)
        index = left // CARDS_PER_SLICE
        models[index] = fit(models[index], traits, rows[:, NUM_INPUTS:], EPOCHS, rng)
        slices.boundaries.append(left)
    return slices


@dataclass(frozen=True)
class StrengthJob:
    """Features and expected places of positions at one boundary."""

    game: NoThanks
    slices: StrengthSlices
    left: int
    seed: int
    source: str

    @property
    def about(self) -> str:
        """What tells these rows from all others."""
        return f"strength {self.game!r} {self.slices.segments} {self.slices.about} {self.left}"

    @property
    def title(self) -> str:
        """What they are, for somebody who waits for them."""
        return f"positions with {self.left} cards left"

    def worker(self) -> Callable[[int, int], npt.NDArray[np.float64]]:
        """A function that makes some of the rows."""
        boundary = self.slices.boundary(self.left)
        solver = Solver(self.game, self.slices.settings, self.slices.estimate)
        params = self.slices.params(boundary)

        def make(i: int) -> npt.NDArray[np.float64]:
            rng = np.random.default_rng([self.seed, self.left, i])
            state = make_position(self.game, self.left, self.source, rng)
            found = solver.solve(state, boundary, params)
            mover = int(self.game.record(state).to_move)
            traits = inputs_of(self.game, state, self.slices.kind)
            return np.concatenate([traits.ravel(), np.roll(found.values, -mover)])

        return lambda first, last: np.stack([make(i) for i in range(first, last)])


@answers_in_one_line("models")
def main(argv: Sequence[str] | None = None) -> int:
    """Fit the model of the full game with a known deck and save it."""
    parser = Parser(prog="python -m agents.games.no_thanks.slices.models")
    parser.add_argument("path", type=Path, help="file to write, .npz")
    parser.add_argument(
        "--size", type=COUNT, default=3000, help="positions a boundary (%(default)s)"
    )
    parser.add_argument(
        "--hidden", type=at_least(0, most=10_000), default=16, help="0: regression (%(default)s)"
    )
    parser.add_argument("--segments", type=at_least(0, most=100), nargs="+", default=list(SEGMENTS))
    parser.add_argument("--seed", type=SEED, default=0, help="(%(default)s)")
    parser.add_argument("--workers", type=WORKERS, default=1, help="processes (%(default)s)")
    parser.add_argument("--force", action="store_true", help="write over a file of another kind")
    a = parser.parse_args(argv)
    check_out(a.path, "a command for slices", a.force)
    filling = Filling(a.workers, print, a.path.with_suffix(".part"))
    slices = make_strength(NoThanks(), a.size, a.segments, a.hidden, a.seed, "played", filling)
    slices.save(a.path)
    print(a.path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
