"""The bidding of Liar's Dice: which bids raise which, in how many ways, and for how long."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from common.errors import IllegalActionError
from envs import make_game
from envs.core.position import Position
from tests.support.liars_dice_table import (
    RAISINGS,
    WILDS,
    Bid,
    after,
    all_bids,
    fewer_and_fewer,
    field,
    legal_bids,
    may_follow,
    play,
    table,
)
from tests.support.tree_counts import count_tree

# ---- raising -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raising", "legal", "illegal"),
    [
        ("count_first", "3*1 2*4 3*3 10*6", "1*4 2*3 2*2 1*6"),
        ("face_first", "1*4 3*3 10*6", "3*1 2*3 1*3 10*2"),
        ("never_lower", "3*3 2*4 3*4 4*3 2*5 10*6", "1*4 3*1 3*2 2*3"),
    ],
)
def test_the_examples_of_the_thesis_after_two_threes(
    raising: str, legal: str, illegal: str
) -> None:
    position = table("11111", "11111", raising=raising)
    play(position, "2*3")
    allowed = {position.action_text(action) for action in position.legal_actions()}
    assert set(legal.split()) <= allowed
    assert not set(illegal.split()) & allowed


def test_thirty_five_raises_of_two_threes_with_ten_dice() -> None:
    position = table("11111", "11111")
    play(position, "2*3")
    assert len(legal_bids(position)) == 35


@pytest.mark.parametrize("raising", RAISINGS)
@pytest.mark.parametrize("wild", WILDS)
@pytest.mark.parametrize(("dice", "faces"), [((3, 2), 6), ((1, 2, 1), 3), ((2, 2), 2)])
def test_raises_are_those_of_the_definition(raising: str, wild: str, dice: Any, faces: int) -> None:
    options = {"num_players": len(dice), "dice": dice, "faces": faces, "wild": wild}
    game = make_game("liars_dice_v0", raising=raising, **options)
    openings = fewer_and_fewer(game)
    assert [field(opening, "num_in_play") for opening in openings] == list(
        range(sum(dice), sum(dice) - len(openings), -1)
    )
    for opening in openings:
        bids = all_bids(field(opening, "num_in_play"), faces, wild)
        assert legal_bids(opening) == bids
        for standing in bids:
            raises = {bid for bid in bids if may_follow(raising, standing, bid)}
            assert legal_bids(after(opening, standing)) == raises


@pytest.mark.parametrize("dice", [(1, 4), (5, 5), (5, 5, 5)])  # from 2 to 15 dice in play
def test_never_lower_leaves_the_number_of_raises_of_the_formula(dice: tuple[int, ...]) -> None:
    for opening in fewer_and_fewer(make_game("liars_dice_v0", num_players=len(dice), dice=dice)):
        num_dice = field(opening, "num_in_play")
        for count, face in product(range(1, num_dice + 1), range(1, 7)):
            raises = legal_bids(after(opening, (count, face)))
            assert len(raises) == (num_dice - count + 1) * (7 - face) - 1


@pytest.mark.parametrize("raising", RAISINGS)
def test_a_later_raise_is_held_to_the_standing_bid_alone(raising: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        position = table("11", "11", faces=4, raising=raising)
        standing = None
        while bids := sorted(legal_bids(position)):
            if standing:
                allowed = {b for b in all_bids(4, 4, "none") if may_follow(raising, standing, b)}
                assert set(bids) == allowed
            standing = bids[rng.integers(len(bids))]
            play(position, f"{standing[0]}*{standing[1]}")


def test_there_is_no_bid_on_ones_when_they_cannot_be_bid() -> None:
    position = table("11111", "11111", wild="ones_unbiddable")
    assert len(legal_bids(position)) == position.game.facts.num_actions - 1 == 10 * 5
    with pytest.raises(IllegalActionError, match=r"'1\*1' is no action"):
        play(position, "1*1")


@pytest.mark.parametrize(("dice", "num_sequences"), [(1, 447), (2, 8831)])
def test_there_are_as_many_sequences_of_bids_as_the_specification_counts(
    dice: int, num_sequences: int
) -> None:
    def walk(position: Position) -> int:
        raises = [action for action in position.legal_actions() if action != liar]
        num_found = len(raises)
        for action in raises:
            raised = position.copy()
            raised.apply(action)
            num_found += walk(raised)
        return num_found

    position = table("1" * dice, "1" * dice, single_round=True)
    liar = position.game.parse_action("liar")
    assert walk(position) == num_sequences


@pytest.mark.parametrize(
    ("dice", "raising", "num_sequences"),
    [
        (3, "never_lower", 107_711),
        (4, "never_lower", 1_035_007),
        (5, "never_lower", 8_579_071),
        (5, "count_first", 2**60 - 1),
        (5, "face_first", 2**60 - 1),
    ],
)
def test_long_sequences_are_counted_by_their_standing_bid(
    dice: int, raising: str, num_sequences: int
) -> None:
    opening = table("1" * dice, "1" * dice, raising=raising)

    @cache
    def num_continuations(standing: Bid) -> int:
        return sum(1 + num_continuations(bid) for bid in legal_bids(after(opening, standing)))

    assert sum(1 + num_continuations(bid) for bid in legal_bids(opening)) == num_sequences


# ---- the longest game ----------------------------------------------------------------------------


@pytest.mark.parametrize("raising", RAISINGS)
@pytest.mark.parametrize(
    "options",
    [
        {"dice": 2, "faces": 3},
        {"dice": 2, "faces": 3, "single_round": True},
        {"num_players": 3, "dice": (1, 2, 1), "wild": "ones_unbiddable", "first_player": "random"},
    ],
)
def test_the_longest_game_has_the_declared_length(raising: str, options: dict[str, Any]) -> None:
    game = make_game("liars_dice_v0", raising=raising, **options)
    longest = max(len(p.history) for p in longest_games(game.new_position()))
    assert longest == game.facts.max_length


def longest_games(position: Position) -> list[Position]:
    """The ends of games in which every bidding is the longest and its last bid true or false."""
    if position.is_over:
        return [position]
    ends = []
    for face in (
        1,
        -1,
    ):  # all twos make the highest bid false, all dice of the highest face make it true
        branch = position.copy()
        while branch.is_chance:
            branch.apply(branch.legal_actions()[face])
        num_rounds = field(branch, "num_rounds")
        while field(branch, "num_rounds") == num_rounds:
            # The smallest step up; the call is the last action and comes when nothing else is left.
            branch.apply(branch.legal_actions()[0])
        ends += longest_games(branch)
    return ends


@pytest.mark.parametrize("raising", RAISINGS)
def test_no_game_is_longer_than_declared(raising: str) -> None:
    for options in ({"dice": 1, "faces": 3}, {"dice": 1, "faces": 2, "first_player": "random"}):
        game = make_game("liars_dice_v0", raising=raising, **options)
        assert count_tree(game).depth == game.facts.max_length
