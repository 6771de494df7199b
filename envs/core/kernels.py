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

``settle`` is there for speed alone, because an indirect call for every die costs more than the die.
It is always the same loop over a game's own ``turn``, ``sample`` and ``step``::

    @kernel(SETTLE)
    def settle(state, rules, rng):
        while turn(state, rules) == CHANCE:
            step(state, rules, sample(state, rules, rng))
        return turn(state, rules)

``playout`` is there for the same reason: it does what ``random_playouts`` (``playouts.py``) does
without it, draw for draw.

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

from collections.abc import Callable
from typing import Any, Self

from numba import types

from envs.core.addresses import Addresses, AddressesType

__all__ = [
    "CHANCE",
    "CHANCE_PROBS",
    "DETERMINIZE",
    "EVALUATE",
    "INT",
    "KERNELS",
    "LEGAL",
    "MASK",
    "NEW",
    "OBSERVATION",
    "OBSERVE",
    "OPTIONAL_KERNELS",
    "OVER",
    "PLAYOUT",
    "PUBLIC",
    "RETURNS",
    "RNG",
    "ROLLOUT",
    "RULES",
    "SAMPLE",
    "SEEN",
    "SETTLE",
    "STATE",
    "STEP",
    "TOTALS",
    "TURN",
    "UNSEEN",
    "Kernels",
    "OptionalKernels",
]

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

NEW = types.void(STATE, RULES, INT)
TURN = INT(STATE, RULES)
LEGAL = INT(STATE, RULES, MASK)
CHANCE_PROBS = types.void(STATE, RULES, TOTALS)
SAMPLE = INT(STATE, RULES, RNG)
STEP = types.void(STATE, RULES, INT)
SEEN = INT(STATE, RULES, INT, INT)
RETURNS = types.void(STATE, RULES, TOTALS)
OBSERVE = types.void(STATE, RULES, INT, OBSERVATION)
DETERMINIZE = types.void(STATE, RULES, INT, RNG)

SIGNATURES: dict[str, Any] = {
    "new": NEW,
    "turn": TURN,
    "legal": LEGAL,
    "chance": CHANCE_PROBS,
    "sample": SAMPLE,
    "step": STEP,
    "seen": SEEN,
    "returns": RETURNS,
    "observe": OBSERVE,
    "determinize": DETERMINIZE,
}
"""The ten functions of every game."""

SETTLE = INT(STATE, RULES, RNG)
EVALUATE = types.void(STATE, RULES, TOTALS)
ROLLOUT = INT(STATE, RULES, RNG)
PLAYOUT = INT(STATE, RULES, RNG, MASK)
OPTIONAL_SIGNATURES: dict[str, Any] = {
    "settle": SETTLE,
    "evaluate": EVALUATE,
    "rollout": ROLLOUT,
    "playout": PLAYOUT,
}
"""What a game may add."""

KERNELS = AddressesType("masquerade.Kernels", SIGNATURES)
OPTIONAL_KERNELS = AddressesType("masquerade.OptionalKernels", OPTIONAL_SIGNATURES)


class Kernels(Addresses):
    """The functions of one game, as one cheap argument for compiled code.

    Args:
        functions: every function of the contract by name, each decorated with ``kernel`` and its
            signature.
    """

    numba_type = KERNELS
    decorator = "@kernel({})"
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
        missing = ", ".join(sorted(SIGNATURES.keys() - functions.keys())) or "none"
        extra = ", ".join(sorted(functions.keys() - SIGNATURES.keys())) or "none"
        if (missing, extra) != ("none", "none"):
            expected = f"a game needs {', '.join(SIGNATURES)}"
            raise TypeError(f"{expected}: missing {missing}, unknown {extra}")
        return super().__new__(cls, functions)


class OptionalKernels(Addresses):
    """What a game adds to its ten functions; ``has_settle`` and the like say what is there.

    >>> OptionalKernels().has_settle
    False
    """

    numba_type = OPTIONAL_KERNELS
    decorator = "@kernel({})"
    settle: Callable[..., int]
    evaluate: Callable[..., None]
    rollout: Callable[..., int]
    playout: Callable[..., int]
    has_settle: bool
    has_evaluate: bool
    has_rollout: bool
    has_playout: bool

    def __new__(cls, **functions: Callable[..., Any]) -> Self:
        """Check the signatures, and note the addresses of what is there."""
        extra = ", ".join(sorted(functions.keys() - OPTIONAL_SIGNATURES.keys()))
        if extra:
            expected = f"a game may add {', '.join(OPTIONAL_SIGNATURES)}"
            raise TypeError(f"{expected}: unknown {extra}")
        table = super().__new__(cls, functions)
        table.__dict__.update({f"has_{name}": name in functions for name in OPTIONAL_SIGNATURES})
        return table
