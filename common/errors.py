"""The errors a user can meet, all of them a ``ValueError`` whose message names the fix."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MAX_LISTED = 12
MAX_LINE = 1400
"""Letters of a line that refuses something; paths can be long."""
MAX_REASON = 300
"""Letters of somebody else's message that are worth repeating."""


class MasqueradeError(ValueError):
    r"""Anything this project refuses, with one line that says what would be accepted.

    It is one line whatever names it repeats: they may come from anybody.

    >>> print(MasqueradeError("unknown game 'a\n\x1b[31mb'"))
    unknown game 'a ?[31mb'
    """

    def __init__(self, text: object = "") -> None:
        """Note the line."""
        super().__init__(one_line(text, MAX_LINE))


class OptionError(MasqueradeError):
    """A game option that does not exist, or whose value is out of its range."""


class FileError(MasqueradeError):
    """A file that cannot be read or written."""


class IllegalActionError(MasqueradeError):
    """An action that the rules do not allow in this position."""


class PositionError(MasqueradeError):
    """A position file that is damaged, of another version, or of another game."""


class UnknownNameError(MasqueradeError):
    """An id that is in no table."""


class GameContractError(AssertionError):
    """A game that breaks the contract every algorithm relies on (see ``check_game``)."""


def nearest(name: object, known: Iterable[str]) -> str:
    """Return a hint such as ``did you mean 'dice'?`` or the list of what is known.

    >>> nearest("dise", ["dice", "faces"])
    "did you mean 'dice'? (known: dice, faces)"
    """
    names = sorted(known)
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    listing = f"known: {', '.join(names[:MAX_LISTED])}{more}"
    close = difflib.get_close_matches(str(name), names, n=1)
    return f"did you mean '{close[0]}'? ({listing})" if close else listing


def one_line(text: object, most: int = MAX_REASON) -> str:
    r"""Somebody else's words in one line without control characters, cut to a sensible length.

    >>> one_line("bad\n\x1b[31m news", most=20)
    'bad ?[31m news'
    >>> one_line("x" * 50, most=20)
    'xxxxxxxxxxxxxxxx ...'
    """
    try:
        # Cut before and after: there may be megabytes of it.
        words = str(text)[: 4 * most]
    except Exception as error:  # a message that cannot even be said
        words = f"a {type(text).__name__} whose text raises {type(error).__name__}"
    words = " ".join("".join(c if c.isprintable() or c.isspace() else "?" for c in words).split())
    return words if len(words) <= most else f"{words[: most - 4]} ..."


def reason_of(error: BaseException) -> str:
    """What somebody else's code raised, in one line.

    >>> reason_of(KeyError("dice"))
    "KeyError: 'dice'"
    """
    return f"{type(error).__name__}: {one_line(error)}"
