"""What the keys of a policy stand for: whole information sets, or what a *coding* makes of a view.

A coding may also say that the actions of a policy are *choices*: a few numbers that mean the same
everywhere, such as the likeliest raise, and come to another action in every view.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol, cast

import numpy as np
import numpy.typing as npt

from agents.base import Actions, Views
from envs.core.errors import OptionError
from envs.core.game import Game
from envs.core.lazily import look_up

__all__ = [
    "CODINGS",
    "INFOSET",
    "Choosing",
    "Coded",
    "Coding",
    "Keys",
    "as_choosing",
    "find_coding",
]

Keys = npt.NDArray[np.uint64]
Coding = Callable[[Views], Keys]

INFOSET = "infoset"
CODINGS: Mapping[str, str] = MappingProxyType(
    {
        "round": "agents.games.liars_dice.cfr.keys:RoundCoding",
        "odds": "agents.games.liars_dice.cfr.odds:OddsCoding",
    }
)
"""What else than whole information sets a policy can go by; ``name:number`` gives it a number."""


class Coded(NamedTuple):
    """Views with choices."""

    keys: Keys
    choices: npt.NDArray[np.int32]
    """[n, choices]: the action that each choice comes to."""
    fallbacks: Actions
    """[n]: what to do if the policy does not know the key."""


class Choosing(Protocol):
    """A coding with choices."""

    def __call__(self, views: Views) -> Keys:
        """The key of every row."""

    def code(self, views: Views) -> Coded:
        """All there is to know of every row."""


def find_coding(name: str, game: Game) -> Coding:
    """How views become keys.

    >>> from envs import make_game
    >>> find_coding("round:2", make_game("liars_dice_v0"))
    RoundCoding(memory=2)
    """
    if name == INFOSET:
        return _infoset_keys
    kind, _, number = name.partition(":")
    if number and not number.isdigit():
        raise OptionError(f"'{name}' is no coding: write it as {kind} or {kind}:2")
    coding: Coding = look_up("coding", CODINGS, kind)(game, *([int(number)] if number else []))
    return coding


def as_choosing(coding: Coding) -> Choosing | None:
    """The coding, if it has choices."""
    return cast(Choosing, coding) if hasattr(coding, "code") else None


def _infoset_keys(views: Views) -> Keys:
    return views.keys
