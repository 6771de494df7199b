"""Where players meet: matches now; tournaments, ratings and reports are built on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from common.imports import load

if TYPE_CHECKING:
    from arena.playing.match import MatchResult, play_match

__all__ = ["MatchResult", "play_match"]

_HOMES = dict.fromkeys(__all__, "playing.match")


def __getattr__(name: str) -> Any:
    """Imported when asked for: what checks a command line needs no compiled code."""
    return load(__name__, _HOMES, name)
