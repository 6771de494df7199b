"""The parsers of commands, caught before they read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from common.commands import Parser

Main = Callable[[list[str]], int]
PROJECT = Path(__file__).resolve().parents[2]
ROOMS = ("common", "envs", "agents", "arena", "training", "play", "experiments", "benchmarks")


class Seen(Exception):
    """The parser of a command, as it was when it was asked to read."""


def parser_of(main: Main) -> Parser:
    """The parser that a main function makes."""

    def stop(parser: Parser, *_: Any) -> None:
        raise Seen(parser)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Parser, "parse_args", stop)
        with pytest.raises(Seen) as seen:
            main([])
    parser: Parser = seen.value.args[0]
    return parser


def sources() -> Iterator[Path]:
    yield from (PROJECT / f"{name}.py" for name in ("train", "evaluate", "play"))
    for room in ROOMS:
        yield from sorted((PROJECT / room).rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts)
