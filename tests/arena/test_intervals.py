"""Intervals that cover what they promise, and the arithmetic of paired deals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from scipy import stats

from arena.statistics.intervals import paired_gain
from arena.statistics.stopping import SequentialStop
from envs.core import MasqueradeError
from envs.core.statistics import Blocks, Interval, mean_interval, wilson

rate = partial(mean_interval, bounds=(0.0, 1.0))


def correlated_deals(
    num_deals: int, num_seatings: int, correlation: float, seed: int
) -> np.ndarray:
    """Normal results with the same correlation between any two seatings of a deal."""
    covariance = np.full((num_seatings, num_seatings), correlation)
    np.fill_diagonal(covariance, 1)
    rng = np.random.default_rng(seed)
    return rng.multivariate_normal(np.zeros(num_seatings), covariance, size=num_deals)


def test_an_interval_reads_as_plus_minus_or_by_its_ends() -> None:
    assert str(Interval(0.5, 0.45, 0.55)) == "0.500 ± 0.050"
    assert str(Interval(0.5, 0.25, 0.55)) == "0.500 [0.250, 0.550]"
    assert f"{Interval(0.5, 0.45, 0.5504):.2f}" == "0.50 ± 0.05"
    assert str(Interval(1.0, -math.inf, math.inf)) == "1.000 ± inf"
    assert Interval(0.5, 0.25, 0.55).half_width == 0.25
    assert Interval(0.5, 0.45, 0.55).excludes(0.44)
    assert not Interval(0.5, 0.45, 0.55).excludes(0.45)


@pytest.mark.parametrize(
    ("wins", "games", "low", "high"),
    # Newcombe (1998), Statistics in Medicine 17, table I, method 3.
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_agrees_with_the_published_table(
    wins: int, games: int, low: float, high: float
) -> None:
    interval = wilson(wins, games)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-5)
    theirs = stats.binomtest(wins, games).proportion_ci(0.9, method="wilson")
    ours = wilson(wins, games, 0.9)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))
    mirrored = wilson(games - wins, games)
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - interval.high, 1 - interval.low))


@pytest.mark.parametrize("wins", [0, 7])
def test_wilson_holds_the_rate_even_at_its_ends(wins: int) -> None:
    interval = wilson(wins, 7)
    assert 0 <= interval.low <= interval.mean <= interval.high <= 1


def test_wilson_with_ties_is_too_wide_rather_than_too_narrow() -> None:
    rng = np.random.default_rng(0)
    # A win with 0.3, a tie with 0.4: the truth is 0.5.
    counts = rng.multinomial(100, [0.3, 0.4, 0.3], size=2000)
    covered = [not wilson(win + tie / 2, 100).excludes(0.5) for win, tie, _ in counts.tolist()]
    assert np.mean(covered) > 0.97


@pytest.mark.parametrize("rate", [0.5, 0.9, 0.98])
def test_wilson_covers_what_it_promises(rate: float) -> None:
    wins = np.random.default_rng(1).binomial(200, rate, size=4000)
    assert 0.93 < np.mean([not wilson(w, 200).excludes(rate) for w in wins.tolist()]) < 0.975


def test_mean_interval_is_students_and_covers_what_it_promises() -> None:
    values = np.random.default_rng(2).normal(3, 2, size=(4000, 8))
    low, high = stats.t.interval(0.9, 7, values[0].mean(), stats.sem(values[0]))
    ours = mean_interval(values[0], 0.9)
    assert (ours.low, ours.high) == pytest.approx((low, high))
    assert 0.935 < np.mean([not mean_interval(row).excludes(3) for row in values]) < 0.965
    assert mean_interval([1.0]) == Interval(1.0, -math.inf, math.inf)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.2, 0.5])
@pytest.mark.parametrize("num_deals", [2, 5, 20, 100])
def test_equal_deals_are_not_taken_for_certainty(share: float, num_deals: int) -> None:
    """A share of deals costs all that there is: the interval covers though few tries meet one."""
    deals = (np.random.default_rng(5).random((2000, num_deals)) < share).astype(float)
    found = [rate(row) for row in deals if np.ptp(row) == 0]
    covered = [not interval.excludes(share) for interval in found]
    missed = (len(covered) - sum(covered)) / len(deals)
    assert missed < 0.05 + 3 * math.sqrt(0.05 * 0.95 / len(deals))
    assert all(interval.half_width > 0 for interval in found)


def test_equal_deals_reach_as_far_as_there_is_room() -> None:
    won, shared = rate([1.0] * 30), rate([0.5] * 30)
    assert (won.low, won.high) == (pytest.approx(0.025 ** (1 / 30)), 1.0)
    assert shared.half_width == pytest.approx((1 - won.low) / 2)
    streams = Blocks(np.full((10, 3), 0.5), np.array([0.25, 0.25, 0.5]))
    assert rate(streams) == rate([0.5] * 20), "half of all rests on ten deals"


@pytest.mark.parametrize("num_deals", [2, 3, 4])
@pytest.mark.parametrize("num_certain", [1, 5])
def test_streams_of_equal_deals_that_differ_are_not_taken_for_one(
    num_deals: int, num_certain: int
) -> None:
    """One opponent is a coin, all others always lose: by chance nothing varies within a stream."""
    streams, rng = num_certain + 1, np.random.default_rng(7)
    deals = np.ones((2000, num_deals, streams))
    deals[:, :, 0] = rng.integers(0, 2, (2000, num_deals))
    truth, shares = (num_certain + 0.5) / streams, np.full(streams, 1 / streams)
    missed = np.mean([rate(Blocks(row, shares)).excludes(truth) for row in deals])
    assert missed < 0.05 + 3 * math.sqrt(0.05 * 0.95 / len(deals))


def test_mean_interval_averages_a_deal_before_it_measures_the_spread() -> None:
    assert mean_interval([[0.0, 1.0], [1.0, 0.0]] * 5).half_width == 0


def test_a_rate_of_single_games_is_wilsons_and_a_paired_one_is_students_in_the_middle() -> None:
    won = np.random.default_rng(3).integers(0, 2, size=2000).astype(float)
    alone, wilsons = rate(won), wilson(won.sum(), len(won))
    assert alone.half_width == pytest.approx(wilsons.half_width, rel=0.002)
    luck = np.random.default_rng(6).random(size=(2000, 1))
    paired = np.concatenate([luck, 1.0 - 0.9 * luck], axis=1)
    student = mean_interval(paired)
    assert rate(paired).half_width == pytest.approx(student.half_width, rel=0.01)


def test_a_rate_stays_between_0_and_1_where_students_does_not() -> None:
    won = np.ones(40)
    won[0] = 0.5
    assert mean_interval(won).high > 1.0
    found = rate(won)
    assert found.high < 1.0
    assert found.mean - found.low > found.high - found.mean
    assert rate([[0.5, 1.0]]).half_width < 1.0, "one deal is one game"


def test_values_beyond_the_bounds_move_them() -> None:
    """Returns after variance reduction may lie where no game ends."""
    found = mean_interval([1.1, 1.3, 0.9, 1.2, 1.1], bounds=(-1.0, 1.0))
    assert found.low < 1.12 < found.high <= 1.3


KINDS: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    # Blocks of No Thanks!: means of many games, nearly normal, far from what one game can cost.
    "points": lambda rng, shape: rng.normal(-60, 9, shape),
    # Kuhn: a deal in both seatings, on a grid.
    "grid": lambda rng, shape: rng.integers(-2, 3, (*shape, 2)).mean(axis=2) / 2,
    # A pursuit that the better player nearly always wins.
    "lopsided": lambda rng, shape: rng.choice([-1.0, 0.0, 1.0], shape, p=[0.01, 0.15, 0.84]),
    # Players who are alike: most deals are shared.
    "ties": lambda rng, shape: rng.choice([-0.5, 0.0, 0.5], shape, p=[0.05, 0.9, 0.05]),
}
BOUNDS = {"points": (-200.0, 0.0), "grid": (-2.0, 2.0)}


@pytest.mark.parametrize("num_deals", [5, 10, 20, 30])
@pytest.mark.parametrize("kind", KINDS)
def test_the_interval_of_few_deals_covers_and_is_no_wider_than_it_must_be(
    kind: str, num_deals: int
) -> None:
    bounds, draw = BOUNDS.get(kind, (-1.0, 1.0)), KINDS[kind]
    truth = {"points": -60.0, "lopsided": 0.83}.get(kind, 0.0)
    deals = draw(np.random.default_rng(7), (1500, num_deals))
    found = [mean_interval(row, bounds=bounds) for row in deals]
    assert np.mean([not interval.excludes(truth) for interval in found]) > 0.935
    if kind in ("points", "grid"):
        student = stats.t.ppf(0.975, num_deals - 1) * deals.std(axis=1, ddof=1) / num_deals**0.5
        width = np.mean([interval.half_width for interval in found])
        assert width < 1.06 * student.mean(), "the bounds of a game widened it"


def test_few_deals_that_make_the_spread_count_for_few() -> None:
    """One pot in a hundred deals: Student's with 99 degrees of freedom covers 9 in 10."""
    deals = poker_hands(np.random.default_rng(1), (2000, 100))
    deals = np.where(np.abs(deals) > 50, deals, deals / 10)
    student = stats.t.ppf(0.975, 99) * deals.std(axis=1, ddof=1) / 10
    plain = np.mean(np.abs(deals.mean(axis=1)) <= student)
    ours = np.mean([not mean_interval(row, bounds=(-100.0, 100.0)).excludes(0) for row in deals])
    assert ours > plain


