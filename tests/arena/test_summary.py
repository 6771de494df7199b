"""Summaries of planted results: numbers worked out by hand, ladders, circles, seats and teams."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from agents.spec import AgentSpec
from arena.match import Fault, MatchResult
from arena.measure import side_names, summarise
from arena.ratings import ELO
from arena.report.tables import (
    by_opponent,
    comparisons,
    cross_of,
    standings,
    to_markdown,
    to_text,
)
from arena.report.words import verdict
from arena.schedule import WorkUnit, make_groups
from arena.spec import TournamentSpec
from arena.summary import Stopping, Summary
from common.statistics import Blocks, Interval, mean_interval
from envs.core.facts import Facts, Unit
from tests.support.seats import facts_of

Returns = Callable[[tuple[int, ...]], Any]
"""From the agents in the seats to [deals, seats]."""


def a_spec(num_agents: int, num_seats: int = 2, deals: int = 1, **more: Any) -> TournamentSpec:
    names = "abcdefgh"[:num_agents]
    agents = tuple(AgentSpec.parse(f"{name}=random") for name in names)
    return TournamentSpec("kuhn_v0", agents, {"num_players": num_seats}, deals, seed=0, **more)


def plant(
    spec: TournamentSpec,
    returns: Returns,
    lengths: Callable[[int, int], Any] = lambda group, seating: 4,
    faults: list[Fault] | None = None,
    stopping: Stopping | None = None,
    facts: Facts | None = None,
    roles: Sequence[tuple[str, ...]] | None = None,
    is_paired: bool = True,
) -> Summary:
    """The summary of games that nobody played, of a game in which winning counts."""
    num_players = spec.options["num_players"]
    facts = facts or facts_of(["player"] * num_players, objective="win", most=100.0)
    groups = make_groups(roles or [()] * len(spec.agents), facts)
    groups = [replace(group, is_paired=is_paired) for group in groups]
    results = []
    for g, group in enumerate(groups):
        for s, seating in enumerate(group.seatings):
            table = np.array(returns(seating), np.float64)
            length = np.broadcast_to(lengths(g, s), len(table)).astype(np.int64)
            mistakes = faults if faults and g == s == 0 else []
            results.append((WorkUnit(g, s, 0, len(table)), MatchResult(table, length, mistakes)))
    game: Any = SimpleNamespace(facts=facts)
    return summarise(spec, game, groups, results, stopping=stopping)


def by_name(summary: Summary) -> dict[str, Any]:
    return {standing.name: standing for standing in summary.standings}


# ---- by hand -------------------------------------------------------------------------------------


def test_two_players_by_hand() -> None:
    # Deal 0: a wins 2 from both seats. Deal 1: a draw, then b wins 1. Deal 2: a loses 1, wins 1.
    games = {(0, 1): [[2, -2], [0, 0], [-1, 1]], (1, 0): [[-2, 2], [1, -1], [-1, 1]]}
    summary = plant(a_spec(2, deals=3), games.__getitem__, lambda _, seating: [3, 4, 5 + seating])
    a, b = by_name(summary)["a"], by_name(summary)["b"]
    assert [standing.name for standing in summary.standings] == ["a", "b"]
    # Mean of each deal: 2, -1/2, 0. Wins: 1 and 1, 1/2 and 0, 0 and 1.
    assert a.mean_return == mean_interval([2, -0.5, 0], bounds=(-100, 100))
    assert b.mean_return.mean == -0.5
    assert a.win_rate.mean == pytest.approx(3.5 / 6)
    assert b.win_rate.mean == pytest.approx(2.5 / 6)
    wins = np.array([1, 0.25, 0.5])
    assert a.win_rate == mean_interval(wins, bounds=(0, 1))
    assert a.placement is None  # of two
    assert (a.seats, a.faults) == (6, 0)
    (pair,) = summary.comparisons
    assert (pair.first, pair.second, pair.games) == ("a", "b", 6)
    assert pair.lead == a.mean_return
    assert pair.score == a.win_rate
    # Unpaired: the mean of Var(2, 0, -1) = 7/3 and Var(2, -1, 1) = 7/3; paired: 2 Var(2, -1/2, 0).
    assert pair.gain == pytest.approx(7 / 3 / (2 * 1.75))
    assert summary.length.mean == pytest.approx((3 + 4 + 5 + 3 + 4 + 6) / 6)
    assert summary.length.quantiles["0.5"] == 4
    assert dict(zip(summary.length.edges, summary.length.counts, strict=False)) == {
        3: 2,
        4: 2,
        5: 1,
        6: 1,
    }


def test_three_players_by_hand() -> None:
    # Seat 0 always wins, seats 1 and 2 tie; in the last seating all tie.
    def games(seating: tuple[int, ...]) -> list[list[float]]:
        return [[0, 0, 0]] if seating == (2, 1, 0) else [[2, -1, -1]]

    summary = plant(a_spec(3, 3), games)
    a, b, c = (by_name(summary)[name] for name in "abc")
    # a wins its two games in seat 0 and a third of the tie; c one game less.
    assert a.win_rate.mean == pytest.approx((2 + 1 / 3) / 6)
    assert b.win_rate.mean == pytest.approx((2 + 1 / 3) / 6)
    assert c.win_rate.mean == pytest.approx((1 + 1 / 3) / 6)
    # First twice, tied for second and third three times, tied for all places once.
    assert a.placement.mean == pytest.approx((2 * 1 + 3 * 2.5 + 2) / 6)
    assert c.placement.mean == pytest.approx((1 * 1 + 4 * 2.5 + 2) / 6)
    assert [seat.role for seat in summary.seats] == ["seat 0", "seat 1", "seat 2"]
    assert [seat.win_rate.mean for seat in summary.seats] == pytest.approx(
        [(5 + 1 / 3) / 6, 1 / 18, 1 / 18]
    )
    assert [seat.mean_return.mean for seat in summary.seats] == pytest.approx(
        [10 / 6, -5 / 6, -5 / 6]
    )


def test_one_pair_is_compared_once_over_all_its_groups() -> None:
    rng = np.random.default_rng(0)
    spec = a_spec(4, 3, deals=50)
    tables = {}

    def games(seating: tuple[int, ...]) -> Any:
        tables[seating] = rng.normal(size=(50, 3))
        return tables[seating]

    summary = plant(spec, games)
    shared = plant(replace(spec, shared_deals=True), tables.__getitem__).comparisons[4]
    assert [(c.first + c.second) for c in summary.comparisons] == [
        "ab",
        "ac",
        "ad",
        "bc",
        "bd",
        "cd",
    ]
    leads = [
        (table[:, seating.index(1)] - table[:, seating.index(3)]) / 2
        for seating, table in tables.items()
        if 1 in seating and 3 in seating
    ]
    assert summary.comparisons[4].games == 12 * 50
    assert summary.comparisons[4].lead.mean == pytest.approx(np.mean(leads))
    # b and d meet in two groups: with a and with c.
    bounds = (-100.0, 100.0)
    assert (shared.deals, summary.comparisons[4].deals) == (50, 100)
    expected = mean_interval(np.mean(leads, axis=0), bounds=bounds).half_width
    assert shared.lead.half_width == pytest.approx(expected)
    blocks = Blocks(np.stack([np.mean(leads[:6], 0), np.mean(leads[6:], 0)], 1), np.full(2, 0.5))
    expected = mean_interval(blocks, bounds=bounds).half_width
    assert summary.comparisons[4].lead.half_width == pytest.approx(expected)


def test_a_certain_lead_is_not_called_chance_because_much_could_be_lost() -> None:
    """No Thanks!: a game can cost 200 points, but in 20 deals a lead of 5 has a spread of 6."""
    rng = np.random.default_rng(0)
    leads = rng.normal(size=20)
    leads = 5.1 + 6.2 * (leads - leads.mean()) / leads.std(ddof=1)
    noise = rng.normal(scale=20, size=20)
    won = {(0, 1): noise + leads, (1, 0): noise - leads}

    facts = facts_of(["player"] * 2)
    facts = replace(facts, seats=tuple(replace(s, low=-200.0, high=0.0) for s in facts.seats))
    summary = plant(a_spec(2, deals=20), lambda s: np.stack([won[s], -won[s]], 1), facts=facts)
    (pair,) = summary.comparisons
    assert pair.lead.mean == pytest.approx(5.1)
    assert pair.lead.half_width == pytest.approx(2.9, abs=0.1)
    assert pair.lead.excludes(0)
    assert "chance" not in verdict(summary)


def test_everything_says_on_how_many_independent_deals_it_rests() -> None:
    def returns(seating: tuple[int, ...]) -> Any:
        return np.random.default_rng(sum(seating)).normal(size=(10, 2))

    spec = a_spec(3, deals=10)
    own, shared = plant(spec, returns), plant(replace(spec, shared_deals=True), returns)
    apart = plant(spec, returns, is_paired=False)
    for summary, of_agent, of_pair in ((own, 20, 10), (shared, 10, 10), (apart, 40, 20)):
        assert {standing.deals for standing in summary.standings} == {of_agent}
        assert {pair.deals for pair in summary.comparisons} == {of_pair}
        assert f" {of_agent} " in standings(summary).markdown()
        assert comparisons(summary).head[-2:] == ["deals", "paired gain"]
    assert "Each group draws its own 10 deals" in to_text(own)
    assert "All groups play the same 10 deals" in to_text(shared)
    foreign = replace(spec.agents[0], id="mine:Player")
    mixed = replace(spec, agents=(foreign, *spec.agents[1:]), shared_deals=True)
    assert "Groups that could not remember play the same 10 deals" in to_text(plant(mixed, returns))
    assert [pair.gain for pair in apart.comparisons] == pytest.approx([1.0] * 3), "none is paired"


@pytest.mark.parametrize("returns", [[[0, 0]], [[1, -1]]], ids=["tied", "won by a seat"])
def test_equal_outcomes_are_not_taken_for_certainty(returns: list[list[float]]) -> None:
    summary = plant(a_spec(2, deals=8), lambda _: returns * 8)
    assert all(pair.lead.half_width > 0.2 for pair in summary.comparisons)
    for standing in summary.standings:
        assert standing.mean_return.half_width > 0.2
        assert standing.win_rate.half_width > 0.1
    assert by_name(summary)["b"].elo.half_width > 100


def test_returns_are_read_in_the_unit_of_the_game_or_of_the_file() -> None:
    def games(seating: tuple[int, ...]) -> Any:
        return [[1, -1], [3, -3]] if seating == (0, 1) else [[-1, 1], [-3, 3]]

    facts = dataclasses.replace(facts_of(["player"] * 2, most=1e4), unit=Unit("bb/100", 100 / 2))
    summary = plant(a_spec(2, deals=2), games, facts=facts)
    assert by_name(summary)["a"].mean_return.mean == 2  # a summary has the returns themselves
    assert "mean return, bb/100" in to_text(summary)
    assert "+100 ± 635" in to_text(summary)
    rows = list(csv.DictReader(io.StringIO(standings(summary).csv())))
    assert [float(row["mean_return"]) for row in rows] == [100, -100]
    other = plant(a_spec(2, deals=2, unit=Unit("antes")), games, facts=facts)
    assert "mean return, antes" in to_text(other)
    assert "+2 ± 13" in to_text(other)
    assert other.unit == Unit("antes")


def test_winning_counts_only_where_the_objective_says_so() -> None:
    """Who wins small pots often and loses the large ones is no good player of poker."""

    def games(seating: tuple[int, ...]) -> Any:
        often = [1.0] * 9 + [-30.0]
        return [[x, -x] if seating == (0, 1) else [-x, x] for x in often]

    spec = a_spec(2, deals=10)
    by_return = plant(spec, games, facts=facts_of(["player"] * 2))
    assert [standing.name for standing in by_return.standings] == ["b", "a"]
    first = by_return.standings[0]
    assert (first.elo, first.win_rate, by_return.comparisons[0].score) == (None, None, None)
    assert by_return.seats[0].win_rate is None
    assert not re.search("Elo|wins|better in", to_text(by_return))
    by_wins = plant(spec, games)
    assert [standing.name for standing in by_wins.standings] == ["a", "b"]
    assert by_wins.standings[0].win_rate.mean == pytest.approx(0.9)
    assert by_wins.standings[0].elo.mean > by_wins.standings[1].elo.mean


def test_standings_by_place_follow_the_mean_place() -> None:
    # a is second always; b wins a little and is last, c wins much and is last.
    def games(seating: tuple[int, ...]) -> Any:
        deals = [{0: 0.0, 1: 1.0, 2: -9.0}, {0: 0.0, 1: -9.0, 2: 40.0}]
        return [[deal[agent] for agent in seating] for deal in deals]

    facts = facts_of(["player"] * 3, objective="place")
    summary = plant(a_spec(3, 3, deals=2), games, facts=facts)
    assert [standing.placement.mean for standing in summary.standings] == [2, 2, 2]
    assert [standing.name for standing in summary.standings] == ["c", "a", "b"]
    always_second = summary.standings[1].placement  # in both deals, which is not for certain
    assert always_second.low < 1.2
    assert always_second.high > 2.8, "two equal deals exclude hardly any place"

    def better(seating: tuple[int, ...]) -> Any:
        return [
            [row[i] + (9.5 if who == 1 else 0) for i, who in enumerate(seating)]
            for row in games(seating)
        ]

    summary = plant(a_spec(3, 3, deals=2), better, facts=facts)
    assert [standing.name for standing in summary.standings] == ["b", "c", "a"]


def test_only_the_deals_that_count_are_counted() -> None:
    spec = dataclasses.replace(a_spec(2), deals=2)
    faults = [Fault(0, 1, "slow"), Fault(2, 0, "slow"), Fault(1, 0, "slow")]
    summary = plant(spec, lambda _: [[1, -1], [1, -1], [-9, 9]], faults=faults)
    assert by_name(summary)["a"].mean_return.mean == 0
    assert summary.seats[0].mean_return.mean == 1
    assert summary.faults == ["a lost 1 game: slow", "b lost 1 game: slow"]


# ---- planted truths ------------------------------------------------------------------------------


def test_a_planted_ladder_is_covered_by_the_intervals_of_shared_deals() -> None:
    """All groups play the same deals: the first seat's luck is common to them."""
    rng = np.random.default_rng(1)
    elo = np.array([0.0, 80, 200])
    spec = a_spec(3, deals=120)
    ratings: list[Interval] = []
    for _ in range(80):
        luck = LUCK * rng.normal(size=120)

        def games(seating: tuple[int, ...], luck: Any = luck) -> Any:
            ahead = (elo[seating[0]] - elo[seating[1]] + luck) / ELO
            is_won = rng.random(120) < 1 / (1 + np.exp(-ahead))
            return np.where(is_won[:, None], [1, -1], [-1, 1])

        ratings.append(by_name(plant(spec, games))["c"].elo)
    # Luck flattens the odds; what is recovered is their mean over deals.
    covered = [not rating.excludes(_flattened(elo[2])) for rating in ratings]
    assert 0.88 < np.mean(covered) <= 1
    # As wide as the ratings vary. Games taken for independent would give 1.4 times that.
    promised = np.mean([rating.half_width for rating in ratings]) / 1.96
    assert promised == pytest.approx(np.std([rating.mean for rating in ratings]), rel=0.15)


