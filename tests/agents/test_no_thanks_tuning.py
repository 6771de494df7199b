"""Weights of No Thanks! in slices: scores round the circle, new bases, a generation."""

from __future__ import annotations

import numpy as np
import pytest

from agents.games.no_thanks.slices.agent import SlicesAgent
from agents.games.no_thanks.slices.database import make_slices
from agents.games.no_thanks.slices.tuning import (
    TuningSettings,
    candidate,
    circle_scores,
    inaccuracy,
    mean_places,
    recombine,
    tune,
)
from envs.no_thanks import NoThanks

GAME = NoThanks(highest=14, removed=3, chips=2, known_future=True, returns="place")
SEGMENTS = (3, 3, 3)


def test_three_who_beat_each_other_in_turn_are_inaccurate() -> None:
    assert inaccuracy([1.9, 1.9, 1.9]) == pytest.approx(0.1)
    assert inaccuracy([1.5, 1.9, 2.6]) == pytest.approx(0)


def test_scores_are_added_up_round_the_circle() -> None:
    pairs = [(1.5, 2.5), (1.9, 2.1), (1.8, 2.2)]
    np.testing.assert_allclose(circle_scores(pairs), [-0.5 / 3, -1.2 / 3, -0.7 / 3])
    np.testing.assert_allclose(circle_scores(pairs, counts_itself=False), [-0.25, -0.6, -0.35])


def test_a_generation_ends_in_a_mean_by_score() -> None:
    pairs = [(1.873, 2.127), (2.035, 1.965), (1.891, 2.109), (2.185, 1.815), (1.925, 2.075)]
    scores = circle_scores(pairs, counts_itself=False)
    np.testing.assert_allclose(scores - scores.min(), [0.183, 0.047, 0.1135, 0, 0.254], atol=5e-4)
    weights = [
        [1.14, 0.51, 0.90, 0.78, 1.67],
        [1.01, 0.39, 1.03, 0.54, 2.03],
        [1.09, 0.66, 0.79, 0.74, 1.72],
        [1.01, 0.36, 1.01, 0.81, 1.81],
        [1.48, 0.64, 0.84, 0.60, 1.43],
    ]
    assert recombine(weights, scores.tolist()).round(2).tolist() == [1.27, 0.58, 0.86, 0.68, 1.61]


def test_another_generation_likewise() -> None:
    weights = [
        [1.32, 0.61, 0.73, 0.66, 1.68],
        [1.41, 0.46, 0.70, 0.69, 1.73],
        [1.04, 0.53, 0.92, 0.58, 1.93],
        [1.42, 0.65, 0.78, 0.35, 1.80],
        [1.41, 0.32, 0.78, 0.70, 1.79],
    ]
    found = recombine(weights, [0.18375, 0, 0.14, 0.0025, 0.31125])
    np.testing.assert_allclose(found, [1.3, 0.45, 0.8, 0.66, 1.79], atol=0.006)


def test_candidates_stay_near_the_base() -> None:
    rng = np.random.default_rng(0)
    base = np.ones(5)
    for _ in range(50):
        found = candidate(base, 1.3, rng)
        assert found.sum() == pytest.approx(5)
        assert found.max() / found.min() <= 1.3**2 + 1e-9


def test_mean_places_of_two_strategies_add_up_to_four() -> None:
    slices = [
        make_slices(GAME, 4, SEGMENTS, weights, 1) for weights in ([1.0] * 5, [9.0, 1, 1, 1, 1])
    ]
    one, other = (SlicesAgent(GAME, slices=s, num_worlds=1) for s in slices)
    first, second = mean_places(GAME, one, other, 6, seed=0)
    assert first + second == pytest.approx(4)
    assert mean_places(GAME, one, one, 6, seed=0) == pytest.approx((2, 2))


@pytest.mark.parametrize("is_strict", [False, True])
def test_tuning_can_be_repeated_and_says_what_it_does(is_strict: bool) -> None:
    settings = TuningSettings(2, 3, 4, seed=1, is_strict=is_strict, segments=SEGMENTS)
    lines: list[str] = []
    found = tune(GAME, settings, lines.append)
    assert found.sum() == pytest.approx(5)
    assert len(lines) == 2 * (5 + 1)
    assert found.tolist() == tune(GAME, settings).tolist()
