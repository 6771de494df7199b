"""What all commands share: bad input is answered with one line and exit code 2."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from envs.core.errors import MasqueradeError, one_line

__all__ = ["answers_in_one_line", "at_least", "words_of"]

P = ParamSpec("P")


def answers_in_one_line(
    program: str, stopped: str = "stopped"
) -> Callable[[Callable[P, int]], Callable[P, int]]:
    """Make a main function answer bad input with one line that begins with the ``program``.

    Args:
        program: how it is called.
        stopped: what is said after Ctrl-C.
    """

    def decorate(main: Callable[P, int]) -> Callable[P, int]:
        @wraps(main)
        def careful(*args: P.args, **kwargs: P.kwargs) -> int:
            try:
                return main(*args, **kwargs)
            except MasqueradeError as error:
                print(f"{program}: {error}", file=sys.stderr)
                return 2
            except BrokenPipeError:
                # The reader has seen enough, such as `head`; Python must not complain of it.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                return 0
            except OSError as error:
                print(f"{program}: {words_of(error)}", file=sys.stderr)
                return 2
            except KeyboardInterrupt:
                print(f"\n{program}: {stopped}", file=sys.stderr)
                return 130

        return careful

    return decorate


def words_of(error: OSError) -> str:
    """What the machine has against a file, in one line.

    >>> words_of(OSError(28, "No space left on device", "runs/x"))
    'runs/x: No space left on device: make room there, or choose another place'
    """
    name = one_line(error.filename or "a file")
    return f"{name}: {error.strerror or one_line(error)}: make room there, or choose another place"


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
