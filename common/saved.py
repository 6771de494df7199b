"""What a saved state must be before anything, compiled code above all, goes on with it.

A checksum only tells that a file is as somebody wrote it. Whoever reads arrays or numbers back
checks them here: kind, shape, finiteness and range. Compiled code checks no bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from common.errors import MasqueradeError, one_line


class DamagedStateError(MasqueradeError):
    """A part of a saved state that is missing or is not what it must be."""


def saved_array(
    state: Mapping[str, Any],
    name: str,
    kind: npt.DTypeLike,
    shape: tuple[int | None, ...],
    low: float | None = None,
    high: float | None = None,
    is_finite: bool = True,
) -> npt.NDArray[Any]:
    """An array of a state, refused if it is another than it must be.

    Args:
        state: names to parts.
        name: which of them.
        kind: its dtype.
        shape: how long it is in each direction; ``None``: any length.
        low: the least that may be in it.
        high: the most.
        is_finite: whether infinity and what is no number are refused.

    >>> saved_array({"seats": np.array([0, 7])}, "seats", np.int64, (None,), 0, 1)
    Traceback (most recent call last):
    ...
    common.saved.DamagedStateError: seats must be from 0 to 1
    """
    array: Any = state.get(name)
    dtype = np.dtype(kind)
    is_fine = isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == len(shape)
    if not is_fine or any(
        want is not None and want != has for want, has in zip(shape, array.shape, strict=True)
    ):
        has = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else "none"
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise DamagedStateError(f"{name} must be {dtype} ({wanted}), and is {has}")
    if is_finite and dtype.kind == "f" and not np.isfinite(array).all():
        raise DamagedStateError(f"{name} must be finite")
    is_low = low is not None and array.size and array.min() < low
    if is_low or (high is not None and array.size and array.max() > high):
        raise DamagedStateError(f"{name} must be from {low} to {high}")
    # Which would make a row of a single number.
    return np.ascontiguousarray(array).reshape(array.shape)


def restore(arrays: Mapping[str, npt.NDArray[Any]], state: Mapping[str, Any]) -> None:
    """Fill ``arrays`` with those of the same names in ``state``, all of them or none.

    >>> own = {"rng": np.zeros(4, np.uint64)}
    >>> restore(own, {"rng": np.ones(4, np.uint64)})
    >>> own["rng"].tolist()
    [1, 1, 1, 1]
    """
    saved = {name: saved_array(state, name, own.dtype, own.shape) for name, own in arrays.items()}
    for name, own in arrays.items():
        own[...] = saved[name]


def saved_number(
    state: Mapping[str, Any],
    name: str,
    low: float = 0,
    high: float = 2**62,
    is_whole: bool = True,
) -> Any:
    """A number of a state, refused if it is none or beyond its range.

    >>> saved_number({"num_steps": 7}, "num_steps")
    7
    """
    value: Any = state.get(name)
    kinds = int if is_whole else int | float
    is_fine = isinstance(value, kinds) and not isinstance(value, bool)
    if not is_fine or not (low <= value <= high or (value == math.inf and high == math.inf)):
        word = "whole number" if is_whole else "number"
        raise DamagedStateError(
            f"{name} must be a {word} from {low:g} to {high:g}, not {one_line(repr(value), 60)}"
        )
    return value