LUCK = 600.0
"""How much the deals of a planted ladder vary, in points."""


def _flattened(elo: float) -> float:
    """The rating of a player whose every game has that luck."""
    luck, weights = np.polynomial.hermite_e.hermegauss(60)
    rate = weights @ (1 / (1 + np.exp(-(elo + LUCK * luck) / ELO))) / weights.sum()
    return float(ELO * math.log(rate / (1 - rate)))


def test_plackett_luce_is_recovered_at_tables_of_three() -> None:
    rng = np.random.default_rng(2)
    elo = np.array([0.0, 100, 250, 300])

    def games(seating: tuple[int, ...]) -> Any:
        form = elo[list(seating)] / ELO + rng.gumbel(size=(300, 3))
        return form.argsort(axis=1).argsort(axis=1) - 1.0

    standings = by_name(plant(a_spec(4, 3, deals=300), games))
    for name, truth in zip("bcd", elo[1:], strict=True):
        rating = standings[name].plackett_luce
        assert not rating.excludes(truth), (name, rating)
        assert rating.half_width < 30
        assert not standings[name].elo.excludes(truth)  # pairs of a ranking are Bradley-Terry
    assert by_name(plant(a_spec(3), lambda _: [[1, -1]]))["b"].plackett_luce is None


def test_losers_who_all_get_the_same_are_not_taken_for_equals() -> None:
    rng = np.random.default_rng(3)
    elo = np.array([0.0, 150, 300])

    def games(seating: tuple[int, ...]) -> Any:
        form = elo[list(seating)] / ELO + rng.gumbel(size=(1000, 3))
        return np.where(form == form.max(axis=1, keepdims=True), 1.0, -0.5)

    standings = by_name(plant(a_spec(3, 3, deals=1000), games))
    assert not standings["c"].plackett_luce.excludes(300)
    assert standings["c"].elo.excludes(300)


