"""Databases of all boundaries: made backwards, saved and loaded.

``python -m agents.games.no_thanks.slices.database runs/slices.npz --size 200`` makes them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.slices.features import NUM_CATEGORIES, features
from agents.games.no_thanks.slices.positions import SOURCES, make_position
from agents.games.no_thanks.slices.slice_game import SliceGame
from agents.search import Searcher, SearchSettings
from envs.core.errors import MasqueradeError, OptionError
from envs.no_thanks import NoThanks

__all__ = ["FORMAT", "SEGMENTS", "Slices", "main", "make_slices"]

FORMAT = 1
SEGMENTS = (3, 3, 3, 3, 3, 3, 6)
SETTINGS = SearchSettings(table_bits=20, ties="high")


@dataclass(frozen=True)
class Slices:
    """A database for every boundary, by the number of cards left there."""

    segments: tuple[int, ...]
    weights: tuple[float, ...]
    seed: int
    source: str
    rows: dict[int, npt.NDArray[np.int32]]
    """[N, 15]: features, and what each player will still gain, from the mover on."""

    def boundary(self, cards_left: int) -> int:
        """Where a search from a position with so many cards left ends; 0: at the end."""
        return max((b for b in self.rows if b < cards_left), default=0)

    def save(self, path: Path) -> None:
        """Write everything into one file."""
        about = {
            "format": FORMAT,
            "segments": self.segments,
            "weights": self.weights,
            "seed": self.seed,
            "source": self.source,
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {f"rows_{left}": rows for left, rows in self.rows.items()}
        np.savez_compressed(path, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: Path) -> Slices:
        """Read a file that ``save`` has written."""
        try:
            with np.load(path) as found:
                about = json.loads(str(found["about"]))
                names = [name for name in found.files if name.startswith("rows_")]
                rows = {int(name.removeprefix("rows_")): found[name] for name in names}
        except (OSError, KeyError, ValueError) as error:
            raise MasqueradeError(f"{path} holds no slices of No Thanks!: {error}") from error
        if about["format"] != FORMAT:
            raise MasqueradeError(
                f"{path} has format {about['format']}, not {FORMAT}: make it anew"
            )
        return cls(
            tuple(about["segments"]), tuple(about["weights"]), about["seed"], about["source"], rows
        )


def make_slices(
    game: NoThanks,
    size: int,
    segments: Sequence[int] = SEGMENTS,
    weights: Sequence[float] = (1.0,) * NUM_CATEGORIES,
    seed: int = 0,
    source: str = "random",
    report: Callable[[str], None] = lambda _: None,
) -> Slices:
    """Make the databases of all boundaries, from the last one backwards.

    Args:
        game: three players and cards in steps of one.
        size: positions in each database.
        segments: cards taken in each, from the start of the game.
        weights: of the five categories of features.
        seed: position *i* of a boundary depends on it and on nothing before.
        source: of the positions: ``random`` or ``played``.
        report: told what is done.
    """
    o = game.options
    if o.num_players != 3 or o.card_step != 1 or o.chips == "unlimited":
        raise OptionError("slices are for three players, cards in steps of one, and counted chips")
    if sum(segments) != o.deck_size or min(segments) < 1:
        raise OptionError(f"segments {tuple(segments)} must add up to the {o.deck_size} cards")
    if len(weights) != NUM_CATEGORIES or source not in SOURCES or size < 1:
        raise OptionError(f"slices need {NUM_CATEGORIES} weights, a size and one of {SOURCES}")
    known = NoThanks(**{**o.to_dict(), "known_future": True, "returns": "score"})
    slices = Slices(tuple(segments), tuple(weights), seed, source, {})
    for left in list(accumulate(reversed(segments)))[:-1]:
        report(f"{left} cards left: {size} positions")
        slices.rows[left] = _fill(known, slices, left, size)
    return slices


def _fill(game: NoThanks, slices: Slices, left: int, size: int) -> npt.NDArray[np.int32]:
    searcher = searcher_for(game, slices, slices.boundary(left))
    rows = np.empty((size, 15), np.int32)
    for i in range(size):
        rng = np.random.default_rng([slices.seed, left, i])
        state = make_position(game, left, slices.source, rng)
        searcher.forget()
        found = searcher.search(state)
        s = game.record(state)
        scores = s.chips[:3] - s.leads[:3]
        gains = np.rint(np.array(found.values) - scores)
        rows[i, :12] = features(game, state)
        rows[i, 12:] = np.roll(gains, -int(s.to_move))
    return rows


def searcher_for(
    game: NoThanks, slices: Slices, boundary: int, settings: SearchSettings = SETTINGS
) -> Searcher:
    """A search that ends at ``boundary``, or at the end of the game if that is 0."""
    if boundary == 0:
        return Searcher(game, settings)
    return Searcher(SliceGame(game, boundary, slices.rows[boundary], slices.weights), settings)


def main(argv: Sequence[str] | None = None) -> int:
    """Make the databases of the full game and save them."""
    parser = argparse.ArgumentParser(prog="python -m agents.games.no_thanks.slices.database")
    parser.add_argument("path", type=Path, help="file to write, .npz")
    parser.add_argument("--size", type=int, default=1000, help="positions a boundary (%(default)s)")
    parser.add_argument("--weights", type=float, nargs=NUM_CATEGORIES, default=[1.0] * 5)
    parser.add_argument("--segments", type=int, nargs="+", default=list(SEGMENTS))
    parser.add_argument("--source", choices=SOURCES, default="random", help="(%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="(%(default)s)")
    a = parser.parse_args(argv)
    slices = make_slices(NoThanks(), a.size, a.segments, a.weights, a.seed, a.source, print)
    slices.save(a.path)
    print(a.path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
