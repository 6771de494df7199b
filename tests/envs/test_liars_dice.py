"""The rules of Liar's Dice, worked by hand: dice, raising, calling, who loses, who starts.

The bids themselves are in ``test_liars_dice_bids.py``, what players see in
``test_liars_dice_face.py``, logs and files in ``test_liars_dice_files.py``."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from common.errors import IllegalActionError
from envs import make_game
from envs.core.kernels import CHANCE
from envs.core.rng import new_rng
from tests.support.liars_dice_table import (
    RAISINGS,
    WILDS,
    Bid,
    after,
    deal,
    fewer_and_fewer,
    field,
    legal_bids,
    lose_round,
    play,
    random_game,
    starter,
    table,
)

# ---- players, dice, rolls ------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("dice", [1, 5])
def test_every_player_rolls_every_die_before_the_opening_bid(num_players: int, dice: int) -> None:
    position = make_game("liars_dice_v0", num_players=num_players, dice=dice).new_position()
    for _ in range(num_players * dice):
        assert position.turn == CHANCE
        position.apply(len(position.history) % 6)
    assert position.turn == 0
    assert field(position, "dice_left") == [dice] * num_players
    rolled = np.array(position.history).reshape(num_players, dice) + 1
    assert np.array(field(position, "dice"))[:, :dice].tolist() == np.sort(rolled).tolist()


def test_the_thesis_plays_two_players_with_five_dice_of_six_faces() -> None:
    game = make_game("liars_dice_v0")
    assert game == make_game("liars_dice_v0", preset="thesis")
    options = game.options.to_dict()
    assert (options["num_players"], options["dice"], options["faces"]) == (2, 5, 6)
    assert (options["wild"], options["raising"], options["single_round"]) == (
        "none",
        "never_lower",
        False,
    )


@pytest.mark.parametrize("faces", [2, 3, 4, 5, 6])
def test_every_face_of_a_die_is_equally_likely(faces: int) -> None:
    position = make_game("liars_dice_v0", faces=faces).new_position()
    assert position.chance_outcomes() == [(face, 1 / faces) for face in range(faces)]


def test_rolls_are_uniform_and_dice_do_not_influence_each_other() -> None:
    game, rng, num_deals = make_game("liars_dice_v0"), new_rng(2024), 400
    faces: Counter[int] = Counter()
    pairs: Counter[Bid] = Counter()
    for _ in range(num_deals):
        position = game.new_position()
        position.play_chance(rng)
        faces.update(position.history)
        # Disjoint pairs, one die of each player.
        pairs.update(zip(position.history[:5], position.history[5:], strict=True))
    expected = num_deals * 10 / 6
    # One chance in a million: 35.9 with 5 degrees of freedom, 92.6 with 35.
    assert sum((faces[face] - expected) ** 2 / expected for face in range(6)) < 35.9
    expected = num_deals * 5 / 36
    assert sum((pairs[a, b] - expected) ** 2 / expected for a in range(6) for b in range(6)) < 92.6


def test_a_seed_fixes_the_rolls() -> None:
    def rolls(seed: int) -> list[int]:
        position = make_game("liars_dice_v0").new_position()
        position.play_chance(new_rng(seed))
        return position.history

    assert rolls(1) == rolls(1)
    assert rolls(1) != rolls(2)


def test_a_lost_die_is_rolled_no_more_and_no_bid_may_count_it() -> None:
    position = make_game("liars_dice_v0").new_position()
    lose_round(position, 1)
    deal(position, "12345", "1234")
    assert field(position, "num_in_play") == 9
    assert max(count for count, _ in legal_bids(position)) == 9


def test_only_active_dice_count() -> None:
    position = make_game("liars_dice_v0", dice=2).new_position()
    lose_round(position, 1)  # all dice showed two, the lost one as well
    deal(position, "11", "2")
    play(position, "2*2", "liar")  # one two is left, so the bidder loses
    assert field(position, "dice_left") == [2, 0]


def test_dice_may_be_dealt_unequally() -> None:
    position = table("3", "22222", "44")
    assert field(position, "dice_left") == [1, 5, 2]
    assert field(position, "num_in_play") == 8
    play(position, "5*2", "liar")
    assert field(position, "dice_left") == [1, 4, 2]


# ---- opening, raising, calling -------------------------------------------------------------------


@pytest.mark.parametrize("raising", RAISINGS)
def test_the_opener_bids_and_everybody_after_raises_or_calls(raising: str) -> None:
    position = table("12", "34", "56", raising=raising)
    liar = position.game.parse_action("liar")
    assert liar not in position.legal_actions()
    for player, bid in enumerate(("1*2", "2*2", "3*4", "4*5")):
        assert position.turn == player % 3
        play(position, bid)
        assert liar in position.legal_actions()


@pytest.mark.parametrize("raising", RAISINGS)
@pytest.mark.parametrize("wild", WILDS)
@pytest.mark.parametrize("faces", [2, 6])
def test_liar_is_forced_after_the_highest_bid(raising: str, wild: str, faces: int) -> None:
    options = {"num_players": 2, "dice": (2, 1), "faces": faces, "wild": wild}
    for opening in fewer_and_fewer(make_game("liars_dice_v0", raising=raising, **options)):
        position = after(opening, (field(opening, "num_in_play"), faces))
        assert [position.action_text(action) for action in position.legal_actions()] == ["liar"]


@pytest.mark.parametrize("move", ["2*3", "1*4", "3*2", "4*6"])
def test_an_illegal_bid_is_refused_and_changes_nothing(move: str) -> None:
    position = table("11", "22")
    lose_round(position, 1)  # three dice are left, so four of a kind are too many
    deal(position, "11", "2")
    play(position, "2*3")
    state, history = position.state.copy(), position.history.copy()
    with pytest.raises(IllegalActionError, match=r"9 \(2\*4\), 10 \(2\*5\), .* 24 \(liar\)"):
        play(position, move)
    assert position.state.tobytes() == state.tobytes()
    assert position.history == history


@pytest.mark.parametrize("action", [-1, 61, 10**12, "2*3", None, 0.5])
def test_what_is_no_action_at_all_is_refused(action: Any) -> None:
    position = table("11111", "22222")
    state = position.state.copy()
    with pytest.raises(IllegalActionError, match=r"choose from 0 \(1\*1\), .* and 52 more"):
        position.apply(action)
    assert position.state.tobytes() == state.tobytes()
    assert len(position.history) == 10


def test_a_call_at_the_opening_and_a_move_after_the_end_are_refused() -> None:
    position = table("1", "2", single_round=True)
    with pytest.raises(
        IllegalActionError, match=r"action 12 is not legal here: choose from 0 \(1\*1\)"
    ):
        play(position, "liar")
    play(position, "1*1", "liar")
    with pytest.raises(IllegalActionError, match="the game is over"):
        play(position, "liar")


# ---- the challenge, lost dice, the winner --------------------------------------------------------


def test_caller_loses_when_bid_holds() -> None:
    position = table("13356", "23346")  # four threes, equality is enough
    play(position, "2*3", "3*3", "4*3", "liar")
    assert field(position, "dice_left") == [5, 4]
    assert field(position, "num_in_play") == 9
    assert starter(position) == 1


def test_bidder_loses_when_bid_is_false() -> None:
    position = table("13356", "23346")  # two sixes, three were bid
    play(position, "2*6", "3*6", "liar")
    assert field(position, "dice_left") == [5, 4]
    assert starter(position) == 1


@pytest.mark.parametrize(
    ("bid", "holds"), [("1*3", True), ("3*3", True), ("4*3", True), ("5*3", False)]
)
def test_equality_favours_the_bidder(bid: str, holds: bool) -> None:
    position = table("13356", "23346", single_round=True)
    play(position, bid, "liar")
    assert position.returns().tolist() == ([1.0, -1.0] if holds else [-1.0, 1.0])


@pytest.mark.parametrize("raising", RAISINGS)
@pytest.mark.parametrize("faces", [2, 4, 6])
@pytest.mark.parametrize("wild", WILDS)
def test_wild_faces_count_as_every_face(wild: str, faces: int, raising: str) -> None:
    hands = ("1112", "2211")
    if faces > 2:
        hands = ("1123", f"12{faces}{faces}")
    wild_face = {"none": None, "ones": 1, "ones_unbiddable": 1, "highest": faces}[wild]
    opening = table(*hands, wild=wild, faces=faces, raising=raising, single_round=True)
    for count, face in legal_bids(opening):
        num_showing = sum(int(die) in (face, wild_face) for die in "".join(hands))
        position = after(opening, (count, face))
        play(position, "liar")
        assert field(position, "loser") == (1 if num_showing >= count else 0), (count, face)


def test_only_the_player_to_move_may_challenge_and_only_the_last_bid() -> None:
    position = table("11", "22", "33")
    play(position, "1*1", "1*6")
    assert position.turn == 2
    play(position, "liar")  # the last bid is the false one, its bidder loses, not the opener
    assert field(position, "dice_left") == [2, 1, 2]


@pytest.mark.parametrize("num_players", [2, 4, 6])
def test_a_round_costs_exactly_one_die_and_its_loser_opens_the_next(num_players: int) -> None:
    game = make_game("liars_dice_v0", num_players=num_players, dice=2)
    liar = game.parse_action("liar")
    replayed = game.new_position()
    for action in random_game(game, seed=num_players).history:
        before, is_call = field(replayed, "dice_left"), not replayed.is_chance and action == liar
        replayed.apply(action)
        lost = [b - a for b, a in zip(before, field(replayed, "dice_left"), strict=True)]
        assert sorted(lost) == [0] * (num_players - 1) + [int(is_call)]
        if is_call and not replayed.is_over and before[lost.index(1)] > 1:
            assert starter(replayed) == lost.index(1)


def test_a_player_without_dice_is_out_of_the_turn_order() -> None:
    position = make_game("liars_dice_v0", num_players=3, dice=(1, 1, 2)).new_position()
    lose_round(position, 1)
    assert field(position, "dice_left") == [1, 0, 2]
    deal(position, "1", "", "23")
    assert position.turn == 2
    play(position, "1*1")
    assert position.turn == 0
    play(position, "1*2")
    assert position.turn == 2


def test_an_eliminated_first_seat_rolls_no_more() -> None:
    position = make_game("liars_dice_v0", num_players=3, dice=(1, 2, 2)).new_position()
    lose_round(position, 0)
    deal(position, "", "12", "34")
    assert field(position, "dice") == [[0] * 5, [1, 2, 0, 0, 0], [3, 4, 0, 0, 0]]
    assert position.turn == 1


def test_the_last_player_with_dice_wins() -> None:
    position = make_game("liars_dice_v0", num_players=3, dice=1).new_position()
    lose_round(position, 0)
    assert not position.is_over
    assert position.returns().tolist() == [0.0, 0.0, 0.0]
    lose_round(position, 2)
    assert position.is_over
    assert position.returns().tolist() == [-0.5, 1.0, -0.5]


@pytest.mark.parametrize(
    ("losers", "num_rounds"),
    [([0] * 5, 5), ([1] * 5, 5), ([0, 1] * 4 + [0], 9), ([1, 0] * 4 + [1], 9)],
)
def test_two_players_with_five_dice_play_at_least_five_and_at_most_nine_rounds(
    losers: list[int], num_rounds: int
) -> None:
    position = make_game("liars_dice_v0").new_position()
    for loser in losers:
        assert not position.is_over
        lose_round(position, loser)
    assert position.is_over
    assert field(position, "num_rounds") == num_rounds


def test_random_games_of_two_players_last_five_to_nine_rounds() -> None:
    game = make_game("liars_dice_v0")
    rounds = {field(random_game(game, seed), "num_rounds") for seed in range(15)}
    assert rounds <= {5, 6, 7, 8, 9}


# ---- who starts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("first_player", [0, 1, 2])
def test_a_fixed_seat_opens_every_game(first_player: int) -> None:
    game = make_game("liars_dice_v0", num_players=3, dice=1, first_player=first_player)
    assert {starter(game.new_position(number)) for number in range(5)} == {first_player}


def test_a_random_first_player_is_drawn_before_the_dice() -> None:
    game = make_game("liars_dice_v0", num_players=6, dice=1, faces=2, first_player="random")
    position = game.new_position()
    assert position.turn == CHANCE
    assert position.chance_outcomes() == [(seat, 1 / 6) for seat in range(6)]
    for seat in range(6):
        drawn = game.replay([seat])
        assert drawn.chance_outcomes() == [(0, 0.5), (1, 0.5)]
        deal(drawn, "1", "1", "1", "1", "1", "2")
        assert drawn.turn == seat
    assert {
        starter(game.replay([random_game(game, seed).history[0]])) for seed in range(40)
    } == set(range(6))


def test_alternating_games_open_with_seat_number_modulo_players() -> None:
    game = make_game("liars_dice_v0", num_players=3, dice=1, first_player="alternate")
    assert [starter(game.new_position(number)) for number in range(7)] == [0, 1, 2, 0, 1, 2, 0]
    assert starter(game.replay([0, 0], number=5)) == 2


@pytest.mark.parametrize(("option", "opener"), [("next", 3), ("winner", 1)])
def test_the_next_player_or_the_winner_opens_when_the_loser_is_out(
    option: str, opener: int
) -> None:
    position = table("2", "22", "2", "22", starter_after_elimination=option)
    play(position, "1*2", "2*2", "liar")  # seat 2 calls the true bid of seat 1 and is out
    assert field(position, "dice_left") == [1, 2, 0, 2]
    assert starter(position) == opener


@pytest.mark.parametrize("option", ["next", "winner"])
def test_a_caller_opens_when_the_bidder_is_out(option: str) -> None:
    position = table("22", "2", "22", starter_after_elimination=option)
    play(position, "1*2", "1*6", "liar")  # the caller is the next player and the winner
    assert field(position, "dice_left") == [2, 0, 2]
    assert starter(position) == 2


# ---- the last round ------------------------------------------------------------------------------


def test_the_last_round_stays_on_record_for_everybody() -> None:
    position = table("13356", "23346")
    play(position, "2*6", "3*6", "liar")
    record = position.game.record(position.state)
    assert record.last_dice[:2].tolist() == [[1, 3, 3, 5, 6], [2, 3, 3, 4, 6]]
    assert position.game.action_text(None, int(record.last_bid)) == "3*6"
    assert (record.last_starter, record.last_bidder, record.last_caller) == (0, 1, 0)
    bids = [position.game.action_text(None, int(a)) for a in np.flatnonzero(record.last_was_bid)]
    assert bids == ["2*6", "3*6"]
    for player in range(2):
        world = position.game.record(position.determinized(player, new_rng(0)))
        assert (world.last_dice == record.last_dice).all()
