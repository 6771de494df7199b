"""What results were made with."""

from __future__ import annotations

import importlib.metadata
import platform

__all__ = ["versions"]

PACKAGES = ("masquerade", "numba", "numpy", "gymnasium", "pettingzoo")


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that are installed.

    >>> versions()["python"] == platform.python_version()
    True
    """
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
