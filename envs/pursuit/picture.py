"""Pictures of boards and pursuits: map, pieces and last moves; tickets and travel log beside it.

Nothing here looks at the fugitive's place unless the caller says that the viewer knows it. What
detectives believe is a layer of its own, ``belief``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envs.core.drawing import Drawing, playable
from envs.pursuit.board import Board, Node
from envs.pursuit.options import FUGITIVE, MAP_DRAW, NOWHERE, START, UNLIMITED

if TYPE_CHECKING:
    from envs.pursuit.game import Pursuit

__all__ = ["board_text", "draw_board", "draw_pursuit", "log_text", "ticket_text"]

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


class MapPlan:
    """Where things lie in a picture: the board's own units become pixels."""

    def __init__(self, boards: tuple[Board, ...]) -> None:
        """One plan for all boards of a game, so that every picture has the same size."""
        nodes = [node for board in boards for node in board.nodes]
        self.left, self.top = min(n.x for n in nodes), min(n.y for n in nodes)
        width = max(max(n.x for n in nodes) - self.left, 1e-6)
        height = max(max(n.y for n in nodes) - self.top, 1e-6)
        room = MAP_WIDTH - 2 * MARGIN, MOST_HEIGHT - 2 * MARGIN
        self.scale = min(room[0] / width, room[1] / height, 120.0)
        self.width = round(self.scale * width + 2 * MARGIN)
        self.height = round(max(self.scale * height + 2 * MARGIN, LEAST_HEIGHT))
        self.down = (self.height - self.scale * height) / 2
        area = self.scale**2 * width * height / max(len(board.nodes) for board in boards)
        self.radius = min(max(0.2 * math.sqrt(max(area, 400.0)), 8.5), 17.0)

    def spot(self, node: Node) -> tuple[float, float]:
        """The centre of a place, in pixels."""
        return self.at(node.x, node.y)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """A point of the board, in pixels."""
        return (
            round(MARGIN + self.scale * (x - self.left), 1),
            round(self.down + self.scale * (y - self.top), 1),
        )


# ---- the map -------------------------------------------------------------------------------------


def draw_board(board: Board) -> str:
    """A board without pieces, with its legend.

    >>> from envs.pursuit.generators import grid_board
    >>> draw_board(grid_board(3, 3)).count("<circle")
    9
    """
    plan = MapPlan((board,))
    drawing = Drawing(plan.width, plan.height + 30, f"the board '{board.name}'")
    _ground(drawing, plan, board)
    _stations(drawing, plan, board)
    x = float(MARGIN)
    for transport, pairs in zip(board.transports, board.edges, strict=True):
        words = f"{transport.name}: {len(pairs)}"
        drawing.rect(x, plan.height + 9, 22, 6, 3, fill=transport.color)
        drawing.text(x + 28, plan.height + 12, words, 13, "ink", "start")
        x += 50 + 8 * len(words)
    return drawing.svg()


def _ground(drawing: Drawing, plan: MapPlan, board: Board) -> None:
    """Paper, water, and all lines, the long ones below."""
    drawing.rect(0, 0, plan.width, plan.height, 14, fill="paper")
    _water(drawing, plan, board)
    drawing.rect(1, 1, plan.width - 2, plan.height - 2, 14, stroke="paper_line", thick=2)
    order = sorted(
        range(len(board.transports)),
        key=lambda t: (board.transports[t].needs_black, len(board.edges[t])),
    )
    for transport in order:
        for pair in board.edges[transport]:
            _edge(drawing, plan, board, transport, pair)


def _stations(drawing: Drawing, plan: MapPlan, board: Board) -> None:
    for node in board.nodes:
        _station(drawing, plan, board, node)


def _water(drawing: Drawing, plan: MapPlan, board: Board) -> None:
    for line in board.water:
        points = [plan.at(x, y) for x, y in line]
        inside = [
            (min(max(x, 0.0), float(plan.width)), min(max(y, 0.0), float(plan.height)))
            for x, y in points
        ]
        drawing.polyline(inside, stroke="water", thick=round(WATER_WIDTH * plan.scale, 1))


