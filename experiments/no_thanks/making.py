"""Strategies of the experiments: their files are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents.games.no_thanks.slices.database import FINAL_WEIGHTS, make_slices
from agents.games.no_thanks.slices.filling import Filling
from agents.games.no_thanks.slices.models import make_strength
from envs.no_thanks import NoThanks
from experiments.no_thanks.fitted import make_fitted_slices
from experiments.no_thanks.matches import Comparison, Match, Strategy, compare_strategies
from experiments.runner import Settings

__all__ = ["BEST", "BEST_HIDDEN", "KNOWN", "ONES", "compare", "database", "file_of", "final"]

KNOWN = NoThanks("known_future")
ONES = (1.0,) * 5
BEST = Strategy("no_thanks_slices")
"""The network that comes with the project, for known decks."""
BEST_HIDDEN = Strategy("no_thanks_value")
"""The one for hidden decks."""


def _folder(settings: Settings) -> Path:
    return settings.folder / "no_thanks"


def filling(settings: Settings) -> Filling:
    """As many processes as wanted; what is done is kept."""
    return Filling(settings.workers, None, _folder(settings) / "rows")


def file_of(
    settings: Settings,
    size: int,
    weights: Sequence[float] = ONES,
    kind: str = "nearest",
    seed: int = 0,
    **more: Any,
) -> Path:
    """A file of slices: a database with ``weights``, a ``fitted`` one, or a model."""
    told = "-".join([kind, str(size), *(f"{w:g}" for w in weights), str(settings.seed + seed)])
    told += "".join(f"-{value}" for value in more.values())
    path = _folder(settings) / f"{told}.npz"
    if not path.exists():
        game, chance = NoThanks(), settings.seed + seed
        rows = filling(settings)
        if kind == "nearest":
            made: Any = make_slices(game, size, weights=weights, seed=chance, filling=rows, **more)
        elif kind == "fitted":
            made = make_fitted_slices(game, size, seed=chance, filling=rows, **more)
        else:
            hidden = 0 if kind == "regression" else 16
            made = make_strength(game, size, num_hidden=hidden, seed=chance, filling=rows, **more)
        made.save(path)
    return path


def database(
    settings: Settings, size: int, weights: Sequence[float] = ONES, **more: Any
) -> Strategy:
    """The published player with databases of ``size`` positions."""
    return Strategy("no_thanks_slices", {"path": str(file_of(settings, size, weights, **more))})


def final(settings: Settings, size: int = 1000) -> Strategy:
    """The strategy that the thesis ended with."""
    return database(settings, size, FINAL_WEIGHTS)


def compare(
    settings: Settings,
    one: Strategy,
    other: Strategy,
    num_games: int,
    game: NoThanks = KNOWN,
    is_rotated: bool = False,
) -> Comparison:
    """A mirrored comparison of about ``num_games`` games, scaled."""
    match = Match(game, one, other, settings.seed, is_rotated)
    decks = max(2, settings.games(num_games) // len(match.sides))
    return compare_strategies(match, decks, filling(settings))