def circle(strengths: dict[str, float], noise: float = 1.0, deals: int = 100) -> Summary:
    """A beats b beats c beats a by so much, in either seat, give or take the noise."""
    wobble = np.resize([noise, -noise], deals)

    def games(seating: tuple[int, ...]) -> Any:
        first, second = ("abc"[agent] for agent in seating)
        lead = strengths.get(first + second) or -strengths[second + first]
        values = lead + wobble * (1 if first < second else -1)
        return np.stack([values, -values], axis=1)

    return plant(a_spec(3, deals=deals), games)


def test_a_planted_circle_is_called_a_cycle() -> None:
    summary = circle({"ab": 0.5, "bc": 0.6, "ca": 0.4})
    (cycle,) = summary.metagame.cycles
    assert cycle.agents == ("a", "b", "c")
    assert cycle.is_certain
    assert cycle.strength == pytest.approx(0.4)
    assert summary.metagame.leads[2][0] == pytest.approx(0.4)
    assert summary.metagame.cyclic > 0.95
    # Each is as frequent as the other two are strong against each other.
    assert summary.metagame.nash == pytest.approx([0.6 / 1.5, 0.4 / 1.5, 0.5 / 1.5])
    assert summary.metagame.alpha_rank == pytest.approx([1 / 3] * 3, abs=1e-6)
    assert "Cycle: a beats b beats c beats a" in to_text(summary)
    assert summary.to_dict()["metagame"]["cycles"][0]["is_certain"] is True


