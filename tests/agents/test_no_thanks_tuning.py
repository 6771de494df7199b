"""Weights of No Thanks! in slices: scores round the circle, new bases, a generation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from common.errors import OptionError
from envs.no_thanks import NoThanks
from experiments.no_thanks.filling import Filling
from experiments.no_thanks.makers import make_slices
from experiments.no_thanks.matches import (
    Match,
    PairedMatch,
    Strategy,
    compare_strategies,
)
from experiments.no_thanks.tuning import (
    TuningSettings,
    candidate,
    circle_scores,
    make_fitted_slices,
    neighbour_error,
    recombine,
    tune,
)

GAME = NoThanks(highest=14, removed=3, chips=2, known_future=True)
SEGMENTS = (3, 3, 3)


def test_scores_are_added_up_round_the_circle() -> None:
    pairs = [(1.5, 2.5), (1.9, 2.1), (1.8, 2.2)]
    np.testing.assert_allclose(circle_scores(pairs), [-0.5 / 3, -1.2 / 3, -0.7 / 3])
    # Published: without the walk that begins with a strategy itself.
    np.testing.assert_allclose(circle_scores(pairs) * 3 / 2, [-0.25, -0.6, -0.35])


def test_a_generation_ends_in_a_mean_by_score() -> None:
    pairs = [(1.873, 2.127), (2.035, 1.965), (1.891, 2.109), (2.185, 1.815), (1.925, 2.075)]
    scores = circle_scores(pairs) * 5 / 4
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


def test_a_factor_changes_something() -> None:
    with pytest.raises(OptionError, match=r"factor must be above 1, not 1\.0"):
        TuningSettings(1, 3, 4, factor=1.0)


def test_mean_places_of_two_strategies_add_up_to_four(tmp_path: Path) -> None:
    paths = []
    for number, weights in enumerate(([1.0] * 5, [9.0, 1, 1, 1, 1])):
        paths.append(tmp_path / f"{number}.npz")
        make_slices(GAME, 4, SEGMENTS, weights, 1).save(paths[-1])
    one, other = (Strategy("no_thanks_slices", {"path": str(path)}) for path in paths)
    for is_rotated in (False, True):
        found = compare_strategies(Match(GAME, one, other, 0, is_rotated), 6)
        assert found.scores.shape == (6, 6 if is_rotated else 2, 3)
        assert found.mean_place(0).mean + found.mean_place(1).mean == pytest.approx(4)
        alike = compare_strategies(Match(GAME, one, one, 0, is_rotated), 6)
        assert alike.mean_place(0).mean == pytest.approx(2)


def test_the_better_of_two_rules_wins_the_match_in_any_number_of_processes() -> None:
    game = NoThanks("known_future")
    greedy = Strategy("no_thanks_greedy")
    match = Match(game, greedy, Strategy("random"), 0, is_rotated=True)
    alone = compare_strategies(match, 120)
    assert alone.mean_place(0).high < 1.5
    together = compare_strategies(match, 120, Filling(2))
    assert (alone.scores == together.scores).all()
    assert sum(alone.counts(0, 0)) == 120


def test_equals_share_their_places_and_all_get_the_better_count() -> None:
    scores = np.array([[[5.0, 5, 1]], [[2, 2, 2]], [[1, 2, 3]]])
    found = PairedMatch(scores, np.array([[0, 1, 1]]))
    assert found.places[:, 0].tolist() == [[1.5, 1.5, 3], [2, 2, 2], [3, 2, 1]]
    assert found.counts(0, 0) == [2, 0, 1]
    assert found.seat_places(0, 0).mean == pytest.approx(13 / 6)


def test_tuning_can_be_repeated(tmp_path: Path) -> None:
    settings = TuningSettings(2, 3, 4, seed=1, segments=SEGMENTS)
    found = tune(GAME, settings, tmp_path / "one")
    assert [base.sum() for base in found] == pytest.approx([5, 5])
    for folder in ("one", "other"):  # from what is kept, and anew
        again = tune(GAME, settings, tmp_path / folder)
        assert again[-1].tolist() == found[-1].tolist()


def test_fitted_weights_tell_more_of_the_neighbours() -> None:
    slices = make_fitted_slices(GAME, 60, SEGMENTS, seed=2, num_steps=15)
    assert set(slices.weights) == set(slices.rows)
    for left, rows in slices.rows.items():
        fitted = neighbour_error(rows, slices.weights[left], "results")
        assert fitted <= neighbour_error(rows, [1.0] * 5, "results")
    again = make_fitted_slices(GAME, 60, SEGMENTS, seed=2, num_steps=15)
    assert again.weights == slices.weights
