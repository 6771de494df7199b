"""Things that are imported when they are first asked for: starting stays quick."""

from __future__ import annotations

import importlib
import importlib.metadata
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from common.errors import OptionError, reason_of

EXPERIMENTS = Path(__file__).resolve().parents[1] / "experiments"


def load(package: str, homes: Mapping[str, str], name: str) -> Any:
    """What ``package.name`` is: found in the module that ``homes`` names; for ``__getattr__``."""
    if name not in homes:
        raise AttributeError(f"module '{package}' has no attribute '{name}'")
    return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)


def look_up(kind: str, table: Mapping[str, str], name: str) -> Any:
    """The entry of a table of ``"module:Class"``; an unknown name is answered with the nearest."""
    if name not in table:
        from common.errors import UnknownNameError, nearest

        raise UnknownNameError(f"unknown {kind} '{name}': {nearest(name, table)}")
    module, attribute = table[name].split(":")
    return getattr(importlib.import_module(module), attribute)


_named: dict[str, Any] = {}
_is_from_a_file: ContextVar[bool] = ContextVar("is_from_a_file", default=False)


def is_module_name(text: Any) -> bool:
    """Whether a text names something in a module.

    >>> is_module_name("my.module:encode"), is_module_name("infoset"), is_module_name("round:2")
    (True, False, False)
    """
    module, colon, name = str(text).partition(":")
    return bool(colon) and all(part.isidentifier() for part in (*module.split("."), name))


def is_ours(name: str) -> bool:
    """Whether ``module:name`` is in our experiments, whose players and learners have no ids.

    >>> is_ours("experiments.holdem.timed:TimedDQN"), is_ours("experiments.mine:Player")
    (True, False)
    """
    room, _, module = name.partition(":")[0].partition(".")
    path = EXPERIMENTS.joinpath(*module.split("."))
    is_there = room == EXPERIMENTS.name and path.with_suffix(".py").is_file()
    return is_there and is_module_name(name)


def import_named(kind: str, name: str) -> Any:
    """Import what the user has named as ``module:name``."""
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # whatever the user's module does when it is imported
        raise OptionError(f"{kind} '{name}' cannot be found: {reason_of(error)}") from error
    return _named.setdefault(name, found)


@contextmanager
def names_from_a_file() -> Iterator[None]:
    """In here ``find_named`` imports nothing: the names come from a file of a stranger's."""
    token = _is_from_a_file.set(True)
    try:
        yield
    finally:
        _is_from_a_file.reset(token)


def find_named(kind: str, table: Mapping[str, str], name: str) -> Any:
    """An entry of one of our tables, or what the user names as ``module:name``."""
    if ":" not in name:
        return look_up(kind, table, name)
    if not _is_from_a_file.get() or is_ours(name):
        return import_named(kind, name)
    found = _named.get(name)
    if found is None:
        raise OptionError(
            f"its {kind} is '{name}', which is not ours: name it to run its code, "
            f"params: {{{kind.replace(' ', '_')}: '{name}'}}"
        )
    return found


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
