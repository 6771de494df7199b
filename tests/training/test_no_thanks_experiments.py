"""The published tables of No Thanks!: small pieces of the experiments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from envs.no_thanks import NoThanks
from experiments.no_thanks import GROUPS, searching
from experiments.no_thanks.databases import _places
from experiments.no_thanks.matches import Strategy
from experiments.no_thanks.searching import PRINTED_SETS, card_order
from experiments.no_thanks.strength import compare, database, file_of
from experiments.runner import Settings

TINY = NoThanks(highest=14, removed=3, chips=2, known_future=True)


def test_every_experiment_has_a_group() -> None:
    assert list(GROUPS) == [*(f"E{number}" for number in range(1, 14)), "A", "L", "T", "TM"]


def test_the_printed_sets_are_ten_of_the_small_game() -> None:
    assert len({frozenset(cards) for cards in PRINTED_SETS}) == 10
    for cards in PRINTED_SETS:
        assert len(set(cards)) == 8
        assert set(cards) <= set(NoThanks("small").options.values)


def test_the_order_of_the_cards_matters_to_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "PRINTED_SETS", PRINTED_SETS[:2])
    rows = list(card_order(Settings(scale=0.2)))
    assert len(rows) == 8
    assert rows[0].ours > 0
    assert rows[0].games == 8
    again = list(card_order(Settings(scale=0.2)))
    assert [row.ours for row in again] == [row.ours for row in rows]


def test_a_ratio_is_that_of_the_sums() -> None:
    row = searching._ratio("half", np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    assert (row.ours, row.low, row.high) == (0.5, 0.5, 0.5)


def test_places_of_scores_lie_about_the_middle() -> None:
    assert _places(np.array([[3.0, 1, 2], [5, 5, 0]])).tolist() == [[1, -1, 0], [0.5, 0.5, -1]]


def test_files_are_made_once_and_comparisons_are_scaled(tmp_path: Path) -> None:
    settings = Settings(scale=0.01, folder=tmp_path)
    first = file_of(settings, 2)
    made = first.stat().st_mtime_ns
    assert database(settings, 2).params["path"] == str(first)
    assert file_of(settings, 2).stat().st_mtime_ns == made
    greedy, random = Strategy("no_thanks_greedy"), Strategy("random")
    found = compare(settings, greedy, random, 1200, TINY, is_rotated=True)
    assert found.scores.shape == (2, 6, 3)
