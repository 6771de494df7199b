"""What looks alike: abstractions for tables, for solvers by samples, and for policies.

By default every information set is told apart. An :class:`Abstraction` tells less apart, in one of
two ways or in both:

* for **tables** it writes one key for every action of a decision (``encode``). A key may name a
  pair of position and action, or what the action leads to; entries with the same key share one
  value. So a blind table, a table over hands, or one that treats mirrored positions alike are all
  the same to a learner;
* for **solvers by samples**, and the policies they come to, it gives the key of a decision
  (``key``). There may be *abstract actions*: a few numbers that mean the same everywhere, such as
  the likeliest raise, and stand for another action in every position.

An abstraction of your own is one file, chosen as ``abstraction: my_module:ABSTRACTION``::

    from agents.abstraction import ENCODE, KEY, Abstraction
    from envs.core.compiling import compiled

    @compiled(ENCODE)
    def encode(state, rules, player, infoset_key, keys):
        for action in range(keys.size):
            keys[action] = ...  # any number but 0

    @compiled(KEY)
    def key(state, rules, player, numbers, tables, actions):
        return ...  # any number but 0

    ABSTRACTION = Abstraction(encode, key=key)

What the functions are handed is a state that ``player`` cannot tell from the true one. They may
depend only on what is the same in all such states.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from agents.base import Actions, Views
from common.errors import OptionError, one_line
from common.imports import find_named, is_module_name
from envs.core.addresses import Addresses, AddressesType
from envs.core.batch import Batch, random_actions
from envs.core.compiling import compiled
from envs.core.game import Game
from envs.core.kernels import INT, RNG, RULES, STATE
from envs.core.rng import Words, fill_streams, mix, stream

Keys = npt.NDArray[np.uint64]
Entries = tuple[Keys, npt.NDArray[np.float64]]

INFOSET = "infoset"
BY_DECISION = ("round", "odds")
"""Those of ours that solvers by samples and policies go by; tables go by the others."""
ABSTRACTIONS: Mapping[str, str] = MappingProxyType(
    {
        INFOSET: "agents.abstraction:INFOSETS",
        "blind": "agents.games.liars_dice.tables:BLIND",
        "hand": "agents.games.liars_dice.tables:HAND",
        "blocks": "agents.games.holdem.abstraction:BLOCKS",
        "sighting": "agents.games.pursuit.abstraction:SIGHTING",
        "offer": "agents.games.no_thanks.tables:OFFER",
        "round": "agents.games.liars_dice.abstractions:ROUND",
        "odds": "agents.games.liars_dice.abstractions:ODDS",
    }
)
"""By name; all but ``infoset`` are made for one game."""

NONE = -1
_NUMBERS, _TABLES, _ACTIONS = types.int64[::1], types.float64[::1], types.int32[::1]
ENCODE = types.void(STATE, RULES, INT, types.uint64, types.uint64[::1])
"""``encode(state, rules, player, infoset_key, keys)``; 0 is no key."""
KEY = types.uint64(STATE, RULES, INT, _NUMBERS, _TABLES, _ACTIONS)
"""``key(state, rules, player, numbers, tables, actions)``. ``numbers[0]`` is the memory, what comes
after it is scratch. Where there are abstract actions it also writes the action that each of them
stands for here, ``NONE`` where it is not to be had."""
CHOOSE = INT(STATE, RULES, RNG, _NUMBERS, _TABLES)
"""``choose(state, rules, rng, numbers, tables)`` gives an action of the player to move."""

ALL = 10_000
"""A memory that nothing fills."""
_PROBE_GAMES = 16
_MAX_DIGITS = 10


class Abstraction(NamedTuple):
    """What is told apart, and what belongs to it."""

    encode: Any = None
    """For tables; compiled as ``ENCODE``."""
    needs_infosets: bool = True
    """Whether ``encode`` reads the key of the information set, which takes time to keep."""
    game_ids: tuple[str, ...] = ()
    """The games it is made for; empty: every game."""
    initial: Callable[[Game], Entries] | None = None
    """Keys and values that a new table begins with."""
    is_small: bool = False
    """Whether the whole table may be looked through at every move."""
    key: Callable[..., Any] | None = None
    """For solvers and policies; compiled as ``KEY``."""
    num_actions: int = 0
    """How many abstract actions there are; 0: actions are as they are."""
    fallback: Callable[..., Any] | None = None
    """What to do where a policy with abstract actions knows nothing; compiled as ``CHOOSE``."""
    tables: Callable[[Game], npt.NDArray[np.float64]] | None = None
    """What ``key`` and ``fallback`` read beside the state."""
    scratch_size: int = 0
    """Numbers that they may write into."""


@compiled(ENCODE)
def encode_infoset(state, rules, player, infoset_key, keys):
    """Every action of every information set by itself."""
    for action in range(keys.size):
        keys[action] = mix(infoset_key + np.uint64(action + 1) * np.uint64(0x9E3779B97F4A7C15))


INFOSETS = Abstraction(encode_infoset)


def find_abstraction(name: str, game: Game) -> Abstraction:
    """An abstraction for a game, by its name or as ``module:name``.

    >>> from envs import make_game
    >>> find_abstraction("infoset", make_game("kuhn_v0")).needs_infosets
    True
    """
    found = find_named("abstraction", ABSTRACTIONS, name)
    abstraction = found if isinstance(found, Abstraction) else Abstraction(found)
    if abstraction.game_ids and game.id not in abstraction.game_ids:
        games = " and ".join(abstraction.game_ids)
        raise OptionError(f"abstraction '{name}' is for {games}, not {game.id}: take '{INFOSET}'")
    return abstraction


def table_abstraction(name: str, game: Game) -> Abstraction:
    """An abstraction that a table can go by."""
    abstraction = find_abstraction(name, game)
    if abstraction.encode is None:
        raise OptionError(f"abstraction '{name}' has no encode, which tables need: take another")
    return abstraction


# ---- decisions -----------------------------------------------------------------------------------


class AbstractViews(NamedTuple):
    """What a policy goes by."""

    keys: Keys
    actions: npt.NDArray[np.int32]
    """[n, abstract actions]: the action that each stands for."""
    fallbacks: Actions
    """[n]: what to do if the policy does not know the key."""


class _Functions(Addresses):
    """The functions of an abstraction, as one argument of compiled code."""

    numba_type = AddressesType("masquerade.Abstraction", {"key": KEY, "fallback": CHOOSE})


@compiled(
    types.void(
        *(_Functions.numba_type, types.uint8[:, ::1], RULES, types.int64[::1], _NUMBERS, _TABLES),
        *(RNG, types.uint64[::1], types.int32[:, ::1], types.int64[::1]),
    )
)
def _look(functions, worlds, rules, seats, numbers, tables, rng, keys, actions, fallbacks):
    """Write the keys of many decisions, what abstract actions stand for, and what else to do."""
    for i in range(keys.size):
        world = worlds[i]
        keys[i] = functions.key(world, rules, seats[i], numbers, tables, actions[i])
        if functions.has_fallback:
            fallbacks[i] = functions.fallback(world, rules, rng, numbers, tables)


class DecisionKeys:
    """How a solver by samples, and a policy, name the decisions of one game.

    Args:
        name: of an abstraction with a ``key``; ``name:number`` gives it a memory.
        game: the game.

    >>> from envs import make_game
    >>> DecisionKeys("odds:2", make_game("liars_dice_v0")).num_actions
    9
    """

    def __init__(self, name: str, game: Game) -> None:
        """Find it, and work out what it reads."""
        kind, _, number = name.partition(":")
        if kind not in ABSTRACTIONS and is_module_name(name):
            kind, number = name, ""
        elif ":" in name and not _is_number(number):
            raise OptionError(
                f"'{one_line(name, 80)}' is no abstraction: write it as {kind} or {kind}:2"
            )
        self.memory = int(number) if number else ALL
        abstraction = find_abstraction(kind, game)
        self.key, self.num_actions = abstraction.key, abstraction.num_actions
        """The compiled function; ``None``: keys are those of information sets."""
        if self.key is None and kind != INFOSET:
            raise OptionError(
                f"abstraction '{kind}' has no key of decisions, which solvers and policies need: "
                f"take one of {INFOSET}, {', '.join(BY_DECISION)}"
            )
        self.tables = abstraction.tables(game) if abstraction.tables else np.zeros(0)
        self.numbers = np.zeros(1 + abstraction.scratch_size, np.int64)
        self.numbers[0] = self.memory
        chosen = {"key": abstraction.key, "fallback": abstraction.fallback}
        self._functions = _Functions(**{n: f for n, f in chosen.items() if f is not None})

    def keys(self, views: Views) -> Keys:
        """The key of every row."""
        return views.keys if self.key is None else self.look(views).keys

    def look(self, views: Views) -> AbstractViews:
        """All there is to know of every row; of the worlds, only what the mover knows is read.

        An abstract action that is not to be had is written as the last action: no key has it.
        """
        found = AbstractViews(
            np.empty(len(views), np.uint64),
            np.empty((len(views), self.num_actions), np.int32),
            np.empty(len(views), np.int64),
        )
        known = views.worlds(), views.game.rules, views.seats, self.numbers, self.tables
        _look(self._functions, *known, np.zeros(4, np.uint64), *found)
        found.actions[found.actions == NONE] = views.game.facts.num_actions - 1
        return found


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < _MAX_DIGITS


def probe_encoding(game: Game, abstraction: str = INFOSET) -> str:
    """A fingerprint of the keys and abstract actions that random games go through.

    It changes with the rules, with what players see and with how that is folded, even if somebody
    forgets to raise a version number.
    """
    rows = np.arange(_PROBE_GAMES)
    batch = Batch(game, _PROBE_GAMES, chance=stream(0, "probe"))
    rngs: Words = np.empty((_PROBE_GAMES, 4), np.uint64)
    fill_streams(stream(0, "probe", "choice"), rows, rngs)
    decisions = DecisionKeys(abstraction, game)
    digest = hashlib.sha256()
    batch.begin(rows, rows)
    while len(rows := np.flatnonzero(batch.turns >= 0)):
        own = rngs[rows]
        views = batch.views(rows)
        digest.update(decisions.keys(views).tobytes())
        if decisions.num_actions:
            digest.update(decisions.look(views).actions.tobytes())
        batch.step(rows, random_actions(views.masks, own))
        rngs[rows] = own
    return digest.hexdigest()[:16]
