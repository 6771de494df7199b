"""Names of a package that are imported when they are first asked for: starting stays quick."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

__all__ = ["load"]


def load(package: str, homes: Mapping[str, str], name: str) -> Any:
    """What ``package.name`` is: found in the module that ``homes`` names; for ``__getattr__``."""
    if name not in homes:
        raise AttributeError(f"module '{package}' has no attribute '{name}'")
    return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)
