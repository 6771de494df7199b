"""Codings: what the entries of a table stand for.

A coding writes one key for every action of a decision. The key may name a pair of state and action,
or what the action leads to: entries that get the same key share one value. So a blind table, a
table over hands, one over information sets, or one that treats mirrored positions alike are all the
same to a learner.

A coding of your own is a compiled function in any module, chosen as ``coding:
my_module:encode``::

    from agents.tabular.hooks import ENCODE
    from envs.core.compiling import compiled

    @compiled(ENCODE)
    def encode(state, rules, player, infoset_key, keys):
        for action in range(keys.size):
            keys[action] = ...  # any number but 0

or a :class:`Coding` around one, which can also say where its values begin.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.tabular.hooks import ENCODE
from envs.core.compiling import compiled
from envs.core.errors import OptionError
from envs.core.game import Game
from envs.core.lazily import look_up
from envs.core.rng import Words, mix

__all__ = ["CODINGS", "REWARDS", "Coding", "Entries", "find_coding", "find_reward"]

Entries = tuple[Words, npt.NDArray[np.float64]]

CODINGS: dict[str, str] = {
    "infoset": "agents.tabular.abstraction:INFOSET",
    "blind": "agents.games.liars_dice.tables:BLIND",
    "hand": "agents.games.liars_dice.tables:HAND",
}
"""Codings by name; all but ``infoset`` are made for one game."""

REWARDS: dict[str, str] = {"rounds": "agents.games.liars_dice.tables:reward_round"}
"""Rewards for events, by name."""


class Coding(NamedTuple):
    """A coding and what belongs to it."""

    encode: Callable[..., None]
    """Compiled as ``agents.tabular.hooks.ENCODE``."""
    needs_infosets: bool = True
    """Whether it reads the key of the information set, which takes time to keep."""
    game_ids: tuple[str, ...] = ()
    """The games it can code; empty: every game."""
    initial: Callable[[Game], Entries] | None = None
    """Keys and values that a new table begins with."""
    is_small: bool = False
    """Whether the whole table may be looked through at every move."""


@compiled(ENCODE)
def encode_infoset(state, rules, player, infoset_key, keys):
    """Every action of every information set by itself."""
    for action in range(keys.size):
        keys[action] = mix(infoset_key + np.uint64(action + 1) * np.uint64(0x9E3779B97F4A7C15))


INFOSET = Coding(encode_infoset)


def find_coding(name: str, game: Game) -> Coding:
    """A coding by its name or as ``module:name``.

    >>> from envs import make_game
    >>> find_coding("infoset", make_game("kuhn_v0")).needs_infosets
    True
    """
    found = _import("coding", name) if ":" in name else look_up("coding", CODINGS, name)
    coding = found if isinstance(found, Coding) else Coding(found)
    if coding.game_ids and game.id not in coding.game_ids:
        games = " and ".join(coding.game_ids)
        raise OptionError(f"coding '{name}' is for {games}, not {game.id}: take 'infoset'")
    return coding


def find_reward(name: str, game: Game) -> Callable[..., float]:
    """A reward by its name or as ``module:name``."""
    if name in REWARDS and game.id != "liars_dice_v0":
        raise OptionError(f"reward '{name}' is for liars_dice_v0, not {game.id}: take 'end'")
    found: Callable[..., float]
    found = _import("reward", name) if ":" in name else look_up("reward", REWARDS, name)
    return found


def _import(kind: str, name: str) -> Any:
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise OptionError(f"{kind} '{name}' cannot be found: {error}") from error
