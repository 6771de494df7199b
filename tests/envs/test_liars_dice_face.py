"""Liar's Dice as its players meet it: what they see, what they are paid, options and words."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from common.errors import IllegalActionError, OptionError
from envs import make_game
from envs.core.kernels import PUBLIC
from envs.core.rng import new_rng
from tests.support.liars_dice_table import (
    RAISINGS,
    deal,
    lose_round,
    play,
    random_game,
    table,
)

GAME = make_game("liars_dice_v0")


# ---- what a player sees --------------------------------------------------------------------------


def test_the_observation_shows_seat_hand_dice_counts_and_every_bid() -> None:
    position = table("2222", "222", "22")
    lose_round(position, 2)
    deal(position, "1336", "525", "4")
    play(position, "1*4", "2*4", "2*5")  # by players 2, 0 and 1
    pieces = position.game.observation_fields(position.observation(1))
    assert pieces["seat"].tolist() == [0, 1, 0]
    np.testing.assert_allclose(pieces["hand"], [0, 1 / 3, 0, 0, 2 / 3, 0], rtol=1e-6)
    # From the viewer on: players 1, 2, 0.
    assert pieces["dice_left"].tolist() == [1.0, 0.5, 1.0]
    assert pieces["starter"].tolist() == [0, 1, 0]
    assert pieces["bidder"].tolist() == [1, 0, 0]
    bids = [position.game.parse_action(bid) for bid in ("1*4", "2*4", "2*5")]
    assert np.flatnonzero(pieces["bids"]).tolist() == bids
    assert np.flatnonzero(pieces["standing_bid"]).tolist() == bids[-1:]


def test_the_mask_shows_the_legal_moves() -> None:
    position = table("1", "2")
    play(position, "2*5")
    assert np.flatnonzero(position.mask()).tolist() == [11, 12]
    assert [position.action_text(action) for action in (11, 12)] == ["2*6", "liar"]


def test_a_new_round_forgets_the_bids_of_the_last_one() -> None:
    position = table("12", "34")
    play(position, "1*1", "2*4", "3*4", "liar")  # false, so the opener loses
    deal(position, "5", "66")
    pieces = position.game.observation_fields(position.observation(0))
    assert not pieces["bids"].any()
    assert not pieces["standing_bid"].any()
    assert not pieces["bidder"].any()


@pytest.mark.parametrize("viewer", [0, 1, 2])
@pytest.mark.parametrize("num_moves", [0, 1, 4])
def test_hidden_dice_change_nothing_that_a_player_sees(viewer: int, num_moves: int) -> None:
    first_round = table("22", "22", "22")
    lose_round(first_round, 1)
    own, hands, sights = "56", [2, 1, 2], set()
    for hidden in product("16", repeat=5 - hands[viewer]):
        others = "".join(hidden)
        position = first_round.copy()
        before = sum(hands[:viewer])
        deal(position, others[:before] + own[: hands[viewer]] + others[before:])
        play(position, *("1*3", "2*3", "2*5", "4*6")[:num_moves])
        public = tuple(position.tokens(PUBLIC)), position.mask().tobytes(), position.turn
        sight = (
            position.observation(viewer).tobytes(),
            tuple(position.tokens(viewer)),
            position.key(viewer),
            position.text(viewer),
        )
        sights.add((*public, *sight))
    assert len(sights) == 1


@pytest.mark.parametrize("seat", [0, 1])
def test_dice_changed_in_the_record_are_seen_by_their_owner_alone(seat: int) -> None:
    position = table("123", "456")
    play(position, "1*3")
    changed = position.copy()
    position.game.record(changed.state).dice[seat, :3] = [6, 6, 6]
    other = 1 - seat
    assert changed.observation(seat).tobytes() != position.observation(seat).tobytes()
    assert changed.observation(other).tobytes() == position.observation(other).tobytes()
    assert changed.text(other) == position.text(other)
    assert changed.mask().tobytes() == position.mask().tobytes()
    bid = position.game.parse_action("2*4")
    seen = [
        position.game.kernels.seen(p.state, position.game.rules, bid, other)
        for p in (position, changed)
    ]
    assert seen[0] == seen[1]


def test_players_know_their_hand_and_not_the_order_of_its_rolls() -> None:
    keys: dict[str, set[int]] = {}
    for faces in product("12356", repeat=3):
        hand = "".join(sorted(faces))
        keys.setdefault(hand, set()).add(table("".join(faces), "4").key(0))
    assert all(len(same_hand) == 1 for same_hand in keys.values())
    assert len(set.union(*keys.values())) == len(keys) == 35


def test_players_look_under_the_cup_when_all_their_dice_have_been_rolled() -> None:
    first, second = (make_game("liars_dice_v0", dice=2).replay([face]) for face in (0, 5))
    for viewer in (0, 1, PUBLIC):
        assert first.tokens(viewer) == second.tokens(viewer)
    assert first.observation(0).tobytes() == second.observation(0).tobytes()
    assert first.text(viewer=0) == second.text(viewer=0)


def test_a_call_shows_every_die_to_everybody() -> None:
    calls = set()
    for hands in (("12", "34"), ("12", "35"), ("16", "34")):
        position = table(*hands)
        play(position, "1*1", "liar")
        tokens = [position.tokens(viewer)[-1] for viewer in (0, 1, PUBLIC)]
        assert len(set(tokens)) == 1
        calls.add(tokens[0])
    assert len(calls) == 3


def test_determinize_rolls_all_dice_but_the_players_own_again() -> None:
    position, rng = table("12", "34", "56"), new_rng(4)
    play(position, "1*1")
    worlds = [position.game.record(position.determinized(1, rng)).copy() for _ in range(200)]
    assert {tuple(world.dice[1, :2].tolist()) for world in worlds} == {(3, 4)}
    for seat, die in product((0, 2), (0, 1)):
        assert {int(world.dice[seat, die]) for world in worlds} == set(range(1, 7))
    for world in worlds:
        world.dice[:] = position.game.record(position.state).dice
        assert world.tobytes() == position.state.tobytes()


# ---- returns -------------------------------------------------------------------------------------


def test_the_winner_of_a_match_takes_one_from_the_others() -> None:
    position = make_game("liars_dice_v0", num_players=4, dice=1).new_position()
    for loser in (3, 1, 0):
        assert position.returns().tolist() == [0.0] * 4
        lose_round(position, loser)
    np.testing.assert_allclose(position.returns(), [-1 / 3, -1 / 3, 1.0, -1 / 3])


def test_the_loser_of_a_single_round_pays_one_to_the_others() -> None:
    position = table("1", "2", "3", single_round=True)
    play(position, "1*1", "1*6", "liar")
    assert position.is_over
    assert position.returns().tolist() == [0.5, -1.0, 0.5]


def test_every_lost_die_is_paid_at_once() -> None:
    position = make_game("liars_dice_v0", num_players=3, dice=2, rewards="dice").new_position()
    lose_round(position, 1)
    assert position.returns().tolist() == [0.5, -1.0, 0.5]
    lose_round(position, 1)
    assert position.returns().tolist() == [1.0, -2.0, 1.0]
    lose_round(position, 0)
    assert position.returns().tolist() == [0.0, -1.5, 1.5]
    lose_round(position, 0)
    assert position.is_over
    assert position.returns().tolist() == [-1.0, -1.0, 2.0]
    assert position.game.facts.max_return == 2.0
    assert position.game.facts.min_return == -2.0


@pytest.mark.parametrize("rewards", ["winner", "dice"])
@pytest.mark.parametrize("dice", [(2, 2), (1, 3, 2), (2, 1, 1, 1, 1, 2)])
def test_returns_add_up_to_zero_at_all_times(rewards: str, dice: tuple[int, ...]) -> None:
    game = make_game("liars_dice_v0", num_players=len(dice), dice=dice, rewards=rewards)
    replayed = game.new_position()
    for action in random_game(game, seed=8).history:
        replayed.apply(action)
        assert abs(replayed.returns().sum()) < 1e-12
        assert replayed.returns().min() >= game.facts.min_return - 1e-12
        assert replayed.returns().max() <= game.facts.max_return + 1e-12


# ---- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 1}, "num_players must be a whole number from 2 to 6, not 1"),
        ({"num_players": 7}, "num_players must be a whole number from 2 to 6, not 7"),
        ({"dice": 0}, "dice must be a whole number from 1 to 5 or a list of such numbers, not 0"),
        ({"dice": 6}, "dice must be a whole number from 1 to 5 or a list of such numbers, not 6"),
        (
            {"dice": [5, 0]},
            "dice must be a whole number from 1 to 5 or a list of such numbers, not (5, 0)",
        ),
        ({"dice": [3]}, "dice must list 2 numbers, one for each player, not 1"),
        (
            {"num_players": 3, "dice": [3, 3]},
            "dice must list 3 numbers, one for each player, not 2",
        ),
        ({"faces": 1}, "faces must be a whole number from 2 to 6, not 1"),
        ({"faces": 7}, "faces must be a whole number from 2 to 6, not 7"),
        ({"faces": 6.0}, "faces must be a whole number from 2 to 6, not 6.0"),
        (
            {"wild": "twos"},
            "wild must be 'none' or 'ones' or 'ones_unbiddable' or 'highest', not 'twos'",
        ),
        ({"raising": 3}, "raising must be 'count_first' or 'face_first' or 'never_lower', not 3"),
        ({"single_round": 1}, "single_round must be true or false, not 1"),
        (
            {"first_player": 2},
            "first_player must be a seat from 0 to 1, 'random' or 'alternate', not 2",
        ),
        ({"first_player": -1}, "a whole number from 0 to 5 or 'random' or 'alternate', not -1"),
        (
            {"first_player": "last"},
            "a whole number from 0 to 5 or 'random' or 'alternate', not 'last'",
        ),
        ({"starter_after_elimination": "loser"}, "must be 'next' or 'winner', not 'loser'"),
        ({"rewards": "chips"}, "rewards must be 'winner' or 'dice', not 'chips'"),
        ({"dise": 3}, "unknown option 'dise': did you mean 'dice'?"),
        ({"preset": "openspeil"}, "unknown preset 'openspeil': did you mean 'openspiel'?"),
    ],
)
def test_a_bad_option_is_answered_with_what_is_allowed(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError) as error:
        make_game("liars_dice_v0", **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_presets_can_be_overridden() -> None:
    game = make_game("liars_dice_v0", preset="openspiel", dice=2)
    options = game.options.to_dict()
    assert (options["raising"], options["wild"], options["single_round"]) == (
        "count_first",
        "highest",
        True,
    )
    assert game.facts.num_actions == 4 * 6 + 1


# ---- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("raising", RAISINGS)
@pytest.mark.parametrize("wild", ["none", "ones_unbiddable"])
def test_every_action_is_found_by_its_words_and_by_its_number(raising: str, wild: str) -> None:
    game = make_game("liars_dice_v0", dice=(2, 1), raising=raising, wild=wild)
    texts = [game.action_text(None, action) for action in range(game.facts.num_actions)]
    assert len(set(texts)) == len(texts)
    assert texts[-1] == "liar"
    assert [game.parse_action(text) for text in texts] == list(range(len(texts)))
    assert [game.parse_action(str(action)) for action in range(len(texts))] == list(
        range(len(texts))
    )


def test_bids_are_numbered_in_rising_order() -> None:
    by_count = [GAME.action_text(None, action) for action in (0, 5, 6, 59)]
    assert by_count == ["1*1", "1*6", "2*1", "10*6"]
    face_first = make_game("liars_dice_v0", raising="face_first")
    assert [face_first.action_text(None, a) for a in (0, 9, 10, 59)] == [
        "1*1",
        "10*1",
        "1*2",
        "10*6",
    ]


@pytest.mark.parametrize("text", ["2*3", " 2 * 3 ", "2* 3", "8"])
def test_a_bid_is_read_with_or_without_spaces(text: str) -> None:
    assert GAME.action_text(None, GAME.parse_action(text)) == "2*3"


@pytest.mark.parametrize("text", ["liar", "LIAR", " Liar\n", "60"])
def test_a_call_is_read_in_any_case(text: str) -> None:
    assert GAME.parse_action(text) == 60


@pytest.mark.parametrize(
    "text", ["61", "11*1", "0*1", "2*7", "2*0", "-1", "2**3", "", "lair", "1.5"]
)
def test_words_that_are_no_action_are_refused(text: str) -> None:
    with pytest.raises(IllegalActionError, match=r"is no action of liars_dice_v0: .*known: "):
        GAME.parse_action(text)


def test_a_misspelt_call_is_answered_with_the_right_word() -> None:
    with pytest.raises(IllegalActionError, match="did you mean 'liar'"):
        GAME.parse_action("lair")


@pytest.mark.parametrize("action", [-1, 60, 61])
def test_only_a_bid_has_a_count_and_a_face(action: int) -> None:
    assert GAME.bid(8) == (2, 3)
    with pytest.raises(ValueError, match="bids are 0 to 59"):
        GAME.bid(action)


def test_a_spectator_is_shown_every_die_and_a_player_only_his_own() -> None:
    position = table("133", "26", "5")
    play(position, "1*2", "2*3")
    assert position.text().splitlines() == [
        "  player 0: 1 3 3",
        "  player 1: 2 6",
        "> player 2: 5",
        "bid: 2*3 by player 1, 6 dice in play",
    ]
    assert position.text(viewer=1).splitlines()[:3] == [
        "  player 0: ? ? ?",
        "  player 1: 2 6",
        "> player 2: ?",
    ]


def test_unrolled_dice_are_dots_and_players_without_dice_are_out() -> None:
    position = make_game("liars_dice_v0", num_players=3, dice=(1, 1, 2)).new_position()
    lose_round(position, 1)
    position.apply(2)
    position.apply(3)
    assert position.text(viewer=0).splitlines() == [
        "  player 0: 3",
        "  player 1: out",
        "  player 2: ? .",
        "bid: none, 3 dice in play",
        "player 1 lost round 1",
        "it showed 2 | 2 | 2 2: player 1 called 1*2 of player 0",
    ]


@pytest.mark.parametrize("single_round", [False, True])
def test_all_dice_are_shown_when_the_game_is_over(single_round: bool) -> None:
    position = table("1", "6", single_round=single_round)
    play(position, "1*6", "liar")
    for viewer in (None, 0, 1):
        lines = position.text(viewer).splitlines()
        assert lines[:2] == ["  player 0: 1", "  player 1: 6"]
        assert lines[-1] == "player 1 lost round 1"
