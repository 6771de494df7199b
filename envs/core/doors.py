"""What all commands share."""

from __future__ import annotations

from envs.core.errors import one_line

__all__ = ["words_of"]


def words_of(error: OSError) -> str:
    """What the machine has against a file, in one line.

    >>> words_of(OSError(28, "No space left on device", "runs/x"))
    'runs/x: No space left on device: make room there, or choose another place'
    """
    name = one_line(error.filename or "a file")
    return f"{name}: {error.strerror or one_line(error)}: make room there, or choose another place"
