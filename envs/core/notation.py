"""A notation: how games are written for other programs, and read from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from envs.core.position import Position

__all__ = ["Notation", "NotedGame"]


@dataclass(frozen=True)
class NotedGame:
    """A game that was read from a file."""

    position: Position
    """After the last move that was noted."""
    names: tuple[str, ...]
    """Who sat in each seat."""


@dataclass(frozen=True)
class Notation:
    """A file format of one game."""

    name: str
    game_id: str
    suffix: str
    """How the names of its files end."""
    write: Callable[[Position, Sequence[str]], list[str]]
    """A game up to a position, and who sat in each seat: one document for each of its parts."""
    join: Callable[[Sequence[str]], str]
    """Many documents as the content of one file."""
    read: Callable[[str], list[NotedGame]]
    """The games in the content of a file."""
