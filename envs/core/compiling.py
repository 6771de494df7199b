"""How Python becomes machine code here, and where the result is kept between processes.

Five decorators, from the outside in:

* ``kernel(signature)`` marks one of the ten functions of a game (see ``kernels.py``);
* ``compiled(signature)`` marks a generic algorithm that Python calls;
* ``helper`` marks a small function that only compiled code calls; it is inlined there, mostly;
* ``inlined`` marks one that always is, because it is handed many arrays in a hot loop;
* ``summing`` marks one that adds up numbers, in whatever order is quickest.

All of them compile without Numba's reference counting. That is worth a factor of five on every call
of a kernel (two atomic updates for each array view otherwise), and it turns "compiled code
allocates nothing" from a habit into a compile-time error: buffers are made once, in Python, and
handed in.

Set ``NUMBA_DISABLE_JIT=1`` to run everything as plain Python, for coverage, ``pdb`` and honest
tracebacks.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import config as numba_config

__all__ = [
    "JIT_DISABLED",
    "cache_folder",
    "compiled",
    "direct",
    "helper",
    "inlined",
    "kernel",
    "summing",
]

# Numba sets its options from the environment, out of the sight of a type checker.
config: Any = numba_config

Function = TypeVar("Function", bound=Callable[..., Any])

JIT_DISABLED: bool = bool(config.DISABLE_JIT)

_PROJECT = Path(__file__).resolve().parents[2]

# Arrows between the rooms point one way: compiled code of a room may contain code of the rooms
# before it, never of those after.
_ROOMS = ("envs", "agents", "arena", "training", "play", "benchmarks")

_STALE_AFTER = 30 * 24 * 3600.0  # seconds

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
        with _cache_in(cache_folder(Path(function.__code__.co_filename).resolve().parent)):
            return numba.njit(signature, cache=True, nogil=True, **_OPTIONS)(function)  # type: ignore[no-any-return]

    return decorate


def helper(function: Function) -> Function:
    """Compile a small function for use inside compiled code only, for any types."""
    return numba.njit(**_OPTIONS)(function)  # type: ignore[no-any-return]


def inlined(function: Function) -> Function:
    """Compile a helper and copy it to every place that calls it, however large it is.

    An array is handed over as seven words, and a tuple of ten arrays as seventy: where the compiler
    decides against inlining, that takes longer than what most helpers do.
    """
    return numba.njit(forceinline=True, **_OPTIONS)(function)  # type: ignore[no-any-return]


def summing(function: Function) -> Function:
    """Compile a helper whose sums may be taken in any order, which makes vector instructions of it.

    The order is fixed at compile time: the same code on the same machine gives the same sum.
    """
    order = {"reassoc", "nsz"}
    return numba.njit(fastmath=order, forceinline=True, **_OPTIONS)(function)  # type: ignore[no-any-return]


def direct(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the machine-code entry of a ``compiled`` function, past Numba's dispatch on types.

    For hot paths whose argument types are ours to guarantee: a call costs a fraction of a
    microsecond less, and a ``Kernels`` argument costs nothing to recognise.
    """
    if JIT_DISABLED:
        return function
    (result,) = function.overloads.values()  # type: ignore[attr-defined]
    return result.entry_point  # type: ignore[no-any-return]


@cache
def cache_folder(source_folder: Path) -> Path:
    """The folder of compiled code for functions written in ``source_folder``.

    It is named by a hash of every source that can end up inside them, because Numba's own cache
    looks at the file of a function alone and would miss a change in a helper of another file. It
    lies in ``$MASQUERADE_CACHE``, or in the user's cache folder, or in a temporary one when neither
    can be written. The first process to use new sources says so, because it will be busy for a
    while.
    """
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version_info[:2]}".encode())
    for path in _sources(source_folder):
        digest.update(str(path).encode())
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
                print(f"masquerade: compiling {source_folder.name}/ once ...", file=sys.stderr)
                _remove_stale(base)
            os.utime(folder)
            return folder
    raise OSError(
        "no folder for compiled code can be written: set MASQUERADE_CACHE to one that can"
    )


def _sources(source_folder: Path) -> Iterator[Path]:
    """Every file that compiled code of ``source_folder`` can contain, in a fixed order."""
    try:
        room = source_folder.relative_to(_PROJECT).parts[0]
        rooms = _ROOMS[: _ROOMS.index(room) + 1]
    except (ValueError, IndexError):
        rooms = ("envs",)  # somebody else's game: the core, and what lies beside it
        yield from sorted(source_folder.glob("*.py"))
    for room in rooms:
        for path in sorted((_PROJECT / room).rglob("*.py")):
            if path.parent.name != "drawings":  # pictures are plain Python, and often retouched
                yield path


def _cache_bases() -> Iterator[Path]:
    chosen = os.environ.get("MASQUERADE_CACHE")
    if chosen:
        yield Path(chosen).expanduser()
    home_cache = os.environ.get("XDG_CACHE_HOME")
    yield (Path(home_cache) if home_cache else Path.home() / ".cache") / "masquerade"
    yield Path(tempfile.gettempdir()) / "masquerade"


def _remove_stale(base: Path) -> None:
    """Delete the code of sources that nobody has used for a month."""
    oldest = time.time() - _STALE_AFTER
    for folder in base.iterdir():
        if folder.is_dir() and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


def _spare_scipy() -> None:
    """Keep Numba from importing ``scipy.linalg`` at start, where it only asks whether it is there.

    That costs more time than loading all of our compiled code. Numba itself imports it when a
    function uses linear algebra, as before.
    """
    if "numba.np.arraymath" in sys.modules or importlib.util.find_spec("scipy") is None:
        return
    linalg = importlib.import_module("numba.np.linalg")
    ensure_blas = getattr(linalg, "ensure_blas", None)
    linalg.ensure_blas = lambda: None  # type: ignore[attr-defined]
    try:
        importlib.import_module("numba.np.arraymath").ensure_blas = ensure_blas  # type: ignore[attr-defined]
    finally:
        linalg.ensure_blas = ensure_blas  # type: ignore[attr-defined]


@contextmanager
def _cache_in(folder: Path) -> Iterator[None]:
    """Point Numba's cache at ``folder`` while one function is decorated, and no longer."""
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before


if not JIT_DISABLED:
    _spare_scipy()
