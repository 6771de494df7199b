"""What a game's ``draw`` is made of: cards, chips, dice, cups, pawns, and who may see what.

``draw(state, viewer)`` fills a ``Drawing`` and returns its ``svg()``. It may use nothing that the
viewer does not know: pictures of worlds that a viewer cannot tell apart are equal to the last byte.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from envs.core.canvas import Canvas, to_number
from envs.core.kernels import CHANCE, OVER

if TYPE_CHECKING:
    from envs.core.game import Game


Layout = Literal["wide", "narrow"]
"""What a picture is laid out for: a desk or a telephone. A game need not make a difference."""
CHIP_COLOURS = {100: "black", 25: "green", 5: "red", 1: "blue"}
SUITS = {
    "s": (
        "black",
        "M0-9C3-4 9-1 9 4C9 8 4 9 1.5 6Q2 9 4 10H-4Q-2 9-1.5 6C-4 9-9 8-9 4C-9-1-3-4 0-9Z",
    ),
    "h": ("red", "M0 9C-4 4-9 1-9-4C-9-9-2-10 0-5C2-10 9-9 9-4C9 1 4 4 0 9Z"),
    "d": ("red", "M0-10Q3-4 7.5 0Q3 4 0 10Q-3 4-7.5 0Q-3-4 0-10Z"),
    "c": (
        "black",
        "M-2-1.5A4.5 4.5 0 1 1 2-1.5A4.5 4.5 0 1 1 1.5 5Q2 9 4 10H-4"
        "Q-2 9-1.5 5A4.5 4.5 0 1 1-2-1.5Z",
    ),
}
# Dots of a die as lines of no length with round ends: one element a die.
PIPS = {
    1: "M0 0h.01",
    2: "M-8-8h.01M8 8h.01",
    3: "M-8-8h.01M0 0h.01M8 8h.01",
    4: "M-8-8h.01M8-8h.01M-8 8h.01M8 8h.01",
    5: "M-8-8h.01M8-8h.01M0 0h.01M-8 8h.01M8 8h.01",
    6: "M-8-8h.01M8-8h.01M-8 0h.01M8 0h.01M-8 8h.01M8 8h.01",
}


class Drawing(Canvas):
    """A canvas that knows the things on a table; places are those of their centres.

    >>> drawing = Drawing(200, 100, "an ace, to be played")
    >>> with drawing.group(100, 50, action=3, tip="play the ace"):
    ...     drawing.card(0, 0, "A", "s")
    >>> svg = drawing.svg()
    >>> 'data-action="3"' in svg, "<title>play the ace</title>" in svg
    (True, True)
    """

    def table(self) -> None:
        """Felt that fills the picture; draw it first."""
        w, h = self.width, self.height
        self.rect(0, 0, w, h, 16, fill="felt_edge")
        self.rect(5, 5, w - 10, h - 10, 12, fill="felt", stroke="felt_light", thick=1.5)

    def plate(self, x: float, y: float, width: float, height: float, is_lit: bool = False) -> None:
        """A light ground for text, by its centre; lit for whoever is to move."""
        edge, thick = ("gold", 3.5) if is_lit else ("plate_edge", 1)
        box = (x - width / 2, y - height / 2, width, height)
        self.rect(*box, 8, fill="plate", stroke=edge, thick=thick)

    def button(self, x: float, y: float, words: str, action: int | None, width: float = 90) -> None:
        """A button that plays ``action``, or a pale one that cannot be pressed."""
        with self.group(x, y, action, words, None if action is not None else 0.4):
            fill, edge = ("gold", "gold_edge") if action is not None else ("plate", "plate_edge")
            self.rect(-width / 2, -16, width, 32, 16, fill=fill, stroke=edge, thick=1.5)
            ink = "black" if action is not None else "ink"
            self.text(0, 0, words, 15, ink, is_bold=True, max_width=width - 16)

    def card(
        self, x: float, y: float, rank: str, suit: str | None = None, height: float = 84
    ) -> None:
        """A card face up: its rank and a suit (``s h d c``) or none."""
        colour, shape = SUITS[suit] if suit else ("black", "")
        with self.group(x, y, scale=height / 84):
            self.rect(-30, -42, 60, 84, 6, fill="card", stroke="card_edge")
            if not suit:
                self.rect(-24, -36, 48, 72, 4, stroke="card_edge")
                self.text(0, 0, rank, 40, colour, is_bold=True, max_width=46)
                return
            self.text(-17, -27, rank, 20, colour, is_bold=True, max_width=22)
            with self.group(-17, -9, scale=0.65):
                self.path(shape, fill=colour)
            with self.group(6, 12, scale=1.9):
                self.path(shape, fill=colour)

    def card_back(self, x: float, y: float, height: float = 84) -> None:
        """A card face down."""
        with self.group(x, y, scale=height / 84):
            self.rect(-30, -42, 60, 84, 6, fill="card", stroke="card_edge")
            self.rect(-26, -38, 52, 76, 4, fill="back")
            lattice = "M-26-19L-7-38M-26 0L12-38M-26 19L26-33M-26 38L26-14M-7 38L26 5M12 38L26 24"
            self.path(lattice, stroke="back_line", thick=1.5, opacity=0.7)
            mirrored = "M26-19L7-38M26 0L-12-38M26 19L-26-33M26 38L-26-14M7 38L-26 5M-12 38L-26 24"
            self.path(mirrored, stroke="back_line", thick=1.5, opacity=0.7)
            self.circle(0, 0, 9, fill="back", stroke="back_line", thick=1.5)

    def card_place(self, x: float, y: float, height: float = 84) -> None:
        """An empty place for a card."""
        with self.group(x, y, scale=height / 84):
            self.rect(-30, -42, 60, 84, 6, stroke="dim", thick=1.5, dash="5 5", opacity=0.7)

    def chip(self, x: float, y: float, colour: str = "blue", radius: float = 11) -> None:
        """A chip seen from above."""
        self.circle(x, y, radius, fill=colour, stroke="black")
        ring = radius * 0.78
        self.circle(
            x, y, ring, stroke="white", thick=radius * 0.3, dash=to_number(ring * math.pi / 6)
        )
        self.circle(x, y, radius * 0.5, stroke="white", thick=radius * 0.1)

    def chips(self, x: float, y: float, amount: int, label: str | None = None) -> None:
        """Stacks of chips worth ``amount`` (black 100, green 25, red 5, blue 1) and the number.

        Stacks stand left of ``x``, the label right of it; more than ten of a kind are drawn as ten.
        """
        stacks = []
        rest = amount
        for worth, colour in CHIP_COLOURS.items():
            number, rest = divmod(rest, worth)
            if number:
                stacks.append((min(number, 10), colour))
        for place, (number, colour) in enumerate(reversed(stacks)):
            left = x - 14 - 23 * place
            for height in range(number):
                top = y + 6 - 5 * height
                side = f"M{to_number(left - 10)} {to_number(top)}v4a10 5 0 0 0 20 0v-4Z"
                self.path(side, fill=colour, stroke="black", thick=0.8)
                self.ellipse(left, top, 10, 5, fill=colour, stroke="black", thick=0.8)
            self.ellipse(left, top, 7, 3, stroke="white", thick=1.4, dash="3 3")
        self.text(x + 2, y, amount if label is None else label, 15, "chalk", "start", is_bold=True)

    def die(
        self, x: float, y: float, face: int | None, size: float = 30, is_lit: bool = False
    ) -> None:
        """A die by its face; ``None`` for one that is not known. Faces above 6 are numbers."""
        with self.group(x, y, scale=size / 30):
            edge = ("gold", 3) if is_lit else ("card_edge", 1)
            self.rect(-15, -15, 30, 30, 6, fill="card", stroke=edge[0], thick=edge[1])
            if face is None:
                self.text(0, 0, "?", 18, "faint", is_bold=True)
            elif face not in PIPS:
                self.text(0, 0, face, 17, "black", is_bold=True)
            else:
                colour = "red" if face == 1 else "black"
                self.path(PIPS[face], stroke=colour, thick=6.4, is_round=True)

    def cup(self, x: float, y: float, width: float = 90) -> None:
        """A leather cup turned over, with what it covers out of sight."""
        with self.group(x, y, scale=width / 90):
            body = "M-45 36L-36-24Q-34-40 0-42Q34-40 36-24L45 36Q0 52-45 36Z"
            self.path(body, fill="cup", stroke="cup_edge", thick=2, is_round=True)
            self.path("M-37-18Q0-8 37-18", stroke="cup_light", thick=3)
            self.path("M-43 24Q0 39 43 24", stroke="cup_light", thick=3)

    def pawn(
        self,
        x: float,
        y: float,
        colour: str,
        size: float = 26,
        label: str = "",
        piece: str | None = None,
    ) -> None:
        """A playing piece that stands on (x, y), with a short label on it.

        ``piece`` is its name if it is on the board, where pages let it glide from place to place.
        """
        with self.group(x, y, scale=size / 26, piece=piece):
            self.path(
                "M-9 2Q0 6 9 2Q8-6 3-10A6 6 0 1 0-3-10Q-8-6-9 2Z",
                fill=colour,
                stroke="black",
                thick=1.2,
            )
            if label:
                ink = "black" if colour in ("white", "yellow") else "white"
                self.text(0, -3, label, 9, ink, is_bold=True, max_width=14)


# ---- what drawings of games share ----------------------------------------------------------------


def around(
    num_seats: int, x: float, y: float, rx: float, ry: float, first: int = 0
) -> list[tuple[float, float]]:
    """The place of each seat round a table: ``first`` at the bottom, the others clockwise.

    >>> around(2, 100, 50, 80, 40)
    [(100.0, 90.0), (100.0, 10.0)]
    """
    places = []
    for seat in range(num_seats):
        angle = math.pi / 2 + 2 * math.pi * ((seat - first) % num_seats) / num_seats
        places.append((round(x + rx * math.cos(angle), 2), round(y + ry * math.sin(angle), 2)))
    return places


def playable(game: Game, state: npt.NDArray[np.uint8], viewer: int | None) -> dict[int, str]:
    """The actions that ``viewer`` may play now, with their words; a spectator may for anybody.

    >>> from envs import make_game
    >>> game = make_game("kuhn_v0")
    >>> position = game.replay([2, 0])
    >>> playable(game, position.state, 0), playable(game, position.state, 1)
    ({0: 'pass', 1: 'bet'}, {})
    """
    turn = int(game.kernels.turn(state, game.rules))
    if turn < 0 or viewer not in (None, turn):
        return {}
    mask = np.zeros(game.mask_size, np.int8)
    game.kernels.legal(state, game.rules, mask)
    return {int(action): game.action_text(state, int(action)) for action in np.flatnonzero(mask)}


def returns_known(game: Game, state: npt.NDArray[np.uint8], viewer: int | None) -> dict[int, float]:
    """Each seat's result at the end as far as ``viewer`` knows it: its own; nothing before."""
    if int(game.kernels.turn(state, game.rules)) != OVER:
        return {}
    totals = np.zeros(game.facts.num_players)
    game.kernels.returns(state, game.rules, totals)
    return {seat: float(t) for seat, t in enumerate(totals) if viewer in (None, seat)}


