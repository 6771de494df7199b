"""A line on the terminal: how far, how fast, how long still, how good now.

By hand rather than by tqdm: where there is no terminal, a line of a log every half minute is
wanted, which tqdm would write over itself, and a run that is resumed counts its rate from there.
"""

from __future__ import annotations

import shutil
import sys
import time

__all__ = ["Progress", "duration"]

BAR = 20
LOG_EVERY = 30.0  # seconds between two lines of a log


class Progress:
    """Shown as one line on a terminal, and now and then as a line of a log."""

    def __init__(self, total: int, unit: str, is_shown: bool = True, done: int = 0) -> None:
        """``done``: what was done before this run of the program."""
        self._total, self._unit, self._is_shown, self._first = total, unit, is_shown, done
        self._is_terminal = sys.stderr.isatty()
        self._started = time.monotonic()
        self._last = -LOG_EVERY  # the first forecast comes at once

    def show(self, done: int, headline: str) -> None:
        """So much is done."""
        now = time.monotonic()
        if not self._is_shown or (not self._is_terminal and now - self._last < LOG_EVERY):
            return
        self._last = now
        rate = (done - self._first) / max(now - self._started, 1e-9)
        left = duration((self._total - done) / rate) if rate else "?"
        bar = "#" * int(BAR * done / self._total)
        text = (
            f"[{bar:.<{BAR}}] {done:,} of {self._total:,} {self._unit}, {rate:,.0f}/s, {left} left"
        )
        text += f"; {headline}" if headline else ""
        if not self._is_terminal:
            print(text, file=sys.stderr, flush=True)
            return
        # The last column stays free: some terminals begin a new line when it is filled.
        width = shutil.get_terminal_size().columns - 1
        if len(text) > width:
            text = text[: max(0, width - 1)] + "…"
        print(f"\r{text:<{width}}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """End the line."""
        if self._is_shown and self._is_terminal:
            print(file=sys.stderr)


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(42), duration(150), duration(7300)
    ('42 s', '2 min 30 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
