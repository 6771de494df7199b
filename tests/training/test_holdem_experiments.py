"""The published experiments on hold'em: what is exact, and that all of them are there."""

from __future__ import annotations

from experiments.holdem.groups import GROUPS, SWEEP
from experiments.runner import Settings


def test_every_published_table_has_its_group() -> None:
    assert {"E1", "E2", "E3-E6", "E7", "E8", "E9", "E10"} <= set(GROUPS)
    assert len(SWEEP) == 18


def test_the_published_interval_of_a_win_rate_is_two_standard_errors() -> None:
    assert [row.verdict for row in GROUPS["V1"](Settings())] == ["hit", "hit"]


def test_one_hot_inputs_are_learnt_best() -> None:
    basic, normalised, one_hot = GROUPS["E1"](Settings(scale=0.05))
    assert one_hot.ours == 1.0
    assert basic.ours < one_hot.ours
    assert normalised.ours < one_hot.ours
