"""What a game may add to a table learner, by name: abstractions, rewards, opponent models.

An *information abstraction* says what the entries of a table stand for. It writes one key for every
action of a decision; the key may name a pair of position and action, or what the action leads to.
Entries with the same key share one value. So a blind table, a table over hands, one over
information sets, or one that treats mirrored positions alike are all the same to a learner.

An abstraction of your own is a compiled function in any module, chosen as ``abstraction:
my_module:encode``::

    from agents.tabular.hooks import ENCODE
    from envs.core.compiling import compiled

    @compiled(ENCODE)
    def encode(state, rules, player, infoset_key, keys):
        for action in range(keys.size):
            keys[action] = ...  # any number but 0

or an :class:`Abstraction` around one, which can also say where its values begin. A reward of your
own is a function compiled as ``REWARD``, an opponent model a class like :class:`OpponentModel`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from agents.tabular.hooks import ENCODE
from common.errors import MasqueradeError, OptionError, reason_of
from common.imports import find_named
from envs.core.compiling import compiled
from envs.core.game import Game
from envs.core.rng import Words, mix
from envs.core.rollouts import FAULTS

__all__ = [
    "ABSTRACTIONS",
    "OPPONENT_MODELS",
    "REWARDS",
    "Abstraction",
    "Entries",
    "OpponentModel",
    "Reward",
    "find_abstraction",
    "find_reward",
    "make_opponent_model",
]

Entries = tuple[Words, npt.NDArray[np.float64]]

ABSTRACTIONS: dict[str, str] = {
    "infoset": "agents.tabular.components:INFOSET",
    "blind": "agents.games.liars_dice.tables:BLIND",
    "hand": "agents.games.liars_dice.tables:HAND",
    "blocks": "agents.games.holdem.abstraction:BLOCKS",
    "sighting": "agents.games.pursuit.abstraction:SIGHTING",
    "offer": "agents.games.no_thanks.tables:OFFER",
}
"""Information abstractions by name; all but ``infoset`` are made for one game."""

REWARDS: dict[str, str] = {
    "rounds": "agents.games.liars_dice.tables:ROUNDS",
    "sightings": "agents.games.pursuit.abstraction:SIGHTINGS",
}
"""Rewards for events, by name."""

OPPONENT_MODELS: dict[str, str] = {"lies": "agents.games.liars_dice.lies:LieProfiles"}
"""Opponent models by name."""


class Abstraction(NamedTuple):
    """An information abstraction and what belongs to it."""

    encode: Callable[..., None]
    """Compiled as ``agents.tabular.hooks.ENCODE``."""
    needs_infosets: bool = True
    """Whether it reads the key of the information set, which takes time to keep."""
    game_ids: tuple[str, ...] = ()
    """The games it is made for; empty: every game."""
    initial: Callable[[Game], Entries] | None = None
    """Keys and values that a new table begins with."""
    is_small: bool = False
    """Whether the whole table may be looked through at every move."""


class Reward(NamedTuple):
    """A reward for events between two decisions."""

    function: Callable[..., float]
    """Compiled as ``agents.tabular.hooks.REWARD``."""
    game_ids: tuple[str, ...] = ()


class OpponentModel(Protocol):
    """What a learner remembers of its opponents, and what it makes of it.

    It is made from the game and a mapping of settings, and refuses a game that it is not for.
    """

    observe_hook: Callable[..., None]
    """Compiled as ``agents.tabular.hooks.OBSERVE``."""
    adjust_hook: Callable[..., None]
    """Compiled as ``agents.tabular.hooks.ADJUST``."""
    memory: npt.NDArray[np.uint8]
    """[rows, bytes] a row for every opponent, or one for all."""
    uses_table_max: bool
    """Whether it asks for the highest value of the table at every move."""
    by_opponent: bool
    """Whether opponents are told apart; the learner itself has row 0."""

    def grow(self, num_rows: int) -> None:
        """Have at least so many rows."""


@compiled(ENCODE)
def encode_infoset(state, rules, player, infoset_key, keys):
    """Every action of every information set by itself."""
    for action in range(keys.size):
        keys[action] = mix(infoset_key + np.uint64(action + 1) * np.uint64(0x9E3779B97F4A7C15))


INFOSET = Abstraction(encode_infoset)


def find_abstraction(name: str, game: Game) -> Abstraction:
    """An abstraction by its name or as ``module:name``.

    >>> from envs import make_game
    >>> find_abstraction("infoset", make_game("kuhn_v0")).needs_infosets
    True
    """
    found = find_named("abstraction", ABSTRACTIONS, name)
    abstraction = found if isinstance(found, Abstraction) else Abstraction(found)
    _check_game("abstraction", name, abstraction.game_ids, game, "infoset")
    return abstraction


def find_reward(name: str, game: Game) -> Callable[..., float]:
    """A reward by its name or as ``module:name``."""
    found = find_named("reward", REWARDS, name)
    reward = found if isinstance(found, Reward) else Reward(found)
    _check_game("reward", name, reward.game_ids, game, "end")
    return reward.function


def make_opponent_model(params: Mapping[str, Any], game: Game) -> OpponentModel:
    """An opponent model from ``{"id": ..., ...}``: the rest are settings of its own."""
    params = dict(params)
    name = params.pop("id", None)
    if not isinstance(name, str):
        raise OptionError(f"opponent_model needs an id: {', '.join(OPPONENT_MODELS)}")
    found = find_named("opponent model", OPPONENT_MODELS, name)
    try:
        model: OpponentModel = found(game, params)
    except FAULTS as error:
        if name in OPPONENT_MODELS or isinstance(error, MasqueradeError):
            raise
        raise OptionError(f"opponent model '{name}' cannot be made: {reason_of(error)}") from error
    return model


def _check_game(kind: str, name: str, game_ids: tuple[str, ...], game: Game, instead: str) -> None:
    if game_ids and game.id not in game_ids:
        games = " and ".join(game_ids)
        raise OptionError(f"{kind} '{name}' is for {games}, not {game.id}: take '{instead}'")