def test_groups_with_deals_of_their_own_are_measured_within() -> None:
    """Three groups of unlike means and spreads, few deals each: it covers, and is narrower."""
    rng, truth = np.random.default_rng(4), np.array([-3.0, 0.0, 4.0])
    shares = np.array([0.25, 0.25, 0.5])
    deals = truth + rng.normal(size=(2000, 6, 3)) * [1.0, 2.0, 0.5]
    found = [mean_interval(Blocks(each, shares)) for each in deals]
    assert 0.935 < np.mean([not each.excludes(float(shares @ truth)) for each in found]) < 0.975
    heap = np.mean([mean_interval(each.ravel()).half_width for each in deals])
    by_deal = np.mean([mean_interval(each @ shares).half_width for each in deals])
    ours = np.mean([each.half_width for each in found])
    assert ours < 0.95 * by_deal < heap
    # With one deal each, only the groups can be compared: too wide rather than too narrow.
    single = [mean_interval(Blocks(each[:1], shares)) for each in deals[:500]]
    assert np.mean([not each.excludes(float(shares @ truth)) for each in single]) > 0.95


def test_the_interval_of_a_rate_covers_where_the_bootstrap_did_not() -> None:
    """Players who are alike: most deals are shared, a few go to either (seed fixed)."""
    rng = np.random.default_rng(0)
    deals = rng.choice([0.0, 0.5, 1.0], p=[0.02, 0.96, 0.02], size=(4000, 30))
    covered = np.mean([not rate(row).excludes(0.5) for row in deals])
    assert covered > 0.945


