"""Options of a game: a frozen dataclass whose fields know their range and say so when a value is out of it.

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

from envs.core.errors import OptionError, nearest

__all__ = ["Options", "option"]

T = TypeVar("T", bound="Options")


def option(
    default: Any,
    *,
    low: int | None = None,
    high: int | None = None,
    choices: tuple[Any, ...] = (),
    help: str,
) -> Any:
    """Declare one option: a range of whole numbers, a set of choices, both (either will do), or a flag."""
    allowed = {"low": low, "high": high, "choices": choices, "help": help}
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
        """Make options from a mapping such as a YAML block; an unknown name is answered with the nearest one."""
        known = [field.name for field in dataclasses.fields(cls)]
        for name in values:
            if name not in known:
                raise OptionError(f"unknown option '{name}': {nearest(name, known)}")
        # YAML and JSON have lists only; options are hashable.
        tuples = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
        return cls(**tuples)

    def to_dict(self) -> dict[str, Any]:
        """The values as plain JSON types."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in dataclasses.asdict(self).items()
        }

    @classmethod
    def describe(cls) -> list[tuple[str, str, str, str]]:
        """Rows of ``(name, default, allowed values, meaning)``, for documentation and ``--help``."""
        return [
            (field.name, repr(field.default), _range_text(field), field.metadata["help"])
            for field in dataclasses.fields(cls)
        ]


def _is_allowed(field: dataclasses.Field[Any], value: Any) -> bool:
    low, high, choices = (field.metadata[name] for name in ("low", "high", "choices"))
    if isinstance(field.default, bool):
        return isinstance(value, bool)
    is_choice = isinstance(value, str) and value in choices
    is_whole = isinstance(value, int) and not isinstance(value, bool) and low is not None
    return is_choice or (is_whole and low <= value <= high)


def _range_text(field: dataclasses.Field[Any]) -> str:
    low, high, choices = (field.metadata[name] for name in ("low", "high", "choices"))
    if isinstance(field.default, bool):
        return "true or false"
    parts = [f"a whole number from {low} to {high}"] if low is not None else []
    parts += [repr(choice) for choice in choices]
    return " or ".join(parts)
