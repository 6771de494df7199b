"""Wide cross products: all of them by ``make test-all``, a seeded sample by ``make test``."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from envs.core.rng import below, new_rng

T = TypeVar("T")

IS_FULL = os.environ.get("MASQUERADE_TESTS") == "all"


def sample(cases: Sequence[T], kind: Callable[[T], Hashable], per_kind: int = 1) -> list[T]:
    """Up to ``per_kind`` cases of every kind, always the same ones; all for ``make test-all``."""
    if IS_FULL:
        return list(cases)
    rng = new_rng(0)
    groups: dict[Hashable, list[T]] = {}
    for case in cases:
        groups.setdefault(kind(case), []).append(case)
    for group in groups.values():
        while len(group) > per_kind:
            group.pop(int(below(rng, len(group))))
    return [case for group in groups.values() for case in group]
