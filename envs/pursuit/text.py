"""A pursuit on a console: the grid of the board, tickets, and the travel log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envs.pursuit.board import Board
from envs.pursuit.record import FUGITIVE, NOWHERE, START, UNLIMITED

__all__ = ["board_text", "log_text", "ticket_text"]


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
