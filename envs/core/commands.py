"""What small programs (``python -m ...``) share: bad input is answered with one line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import wraps

from envs.core.errors import MasqueradeError

__all__ = ["answers_in_one_line", "at_least"]

Main = Callable[..., int]


def answers_in_one_line(main: Main) -> Main:
    """Make a main function answer bad input with one line and exit code 2."""

    @wraps(main)
    def careful(argv: Sequence[str] | None = None) -> int:
        program = main.__globals__["__file__"].rpartition("/")[2].removesuffix(".py")
        try:
            return main(argv)
        except MasqueradeError as error:
            print(f"{program}: {error}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            print(f"\n{program}: stopped", file=sys.stderr)
            return 130

    return careful


def at_least(low: int) -> Callable[[str], int]:
    """A whole number for ``argparse``, not below ``low``.

    >>> at_least(1)("3")
    3
    """

    def number(text: str) -> int:
        value = int(text)
        if value < low:
            raise argparse.ArgumentTypeError(f"must be at least {low}, not {value}")
        return value

    return number
