"""Which weights of the features are best: candidates, comparisons round a circle, a new base.

One generation compares a base with four candidates. Everybody meets only the next one of the
circle, so five matches are enough; who is ahead of whom by how much is added up along it.

Candidates lie near the base; the new base is the mean of all five by score. Databases and matches
are kept in a folder, so that the same settings go on where they were stopped.

Without any games: in a database every row has a nearest neighbour among the others. The better the
weights, the nearer what became of the neighbour is to what became of the row. So
``make_fitted_slices`` makes the mean squared error of score differences small by a random walk in
the logarithms of the weights, at one boundary after the other, because positions are solved with
the weights of the boundary after them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from agents.games.no_thanks.slices.estimates import STORED
from agents.games.no_thanks.slices.features import CATEGORIES, NUM_CATEGORIES, NUM_FEATURES
from agents.games.no_thanks.slices.files import Slices
from common.errors import OptionError
from envs.no_thanks import NoThanks
from experiments.no_thanks.filling import Filling
from experiments.no_thanks.makers import ONES, SEGMENTS, make_slices
from experiments.no_thanks.matches import Match, Strategy, compare_strategies

Weights = npt.NDArray[np.float64]
MEAN_PLACE = 2.0


NUM_STRATEGIES = 5


@dataclass(frozen=True)
class TuningSettings:
    """How weights are looked for."""

    generations: int
    size: int
    """Positions in each database."""
    num_decks: int
    """Of a match; each is played twice."""
    factor: float = 1.3
    """Candidates change a weight by at most this factor."""
    seed: int = 0
    segments: tuple[int, ...] = SEGMENTS
    workers: int = 1

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.factor <= 1.0:
            raise OptionError(f"factor must be above 1, not {self.factor}")


def scale_weights(weights: Sequence[float] | Weights) -> Weights:
    """Weights that add up to their number: only their ratios matter.

    >>> scale_weights([2, 2, 2, 2, 2]).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    found = np.asarray(weights, np.float64)
    scaled: Weights = found * (len(found) / found.sum())
    return scaled


def candidate(base: Weights, factor: float, rng: np.random.Generator) -> Weights:
    """Every weight times a number between ``1 / factor`` and ``factor``, log-uniform."""
    exponents = rng.uniform(-1.0, 1.0, len(base))
    return scale_weights(base * factor**exponents)


def circle_scores(pairs: Sequence[tuple[float, float]]) -> npt.NDArray[np.float64]:
    """Scores from the mean places of pairs (0, 1), (1, 2) ... (n - 1, 0).

    From every strategy in turn, with a score of 0, one walks round the circle but for its last
    pair: the next one's score is the present one's, plus by how much it beats the mean place in
    their match. A strategy's score is the mean over all walks, its own included.

    >>> circle_scores([(1.5, 2.5), (1.9, 2.1), (1.8, 2.2)]).round(3).tolist()
    [-0.167, -0.4, -0.233]
    """
    n = len(pairs)
    totals = np.zeros(n)
    for start in range(n):
        score = 0.0
        for step in range(n - 1):
            score += MEAN_PLACE - pairs[(start + step) % n][1]
            totals[(start + step + 1) % n] += score
    return totals / n


def recombine(weights: Sequence[Sequence[float]], scores: Sequence[float]) -> Weights:
    """The mean of all weights by score, the lowest score counting for nothing."""
    above = np.asarray(scores) - min(scores)
    return scale_weights(above @ np.asarray(weights))


def tune(game: NoThanks, settings: TuningSettings, folder: Path) -> list[Weights]:
    """Look for better weights: the base that each generation ends with.

    Candidates of a generation share the positions of their databases and the decks of their
    matches, so that they differ by their weights and by nothing else.
    """
    rng = np.random.default_rng(settings.seed)
    base = scale_weights([1.0] * NUM_CATEGORIES)
    found = []
    for number in range(settings.generations):
        others = [candidate(base, settings.factor, rng) for _ in range(NUM_STRATEGIES - 1)]
        line = [base, *others]
        seed = settings.seed + number
        strategies = [_strategy(game, weights, settings, seed, folder) for weights in line]
        filling = Filling(settings.workers, None, folder / "matches")
        places = []
        for i in range(NUM_STRATEGIES):
            pair = strategies[i], strategies[(i + 1) % NUM_STRATEGIES]
            match = Match(game, *pair, seed=seed)
            result = compare_strategies(match, settings.num_decks, filling)
            places.append((result.mean_place(0).mean, result.mean_place(1).mean))
        scores = circle_scores(places)
        scores -= scores.min()
        if scores.max() > 0:
            base = recombine([w.tolist() for w in line], scores.tolist())
        found.append(base)
    return found


def _strategy(
    game: NoThanks, weights: Weights, settings: TuningSettings, seed: int, folder: Path
) -> Strategy:
    """A strategy with databases of its own, from a file that is made if it is not there."""
    told = (weights.round(9).tolist(), settings.size, settings.segments, seed, repr(game))
    path = folder / f"{hashlib.sha256(repr(told).encode()).hexdigest()[:16]}.npz"
    if not path.exists():
        filling = Filling(settings.workers, None, folder / "rows")
        made = make_slices(
            game, settings.size, settings.segments, weights.tolist(), seed, filling=filling
        )
        made.save(path)
    return Strategy("no_thanks_slices", {"path": str(path)})


# ---- fitted to solved positions ------------------------------------------------------------------


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

    def fit(rows: npt.NDArray[np.int32], left: int) -> Sequence[float]:
        rng = np.random.default_rng([seed, left])
        return tuple(fit_weights(rows, stored, num_steps, rng).tolist())

    return make_slices(game, size, segments, ONES, seed, source, stored, filling, fit)
