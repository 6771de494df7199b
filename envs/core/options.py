"""Options of a game or a player: a frozen dataclass whose fields know their range.

>>> @dataclass(frozen=True)
... class TableOptions(Options):
...     num_players: int = option(2, low=2, high=6, help="players at the table")
>>> TableOptions(num_players=3)
TableOptions(num_players=3)
>>> TableOptions(num_players=9)
Traceback (most recent call last):
...
envs.core.errors.OptionError: num_players must be a whole number from 2 to 6, not 9
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from envs.core.errors import OptionError, nearest

__all__ = ["Options", "option"]

T = TypeVar("T", bound="Options")


def option(
    default: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    is_list: bool = False,
    help: str,
) -> Any:
    """Declare one option: a range of numbers, a set of choices, either, or a flag.

    Bounds that are whole numbers ask for a whole number, ``low=0.0`` for any number. With
    ``is_list`` a list of such numbers is allowed as well as a single one. A default of ``None``
    means that there may be none.
    """
    allowed = {"low": low, "high": high, "choices": choices, "is_list": is_list, "help": help}
    return dataclasses.field(default=default, metadata=allowed)


@dataclass(frozen=True)
class Options:
    """Base of every game's options; subclasses add fields with :func:`option`."""

    def __post_init__(self) -> None:
        """Refuse the first value that is out of its range."""
        for field in dataclasses.fields(self):
            self._check(field, getattr(self, field.name))

    def _check(self, field: dataclasses.Field[Any], value: Any) -> None:
        if not _is_allowed(field, value):
            raise OptionError(f"{field.name} must be {_range_text(field)}, not {value!r}")

    @classmethod
    def parse(cls: type[T], values: Mapping[str, Any]) -> T:
        """Make options from a mapping; an unknown name is answered with the nearest one."""
        known = [field.name for field in dataclasses.fields(cls)]
        for name in values:
            if name not in known:
                raise OptionError(f"unknown option '{name}': {nearest(name, known)}")
        fields = {field.name: field for field in dataclasses.fields(cls)}
        return cls(**{name: _plain(fields[name], value) for name, value in values.items()})

    def to_dict(self) -> dict[str, Any]:
        """The values as plain JSON types."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in dataclasses.asdict(self).items()
        }

    @classmethod
    def describe(cls) -> list[tuple[str, str, str, str]]:
        """Rows of ``(name, default, allowed values, meaning)``, for documentation."""
        return [
            (field.name, repr(field.default), _range_text(field), field.metadata["help"])
            for field in dataclasses.fields(cls)
        ]


def _plain(field: dataclasses.Field[Any], value: Any) -> Any:
    """Lists as tuples, because options are hashable; numbers may come from NumPy or as text."""
    if isinstance(value, list | tuple):
        return tuple(_plain(field, v) for v in value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str) and value not in field.metadata["choices"]:
        return _number(value, is_whole=isinstance(field.metadata["low"], int))
    return value


def _number(text: str, is_whole: bool) -> Any:
    """Read a number that YAML takes for text, such as 3e-4 or 1e6; other text stays what it is."""
    try:
        number = float(text) if "e" in text.lower() else None
    except ValueError:
        return text
    if number is None:
        return text
    return int(number) if is_whole and number.is_integer() else number


def _is_allowed(field: dataclasses.Field[Any], value: Any) -> bool:
    if isinstance(field.default, bool):
        return isinstance(value, bool)
    if value is None:
        return field.default is None
    if isinstance(value, tuple) and field.metadata["is_list"]:
        return len(value) > 0 and all(_is_in_range(field, v) for v in value)
    if isinstance(value, str):
        return value in field.metadata["choices"]
    return _is_in_range(field, value)


def _is_in_range(field: dataclasses.Field[Any], value: Any) -> bool:
    low, high = field.metadata["low"], field.metadata["high"]
    kinds = int if isinstance(low, int) else int | float
    return (
        low is not None
        and isinstance(value, kinds)
        and not isinstance(value, bool)
        and low <= value <= high
    )


def _range_text(field: dataclasses.Field[Any]) -> str:
    low, high, choices, is_list = (
        field.metadata[name] for name in ("low", "high", "choices", "is_list")
    )
    if isinstance(field.default, bool):
        return "true or false"
    kind = "whole number" if isinstance(low, int) else "number"
    parts = [f"a {kind} from {low} to {high}"] if low is not None else []
    parts += ["a list of such numbers"] if is_list else []
    parts += [repr(choice) for choice in choices]
    parts += ["null"] if field.default is None else []
    return " or ".join(parts)