def test_a_circle_within_the_noise_is_not_called_certain() -> None:
    for weak in ("ab", "bc", "ca"):
        # The intervals reach 0.2 to either side, for the three of them together 0.24.
        summary = circle({"ab": 0.5, "bc": 0.6, "ca": 0.4, weak: 0.22})
        (cycle,) = summary.metagame.cycles
        assert not cycle.is_certain
        assert cycle.strength == pytest.approx(0.22)
        assert "No certain cycle" in to_text(summary)
        assert "may be chance" in to_text(summary)
        certain = np.array(summary.metagame.is_certain)
        assert certain.sum() == 4
        assert not certain["abc".index(weak[0]), "abc".index(weak[1])]
    # What may be chance counts as even: nobody is better than another.
    assert circle({"ab": 0.1, "bc": 0.2, "ca": 0.1}).metagame.nash == pytest.approx([1 / 3] * 3)


def test_a_ladder_has_no_cycle_and_one_best_agent() -> None:
    def games(seating: tuple[int, ...]) -> Any:
        lead = float(seating[0] - seating[1])
        return [[share * lead, -share * lead] for share in (1.0, 0.97, 1.03)]

    summary = plant(a_spec(5, deals=3), games)
    assert summary.metagame.cycles == ()
    assert "No cycle." in to_text(summary)
    assert summary.metagame.transitive == pytest.approx(1)
    assert summary.metagame.nash == pytest.approx([0, 0, 0, 0, 1])
    assert summary.metagame.nash_skill[0] == pytest.approx(-4)
    assert summary.metagame.alpha_rank[4] == pytest.approx(1)
    # They are in reports, not in the table that everybody sees.
    assert "Nash" not in to_text(summary)
    assert "| e | 1.00 |" in to_markdown(summary)


