"""A table for small poker games: seats with cards and chips, the pot, the betting, buttons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from envs.core.drawing import Drawing, around, seat_name

WIDTH = 680
MIDDLE = (WIDTH / 2, 186)
RADII = (240, 126)
FIRST_ROW = 378
ROW_HEIGHT = 34
PILLS_LEFT = 100
COLOURS = {"fold": "grey", "pass": "grey", "call": "blue", "check": "blue"}


@dataclass(frozen=True)
class Seat:
    """A player as the viewer sees it."""

    chips: int
    """Put in so far."""
    has_card: bool = False
    card: tuple[str, str | None] | None = None
    """Rank and suit, or None for a card that is face down."""
    is_out: bool = False
    result: float | None = None
    """Won or lost at the end, as far as the viewer knows."""


@dataclass(frozen=True)
class Table:
    """Everything the picture shows."""

    title: str
    seats: Sequence[Seat]
    turn: int
    viewer: int | None
    rounds: Mapping[str, Sequence[tuple[int, str]]]
    """The moves of each round of betting: who, and the words."""
    buttons: Mapping[str, int | None]
    """All actions by their words; None for one that cannot be played now."""
    public: tuple[str, str | None] | None = None
    has_public: bool = False
    """Whether there is a place for a public card."""


def draw_poker(table: Table) -> str:
    """The whole picture."""
    height = FIRST_ROW + ROW_HEIGHT * len(table.rounds) + 52
    drawing = Drawing(WIDTH, height, table.title)
    drawing.table()
    drawing.ellipse(*MIDDLE, *RADII, fill="felt_light", stroke="felt_edge", thick=2, opacity=0.55)
    first = table.viewer or 0
    places = around(len(table.seats), *MIDDLE, *RADII, first)
    for number, (seat, place) in enumerate(zip(table.seats, places, strict=True)):
        _chips(drawing, seat, place)
        _seat(drawing, seat, place, seat_name(number, table.viewer), number == table.turn)
    _middle(drawing, table)
    for row, (name, moves) in enumerate(table.rounds.items()):
        _moves(drawing, FIRST_ROW + ROW_HEIGHT * row, name, moves)
    _buttons(drawing, table.buttons, height - 34)
    return drawing.svg()


def _seat(
    drawing: Drawing, seat: Seat, place: tuple[float, float], name: str, is_lit: bool
) -> None:
    with drawing.group(*place, opacity=0.55 if seat.is_out else None):
        if not seat.has_card:
            drawing.card_place(-58, 0)
        elif seat.card is None:
            drawing.card_back(-58, 0)
        else:
            drawing.card(-58, 0, *seat.card)
        drawing.plate(34, 0, 116, 56, is_lit)
        drawing.text(34, -11, name, 15, is_bold=True, max_width=108)
        if seat.result is not None:
            colour = "good" if seat.result > 0 else "bad" if seat.result < 0 else "faint"
            drawing.text(34, 13, f"{seat.result:+g}", 18, colour, is_bold=True)
        else:
            words = "folded" if seat.is_out else "to move" if is_lit else f"{seat.chips} in the pot"
            drawing.text(34, 12, words, 13, "faint")


def _chips(drawing: Drawing, seat: Seat, place: tuple[float, float]) -> None:
    """What a player has put in lies between the seat and the middle."""
    x, y = place[0], 0.46 * place[1] + 0.54 * MIDDLE[1]
    offset = x - MIDDLE[0]
    if abs(offset) < 40:
        drawing.chips(MIDDLE[0] + 70, y, seat.chips)
        return
    # Chips of the seats at the sides stand in two columns, and below the seats at the top.
    y = max(y, place[1] + 50) if place[1] < MIDDLE[1] - 40 else y
    drawing.chips(MIDDLE[0] + (112 if offset > 0 else -96), y, seat.chips)


def _middle(drawing: Drawing, table: Table) -> None:
    x, y = MIDDLE
    pot = sum(seat.chips for seat in table.seats)
    if table.has_public:
        x -= 38
        if table.public is None:
            drawing.card_place(x, y, 76)
        else:
            drawing.card(x, y, *table.public, height=76)
        x += 66
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


def _buttons(drawing: Drawing, buttons: Mapping[str, int | None], y: float) -> None:
    for number, (words, action) in enumerate(buttons.items()):
        x = WIDTH / 2 + 120 * (number - (len(buttons) - 1) / 2)
        drawing.button(x, y, words, action, 104)
