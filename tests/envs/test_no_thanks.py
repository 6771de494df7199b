"""The rules of No Thanks!, worked out by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from common.errors import IllegalActionError, OptionError
from envs.core.kernels import CHANCE, PUBLIC
from envs.core.position import Position
from envs.core.rng import new_rng
from envs.no_thanks import NoThanks
from tests.support.no_thanks_decks import PAY, TAKE, small
from tests.support.plain_python import digest, plain_python_digest

GAME = NoThanks()
HANDS = {  # a whole game: 24 cards, 33 chips
    0: ([4, 5, 6, 7, 9, 10, 18, 20, 30, 31, 32], 18),
    1: ([3, 12, 13, 14, 27, 28], 10),
    2: ([17, 19, 22, 23, 24, 34, 35], 5),
}


def finished(
    hands: Mapping[int, tuple[Sequence[int], int]], seed: int = 0, **options: Any
) -> Position:
    """A game in which the players have taken these cards, in some order, and have these chips."""
    game = NoThanks(**options)
    owners = {card: player for player, (cards, _) in hands.items() for card in cards}
    order = np.random.default_rng(seed).permutation(list(owners)).tolist()
    position = game.deal(order)
    s = game.record(position.state)
    for card in order:
        s.to_move = owners[card]
        game.kernels.step(position.state, game.rules, TAKE)
    for player, (_, chips) in hands.items():
        s.chips[player] = chips
    return position


def returns(position: Position) -> list[float]:
    out = np.empty(position.game.facts.num_players)
    position.game.kernels.returns(position.state, position.game.rules, out)
    return out.tolist()


# ---- the start -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("players", "chips"), [(3, 11), (4, 11), (5, 11), (6, 9), (7, 7)])
def test_chips_at_the_start_depend_on_the_number_of_players(players: int, chips: int) -> None:
    game = NoThanks(num_players=players)
    assert game.record(game.new_position().state).chips[:players].tolist() == [chips] * players


def test_twenty_four_of_thirty_three_cards_are_dealt_and_then_the_starter_moves() -> None:
    position = GAME.new_position()
    for card in range(24):
        assert position.turn == CHANCE
        assert len(position.legal_actions()) == 33 - card
        position.apply(card)
    assert position.turn == 0
    assert position.legal_actions() == [PAY, TAKE]


def test_the_starter_can_be_a_seat_or_drawn_or_alternate() -> None:
    assert NoThanks(first_player=2).deal([3]).turn == 2
    drawn = NoThanks(first_player="random")
    assert drawn.new_position().chance_outcomes() == [(seat, 1 / 3) for seat in range(3)]
    assert drawn.replay([1, *range(24)]).turn == 1
    alternate = NoThanks(first_player="alternate")
    assert [alternate.deal([3], number).turn for number in range(4)] == [0, 1, 2, 0]


# ---- moves ---------------------------------------------------------------------------------------


def test_paying_puts_a_chip_on_the_card_and_the_next_player_moves() -> None:
    position = GAME.deal([20, 10])
    for mover, pot in ((0, 0), (1, 1), (2, 2), (0, 3)):
        s = GAME.record(position.state)
        assert (position.turn, s.pot) == (mover, pot)
        position.apply(PAY)
    assert GAME.record(position.state).chips[:3].tolist() == [9, 10, 10]


def test_taking_gives_card_and_chips_and_the_same_player_moves_again() -> None:
    position = GAME.deal([20, 10])
    for action in (PAY, PAY, TAKE):
        position.apply(action)
    s = GAME.record(position.state)
    assert (position.turn, s.pot, s.num_taken) == (2, 0, 1)
    assert s.chips[:3].tolist() == [10, 10, 13]
    assert GAME.runs(position.state, 2) == [(20, 20)]


def test_a_player_without_chips_must_take() -> None:
    position = small(5, 6, chips=1)
    for _ in range(3):
        position.apply(PAY)
    assert position.legal_actions() == [TAKE]
    with pytest.raises(IllegalActionError):
        position.apply(PAY)


def test_the_game_ends_when_the_last_card_is_taken() -> None:
    position = GAME.deal(list(range(3, 27)))
    for _ in range(24):
        assert not position.is_over
        position.apply(TAKE)
    assert position.is_over
    assert position.returns().tolist() == [8, 11, 11]


# ---- scoring -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_only_lead_cards_cost_and_chips_count(seed: int) -> None:
    position = finished(HANDS, seed)
    assert returns(position) == [-63, -32, -87]
    assert [GAME.runs(position.state, player) for player in range(3)] == [
        [(4, 7), (9, 10), (18, 18), (20, 20), (30, 32)],
        [(3, 3), (12, 14), (27, 28)],
        [(17, 17), (19, 19), (22, 24), (34, 35)],
    ]


def test_a_card_that_joins_two_runs_can_help_both_who_leave_it_and_who_take_it() -> None:
    other = dict(HANDS)
    other[0] = ([card for card in HANDS[0][0] if card != 18], 18)
    other[2] = ([*HANDS[2][0], 18], 5)
    assert returns(finished(other)) == [-63 + 18, -32, -87 + 19]


def test_four_runs_have_four_lead_cards() -> None:
    hand = [14, 15, 16, 18, 25, 26, 30]
    position = finished({0: (hand, 0)}, removed=33 - len(hand))
    assert [low for low, _ in position.game.runs(position.state, 0)] == [14, 18, 25, 30]  # type: ignore[attr-defined]
    assert returns(position) == [-(14 + 18 + 25 + 30), 11, 11]


def test_the_lowest_total_is_531_below_zero() -> None:
    hands = {p: (list(range(14 - p, 36 - p, 3)), chips) for p, chips in enumerate((19, 11, 3))}
    assert returns(finished(hands)) == [-177] * 3
    assert sum(returns(finished(hands))) == 33 - sum(range(12, 36)) == -531


@pytest.mark.parametrize("options", [{}, {"lowest": -7, "highest": 12}, {"card_step": 2}])
def test_scoring_card_by_card_is_scoring_from_scratch(options: dict[str, Any]) -> None:
    game = NoThanks(**{"removed": 0, **options})
    values, rng = game.options.values, np.random.default_rng(1)
    for _ in range(200):
        position = game.deal(rng.permutation(values).tolist())
        s = game.record(position.state)
        for _ in range(int(rng.integers(1, len(values)))):
            s.to_move = rng.integers(3)
            game.kernels.step(position.state, game.rules, TAKE)
        for player in range(3):
            cards = {game.value(int(c)) for c in np.flatnonzero(s.owner == player)}
            assert s.leads[player] == sum(card for card in cards if card - 1 not in cards)


def test_cards_below_zero_are_worth_points() -> None:
    position = NoThanks("always_take").deal([-1, 0, 1, 2, 3, 4, 5, 6])
    for _ in range(8):
        position.apply(TAKE)
    assert position.returns().tolist() == [7, 6, 6]


def test_cards_two_apart_never_make_a_run() -> None:
    position = NoThanks("always_pay").deal([3, 5, 7, 9, 11, 13, 15])
    for _ in range(7):
        position.apply(TAKE)
    assert position.returns().tolist() == [-63, 0, 0]


# ---- what is paid --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "places", "wins"),
    [
        ((5, 2, 1), (1, 0, -1), (1, 0, 0)),
        ((5, 5, 1), (0.5, 0.5, -1), (0.5, 0.5, 0)),
        ((4, 4, 4), (0, 0, 0), (1 / 3, 1 / 3, 1 / 3)),
        ((1, 3, 1), (-0.5, 1, -0.5), (0, 1, 0)),
    ],
)
def test_equal_scores_share_their_places(
    scores: Sequence[int], places: Sequence[float], wins: Sequence[float]
) -> None:
    for name, expected in (("score", scores), ("place", places), ("win", wins)):
        position = finished({0: ([3], 0)}, highest=3, removed=0, returns=name)
        s = position.game.record(position.state)
        s.chips[:3] = np.array(scores) + s.leads[:3]
        assert returns(position) == pytest.approx(expected)


def test_nothing_is_paid_before_the_end() -> None:
    position = GAME.deal([20])
    position.apply(TAKE)
    assert position.returns().tolist() == [0, 0, 0]


@pytest.mark.parametrize(("name", "total"), [("score", None), ("place", 0.0), ("win", 1.0)])
def test_only_places_and_wins_have_a_constant_sum(name: str, total: float | None) -> None:
    assert NoThanks(returns=name).facts.return_sum == total


# ---- variants ------------------------------------------------------------------------------------


def test_with_the_cap_a_card_with_its_value_in_chips_must_be_taken() -> None:
    position = small(3, 4, cap=True)
    for _ in range(3):
        assert position.legal_actions() == [PAY, TAKE]
        position.apply(PAY)
    assert position.legal_actions() == [TAKE]


def test_unlimited_chips_may_go_below_zero_and_need_the_cap() -> None:
    game = NoThanks("always_pay")
    position = game.deal([3])
    for action in (PAY, PAY, PAY, TAKE):
        position.apply(action)
    assert game.record(position.state).chips[:3].tolist() == [2, -1, -1]
    with pytest.raises(OptionError, match="set cap to true"):
        NoThanks(chips="unlimited")


def test_a_worthless_card_must_be_taken_under_the_cap() -> None:
    assert small(-1, 0, 1, cap=True).legal_actions() == [TAKE]
    assert small(-1, 0, 1).legal_actions() == [PAY, TAKE]


def test_without_removed_cards_the_last_card_is_known_to_all() -> None:
    position = NoThanks(removed=0, highest=6).deal([6, 3, 5, 4])
    for _ in range(2):
        position.apply(TAKE)
    worlds = {
        tuple(position.game.record(position.determinized(1, new_rng(i))).deck[:4])
        for i in range(20)
    }
    assert worlds == {(3, 0, 2, 1)}


def test_the_small_game_has_eight_of_twelve_cards_and_six_chips() -> None:
    o = NoThanks("small").options
    assert (o.num_cards, o.deck_size, o.starting_chips, o.known_future) == (12, 8, 6, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 2}, "num_players must be a whole number from 3 to 7"),
        ({"lowest": 10, "highest": 9}, "make 0 cards"),
        ({"highest": 60, "removed": 0}, "make 58 cards"),
        ({"highest": 11}, "removed must be below the number of cards, 9"),
        ({"first_player": 3}, "first_player must be a seat from 0 to 2"),
        ({"returns": "money"}, "'score' or 'place' or 'win'"),
    ],
)
def test_options_that_make_no_game_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        NoThanks(**options)


def test_a_given_deck_needs_a_given_starter() -> None:
    with pytest.raises(OptionError, match="set first_player to a seat"):
        NoThanks("official").deal([3])


# ---- who knows what ------------------------------------------------------------------------------


def test_the_deck_is_hidden_but_for_the_card_that_is_face_up() -> None:
    position = GAME.deal([20, 10, 30])
    tokens = position.tokens(PUBLIC)
    assert tokens == [2 + 17] + [1] * 23
    assert all(position.tokens(player) == tokens for player in range(3))
    position.apply(PAY)
    position.apply(TAKE)
    assert position.tokens(0)[24:] == [1, 2 + 1 + 7]


def test_a_known_future_is_seen_by_all_and_leaves_one_world() -> None:
    position = NoThanks(known_future=True).deal([20, 10, 30])
    assert len(set(position.tokens(PUBLIC)[:24])) == 24
    for player in range(3):
        world = position.determinized(player, new_rng(player))
        assert world.tobytes() == position.state.tobytes()
    coming = position.game.observation_fields(position.observation(1))["coming"]
    assert coming[10 - 3] == 1
    assert coming[30 - 3] == pytest.approx(1 - 1 / 24)
    assert coming[20 - 3] == coming[34 - 3] == 0


def test_hidden_cards_are_drawn_from_all_that_were_not_seen() -> None:
    position = NoThanks(highest=6, removed=1).deal([4, 3, 6])
    position.apply(TAKE)
    drawn = Counter(
        int(position.game.record(position.determinized(2, rng)).deck[2])
        for rng in (new_rng(i) for i in range(3000))
    )
    assert sorted(drawn) == [5 - 3, 6 - 3]
    assert abs(drawn[2] - 1500) < 5 * np.sqrt(3000 / 4)


def test_chips_out_of_sight_can_still_be_counted() -> None:
    """All moves are public: other worlds have the same chips, observations do not tell them."""
    game = NoThanks(chips_shown=False)
    positions = [game.deal([20, 10]) for _ in range(2)]
    for position, actions in zip(positions, ((PAY, TAKE, TAKE), (TAKE, PAY, TAKE)), strict=True):
        for action in actions:
            position.apply(action)
        world = game.record(position.determinized(0, new_rng(1)))
        assert world.chips.tolist() == game.record(position.state).chips.tolist()
    pieces = game.observation_fields(positions[0].observation(2))
    assert pieces["chips"].tolist() == [np.float32(11 / 33)]
    assert "player 1: ? chips" in positions[0].text(viewer=2)
    assert "player 1: 12 chips" in positions[0].text(viewer=1)


def test_the_observation_shows_card_chips_and_hands_from_the_viewer_on() -> None:
    position = GAME.deal([20, 10])
    for action in (PAY, TAKE, PAY):
        position.apply(action)
    pieces = GAME.observation_fields(position.observation(1))
    assert pieces["seat"].tolist() == [0, 1, 0]
    assert np.flatnonzero(pieces["card"]).tolist() == [10 - 3]
    np.testing.assert_allclose(pieces["pot"], [1 / 33])
    np.testing.assert_allclose(pieces["cards_left"], [23 / 24], rtol=1e-6)
    np.testing.assert_allclose(pieces["chips"] * 33, [11, 11, 10], rtol=1e-6)
    assert pieces["to_move"].tolist() == [0, 1, 0]
    assert np.flatnonzero(pieces["cards"]).tolist() == [20 - 3]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_players": 5, "first_player": "random", "returns": "place", "chips_shown": False},
        {"lowest": -3, "highest": 9, "removed": 2, "chips": "unlimited", "cap": True},
    ],
)
def test_plain_python_plays_the_same_games(options: dict[str, Any]) -> None:
    games = ("no_thanks_v0", options, 3, 7)
    assert plain_python_digest(*games) == digest(*games)


# ---- for searches --------------------------------------------------------------------------------


def test_the_estimate_is_what_everybody_would_get_now() -> None:
    position = GAME.deal([20, 10])
    for action in (PAY, TAKE, PAY):
        position.apply(action)
    out = np.empty(3)
    GAME.optional.evaluate(position.state, GAME.rules, out)
    assert out.tolist() == [10, 11 - 20, 11]


def test_rollouts_take_what_is_cheap_enough_and_pay_if_they_can() -> None:
    for card, pot, action in ((12, 0, TAKE), (13, 0, PAY), (13, 1, TAKE), (35, 22, PAY)):
        position = GAME.deal([card])
        for _ in range(pot):
            position.apply(PAY)
        assert GAME.optional.rollout(position.state, GAME.rules, new_rng(0)) == action
    position = small(30, 31, chips=1)
    for _ in range(3):
        position.apply(PAY)
    assert position.game.optional.rollout(position.state, position.game.rules, new_rng(0)) == TAKE
