"""The table of coverages: what is quoted covers, and what was given up does not."""

from __future__ import annotations

import pytest

from benchmarks.coverage import (
    CASES,
    METHODS,
    TRIED,
    USED,
    Case,
    coverage,
    main,
    pool_of,
    span_of,
)

ALIKE = Case("made up", "", (), "wins", shares=(0.02, 0.96, 0.02))


def test_the_quoted_interval_covers_between_players_who_are_alike() -> None:
    pool = pool_of(ALIKE, 1000)
    assert pool.mean() == 0.5
    assert coverage(pool, USED["wins"], 30, tries=400) > 0.93
    covered = coverage(pool, USED["wins"], 30, tries=60)
    assert coverage(pool, "bootstrap", 30, tries=60) < covered


def test_the_quoted_interval_covers_where_much_is_won_seldom() -> None:
    """Big pots of hold'em: many tries of thirty deals have none."""
    case = next(case for case in CASES if "tight - loose" in case.what)
    pool, span = pool_of(case, 1500), span_of(case)
    assert span == 20_000
    for num_deals in (10, 30, 100, 300):
        assert coverage(pool, USED["return"], num_deals, tries=300, span=span) > 0.92
    assert coverage(pool, "Student's t", 30, tries=300) < 0.8


def test_players_are_seated_every_way_and_places_are_shared() -> None:
    case = next(case for case in CASES if case.kind == "place")
    places = pool_of(case, 20)
    assert places.shape == (20, 6)
    assert places.min() >= 1.0
    assert places.max() <= 3.0


def test_every_kind_has_an_interval_that_is_used() -> None:
    for case in CASES:
        assert USED[case.kind] in TRIED[case.kind]
        assert set(TRIED[case.kind]) <= set(METHODS)


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "shared", "--tries", "3", "--bootstraps", "2", "--pool", "100"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("| what")
    assert len(lines) == 4 + len(TRIED["wins"])
    assert main(["--only", "nothing of the kind"]) == 2
    assert "no case has" in capsys.readouterr().err
