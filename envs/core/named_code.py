"""Code of the user's, by ``module:name``: imported when the user names it, never for a file.

A command line and a YAML file of the user's own may name modules, and ``import_named`` imports what
they name. A result (a checkpoint, a policy, a tournament's summary) may come from anybody: what it
names is found only if the user has named the same in this process, see ``find_named``.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from envs.core.errors import OptionError, one_line
from envs.core.lazily import look_up

__all__ = ["find_named", "import_named", "is_module_name", "names_from_a_file", "was_named"]

_named: dict[str, Any] = {}
_is_from_a_file: ContextVar[bool] = ContextVar("is_from_a_file", default=False)


def is_module_name(text: Any) -> bool:
    """Whether a text names something in a module.

    >>> is_module_name("my.module:encode"), is_module_name("infoset"), is_module_name("round:2")
    (True, False, False)
    """
    module, colon, name = str(text).partition(":")
    return bool(colon) and all(part.isidentifier() for part in (*module.split("."), name))


def import_named(kind: str, name: str) -> Any:
    """Import what the user has named as ``module:name``."""
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # whatever the user's module does when it is imported
        reason = f"{type(error).__name__}: {one_line(error)}"
        raise OptionError(f"{kind} '{name}' cannot be found: {reason}") from error
    return _named.setdefault(name, found)


def was_named(name: str) -> Any | None:
    """What ``import_named`` was asked for before; nothing is imported."""
    return _named.get(name)


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
    if not _is_from_a_file.get():
        return import_named(kind, name)
    found = was_named(name)
    if found is None:
        raise OptionError(
            f"its {kind} is '{name}', which is not ours: name it to run its code, "
            f"params: {{{kind.replace(' ', '_')}: '{name}'}}"
        )
    return found
