"""Options of a game or a player: a frozen pydantic model whose fields know their range.

>>> class TableOptions(Options):
...     num_players: int = option(2, low=2, high=6, help="players at the table")
>>> TableOptions(num_players=3)
TableOptions(num_players=3)
>>> TableOptions(num_players=9)
Traceback (most recent call last):
...
common.errors.OptionError: num_players must be a whole number from 2 to 6, not 9
>>> TableOptions(players=3)
Traceback (most recent call last):
...
common.errors.OptionError: unknown option 'players': did you mean 'num_players'? ...
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Self, get_origin

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import CoreSchema, ErrorDetails

from common.errors import MasqueradeError, OptionError, nearest, one_line

# How a message begins that says where something is wrong: "params: ...".
_PLACE = re.compile(r"[\w.]+: ")
_KINDS = MappingProxyType(
    {"tuple": "a list", "list": "a list", "dict": "a mapping", "model": "a mapping", "str": "text"}
)


@dataclass(frozen=True)
class _Allowed:
    """What one option may be: the test, the words and the JSON Schema of it.

    Pydantic's own bounds cannot be put on a union such as ``int | str``, and its messages name
    types of Python where people expect a range.
    """

    default: Any
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    is_list: bool
    can_import: bool
    is_structural: bool

    @property
    def is_flag(self) -> bool:
        return isinstance(self.default, bool)

    @property
    def is_whole(self) -> bool:
        return isinstance(self.low, int)

    def read(self, value: Any) -> Any:
        """Lists as tuples, because options are hashable; numbers may come from NumPy or as text."""
        if isinstance(value, list | tuple) and self.is_list:  # no option has lists inside lists
            return tuple(v if isinstance(v, list | tuple) else self.read(v) for v in value)
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, str) and self.low is not None and value not in self.choices:
            return read_number(value, self.is_whole)
        return value

    def accepts(self, value: Any) -> bool:
        if self.is_flag:
            return isinstance(value, bool)
        if value is None:
            return self.default is None
        if isinstance(value, tuple) and self.is_list:
            return len(value) > 0 and all(self._is_in_range(v) for v in value)
        if isinstance(value, str):
            return value in self.choices or (self.can_import and ":" in value)
        return self._is_in_range(value)

    def _is_in_range(self, value: Any) -> bool:
        kinds = int if self.is_whole else int | float
        return (
            self.low is not None
            and self.high is not None
            and isinstance(value, kinds)
            and not isinstance(value, bool)
            and self.low <= value <= self.high
        )

    def __str__(self) -> str:
        if self.is_flag:
            return "true or false"
        kind = "whole number" if self.is_whole else "number"
        parts = [f"a {kind} from {self.low} to {self.high}"] if self.low is not None else []
        parts += ["a list of such numbers"] if self.is_list else []
        parts += [repr(choice) for choice in self.choices]
        parts += ["'module:name'"] if self.can_import else []
        parts += ["null"] if self.default is None else []
        return " or ".join(parts)

    def __call__(self, schema: dict[str, Any]) -> None:
        """Put the range into the JSON Schema of the field; pydantic calls this."""
        ways: list[dict[str, Any]] = [{"type": "boolean"}] if self.is_flag else []
        if self.low is not None:
            kind = "integer" if self.is_whole else "number"
            number = {"type": kind, "minimum": self.low, "maximum": self.high}
            ways += [number]
            ways += [{"type": "array", "items": number, "minItems": 1}] if self.is_list else []
            if not self.is_whole or (self.high or 0) >= 1e6:  # YAML takes 3e-4 and 1e6 for text
                ways += [{"type": "string", "pattern": "^[-+0-9._]+[eE][-+]?[0-9]+$"}]
        ways += [{"enum": list(self.choices)}] if self.choices else []
        ways += [{"type": "string", "pattern": ":"}] if self.can_import else []
        ways += [{"type": "null"}] if self.default is None else []
        for key in ("type", "anyOf", "items", "title"):
            schema.pop(key, None)
        schema.update(ways[0] if len(ways) == 1 else {"anyOf": ways})


def option(
    default: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    is_list: bool = False,
    can_import: bool = False,
    is_structural: bool = True,
    help: str,
) -> Any:
    """Declare one option: a range of numbers, a set of choices, either, or a flag.

    Args:
        default: the value where none is given; ``None`` means that there may be none.
        low: the lowest number; a whole one asks for whole numbers, ``0.0`` for any.
        high: the highest number.
        choices: words that are allowed.
        is_list: a list of such numbers is allowed as well as a single one.
        can_import: a text such as ``module:name`` is allowed too, for something of your own.
        is_structural: whether it changes actions or observations. A player that was trained with
            one value of an option that is not structural plays with any other.
        help: what it means.
    """
    allowed = _Allowed(default, low, high, choices, is_list, can_import, is_structural)
    return Field(default, description=help, json_schema_extra=allowed)


free_option = partial(option, is_structural=False)
"""Declare an option that changes neither actions nor observations."""


class _Untitled(GenerateJsonSchema):
    """Leaves out titles, which would only say the names of the fields again."""

    def field_title_should_be_set(self, _schema: Any) -> bool:
        return False


class Options(BaseModel):
    """Base of all options; subclasses add fields with :func:`option`."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", protected_namespaces=(), hide_input_in_errors=True
    )

    def __init__(self, /, **values: Any) -> None:
        """Refuse the first name that is unknown, or the first value out of its range."""
        try:
            super().__init__(**values)
        except ValidationError as error:
            # None of what pydantic says about it would help anybody who reads the one line. Who
            # misspells a name that must be there is helped by the name, not by "missing".
            found = error.errors()
            unknown = [each for each in found if each["type"] == "extra_forbidden"]
            raise self._error((unknown or found)[0]) from None

    def model_post_init(self, _context: Any) -> None:
        """Check what no single field can; called by pydantic."""
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check what no single option can; for subclasses, as in a dataclass."""

    @field_validator("*", mode="before")
    @classmethod
    def _check(cls, value: Any, info: ValidationInfo) -> Any:
        field = cls.model_fields[str(info.field_name)]
        allowed = field.json_schema_extra
        if not isinstance(allowed, _Allowed):
            return value
        value = allowed.read(value)
        if not allowed.accepts(value):
            raise OptionError(f"{info.field_name} must be {allowed}, not {_shown(value)}")
        is_single = allowed.is_list and not isinstance(value, tuple)
        return (value,) if is_single and get_origin(field.annotation) is tuple else value

    @classmethod
    def _error(cls, details: ErrorDetails) -> MasqueradeError:
        """The first complaint of pydantic in one line of ours, with the path to it."""
        raised = details.get("ctx", {}).get("error")
        places = [str(place) for place in details["loc"]]
        name = places[0] if places else ""
        if isinstance(raised, MasqueradeError):
            text = str(raised)
            if places and not text.startswith(f"{name} "):  # then it says where already
                text = ".".join(places) + (f".{text}" if _PLACE.match(text) else f": {text}")
            return type(raised)(text)
        if details["type"] == "missing":
            return OptionError(f"'{name}' is missing")
        if details["type"] == "extra_forbidden":
            return OptionError(f"unknown option '{name}': {nearest(name, cls.model_fields)}")
        kind = next((kind for key, kind in _KINDS.items() if key in details["type"]), "valid")
        return OptionError(f"{'.'.join(places)} must be {kind}, not {_shown(details['input'])}")

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> Self:
        """Make options from a mapping; an unknown name is answered with the nearest one."""
        return cls(**values)

    def replace(self, **changes: Any) -> Self:
        """The same options with some of them changed, checked again."""
        return type(self)(**{**dict(self), **changes})

    def to_dict(self) -> dict[str, Any]:
        """The values as plain JSON types."""
        return self.model_dump(mode="json")

    def as_record(self, dtype: np.dtype[Any], **more: Any) -> Any:
        """[1] a record for compiled code: its fields get the values of the options of their names.

        A choice is written as its number among the choices, and ``None`` as 0. Fields without an
        option are 0.

        >>> class TableOptions(Options):
        ...     dice: int = option(2, low=1, high=6, help="dice")
        ...     pace: str = option("slow", choices=("slow", "fast"), help="how quick")
        >>> fields = [("dice", np.int64), ("pace", np.int64), ("share", np.float64)]
        >>> TableOptions(pace="fast").as_record(np.dtype(fields), share=0.5)[0].item()
        (2, 1, 0.5)

        Args:
            dtype: of the record.
            more: fields that are no options, or that have another value than the option.
        """
        record = np.zeros(1, dtype)
        for name, field in type(self).model_fields.items():
            if name in (dtype.names or ()) and name not in more:
                value = getattr(self, name)
                choices = getattr(field.json_schema_extra, "choices", ())
                record[name] = choices.index(value) if value in choices else value or 0
        for name, value in more.items():
            record[name] = value
        return record

    def changed(self) -> dict[str, Any]:
        """The values that differ from the defaults, as plain JSON types."""
        defaults = type(self)().to_dict()
        return {name: value for name, value in self.to_dict().items() if value != defaults[name]}

    def misfit(self, trained: Mapping[str, Any]) -> str:
        """The structural options that a player was trained with and that are not these.

        >>> class TableOptions(Options):
        ...     dice: int = option(2, low=1, high=6, help="dice")
        ...     pays: int = option(1, low=1, high=9, is_structural=False, help="what a game pays")
        >>> TableOptions().misfit({"dice": 3, "pays": 9}), TableOptions().misfit({"dice": 2})
        ('dice=3', '')
        """
        return ", ".join(
            f"{name}={trained.get(name)!r}"
            for name, value in self.structural().items()
            if trained.get(name) != value
        )

    def structural(self) -> dict[str, Any]:
        """The part of ``to_dict`` that decides which actions and observations there are."""
        return {
            name: value
            for name, value in self.to_dict().items()
            if _is_structural(type(self).model_fields[name])
        }

    @classmethod
    def describe(cls) -> list[tuple[str, str, str, str]]:
        """Rows of ``(name, default, allowed values, meaning)``, for documentation."""
        return [
            (
                name,
                repr(field.default),
                str(field.json_schema_extra),
                f"{field.description}{'' if _is_structural(field) else ' (not structural)'}",
            )
            for name, field in cls.model_fields.items()
        ]

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema, by which an editor completes and checks a file."""
        return cls.model_json_schema(schema_generator=_Untitled)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe it by the first line of its docstring; examples are no help in an editor."""
        schema = handler.resolve_ref_schema(handler(core))
        schema["description"] = (inspect.getdoc(cls) or "").partition("\n")[0]
        return schema


def _shown(value: Any) -> str:
    """A value in a message, however long it is."""
    return one_line(repr(value), 80)


def _is_structural(field: FieldInfo) -> bool:
    return getattr(field.json_schema_extra, "is_structural", True)


def read_number(value: Any, is_whole: bool = True) -> Any:
    """Read a number that YAML takes for text, such as 3e-4 or 1e6; all else stays what it is.

    >>> read_number("1e6"), read_number("3e-4"), read_number("low")
    (1000000, 0.0003, 'low')
    """
    try:
        number = float(value) if isinstance(value, str) and "e" in value.lower() else None
    except ValueError:
        return value
    if number is None:
        return value
    return int(number) if is_whole and number.is_integer() else number
