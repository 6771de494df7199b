"""Lie profiling: what counts as a lie, how it is remembered, and what it changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.base import Actions, Agent, TimeStep, Views
from agents.games.liars_dice.lies import HIGH, LOW, MID, LieProfiles, category
from agents.games.liars_dice.wary import ProfiledAgent
from agents.tabular.model import TabularModel, TabularSettings
from arena.match import play_match
from common.errors import OptionError
from envs.core.game import Game
from envs.core.position import Position
from envs.liars_dice.kernels import RULES
from tests.support.liars_dice_learners import HANDS, TWO, new_model, roulette
from tests.support.liars_dice_table import deal, play, table
from tests.support.tabular import THESIS, lies
from tests.support.views import views_of


def profiles(**settings: Any) -> LieProfiles:
    return LieProfiles(TWO, {"reading": "code", **settings})


def counts(kept: LieProfiles, row: int = 0) -> tuple[list[int], list[int]]:
    record = kept.records[row]
    return record["num_bids"].tolist(), record["num_lies"].tolist()


def observe(kept: LieProfiles, position: Position, player: int, ids: Any = None) -> None:
    kept.game = position.game
    kept.observe(position.state, player, ids)


# ---- categories ----------------------------------------------------------------------------------


def categories(has_ceilings: bool, face: int, num_dice: int) -> list[int]:
    r = TWO.rules.view(RULES)[0]
    return [category(r, c, face, num_dice, has_ceilings) for c in range(1, num_dice + 1)]


def test_limits_for_ten_dice() -> None:
    """High from 7 in the text and from 8 in the code, middle from 4 and from 5."""
    assert categories(False, 1, 10) == [LOW] * 3 + [MID] * 3 + [HIGH] * 4
    assert categories(True, 1, 10) == [LOW] * 4 + [MID] * 3 + [HIGH] * 3


@pytest.mark.parametrize("has_ceilings", [False, True])
def test_limits_where_thirds_are_whole_numbers(has_ceilings: bool) -> None:
    """A bid on the limit belongs to the lower category."""
    assert categories(has_ceilings, 2, 9) == [LOW] * 3 + [MID] * 3 + [HIGH] * 3


@pytest.mark.parametrize("has_ceilings", [False, True])
def test_a_high_face_makes_a_low_count_high(has_ceilings: bool) -> None:
    r = TWO.rules.view(RULES)[0]
    found = [category(r, 1, face, 10, has_ceilings) for face in range(1, 7)]
    assert found == [LOW, LOW, MID, MID, HIGH, HIGH]
    assert category(r, 9, 3, 10, has_ceilings) == HIGH


# ---- what is recorded ----------------------------------------------------------------------------


def test_every_bid_of_the_other_is_checked_against_all_dice() -> None:
    """Four threes and two sixes lie on the table; B bids 3*3 (true) and 3*6 (false)."""
    position = table(*HANDS)
    play(position, "2*3", "3*3", "3*5", "3*6", "liar")
    kept = profiles()
    observe(kept, position, player=0)
    assert counts(kept) == ([0, 1, 1], [0, 0, 1])
    assert kept.ratios() == {"low": 0.0, "mid": 0.0, "high": 1.0}
    other = profiles()
    observe(other, position, player=1)
    assert counts(other) == ([0, 1, 1], [0, 0, 1])  # 2*3 is true, 3*5 is not


def test_equality_is_no_lie() -> None:
    for bid, num_lies in (("4*3", 0), ("5*3", 1)):
        position = table(*HANDS, first_player=1)
        play(position, bid, "liar")
        kept = profiles()
        observe(kept, position, player=0)
        assert sum(counts(kept)[1]) == num_lies


def test_a_lie_is_what_the_table_says_whatever_the_bidder_held() -> None:
    position = table("33333", "11111", first_player=1)
    play(position, "5*3", "liar")
    kept = profiles()
    observe(kept, position, player=0)
    assert sum(counts(kept)[0]) == 1
    assert sum(counts(kept)[1]) == 0


def test_wild_dice_bear_a_bid_out() -> None:
    position = table("11", "34", wild="ones", first_player=1)
    play(position, "3*3", "liar")
    kept = profiles()
    observe(kept, position, player=0)
    assert sum(counts(kept)[1]) == 0


def test_bids_are_told_apart_by_who_made_them() -> None:
    """Three players: seat 2 opens, seats 0 and 1 follow."""
    position = table("11", "22", "33", first_player=2)
    play(position, "1*1", "2*1", "3*1", "4*2", "liar")
    kept = profiles(by_opponent=True)
    kept.grow(3)
    observe(kept, position, player=0, ids=np.array([0, 1, 2]))
    assert [sum(counts(kept, row)[0]) for row in range(3)] == [0, 1, 2]
    assert [sum(counts(kept, row)[1]) for row in range(3)] == [0, 1, 1]
    assert kept.records["num_rounds"].tolist() == [0, 1, 1]
    pooled = profiles()
    observe(pooled, position, player=0)
    assert sum(counts(pooled)[0]) == 3
    assert pooled.records["num_rounds"].tolist() == [1]


def test_the_round_that_ends_the_game_is_recorded_too() -> None:
    for options in ({}, {"single_round": True}):
        position = table("3", "5", first_player=1, **options)
        play(position, "2*5", "liar")
        assert position.is_over
        kept = profiles()
        observe(kept, position, player=0)
        assert counts(kept) == ([0, 0, 1], [0, 0, 1])


# ---- forgetting ----------------------------------------------------------------------------------


def lie_once(kept: LieProfiles) -> None:
    position = table(*HANDS, first_player=1)
    play(position, "3*6", "liar")
    observe(kept, position, player=0)


def tell_truth_once(kept: LieProfiles) -> None:
    position = table(*HANDS, first_player=1)
    play(position, "2*6", "liar")
    observe(kept, position, player=0)


def test_the_text_forgets_everything_after_100_rounds() -> None:
    kept = profiles(reading="text")
    for _ in range(99):
        lie_once(kept)
    assert counts(kept) == ([0, 0, 99], [0, 0, 99])
    assert kept.ratios()["high"] == 1.0
    lie_once(kept)
    assert counts(kept) == ([0, 0, 0], [0, 0, 0])
    assert kept.ratios()["high"] == 0.0
    assert kept.records["num_rounds"][0] == 0


def test_the_code_forgets_the_counts_at_round_101_and_keeps_the_ratios() -> None:
    kept = profiles(reading="code")
    for _ in range(99):
        lie_once(kept)
    tell_truth_once(kept)
    assert counts(kept) == ([0, 0, 100], [0, 0, 99])
    tell_truth_once(kept)
    assert counts(kept) == ([0, 0, 0], [0, 0, 0])
    assert kept.ratios()["high"] == pytest.approx(99 / 101)
    tell_truth_once(kept)  # now one bid alone decides
    assert kept.ratios()["high"] == 0.0
    assert counts(kept) == ([0, 0, 1], [0, 0, 0])


@pytest.mark.parametrize(("reset", "num_rounds"), [(5, 0), (6, 5), (0, 5)])
def test_the_period_is_a_setting(reset: int, num_rounds: int) -> None:
    kept = profiles(reading="text", reset=reset)
    for _ in range(5):
        lie_once(kept)
    assert kept.records["num_rounds"][0] == num_rounds


# ---- what it changes -----------------------------------------------------------------------------


def ratios(model: TabularModel) -> Any:
    """The ratios of lies that it remembers, to be written."""
    assert isinstance(model.opponents, LieProfiles)
    return model.opponents.records["ratios"]


def facing_two_threes(model: TabularModel, ratio: float = 0.8) -> float:
    """The probability of calling 2*3 on a new table, with this ratio for middle bids."""
    if model.opponents is not None:
        ratios(model)[0, MID] = ratio
    position = table(*HANDS)
    play(position, "2*3")
    return roulette(model, position)["liar"]


def test_the_boost_by_the_highest_of_the_table_or_of_the_legal_moves() -> None:
    assert facing_two_threes(new_model()) == pytest.approx(0.01516, abs=5e-6)
    assert facing_two_threes(new_model(**lies())) == pytest.approx(0.1917, abs=5e-5)
    assert facing_two_threes(new_model(**lies(reading="text"))) == pytest.approx(0.1121, abs=5e-5)
    mixed = new_model(**lies(highest="legal"))
    assert facing_two_threes(mixed) == pytest.approx(0.1121, abs=5e-5)


def test_the_table_is_not_changed_by_the_boost() -> None:
    model = new_model(**lies())
    before = model.table.entries()[1].copy()
    facing_two_threes(model)
    assert (model.table.entries()[1] == before).all()


def test_only_the_category_of_the_standing_bid_counts() -> None:
    model = new_model(**lies())
    ratios(model)[0, HIGH] = 1.0
    assert facing_two_threes(model, ratio=0.0) == pytest.approx(0.01516, abs=5e-6)


def test_factor_and_constant_boost() -> None:
    """0.05556 + 4 * 0.8 * 0.5 = 1.65556 against raises of 3.60794."""
    strong = new_model(**lies(factor=4.0))
    assert facing_two_threes(strong) == pytest.approx(1.65556 / (1.65556 + 3.60794), rel=1e-4)
    for ratio in (0.0, 0.8):
        constant = new_model(**lies(constant=0.8))
        assert facing_two_threes(constant, ratio) == pytest.approx(0.1917, abs=5e-5)


def test_no_boost_when_opening() -> None:
    model = new_model(**lies())
    ratios(model)[0] = 1.0
    assert roulette(model, table(*HANDS)) == roulette(new_model(), table(*HANDS))


@pytest.mark.parametrize("rule", ["sarsa", "q_learning"])
def test_rule_and_profiling_are_chosen_apart(rule: str) -> None:
    assert facing_two_threes(new_model(rule)) == pytest.approx(0.01516, abs=5e-6)
    assert facing_two_threes(new_model(rule, **lies())) == pytest.approx(0.1917, abs=5e-5)


def test_a_large_table_is_not_looked_through_at_every_move() -> None:
    with pytest.raises(OptionError, match="set its highest: legal"):
        TabularModel(TWO, "sarsa", TabularSettings(abstraction="hand", **lies()))
    TabularModel(TWO, "sarsa", TabularSettings(abstraction="hand", **lies(highest="legal")))


# ---- around any player ---------------------------------------------------------------------------


class Steady(Agent):
    """Plays all legal actions alike, and says so."""

    def act(self, views: Views) -> Actions:
        return views.masks.argmax(axis=1)

    def policy(self, views: Views) -> Any:
        return views.masks / views.masks.sum(axis=1, keepdims=True)


class Silent(Agent):
    """Gives no probabilities."""

    def act(self, views: Views) -> Actions:
        return views.masks.argmax(axis=1)

    def policy(self, views: Views) -> None:
        return None


def wary(game: Game = TWO, **settings: Any) -> ProfiledAgent:
    return ProfiledAgent(game, base="tests.agents.test_lie_profile:Steady", **settings)


def test_a_profile_changes_the_calls_of_any_player() -> None:
    """36 legal actions alike: (1 + 2 * 0.8) / (36 + 2 * 0.8)."""
    agent, position = wary(), table(*HANDS)
    play(position, "2*3")
    views = views_of([position])
    assert agent.policy(views)[0, -1] == pytest.approx(1 / 36)
    agent.profiles.records["ratios"][0, MID] = 0.8
    probs = agent.policy(views)[0]
    assert probs[-1] == pytest.approx(2.6 / 37.6)
    assert probs.sum() == pytest.approx(1.0)
    assert agent.act(views)[0] in np.flatnonzero(views.masks[0])


def time_step(position: Position, number: int, names: tuple[str, ...]) -> TimeStep:
    total = float(position.returns()[0])
    return TimeStep(number, 0, names, position.state, total, position.is_over)


def test_it_counts_each_round_once() -> None:
    agent, position = wary(), table(*HANDS, first_player=1)
    agent.observe(time_step(position, 0, ("me", "you")))
    for move in ("3*6", "liar"):
        play(position, move)
        agent.observe(time_step(position, 0, ("me", "you")))
    deal(position, "12345", "1234")
    play(position, "1*1")
    agent.observe(time_step(position, 0, ("me", "you")))
    assert counts(agent.profiles) == ([0, 0, 1], [0, 0, 1])
    assert agent.profiles.records["num_rounds"][0] == 1


def test_it_knows_opponents_apart_if_asked() -> None:
    agent = wary(by_opponent=True)
    for number, (name, bid) in enumerate([("liar", "3*6"), ("saint", "2*6"), ("liar", "3*6")]):
        position = table(*HANDS, first_player=1)
        play(position, bid, "liar")
        agent.observe(time_step(position, number, ("me", name)))
    known = {name: agent.profiles.ratios(row)["high"] for name, row in agent._opponents.items()}
    assert known["liar"] == 1.0
    assert known["saint"] == 0.0


def test_in_a_match_it_finds_a_liar_out_and_wins_more_for_it() -> None:
    """Against random play, whose bids are mostly false, calling more often wins more."""
    frozen, learning = wary(), wary()
    learning.begin_learning()
    other = make_agent("random", TWO)
    before = play_match(TWO, [frozen, other], 400, seed=1)
    after = play_match(TWO, [learning, other], 400, seed=1)
    assert frozen.profiles.records["num_rounds"][0] == 0
    assert learning.profiles.ratios()["high"] > 0.7
    difference = after.mean_returns[0] - before.mean_returns[0]
    assert difference > 3 * (before.half_widths[0] + after.half_widths[0]) / 1.96


def test_what_cannot_be_profiled_is_refused() -> None:
    with pytest.raises(OptionError, match="gives no probabilities"):
        ProfiledAgent(TWO, base="tests.agents.test_lie_profile:Silent").act(
            views_of([table(*HANDS)])
        )
    with pytest.raises(OptionError, match="reading must be 'text' or 'code', not 'off'"):
        wary(reading="off")
    with pytest.raises(OptionError, match="a policy has no table"):
        wary(highest="table")


def test_it_is_known_by_its_id_and_wraps_table_players() -> None:
    agent = make_agent("profiled", TWO, base="sarsa", base_params=THESIS, reading="code")
    assert isinstance(agent, ProfiledAgent)
    result = play_match(TWO, [agent, make_agent("random", TWO)], 100)
    assert result.num_games == 100
