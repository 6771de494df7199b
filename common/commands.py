"""What all commands share: bad input is answered with one line and exit code 2."""

from __future__ import annotations

import argparse
import difflib
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn, ParamSpec

from common.errors import MasqueradeError, OptionError, one_line

P = ParamSpec("P")

MAX_GAMES = 10**9
MAX_SEED = 2**63 - 1
MAX_WORKERS = 1024
"""More of these can only be a slip of the hand."""


# A door where a text names it, as "python train.py" or as the name of the program.
_DOOR = re.compile(r"(?:\bpython )?(?<![\w/.-])(train|evaluate|play)\.py\b")
_program: ContextVar[str] = ContextVar("program", default="")


def as_called(text: str) -> str:
    """Commands in a text as whoever reads it can call them: installed, there are no doors.

    >>> with calling_from("masquerade"):
    ...     as_called("play.py: python train.py --list says it")
    'masquerade play: masquerade train --list says it'
    >>> as_called("python train.py --list")
    'python train.py --list'
    """
    program = _program.get()
    return _DOOR.sub(rf"{program} \1", text) if program else text


@contextmanager
def calling_from(program: str) -> Iterator[None]:
    """In here ``train.py`` is called ``program train``, and so on."""
    token = _program.set(program)
    try:
        yield
    finally:
        _program.reset(token)


class Parser(argparse.ArgumentParser):
    """Refuses in one line what it cannot read; ``--help`` says the rest.

    >>> Parser(prog="x").parse_args(["--nothing"])
    Traceback (most recent call last):
    ...
    common.errors.OptionError: unrecognized arguments: --nothing (see --help)
    """

    def __init__(self, **arguments: Any) -> None:
        """Descriptions keep their lines."""
        arguments.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        for key in arguments.keys() & {"prog", "description", "epilog"}:
            arguments[key] = as_called(arguments[key] or "")
        super().__init__(**arguments)
        self._is_mixing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Options may stand between the words that have no option, in any order."""
        has_commands = any(isinstance(each, argparse._SubParsersAction) for each in self._actions)
        if has_commands or self._is_mixing:
            return super().parse_known_args(args, namespace)
        self._is_mixing = True  # which calls this method again, once for either kind
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_mixing = False

    def error(self, message: str) -> NoReturn:
        """Whoever runs the command answers, as to all bad input."""
        unknown = message.partition("unrecognized arguments: ")[2].partition(" ")[0]
        close = difflib.get_close_matches(unknown.partition("=")[0], self._words(), n=1)
        hint = f": did you mean {close[0]}?" if close else " (see --help)"
        lists = [each.option_strings[0] for each in self._actions if each.nargs in ("+", "*")
                 and each.option_strings]  # fmt: skip
        if "are required: " in message and lists:
            hint = f": they come before {' and '.join(lists)}"
        raise OptionError(f"{one_line(message)}{hint}")

    def _words(self) -> list[str]:
        """All options, also those of commands."""
        words = list(self._option_string_actions)
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                words += [word for parser in action.choices.values() for word in parser._words()]
        return words


def answers_in_one_line(
    program: str, stopped: str = "stopped"
) -> Callable[[Callable[P, int]], Callable[P, int]]:
    """Make a main function answer bad input with one line that begins with the ``program``.

    Args:
        program: how it is called.
        stopped: what is said after Ctrl-C.
    """

    def say(text: object) -> None:
        print(as_called(f"{program}: {text}"), file=sys.stderr)

    def decorate(main: Callable[P, int]) -> Callable[P, int]:
        @wraps(main)
        def careful(*args: P.args, **kwargs: P.kwargs) -> int:
            try:
                return main(*args, **kwargs)
            except MasqueradeError as error:
                say(error)
                return 2
            except BrokenPipeError:
                # The reader has seen enough, such as `head`; Python must not complain of it.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                return 0
            except OSError as error:
                say(words_of(error))
                return 2
            except MemoryError as error:
                reason = one_line(error) or "no memory is left"
                say(f"{reason}: choose less, or smaller pieces")
                return 2
            except KeyboardInterrupt:
                print(file=sys.stderr)
                say(stopped)
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


def at_least(low: float, most: float | None = None) -> Callable[[str], float]:
    """A number for ``argparse``, not below ``low`` nor above ``most``; whole if ``low`` is.

    >>> at_least(1)("3"), at_least(0.0, most=1.0)("0.5")
    (3, 0.5)
    """

    def number(text: str) -> float:
        value = int(text) if isinstance(low, int) else float(text)
        if not low <= value <= (math.inf if most is None else most):
            allowed = f"at least {low}" if most is None else f"from {low} to {most}"
            raise argparse.ArgumentTypeError(f"must be {allowed}, not {one_line(value, 40)}")
        return value

    return number


COUNT = at_least(1, most=MAX_GAMES)
SEED = at_least(0, most=MAX_SEED)
WORKERS = at_least(1, most=MAX_WORKERS)
AMOUNT = at_least(0.0, most=1e6)
"""Numbers of many commands: of games and the like, of seconds and the like."""


class Pairs(argparse.Action):
    """Collects pairs; of a name that is given twice only one value would count."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Add one pair."""
        before: list[tuple[str, Any]] = getattr(namespace, self.dest)
        if values[0] in dict(before):
            raise argparse.ArgumentError(
                self, f"{one_line(values[0], 80)} is given twice: keep one"
            )
        setattr(namespace, self.dest, [*before, values])


def add_option(parser: argparse.ArgumentParser) -> None:
    """Let a command take options of the game, as a list of pairs that a ``dict`` can be made of."""
    parser.add_argument(
        "--option",
        action=Pairs,
        type=parse_option,
        default=[],
        metavar="NAME=VALUE",
        help="an option of the game, such as --option num_players=3; may be repeated",
    )


def add_out(parser: argparse.ArgumentParser, help: str, metavar: str = "FILE") -> None:
    """Let a command write where the user says; what is not its own there stays without --force."""
    parser.add_argument("--out", type=Path, metavar=metavar, help=help)
    parser.add_argument(
        "--force", action="store_true", help="write over a file that this command has not written"
    )


def parse_option(text: str) -> tuple[str, Any]:
    """Read ``NAME=VALUE``, the value as YAML reads it.

    >>> parse_option("num_players=3")
    ('num_players', 3)
    """
    from common.files import parse_yaml  # not needed for --help

    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"takes NAME=VALUE, not {one_line(repr(text), 80)}")
    try:
        return name, parse_yaml(value, f"{name}: {one_line(repr(value), 80)} is no valid value")
    except MasqueradeError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


MARK, PLAIN = "MASQUERADE_REHEARSAL", "NUMBA_DISABLE_JIT"


def is_rehearsal() -> bool:
    """Whether this process ends as soon as names are known to be right."""
    return MARK in os.environ


def rehearse(words: Sequence[str]) -> None:
    """Run a command of ours without the compiler; if it refuses, so does this process.

    Args:
        words: what follows the interpreter, such as ``["-m", "benchmarks.coverage"]``.
    """
    if is_rehearsal() or PLAIN in os.environ or "envs.core.compiling" in sys.modules:
        return
    environment = {**os.environ, MARK: "1", PLAIN: "1"}
    code = subprocess.run([sys.executable, *words], env=environment, check=False).returncode
    if code:
        sys.exit(code)
