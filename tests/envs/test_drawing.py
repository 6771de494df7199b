"""Pictures: well-formed, of one size, marked for pages, without what viewers cannot know."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np

from envs import make_game
from envs.core.drawing import Drawing, draw_text
from envs.core.game import Game
from envs.core.position import Position
from envs.core.rng import new_rng
from tests.support.option_sets import every_option_set
from tests.support.sampling import IS_FULL

MANY = 12
SVG = "{http://www.w3.org/2000/svg}"


def test_words_are_escaped() -> None:
    drawing = Drawing(100, 50, '<b> & "title"')
    drawing.text(50, 25, "<script>alert('&')</script>")
    with drawing.group(action=1, tip="a < b"):
        drawing.circle(10, 10, 4, fill="red", tip="x & y")
    root = ElementTree.fromstring(drawing.svg())
    assert root.findtext(f"{SVG}title") == '<b> & "title"'
    assert root.findtext(f"{SVG}text") == "<script>alert('&')</script>"
    assert [title.text for title in root.iter(f"{SVG}title")][1:] == ["a < b", "x & y"]


def test_actions_and_layers_are_marked() -> None:
    drawing = Drawing(100, 50, "marks")
    with drawing.group(action=1234567, tip="a big number"):
        drawing.rect(0, 0, 9, 9, fill="gold")
    with drawing.layer("belief"):
        drawing.rect(0, 0, 9, 9, fill="gold")
    groups = ElementTree.fromstring(drawing.svg()).findall(f"{SVG}g")
    assert groups[0].get("data-action") == "1234567"
    assert groups[1].get("data-layer") == "belief"
    assert groups[1].get("display") == "none"


def test_colours_have_a_value_for_dark_pages() -> None:
    drawing = Drawing(100, 50, "colours")
    drawing.rect(0, 0, 9, 9, fill="felt", stroke="#123456")
    svg = drawing.svg()
    light, _, dark = svg.partition("@media (prefers-color-scheme:dark)")
    assert ".f-felt{fill:#2f7a5b}" in light
    assert ".f-felt{fill:#1c4a39}" in dark
    assert 'stroke="#123456"' in svg


def test_text_boards_have_one_size_whatever_they_say() -> None:
    sizes = set()
    for text in ("", "one line", "\n".join(["a very long line " * 20] * 60)):
        root = ElementTree.fromstring(draw_text(text, "a board"))
        sizes.add((root.get("width"), root.get("height")))
    assert sizes == {("640", "360")}


# ---- the pictures of the games -------------------------------------------------------------------


def walk(game: Game, seed: int) -> list[Position]:
    """Positions of a few random games, chance and the end included."""
    num_games, num_positions = (3, 12) if IS_FULL else (1, 4)
    rng = np.random.default_rng(seed)
    ends: list[Position] = []
    others: list[Position] = []
    for number in range(num_games):
        position = game.new_position(number)
        while not position.is_over:
            others.append(position.copy())
            position.apply(int(rng.choice(position.legal_actions())))
        ends.append(position)
    chosen = rng.permutation(len(others))[:num_positions]
    return [*ends, *(others[i] for i in chosen)]


@every_option_set
def test_a_players_picture_is_the_same_in_all_worlds_it_cannot_tell_apart(game: Game) -> None:
    rng = new_rng(7)
    num_other_worlds = 0
    for position in walk(game, 0):
        for player in range(game.facts.num_players):
            picture = game.draw(position.state, player)
            for _ in range(2):
                world = position.determinized(player, rng)
                num_other_worlds += bool((world != position.state).any())
                assert game.draw(world, player) == picture
    assert num_other_worlds > 0


@every_option_set
def test_what_can_be_clicked_is_what_the_mover_may_play(game: Game) -> None:
    for position in walk(game, 1):
        for viewer in (None, *range(game.facts.num_players)):
            root = ElementTree.fromstring(game.draw(position.state, viewer))
            groups = [g for g in root.iter(f"{SVG}g") if g.get("data-action") is not None]
            is_mover = position.turn >= 0 and viewer in (None, position.turn)
            # A place may be marked in two ways, and a long menu of bets is a few buttons.
            actions = {int(g.get("data-action", "")) for g in groups}
            legal = set(position.legal_actions() if is_mover else [])
            assert actions <= legal
            if len(legal) <= MANY or game.id != "holdem_v0":
                assert actions == legal
            assert all(g.findtext(f"{SVG}title") for g in groups)
            assert root.findtext(f"{SVG}title")


@every_option_set
def test_pictures_have_one_size(game: Game) -> None:
    sizes = set()
    for position in walk(game, 2):
        root = ElementTree.fromstring(game.draw(position.state))
        sizes.add((root.get("width"), root.get("height"), root.get("viewBox")))
    assert len(sizes) == 1


def test_a_hidden_card_lies_face_down() -> None:
    game = make_game("kuhn_v0")
    state = game.replay([2, 0]).state
    assert ">K</text>" in game.draw(state, 0)
    assert ">J</text>" not in game.draw(state, 0)
    assert ">J</text>" in game.draw(state, 1)
    assert ">J</text>" in game.draw(state)


def test_bids_are_told_apart_by_their_bidder() -> None:
    from envs.liars_dice.picture import _bidders

    game = make_game("liars_dice_v0", num_players=3, dice=(1, 2, 1), single_round=True)
    bids = [game.parse_action(text) for text in ("1*2", "1*3", "2*3", "3*5")]
    position = game.replay([0, 1, 2, 3, *bids])
    assert _bidders(game, game.record(position.state)) == dict(zip(bids, [0, 1, 2, 0], strict=True))
    position.apply(game.facts.num_actions - 1)
    assert _bidders(game, game.record(position.state)) == dict(zip(bids, [0, 1, 2, 0], strict=True))


def test_lost_dice_lie_beside_those_that_are_left() -> None:
    game = make_game("liars_dice_v0", dice=(2, 3))
    rolls = [0, 0, 0, 0, 0]
    position = game.replay([*rolls, game.parse_action("5*6")])
    assert "lost</title>" not in game.draw(position.state, 0)
    position.apply(game.facts.num_actions - 1)  # called: player 0 loses a die
    assert game.draw(position.state, 1).count("<title>1 lost</title>") == 1


def test_moves_of_leduc_are_told_apart_by_their_player() -> None:
    game: Any = make_game("leduc_v0", num_players=3)
    # Raise, fold, raise, call; then a king is turned up, and those who are in check.
    position = game.replay([0, 1, 2, 2, 0, 2, 1, 7, 1, 1])
    first, second = game.moves(game.record(position.state)).values()
    assert first == [(0, "raise"), (1, "fold"), (2, "raise"), (0, "call")]
    assert second == [(0, "call"), (2, "call")]


def test_moves_of_kuhn_are_told_apart_by_their_player() -> None:
    game: Any = make_game("kuhn_v0", num_players=3)
    position = game.replay([0, 1, 2, 0, 1, 0, 1])
    moves = game.moves(game.record(position.state))["betting"]
    assert moves == [(0, "pass"), (1, "bet"), (2, "pass"), (0, "bet")]
