"""Databases of all boundaries, made backwards, saved and loaded.

``python -m agents.games.no_thanks.slices.database runs/slices.npz --size 1000 --workers 2`` makes
them. What is done is kept beside the file: the same command goes on where it was stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.slices.features import NUM_CATEGORIES, NUM_FEATURES, features
from agents.games.no_thanks.slices.filling import Filling, fill
from agents.games.no_thanks.slices.keeping import read_slices, write_slices
from agents.games.no_thanks.slices.nearest import STORED, nearest_estimate, nearest_params
from agents.games.no_thanks.slices.positions import SOURCES, make_position
from agents.games.no_thanks.solving import Solver, SolverSettings
from common.commands import AMOUNT, COUNT, SEED, WORKERS, Parser, answers_in_one_line, at_least
from common.errors import OptionError
from common.files import check_out
from envs.no_thanks import NoThanks

__all__ = ["FINAL_WEIGHTS", "SEGMENTS", "Slices", "boundary_below", "main", "make_slices"]

SEGMENTS = (3, 3, 3, 3, 3, 3, 6)
FINAL_WEIGHTS = (1.3, 0.45, 0.8, 0.66, 1.79)
"""What the thesis ended with after 19 generations."""
AS_PUBLISHED = SolverSettings(preference="place", ties="average", cap=True, table_bits=18)
"""Places first, equal branches averaged, and a card with its value in chips is taken."""
ROW = NUM_FEATURES + 6


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

    preference = "place"
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
    def load(cls, path: Path) -> Slices:
        """Read a file that ``save`` has written."""
        about, arrays = read_slices(path, "nearest")
        return cls(
            tuple(about["segments"]),
            {int(left): tuple(weights) for left, weights in about["weights"].items()},
            about["stored"],
            about["seed"],
            about["source"],
            {int(name.removeprefix("rows_")): rows for name, rows in arrays.items()},
        )


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


def make_slices(
    game: NoThanks,
    size: int,
    segments: Sequence[int] = SEGMENTS,
    weights: Sequence[float] = (1.0,) * NUM_CATEGORIES,
    seed: int = 0,
    source: str = "random",
    stored: str = "results",
    filling: Filling | None = None,
) -> Slices:
    """Make the databases of all boundaries, from the last one backwards.

    Args:
        game: three players and cards in steps of one.
        size: positions in each database.
        segments: cards taken in each, from the start of the game.
        weights: of the five categories of features.
        seed: position *i* of a boundary depends on it and on nothing before.
        source: of the positions: ``random`` or ``played``.
        stored: what the value of a position is: its ``results`` or the ``gains`` from there on.
        filling: in how many processes, what is told, and where it is kept meanwhile.
    """
    known = known_game(game, segments)
    if size < 1:
        raise OptionError(f"size must be at least 1, not {size}")
    if len(weights) != NUM_CATEGORIES or source not in SOURCES:
        raise OptionError(f"slices need {NUM_CATEGORIES} weights and one of {SOURCES}")
    if stored not in STORED:
        raise OptionError(f"stored must be one of {', '.join(STORED)}, not '{stored}'")
    boundaries = list(accumulate(reversed(segments)))[:-1]
    every = {left: tuple(weights) for left in boundaries}
    slices = Slices(tuple(segments), every, stored, seed, source)
    for left in boundaries:
        job = NearestJob(known, slices, left)
        slices.rows[left] = fill(job, size, filling or Filling())
    return slices


def known_game(game: NoThanks, segments: Sequence[int]) -> NoThanks:
    """The game with its deck known and scores paid, if it can be cut into ``segments``."""
    o = game.options
    if o.num_players != 3 or o.card_step != 1 or o.chips == "unlimited":
        raise OptionError("slices are for three players, cards in steps of one, and counted chips")
    if sum(segments) != o.deck_size or min(segments) < 1:
        raise OptionError(f"segments {tuple(segments)} must add up to the {o.deck_size} cards")
    return NoThanks(**{**o.to_dict(), "known_future": True, "returns": "score", "first_player": 0})


@dataclass(frozen=True)
class NearestJob:
    """Rows of one boundary of a database."""

    game: NoThanks
    slices: Slices
    left: int

    @property
    def about(self) -> str:
        """What tells these rows from all others."""
        s = self.slices
        told = (s.segments, [s.weights[left] for left in s.rows], s.stored, s.seed, s.source)
        return f"nearest {self.game!r} {told} {self.left}"

    @property
    def title(self) -> str:
        """What they are, for somebody who waits for them."""
        return f"positions with {self.left} cards left"

    def worker(self) -> Callable[[int, int], npt.NDArray[np.int32]]:
        """A function that makes some of the rows; it keeps the memory of its searches."""
        slices, boundary = self.slices, self.slices.boundary(self.left)
        solver = Solver(self.game, AS_PUBLISHED, nearest_estimate)
        params = slices.params(boundary) if boundary else None

        def make(i: int) -> npt.NDArray[np.int32]:
            rng = np.random.default_rng([slices.seed, self.left, i])
            state = make_position(self.game, self.left, slices.source, rng)
            found = solver.solve(state, boundary, params)
            s = self.game.record(state)
            results = np.rint(found.values)
            gains = results - (s.chips[:3] - s.leads[:3])
            turned = [np.roll(part, -int(s.to_move)) for part in (gains, results)]
            return np.concatenate([features(self.game, state), *turned]).astype(np.int32)

        return lambda first, last: np.stack([make(i) for i in range(first, last)])


@answers_in_one_line("database")
def main(argv: Sequence[str] | None = None) -> int:
    """Make the databases of the full game and save them."""
    parser = Parser(prog="python -m agents.games.no_thanks.slices.database")
    parser.add_argument("path", type=Path, help="file to write, .npz")
    parser.add_argument(
        "--size", type=COUNT, default=1000, help="positions a boundary (%(default)s)"
    )
    parser.add_argument("--weights", type=AMOUNT, nargs=NUM_CATEGORIES, default=[1.0] * 5)
    parser.add_argument("--segments", type=at_least(0, most=100), nargs="+", default=list(SEGMENTS))
    parser.add_argument("--source", choices=SOURCES, default="random", help="(%(default)s)")
    parser.add_argument("--stored", choices=STORED, default="results", help="(%(default)s)")
    parser.add_argument("--seed", type=SEED, default=0, help="(%(default)s)")
    parser.add_argument("--workers", type=WORKERS, default=1, help="processes (%(default)s)")
    parser.add_argument("--force", action="store_true", help="write over a file of another kind")
    a = parser.parse_args(argv)
    check_out(a.path, "a command for slices", a.force)
    filling = Filling(a.workers, print, a.path.with_suffix(".part"))
    slices = make_slices(
        NoThanks(), a.size, a.segments, a.weights, a.seed, a.source, a.stored, filling
    )
    slices.save(a.path)
    print(a.path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