@pytest.mark.parametrize(
    ("num_seatings", "correlation"), [(2, -0.8), (2, 0.0), (2, 0.5), (3, -0.4), (6, -0.15)]
)
def test_the_paired_gain_follows_the_planted_correlation(
    num_seatings: int, correlation: float
) -> None:
    truth = 1 / (1 + (num_seatings - 1) * correlation)
    deals = correlated_deals(20_000, num_seatings, correlation, seed=8)
    assert paired_gain(deals) == pytest.approx(truth, rel=0.05)
    # An advantage of the first seat is no luck and changes nothing.
    assert paired_gain(deals + np.arange(num_seatings)) == pytest.approx(paired_gain(deals))


def test_the_paired_gain_of_luck_that_cancels_or_is_absent() -> None:
    luck = np.random.default_rng(9).normal(size=(100, 1))
    assert paired_gain(luck * [1, -1]) == math.inf
    assert paired_gain(np.ones((10, 2))) == 1
    with pytest.raises(MasqueradeError, match=r"\[deals, seatings\]"):
        paired_gain([1.0, 2.0])


def test_a_stop_does_not_depend_on_how_far_the_workers_ran() -> None:
    stop = SequentialStop(half_width=0.05, min_blocks=20)
    deals = np.random.default_rng(12).integers(0, 2, size=(3000, 2))
    end = stop.stop_at(deals)
    assert end is not None
    assert {stop.stop_at(deals[:n]) for n in range(end, 3000, 97)} == {end}
    assert all(stop.stop_at(deals[:n]) is None for n in range(20, end, 7))
    assert mean_interval(deals[:end]).half_width <= 0.05


def test_a_stop_looks_on_a_geometric_schedule_up_to_its_maximum() -> None:
    assert list(SequentialStop(0.1, min_blocks=10, growth=2, max_blocks=50).looks()) == [
        10,
        20,
        40,
        50,
    ]
    assert list(SequentialStop(0.1, max_blocks=30).looks()) == [30]
    noise = np.random.default_rng(13).normal(size=60)
    assert SequentialStop(1e-6, min_blocks=10, max_blocks=50).stop_at(noise) == 50


