"""The published tables of pursuits at a small scale: ids, intervals, and that exact rows hit."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agents import make_agent
from agents.cfr.response import nash_conv
from agents.cfr.tree import GameTree
from arena.match import play_match
from envs import make_game
from experiments import scotland_yard, search_rules
from experiments.phantom import searching, tables
from experiments.pursuit_cells import join
from experiments.runner import Settings

SMALL = Settings(scale=0.005)


@pytest.mark.parametrize("group", ["R1", "R1+", "B1"])
def test_the_phantoms_groups_make_rows_with_intervals(group: str) -> None:
    rows = list(tables.GROUPS[group](SMALL))
    rates = [row for row in rows if row.low is not None and row.high is not None]
    assert rates
    assert all(row.low <= row.ours <= row.high for row in rates)  # type: ignore[operator]


def test_without_round_1_detectives_win_no_more_games() -> None:
    cells = tables.cells_of(Settings(scale=0.05), "random", "random")
    whole = join(cells)
    with_first, without = whole.rate(), whole.rate(has_first=False)
    assert whole.is_first.any()
    assert without.mean <= with_first.mean


def test_random_starts_make_the_same_games_in_both_orders_of_placing() -> None:
    """Nobody here looks at the others' starts, and seeds are the same: rows must be equal."""
    for detectives, fugitive in (("random", "pursuit_heuristic"), ("random", "random")):
        blind, seen = (
            tables.cells_of(Settings(scale=0.05), detectives, fugitive, order)
            for order in tables.ORDERS
        )
        for first, second in zip(blind, seen, strict=True):
            assert (first.is_won == second.is_won).all()
            assert (first.rounds == second.rounds).all()


@pytest.mark.parametrize("group", ["S", "R14", "R16"])
def test_what_is_exact_is_what_it_should_be(group: str) -> None:
    rows = list(scotland_yard.GROUPS[group](SMALL))
    exact = [row for row in rows if row.wanted is not None]
    assert all(row.verdict == "hit" for row in exact)


