"""The contract: ten functions over one record, their signatures, and the tables that hold them.

===============  ==============================================================================
``new``          the first position of an opening, before any chance
``turn``         the player to move, ``CHANCE`` or ``OVER``
``legal``        writes which actions (or chance outcomes) are possible; returns how many
``chance``       writes the probability of each outcome at a chance node
``sample``       draws one chance outcome, following ``chance``
``step``         plays an action or an outcome: deterministic
``seen``         what ``player`` observes of ``action``, asked before it is played
``returns``      writes each player's total so far
``observe``      writes the vector a network eats, for any player
``determinize``  puts another world in place, one that ``player`` cannot tell from this one
===============  ==============================================================================

Others are optional and have a table of their own, :class:`OptionalKernels`; where a game has none,
generic code does without:

===============  ==============================================================================
``settle``       plays all chance events that are due, and returns ``turn``
``evaluate``     writes an estimate of each player's final return, for searches that stop early
``rollout``      draws an action of a quick, sensible policy for the player to move
``playout``      plays at random to the end, and returns the number of actions and chance events
===============  ==============================================================================

``settle`` is there for speed alone, because an indirect call for every die costs more than the die:
it does what a loop over ``turn``, ``sample`` and ``step`` does, and is that loop by default.

``playout`` is there for the same reason: it does what ``random_playouts`` does
without it, draw for draw.

``kernel`` compiles a function with the signature that goes with its name, and ``Kernels.of``
collects those of a module. A game may leave out ``chance``, which is uniform over ``legal`` then.

A state is one NumPy record seen as bytes, ``rules`` an ``int32`` array that the functions read and
never write. Generic code takes a :class:`Kernels` and reads like Python, ``kernels.step(state,
rules, action)``, yet is compiled once for all games: Numba passes the table as a row of addresses
(``addresses.py``).

Laws that the signatures cannot say (``check_game`` tests them):

* ``legal`` writes every entry of its mask, so a mask never needs clearing; it is asked at
  decisions, where a mask of ``num_actions`` entries is enough, and at chance nodes, never when the
  game is over;
* ``seen`` returns ``UNSEEN`` when the player does not even notice that something happened;
* ``determinize`` depends on what ``player`` has seen and on the generator, and on nothing else:
  started from two worlds the player cannot tell apart, with the same generator, it gives the same
  world;
* when a game is over everybody knows everybody's returns, and ``determinize`` keeps them;
* ``settle`` does what its three functions do one by one, draw for draw, and returns ``turn``;
* ``evaluate`` and ``rollout`` see what they are given, which is never more than a determinized
  world; ``rollout`` returns a legal action;
* no function raises: whoever calls from Python checks first (``Position``, the environments).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numba import types

from envs.core.addresses import Addresses, AddressesType
from envs.core.compiling import Function, compiled

CHANCE = -1
"""``turn``: the dice, the deck or the map generator is to move."""
OVER = -2
"""``turn``: nobody moves any more."""
PUBLIC = -1
"""``seen``: ask for what everybody sees."""
UNSEEN = 0
"""``seen``: the player does not notice this action at all."""

INT = types.int64
STATE = types.uint8[::1]
RULES = types.Array(types.int32, 1, "C", readonly=True)
RNG = types.uint64[::1]
MASK = types.int8[::1]
TOTALS = types.float64[::1]
OBSERVATION = types.float32[::1]


SIGNATURES: dict[str, Any] = {
    "new": types.void(STATE, RULES, INT),
    "turn": INT(STATE, RULES),
    "legal": INT(STATE, RULES, MASK),
    "chance": types.void(STATE, RULES, TOTALS),
    "sample": INT(STATE, RULES, RNG),
    "step": types.void(STATE, RULES, INT),
    "seen": INT(STATE, RULES, INT, INT),
    "returns": types.void(STATE, RULES, TOTALS),
    "observe": types.void(STATE, RULES, INT, OBSERVATION),
    "determinize": types.void(STATE, RULES, INT, RNG),
}
"""The ten functions of every game."""

OPTIONAL_SIGNATURES: dict[str, Any] = {
    "settle": INT(STATE, RULES, RNG),
    "evaluate": types.void(STATE, RULES, TOTALS),
    "rollout": INT(STATE, RULES, RNG),
    "playout": INT(STATE, RULES, RNG, MASK),
}
"""What a game may add."""

KERNELS = AddressesType("masquerade.Kernels", SIGNATURES)
OPTIONAL_KERNELS = AddressesType("masquerade.OptionalKernels", OPTIONAL_SIGNATURES)


def kernel(function: Function) -> Function:
    """Compile a function of a game, with the signature of the kernel of its name."""
    return compiled((SIGNATURES | OPTIONAL_SIGNATURES)[function.__name__])(function)


# ---- what a game has that says nothing else: compiled for each game ------------------------------

if TYPE_CHECKING:  # the functions of the game
    legal = turn = sample = step = cast(Any, None)


def _chance(state: Any, rules: Any, probs: Any) -> None:
    """Every possible outcome is as likely as the others."""
    # The mask lies in the memory of the answer, in front of what is still to be written.
    mask = probs.view(np.int8)[: probs.size]
    probability = 1.0 / legal(state, rules, mask)
    for outcome in range(probs.size - 1, -1, -1):
        probs[outcome] = probability if mask[outcome] else 0.0


def _settle(state: Any, rules: Any, rng: Any) -> Any:
    """Play one chance event after another."""
    while turn(state, rules) == CHANCE:
        step(state, rules, sample(state, rules, rng))
    return turn(state, rules)


def _collect(
    modules: tuple[ModuleType, ...], wanted: Mapping[str, Any], default: Callable[..., Any]
) -> dict[str, Callable[..., Any]]:
    """The ``wanted`` functions of some modules, the last of equal names, and one by ``default``."""
    found = {name: one for module in modules for name, one in vars(module).items()}
    name = default.__name__.removeprefix("_")
    if name not in found:
        # The functions it calls are those of the game, so it is kept with the code of the game.
        names = {"np": np, "CHANCE": CHANCE, "__name__": modules[0].__name__, **found}
        function = FunctionType(default.__code__, names, name)
        home = Path(str(modules[0].__file__))
        found[name] = compiled((SIGNATURES | OPTIONAL_SIGNATURES)[name], home=home)(function)
    return {name: found[name] for name in wanted if name in found}


class Kernels(Addresses):
    """The functions of one game, as one cheap argument for compiled code.

    Args:
        functions: every function of the contract by name, each decorated with ``kernel``.
    """

    numba_type = KERNELS
    decorator = "@kernel"
    new: Callable[..., None]
    turn: Callable[..., int]
    legal: Callable[..., int]
    chance: Callable[..., None]
    sample: Callable[..., int]
    step: Callable[..., None]
    seen: Callable[..., int]
    returns: Callable[..., None]
    observe: Callable[..., None]
    determinize: Callable[..., None]

    def __new__(cls, **functions: Callable[..., Any]) -> Self:
        """Check that all ten are there with the right signatures, and note their addresses."""
        missing = ", ".join(sorted(SIGNATURES.keys() - functions.keys()))
        if missing:
            raise TypeError(f"a game needs {', '.join(SIGNATURES)}: missing {missing}")
        return super().__new__(cls, **functions)

    @classmethod
    def of(cls, *modules: ModuleType) -> Self:
        """Collect the functions of a game from where they are written."""
        return cls(**_collect(modules, SIGNATURES, _chance))


class OptionalKernels(Addresses):
    """What a game adds to its ten functions; ``has_settle`` and the like say what is there.

    >>> OptionalKernels().has_settle
    False
    """

    numba_type = OPTIONAL_KERNELS
    decorator = "@kernel"
    settle: Callable[..., int]
    evaluate: Callable[..., None]
    rollout: Callable[..., int]
    playout: Callable[..., int]
    has_settle: bool
    has_evaluate: bool
    has_rollout: bool
    has_playout: bool

    @classmethod
    def of(cls, *modules: ModuleType) -> Self:
        """Collect what a game adds from where it is written."""
        return cls(**_collect(modules, OPTIONAL_SIGNATURES, _settle))
