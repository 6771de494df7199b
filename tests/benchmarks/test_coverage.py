"""The table of coverages: what is quoted covers, and what was given up does not."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage import (
    CASES,
    METHODS,
    PLAIN,
    TRIED,
    USED,
    Case,
    DealPool,
    coverage,
    main,
    pool_of,
)

ALIKE = Case("made up", "", (), "wins", shares=(0.02, 0.96, 0.02))


def test_the_quoted_interval_covers_between_players_who_are_alike() -> None:
    pool = pool_of(ALIKE, 1000)
    assert pool.values.mean() == 0.5
    assert coverage(pool, USED, 30, tries=400)[0] > 0.93
    covered = coverage(pool, USED, 100, tries=200)[0]
    assert coverage(pool, "bootstrap-t", 100, tries=200)[0] < covered


def test_the_quoted_interval_covers_where_one_player_nearly_always_wins() -> None:
    pool = DealPool(np.repeat([[-1.0], [0.0], [1.0]], [10, 150, 840], axis=0), (-1.0, 1.0))
    for num_deals in (5, 10, 30):
        assert coverage(pool, USED, num_deals, tries=300)[0] > 0.93
    assert coverage(pool, PLAIN, 5, tries=300)[0] < 0.8


def test_the_quoted_interval_is_not_widened_by_what_a_game_could_cost() -> None:
    pool = DealPool(np.random.default_rng(0).normal(5, 6, (1000, 2)), (-200.0, 200.0))
    share, width = coverage(pool, USED, 20, tries=300)
    assert share > 0.92
    assert width < coverage(pool, PLAIN, 20, tries=300)[1]
    assert coverage(pool, "floor", 20, tries=10)[1] == pytest.approx(20.0)
    assert coverage(pool, "pooled", 20, tries=10)[1] > 0


def test_players_are_seated_every_way_and_places_are_shared() -> None:
    case = next(case for case in CASES if case.kind == "place" and len(case.groups) == 1)
    pool = pool_of(case, 20)
    assert (pool.values.shape, pool.bounds) == ((20, 1), (1.0, 3.0))
    assert pool.values.min() >= 1.0
    assert pool.values.max() <= 3.0
    groups = next(case for case in CASES if case.kind == "place" and len(case.groups) > 1)
    values = pool_of(groups, 20).values
    assert values.shape == (20, len(groups.groups))
    assert values[:, :1] == pytest.approx(pool.values)


def test_every_kind_has_intervals_to_try() -> None:
    for case in CASES:
        assert set(TRIED[case.kind]) <= set(METHODS)


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "not shared", "--tries", "3", "--pool", "100"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("| what")
    assert len(lines) == 4 + len(TRIED["wins"])
    assert lines[4].endswith("| always |")
    assert main(["--only", "not shared", "--tries", "3", "--pool", "100", "--quoted"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
    assert main(["--only", "nothing of the kind"]) == 2
    assert "no case has" in capsys.readouterr().err