def _edge(
    drawing: Drawing, plan: MapPlan, board: Board, transport: int, pair: tuple[int, int]
) -> None:
    """A line, bent if others may run beside it."""
    kind = board.transports[transport]
    (x1, y1), (x2, y2) = (plan.spot(board.places[number]) for number in pair)
    length = math.hypot(x2 - x1, y2 - y1) or 1.0  # two places may fall on one pixel
    is_long = length > 1.6 * plan.scale and len(board.transports) > 1
    bend = (0.0 if transport == 0 and not is_long else 0.09 + 0.05 * transport) * length
    middle = (
        round((x1 + x2) / 2 - bend * (y2 - y1) / length, 1),
        round((y1 + y2) / 2 + bend * (x2 - x1) / length, 1),
    )
    thick = 2.2 + 1.1 * min(transport, 2)
    d = f"M{x1} {y1}Q{middle[0]} {middle[1]} {x2} {y2}"
    if kind.needs_black:
        drawing.path(d, stroke=kind.color, thick=2.4, dash="2 6", is_round=True)
    else:
        drawing.path(d, stroke=kind.color, thick=round(thick, 1), opacity=0.75)


def _station(drawing: Drawing, plan: MapPlan, board: Board, node: Node) -> None:
    """A disc with the number, in the colour of the rarest transport that stops there."""
    x, y = plan.spot(node)
    stops = board.stops[node.number]
    rarest = max(stops, default=0)
    colour = board.transports[rarest].color
    words = ", ".join(board.transports[transport].name for transport in stops)
    drawing.circle(
        x,
        y,
        round(plan.radius, 1),
        fill="plate",
        stroke=colour,
        thick=1.8 + 0.9 * min(rarest, 2),
        tip=f"{node.number}: {words}",
    )
    drawing.text(x, y, node.number, round(0.95 * plan.radius, 1), "ink")


# ---- a game --------------------------------------------------------------------------------------


def draw_pursuit(game: Pursuit, state: Any, viewer: int | None) -> str:
    """The position as ``viewer`` may see it."""
    s = game.record(state)
    plan = MapPlan(game.boards)
    title = f"{game.id}, {game.status(state)}"
    drawing = Drawing(plan.width + PANEL, plan.height, title, has_detail=True)
    if s.phase == MAP_DRAW:
        drawing.rect(0, 0, plan.width, plan.height, 14, fill="paper", stroke="paper_line", thick=2)
        drawing.text(plan.width / 2, plan.height / 2, "a map is drawn", 22, "faint")
        return drawing.svg()
    board = game.board(state)
    place = int(s.place[FUGITIVE]) if game.knows_place(state, viewer) else NOWHERE
    actions = playable(game, state, viewer)
    _ground(drawing, plan, board)
    _belief(drawing, plan, board, s)
    _stations(drawing, plan, board)
    _last_moves(drawing, plan, game, board, s)
    _last_seen(drawing, plan, board, s, place)
    _targets(drawing, plan, game, board, actions)
    for piece in range(1, 1 + game.options.num_detectives):
        _piece(drawing, plan, board, int(s.place[piece]), piece, str(piece))
    _piece(drawing, plan, board, place, FUGITIVE, "X")
    rows = math.ceil(game.options.rounds / LOG_COLUMNS)
    height = min(LOG_TOP + 34 * game.options.num_detectives + 27 * rows + 90, plan.height)
    with drawing.beside(plan.width, PANEL, height):
        _panel(drawing, plan, game, state, actions)
    return drawing.svg()


def _belief(drawing: Drawing, plan: MapPlan, board: Board, s: Any) -> None:
    total = float(s.belief.sum())
    highest = float(s.belief.max())
    with drawing.layer("belief"):
        for node in board.nodes:
            weight = float(s.belief[node.number - 1])
            if weight > 0.0:
                x, y = plan.spot(node)
                shade = round(0.18 + 0.5 * weight / highest, 2)
                tip = f"{node.number}: {100 * weight / total:.1f} % of the histories"
                drawing.circle(
                    x, y, round(1.75 * plan.radius, 1), fill="bad", opacity=shade, tip=tip
                )


