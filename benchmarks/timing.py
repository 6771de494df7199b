"""Clocks, numbers and progress: the small things that measuring needs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TextIO

__all__ = ["CLOCKS", "Chunk", "Clock", "Progress", "amount", "timed_rate"]

Chunk = Callable[[], float]
"""Does a small piece of work and says how much it was."""
Clock = Callable[[], float]

CLOCKS: Mapping[str, Clock] = MappingProxyType(
    {"wall": time.perf_counter, "cpu": time.process_time}
)

BAR = 24


def timed_rate(chunk: Chunk, seconds: float, clock: Clock) -> float:
    """Work for about so many seconds: how much was done in each of them."""
    done = 0.0
    started = clock()
    while True:
        done += chunk()
        elapsed = clock() - started
        if elapsed >= seconds:
            return done / elapsed


def amount(value: float) -> str:
    """A number with three digits or more.

    >>> amount(1234567.8), amount(12.345)
    ('1,234,568', '12.3')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


class Progress:
    """How far a run is, on standard error: a bar on a terminal, now and then a line in a log file.

    Args:
        num_steps: measurements to come.
        out: where to write.
    """

    LOG_EVERY = 10.0  # seconds between two lines where there is no terminal

    def __init__(self, num_steps: int, out: TextIO | None = None) -> None:
        """Nothing is written before the first step."""
        self._num_steps = num_steps
        self._num_done = 0
        self._out = sys.stderr if out is None else out
        self._is_terminal = self._out.isatty()
        self._started = 0.0
        self._last_line = -self.LOG_EVERY

    def say(self, text: str) -> None:
        """Show what is being prepared."""
        self._show(text)

    def advance(self, text: str) -> None:
        """Show which measurement begins and about how long the rest will take."""
        now = time.perf_counter()
        if self._num_done == 0:
            self._started = now
        filled = BAR * self._num_done // self._num_steps
        left = ""
        if self._num_done:
            seconds = (now - self._started) / self._num_done * (self._num_steps - self._num_done)
            left = f", about {seconds:.0f} s left"
        self._num_done += 1
        self._show(f"[{'#' * filled}{'.' * (BAR - filled)}] {text}{left}")

    def close(self) -> None:
        """Wipe the bar."""
        if self._is_terminal:
            self._out.write("\r\x1b[K")
            self._out.flush()

    def _show(self, text: str) -> None:
        if self._is_terminal:
            self._out.write(f"\r\x1b[K{text}")
        elif time.perf_counter() - self._last_line >= self.LOG_EVERY:
            self._last_line = time.perf_counter()
            self._out.write(f"{text}\n")
        self._out.flush()
