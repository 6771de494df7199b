"""A line about work that takes long: how far, how fast, how long still, how good now.

By hand rather than by tqdm: where there is no terminal, a line of a log every half minute is
wanted, which tqdm would write over itself, and a run that is resumed counts its rate from there.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time

BAR = 20
LOG_EVERY = 30.0  # seconds between two lines of a log
SOON = 1.0  # when the first forecast follows a line that says only what will be done
FRAME = 0.1  # between two lines on a terminal


class Progress:
    """Shown as one line on a terminal, and now and then as a line of a log.

    Args:
        total: how much there is to do.
        unit: of what.
        is_shown: whether to show anything.
        done: what was done before this run of the program.
        after: seconds before the first line of a log.
        has_pulse: show that work goes on also while no piece of it is done; it must be closed.
    """

    def __init__(
        self,
        total: int,
        unit: str,
        is_shown: bool = True,
        done: int = 0,
        after: float = 0.0,
        has_pulse: bool = False,
    ) -> None:
        """Nothing is shown before the first call of ``show``."""
        self.total = total
        self._unit, self._is_shown, self._first, self._done = unit, is_shown, done, done
        self._is_terminal = sys.stderr.isatty()
        self._started = time.monotonic()
        self._next = self._started + after * (not self._is_terminal)
        self._heard = self._started
        self._lock, self._is_over = threading.Lock(), threading.Event()
        if has_pulse and is_shown:
            threading.Thread(target=self._beat, daemon=True).start()

    def add(self, number: int) -> None:
        """So much more is done."""
        self.show(self._done + number)

    def show(self, done: int, headline: str = "") -> None:
        """So much is done."""
        self._done, self._heard = done, time.monotonic()
        now = self._heard
        is_last = self._is_terminal and done >= self.total
        if not self._is_shown or (now < self._next and not is_last):
            return
        pause = FRAME if self._is_terminal else LOG_EVERY if done > self._first else SOON
        self._next = now + pause
        self._print(self._line(done, now - self._started) + (f"; {headline}" if headline else ""))

    def _print(self, text: str) -> None:
        # The last column stays free: some terminals begin a new line when it is filled.
        width = shutil.get_terminal_size().columns - 1
        if self._is_terminal and len(text) > width:
            text = text[: max(0, width - 1)] + "…"
        with self._lock:
            if self._is_terminal:
                print(f"\r{text:<{width}}", end="", file=sys.stderr, flush=True)
            else:
                print(text, file=sys.stderr, flush=True)

    def _beat(self) -> None:
        """Say now and then that a piece takes long; nobody else may have anything to say."""
        while not self._is_over.wait(LOG_EVERY):
            quiet = time.monotonic() - self._heard
            if quiet >= LOG_EVERY:
                text = f"{self._done:,} of {self.total:,} {self._unit}"
                self._print(f"{text}; the next have taken {duration(quiet)} so far")

    def _line(self, done: int, seconds: float) -> str:
        bar = "#" * int(BAR * done / max(self.total, 1))
        text = f"[{bar:.<{BAR}}] {done:,} of {self.total:,} {self._unit}"
        if done == self._first:  # nothing to forecast from
            return text
        rate = (done - self._first) / max(seconds, 1e-9)
        shown = f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
        return f"{text}, {shown}/s, {duration((self.total - done) / rate)} left"

    def close(self) -> None:
        """End the line."""
        self._is_over.set()
        if self._is_shown and self._is_terminal:
            print(file=sys.stderr)


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(42), duration(150), duration(7300), duration(1e7)
    ('42 s', '2 min 30 s', '2 h 1 min', '116 days')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole >= 10 * 86_400:
        return f"{round(whole / 86_400):,} days"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
