"""The rules of hold'em, worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from arena.match import play_match
from common.errors import OptionError
from envs import make_game
from envs.core.engine import random_playouts
from envs.core.kernels import CHANCE
from envs.core.rng import new_rng
from envs.holdem.picture import side_pots
from tests.support.holdem_table import deal, play, profits, raises, run_out

SIX = ["As Ad", "Ks Kd", "Qs Qd", "Js Jd", "Ts Td", "9s 9d"]
THREE = SIX[:3]
TWO = SIX[:2]
LOW_BOARD = "2h 3c 7h"


# ---- blinds and turns ----------------------------------------------------------------------------


def test_blinds_sit_left_of_the_button_and_the_next_one_begins() -> None:
    position = deal(SIX)
    s = position.game.record(position.state)
    assert s.button == 0
    assert s.bets[:6].tolist() == [0, 50, 100, 0, 0, 0]
    assert position.turn == 3


def test_the_button_moves_with_the_number_of_the_game() -> None:
    for number in range(7):
        position = deal(SIX, number)
        assert position.game.record(position.state).button == number % 6
        assert position.turn == (number + 3) % 6


def test_with_two_players_the_button_posts_the_small_blind_and_speaks_first_then_last() -> None:
    position = deal(TWO)
    assert position.game.record(position.state).bets[:2].tolist() == [50, 100]
    assert position.turn == 0
    play(position, "call", "call", LOW_BOARD)
    assert position.turn == 1


def test_the_big_blind_speaks_last_before_the_flop_and_may_raise() -> None:
    position = play(deal(THREE), "call", "call")
    assert position.turn == 2
    assert raises(position) == (200, 10_000)
    play(position, "call")
    assert position.turn == CHANCE


def test_after_the_flop_the_first_left_of_the_button_who_is_in_begins() -> None:
    position = play(deal(THREE), "call", "fold", "call", LOW_BOARD)
    assert position.turn == 2
    play(position, "call", "call", "8d")
    assert position.turn == 2


def test_three_cards_then_one_then_one_are_turned_up() -> None:
    position = play(deal(TWO), "call", "call")
    for num_cards in (3, 1, 1):
        for _ in range(num_cards):
            assert position.turn == CHANCE
            position.apply(position.legal_actions()[0])
        assert position.turn == 1
        play(position, "call", "call")
    assert position.is_over


def test_a_check_is_free_and_folding_is_not_offered() -> None:
    position = play(deal(TWO), "call", "call", LOW_BOARD)
    assert 0 not in position.legal_actions()
    assert 0 in play(position, 100).legal_actions()


def test_if_all_but_one_fold_that_one_takes_the_pot_unseen() -> None:
    position = play(deal(THREE), "fold", "fold")
    assert profits(position) == [0, -50, 50]
    assert "??" in position.text(viewer=0)


def test_the_button_is_drawn_at_random() -> None:
    game = make_game("holdem_v0", num_players=4, button="random")
    assert game.new_position().chance_outcomes() == [(seat, 0.25) for seat in range(4)]
    position = game.replay([2, *range(8)])
    assert (game.record(position.state).button, position.turn) == (2, 1)


def test_a_button_can_stay_where_it_is() -> None:
    game = make_game("holdem_v0", num_players=3, button=1)
    assert [game.record(game.new_position(k).state).button for k in range(3)] == [1, 1, 1]


# ---- bets and raises -----------------------------------------------------------------------------


def test_a_bet_is_at_least_a_big_blind_and_at_most_the_stack() -> None:
    position = play(deal(TWO, stacks=3000), "call", "call", LOW_BOARD)
    assert raises(position) == (100, 2900)


def test_a_raise_adds_at_least_the_last_one() -> None:
    position = deal(SIX)
    assert raises(position) == (200, 10_000)
    assert raises(play(position, 350)) == (600, 10_000)
    assert raises(play(position, 600)) == (850, 10_000)
    assert raises(play(position, 2000)) == (3400, 10_000)


def test_the_least_raise_is_a_big_blind_again_on_the_next_street() -> None:
    position = play(deal(TWO), 900, "call", LOW_BOARD)
    assert raises(position) == (100, 9100)


def test_an_all_in_may_be_less_than_a_bet_or_raise() -> None:
    position = play(deal(TWO, stacks=(10_000, 150)), "call", "call", LOW_BOARD)
    assert raises(position) == (50, 50)
    position = play(deal(THREE, stacks=(10_000, 10_000, 380)), 300, "call")
    assert raises(position) == (380, 380)


def test_a_short_all_in_does_not_reopen_the_betting() -> None:
    # Seat 0 raises to 300, seat 2 goes all-in for 380: no full raise, seats 0 and 1 can only call.
    position = play(deal(THREE, stacks=(10_000, 10_000, 380)), 300, "call", 380)
    assert position.turn == 0
    assert raises(position) is None
    assert position.legal_actions() == [0, 1]
    play(position, "call")
    assert (position.turn, raises(position)) == (1, None)


def test_who_has_not_acted_may_raise_a_short_all_in() -> None:
    position = play(deal(SIX, stacks=(10_000,) * 4 + (380, 10_000)), 300, 380)
    assert position.turn == 5
    assert raises(position) == (580, 10_000)


def test_short_all_ins_that_add_up_to_a_full_raise_reopen_the_betting() -> None:
    stacks = (10_000, 10_000, 10_000, 10_000, 400, 520)
    position = play(deal(SIX, stacks=stacks), 300, 400, 520, "call", "fold", "fold")
    assert position.turn == 3
    assert raises(position) == (720, 10_000)


def test_limpers_cannot_raise_a_short_all_in_unless_the_rules_are_pokerkits() -> None:
    for rules, expected in (("standard", None), ("pokerkit", (230, 10_000))):
        position = deal(THREE, stacks=(10_000, 130, 10_000), table_rules=rules)
        play(position, "call", 130, "call")
        assert raises(position) == expected


def test_a_full_raise_reopens_the_betting() -> None:
    position = play(deal(THREE), 300, 500, "call")
    assert raises(position) == (700, 10_000)


def test_nobody_raises_against_players_who_are_all_in() -> None:
    position = play(deal(TWO, stacks=(10_000, 500)), "call", 500)
    assert position.legal_actions() == [0, 1]
    position = play(deal(THREE, stacks=(10_000, 500, 600)), 600)
    assert position.legal_actions() == [0, 1]


def test_pot_limit_ends_at_the_pot_after_a_call() -> None:
    position = deal(SIX, limit="pot")
    assert raises(position) == (200, 350)
    assert raises(play(position, 350)) == (600, 1200)


# ---- all-in --------------------------------------------------------------------------------------


def test_a_blind_that_is_too_large_takes_the_whole_stack() -> None:
    position = deal(THREE, stacks=(1000, 30, 70))
    s = position.game.record(position.state)
    assert s.bets[:3].tolist() == [0, 30, 70]
    assert s.stacks[:3].tolist() == [1000, 0, 0]


def test_behind_a_short_big_blind_one_calls_the_whole_blind() -> None:
    position = deal(SIX, stacks=(1000, 1000, 60, 1000, 1000, 1000))
    play(position, "call")
    assert position.game.record(position.state).bets[3] == 100
    assert raises(position) == (200, 1000)


def test_nobody_pays_more_for_a_short_big_blind_than_can_be_won() -> None:
    # With two players the small blind covers a big blind of 40 already.
    position = deal(TWO, stacks=(1000, 40))
    assert position.turn == CHANCE
    # One of 60 costs ten more, not fifty.
    position = deal(TWO, stacks=(1000, 60))
    assert position.turn == 0
    assert position.game.record(play(position, "call").state).paid[:2].tolist() == [60, 60]


def test_a_hand_may_be_over_before_anybody_decides() -> None:
    position = deal(TWO, stacks=(40, 90))
    assert position.turn == CHANCE
    assert profits(run_out(position)) == [40, -40]


def test_cards_are_dealt_without_betting_when_nobody_can_bet() -> None:
    position = play(deal(TWO), 10_000, "call")
    for _ in range(5):
        assert position.turn == CHANCE
        position.apply(position.legal_actions()[0])
    assert position.is_over


def test_side_pots_go_to_the_best_hand_that_paid_for_them() -> None:
    # The best hand has 200, the second 500, the third 900, and 900 calls.
    hands = ["As Ad", "Ks Kd", "Qs Qd", "8s 8d"]
    position = deal(hands, stacks=(200, 500, 900, 900), button=3)
    play(position, 900, "call", "call", "call")
    pots = side_pots(position.game.record(position.state), 4)
    assert [pot.chips for pot in pots] == [800, 900, 800]
    assert [pot.seats for pot in pots] == [(0, 1, 2, 3), (1, 2, 3), (2, 3)]
    assert profits(play(position, LOW_BOARD, "4c", "5c")) == [600, 400, -100, -900]


def test_chips_of_players_who_folded_stay_in_the_pots_they_paid_for() -> None:
    position = deal(["As Ad", "Ks Kd", "Qs Qd"], stacks=(300, 1000, 1000), button=0)
    play(position, 300, 600, "call", "2h 3c 7h", 100, "fold")
    assert profits(run_out(position, avoiding="Ks Kd Kh Kc Ah Ac")) == [600, 0, -600]


def test_what_nobody_matches_goes_back() -> None:
    position = play(deal(TWO, stacks=(10_000, 400)), 10_000, "call")
    pots = side_pots(position.game.record(position.state), 2)
    assert [(pot.chips, pot.seats) for pot in pots] == [(800, (0, 1)), (9600, (0,))]
    assert profits(run_out(position, avoiding="Kh Kc")) == [400, -400]


def test_equal_hands_share_the_pot() -> None:
    position = play(deal(["As Kd", "Ah Kc"]), 1000, "call", "2h 3c 7h", "call", "call")
    assert profits(play(position, "8d", "call", "call", "9d", "call", "call")) == [0, 0]


def test_odd_chips_go_one_by_one_to_the_left_of_the_button() -> None:
    # Three equal hands and five chips of a player who folded: two chips are left over.
    hands = ["As Kd", "Ah Kc", "Ac Kh", "2s 7d"]
    position = deal(hands, small_blind=1, big_blind=2, stacks=100, button=0)
    play(position, 5, "call", "call", "call", "4h 5c 8h", 10, "call", "fold", "call")
    play(position, "9d", "call", "call", "call", "Ts", "call", "call", "call")
    assert profits(position) == [1, 2, 2, -5]


def test_antes_are_paid_first_and_are_no_bets() -> None:
    position = deal(THREE, ante=20)
    s = position.game.record(position.state)
    assert s.paid[:3].tolist() == [20, 70, 120]
    assert s.bets[:3].tolist() == [0, 50, 100]
    assert profits(play(position, "fold", "fold")) == [-20, -70, 90]


def test_who_cannot_pay_the_ante_plays_for_what_was_paid() -> None:
    position = deal(["As Ad", "Ks Kd", "Qs Qd"], ante=20, stacks=(5, 1000, 1000), button=0)
    assert position.turn == 1
    play(position, "call", "call", LOW_BOARD, "call", "call", "8d", "call", "call", "9d")
    assert profits(play(position, "call", "call")) == [10, 110, -120]


# ---- matches -------------------------------------------------------------------------------------


def test_the_button_moves_and_chips_are_carried_from_hand_to_hand() -> None:
    position = play(deal(THREE, num_hands=3, button=0), "fold", "fold")
    s = position.game.record(position.state)
    assert s.button == 1
    assert (s.stacks + s.paid)[:3].tolist() == [10_000, 9950, 10_050]
    assert position.turn == CHANCE
    assert position.returns().tolist() == [0, -50, 50]


def test_fresh_stacks_are_dealt_anew() -> None:
    position = play(deal(THREE, num_hands=2, fresh_stacks=True, button=0), "fold", "fold")
    s = position.game.record(position.state)
    assert (s.stacks + s.paid)[:3].tolist() == [10_000] * 3


def test_who_has_no_chips_is_out_and_the_button_passes_over() -> None:
    position = deal(THREE, num_hands=10, stacks=(1000, 500, 1000), button=0)
    run_out(play(position, "fold", 500, "call", LOW_BOARD, "8d", "Qc"))
    s = position.game.record(position.state)
    assert s.stacks[1] + s.paid[1] == 0
    assert s.button == 2
    assert s.bets[:3].tolist() == [100, 0, 50]
    assert "player 1: out" in position.text()


def test_a_match_ends_when_one_player_has_all_chips() -> None:
    position = deal(TWO, num_hands=1000)
    run_out(play(position, 10_000), avoiding="")
    play(position, "call")
    run_out(position, avoiding="Kh Kc")
    assert position.is_over
    assert position.returns().tolist() == [10_000, -10_000]


def test_a_match_ends_after_so_many_hands() -> None:
    game = make_game("holdem_v0", num_players=2, num_hands=6, menu="thesis", fold_when_free="fold")
    position = game.new_position()
    while not position.is_over:
        position.apply(0 if position.turn >= 0 else position.legal_actions()[0])
    assert game.record(position.state).num_hands == 6
    assert position.returns().tolist() == [0, 0]


# ---- menus ---------------------------------------------------------------------------------------


def amounts(game: Any, history: list[int], actions: tuple[int, ...]) -> list[int]:
    out = []
    for action in actions:
        position = game.replay(history)
        seat = position.turn
        position.apply(action)
        out.append(int(game.record(position.state).bets[seat]))
    return out


def test_bets_are_fractions_of_the_pot_after_a_call() -> None:
    game = make_game("holdem_v0", preset="thesis", button=0)
    history = list(range(12))
    # 2.25, 2.875 and 3.5 big blinds; half a chip is rounded down.
    assert amounts(game, history, (2, 3, 4)) == [225, 287, 350]
    # A pot of ten big blinds, then a bet of ten: 5, 7.5, 10 and 25, 32.5, 40.
    game = make_game("holdem_v0", preset="thesis", num_players=2, small_blind=500, big_blind=500)
    flop = [0, 1, 2, 3, 1, 1, 10, 20, 30]
    assert amounts(game, flop, (2, 3, 4)) == [500, 750, 1000]
    assert amounts(game, [*flop, 4], (2, 3, 4)) == [2500, 3250, 4000]


def test_literal_bets_put_in_a_fraction_of_the_pot_within_the_limits() -> None:
    game = make_game("holdem_v0", preset="thesis", raise_basis="literal_clamped", button=0)
    assert amounts(game, list(range(12)), (2, 3, 4)) == [200, 200, 200]


def test_nothing_is_illegal_with_the_five_actions_and_an_impossible_bet_is_a_call() -> None:
    game = make_game("holdem_v0", preset="thesis", num_players=2, stacks=(10_000, 150))
    position = game.replay([0, 1, 2, 3, 4])
    assert position.legal_actions() == [0, 1, 2, 3, 4]
    assert game.record(play(position, "call").state).num_board == 0
    position = game.replay([0, 1, 2, 3, 4, 4])
    assert position.turn == CHANCE
    assert game.record(position.state).paid[:2].tolist() == [300, 150]


@pytest.mark.parametrize(
    ("way", "is_legal", "is_in"),
    [("fold", True, False), ("check", True, True), ("illegal", False, True)],
)
def test_a_free_fold_is_a_fold_a_check_or_illegal(way: str, is_legal: bool, is_in: bool) -> None:
    game = make_game("holdem_v0", num_players=2, fold_when_free=way)
    position = game.replay([0, 1, 2, 3, 1])
    assert (0 in position.legal_actions()) == is_legal
    if is_legal:
        position.apply(0)
        assert position.is_over != is_in


def test_of_equal_amounts_only_the_first_is_legal() -> None:
    game = make_game("holdem_v0", num_players=2, menu=(0.1, 0.5, 1.0), stacks=10_000)
    # The minimum, 10 % and half of the pot are all 200; the pot is 300.
    assert game.replay([0, 1, 2, 3]).legal_actions() == [0, 1, 2, 5, 6]
    short = make_game("holdem_v0", num_players=2, menu=(0.1, 0.5, 1.0), stacks=250)
    assert short.replay([0, 1, 2, 3]).legal_actions() == [0, 1, 2, 5]
    bare = make_game("holdem_v0", num_players=2, menu=(0.1, 0.5), minimum=False, all_in=False)
    assert bare.facts.num_actions == 4
    assert bare.replay([0, 1, 2, 3]).legal_actions() == [0, 1, 2]


def test_every_amount_is_an_action_of_the_exact_menu() -> None:
    position = deal(TWO, stacks=1000)
    assert position.legal_actions() == [0, 1, *range(201, 1002)]


# ---- accounts ------------------------------------------------------------------------------------


def mean_bb_per_100(names: list[str], num_games: int) -> dict[str, float]:
    game = make_game("holdem_v0", preset="thesis", num_players=len(names))
    result = play_match(game, [make_agent(name, game) for name in names], num_games)
    return dict(zip(names, (100 * result.mean_returns).round(6).tolist(), strict=True))


def test_a_lone_raiser_wins_125_from_five_who_fold_and_each_of_them_loses_25() -> None:
    found = mean_bb_per_100(["holdem_fold"] * 5 + ["holdem_raise"], 600)
    assert found == {"holdem_fold": -25.0, "holdem_raise": 125.0}


def test_twelve_folders_and_two_raisers_lose_and_win_by_how_they_are_seated() -> None:
    """Tables of six from a set of 14: folders lose 16.03 big blinds in 100 hands."""
    p_all_fold = Fraction(comb(11, 5), comb(13, 5))
    expected = (Fraction(-3, 2) + Fraction(3, 2) * p_all_fold) / 6 * 100
    assert round(float(expected), 2) == -16.03
    game = make_game("holdem_v0", preset="thesis", button="rotate")
    total, weight = Fraction(0), 0
    # Every way to seat raisers among the five others of a folder in seat 0, and every button.
    for num_raisers in range(3):
        ways = comb(2, num_raisers) * comb(11, 5 - num_raisers)
        places = list(combinations(range(1, 6), num_raisers))
        for seats in places:
            for button in range(6):
                total += Fraction(ways, len(places)) * folder_result(game, seats, button)
        weight += ways * 6
    assert total / weight * 100 == expected


def folder_result(game: Any, raisers: tuple[int, ...], button: int) -> Fraction:
    """Big blinds that a folder in seat 0 wins; raisers share what the others leave."""
    position = game.new_position(button)
    while position.turn == CHANCE:
        position.apply(position.legal_actions()[0])
    while not position.is_over and game.record(position.state).status[0] == 0:
        seat = position.turn
        if seat == CHANCE:
            break
        s = game.record(position.state)
        is_free = s.bet_to == s.bets[seat]
        position.apply(4 if seat in raisers else 1 if is_free else 0)
    s = game.record(position.state)
    if position.is_over:
        return Fraction(int(s.profits[0]), 100)
    return Fraction(-int(s.paid[0]), 100)


def test_returns_are_chips_or_big_blinds() -> None:
    moves = ("fold", "fold")
    assert play(deal(THREE), *moves).returns().tolist() == [0, -50, 50]
    assert play(deal(THREE, rewards="big_blinds"), *moves).returns().tolist() == [0, -0.5, 0.5]


def test_chips_count_as_lost_when_they_are_put_in_if_that_is_wanted() -> None:
    position = deal(THREE, reward_time="move")
    assert position.returns().tolist() == [0, -50, -100]
    position = play(position, 300)
    assert position.returns().tolist() == [-300, -50, -100]
    assert play(position, "fold", "fold").returns().tolist() == [150, -50, -100]


@pytest.mark.parametrize("options", [{}, {"menu": "exact", "stacks": 700, "ante": 7}])
def test_chips_are_conserved_in_many_random_hands(options: dict[str, Any]) -> None:
    game = make_game("holdem_v0", num_players=6, **options)
    result = random_playouts(game, 100_000, new_rng(0))
    assert abs(result.mean_returns.sum()) < 1e-6


@pytest.mark.parametrize("num_players", [2, 3])
def test_every_other_round_one_player_in_turn_or_everybody_is_short(num_players: int) -> None:
    game = make_game("holdem_v0", num_players=num_players, short_stacks=(150, 500))
    assert game.facts.num_openings == num_players * 2 * 2 * (2 if num_players == 2 else 6)
    found = []
    for number in range(game.facts.num_openings):
        s = game.record(game.new_position(number).state)
        assert s.button == number % num_players
        found.append(tuple((s.stacks + s.paid)[:num_players].tolist()))
    short = [stacks for stacks in found if min(stacks) < 10_000]
    assert len(short) == len(found) // 2
    single = {
        tuple(size if seat == each else 10_000 for each in range(num_players))
        for seat in range(num_players)
        for size in (150, 500)
    }
    everybody = {(size,) * num_players for size in (150, 500)} if num_players > 2 else set()
    assert set(short) == single | everybody
    num_everybody = sum(stacks in everybody for stacks in short)
    assert num_everybody == (len(short) // 2 if num_players > 2 else 0)


def test_at_stake_are_the_pot_and_what_can_still_be_matched() -> None:
    position = deal(TWO, rewards="big_blinds", stacks=(10_000, 600))
    assert position.game.stakes(position.state[None])[0] == 1.5 + 5.0
    play(position, "call", "call", LOW_BOARD, 500)  # all-in
    assert position.game.stakes(position.state[None])[0] == 2.0 + 5.0


def test_all_cards_are_dealt_equally_often() -> None:
    game = make_game("holdem_v0", num_players=2)
    rng, counts = new_rng(3), np.zeros(52)
    for _ in range(4000):
        position = game.new_position()
        position.play_chance(rng)
        hole = game.record(position.state).hole[:2].reshape(-1)
        assert len(set(hole.tolist())) == 4
        counts[hole] += 1
    expected = 4000 * 4 / 52
    assert ((counts - expected) ** 2 / expected).sum() < 51 + 6 * np.sqrt(2 * 51)


# ---- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stacks": (1, 2, 3)}, "stacks must list 6 numbers"),
        ({"small_blind": 200}, "small_blind must not exceed big_blind"),
        ({"num_players": 3, "button": 3}, "button must be a seat from 0 to 2"),
        ({"menu": [0.01 * k for k in range(1, 30)]}, "at most 16 fractions"),
        ({"menu": "fchpa"}, "menu must be"),
        ({"blocks": 10}, "blocks must be"),
        ({"stacks": 50}, "below the big blind"),
        ({"menu": []}, "menu must be a number .* or a list of such numbers"),
        ({"num_players": 11}, "num_players must be"),
        ({"short_stacks": (500,), "num_hands": 2}, "short_stacks are for single hands"),
        ({"short_stacks": tuple(range(200, 217))}, "at most 16 numbers"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make_game("holdem_v0", **options)


def test_the_same_game_has_one_spelling() -> None:
    assert make_game("holdem_v0", stacks=[500] * 6) == make_game("holdem_v0", stacks=500)
    assert make_game("holdem_v0", menu=[1, 0.5]) == make_game("holdem_v0", menu=(0.5, 1.0))


def test_chips_and_hands_change_no_actions_unless_every_amount_is_one() -> None:
    game = make_game("holdem_v0")
    for options in ({"stacks": 500}, {"small_blind": 5, "big_blind": 10}, {"num_hands": 9}):
        other = make_game("holdem_v0", **options)
        assert other.options.structural() == game.options.structural()
        assert other.facts.num_actions == game.facts.num_actions
        assert other.observation_size == game.observation_size
    one, other = (make_game("holdem_v0", menu="exact", stacks=n) for n in (200, 300))
    assert one.options.misfit(other.options.to_dict()) == "stacks=300"
    assert one.options.misfit(one.options.to_dict()) == ""
