"""The published experiments on hold'em: what is exact, and that all of them are there."""

from __future__ import annotations

from training.experiments.holdem import DOUBLE, EXPLORATION, GROUPS, REPLAY, TARGET
from training.reproduce import Settings


def test_every_published_table_has_its_group() -> None:
    assert {f"E{number}" for number in range(1, 11)} <= set(GROUPS)
    settings = [*EXPLORATION, *REPLAY, *TARGET, *DOUBLE]
    assert len(settings) == len(set(settings)) == 18


def test_the_published_interval_of_a_win_rate_is_two_standard_errors() -> None:
    assert [row.verdict for row in GROUPS["V1"](Settings())] == ["hit", "hit"]


def test_one_hot_inputs_are_learnt_best() -> None:
    basic, normalised, one_hot = GROUPS["E1"](Settings(scale=0.05))
    assert one_hot.ours == 1.0
    assert basic.ours < one_hot.ours
    assert normalised.ours < one_hot.ours
