"""What an agent is made with, checked before its constructor sees it.

Params come from YAML, JSON and command lines, and what a constructor says of itself is enough to
refuse a wrong kind in one line: its annotations. What range a number has is its own affair.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from common.errors import OptionError, nearest, one_line
from envs.core.options import read_number

__all__ = ["annotations_of", "check_settings", "read_params"]

LARGEST = 2**63 - 1
"""Beyond that compiled code would take a whole number for another."""


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and _is_number(value)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return False
    return not isinstance(value, np.complexfloating) and bool(-LARGEST <= value <= LARGEST)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)


KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("a whole number", _is_whole),
    "float": ("a number", _is_number),
    "bool": ("true or false", lambda value: isinstance(value, bool | np.bool_)),
    "str": ("text", lambda value: isinstance(value, str)),
    "None": ("null", lambda value: value is None),
    "Path": ("a path", lambda value: isinstance(value, str | Path)),
    "Callable": ("a function", callable),
    "Mapping": ("a mapping", lambda value: isinstance(value, Mapping)),
    "dict": ("a mapping", lambda value: isinstance(value, dict)),
    "State": ("a mapping", lambda value: isinstance(value, dict)),
    "Sequence": ("a list", _is_list),
    "tuple": ("a list", _is_list),
    "list": ("a list", _is_list),
}

PLAIN: tuple[type, ...] = (bool, int, float, str, bytes, list, tuple, dict, type(None))
"""What YAML, JSON and command lines can say."""
OBJECT = ("what only Python can make", lambda value: not isinstance(value, PLAIN))


def read_params(params: Mapping[str, Any], annotations: Mapping[str, str]) -> dict[str, Any]:
    """The same params, each of a kind that its annotation names; what is unknown is left alone.

    >>> read_params({"depth": "1e3", "ties": "low"}, {"depth": "int | None", "ties": "str"})
    {'depth': 1000, 'ties': 'low'}
    >>> read_params({"depth": 1.5}, {"depth": "int | None"})
    Traceback (most recent call last):
    ...
    common.errors.OptionError: depth must be a whole number or null, not 1.5
    """
    read = {}
    for name, value in params.items():
        names = set(_alternatives(annotations.get(name, "Any")))
        if names & {"int", "float"} and "str" not in names:
            value = read_number(value)
        read[name] = value
        kinds = [KINDS.get(kind, OBJECT) for kind in sorted(names, key=_rank)]
        if "Any" not in names and not any(accepts(value) for _, accepts in kinds):
            words = " or ".join(dict.fromkeys(word for word, _ in kinds))
            raise OptionError(f"{name} must be {words}, not {one_line(repr(value), 80)}")
    return read


def _rank(kind: str) -> tuple[int, str]:
    order = [*KINDS]
    return order.index(kind) if kind in order else len(order), kind


def _alternatives(annotation: str) -> Iterator[str]:
    """The kinds of a union, without what is in brackets.

    >>> list(_alternatives("Sequence[int | float] | Path | None"))
    ['Sequence', 'Path', 'None']
    """
    depth, word = 0, ""
    for letter in f"{annotation}|":
        depth += (letter == "[") - (letter == "]")
        if depth == 0 and letter == "|":
            yield word.strip().partition("[")[0].rpartition(".")[2]
            word = ""
        else:
            word += letter


def check_settings(settings: Mapping[str, Any], made: type[Any]) -> None:
    """Refuse what is no field of a class's ``settings_class``, with the nearest thing it takes."""
    fields = made.settings_class.model_fields
    for name in settings:
        if name not in fields:
            known = set(annotations_of(made)) - {"game", "settings", "return"} | set(fields)
            raise OptionError(f"unknown setting '{name}': {nearest(name, known)}")


def annotations_of(made: type) -> dict[str, str]:
    """What constructors say of their parameters, through all to which the rest is handed on."""
    found: dict[str, str] = {}
    for each in made.__mro__:
        if "__init__" not in vars(each):
            continue
        parameters = inspect.signature(vars(each)["__init__"]).parameters.values()
        for parameter in parameters:
            if parameter.annotation is not parameter.empty:
                kind = parameter.annotation
                text = kind if isinstance(kind, str) else getattr(kind, "__name__", "Any")
                found.setdefault(parameter.name, text)
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            break
    return found