def _last_moves(drawing: Drawing, plan: MapPlan, game: Pursuit, board: Board, s: Any) -> None:
    for piece in range(1, 1 + game.options.num_detectives):
        start, end = int(s.last_from[piece]), int(s.place[piece])
        if start != NOWHERE and end != NOWHERE:
            (x1, y1), (x2, y2) = (plan.spot(board.places[p + 1]) for p in (start, end))
            paint: Any = {"stroke": COLOURS[piece], "opacity": 0.45, "is_round": True}
            drawing.line(x1, y1, x2, y2, thick=round(0.7 * plan.radius, 1), **paint)
            drawing.circle(x1, y1, round(0.5 * plan.radius, 1), **paint, thick=2)


def _last_seen(drawing: Drawing, plan: MapPlan, board: Board, s: Any, place: int) -> None:
    if s.seen_place == NOWHERE or s.seen_place == place:
        return
    x, y = plan.spot(board.places[int(s.seen_place) + 1])
    tip = f"last seen at {s.seen_place + 1}, {s.num_moves - s.seen_move} moves ago"
    drawing.circle(x, y, round(1.45 * plan.radius, 1), stroke="bad", thick=3, dash="5 4", tip=tip)


def _targets(
    drawing: Drawing, plan: MapPlan, game: Pursuit, board: Board, actions: dict[int, str]
) -> None:
    """Gold rings round places that can be entered; where several tickets lead, a badge for each."""
    slots, first = int(game.header.num_slots), int(game.header.pick_action)
    tickets: dict[int, list[int]] = {}
    for action in actions:
        if action < first and action != game.header.double_action:
            tickets.setdefault(action % slots, []).append(action)
    colours = [transport.color for transport in board.tickets] + [BLACK_TICKET]
    for place, ways in tickets.items():
        x, y = plan.spot(board.places[place + 1])
        radius = round(1.3 * plan.radius, 1)
        is_single = len(ways) == 1
        with drawing.group(x, y, ways[0], actions[ways[0]]):
            drawing.circle(0, 0, radius, stroke="gold", thick=3.5, fill="gold", opacity=0.35)
            drawing.circle(0, 0, radius, stroke="gold_edge", thick=1.5)
        for number, action in enumerate([] if is_single else ways):
            angle = -math.pi / 2 + 2 * math.pi * number / len(ways)
            spot = x + 1.5 * plan.radius * math.cos(angle), y + 1.5 * plan.radius * math.sin(angle)
            with drawing.group(round(spot[0], 1), round(spot[1], 1), action, actions[action]):
                colour = colours[action // slots]
                drawing.circle(0, 0, round(0.55 * plan.radius, 1), fill=colour, stroke="white")


def _piece(
    drawing: Drawing, plan: MapPlan, board: Board, place: int, piece: int, label: str
) -> None:
    if place == NOWHERE:
        return
    x, y = plan.spot(board.places[place + 1])
    size = round(2.4 * plan.radius, 1)
    drawing.pawn(x, round(y + 0.4 * plan.radius, 1), COLOURS[piece], size, label, label)


# ---- beside the map ------------------------------------------------------------------------------


def _panel(
    drawing: Drawing, plan: MapPlan, game: Pursuit, state: Any, actions: dict[int, str]
) -> None:
    s = game.record(state)
    left, middle = plan.width + 12, plan.width + PANEL / 2 + 4
    drawing.plate(middle, 24, PANEL - 16, 34, is_lit=bool(actions))
    drawing.text(middle, 24, game.status(state), 14, "ink", is_bold=True, max_width=PANEL - 34)
    share = min(max(float(s.round_number) / game.options.rounds, 0.0), 1.0)
    drawing.rect(left, 48, PANEL - 16, 6, 3, fill="plate_edge")
    if share > 0:
        drawing.rect(left, 48, round((PANEL - 16) * share, 1), 6, 3, fill="gold")
    names = game.ticket_names + (["double"] if game.options.double_moves else [])
    for number, name in enumerate(names):
        x = left + TICKETS + TICKET_STEP * number + 21
        drawing.text(x, 66, name, 11, "faint", max_width=TICKET_STEP - 3)
    y = 88.0
    for piece in range(1 + game.options.num_detectives):
        _tickets(drawing, game, state, piece, left, y)
        y += 34
    y = _log(drawing, game, state, left, y + 10)
    buttons = [a for a in actions if a >= game.header.pick_action or a == game.header.double_action]
    for number, action in enumerate(buttons):
        row, column = divmod(number, 2)
        x = middle - 66 + 132 * column
        drawing.button(x, min(y + 26 + 40 * row, plan.height - 22), actions[action], action, 122)


def _tickets(
    drawing: Drawing, game: Pursuit, state: Any, piece: int, left: float, y: float
) -> None:
    s = game.record(state)
    is_out = piece > 0 and (int(s.is_out) >> (piece - 1)) & 1
    with drawing.group(left, y, tip=game.piece_name(piece), opacity=0.35 if is_out else None):
        if piece == game.mover(state):
            drawing.rect(-3, -15, PANEL - 12, 30, 8, stroke="gold", thick=2.5)
        drawing.pawn(14, 8, COLOURS[piece], 24, str(piece) if piece else "X")
        colours = [transport.color for transport in game.boards[0].tickets]
        colours += [BLACK_TICKET] if game.options.black_tickets else []
        x = TICKETS
        for kind, colour in enumerate(colours):
            held = int(s.tickets[piece, kind])
            words = "any" if held == UNLIMITED else str(held)
            if held or piece == FUGITIVE or kind < len(game.boards[0].tickets):
                _ticket(drawing, x, 0, colour, words, is_pale=held == 0)
                x += TICKET_STEP
        if piece == FUGITIVE and game.options.double_moves:
            _ticket(drawing, x, 0, "purple", f"2 x {s.doubles_left}", is_pale=s.doubles_left == 0)


def _ticket(
    drawing: Drawing, x: float, y: float, colour: str, words: str, is_pale: bool = False
) -> None:
    with drawing.group(x, y, opacity=0.3 if is_pale else None):
        drawing.rect(0, -10, 42, 20, 4, fill=colour, stroke="white")
        drawing.text(21, 0, words, 13, "white", is_bold=True, max_width=38)


def _log(drawing: Drawing, game: Pursuit, state: Any, left: float, y: float) -> float:
    """The travel log: a field for every move, those in which he shows himself with a gold edge."""
    s = game.record(state)
    drawing.text(left, y, "travel log", 13, "faint", "start")
    names = game.ticket_names
    colours = [transport.color for transport in game.boards[0].tickets] + [BLACK_TICKET]
    reveals = game.options.reveal_moves()
    num_fields = min(game.options.rounds + game.options.double_moves, 40)
    for field in range(1, 1 + max(num_fields, int(s.num_moves))):
        row, column = divmod(field - 1, LOG_COLUMNS)
        x, top = left + 34 * column, y + 14 + 27 * row
        edge, thick = ("gold", 2.5) if field in reveals else ("plate_edge", 1)
        kind = int(s.log_kind[field]) if field <= s.num_moves else None
        fill = "plate" if kind is None else "grey" if kind == START else colours[kind]
        words = "start" if kind == START else names[kind] if kind is not None else "no move yet"
        place = int(s.log_place[field])
        tip = f"{field}: {words}" + (f" to {place + 1}" if place != NOWHERE else "")
        drawing.rect(x, top, 31, 22, 4, fill=fill, stroke=edge, thick=thick, tip=tip)
        if place != NOWHERE:
            drawing.text(x + 15.5, top + 11, place + 1, 13, "white", is_bold=True, max_width=28)
        elif kind is None:
            drawing.text(x + 15.5, top + 11, field, 10, "faint")
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
