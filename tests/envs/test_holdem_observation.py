"""What networks see of a hand, in scripted positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from envs import make_game
from envs.core.game import Game
from envs.core.position import Position
from envs.core.rng import new_rng
from envs.holdem.equity import all_hands, equity
from envs.holdem.evaluator import evaluate, parse_hands
from tests.support.holdem_table import deal, play

SIX = ["Th 2h", "Ks Kd", "Qs Jd", "8s 7d", "Ts 9c", "9s 9d"]


def blocks(hands: list[str] = SIX, **options: Any) -> Position:
    """A hand of which blocks are observed."""
    return deal(hands, observation="blocks", **options)


def seen(position: Position, player: int) -> dict[str, np.ndarray]:
    return position.game.observation_fields(position.observation(player))


def ones(values: np.ndarray) -> list[int]:
    return [int(i) for i in np.flatnonzero(values)]


def strength(hole: str, board: str) -> float:
    """The chance to be ahead of one random hand now, with ties as halves."""
    own, common = parse_hands([hole])[0], parse_hands([board])[0]
    others = [hand for hand in all_hands() if not {*hand} & {*own, *common}]
    mine = evaluate([[*own, *common]])[0]
    theirs = evaluate([[*hand, *common] for hand in others])
    return float(np.mean((theirs < mine) + 0.5 * (theirs == mine)))


@pytest.mark.parametrize(
    ("history", "actions", "size"), [(0, False, 165), (1, False, 330), (1, True, 335)]
)
def test_all_blocks_of_six_players_have_165_inputs(history: int, actions: bool, size: int) -> None:
    game = make_game("holdem_v0", observation="blocks", history=history, history_actions=actions)
    assert game.observation_size == size


@pytest.mark.parametrize(
    ("block", "size"), [(1, 28), (2, 84), (3, 6), (4, 5), (5, 6), (6, 6), (7, 30)]
)
def test_every_block_can_be_shown_alone(block: int, size: int) -> None:
    assert make_game("holdem_v0", observation="blocks", blocks=block).observation_size == size


def test_own_cards_are_two_ranks_and_whether_they_are_suited() -> None:
    position = blocks()
    assert ones(seen(position, 0)["own_cards"]) == [8, 13 + 0, 26 + 1]  # ten and deuce of hearts
    assert ones(seen(position, 2)["own_cards"]) == [10, 13 + 9, 26]


def test_common_cards_are_ranks_with_a_symbol_for_those_not_dealt() -> None:
    position = blocks()
    five_places = seen(position, 0)["common_cards"][:70].reshape(5, 14)
    assert five_places.argmax(axis=1).tolist() == [13] * 5
    play(position, "call", "call", "call", "call", "call", "call", "3h Ah 7c")
    common = seen(position, 0)["common_cards"]
    # The flop in falling order; turn and river are missing.
    assert common[:70].reshape(5, 14).argmax(axis=1).tolist() == [12, 5, 1, 13, 13]
    assert common[70:76].argmax() == 2  # two hearts on the table
    assert common[76:].argmax() == 4  # four with one's own
    assert seen(position, 1)["common_cards"][76:].argmax() == 2


def test_position_counts_from_the_small_blind_to_the_dealer() -> None:
    position = blocks()
    assert [ones(seen(position, seat)["position"])[0] for seat in range(6)] == [5, 0, 1, 2, 3, 4]


def test_opponents_and_players_still_to_act_are_counted() -> None:
    position = blocks()
    assert ones(seen(position, 3)["opponents"]) == [4]
    assert ones(seen(position, 3)["still_to_act"]) == [5]
    play(position, "fold", "call", "call", "fold")
    assert ones(seen(position, 1)["opponents"]) == [2]
    assert ones(seen(position, 1)["still_to_act"]) == [1]
    play(position, "call")
    assert ones(seen(position, 2)["still_to_act"]) == [0]


def test_pot_odds_are_rounded_up_to_tenths_and_zero_is_free() -> None:
    def category(position: Position) -> int:
        return ones(seen(position, position.turn)["pot_odds"])[0]

    assert category(blocks()) == 4  # 100 for a pot of 150: 0.40
    two = blocks(SIX[:2])
    assert category(two) == 3  # 50 for 150: 0.25
    play(two, "call")
    assert category(two) == 0
    play(two, "call", "3h Ah 7c")  # a pot of 200
    for bet, expected in ((100, 3), (150, 3), (200, 4), (9000, 5)):
        assert category(play(two.copy(), bet)) == expected  # 0.25, 0.30, 0.333, almost 0.5


def test_moves_of_opponents_stand_from_the_left_neighbour_on() -> None:
    position = play(blocks(), "fold", "call", 450, "fold")
    codes = seen(position, 1)["opponents_moves"].reshape(5, 6).argmax(axis=1).tolist()
    # Seats 2 (no move yet), 3 folded, 4 called, 5 raised the pot, 0 folded.
    assert codes == [0, 1, 2, 5, 1]


def test_bets_of_other_sizes_count_as_the_nearest_of_the_three() -> None:
    for amount, code in ((225, 3), (255, 3), (260, 4), (287, 4), (350, 5), (5000, 5)):
        position = play(blocks(), amount)
        assert seen(position, 4)["opponents_moves"].reshape(5, 6)[4].argmax() == code


def test_a_ten_of_hearts_in_three_encodings() -> None:
    rank = {
        name: seen(blocks(blocks=1, encoding=name), 0)["own_cards"]
        for name in ("one_hot", "normalised", "basic")
    }
    assert ones(rank["one_hot"][:13]) == [8]
    np.testing.assert_allclose(rank["normalised"], [8 / 12, 0, 1], rtol=1e-6)
    np.testing.assert_allclose(16 * rank["basic"], [8, 0, 1], rtol=1e-6)


def test_history_shows_the_latest_own_decisions_of_the_hand() -> None:
    position = blocks(SIX[:2], history=2, history_actions=True)
    before = position.observation(0)
    size = 28 + 84 + 2 + 1 + 2 + 6 + 6
    assert not before[size:].any()
    play(position, "call", "call", "3h Ah 7c", 200)
    now = position.observation(0)
    assert now[size : 2 * size].tolist() == before[:size].tolist()
    assert ones(seen(position, 0)["own_move_1_ago"]) == [1]
    assert not now[2 * size + 5 :].any()
    play(position, "call", "8d", "call", 600, "call", "9h", "call")
    fields = seen(position, 0)
    assert ones(fields["own_move_1_ago"]) == [4]
    assert ones(fields["own_move_2_ago"]) == [1]
    assert fields["common_cards_1_ago"][:70].reshape(5, 14).argmax(axis=1).tolist() == [
        12,
        5,
        1,
        6,
        13,
    ]


def test_history_begins_anew_with_every_hand() -> None:
    position = blocks(SIX[:2], history=1, num_hands=2)
    play(position, "fold", "As Ad", "Ks Kc")
    assert position.turn >= 0
    for seat in range(2):
        assert seen(position, seat)["own_cards"].any()
        assert not seen(position, seat)["own_cards_1_ago"].any()


def test_the_full_observation_shows_cards_chips_and_moves() -> None:
    position = play(deal(SIX), "fold", 300, "call", "fold", "fold")
    fields = seen(position, 2)
    assert ones(fields["own_cards"]) == sorted([4 * 10 + 0, 4 * 9 + 3])
    assert ones(fields["to_move"]) == [0]
    assert ones(fields["is_in"]) == [0, 2, 3]
    np.testing.assert_allclose(fields["bets"][:4] * 60_000, [100, 0, 300, 300], atol=0.01)
    pot, call, odds, least, most = fields["prices"] * [60_000, 60_000, 1, 60_000, 60_000]
    np.testing.assert_allclose([pot, call, least, most], [750, 200, 500, 10_000], atol=0.1)
    assert abs(odds - 200 / 950) < 1e-6
    moves = fields["moves"].reshape(16, 15)
    # The last move first: seat 1 folds, five seats on from seat 2, before the flop.
    assert ones(moves[0]) == [5, 6, 10]
    assert ones(moves[3])[:3] == [2, 9, 10]  # seat 4 raised
    assert not moves[5:].any()


@pytest.mark.parametrize("options", [{}, {"observation": "blocks", "history": 3}])
def test_the_observation_says_nothing_about_other_hands(options: dict[str, Any]) -> None:
    one = play(deal(SIX, **options), 300, "call")
    hands = ["Th 2h", "3s 3d", "4s 5d", "6s 7c", "As 9h", "8c 8d"]
    other = play(deal(hands, **options), 300, "call")
    assert one.observation(0).tobytes() == other.observation(0).tobytes()
    assert one.key(0) == other.key(0)


def _names(game: Game) -> list[str]:
    return [field.name for field in game.fields]


def test_only_what_is_asked_for_is_shown() -> None:
    game = make_game("holdem_v0", observation="blocks", blocks=(6, 1), history=1)
    assert _names(game) == ["own_cards", "pot_odds", "own_cards_1_ago", "pot_odds_1_ago"]
    assert "moves" not in _names(make_game("holdem_v0", moves_shown=0))


def test_chances_are_those_against_one_random_hand_in_twentieths() -> None:
    position = blocks(["As Ah", "7d 2c"], blocks=(8, 9))
    found = seen(position, 0)["chances"].reshape(2, 21)
    assert [ones(level) for level in found] == [[17], [17]]  # aces win 85 % before the flop
    # An open straight draw: behind now, and nearly even with two cards to come.
    position = play(blocks(["8h 7c", "As Ac"], blocks=8), "call", "call", "6d 5s Kh")
    later, now = ((ones(level)[0]) / 20 for level in seen(position, 0)["chances"].reshape(2, 21))
    assert now == round(20 * strength("8h 7c", "6d 5s Kh")) / 20
    exact = equity("8h 7c", "6d 5s Kh", rng=new_rng(0), num_samples=50_000)
    assert abs(later - exact) < 0.12
    assert later > now + 0.1
    position = play(position, "call", "call", "2c", "call", "call", "3d")
    later, now = seen(position, 0)["chances"].reshape(2, 21)
    assert ones(later) == ones(now) == [round(20 * strength("8h 7c", "6d 5s Kh 2c 3d"))]


def test_chips_rise_by_two_levels_when_they_double() -> None:
    position = blocks(["As Ah", "7d 2c"], blocks=9)  # the pot is 1.5 blinds, a call half a blind
    pot, price, stack = (ones(level)[0] for level in seen(position, 0)["chips"].reshape(3, 21))
    assert (pot, price, stack) == (3, 1, 18)
    position = play(position, 400)
    pot, price, stack = (ones(level)[0] for level in seen(position, 1)["chips"].reshape(3, 21))
    assert (pot, price) == (6, 7)


def test_an_all_in_leaves_nothing_to_bet() -> None:
    position = play(blocks(["As Ah", "7d 2c"], blocks=9, stacks=(10_000, 600)), "call", "call")
    play(position, "Kd 8c 3s")
    *_, left = seen(position, 0)["chips"].reshape(3, 21)
    assert ones(left)[0] == 1 + np.ceil(2 * np.log2(500 / 50))
    *_, left = seen(play(position, 500), 0)["chips"].reshape(3, 21)
    assert ones(left)[0] == 0


def test_estimates_are_shown_for_the_present_only() -> None:
    game = make_game("holdem_v0", observation="blocks", blocks=(1, 8, 9), history=1)
    assert [field.name for field in game.fields] == [
        "own_cards",
        "chances",
        "chips",
        "own_cards_1_ago",
    ]