# ---- seats, teams, one against many --------------------------------------------------------------


def test_the_table_of_roles_finds_who_is_good_where() -> None:
    rng = np.random.default_rng(5)

    def games(seating: tuple[int, ...]) -> Any:
        # The first seat is worth 1; a is worth 2 more there, against b only.
        values = 1 + 2 * (seating == (0, 1)) + rng.normal(size=500)
        return np.stack([values, -values], axis=1)

    summary = plant(a_spec(3, deals=500), games, facts=facts_of(["hider", "seeker"]))
    entries = {(r.agent, r.role, r.against): r for r in summary.by_role}
    assert len(entries) == 3 * 2 * 3
    for (agent, role, against), truth in {
        ("a", "hider", "b"): 3,
        ("a", "hider", "c"): 1,
        ("a", "hider", None): 2,
        ("b", "seeker", "a"): -3,
        ("b", "hider", "a"): 1,
        ("c", "seeker", None): -1,
    }.items():
        found = entries[agent, role, against]
        assert found.mean_return.mean == pytest.approx(truth, abs=0.15)
        assert not found.mean_return.excludes(truth)
    assert entries["a", "hider", "b"].games == 500
    assert entries["a", "hider", None].games == 1000
    assert summary.roles == ("hider", "seeker")
    assert not summary.seats[0].mean_return.excludes(1 + 2 / 6)


