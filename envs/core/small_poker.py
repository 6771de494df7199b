"""What poker with one private card shares: its words, its picture, and what may be dealt once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from envs.core.drawing import (
    Drawing,
    Layout,
    around,
    playable,
    returns_known,
    seat_name,
    whose_turn,
)
from envs.core.game import Game

WIDTH = 680
MIDDLE = (WIDTH / 2, 186)
RADII = (240, 126)
FIRST_ROW = 378
ROW_HEIGHT = 34
PILLS_LEFT = 100
COLOURS = {"fold": "grey", "pass": "grey", "call": "blue", "check": "blue"}


class SmallPoker(Game):
    """A game whose record has the ``cards`` of the seats, below 0 until they are dealt."""

    move_names: ClassVar[tuple[str, ...]]
    """The actions in words, by their numbers."""

    @abstractmethod
    def moves(self, s: Any) -> dict[str, list[tuple[int, str]]]:
        """By round of betting who did what, in order."""

    @abstractmethod
    def chips(self, s: Any, seat: int) -> int:
        """What a seat has put in so far."""

    @abstractmethod
    def has_folded(self, s: Any, seat: int) -> bool:
        """Whether a seat has given up the pot."""

    def public_card(self, s: Any) -> int | None:
        """The card that all share, below 0 until it is turned up; ``None`` if there is none."""
        return None

    def card_name(self, card: int) -> str:
        """Rank of a card, or a dash for none."""
        num_ranks = self.facts.num_players + 1
        names = "JQK" if num_ranks == 3 else "9TJQKA"[-num_ranks:]
        return names[card] if card >= 0 else "-"

    def action_text(self, state: Any, action: int) -> str:
        """One of ``move_names``."""
        return self.move_names[action]

    def chance_text(self, state: Any, outcome: int) -> str:
        """The card that is dealt."""
        return f"deals {self.card_name(outcome)}"

    def seat_text(self, s: Any, seat: int) -> str:
        """What everybody sees of a seat."""
        return f"{self.chips(s, seat)} in the pot"

    def render(self, state: Any, viewer: int | None = None) -> str:
        """The public card, then one line per player: card, chips in the pot, who is to move."""
        s, turn = self.record(state), self.kernels.turn(state, self.rules)
        public = self.public_card(s)
        lines = [] if public is None else [f"public card {self.card_name(public)}"]
        for seat in range(self.facts.num_players):
            is_visible = viewer in (None, seat) or s.cards[seat] < 0
            card = self.card_name(s.cards[seat]) if is_visible else "?"
            mark = ">" if turn == seat else " "
            lines.append(f"{mark} player {seat}: card {card}, {self.seat_text(s, seat)}")
        return "\n".join(lines)

    def draw(self, state: Any, viewer: int | None = None, layout: Layout = "wide") -> str:
        """The table as ``viewer`` sees it."""
        return draw_poker(self, state, viewer)

    def conserved(self, state: Any) -> dict[str, float]:
        """No card may be dealt twice."""
        s = self.record(state)
        dealt = [card for card in (*s.cards, self.public_card(s)) if card is not None and card >= 0]
        return {"duplicate cards": float(len(dealt) - len(set(dealt)))}


# ---- the picture: seats with cards and chips, the pot, the betting, buttons ----------------------


def draw_poker(game: SmallPoker, state: Any, viewer: int | None) -> str:
    """The table as ``viewer`` sees it."""
    s, turn = game.record(state), int(game.kernels.turn(state, game.rules))
    rounds = game.moves(s)
    height = FIRST_ROW + ROW_HEIGHT * len(rounds) + 52
    drawing = Drawing(WIDTH, height, f"{game.title}, {whose_turn(turn, viewer)}")
    drawing.table()
    drawing.ellipse(*MIDDLE, *RADII, fill="felt_light", stroke="felt_edge", thick=2, opacity=0.55)
    results = returns_known(game, state, viewer)
    places = around(game.facts.num_players, *MIDDLE, *RADII, viewer or 0)
    for seat, place in enumerate(places):
        _chips(drawing, game.chips(s, seat), place)
        with drawing.group(*place, opacity=0.55 if game.has_folded(s, seat) else None):
            _card(drawing, game, int(s.cards[seat]), viewer in (None, seat))
            _plate(drawing, game, s, seat, viewer, turn == seat, results.get(seat))
    _middle(drawing, game, s)
    for row, (name, moves) in enumerate(rounds.items()):
        _moves(drawing, FIRST_ROW + ROW_HEIGHT * row, name, moves)
    actions = playable(game, state, viewer)
    for action, words in enumerate(game.move_names):
        x = WIDTH / 2 + 120 * (action - (len(game.move_names) - 1) / 2)
        drawing.button(x, height - 34, words, action if action in actions else None, 104)
    return drawing.svg()


def _card(drawing: Drawing, game: SmallPoker, card: int, is_visible: bool) -> None:
    if card < 0:
        drawing.card_place(-58, 0)
    elif is_visible:
        drawing.card(-58, 0, *_rank_and_suit(game, card))
    else:
        drawing.card_back(-58, 0)


def _rank_and_suit(game: SmallPoker, card: int) -> tuple[str, str | None]:
    name = game.card_name(card)
    return name[0], name[1:] or None


def _plate(
    drawing: Drawing,
    game: SmallPoker,
    s: Any,
    seat: int,
    viewer: int | None,
    is_lit: bool,
    result: float | None,
) -> None:
    """Who sits there, and the result as far as the viewer knows it."""
    drawing.plate(34, 0, 116, 56, is_lit)
    drawing.text(34, -11, seat_name(seat, viewer), 15, is_bold=True, max_width=108)
    if result is not None:
        colour = "good" if result > 0 else "bad" if result < 0 else "faint"
        drawing.text(34, 13, f"{result:+g}", 18, colour, is_bold=True)
    else:
        chips = f"{game.chips(s, seat)} in the pot"
        words = "folded" if game.has_folded(s, seat) else "to move" if is_lit else chips
        drawing.text(34, 12, words, 13, "faint")


def _chips(drawing: Drawing, chips: int, place: tuple[float, float]) -> None:
    """What a player has put in lies between the seat and the middle."""
    x, y = place[0], 0.46 * place[1] + 0.54 * MIDDLE[1]
    offset = x - MIDDLE[0]
    if abs(offset) < 40:
        drawing.chips(MIDDLE[0] + 70, y, chips)
        return
    # Chips of the seats at the sides stand in two columns, and below the seats at the top.
    y = max(y, place[1] + 50) if place[1] < MIDDLE[1] - 40 else y
    drawing.chips(MIDDLE[0] + (112 if offset > 0 else -96), y, chips)


def _middle(drawing: Drawing, game: SmallPoker, s: Any) -> None:
    x, y = MIDDLE
    public = game.public_card(s)
    if public is not None:
        x -= 38
        if public < 0:
            drawing.card_place(x, y, 76)
        else:
            drawing.card(x, y, *_rank_and_suit(game, public), height=76)
        x += 66
    pot = sum(game.chips(s, seat) for seat in range(game.facts.num_players))
    drawing.text(x, y - 11, "pot", 14, "dim")
    drawing.text(x, y + 11, pot, 26, "chalk", is_bold=True)


def _moves(drawing: Drawing, y: float, name: str, moves: Sequence[tuple[int, str]]) -> None:
    drawing.text(20, y, name, 14, "dim", "start")
    wide = min(76, (WIDTH - PILLS_LEFT - 14) / max(len(moves), 1))
    for number, (seat, words) in enumerate(moves):
        x = PILLS_LEFT + wide * number
        colour = COLOURS.get(words, "red")
        drawing.rect(x, y - 13, wide - 4, 26, 13, fill=colour, stroke="felt_edge")
        drawing.text(x + wide / 2 - 2, y, f"{seat} {words}", 14, "white", max_width=wide - 10)
