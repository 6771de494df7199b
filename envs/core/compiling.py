"""How Python becomes machine code here, and where the result is kept between processes.

Three decorators, from the outside in:

* ``kernel(signature)`` marks one of the ten functions of a game (see ``kernels.py``);
* ``compiled(signature)`` marks a generic algorithm that Python calls;
* ``helper`` marks a small function that only compiled code calls; it is inlined there.

All three compile without Numba's reference counting. That is worth a factor of five on every call of a
kernel (two atomic updates for each array view otherwise), and it turns "compiled code allocates nothing"
from a habit into a compile-time error: buffers are made once, in Python, and handed in.

Set ``NUMBA_DISABLE_JIT=1`` to run everything as plain Python, for coverage, ``pdb`` and honest tracebacks.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np

__all__ = ["JIT_DISABLED", "cache_folder", "compiled", "direct", "helper", "kernel"]

Function = TypeVar("Function", bound=Callable[..., Any])

JIT_DISABLED: bool = bool(numba.config.DISABLE_JIT)

# The packages whose sources can end up inside a compiled function. Numba's own cache looks at the file of the
# function alone and would miss a change in a helper of another file.
_PROJECT = Path(__file__).resolve().parents[2]
_KERNEL_PACKAGES = ("envs", "agents", "arena", "training")

_OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}


def kernel(signature: Any) -> Callable[[Function], Function]:
    """Compile one function of a game's table, with its fixed ``signature``."""
    return compiled(signature)


def compiled(signature: Any) -> Callable[[Function], Function]:
    """Compile a function for ``signature`` now, or load it from the cache folder."""

    def decorate(function: Function) -> Function:
        if JIT_DISABLED:
            # Unsigned arithmetic wraps silently in machine code; NumPy scalars would warn.
            return np.errstate(over="ignore")(function)
        with _cache_in(cache_folder()):
            return numba.njit(signature, cache=True, nogil=True, **_OPTIONS)(function)  # type: ignore[no-any-return]

    return decorate


def helper(function: Function) -> Function:
    """Compile a small function for use inside compiled code only; it takes whatever types it is given."""
    return numba.njit(**_OPTIONS)(function)  # type: ignore[no-any-return]


def direct(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the machine-code entry of a ``compiled`` function, without Numba's dispatch on argument types.

    For hot paths whose argument types are ours to guarantee: a call costs a fraction of a microsecond less,
    and a ``Kernels`` argument costs nothing to recognise.
    """
    if JIT_DISABLED:
        return function
    (result,) = function.overloads.values()  # type: ignore[attr-defined]
    return result.entry_point  # type: ignore[no-any-return]


@cache
def cache_folder() -> Path:
    """The folder of compiled code that belongs to exactly these sources.

    It lies in ``$MASQUERADE_CACHE``, or in the user's cache folder, or in a temporary one when neither can be
    written. The first process to use new sources says so, because it will be busy for a while.
    """
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version_info[:2]}".encode())
    for package in _KERNEL_PACKAGES:
        for path in sorted((_PROJECT / package).rglob("*.py")):
            digest.update(str(path.relative_to(_PROJECT)).encode())
            digest.update(path.read_bytes())
    name = digest.hexdigest()[:16]
    for base in _cache_bases():
        folder = base / name
        try:
            is_new = not folder.exists()
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            if is_new:
                print(f"masquerade: compiling once for these sources, into {folder} ...", file=sys.stderr)
            return folder
    raise OSError("no folder for compiled code can be written: set MASQUERADE_CACHE to one that can")


def _cache_bases() -> Iterator[Path]:
    chosen = os.environ.get("MASQUERADE_CACHE")
    if chosen:
        yield Path(chosen).expanduser()
    home_cache = os.environ.get("XDG_CACHE_HOME")
    yield (Path(home_cache) if home_cache else Path.home() / ".cache") / "masquerade"
    yield Path(tempfile.gettempdir()) / "masquerade"


@contextmanager
def _cache_in(folder: Path) -> Iterator[None]:
    """Point Numba's cache at ``folder`` while one function is decorated, and leave other users of it alone."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before