HUNT = facts_of(["hider", "seeker", "seeker"], [0, 1, 1], objective="win")


def test_a_team_is_one_side_and_gets_the_mean_of_its_members() -> None:
    # The hider loses to a's team and wins against b's.
    games = {(0, 1, 1): [[2, -2, -2]], (1, 0, 0): [[-2, 3, 1]]}
    summary = plant(a_spec(2, 3), games.__getitem__, facts=HUNT)
    a = by_name(summary)["a"]
    assert a.mean_return.mean == 2
    assert a.win_rate.mean == 1
    assert a.plackett_luce is None
    assert a.seats == 2
    assert summary.comparisons[0].lead.mean == 2
    assert summary.roles == ("hider", "seeker")
    entries = {(r.agent, r.role): r.mean_return.mean for r in summary.by_role if not r.against}
    assert entries == {
        ("a", "hider"): 2,
        ("a", "seeker"): 2,
        ("b", "hider"): -2,
        ("b", "seeker"): -2,
    }
    assert not summary.singles
    # Paying every member of the team once more changes nothing.
    assert side_names(facts_of(["player"] * 4, [0, 1, 0, 1])) == ("seats 0+2", "seats 1+3")
    assert side_names(facts_of(["hider", "seeker", "seeker"])) == ("hider", "seeker 1", "seeker 2")


def pursuit() -> Summary:
    """The hider's side is worth 1; a hides well, c seeks well, d only hides and e only seeks."""
    worth = {0: 0.5, 1: 0.0, 2: 0.0, 3: 0.25, 4: 0.0}
    finds = {0: 0.0, 1: 0.0, 2: 0.75, 3: 0.0, 4: 0.25}
    rng = np.random.default_rng(8)

    def games(seating: tuple[int, ...]) -> Any:
        values = 1 + worth[seating[0]] - finds[seating[1]] + 0.1 * rng.normal(size=400)
        return np.stack([values, -values, -values], axis=1)

    roles: list[tuple[str, ...]] = [(), (), (), ("hider",), ("seeker",)]
    return plant(a_spec(5, 3, deals=400), games, facts=HUNT, roles=roles)


def test_two_sided_games_are_compared_as_rows_against_columns() -> None:
    summary = pursuit()
    assert summary.is_two_sided
    cross = cross_of(summary)
    assert cross is not None
    assert sorted(cross.rows) == ["a", "b", "c", "d"]
    assert sorted(cross.columns) == ["a", "b", "c", "e"]
    assert cross.cells["a", "c"].lead.mean == pytest.approx(0.75, abs=0.03)
    assert cross.cells["d", "e"].lead.mean == pytest.approx(1.0, abs=0.03)
    assert ("a", "a") not in cross.cells
    assert ("a", "d") not in cross.cells
    assert "mean return (points) of hider (row) against seeker" in to_text(summary)


