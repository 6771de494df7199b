"""No Thanks! in words and as a picture."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from envs import make_game
from envs.core.kernels import OVER
from envs.core.rng import new_rng
from envs.no_thanks import NoThanks
from tests.support.no_thanks_decks import PAY, TAKE, small


def test_the_text_shows_the_card_everybodys_chips_and_runs() -> None:
    position = small(5, 6, 9)
    for action in (TAKE, PAY, PAY):
        position.apply(action)
    assert position.text(viewer=0).splitlines() == [
        "card 6 with 2 chips, 1 more to come",
        "  player 0: 2 chips, cards 5",
        "  player 1: 2 chips, cards none",
        "> player 2: 3 chips, cards none",
        "deck 9",
    ]
    for action in (PAY, TAKE, TAKE):
        position.apply(action)
    assert position.text().splitlines() == [
        "  player 0: 5 chips, cards 5-6 9, score -9",
        "  player 1: 2 chips, cards none, score 2",
        "  player 2: 2 chips, cards none, score 2",
    ]
    assert position.turn == OVER


def test_chance_is_told_in_words() -> None:
    game = make_game("no_thanks_v0", first_player="random")
    assert game.chance_text(game.new_position().state, 2) == "player 2 starts"
    assert game.chance_text(game.replay([2]).state, 4) == "shuffles 7"


def test_the_picture_has_one_size_and_the_moves_of_whoever_may_play_them() -> None:
    game = NoThanks("small", chips_shown=False)
    position = game.deal([3, 14, 4, 9, 8, 7, 5, 12])
    sizes = set()
    while True:
        svg = game.draw(position.state, viewer=0)
        root = ElementTree.fromstring(svg)
        sizes.add((root.get("width"), root.get("height")))
        if position.is_over:
            break
        marked = {int(number) for number in re.findall(r'data-action="(\d+)"', svg)}
        assert marked == (set(position.legal_actions()) if position.turn == 0 else set())
        position.apply(position.legal_actions()[len(sizes) % 2 - 1])
    assert len(sizes) == 1
    assert "over: scores" in game.draw(position.state)
    assert "before the deal" in game.draw(game.new_position().state)


def test_the_picture_shows_nothing_that_the_viewer_does_not_know() -> None:
    position = NoThanks(chips_shown=False).deal([20, 10, 30])
    for action in (PAY, TAKE):
        position.apply(action)
    for viewer in range(3):
        pictures = {
            position.game.draw(position.determinized(viewer, new_rng(seed)), viewer)
            for seed in range(5)
        }
        assert len(pictures) == 1
        assert pictures.pop().count(">?<") == 2


@pytest.mark.parametrize("cards", [range(3, 13), range(3, 36), range(3, 36, 2)])
def test_no_card_covers_the_number_of_the_next(cards: range) -> None:
    rest = [card for card in range(3, 36) if card not in cards]
    position = NoThanks(removed=0).deal([*cards, *rest])
    for _ in range(len(cards) - 1):
        position.apply(TAKE)
    found = re.findall(
        r"translate\(([\d.]+) [\d.]+\) scale\(([\d.]+)\).*?>(\d+)</text>",
        position.game.draw(position.state, None),
        re.DOTALL,
    )
    shown = {int(value): (float(x), float(scale)) for x, scale, value in found}
    for before, after in pairwise(cards[:-1]):
        x, scale = shown[before]
        assert x + 30 * scale <= shown[after][0] - 22 * scale  # halves of a card and of a number
    assert shown[cards[-2]][0] < 960
