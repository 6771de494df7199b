"""What the keys of a policy stand for: whole information sets, or an abstraction of them.

An *information abstraction* makes keys of views. An *action abstraction* also says that the actions
of a policy are abstract: a few numbers that mean the same everywhere, such as the likeliest raise,
and stand for another action in every view.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol, cast

import numpy as np
import numpy.typing as npt

from agents.base import Actions, Views
from common.errors import OptionError, one_line
from common.imports import look_up
from envs.core.batch import Batch, random_actions
from envs.core.game import Game
from envs.core.rng import fill_streams, stream

Keys = npt.NDArray[np.uint64]
InformationAbstraction = Callable[[Views], Keys]

INFOSET = "infoset"
_PROBE_GAMES = 16
_MAX_DIGITS = 10
ABSTRACTIONS: Mapping[str, str] = MappingProxyType(
    {
        "round": "agents.games.liars_dice.abstractions:RoundAbstraction",
        "odds": "agents.games.liars_dice.abstractions:OddsAbstraction",
    }
)
"""What else than whole information sets a policy can go by; ``name:number`` gives it a number."""


class AbstractViews(NamedTuple):
    """Views with abstract actions."""

    keys: Keys
    actions: npt.NDArray[np.int32]
    """[n, abstract actions]: the action that each stands for."""
    fallbacks: Actions
    """[n]: what to do if the policy does not know the key."""


class ActionAbstraction(Protocol):
    """An information abstraction with actions of its own."""

    num_actions: int
    """How many abstract actions there are."""

    def __call__(self, views: Views) -> Keys:
        """The key of every row."""

    def abstract(self, views: Views) -> AbstractViews:
        """All there is to know of every row."""


def find_abstraction(name: str, game: Game) -> InformationAbstraction:
    """How views become keys.

    >>> from envs import make_game
    >>> find_abstraction("round:2", make_game("liars_dice_v0"))
    RoundAbstraction(memory=2)
    """
    if name == INFOSET:
        return _infoset_keys
    kind, _, number = name.partition(":")
    if ":" in name and not (number.isascii() and number.isdigit() and len(number) < _MAX_DIGITS):
        raise OptionError(
            f"'{one_line(name, 80)}' is no abstraction: write it as {kind} or {kind}:2"
        )
    make = look_up("abstraction", ABSTRACTIONS, kind)
    abstraction: InformationAbstraction = make(game, *([int(number)] if number else []))
    return abstraction


def as_action_abstraction(abstraction: InformationAbstraction) -> ActionAbstraction | None:
    """The abstraction, if it has actions of its own."""
    return cast(ActionAbstraction, abstraction) if hasattr(abstraction, "abstract") else None


def _infoset_keys(views: Views) -> Keys:
    return views.keys


def probe_encoding(game: Game, abstraction: str = INFOSET) -> str:
    """A fingerprint of the keys and abstract actions that random games go through.

    It changes with the rules, with what players see and with how that is folded, even if somebody
    forgets to raise a version number.
    """
    rows = np.arange(_PROBE_GAMES)
    batch = Batch(game, _PROBE_GAMES, chance=stream(0, "probe"))
    rngs = np.empty((_PROBE_GAMES, 4), np.uint64)
    fill_streams(stream(0, "probe", "choice"), rows, rngs)
    encode = find_abstraction(abstraction, game)
    with_actions = as_action_abstraction(encode)
    digest = hashlib.sha256()
    batch.begin(rows, rows)
    while len(rows := np.flatnonzero(batch.turns >= 0)):
        own = rngs[rows]
        views = batch.views(rows)
        digest.update(encode(views).tobytes())
        if with_actions is not None:
            digest.update(with_actions.abstract(views).actions.tobytes())
        batch.step(rows, random_actions(views.masks, own))
        rngs[rows] = own
    return digest.hexdigest()[:16]