def hundreds(num_deals: int) -> int:
    return -(-num_deals // 100) * 100


def test_a_stop_looks_after_whole_batches_only() -> None:
    stop = SequentialStop(0.1, min_blocks=90, growth=1.25, max_blocks=1000, round_up=hundreds)
    assert list(stop.looks()) == [100, 200, 300, 400, 500, 700, 900, 1000]


def test_several_series_stop_with_the_last_of_them() -> None:
    rng = np.random.default_rng(15)
    series = rng.integers(0, 2, size=(3000, 3)) * np.array([0.3, 1.0, 0.6])
    stop = SequentialStop(half_width=0.05, min_blocks=20)
    ends = [stop.stop_at(column) for column in series.T]
    assert stop.stop_at_all(series) == max(end for end in ends if end) == ends[1]
    assert stop.stop_at_all(series[:100]) is None


def test_playing_ahead_goes_to_a_look_and_not_past_the_end() -> None:
    rng = np.random.default_rng(16)
    stop = SequentialStop(half_width=0.02, min_blocks=100, round_up=hundreds)
    series = rng.integers(0, 2, size=(8000, 2)).astype(float)
    end = stop.stop_at_all(series)
    assert end is not None
    looks = list(itertools.takewhile(lambda look: look <= 2 * end, stop.looks()))
    ahead = stop.next_look(series[:100])
    assert ahead in looks
    assert 0.5 * end < ahead <= looks[looks.index(end) + 1]
    assert stop.next_look(series[:ahead]) > ahead
    assert SequentialStop(10.0, min_blocks=100).next_look(series[:100]) == 125


def test_a_run_of_equal_results_is_not_taken_for_certainty() -> None:
    stop = SequentialStop(half_width=0.01, min_blocks=10)
    end = stop.stop_at(np.ones(1000))
    assert end is not None
    assert end >= math.log(20) / 0.01


def test_large_stacks_do_not_keep_a_stop_from_ending() -> None:
    """A hundred big blinds can be lost, but mostly a few are: what was seen counts."""
    hands = poker_hands(np.random.default_rng(18), (1, 40_000))[0]
    ends = {SequentialStop(0.5, min_blocks=500, span=span).stop_at(hands) for span in (1.0, 400.0)}
    assert len(ends) == 1
    assert ends < {*range(2_000, 40_000)}


def poker_hands(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Big blinds of hands: mostly a blind, at times a pot, in one of two hundred a whole stack."""
    size = rng.choice([0.75, 8.0, 100.0], size=shape, p=[0.75, 0.245, 0.005])
    return size * rng.choice([-1.0, 1.0], size=shape)


@pytest.mark.parametrize("kind", ["coin", "rare", "skewed", "poker"])
def test_the_truth_stays_within_the_sequence_at_every_look(kind: str) -> None:
    """Nobody needs to know when play will stop: 95 % of runs cover at all looks at once."""
    rng = np.random.default_rng(14)
    runs = {
        "coin": lambda: rng.random((600, 3000)) < 0.5,
        "rare": lambda: rng.random((600, 3000)) < 0.03,
        "skewed": lambda: rng.choice([-1.0, -1.0, -1.0, 3.0], size=(600, 3000)),
        "poker": lambda: poker_hands(rng, (600, 3000)),
    }[kind]()
    truth = {"coin": 0.5, "rare": 0.03}.get(kind, 0.0)
    stop = SequentialStop(half_width=1e-9, min_blocks=100, max_blocks=3000)
    looks = list(stop.looks())
    misses = [any(stop.interval(run[:n]).excludes(truth) for n in looks) for run in runs]
    assert np.mean(misses) < 0.05
    # An ordinary interval, looked at as often, promises too much.
    ordinary = [any(mean_interval(run[:n]).excludes(truth) for n in looks) for run in runs]
    assert np.mean(ordinary) > 0.09
    assert stop.interval(runs[0]).half_width < 1.8 * mean_interval(runs[0]).half_width


def test_the_lead_at_the_end_is_covered_and_hardly_biased() -> None:
    """Three leads of unequal spread, in chips of a skewed game; play ends when all are narrow."""
    rng = np.random.default_rng(17)
    stop = SequentialStop(half_width=0.25, min_blocks=50)
    truth = np.array([0.0, 0.3, -0.5])
    covered, ends, means = [], [], []
    for _ in range(400):
        deals = rng.choice([-1.0, -1.0, -1.0, 3.0], size=(2000, 3)) * [0.5, 1.0, 1.0] + truth
        end = stop.stop_at_all(deals)
        assert end is not None
        ends.append(end)
        means.append(deals[:end].mean(axis=0) - truth)
        covered += [not stop.interval(deals[:end, i]).excludes(truth[i]) for i in range(3)]
    assert np.mean(covered) > 0.98
    assert len(set(ends)) > 1
    assert np.abs(np.mean(means, axis=0)).max() < 0.1 * 0.25


@pytest.mark.parametrize(
    "refused",
    [
        lambda: wilson(3, 2),
        lambda: wilson(0, 0),
        lambda: wilson(1, 2, confidence=95),
        lambda: mean_interval([]),
        lambda: SequentialStop(half_width=0.01, growth=1),
    ],
)
def test_nonsense_is_refused(refused) -> None:
    with pytest.raises(MasqueradeError):
        refused()
