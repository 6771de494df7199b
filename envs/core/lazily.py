"""Things that are imported when they are first asked for: starting stays quick."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

__all__ = ["load", "look_up"]


def load(package: str, homes: Mapping[str, str], name: str) -> Any:
    """What ``package.name`` is: found in the module that ``homes`` names; for ``__getattr__``."""
    if name not in homes:
        raise AttributeError(f"module '{package}' has no attribute '{name}'")
    return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)


def look_up(kind: str, table: Mapping[str, str], name: str) -> Any:
    """The entry of a table of ``"module:Class"``; an unknown name is answered with the nearest."""
    if name not in table:
        from envs.core.errors import UnknownNameError, nearest

        raise UnknownNameError(f"unknown {kind} '{name}': {nearest(name, table)}")
    module, attribute = table[name].split(":")
    return getattr(importlib.import_module(module), attribute)
