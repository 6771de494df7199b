"""Pictures of boards and pursuits: map, pieces and last moves; tickets and travel log beside it.

Nothing here looks at the fugitive's place unless the caller says that the viewer knows it. What
detectives believe is a layer of its own, ``belief``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from envs.core.canvas import Paint
from envs.core.drawing import Drawing, playable
from envs.pursuit.board import Board
from envs.pursuit.options import FUGITIVE, MAP_DRAW, NOWHERE, START, UNLIMITED

if TYPE_CHECKING:
    from envs.pursuit.game import Pursuit

COLOURS = ("black", "blue", "red", "green", "orange", "purple", "yellow")
"""The pieces', the fugitive's first."""
MARGIN = 34
MAP_WIDTH, MOST_HEIGHT, LEAST_HEIGHT = 860.0, 700.0, 560.0
PANEL = 290
LOG_COLUMNS, LOG_TOP = 8, 146
TICKETS, TICKET_STEP = 34.0, 48.0
"""Where the tickets of a piece begin beside the map, and how far apart they are."""
BLACK_TICKET = "#1d2024"
WATER_WIDTH = 1.1


class MapDrawing(Drawing):
    """A board in a picture: its own units become pixels."""

    def __init__(
        self, boards: Sequence[Board], title: str, beside: int = 0, below: int = 0
    ) -> None:
        """Room for any of the boards of a game, so that every picture has the same size."""
        nodes = [node for board in boards for node in board.nodes]
        self.left, self.top = min(n.x for n in nodes), min(n.y for n in nodes)
        width = max(max(n.x for n in nodes) - self.left, 1e-6)
        height = max(max(n.y for n in nodes) - self.top, 1e-6)
        room = MAP_WIDTH - 2 * MARGIN, MOST_HEIGHT - 2 * MARGIN
        self.scale = min(room[0] / width, room[1] / height, 120.0)
        self.map_width = round(self.scale * width + 2 * MARGIN)
        self.map_height = round(max(self.scale * height + 2 * MARGIN, LEAST_HEIGHT))
        self.down = (self.map_height - self.scale * height) / 2
        area = self.scale**2 * width * height / max(len(board.nodes) for board in boards)
        self.radius = min(max(0.2 * math.sqrt(max(area, 400.0)), 8.5), 17.0)
        size = self.map_width + beside, self.map_height + below
        super().__init__(*size, title, has_detail=beside > 0)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """A point of the board, in pixels."""
        return (
            round(MARGIN + self.scale * (x - self.left), 1),
            round(self.down + self.scale * (y - self.top), 1),
        )

    def spot(self, board: Board, number: int) -> tuple[float, float]:
        """The centre of a place, in pixels."""
        return self.at(board.places[number].x, board.places[number].y)

    def ring(self, x: float, y: float, size: float, **paint: Unpack[Paint]) -> None:
        """A circle so many times as large as a place."""
        self.circle(x, y, round(size * self.radius, 1), **paint)

    def ground(self, board: Board) -> None:
        """Paper, water, and all lines, the long ones below."""
        self.rect(0, 0, self.map_width, self.map_height, 14, fill="paper")
        for line in board.water:
            points = [self.at(x, y) for x, y in line]
            inside = [
                (min(max(x, 0.0), float(self.map_width)), min(max(y, 0.0), float(self.map_height)))
                for x, y in points
            ]
            self.polyline(inside, stroke="water", thick=round(WATER_WIDTH * self.scale, 1))
        width, height = self.map_width - 2, self.map_height - 2
        self.rect(1, 1, width, height, 14, stroke="paper_line", thick=2)
        order = sorted(
            range(len(board.transports)),
            key=lambda t: (board.transports[t].needs_black, len(board.edges[t])),
        )
        for transport in order:
            for pair in board.edges[transport]:
                self.edge(board, transport, pair)

    def edge(self, board: Board, transport: int, pair: tuple[int, int]) -> None:
        """A line, bent if others may run beside it."""
        kind = board.transports[transport]
        (x1, y1), (x2, y2) = (self.spot(board, number) for number in pair)
        length = math.hypot(x2 - x1, y2 - y1) or 1.0  # two places may fall on one pixel
        is_long = length > 1.6 * self.scale and len(board.transports) > 1
        bend = (0.0 if transport == 0 and not is_long else 0.09 + 0.05 * transport) * length
        middle = (
            round((x1 + x2) / 2 - bend * (y2 - y1) / length, 1),
            round((y1 + y2) / 2 + bend * (x2 - x1) / length, 1),
        )
        thick = 2.2 + 1.1 * min(transport, 2)
        d = f"M{x1} {y1}Q{middle[0]} {middle[1]} {x2} {y2}"
        if kind.needs_black:
            self.path(d, stroke=kind.color, thick=2.4, dash="2 6", is_round=True)
        else:
            self.path(d, stroke=kind.color, thick=round(thick, 1), opacity=0.75)

    def stations(self, board: Board) -> None:
        """Discs with numbers, in the colour of the rarest transport that stops there."""
        for number, stops in board.stops.items():
            x, y = self.spot(board, number)
            rarest = max(stops, default=0)
            words = ", ".join(board.transports[transport].name for transport in stops)
            colour, thick = board.transports[rarest].color, 1.8 + 0.9 * min(rarest, 2)
            tip = f"{number}: {words}"
            self.ring(x, y, 1, fill="plate", stroke=colour, thick=thick, tip=tip)
            self.text(x, y, number, round(0.95 * self.radius, 1), "ink")


def draw_board(board: Board) -> str:
    """A board without pieces, with its legend.

    >>> from envs.pursuit.generators import grid_board
    >>> draw_board(grid_board(3, 3)).count("<circle")
    9
    """
    drawing = MapDrawing((board,), f"the board '{board.name}'", below=30)
    drawing.ground(board)
    drawing.stations(board)
    x = float(MARGIN)
    for transport, pairs in zip(board.transports, board.edges, strict=True):
        words = f"{transport.name}: {len(pairs)}"
        drawing.rect(x, drawing.map_height + 9, 22, 6, 3, fill=transport.color)
        drawing.text(x + 28, drawing.map_height + 12, words, 13, "ink", "start")
        x += 50 + 8 * len(words)
    return drawing.svg()


# ---- a game --------------------------------------------------------------------------------------


def draw_pursuit(game: Pursuit, state: Any, viewer: int | None) -> str:
    """The position as ``viewer`` may see it."""
    drawing = PursuitDrawing(game, state)
    if drawing.s.phase == MAP_DRAW:
        width, height = drawing.map_width, drawing.map_height
        drawing.rect(0, 0, width, height, 14, fill="paper", stroke="paper_line", thick=2)
        drawing.text(width / 2, height / 2, "a map is drawn", 22, "faint")
        return drawing.svg()
    place = int(drawing.s.place[FUGITIVE]) if game.knows_place(state, viewer) else NOWHERE
    drawing.draw_map(place, playable(game, state, viewer))
    return drawing.svg()


class PursuitDrawing(MapDrawing):
    """A map with pieces, and beside it tickets and the travel log."""

    def __init__(self, game: Pursuit, state: Any) -> None:
        """The position of a game; nothing is drawn yet."""
        title = f"{game.id}, {game.status(state)}"
        super().__init__(game.boards, title, beside=PANEL)
        self.game, self.state, self.s = game, state, game.record(state)
        self.board = game.board(state)
        self.colours = [transport.color for transport in game.boards[0].tickets]
        self.colours += [BLACK_TICKET] if game.options.black_tickets else []

    def draw_map(self, place: int, actions: dict[int, str]) -> None:
        """Everything, with the fugitive on ``place`` if the viewer knows it."""
        options = self.game.options
        self.ground(self.board)
        self._belief()
        self.stations(self.board)
        self._last_moves()
        self._last_seen(place)
        self._targets(actions)
        for piece in range(1, 1 + options.num_detectives):
            self._piece(int(self.s.place[piece]), piece, str(piece))
        self._piece(place, FUGITIVE, "X")
        rows = math.ceil(options.rounds / LOG_COLUMNS)
        height = min(LOG_TOP + 34 * options.num_detectives + 27 * rows + 90, self.map_height)
        with self.beside(self.map_width, PANEL, height):
            self._panel(actions)

    def _belief(self) -> None:
        belief = self.s.belief
        total, highest = float(belief.sum()), float(belief.max())
        with self.layer("belief"):
            for node in self.board.nodes:
                weight = float(belief[node.number - 1])
                if weight > 0.0:
                    shade = round(0.18 + 0.5 * weight / highest, 2)
                    tip = f"{node.number}: {100 * weight / total:.1f} % of the histories"
                    self.ring(*self.at(node.x, node.y), 1.75, fill="bad", opacity=shade, tip=tip)

    def _last_moves(self) -> None:
        for piece in range(1, 1 + self.game.options.num_detectives):
            start, end = int(self.s.last_from[piece]), int(self.s.place[piece])
            if start != NOWHERE and end != NOWHERE:
                (x1, y1), (x2, y2) = (self.spot(self.board, p + 1) for p in (start, end))
                paint: Any = {"stroke": COLOURS[piece], "opacity": 0.45, "is_round": True}
                self.line(x1, y1, x2, y2, thick=round(0.7 * self.radius, 1), **paint)
                self.ring(x1, y1, 0.5, **paint, thick=2)

    def _last_seen(self, place: int) -> None:
        seen = int(self.s.seen_place)
        if seen not in (NOWHERE, place):
            tip = f"last seen at {seen + 1}, {self.s.num_moves - self.s.seen_move} moves ago"
            spot = self.spot(self.board, seen + 1)
            self.ring(*spot, 1.45, stroke="bad", thick=3, dash="5 4", tip=tip)

    def _targets(self, actions: dict[int, str]) -> None:
        """Gold rings round places that can be entered; where several tickets lead, badges."""
        header = self.game.header
        slots = int(header.num_slots)
        tickets: dict[int, list[int]] = {}
        for action in actions:
            if action < header.pick_action and action != header.double_action:
                tickets.setdefault(action % slots, []).append(action)
        for place, ways in tickets.items():
            x, y = self.spot(self.board, place + 1)
            with self.group(x, y, ways[0], actions[ways[0]]):
                self.ring(0, 0, 1.3, stroke="gold", thick=3.5, fill="gold", opacity=0.35)
                self.ring(0, 0, 1.3, stroke="gold_edge", thick=1.5)
            for number, action in enumerate(ways if len(ways) > 1 else []):
                angle = -math.pi / 2 + 2 * math.pi * number / len(ways)
                badge_x = round(x + 1.5 * self.radius * math.cos(angle), 1)
                badge_y = round(y + 1.5 * self.radius * math.sin(angle), 1)
                with self.group(badge_x, badge_y, action, actions[action]):
                    self.ring(0, 0, 0.55, fill=self.colours[action // slots], stroke="white")

    def _piece(self, place: int, piece: int, label: str) -> None:
        if place != NOWHERE:
            x, y = self.spot(self.board, place + 1)
            size = round(2.4 * self.radius, 1)
            self.pawn(x, round(y + 0.4 * self.radius, 1), COLOURS[piece], size, label, label)

    # ---- beside the map --------------------------------------------------------------------------

    def _panel(self, actions: dict[int, str]) -> None:
        game, options = self.game, self.game.options
        left, middle = self.map_width + 12, self.map_width + PANEL / 2 + 4
        self.plate(middle, 24, PANEL - 16, 34, is_lit=bool(actions))
        words = game.status(self.state)
        self.text(middle, 24, words, 14, "ink", is_bold=True, max_width=PANEL - 34)
        share = min(max(float(self.s.round_number) / options.rounds, 0.0), 1.0)
        self.rect(left, 48, PANEL - 16, 6, 3, fill="plate_edge")
        if share > 0:
            self.rect(left, 48, round((PANEL - 16) * share, 1), 6, 3, fill="gold")
        names = game.ticket_names + (["double"] if options.double_moves else [])
        for number, name in enumerate(names):
            x = left + TICKETS + TICKET_STEP * number + 21
            self.text(x, 66, name, 11, "faint", max_width=TICKET_STEP - 3)
        for piece in range(1 + options.num_detectives):
            self._tickets(piece, left, 88.0 + 34 * piece)
        y = self._log(left, 98.0 + 34 * (1 + options.num_detectives))
        first, double = game.header.pick_action, game.header.double_action
        buttons = [action for action in actions if action >= first or action == double]
        for number, action in enumerate(buttons):
            row, column = divmod(number, 2)
            x, top = middle - 66 + 132 * column, min(y + 26 + 40 * row, self.map_height - 22)
            self.button(x, top, actions[action], action, 122)

    def _tickets(self, piece: int, left: float, y: float) -> None:
        game, s = self.game, self.s
        is_out = piece > 0 and (int(s.is_out) >> (piece - 1)) & 1
        with self.group(left, y, tip=game.piece_name(piece), opacity=0.35 if is_out else None):
            if piece == game.mover(self.state):
                self.rect(-3, -15, PANEL - 12, 30, 8, stroke="gold", thick=2.5)
            self.pawn(14, 8, COLOURS[piece], 24, str(piece) if piece else "X")
            x = TICKETS
            for kind, colour in enumerate(self.colours):
                held = int(s.tickets[piece, kind])
                words = "any" if held == UNLIMITED else str(held)
                if held or piece == FUGITIVE or kind < len(game.boards[0].tickets):
                    self._ticket(x, colour, words, is_pale=held == 0)
                    x += TICKET_STEP
            if piece == FUGITIVE and game.options.double_moves:
                self._ticket(x, "purple", f"2 x {s.doubles_left}", is_pale=s.doubles_left == 0)

    def _ticket(self, x: float, colour: str, words: str, is_pale: bool) -> None:
        with self.group(x, 0, opacity=0.3 if is_pale else None):
            self.rect(0, -10, 42, 20, 4, fill=colour, stroke="white")
            self.text(21, 0, words, 13, "white", is_bold=True, max_width=38)

    def _log(self, left: float, y: float) -> float:
        """The travel log: a field for every move, those in which he shows himself gold-edged."""
        s, options = self.s, self.game.options
        self.text(left, y, "travel log", 13, "faint", "start")
        reveals = options.reveal_moves()
        num_fields = min(options.rounds + options.double_moves, 40)
        for field in range(1, 1 + max(num_fields, int(s.num_moves))):
            row, column = divmod(field - 1, LOG_COLUMNS)
            x, top = left + 34 * column, y + 14 + 27 * row
            edge, thick = ("gold", 2.5) if field in reveals else ("plate_edge", 1)
            fill, words = "plate", "no move yet"
            is_used = field <= s.num_moves
            if is_used:
                kind = int(s.log_kind[field])
                fill = "grey" if kind == START else self.colours[kind]
                words = "start" if kind == START else self.game.ticket_names[kind]
            place = int(s.log_place[field])
            tip = f"{field}: {words}" + (f" to {place + 1}" if place != NOWHERE else "")
            self.rect(x, top, 31, 22, 4, fill=fill, stroke=edge, thick=thick, tip=tip)
            if place != NOWHERE:
                self.text(x + 15.5, top + 11, place + 1, 13, "white", is_bold=True, max_width=28)
            elif not is_used:
                self.text(x + 15.5, top + 11, field, 10, "faint")
        return y + 14 + 27 * math.ceil(num_fields / LOG_COLUMNS)


# ---- on a console: the grid of the board, tickets, and the travel log ----------------------------

MOST_CELLS = 64
"""Rows or columns that are worth a line of text; places farther apart are no grid."""


def board_text(board: Board, s: Any, fugitive: int) -> list[str]:
    """Rows of a board whose places lie on a grid; nothing for others.

    Detectives are ``1 2 ...``, the fugitive ``X`` where the viewer knows him and ``-`` where he was
    last seen, ``.`` is a place and a blank a hole.
    """
    xs, ys = [node.x for node in board.nodes], [node.y for node in board.nodes]
    left, top = min(xs), min(ys)
    columns, rows = 1 + int(max(xs) - left), 1 + int(max(ys) - top)
    if any(x != int(x) for x in xs + ys) or max(columns, rows) > MOST_CELLS:
        return []
    cells = [[" "] * columns for _ in range(rows)]
    marks = {int(s.seen_place): "-"}
    marks |= {int(s.place[piece]): str(piece) for piece in range(1, len(s.place))}
    marks[fugitive] = "X"
    for node in board.nodes:
        cells[int(node.y - top)][int(node.x - left)] = marks.get(node.number - 1, ".")
    return [" ".join(row).rstrip() for row in cells]


def ticket_text(name: str, place: int, s: Any, piece: int, kinds: Sequence[str]) -> str:
    """A piece, where it stands and what it holds."""
    held = [
        f"{'any' if s.tickets[piece, kind] == UNLIMITED else s.tickets[piece, kind]} {words}"
        for kind, words in enumerate(kinds)
        if s.tickets[piece, kind] != 0
    ]
    if piece == FUGITIVE and s.doubles_left:
        held.append(f"{s.doubles_left} double")
    where = "?" if piece == FUGITIVE else "out" if (s.is_out >> (piece - 1)) & 1 else "-"
    shown = str(place + 1) if place != NOWHERE else where
    return f"{name} at {shown}: {', '.join(held) or 'no tickets'}"


def log_text(s: Any, kinds: Sequence[str]) -> str:
    """The tickets of the fugitive's moves, with the places where he showed himself."""
    fields = []
    for field in range(1, 1 + s.num_moves):
        kind = int(s.log_kind[field])
        words = "start" if kind == START else kinds[kind]
        place = int(s.log_place[field])
        fields.append(words if place == NOWHERE else f"{words} to {place + 1}")
    return ", ".join(fields) or "-"
