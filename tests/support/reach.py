"""What somebody who is given an object can get hold of."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

BEHIND = ("__self__", "__func__", "__wrapped__", "func", "args", "keywords", "obj", "gi_frame")
"""Of methods, partial functions, decorated ones, views of memory and generators."""


def reachable(start: Any, depth: int = 4) -> Iterator[Any]:
    """Everything behind attributes, slots, items, closures, methods, weak references and views.

    Frames and the collector's lists (``sys._getframe``, ``gc``) are left out: inside a process
    Python has no wall against them.
    """
    seen: set[int] = set()
    stack = [(start, 0)]
    while stack:
        thing, at = stack.pop()
        if id(thing) in seen or at > depth or isinstance(thing, type | ModuleType):
            continue
        seen.add(id(thing))
        yield thing
        held: list[Any] = []
        held += list(getattr(thing, "__dict__", {}).values())
        for cell in getattr(thing, "__closure__", None) or ():
            held.append(cell.cell_contents)
        slots = [name for each in type(thing).__mro__ for name in getattr(each, "__slots__", ())]
        for name in (*BEHIND, *slots):
            with contextlib.suppress(Exception):
                held.append(getattr(thing, name))
        if isinstance(thing, weakref.ref):
            held.append(thing())
        if isinstance(thing, dict):
            held += list(thing.values())
        elif isinstance(thing, list | tuple):
            held += list(thing)
        if isinstance(thing, np.ndarray) and thing.base is not None:
            held.append(thing.base)
        stack += [(one, at + 1) for one in held]
