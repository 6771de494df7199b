"""The harness of the benchmarks, on jobs that take no time; nothing here looks at a clock."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.harness import Chunk, Curve, Job, Measurement, compare, main, on_cores, timed_rate
from benchmarks.peers import LegalTable, numbers, pick
from benchmarks.report import curve_table, missed_targets, table, verdict

ROW_KEYS = {"job", "ours", "peer", "peer_name", "unit", "ratio", "target"}


def always(value: float) -> Callable[[], Chunk]:
    return lambda: lambda: value


def missing() -> Chunk:
    raise ImportError("No module named 'nowhere'")


def make_job(name: str = "dice", **fields: Any) -> Job:
    """A job whose sides hand out what they are told, as times do."""
    defaults: dict[str, Any] = {
        "what": "two numbers",
        "ours": always(2.0),
        "peer": always(8.0),
        "peer_name": "Peer",
        "unit": "ms",
    }
    return Job(name, **defaults | fields)


def make_row(ours: Sequence[float], peer: Sequence[float], **fields: Any) -> Measurement:
    return Measurement(
        make_job(**fields), tuple(ours), tuple(peer), None if peer else "Peer is missing"
    )


def run(jobs: Sequence[Job], folder: Path, *argv: str, curves: Sequence[Curve] = ()) -> int:
    arguments = ["--rounds", "3", "--seconds", "0.001", *argv]
    return main("fake", "Fake jobs.", jobs, curves, arguments, folder)


def last_line(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out.splitlines()[-1]


class TestArithmetic:
    def test_ratio_is_that_of_the_medians(self) -> None:
        row = make_row([30.0, 10.0, 20.0], [5.0, 4.0, 100.0], unit="games/s")
        assert row.ratio == 20.0 / 5.0

    def test_spread_is_the_lowest_and_highest_ratio_of_one_round(self) -> None:
        row = make_row([30.0, 10.0, 20.0], [5.0, 4.0, 100.0], unit="games/s")
        assert row.spread == (0.2, 6.0)

    def test_less_time_is_better(self) -> None:
        assert make_row([2.0], [8.0]).ratio == 4.0

    def test_rate_is_work_over_time(self) -> None:
        ticks: Iterator[float] = iter([0.0, 1.0, 2.0, 4.0])
        assert timed_rate(lambda: 10.0, seconds=3.0, clock=lambda: next(ticks)) == 30.0 / 4.0

    def test_a_ratio_equal_to_its_target_has_met_it(self) -> None:
        assert not make_row([2.0], [8.0], target=4.0).has_missed
        assert make_row([2.0], [8.0], target=4.1).has_missed

    def test_a_skipped_peer_has_neither_ratio_nor_verdict(self) -> None:
        row = make_row([2.0], [], target=4.0)
        assert row.ratio is None
        assert row.spread is None
        assert not row.has_missed
        assert "skipped: Peer is missing" in table([row])

    def test_verdict_names_what_is_below_and_what_was_skipped(self) -> None:
        rows = [
            make_row([2.0], [8.0], name="good", target=3.0),
            make_row([2.0], [8.0], name="bad", target=5.0),
            make_row([2.0], [], name="absent", target=1.0),
            make_row([2.0], [1.0], name="informs"),
        ]
        assert missed_targets(rows) == ["bad 4 < 5"]
        assert verdict(rows) == "below target: bad 4 < 5; skipped, not counted: absent"
        rows.pop(1)
        expected = "no ratio below its target (1 met); skipped, not counted: absent"
        assert verdict(rows) == expected


class TestRun:
    def test_sides_take_turns_and_change_their_order(self) -> None:
        log: list[str] = []

        def noting(side: str) -> Callable[[], Chunk]:
            def chunk() -> float:
                log.append(side)
                return 1.0

            return lambda: chunk

        job = make_job(ours=noting("ours"), peer=noting("peer"))
        compare([job], 2, 1.0, lambda: 0.0)
        warm_up, rounds = log[:2], log[2:]
        assert warm_up == ["ours", "peer"]
        assert rounds == ["ours", "peer", "peer", "ours"]

    def test_json_is_a_list_of_rows_with_the_agreed_keys(self, tmp_path: Path) -> None:
        assert run([make_job(target=3.0)], tmp_path) == 0
        (row,) = json.loads((tmp_path / "fake.json").read_text())
        assert row.keys() >= ROW_KEYS
        assert (row["job"], row["ours"], row["peer"]) == ("dice", 2.0, 8.0)
        assert (row["ratio"], row["target"], row["unit"]) == (4.0, 3.0, "ms")

    def test_check_fails_and_names_the_ratio_on_the_last_line(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        jobs = [make_job("good", target=3.0), make_job("bad", target=5.0)]
        assert run(jobs, tmp_path, "--check") == 1
        assert last_line(capsys) == "below target: bad 4 < 5"

    def test_check_passes_when_every_target_is_met(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run([make_job(target=3.0), make_job("informs")], tmp_path, "--check") == 0
        assert last_line(capsys) == "no ratio below its target (1 met)"

    def test_without_check_a_missed_target_is_no_error(self, tmp_path: Path) -> None:
        assert run([make_job(target=5.0)], tmp_path) == 0

    def test_a_peer_that_is_not_installed_is_skipped_and_not_beaten(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        jobs = [make_job(peer=missing, target=3.0)]
        assert run(jobs, tmp_path, "--check") == 0
        expected = "no ratio below its target (0 met); skipped, not counted: dice"
        assert last_line(capsys) == expected
        (row,) = json.loads((tmp_path / "fake.json").read_text())
        assert row["ours"] == 2.0
        assert row["peer"] is None
        assert row["ratio"] is None
        assert "nowhere" in row["skipped"]

    def test_only_measures_what_it_names(self, tmp_path: Path) -> None:
        run([make_job("dice"), make_job("cards", ours=missing)], tmp_path, "--only", "dice")
        rows = json.loads((tmp_path / "fake.json").read_text())
        assert [row["job"] for row in rows] == ["dice"]

    def test_unknown_name_is_answered_with_the_nearest(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run([make_job("dice"), make_job("cards")], tmp_path, "--only", "card") == 2
        assert "unknown job 'card': did you mean 'cards'?" in capsys.readouterr().err

    @pytest.mark.parametrize("wrong", [("--rounds", "0"), ("--seconds", "0"), ("--rounds", "x")])
    def test_bad_lengths_are_refused(self, wrong: tuple[str, str], tmp_path: Path) -> None:
        assert run([make_job()], tmp_path, *wrong) == 2

    def test_list_measures_nothing(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run([make_job(ours=missing)], tmp_path, "--list") == 0
        assert capsys.readouterr().out.split() == ["dice", "two", "numbers"]
        assert not list(tmp_path.iterdir())

    @pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="cores cannot be chosen here")
    def test_the_process_gets_its_cores_back(self) -> None:
        before = os.sched_getaffinity(0)
        for number in (1, min(2, len(before))):
            with on_cores(number):
                assert len(os.sched_getaffinity(0)) == number
            assert os.sched_getaffinity(0) == before


class TestGrowth:
    curve = Curve("rows", "rows of a table", "rows", {"Leduc": {1: always(1.0), 4: always(1.0)}})

    def test_curves_are_kept_as_json(self, tmp_path: Path) -> None:
        run([make_job()], tmp_path, "--only", "rows", curves=[self.curve])
        (kept,) = json.loads((tmp_path / "fake_scaling.json").read_text())
        assert kept["curve"] == "rows"
        assert kept["series"]["Leduc"].keys() == {"1", "4"}

    def test_table_has_a_column_for_every_x(self) -> None:
        text = curve_table(self.curve, {"Leduc": {1: 10.0, 4: 1234.5}})
        assert text.splitlines()[1].split() == ["1", "4", "rows"]
        assert text.splitlines()[2].split() == ["Leduc", "10", "1,234"]


class TestPolicy:
    def test_every_legal_action_is_chosen_and_no_other(self) -> None:
        draws = numbers()
        assert {pick((0, 2, 5), draws) for _ in range(200)} == {0, 2, 5}

    def test_masks_are_read_and_the_forbidden_action_left_out(self) -> None:
        mask = bytes([1, 0, 1, 1])
        assert LegalTable()[mask] == (0, 2, 3)
        assert LegalTable(never=2)[mask] == (0, 3)
