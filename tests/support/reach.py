"""What somebody who is given an object can get hold of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def reachable(start: Any, depth: int = 4) -> Iterator[Any]:
    """Everything behind attributes, items and closures."""
    seen: set[int] = set()
    stack = [(start, 0)]
    while stack:
        thing, at = stack.pop()
        if id(thing) in seen or at > depth or isinstance(thing, type):
            continue
        seen.add(id(thing))
        yield thing
        held: list[Any] = []
        held += list(getattr(thing, "__dict__", {}).values())
        for cell in getattr(thing, "__closure__", None) or ():
            held.append(cell.cell_contents)
        if isinstance(thing, dict):
            held += list(thing.values())
        elif isinstance(thing, list | tuple):
            held += list(thing)
        if isinstance(thing, np.ndarray) and thing.base is not None:
            held.append(thing.base)
        stack += [(one, at + 1) for one in held]
