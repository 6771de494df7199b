"""How Python becomes machine code here, and where the result is kept between processes.

Five decorators, from the outside in:

* ``kernel`` marks one of the functions of a game (see ``kernels.py``);
* ``compiled(signature)`` marks any other function that Python calls;
* ``helper`` marks a small function that compiled code calls; it is inlined there, mostly;
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
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import config as numba_config
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

# Numba sets its options from the environment, out of the sight of a type checker.
config: Any = numba_config

Function = TypeVar("Function", bound=Callable[..., Any])

JIT_DISABLED: bool = bool(config.DISABLE_JIT)

_PROJECT = Path(__file__).resolve().parents[2]

ROOMS = ("common", "envs", "agents", "arena", "training", "play", "experiments", "benchmarks")

# By hand rather than by ``ast``: every process reads some hundred files before it starts.
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(?:\(([^)]*)\)|([^#\n(]*))"
    r"|import[ \t]+([^#\n]*))",
    re.MULTILINE,
)
_WORD = re.compile(r"[\w.]+")
# What is imported for types alone never runs, so no code of it is compiled.
_FOR_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+.*\n|\n)+", re.MULTILINE)

_STALE_AFTER = 30 * 24 * 3600.0  # seconds

# Nobody calls our functions through C, and a door for that takes as long to compile as the others.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


class _Helper(CPUDispatcher):  # type: ignore[misc]
    """A function that is compiled into its callers; its door for Python is made when it is used.

    Doors are a quarter of what there would be to compile. Whoever calls a helper from Python waits
    for a version of its own in every process, because helpers are not kept on disk.
    """

    def __call__(self, *arguments: Any) -> Any:
        """Run the version for Python."""
        return self._door(*arguments)

    @cached_property
    def _door(self) -> Callable[..., Any]:
        options = {**self.targetoptions, "no_cpython_wrapper": False}
        return numba.jit(**options)(self.py_func)  # type: ignore[no-any-return]


def _make_helper(function: Function, **options: Any) -> Function:
    if JIT_DISABLED:
        return function
    options |= {"nopython": True, "no_cpython_wrapper": True, **_OPTIONS}
    return _Helper(function, targetoptions=options)  # type: ignore[no-any-return]


def compiled(
    signature: Any, nogil: bool = True, home: Path | None = None
) -> Callable[[Function], Function]:
    """Compile a function for ``signature`` now, or load it from the cache folder.

    Args:
        signature: of the only version there is.
        nogil: let other threads of Python run meanwhile. That takes longer than a single move.
        home: the file whose sources it is made of, where that is not its own.
    """

    def decorate(function: Function) -> Function:
        if JIT_DISABLED:
            # Unsigned arithmetic wraps silently in machine code; NumPy scalars would warn.
            return np.errstate(over="ignore")(function)
        source = home or Path(function.__code__.co_filename)
        # The folder is one setting for all threads. Another that compiles meanwhile would keep its
        # code in ours, or take ours for its own: functions of equal names differ by their folder.
        with global_compiler_lock, _cache_in(cache_folder(source.resolve())):
            return numba.njit(signature, cache=True, nogil=nogil, **_OPTIONS)(function)  # type: ignore[no-any-return]

    return decorate


def helper(function: Function) -> Function:
    """Compile a small function for use inside compiled code, for any types."""
    return _make_helper(function)


def inlined(function: Function) -> Function:
    """Compile a helper and copy it to every place that calls it, however large it is.

    An array is handed over as seven words, and a tuple of ten arrays as seventy: where the compiler
    decides against inlining, that takes longer than what most helpers do.
    """
    return _make_helper(function, forceinline=True)


def summing(function: Function) -> Function:
    """Compile a helper whose sums may be taken in any order, which makes vector instructions of it.

    The order is fixed at compile time: the same code on the same machine gives the same sum.
    """
    return _make_helper(function, fastmath={"reassoc", "nsz"}, forceinline=True)


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
def cache_folder(source: Path) -> Path:
    """The folder of compiled code for functions written in the file ``source``.

    The first process to use new sources says so, because it will be busy for a while.
    """
    for folder in cache_folders(source):
        try:
            is_new = not folder.exists()
            if folder.parent == _temporary():
                _claim(folder.parent)
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            if is_new:
                _announce(source)
                _remove_stale(folder.parent)
            os.utime(folder)
            return folder
    raise OSError(
        "no folder for compiled code can be written: set MASQUERADE_CACHE to one that can"
    )


def cache_folders(source: Path) -> list[Path]:
    """Where compiled code of a file may lie, by preference.

    The folder is named by a hash of every source that can end up inside it, because Numba's own
    cache looks at the file of a function alone and would miss a change in a helper of another file.
    It lies in ``$MASQUERADE_CACHE``, or in the user's cache folder, or in a temporary one when
    neither can be written.
    """
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version_info[:2]}".encode())
    for path in sorted(sources_of(source)):
        digest.update(str(path).encode())
        digest.update(path.read_bytes())
    return [base / f"{source.stem}-{digest.hexdigest()[:16]}" for base in _cache_bases()]


_compiling: list[Path] = []
_begun = time.monotonic()


def _announce(source: Path) -> None:
    """Say that there is something to compile: each folder of sources once, and how far we are."""
    folder = source.parent
    is_known = any(folder == path.parent for path in _compiling)
    _compiling.append(source)
    if not is_known:
        name = folder.relative_to(_PROJECT) if folder.is_relative_to(_PROJECT) else folder.name
        print(
            f"masquerade: compiling {name}/ once, and keeping it for the next time "
            f"(files so far: {len(_compiling) - 1}, {time.monotonic() - _begun:.0f} s) ...",
            file=sys.stderr,
            flush=True,
        )


def sources_of(source: Path) -> set[Path]:
    """Every file that compiled code of ``source`` can contain: whatever it imports, and so on.

    A file of somebody else's may also contain code of those that lie beside it. From a wheel we lie
    beside Numba, NumPy and everybody else, whom nobody's code is followed into: only our own rooms
    and the folder that the source itself comes from count.
    """
    found = {source}
    own = source.relative_to(_PROJECT).parts[0] if source.is_relative_to(_PROJECT) else ""
    if own not in ROOMS:
        found.update(source.parent.glob("*.py"))
    rooms = frozenset((*ROOMS, own))
    waiting = list(found)
    while waiting:
        new = set(_imported(waiting.pop(), rooms)) - found
        found |= new
        waiting += new
    return found


@cache
def _imported(source: Path, rooms: Collection[str] = ROOMS) -> tuple[Path, ...]:
    """The files of some rooms that a file imports, wherever in it the import stands."""
    modules = []
    text = _FOR_TYPES.sub("", source.read_text(encoding="utf-8"))
    for match in _IMPORT.finditer(text):
        package, in_brackets, on_line, plain = match.groups()
        if package is None:
            modules += _WORD.findall(plain)
        else:  # each name may be a module of the package, or something inside it
            names = _WORD.findall(in_brackets or on_line)
            modules += [package, *(f"{package}.{name}" for name in names)]
    places = (module.split(".") for module in modules)
    paths = (_PROJECT.joinpath(*place) for place in places if place[0] in rooms)
    files = (file for path in paths for file in (path.with_suffix(".py"), path / "__init__.py"))
    return tuple(file for file in files if file.is_file())


def _cache_bases() -> Iterator[Path]:
    chosen = os.environ.get("MASQUERADE_CACHE")
    if chosen:
        yield Path(chosen).expanduser()
    home_cache = os.environ.get("XDG_CACHE_HOME")
    yield (Path(home_cache) if home_cache else Path.home() / ".cache") / "masquerade"
    yield _temporary()


def _temporary() -> Path:
    return Path(tempfile.gettempdir()) / f"masquerade-{os.getuid()}"


def _claim(base: Path) -> None:
    """Make a folder where everybody may; compiled code is run, so nobody else may write into it."""
    with suppress(FileExistsError):
        base.mkdir(mode=0o700)
    found = base.lstat()
    is_mine = found.st_uid == os.getuid() and stat.S_ISDIR(found.st_mode)
    if not is_mine or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"{base} is somebody else's")


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
