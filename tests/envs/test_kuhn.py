"""The rules of Kuhn poker, worked out by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from common.errors import IllegalActionError, OptionError
from envs import make_game
from envs.core.kernels import CHANCE, OVER, PUBLIC
from envs.core.rng import new_rng
from tests.support.plain_python import digest, plain_python_digest

PASS, BET = 0, 1
JACK, QUEEN, KING = 0, 1, 2

GAME = make_game("kuhn_v0")
THREE = make_game("kuhn_v0", num_players=3)


def test_one_card_each_is_dealt_before_anybody_moves() -> None:
    assert GAME.new_position().turn == CHANCE
    assert GAME.replay([KING]).turn == CHANCE
    assert GAME.replay([KING, JACK]).turn == 0


def test_a_card_is_dealt_only_once_and_all_others_are_equally_likely() -> None:
    assert GAME.new_position().chance_outcomes() == [(0, 1 / 3), (1, 1 / 3), (2, 1 / 3)]
    assert GAME.replay([QUEEN]).chance_outcomes() == [(JACK, 0.5), (KING, 0.5)]


def test_the_higher_card_wins_one_chip_when_both_pass() -> None:
    assert GAME.replay([KING, JACK, PASS, PASS]).returns().tolist() == [1.0, -1.0]
    assert GAME.replay([JACK, QUEEN, PASS, PASS]).returns().tolist() == [-1.0, 1.0]


def test_the_higher_card_wins_two_chips_when_a_bet_is_called() -> None:
    assert GAME.replay([KING, JACK, BET, BET]).returns().tolist() == [2.0, -2.0]
    assert GAME.replay([QUEEN, KING, PASS, BET, BET]).returns().tolist() == [-2.0, 2.0]


def test_passing_after_a_bet_is_a_fold_whatever_the_cards() -> None:
    assert GAME.replay([JACK, KING, BET, PASS]).returns().tolist() == [1.0, -1.0]
    assert GAME.replay([KING, JACK, PASS, BET, PASS]).returns().tolist() == [-1.0, 1.0]


def test_a_bet_after_a_pass_gives_the_first_player_another_turn() -> None:
    position = GAME.replay([KING, JACK, PASS, BET])
    assert position.turn == 0
    assert position.legal_actions() == [PASS, BET]


def test_nothing_is_won_before_the_end() -> None:
    assert GAME.replay([KING, JACK, PASS, BET]).returns().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("num_players", [2, 3, 4, 5])
@pytest.mark.parametrize("bettor", [0, 1])
def test_everybody_else_answers_a_bet_exactly_once(num_players: int, bettor: int) -> None:
    game = make_game("kuhn_v0", num_players=num_players)
    position = game.replay([*range(num_players), *[PASS] * bettor, BET])
    answered = []
    while position.turn != OVER:
        answered.append(position.turn)
        position.apply(PASS)
    assert answered == [(bettor + i) % num_players for i in range(1, num_players)]


def test_the_highest_card_among_those_who_bet_wins() -> None:
    # The ace of seat 0 folds; seat 2 has the better card of the other two.
    assert THREE.replay([3, 0, 1, PASS, BET, BET, PASS]).returns().tolist() == [-1.0, -2.0, 3.0]
    assert THREE.replay([3, 0, 1, PASS, BET, BET, BET]).returns().tolist() == [4.0, -2.0, -2.0]
    assert THREE.replay([3, 0, 1, PASS, BET, PASS, PASS]).returns().tolist() == [-1.0, 2.0, -1.0]


def test_only_its_owner_sees_a_card() -> None:
    king = GAME.replay([KING, JACK, PASS])
    queen = GAME.replay([QUEEN, JACK, PASS])
    assert king.key(1) == queen.key(1)
    assert king.key(0) != queen.key(0)
    assert king.tokens(PUBLIC) == queen.tokens(PUBLIC)
    assert king.observation(1).tolist() == queen.observation(1).tolist()


def test_the_observation_shows_seat_own_card_and_every_move() -> None:
    position = GAME.replay([KING, JACK, PASS, BET])
    pieces = GAME.observation_fields(position.observation(0))
    assert pieces["seat"].tolist() == [1, 0]
    assert pieces["card"].tolist() == [0, 0, 1]
    assert pieces["moves"].reshape(3, 2).tolist() == [[1, 0], [0, 1], [0, 0]]


def test_determinize_keeps_the_own_card_and_draws_the_others_evenly() -> None:
    position = THREE.replay([1, 3, 0, PASS, BET])
    rng = new_rng(1)
    num_draws = 6000
    drawn = (THREE.record(position.determinized(1, rng)).cards[:3] for _ in range(num_draws))
    worlds = Counter(tuple(cards.tolist()) for cards in drawn)
    assert sorted(worlds) == [(0, 3, 1), (0, 3, 2), (1, 3, 0), (1, 3, 2), (2, 3, 0), (2, 3, 1)]
    five_sigma = 5 * np.sqrt(num_draws * 1 / 6 * 5 / 6)
    assert all(abs(count - num_draws / 6) < five_sigma for count in worlds.values())


def test_determinize_knows_no_more_than_the_player() -> None:
    one = THREE.replay([1, 3, 0, PASS, BET])
    other = THREE.replay([2, 3, 1, PASS, BET])
    assert one.key(1) == other.key(1)
    assert one.determinized(1, new_rng(4)).tobytes() == other.determinized(1, new_rng(4)).tobytes()


def test_a_viewer_is_shown_no_other_card() -> None:
    position = GAME.replay([KING, JACK, BET])
    assert position.text() == "  player 0: card K, 2 in the pot\n> player 1: card J, 1 in the pot"
    assert (
        position.text(viewer=1)
        == "  player 0: card ?, 2 in the pot\n> player 1: card J, 1 in the pot"
    )


def test_moves_that_are_not_due_are_refused() -> None:
    with pytest.raises(IllegalActionError):
        GAME.replay([KING, KING])
    with pytest.raises(IllegalActionError, match="the game is over"):
        GAME.replay([KING, JACK, BET, BET, BET])


@pytest.mark.parametrize("num_players", [1, 6])
def test_only_two_to_five_can_play(num_players: int) -> None:
    with pytest.raises(OptionError, match="from 2 to 5"):
        make_game("kuhn_v0", num_players=num_players)


@pytest.mark.parametrize("num_players", [2, 5])
def test_plain_python_plays_the_same_games(num_players: int) -> None:
    games = ("kuhn_v0", {"num_players": num_players}, 30, 7)
    assert plain_python_digest(*games) == digest(*games)
