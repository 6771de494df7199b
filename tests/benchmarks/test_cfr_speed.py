"""The solving benchmark: its sides do what they say, on a game that takes no time."""

from __future__ import annotations

from functools import partial

import pytest

from benchmarks import cfr_speed, cfr_threads
from benchmarks.cfr_speed import (
    JOBS,
    TheirRuns,
    our_count,
    our_rate,
    our_samples,
    our_solve,
    their_count,
    their_rate,
    their_samples,
)
from envs import make_game

KUHN = partial(make_game, "kuhn_v0")


def test_jobs_are_told_apart_and_promise_what_the_docs_say() -> None:
    names = [job.name for job in JOBS]
    assert len(set(names)) == len(names)
    targets = {job.name: job.target for job in JOBS if job.target is not None}
    peers = {"leduc_liteefg": 20.0, "liars_dice_liteefg": 20.0}  # where it is installed
    assert {**peers, **targets} == {
        **peers,
        "leduc_solve": 40.0,
        "liars_dice_solve": 100.0,
        "leduc_external": 5.0,
        "liars_dice_external": 5.0,
    }


def test_both_sides_solve_kuhn() -> None:
    assert our_solve(KUHN)() > 0.0
    ours, theirs = our_count(KUHN), their_count(KUHN, "kuhn_poker")
    assert abs(ours - theirs) <= max(0.05 * ours + 1, ours // 100)


def test_solving_gives_up_when_the_goal_is_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cfr_speed, "MAX_ITERATIONS", 20)
    with pytest.raises(RuntimeError, match="within 20 iterations"):
        our_solve(KUHN, goal=1e-12)()


def test_one_run_gives_both_times() -> None:
    runs = TheirRuns(KUHN, "kuhn_poker")
    whole, iterations = runs.whole(), runs.iterations()
    total = whole()
    assert 0.0 < iterations() < total
    assert iterations() > 0.0  # nothing is left over: it runs once more


def test_rates_count_iterations() -> None:
    assert our_rate(KUHN, "cfr", is_vector=True)() == cfr_speed.ITERATIONS_PER_CHUNK
    assert our_rate(KUHN, "cfr+", is_vector=False)() == cfr_speed.ITERATIONS_PER_CHUNK
    assert their_rate("CFRSolver", "kuhn_poker")() == 1.0


def test_samples_are_counted_in_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cfr_speed, "SAMPLES_BEFORE", 10)
    for sampling in ("external", "outcome"):
        assert our_samples(KUHN, sampling)() == cfr_speed.SAMPLES_PER_CHUNK
        name = f"{sampling.capitalize()}SamplingMCCFRSolver"
        assert their_samples(name, "kuhn_poker")() == cfr_speed.SAMPLES_PER_CHUNK


@pytest.mark.parametrize("name", cfr_threads.SOLVERS)
def test_every_solver_runs_with_two_threads_and_with_one(name: str) -> None:
    _, make = cfr_threads.SOLVERS[name]
    assert make(2)() == make(1)() > 0.0