def test_agents_for_one_role_stand_after_the_ladder_of_those_that_play_all() -> None:
    summary = pursuit()
    assert [(s.name, s.role) for s in summary.standings] == [
        ("c", None),
        ("a", None),
        ("b", None),
        ("d", "hider"),
        ("e", "seeker"),
    ]
    assert [(c.first, c.second) for c in summary.comparisons] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    assert summary.metagame is not None
    assert summary.metagame.agents == ("a", "b", "c")
    assert by_name(summary)["d"].elo is None
    text = verdict(summary)
    assert text.startswith("a does best as hider (+1.")
    assert "c does best as seeker (" in text
    assert "c beats both others" in text


def test_agents_that_cannot_be_compared_have_no_ladder() -> None:
    facts = facts_of(["hider", "seeker"])
    summary = plant(a_spec(2), lambda _: [[1, -1]], facts=facts, roles=[("hider",), ("seeker",)])
    assert summary.comparisons == []
    assert summary.metagame is None
    assert [s.role for s in summary.standings] == ["hider", "seeker"]
    assert "hider" in to_text(summary)
    assert to_markdown(summary)
    assert Summary.from_dict(summary.to_dict()).metagame is None


def test_one_against_two_and_two_against_one() -> None:
    def games(seating: tuple[int, ...]) -> Any:
        # One a among b's wins 4 chips; one b among a's loses 1.
        odd = 0 if seating.count(0) == 1 else 1
        value = 4.0 if odd == 0 else -1.0
        return [[value if who == odd else -value / 2 for who in seating]]

    summary = plant(a_spec(2, 3), games)
    one_a, one_b = summary.singles
    assert (one_a.agent, one_a.against, one_a.num_others, one_a.games) == ("a", "b", 2, 3)
    assert (one_a.mean_return.mean, one_a.win_rate.mean) == (4, 1)
    assert (one_b.agent, one_b.mean_return.mean, one_b.win_rate.mean) == ("b", -1, 0)
    assert by_name(summary)["a"].mean_return.mean == (4 + 0.5) / 2
    assert "2 of b" in to_text(summary)
    assert plant(a_spec(3, 3), lambda _: [[1, 0, -1]]).singles == []


# ---- what is written -----------------------------------------------------------------------------


def noisy(num_agents: int, num_seats: int = 2, deals: int = 30, **more: Any) -> Summary:
    rng = np.random.default_rng(6)
    spec = a_spec(num_agents, num_seats, deals, **more)
    if num_agents > 2:
        long = [
            AgentSpec("random", name=f"{'a very long name ' * 3}{i}") for i in range(num_agents)
        ]
        spec = dataclasses.replace(spec, agents=tuple(long))

    def games(seating: tuple[int, ...]) -> Any:
        values = rng.normal(size=(deals, num_seats)) * 40 + np.array(seating) * 20
        return values - values.mean(axis=1, keepdims=True)

    return plant(spec, games, stopping=Stopping(0.1, 0.09, (10, 20, 30), True))


@pytest.mark.parametrize(
    ("num_agents", "num_seats"), [(2, 2), (3, 2), (8, 2), (2, 3), (3, 3), (5, 4), (6, 5), (2, 5)]
)
def test_the_text_fits_a_terminal_of_a_hundred_columns(num_agents: int, num_seats: int) -> None:
    text = to_text(noisy(num_agents, num_seats, unit=Unit("bb/100", 100.0)))
    assert max(map(len, text.splitlines())) <= 100
    assert "nan" not in text


def test_names_cut_short_stay_apart() -> None:
    text = to_text(noisy(8))
    names = {line[:24] for line in text.splitlines() if line.startswith("a very")}
    assert len(names) == 8


