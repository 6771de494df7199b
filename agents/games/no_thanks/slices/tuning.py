"""Which weights of the features are best: candidates, comparisons round a circle, a new base.

One generation compares a base with four candidates near it. Everybody meets only the next one of
the circle, so ``num_strategies`` matches are enough; who is ahead of whom by how much is added up
along it. ``python -m agents.games.no_thanks.slices.tuning --generations 2 --size 20 --games 12``
runs a few.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.slices.agent import SlicesAgent
from agents.games.no_thanks.slices.database import SEGMENTS, make_slices
from agents.games.no_thanks.slices.features import NUM_CATEGORIES
from envs.core.batch import Batch
from envs.core.kernels import OVER
from envs.core.rng import stream
from envs.no_thanks import NoThanks

__all__ = [
    "TuningSettings",
    "candidate",
    "circle_scores",
    "inaccuracy",
    "main",
    "mean_places",
    "recombine",
    "scale_weights",
    "tune",
]

Weights = npt.NDArray[np.float64]
MEAN_PLACE = 2.0


@dataclass(frozen=True)
class TuningSettings:
    """How weights are looked for."""

    generations: int
    size: int
    """Positions in each database."""
    num_decks: int
    """Of a match; each is played twice."""
    factor: float = 1.3
    """Candidates change every weight by at most this factor."""
    seed: int = 0
    is_strict: bool = False
    """The best strategy is the next base, not the mean of all by score."""
    segments: tuple[int, ...] = SEGMENTS


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


def inaccuracy(places: Sequence[float]) -> float:
    """How far the first members of all pairs are from the mean place; 0 for a perfect order.

    >>> round(inaccuracy([1.5, 1.9, 2.6]), 9), round(inaccuracy([1.5, 1.9, 2.3]), 9)
    (0.0, 0.1)
    """
    return abs(MEAN_PLACE - float(np.mean(places)))


def circle_scores(
    pairs: Sequence[tuple[float, float]], counts_itself: bool = True
) -> npt.NDArray[np.float64]:
    """Scores from the mean places of pairs (0, 1), (1, 2) ... (n - 1, 0).

    From every strategy in turn, with a score of 0, one walks round the circle but for its last
    pair: the next one's score is the present one's, plus by how much it beats the mean place in
    their match. A strategy's score is the mean over all walks, with or without its own.

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
    return totals / (n if counts_itself else n - 1)


def recombine(weights: Sequence[Sequence[float]], scores: Sequence[float]) -> Weights:
    """The mean of all weights by score, the lowest score counting for nothing."""
    above = np.asarray(scores) - min(scores)
    return scale_weights(above @ np.asarray(weights))


def mean_places(
    game: NoThanks, one: SlicesAgent, other: SlicesAgent, num_decks: int, seed: int
) -> tuple[float, float]:
    """Every deck twice: one against two, and two against one; mean places of both sides."""
    totals, counts = np.zeros(2), np.zeros(2)
    agents = (one, other)
    for line in ((0, 1, 1), (1, 0, 0)):
        returns = _play(game, [agents[side] for side in line], num_decks, seed)
        for seat, side in enumerate(line):
            totals[side] += (MEAN_PLACE - returns[:, seat]).sum()
            counts[side] += num_decks
    first, second = totals / counts
    return float(first), float(second)


def _play(
    game: NoThanks, seats: list[SlicesAgent], num_decks: int, seed: int
) -> npt.NDArray[np.float64]:
    batch = Batch(game, num_decks, stream(seed, "chance"), stream(seed, "choice"))
    rows = np.arange(num_decks)
    batch.begin(rows, rows)
    while (batch.turns != OVER).any():
        for seat, agent in enumerate(seats):
            waiting = rows[batch.turns == seat]
            if len(waiting):
                batch.step(waiting, agent.act(batch.views(waiting)))
    return batch.totals.copy()


def tune(
    game: NoThanks,
    settings: TuningSettings,
    log: Callable[[str], None] = lambda _: None,
) -> Weights:
    """Look for better weights, generation by generation; returns the last base.

    Candidates of a generation share the positions of their databases and the decks of their
    matches, so that they differ by their weights and by nothing else.
    """
    rng = np.random.default_rng(settings.seed)
    base = scale_weights([1.0] * NUM_CATEGORIES)
    for generation in range(settings.generations):
        line = [base, *(candidate(base, settings.factor, rng) for _ in range(4))]
        seed = settings.seed + generation
        agents = [_agent(game, weights, settings, seed) for weights in line]
        pairs = [
            mean_places(game, agents[i], agents[(i + 1) % 5], settings.num_decks, seed)
            for i in range(5)
        ]
        scores = circle_scores(pairs)
        for weights, score in zip(line, scores - scores.min(), strict=True):
            log(f"{generation}  {' '.join(f'{w:.2f}' for w in weights)}  {score:.4f}")
        log(f"{generation}  inaccuracy {inaccuracy([first for first, _ in pairs]):.4f}")
        if scores.max() > scores.min():
            base = (
                line[int(np.argmax(scores))]
                if settings.is_strict
                else recombine([w.tolist() for w in line], scores.tolist())
            )
    return base


def _agent(game: NoThanks, weights: Weights, settings: TuningSettings, seed: int) -> SlicesAgent:
    slices = make_slices(game, settings.size, settings.segments, weights.tolist(), seed)
    return SlicesAgent(game, slices=slices, num_worlds=1)


def main(argv: Sequence[str] | None = None) -> int:
    """Tune the weights of the full game with a known deck."""
    parser = argparse.ArgumentParser(prog="python -m agents.games.no_thanks.slices.tuning")
    parser.add_argument("--generations", type=int, default=19, help="(%(default)s)")
    parser.add_argument("--size", type=int, default=1000, help="positions a boundary (%(default)s)")
    parser.add_argument("--games", type=int, default=200, help="decks a pair (%(default)s)")
    parser.add_argument("--factor", type=float, default=1.3, help="(%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="(%(default)s)")
    parser.add_argument("--strict", action="store_true", help="the best one is the new base")
    a = parser.parse_args(argv)
    game = NoThanks("known_future", returns="place")
    chosen = TuningSettings(a.generations, a.size, a.games, a.factor, a.seed, a.strict)
    print(f"last base  {' '.join(f'{w:.2f}' for w in tune(game, chosen, print))}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
