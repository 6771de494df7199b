"""The runner of published tables: groups are kept, misses are called misses."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from common.errors import MasqueradeError, OptionError
from experiments import runner as door
from experiments.runner import Row, Settings, main, reproduce, table_text


def test_a_group_is_played_once_and_kept(tmp_path: Path) -> None:
    calls: list[Settings] = []

    def group(settings: Settings) -> Iterable[Row]:
        calls.append(settings)
        yield Row("wins, %", 12.0, 9.0, 15.0, games=settings.games(100), wanted=(10, 14))

    path = tmp_path / "kept.json"
    first = reproduce({"R1": group}, Settings(), path)
    assert reproduce({"R1": group}, Settings(), path) == first
    assert len(calls) == 1
    reproduce({"R1": group}, Settings(scale=0.5), path)
    reproduce({"R1": group}, Settings(seed=1, scale=0.5), path)
    assert len(calls) == 3, "another seed or scale is another experiment"


def test_what_was_finished_before_a_failure_is_kept(tmp_path: Path) -> None:
    def good(settings: Settings) -> Iterable[Row]:
        return [Row("one", 1.0), Row("two", 2.0, id="B")]

    def bad(settings: Settings) -> Iterable[Row]:
        raise KeyboardInterrupt

    path = tmp_path / "kept.json"
    with pytest.raises(KeyboardInterrupt):
        reproduce({"A": good, "B": bad}, Settings(), path)
    assert reproduce({"A": bad, "B": bad}, Settings(), path, only=["A"]) == [
        Row("one", 1.0, id="A"),
        Row("two", 2.0, id="B"),
    ]


def test_a_number_outside_the_wanted_range_is_called_a_miss() -> None:
    assert Row("q", 8.9, wanted=(9, None)).verdict == "MISS"
    assert Row("q", 9.0, wanted=(9, None)).verdict == "hit"
    assert Row("q", 9.1, wanted=(None, 9)).verdict == "MISS"
    assert Row("q", 9.1).verdict == ""
    assert "MISS" in table_text([Row("q", 8.9, wanted=(9, None))])


def test_an_interval_on_both_sides_of_an_end_decides_nothing() -> None:
    assert Row("q", 10.0, 8.0, 12.0, wanted=(9, None)).verdict == "not decided"
    assert Row("q", 8.0, 6.0, 9.5, wanted=(9, None)).verdict == "not decided"
    assert Row("q", 10.0, 9.0, 12.0, wanted=(9, None)).verdict == "hit"
    assert Row("q", 8.0, 7.0, 8.9, wanted=(9, None)).verdict == "MISS"


def test_bad_input_gets_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(door, "RUNS", tmp_path)
    assert main(["scotland_yrd"]) == 2
    assert "scotland_yard" in capsys.readouterr().err
    assert main(["scotland_yard", "--scale", "0"]) == 2
    with pytest.raises(OptionError, match="unknown group 'R9'"):
        reproduce({"R1": lambda _: []}, Settings(), tmp_path / "x.json", ["R9"])
    (tmp_path / "x.json").write_text("[")
    with pytest.raises(MasqueradeError, match="--fresh"):
        reproduce({"R1": lambda _: []}, Settings(), tmp_path / "x.json")