@pytest.mark.parametrize("num_seats", [2, 3])
def test_the_dictionary_is_complete_and_strict_json(num_seats: int) -> None:
    for deals in (1, 30):
        summary = noisy(3, num_seats, deals)
        content = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
        for name, entries in (
            ("standings", summary.standings),
            ("comparisons", summary.comparisons),
            ("by_role", summary.by_role),
            ("groups", summary.groups),
        ):
            assert len(content[name]) == len(entries)
            assert set(content[name][0]) == {field.name for field in dataclasses.fields(entries[0])}
        assert set(content) == {field.name for field in dataclasses.fields(summary)}
        mean, low, high = content["standings"][0]["mean_return"]
        assert low <= mean <= high, "one deal has bounds, though no spread"
        assert mean == summary.standings[0].mean_return.mean
        assert sum(content["length"]["counts"]) == content["length"]["games"]


def test_lengths_are_told_by_group_in_bins_of_all() -> None:
    summary = plant(
        a_spec(3, deals=2),
        lambda _: [[1, -1], [1, -1]],
        lambda group, seating: 10 * group + seating,
    )
    assert [group.agents for group in summary.groups] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [group.length.mean for group in summary.groups] == [0.5, 10.5, 20.5]
    assert [group.games for group in summary.groups] == [4, 4, 4]
    assert summary.length.edges[0] == 0
    assert summary.length.edges[-1] > 21
    counts = np.sum([group.length.counts for group in summary.groups], axis=0)
    assert counts.tolist() == list(summary.length.counts)
    assert all(group.length.edges == summary.length.edges for group in summary.groups)


def test_a_summary_is_read_back_as_it_was_written() -> None:
    for deals in (1, 30):
        for summary in (
            noisy(3, 3, deals, unit=Unit("bb/100", 50.0)),
            noisy(2, 2, deals),
            pursuit(),
        ):
            content = json.loads(json.dumps(summary.to_dict()))
            again = Summary.from_dict(content)
            assert again.to_dict() == summary.to_dict()
            assert to_markdown(again) == to_markdown(summary)


def test_csv_files_hold_the_numbers() -> None:
    summary = noisy(3)
    rows = list(csv.DictReader(io.StringIO(standings(summary).csv())))
    assert [row["name"] for row in rows] == [standing.name for standing in summary.standings]
    assert float(rows[0]["mean_return_low"]) == summary.standings[0].mean_return.low
    assert float(rows[0]["win_rate_high"]) == 100 * summary.standings[0].win_rate.high
    assert "plackett_luce" not in rows[0]
    assert len(list(csv.DictReader(io.StringIO(comparisons(summary).csv())))) == 3
    assert len(list(csv.DictReader(io.StringIO(by_opponent(summary).csv())))) == 3 * 2 * 3


def test_markdown_tables_are_whole() -> None:
    text = to_markdown(
        plant(
            dataclasses.replace(
                a_spec(2, 3, 2),
                agents=(AgentSpec("random", name="x|y"), AgentSpec("random", name="z")),
            ),
            lambda _: [[1, 0, -1], [0, 0, 0]],
        )
    )
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if lines[0].startswith("|"):
            assert len({line.count("|") for line in lines}) == 1
    assert "x&#124;y" in text


def test_who_cannot_be_repeated_is_said() -> None:
    spec = a_spec(2)
    game = spec.build_game()
    results = [
        (WorkUnit(0, s, 0, 1), MatchResult(np.zeros((1, 2)), np.array([3]))) for s in range(2)
    ]
    summary = summarise(spec, game, spec.groups(game), results, unsteady=[1])
    assert by_name(summary)["a"].is_reproducible
    assert not by_name(summary)["b"].is_reproducible
    _, _, head, of_a, of_b = to_text(summary).splitlines()[:5]
    assert [head[0:5], of_a[0], of_b[0]] == ["agent", "a", "b"]
    assert [" state" in head, " frozen" in of_a, " frozen, not" in of_b] == [True] * 3
    assert "because of b" in to_text(summary)
    assert "All agents are frozen." in to_text(plant(spec, lambda _: [[1, -1]]))


def test_a_sequential_stop_is_told() -> None:
    assert "Played to ± 0.1, sequentially: 3 looks, the worst lead ± 0.09." in to_text(noisy(2))
