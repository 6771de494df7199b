"""The errors a user can meet, all of them a ``ValueError`` whose message names the fix."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "FileError",
    "GameContractError",
    "IllegalActionError",
    "MasqueradeError",
    "OptionError",
    "PositionError",
    "UnknownNameError",
    "nearest",
]

MAX_LISTED = 12


class MasqueradeError(ValueError):
    """Anything this project refuses, with one line that says what would be accepted."""


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