def seat_name(seat: int, viewer: int | None) -> str:
    """What a seat is called in a picture.

    >>> seat_name(2, viewer=0), seat_name(2, viewer=2)
    ('Player 2', 'You (2)')
    """
    return f"You ({seat})" if seat == viewer else f"Player {seat}"


def whose_turn(turn: int, viewer: int | None) -> str:
    """Who is to move, and who looks, for the title of a picture.

    >>> whose_turn(1, viewer=0)
    'player 1 to move, as player 0 sees it'
    """
    now = {CHANCE: "chance comes next", OVER: "the end"}.get(turn, f"player {turn} to move")
    return now if viewer is None else f"{now}, as player {viewer} sees it"


def draw_text(text: str, title: str, width: float = 640, height: float = 360) -> str:
    """Lines of text on the table, written small enough to fit: for games without a picture.

    >>> "player 0" in draw_text("player 0: card K", "Kuhn poker")
    True
    """
    drawing = Drawing(width, height, title)
    drawing.table()
    lines = text.splitlines() or [""]
    widest = max(len(line) for line in lines)
    size = min(18.0, (width - 48) / max(0.62 * widest, 1), (height - 40) / (1.4 * len(lines)))
    for number, line in enumerate(lines):
        y = 24 + size * (0.6 + 1.4 * number)
        drawing.text(24, y, line, round(size, 2), "chalk", "start", is_mono=True)
    return drawing.svg()
