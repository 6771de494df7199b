"""Numbers that several threads read and write: atomic operations.

Nothing comes between reading a number and writing it, and whoever sees a change also sees all that
was written before it. In plain Python there is one thread at a time.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from envs.core.compiling import JIT_DISABLED

__all__ = ["add", "load", "swap"]

ORDER = "seq_cst"
WORD_SIZE = 8


def _pointer(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind = signature.args[0]
    array = make_array(kind)(context, builder, args[0])
    return cgutils.get_item_pointer(context, builder, kind, array, [args[1]])


def _swap(_context: Any, words: Any, index: Any, expected: Any, new: Any) -> Any:
    """What ``words[index]`` was; it becomes ``new`` if that was ``expected``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature, args)
        result = builder.cmpxchg(pointer, args[2], args[3], ORDER, ORDER)
        return builder.extract_value(result, 0)

    return types.uint64(words, types.int64, types.uint64, types.uint64), generate


def _add(_context: Any, numbers: Any, index: Any, amount: Any) -> Any:
    """What ``numbers[index]`` was before ``amount`` was added to it."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature, args)
        return builder.atomic_rmw("add", pointer, args[2], ORDER)

    return types.int64(numbers, types.int64, types.int64), generate


def _look(_context: Any, numbers: Any, index: Any) -> Any:
    """What ``numbers[index]`` is now."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature, args)
        return builder.load_atomic(pointer, ORDER, WORD_SIZE)

    return types.int64(numbers, types.int64), generate


def _swap_in_python(words: Any, index: int, expected: Any, new: Any) -> Any:
    old = words[index]
    if old == expected:
        words[index] = new
    return old


def _add_in_python(numbers: Any, index: int, amount: int) -> Any:
    old = numbers[index]
    numbers[index] += amount
    return old


def _look_in_python(numbers: Any, index: int) -> Any:
    return numbers[index]


swap: Any = _swap_in_python if JIT_DISABLED else intrinsic(_swap)
add: Any = _add_in_python if JIT_DISABLED else intrinsic(_add)
load: Any = _look_in_python if JIT_DISABLED else intrinsic(_look)
