"""Records and tuples of arrays as compiled code takes them, each declared once.

A tuple of arrays is a ``NamedTuple`` whose annotations say how many dimensions every array has; the
type that goes into the signature of a compiled function follows from them.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

Number = TypeVar("Number", bound=np.generic)

Row = Annotated[npt.NDArray[Number], 1]
Grid = Annotated[npt.NDArray[Number], 2]
Cube = Annotated[npt.NDArray[Number], 3]


def record(**fields: Any) -> np.dtype[Any]:
    """A record of these fields, each a type or a type with a shape.

    >>> record(count=np.int64, hand=(np.int32, (6,))).itemsize
    32
    """
    kinds = [(n, *kind) if isinstance(kind, tuple) else (n, kind) for n, kind in fields.items()]
    return np.dtype((np.record, kinds))


def tuple_type(arrays: type) -> Any:
    """What Numba calls a ``NamedTuple`` of contiguous arrays.

    Fields are annotated as ``Row``, ``Grid`` or ``Cube``, as ``Annotated[..., dtype]`` for a row of
    records, or as ``Annotated[..., kind]`` for whatever else has a type in compiled code.
    """
    hints = get_type_hints(arrays, include_extras=True).values()
    return types.BaseTuple.from_types([_kind(hint) for hint in hints], arrays)


def _kind(hint: Any) -> Any:
    told = hint.__metadata__[0]
    if isinstance(told, np.dtype):
        return from_dtype(told)[::1]
    if not isinstance(told, int):
        return told
    (number,) = get_args(get_args(hint.__origin__)[1])
    return types.Array(from_dtype(np.dtype(number)), told, "C")
