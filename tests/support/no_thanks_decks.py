"""Games of No Thanks! with just a few cards."""

from __future__ import annotations

from typing import Any

from envs.core.position import Position
from envs.no_thanks import NoThanks

PAY, TAKE = 0, 1


def small(*deck: int, chips: int = 3, **options: Any) -> Position:
    """The start of a game of a known future with just these cards in this order."""
    return make(*deck, chips=chips, **options).deal(list(deck))


def make(*deck: int, chips: int = 3, **options: Any) -> NoThanks:
    low, high = min(deck), max(deck)
    removed = high - low + 1 - len(deck)
    fixed = {"lowest": low, "highest": high, "removed": removed, "chips": chips}
    return NoThanks(**{**fixed, "known_future": True, **options})
