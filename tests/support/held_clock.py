"""A clock for players in processes: time passes when one of them says that it will not answer.

So a limit is passed by who hangs, and by nobody else, however busy the machine is.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

__all__ = ["FOLDER", "HeldClock", "hang", "let_time_pass"]

FOLDER = "MASQUERADE_TESTS_HANGING"
"""The environment variable that names the folder where who hangs leaves a file."""


class HeldClock:
    """Seconds since the start of the tests: a million for every file in the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self) -> float:
        return 1e6 * len(os.listdir(self.folder))


def let_time_pass() -> None:
    """What a player calls, in its own process, before it hangs."""
    Path(os.environ[FOLDER], f"{os.getpid()} {time.monotonic_ns()}").touch()


def hang() -> None:
    """Let the time pass for ever."""
    while True:
        let_time_pass()
        time.sleep(0.05)
