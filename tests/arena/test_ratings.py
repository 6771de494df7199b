"""Planted truths: ladders that must be recovered, cycles that must be called, and none invented."""

from __future__ import annotations

import itertools
import math

import choix
import numpy as np
import pytest
from open_spiel.python.egt import alpharank
from scipy import special

from arena.metagame import (
    alpha_rank,
    cycles,
    nash_average,
)
from arena.ratings import ELO, bradley_terry, plackett_luce
from common.errors import MasqueradeError

ROCK_PAPER_SCISSORS = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])
LADDER = np.array([0.0, 120, 200, 230, 400, 520])


def wins_of_ladder(elo: np.ndarray, num_games: int, rng: np.random.Generator) -> np.ndarray:
    """A round robin between players of known strength."""
    rates = 1 / (1 + np.exp((elo - elo[:, None]) / ELO))
    upper = np.triu(rng.binomial(num_games, rates), 1)
    return upper + np.triu(num_games - upper, 1).T


def places_of_ladder(
    elo: np.ndarray, num_games: int, num_seats: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Games of random fields; log-strength plus Gumbel noise ranks as Plackett and Luce say."""
    players = np.array([rng.permutation(len(elo))[:num_seats] for _ in range(num_games)])
    form = elo[players] / ELO + rng.gumbel(size=players.shape)
    return players, (-form).argsort(axis=1).argsort(axis=1) + 1


def random_payoffs(num_players: int, rng: np.random.Generator) -> np.ndarray:
    table = rng.normal(size=(num_players, num_players)).round(2)
    return table - table.T


def test_bradley_terry_recovers_a_ladder_within_its_intervals() -> None:
    rng = np.random.default_rng(0)
    covered, wide = [], []
    for _ in range(150):
        ratings = bradley_terry(wins_of_ladder(LADDER, 200, rng))
        covered += [not ratings.interval(i).excludes(LADDER[i]) for i in range(1, 6)]
        wide.append(ratings.difference(5, 4).excludes(120))
    assert 0.92 < np.mean(covered) < 0.98
    assert 0.01 < np.mean(wide) < 0.11
    ratings = bradley_terry(wins_of_ladder(LADDER, 20_000, rng))
    assert ratings.elo == pytest.approx(LADDER, abs=10)
    assert ratings.elo[0] == 0
    assert ratings.is_firm.all()


@pytest.mark.parametrize("num_seats", [2, 4])
def test_plackett_luce_recovers_a_ladder_within_its_intervals(num_seats: int) -> None:
    rng = np.random.default_rng(1)
    covered = []
    for _ in range(100):
        ratings = plackett_luce(*places_of_ladder(LADDER, 300, num_seats, rng))
        covered += [not ratings.interval(i).excludes(LADDER[i]) for i in range(1, 6)]
    assert 0.91 < np.mean(covered) < 0.985


def test_bradley_terry_agrees_with_choix() -> None:
    rng = np.random.default_rng(2)
    for _ in range(10):
        wins = rng.integers(1, 30, size=(7, 7)).astype(float)
        np.fill_diagonal(wins, 0)
        theirs = choix.ilsr_pairwise_dense(wins) * ELO
        assert bradley_terry(wins, 3, prior=0).elo == pytest.approx(theirs - theirs[3], abs=1e-3)


def test_plackett_luce_agrees_with_choix() -> None:
    rng = np.random.default_rng(3)
    players, places = places_of_ladder(LADDER, 200, 4, rng)
    ranked = np.take_along_axis(players, places.argsort(axis=1), axis=1)
    theirs = choix.ilsr_rankings(6, [tuple(row) for row in ranked.tolist()]) * ELO
    ours = plackett_luce(players, places, anchor=2, prior=0).elo
    assert ours == pytest.approx(theirs - theirs[2], abs=1e-3)


def test_games_of_two_are_the_same_by_wins_or_by_places() -> None:
    rng = np.random.default_rng(4)
    players = np.array([rng.permutation(5)[:2] for _ in range(200)])
    places = rng.integers(1, 3, size=(200, 2))  # half of them ties
    wins = np.zeros((5, 5))
    for (a, b), (x, y) in zip(players, places, strict=True):
        wins[a, b] += (x < y) + (x == y) / 2
        wins[b, a] += (y < x) + (x == y) / 2
    by_wins, by_places = bradley_terry(wins), plackett_luce(players, places)
    assert by_wins.elo == pytest.approx(by_places.elo, abs=1e-6)
    assert by_wins.covariance == pytest.approx(by_places.covariance, abs=1e-6)


def test_a_tie_is_the_average_of_its_orders() -> None:
    field = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]]
    tied = plackett_luce(field * 6, [[1, 2, 2, 2], [1, 2, 3, 4], [2, 2, 1, 1]] * 6)
    players, places = [], []
    triples = itertools.permutations([2, 3, 4])
    pairs = [[3, 4, 1, 2], [3, 4, 2, 1], [4, 3, 1, 2], [4, 3, 2, 1]]
    for triple, pair in itertools.product(triples, pairs):  # four times as many games
        players += field
        places += [[1, *triple], [1, 2, 3, 4], pair]
    split = plackett_luce(players, places, prior=4)
    assert tied.elo == pytest.approx(split.elo, abs=1e-6)


def test_eight_who_fold_at_a_table_of_ten_share_a_place() -> None:
    """Their 40,320 orders are never listed, and the ratings are those of the two who went on."""
    rng = np.random.default_rng(20)
    elo = np.array([0.0, 0, 0, 0, 0, 300, 300, 300, 300, 300])
    players = np.array([rng.permutation(10) for _ in range(20_000)])
    strength = np.exp(elo / ELO)[players[:, :2]]
    is_won = rng.random(len(players)) < strength[:, 0] / strength.sum(axis=1)
    places = np.full(players.shape, 2.0)
    places[:, 0], places[:, 1] = np.where(is_won, 1, 3), np.where(is_won, 3, 1)
    ratings = plackett_luce(players, places, deals=np.arange(len(players)) // 10)
    assert ratings.is_firm.all()
    assert ratings.elo[5:].min() > ratings.elo[:5].max() + 20
    assert ratings.interval(9).half_width < 20


def test_a_game_that_names_only_its_winner_says_nothing_about_the_others() -> None:
    rng = np.random.default_rng(5)
    players, places = places_of_ladder(LADDER, 3000, 4, rng)
    winner_only = np.where(places == 1, 1, 2)
    partial = plackett_luce(players, winner_only, is_last_unranked=True)
    for i in range(1, 6):
        assert not partial.interval(i, 0.999).excludes(LADDER[i])
    pulled_together = plackett_luce(players, winner_only)
    assert np.ptp(pulled_together.elo) < 0.8 * np.ptp(LADDER)


def test_empty_seats_and_players_in_several_seats() -> None:
    with_empty = plackett_luce([[0, 1, -1], [1, -1, 0], [1, 0, 2], [2, 0, 1]] * 5,
                               [[1, 2, 0], [2, 9, 1], [1, 2, 3], [1, 2, 3]] * 5)  # fmt: skip
    moved = plackett_luce([[-1, 0, 1], [0, 1, -1], [1, 0, 2], [2, 0, 1]] * 5,
                          [[5, 1, 2], [1, 2, 0], [1, 2, 3], [1, 2, 3]] * 5)  # fmt: skip
    assert with_empty.elo == pytest.approx(moved.elo)
    # Two seats of an equal player win two games of three.
    twins = plackett_luce([[0, 0, 1]] * 3000, [[1, 2, 3], [1, 3, 2], [2, 3, 1]] * 1000)
    assert twins.elo[1] == pytest.approx(0, abs=1)


def test_an_undefeated_player_stays_finite_and_is_marked() -> None:
    wins = np.array([[0.0, 10, 0], [10, 0, 0], [50, 50, 0]])
    ratings = bradley_terry(wins)
    assert 400 < ratings.elo[2] < 2000
    assert math.isfinite(ratings.interval(2).high)
    assert ratings.is_firm.tolist() == [True, True, False]
    assert bradley_terry(wins * 10).elo[2] > ratings.elo[2] + 200
    with pytest.raises(MasqueradeError, match="prior"):
        bradley_terry(wins, prior=0)


def test_players_who_never_met_are_refused_by_name() -> None:
    wins = np.zeros((5, 5))
    wins[0, 1] = wins[1, 0] = wins[2, 3] = wins[3, 4] = 3
    with pytest.raises(MasqueradeError, match=r"\{0, 1\} and \{2, 3, 4\}"):
        bradley_terry(wins)
    with pytest.raises(MasqueradeError, match=r"\{ann, bob\} and \{cat, dan, eve\}"):
        bradley_terry(wins, names=["ann", "bob", "cat", "dan", "eve"])
    with pytest.raises(MasqueradeError, match=r"\{0, 1\} and \{2, 3\}"):
        plackett_luce([[0, 1], [2, 3]], [[1, 2], [1, 2]])


def test_measured_variances_replace_the_binomial_ones() -> None:
    wins = np.array([[0.0, 40], [60, 0]])
    won = np.repeat([0.0, 1.0], [60, 40])
    totals = np.stack([won, 1 - won], axis=1)[:, None]
    fisher = bradley_terry(wins, prior=0).interval(1)
    # Student's quantile instead of the normal one, and 99 instead of 100 in a measured variance.
    factor = special.stdtrit(99, 0.975) / 1.959964 * math.sqrt(100 / 99)
    single = bradley_terry(wins, prior=0, totals=totals).interval(1)
    assert single.half_width == pytest.approx(factor * fisher.half_width)
    halved = bradley_terry(wins, prior=0, totals=0.5 + (totals - 0.5) / 2).interval(1)
    assert halved.half_width == pytest.approx(single.half_width / 2)


def test_streams_of_deals_are_compared_with_themselves() -> None:
    """Whoever wins in one group and loses in another has no spread for that."""
    rng = np.random.default_rng(11)
    won = (rng.random((50, 2)) < [0.2, 0.8]).astype(float)
    totals = np.stack([won, 1 - won], axis=2)
    wins = [[0, won.sum()], [100 - won.sum(), 0]]
    apart = bradley_terry(wins, totals=totals).interval(0)
    mixed = bradley_terry(wins, totals=totals.reshape(100, 1, 2)).interval(0)
    assert apart.half_width == pytest.approx(0.8 * mixed.half_width, rel=0.1)


def test_deals_that_are_all_alike_do_not_make_a_rating_certain() -> None:
    """Ties everywhere: a deal counts as one game, however many games it had."""
    shared = np.full((30, 1, 2), 1.0)  # two games of a deal, one won by each
    rating = bradley_terry([[0, 30], [30, 0]], totals=shared).interval(0)
    assert rating.half_width == pytest.approx(
        bradley_terry([[0, 15], [15, 0]]).interval(0).half_width, rel=0.05
    )


def test_games_of_one_deal_are_one_observation() -> None:
    rng = np.random.default_rng(10)
    players, places = places_of_ladder(LADDER, 400, 3, rng)
    alone = plackett_luce(players, places, deals=np.arange(400))
    fisher = plackett_luce(players, places)
    assert alone.elo == pytest.approx(fisher.elo)
    for i in range(1, 6):
        assert alone.interval(i).half_width == pytest.approx(fisher.interval(i).half_width, rel=0.2)
    # The same games written down four times tell no more than once.
    copies = plackett_luce(
        np.tile(players, (4, 1)), np.tile(places, (4, 1)), prior=4, deals=np.arange(1600) % 400
    )
    assert copies.elo == pytest.approx(alone.elo, abs=1e-6)
    assert copies.interval(5).half_width == pytest.approx(alone.interval(5).half_width)


def test_ratings_do_not_depend_on_the_order_of_players_or_the_anchor() -> None:
    rng = np.random.default_rng(6)
    for _ in range(10):
        wins = rng.integers(0, 6, size=(6, 6)) * (1 - np.eye(6))
        wins[0] += 1 - np.eye(6)[0]
        order = rng.permutation(6)
        plain, moved = bradley_terry(wins, order[0]), bradley_terry(wins[np.ix_(order, order)])
        assert moved.elo == pytest.approx(plain.elo[order], abs=1e-6)
        assert moved.is_firm.tolist() == plain.is_firm[order].tolist()
        other = bradley_terry(wins, order[1])
        assert other.difference(2, 4).mean == pytest.approx(plain.difference(2, 4).mean, abs=1e-6)
        assert other.difference(2, 4).low == pytest.approx(plain.difference(2, 4).low, abs=1e-6)


def test_rock_paper_scissors_is_a_cycle_with_equal_players() -> None:
    wins = 500 + 300 * ROCK_PAPER_SCISSORS
    np.fill_diagonal(wins, 0)
    found, transitive = cycles(ROCK_PAPER_SCISSORS, ROCK_PAPER_SCISSORS - 0.1, "abc")
    assert [(cycle.agents, cycle.is_certain) for cycle in found] == [(("a", "c", "b"), True)]
    assert transitive == pytest.approx(0)
    assert bradley_terry(wins).elo == pytest.approx([0, 0, 0], abs=1e-6)
    assert nash_average(ROCK_PAPER_SCISSORS).mixture == pytest.approx([1 / 3] * 3)
    assert nash_average(ROCK_PAPER_SCISSORS).skill == pytest.approx([0, 0, 0], abs=1e-7)
    assert alpha_rank(ROCK_PAPER_SCISSORS) == pytest.approx([1 / 3] * 3)


def test_an_edge_that_is_not_significant_makes_no_cycle() -> None:
    payoffs = 0.2 * ROCK_PAPER_SCISSORS
    low = payoffs - 0.1
    [found] = cycles(payoffs, low, "abc")[0]
    assert (found.agents, found.is_certain) == (("a", "c", "b"), True)
    low[2, 1] = -0.01
    [found] = cycles(payoffs, low, "abc")[0]
    assert not found.is_certain


def test_a_ladder_is_transitive_and_has_no_cycles() -> None:
    gradient = LADDER[:, None] - LADDER
    assert cycles(gradient, gradient, "abcdef") == ((), pytest.approx(1))


def test_the_shares_of_ladder_and_cycle_add_up_by_pythagoras() -> None:
    ladder = np.array([2.0, 1, 0])[:, None] - [2.0, 1, 0]
    mixed = cycles(ladder + 2 * ROCK_PAPER_SCISSORS, np.full((3, 3), -1.0), "abc")
    assert mixed[1] == pytest.approx(12 / (12 + 24))
    ladder[0, 2] = ladder[2, 0] = np.nan
    assert cycles(ladder, ladder, "abc")[1] == pytest.approx(1)
    assert cycles(np.zeros((3, 3)), np.zeros((3, 3)), "abc")[1] == 1


def test_nash_average_shares_the_weight_of_copies() -> None:
    twice = np.ix_([0, 0, 1, 2], [0, 0, 1, 2])
    assert nash_average(ROCK_PAPER_SCISSORS[twice]).mixture == pytest.approx(
        [1 / 6, 1 / 6, 1 / 3, 1 / 3], abs=1e-6
    )
    assert nash_average(np.zeros((4, 4))).mixture == pytest.approx([0.25] * 4)


def test_nash_average_of_a_ladder_is_its_top_player() -> None:
    nash = nash_average(LADDER[:, None] - LADDER)
    assert nash.mixture == pytest.approx([0, 0, 0, 0, 0, 1])
    assert nash.skill == pytest.approx(LADDER - LADDER[-1])


def test_nash_average_takes_the_most_even_mixture_that_cannot_be_exploited() -> None:
    # The first two are even; the third loses 1 to the first and wins 3 from the second, so that at
    # most a quarter may be the second.
    payoffs = np.array([[0.0, 0, 1], [0, 0, -3], [-1, 3, 0]])
    assert nash_average(payoffs).mixture == pytest.approx([0.75, 0.25, 0], abs=1e-6)


def test_equilibria_hold_and_do_not_depend_on_the_order_of_players() -> None:
    rng = np.random.default_rng(8)
    for _ in range(15):
        copies = rng.integers(0, 6, size=9)
        payoffs = random_payoffs(6, rng)[np.ix_(copies, copies)]
        order = rng.permutation(9)
        nash, moved = nash_average(payoffs), nash_average(payoffs[np.ix_(order, order)])
        assert nash.mixture.sum() == pytest.approx(1)
        assert nash.mixture.min() >= 0
        assert nash.skill.max() < 1e-5
        assert moved.mixture == pytest.approx(nash.mixture[order], abs=1e-5)
        evolved, again = alpha_rank(payoffs), alpha_rank(payoffs[np.ix_(order, order)])
        assert again == pytest.approx(evolved[order], abs=1e-7)


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.4])
def test_alpha_rank_agrees_with_openspiel(alpha: float) -> None:
    payoffs = random_payoffs(5, np.random.default_rng(9)) / 4
    theirs = alpharank.compute([payoffs], m=50, alpha=alpha)[2]
    assert alpha_rank(payoffs, alpha) == pytest.approx(theirs, abs=1e-8)


def test_alpha_rank_of_a_ladder_is_its_top_player_however_small_the_steps() -> None:
    payoffs = LADDER[:, None] - LADDER
    assert alpha_rank(payoffs) == pytest.approx([0, 0, 0, 0, 0, 1])
    payoffs[5, 4], payoffs[4, 5] = 1e-4, -1e-4
    assert alpha_rank(payoffs) == pytest.approx([0, 0, 0, 0, 0, 1])
    assert alpha_rank(np.zeros((3, 3))) == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: bradley_terry([[0, 1, 2], [1, 0, 2]]),
        lambda: bradley_terry([[0]]),
        lambda: bradley_terry([[0, -1], [1, 0]]),
        lambda: bradley_terry([[0, 1], [1, 0]], anchor=2),
        lambda: plackett_luce([[0, 1]], [[1, 2, 3]]),
        lambda: nash_average([[0, 1], [1, 0]]),
        lambda: alpha_rank([[0, np.nan], [1, 0]]),
    ],
)
def test_nonsense_is_refused(refused) -> None:
    with pytest.raises(MasqueradeError):
        refused()