@pytest.mark.parametrize("group", ["D", "N", "PXH", "PDH", "SDF"])
def test_search_against_rules_makes_rows_with_intervals(
    group: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(search_rules, "SECONDS", 0.001)
    monkeypatch.setattr(search_rules, "RULE_GAMES", 3)
    rows = list(search_rules.GROUPS[group](replace(SMALL, folder=tmp_path)))
    leads = [row for row in rows if row.wanted is not None]
    assert leads
    for row in leads:
        assert row.low is not None
        assert row.note == (
            "interval excludes 0" if row.low > 0 or row.high < 0 else "interval holds 0"
        )


def test_leads_on_both_sides_are_those_of_kept_games(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What it wins as the fugitive less what the other wins as one, by the lines of the file."""
    monkeypatch.setattr(search_rules, "SECONDS", 0.001)
    rules = {letter: search_rules.RULES[letter] for letter in "BF"}
    monkeypatch.setattr(search_rules, "RULES", rules)
    settings = Settings(scale=0.1, folder=tmp_path)
    rows = list(search_rules.GROUPS["P"](settings))
    with (tmp_path / "search_games.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 3 * 9  # detectives of pursuit_foresight are those of pursuit_belief
    escaped: dict[str, list[bool]] = {}
    for line in lines:
        escaped.setdefault(line["pairing"], []).append(line["caught"] == "0")
    own = np.mean(escaped["pursuit_belief v. pursuit_search"])
    for row, rule in zip(rows, rules.values(), strict=True):
        theirs = np.mean(escaped[f"pursuit_search v. {rule}"])
        assert row.ours == pytest.approx(100 * (own - theirs))
        assert row.games == 18


def test_the_exact_lead_of_a_search_is_that_of_its_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches that are given no time play anything: what that loses to the rule is known."""
    monkeypatch.setattr(search_rules, "SECONDS", 0.0)
    (row,) = search_rules.GROUPS["LI"](SMALL)
    game = make_game("leduc_v0")
    agents = [make_agent("random", game), make_agent("leduc_rule", game)]
    lost = play_match(game, agents, 20_000, seed=1).returns[:, 0]
    lost = np.concatenate([lost, play_match(game, agents[::-1], 20_000, seed=2).returns[:, 1]])
    assert row.ours == pytest.approx(lost.mean(), abs=4 * lost.std() / len(lost) ** 0.5)
    assert row.verdict == "MISS"


def test_whole_tables_of_outcome_sampling_are_better_than_nothing_learnt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search_rules, "SECONDS", 0.1)
    monkeypatch.setattr(search_rules, "SMALL", {"kuhn_v0": {}, "leduc_v0": {}})
    rows = list(search_rules.GROUPS["EW"](replace(SMALL, scale=2 / search_rules.TABLES)))
    for game_id, row in zip(("kuhn_v0", "leduc_v0"), rows, strict=True):
        tree = GameTree(make_game(game_id))
        assert row.games == 2
        assert 0 < row.ours < nash_conv(tree, tree.uniform())


def test_what_is_not_searched_counts_as_lost() -> None:
    """Whatever is played there, best responses gain no more than the bound says."""
    tree = GameTree(make_game("leduc_v0"))
    agent = make_agent("oos", tree.game, iterations=300)
    everywhere = np.ones(tree.num_infosets, bool)
    probs, is_searched = search_rules.searched_where_it_comes(agent, tree, 0, everywhere, 0.05)
    assert 50 < is_searched.sum() < tree.num_infosets
    reached = {int(parent) for parent in tree.infosets["parent_sequence"][is_searched]}
    firsts = {tree.num_sequences}
    assert all(is_searched[tree.sequence_infosets[s]] for s in reached - firsts)
    most = search_rules.most_nash_conv(tree, probs, is_searched)
    rng = np.random.default_rng(0)
    is_free = ~is_searched[tree.sequence_infosets]
    for _ in range(5):
        weights = np.where(is_free, rng.exponential(size=probs.size) ** 4 + 1e-9, probs)
        assert nash_conv(tree, tree.normalized(weights)[0]) <= most
    whole = search_rules.most_nash_conv(tree, probs, everywhere)
    assert whole == pytest.approx(nash_conv(tree, probs))
    assert whole < most


def test_the_mean_of_searches_is_what_is_played_by_who_draws_anew() -> None:
    tree = GameTree(make_game("kuhn_v0"))
    agent = make_agent("oos", tree.game, iterations=50)
    everywhere = np.ones(tree.num_infosets, bool)
    mean, _ = search_rules.searched_where_it_comes(agent, tree, 3, everywhere, 0.0, 2)
    both = [
        search_rules.searched_where_it_comes(agent, tree, seed, everywhere)[0] for seed in (3, 4)
    ]
    assert np.abs(both[0] - both[1]).max() > 0.01
    assert mean == pytest.approx(np.mean(both, axis=0))


def test_a_search_that_is_sure_of_itself_is_searched_only_where_it_goes() -> None:
    tree = GameTree(make_game("leduc_v0"))
    agent = make_agent("mo_ismcts", tree.game, iterations=50)
    everywhere = np.ones(tree.num_infosets, bool)
    probs, is_searched = search_rules.searched_where_it_comes(agent, tree, 0, everywhere, 0.02)
    assert is_searched.sum() < tree.num_infosets / 2
    most = search_rules.most_nash_conv(tree, probs, is_searched)
    assert most == pytest.approx(nash_conv(tree, probs))


def test_every_part_of_a_search_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "SIMULATIONS", 10)
    rows = list(searching.PARTS["A"](Settings(scale=0.02)))
    assert [row.games for row in rows] == [6] * len(rows)
    named = [v.name for _, _, variants in searching.SIDES.values() for v in variants]
    assert [row.quantity.split("%: ")[1] for row in rows] == named


def test_leads_of_either_side_are_those_of_the_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "SIMULATIONS", 5)
    for group, pairs in (
        ("M7r", (("ours", "heuristic"), ("random", "heuristic"))),
        ("M7p", (("heuristic", "thesis"), ("heuristic", "ours"))),
    ):
        (row,) = searching.GROUPS[group](Settings(scale=0.02))
        ours, other = (searching.cell_of(*pair, Settings(scale=0.02), 5) for pair in pairs)
        assert row.ours == pytest.approx(100 * (ours.is_won.mean() - other.is_won.mean()))


def test_strength_against_time_has_a_row_for_each_budget_and_side(tmp_path: Path) -> None:
    group = searching.budgets(("ours",), seconds=(0.001, 0.002))
    rows = list(group(Settings(scale=0.01, folder=tmp_path)))
    assert [row.games for row in rows] == [6] * 4
    assert [row.quantity.split(", ")[1:3] for row in rows] == [
        [f"%: our {who}", f"{seconds} s"]
        for seconds in (0.001, 0.002)
        for who in ("detectives", "Phantom")
    ]
    assert all("simulations a search" in row.note for row in rows)


def test_cells_by_the_clock_are_those_of_kept_games(tmp_path: Path) -> None:
    """Nobody searches here, so that a cell by the clock has the games of one by simulations."""
    settings = Settings(scale=0.04, folder=tmp_path)
    timed = searching.cell_of("random", "heuristic", settings, seconds=2.5)
    untimed = searching.cell_of("random", "heuristic", settings)
    assert (timed.is_won == untimed.is_won).all()
    assert (timed.is_first == untimed.is_first).all()
    assert timed.simulations == 0
