"""What a game may add to Monte Carlo CFR: abstractions, continuation values, other opponents.

All hooks are compiled functions over a state, and all may be left out:

``key``
    Information and action abstraction. Returns the key of the decision as the player to move goes
    by it, instead of everything that the player has seen. Where there are abstract actions it also
    writes the action that each of them stands for here, ``NONE`` where it is not to be had.
``position``
    Where walks end before the game does. Returns the number of a position in the table of
    continuation values as ``player`` sees it, or ``NONE`` where play goes on. It is asked where
    chance is to move. Iterations then follow whole games from one such position to the next.
``is_active``
    Whether ``player`` still decides anything. There are no walks for those who do not; their
    continuation values are learnt when the others play on. It goes with ``position``.
``explore``
    Puts any position in place of the first one, so that walks begin at rare ones as well.
``opponent``, ``deviation``
    Draw an action of a fixed opponent, and of somebody who does what no abstract action stands for.

``numbers`` and ``tables`` are whatever the game's own hooks want; every thread has ``numbers`` of
its own, which may serve as scratch memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from numba import types

from envs.core.addresses import Addresses, AddressesType
from envs.core.kernels import (
    INT,
    KERNELS,
    OPTIONAL_KERNELS,
    RNG,
    RULES,
    STATE,
    Kernels,
    OptionalKernels,
)

__all__ = [
    "EXPLORE",
    "IS_ACTIVE",
    "KEY",
    "NONE",
    "NO_HOOKS",
    "OPPONENT",
    "POSITION",
    "SAMPLED_GAME",
    "Hooks",
    "SampledGame",
]

NONE = -1

_NUMBERS, _TABLES = types.int64[::1], types.float64[::1]
KEY = types.uint64(STATE, RULES, INT, _NUMBERS, _TABLES, types.int32[::1])
POSITION = INT(STATE, RULES, INT)
IS_ACTIVE = types.boolean(STATE, RULES, INT)
EXPLORE = types.void(STATE, RULES, RNG)
OPPONENT = INT(STATE, RULES, RNG, _NUMBERS, _TABLES)

_HOOKS = AddressesType(
    "masquerade.SamplingHooks",
    {
        "key": KEY,
        "position": POSITION,
        "is_active": IS_ACTIVE,
        "explore": EXPLORE,
        "opponent": OPPONENT,
        "deviation": OPPONENT,
    },
)


class Hooks(Addresses):
    """The hooks of one game, as one argument of compiled code."""

    numba_type = _HOOKS
    decorator = "@kernel({})"

    def __new__(cls, **functions: Callable[..., Any]) -> Self:
        """Note which hooks there are."""
        table = super().__new__(cls, functions)
        table.__dict__.update({f"has_{name}": name in functions for name in _HOOKS.signatures})
        return table


NO_HOOKS = Hooks()


class SampledGame(NamedTuple):
    """A game as walks through it see it."""

    kernels: Kernels
    optional: OptionalKernels
    rules: npt.NDArray[np.int32]
    roots: npt.NDArray[np.uint8]
    """[openings, state]: the first positions."""
    hooks: Hooks = NO_HOOKS
    tables: npt.NDArray[np.float64] = np.zeros(0)
    continuation: npt.NDArray[np.float64] = np.zeros(0)
    """[position]: what the rest of the game brings."""
    visits: npt.NDArray[np.int64] = np.zeros(0, np.int64)
    """[position]: how many results its continuation value was learnt from."""


SAMPLED_GAME = types.NamedTuple(
    (
        KERNELS,
        OPTIONAL_KERNELS,
        RULES,
        types.uint8[:, ::1],
        _HOOKS,
        _TABLES,
        types.float64[::1],
        types.int64[::1],
    ),
    SampledGame,
)
