"""Long work says what will be done and how long it takes, also where there is no terminal."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

import evaluate
from agents import make_agent
from arena.exploitability import distances, make_evaluator
from common import progress
from common.progress import Progress
from envs import make_game
from experiments.runner import Row, Settings, reproduce


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_a_log_has_what_will_be_done_then_a_forecast_then_a_line_now_and_then(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = Progress(10**9, "games")
    shown.show(0)
    assert capsys.readouterr().err == "[....................] 0 of 1,000,000,000 games\n"
    for second in range(1, 62):
        clock.now = 100.0 + second
        shown.add(1000)
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition("] ")[2] for line in lines] == [
        "1,000 of 1,000,000,000 games, 1,000/s, 12 days left",
        "31,000 of 1,000,000,000 games, 1,000/s, 12 days left",
        "61,000 of 1,000,000,000 games, 1,000/s, 12 days left",
    ]


def test_a_piece_that_takes_long_says_that_it_goes_on(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    """A work unit of a slow search may take an hour; a log that is silent looks dead."""
    shown, ends = Progress(10, "games"), iter([False, False, True])

    class Waits(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            assert timeout
            clock.now += timeout
            return next(ends)

    shown._is_over = Waits()
    shown.show(4)
    shown._beat()
    said = capsys.readouterr().err.splitlines()[1:]
    assert said == [
        f"4 of 10 games; the next have taken {time} so far" for time in ("30 s", "1 min 0 s")
    ]


def test_the_pulse_ends_with_the_work() -> None:
    before = set(threading.enumerate())
    with closing(Progress(10, "games", has_pulse=True)):
        (pulse,) = set(threading.enumerate()) - before
    pulse.join()


def test_work_that_is_soon_done_is_not_mentioned(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = Progress(40, "games", after=30.0)
    for second in range(29):
        clock.now = 100.0 + second
        shown.add(1)
    assert capsys.readouterr().err == ""
    clock.now = 130.0
    shown.add(1)
    assert "30 of 40 games, 1/s, 10 s left" in capsys.readouterr().err


def test_a_match_says_what_it_will_play(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert evaluate.main(["match", "kuhn_v0", "random", "kuhn_rule", "--games", "40"]) == 0
    assert "] 0 of 40 games\n" in capsys.readouterr().err


def test_asking_says_how_much(capsys: pytest.CaptureFixture[str]) -> None:
    game = make_game("kuhn_v0")
    agent = make_agent("ismcts", game, iterations=2)
    distances(make_evaluator(game, 1), [agent], num_samples=3)
    assert "of 36 answers of" in capsys.readouterr().err


def test_a_group_is_forecast_by_the_time_it_took(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr("experiments.runner.time", clock)

    def group(settings: Settings) -> Iterable[Row]:
        clock.now += 60 * settings.scale
        return [Row("one", 1.0)]

    path = tmp_path / "kept.json"
    reproduce({"A": group}, Settings(scale=0.5), path)
    assert "A ...\n" in capsys.readouterr().err
    reproduce({"A": group}, Settings(scale=10), path)
    assert "roughly 10 min 0 s, as it took with a scale of 0.5" in capsys.readouterr().err
