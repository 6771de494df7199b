"""What a game may add to a table learner: four compiled functions, as one cheap argument.

==========  =======================================================================================
``encode``  writes one key for every action: which entry of the table holds its value
``reward``  what a player earned between two decisions, where the game's own returns will not do
``watch``   told of every move, so that a learner can remember what was shown
``bend``    changes the values that the next move is chosen by, and only those
==========  =======================================================================================

``encode`` and ``bend`` are handed the true state and must read only what ``player`` knows: the own
hand, what is public, and the perfect-recall key.

Like the functions of a game (``envs.core.kernels``), hooks travel as a row of addresses: Numba's
own function arguments cost some twenty microseconds each on every call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    unbox,
)

from envs.core.compiling import JIT_DISABLED, compiled
from envs.core.kernels import INT, MASK, RULES, STATE, TOTALS

__all__ = [
    "BEND",
    "ENCODE",
    "HOOKS",
    "KEYS",
    "MEMORY",
    "PLACES",
    "REWARD",
    "WATCH",
    "Hooks",
    "no_bend",
    "no_reward",
    "no_watch",
]

KEYS = types.uint64[::1]
PLACES = types.int64[::1]
MEMORY = types.uint8[:, ::1]

ENCODE = types.void(STATE, RULES, INT, types.uint64, KEYS)
"""``encode(state, rules, player, infoset_key, keys)``; 0 is no key."""
REWARD = types.float64(STATE, STATE, RULES, INT, TOTALS)
"""``reward(before, after, rules, player, levels)``: from one own decision to the next, or to the
end; ``levels`` are three numbers from the settings."""
WATCH = types.void(STATE, RULES, INT, INT, PLACES, MEMORY)
"""``watch(state, rules, player, action, who, memory)`` after ``action`` was played, by whomever;
``memory[who[seat]]`` are the bytes kept about the player in ``seat``."""
BEND = types.void(STATE, RULES, INT, MASK, TOTALS, types.float64, PLACES, MEMORY)
"""``bend(state, rules, player, mask, values, table_max, who, memory)`` before a choice."""

_TABLE: dict[str, Any] = {"encode": ENCODE, "reward": REWARD, "watch": WATCH, "bend": BEND}


@compiled(REWARD)
def no_reward(before, after, rules, player, levels):
    """Nothing between the ends of a game."""
    return 0.0


@compiled(WATCH)
def no_watch(state, rules, player, action, who, memory):
    """Nothing is remembered."""


@compiled(BEND)
def no_bend(state, rules, player, mask, values, table_max, who, memory):
    """Moves are chosen by what the table says."""


class Hooks(int):
    """The four functions; the number itself is the address of a table of their addresses."""

    encode: Callable[..., None]
    reward: Callable[..., float]
    watch: Callable[..., None]
    bend: Callable[..., None]

    def __new__(
        cls,
        encode: Callable[..., None],
        reward: Callable[..., float] = no_reward,
        watch: Callable[..., None] = no_watch,
        bend: Callable[..., None] = no_bend,
    ) -> Hooks:
        """Note the addresses of compiled functions with the right signatures."""
        functions = {"encode": encode, "reward": reward, "watch": watch, "bend": bend}
        addresses = np.zeros(len(_TABLE), np.int64)
        if not JIT_DISABLED:
            for i, (name, function) in enumerate(functions.items()):
                addresses[i] = _address(name, function)
        hooks = super().__new__(cls, addresses.ctypes.data)
        hooks.__dict__.update(functions)
        hooks.__dict__["_addresses"] = addresses  # which also keeps the memory alive
        return hooks


def _address(name: str, function: Any) -> int:
    overload = getattr(function, "overloads", {}).get(_TABLE[name].args)
    if overload is None or overload.signature != _TABLE[name]:
        raise TypeError(
            f"'{name}' must be compiled as {_TABLE[name]}: decorate it with "
            f"@compiled({name.upper()}) from agents.tabular.hooks"
        )
    return int(overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name))


class HooksType(types.Type):
    """The type of a :class:`Hooks` argument in compiled code."""

    def __init__(self) -> None:
        """Name the type; there is only one."""
        super().__init__(name="masquerade.Hooks")


HOOKS = HooksType()


@register_model(HooksType)
class _HooksModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [(name, types.voidptr) for name in _TABLE])


@unbox(HooksType)  # type: ignore[untyped-decorator]
def _unbox_hooks(typ: Any, obj: Any, c: Any) -> NativeValue:
    address = c.pyapi.long_as_voidptr(obj)
    void_pointer = c.context.get_value_type(types.voidptr)
    table = c.builder.bitcast(address, void_pointer.as_pointer())
    struct = cgutils.create_struct_proxy(typ)(c.context, c.builder)
    for i, name in enumerate(_TABLE):
        slot = c.builder.gep(table, [ir.Constant(ir.IntType(64), i)])
        setattr(struct, name, c.builder.load(slot))
    return NativeValue(
        struct._getvalue(), is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred())
    )


@infer_getattr
class _HooksAttributes(AttributeTemplate):
    key = HooksType

    def generic_resolve(self, _typ: Any, name: str) -> Any:  # type: ignore[override]
        return types.FunctionType(_TABLE[name]) if name in _TABLE else None


@lower_getattr_generic(HooksType)  # type: ignore[untyped-decorator]
def _lower_hook(context: Any, builder: Any, typ: Any, value: Any, name: str) -> Any:
    struct = cgutils.create_struct_proxy(typ)(context, builder, value=value)
    function = cgutils.create_struct_proxy(types.FunctionType(_TABLE[name]))(context, builder)
    # With Numba's own calling convention there is no C wrapper in between.
    null = ir.Constant(context.get_value_type(types.voidptr), None)
    function.c_addr = null
    function.py_addr = null
    function.jit_addr = getattr(struct, name)
    return function._getvalue()
