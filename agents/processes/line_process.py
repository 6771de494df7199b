"""A program that is spoken to in lines: one line in, one line out, within a time.

No threads: one loop writes the question, reads the answer and empties the program's error output,
so that no pipe can fill up and block. Linux and macOS.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import IO, cast

from agents.processes.outside import NoAnswer

__all__ = ["LineProcess"]

CHUNK = 65536
MAX_LINE = 4_000_000
MAX_ERROR = 4000
MAX_LAST_WORDS = 100
"""Pieces of its errors that are read after its end."""
SECONDS_TO_LEAVE = 0.5
SECONDS_TO_END = 5.0
"""From the end of its output to its own, on a machine that has other work too."""
POLL_EVERY = 0.5


class LineProcess:
    """A running program with pipes to its input, output and errors.

    >>> process = LineProcess(["cat"])
    >>> process.ask("hello", seconds=600.0)
    'hello'
    >>> process.end()
    """

    def __init__(self, command: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        """Start the program in a process group of its own, so that its children end with it."""
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            # A Python program need not remember to flush.
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        pipes = self._process.stdin, self._process.stdout, self._process.stderr
        self._input, self._output, self._errors = (cast(IO[bytes], pipe) for pipe in pipes)
        for pipe in (self._input, self._output, self._errors):
            os.set_blocking(pipe.fileno(), False)
        self._received = b""
        self._said = b""
        self._clock = clock

    def ask(self, line: str, seconds: float) -> str:
        """Write a line and wait for the next one, at most so long (``TimeoutError``)."""
        deadline = self._clock() + seconds
        outgoing = memoryview(line.encode() + b"\n")
        with selectors.DefaultSelector() as selector:
            selector.register(self._input, selectors.EVENT_WRITE)
            selector.register(self._output, selectors.EVENT_READ)
            selector.register(self._errors, selectors.EVENT_READ)
            while b"\n" not in self._received:
                left = deadline - self._clock()
                for key, _ in selector.select(max(left, 0.0)):
                    if key.fileobj is self._input:
                        outgoing = outgoing[self._write(outgoing) :]
                        if not outgoing:
                            selector.unregister(self._input)
                    elif key.fileobj is self._output:
                        self._read_output()
                    elif not self._read_errors():
                        selector.unregister(self._errors)
                if left <= 0 and b"\n" not in self._received:
                    # What it did in time counts even if this machine noticed late; a child of it
                    # may hold its pipes. Who never stops talking has not answered.
                    raise TimeoutError if self._process.poll() is None else self._ended()
        answer, _, self._received = self._received.partition(b"\n")
        return answer.decode(errors="replace")

    def _write(self, outgoing: memoryview) -> int:
        try:
            return os.write(self._input.fileno(), outgoing[:CHUNK])
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            return len(outgoing)  # it has closed its input; its output will tell why

    def _read_output(self) -> None:
        received = os.read(self._output.fileno(), CHUNK)
        if not received:
            raise self._ended()
        self._received += received
        if len(self._received) > MAX_LINE and b"\n" not in self._received:
            raise NoAnswer(f"wrote more than {MAX_LINE:,} bytes without a line's end")

    def _read_errors(self) -> bool:
        said = _read_now(self._errors)
        self._said = (self._said + said)[-MAX_ERROR:]
        return bool(said)

    def _ended(self) -> NoAnswer:
        """Why the program has closed its output, in its own last words."""
        deadline = self._clock() + SECONDS_TO_END
        while (code := self._process.poll()) is None:
            left = deadline - self._clock()
            if left <= 0:
                return NoAnswer("closed its output")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(min(left, POLL_EVERY))
        for _ in range(MAX_LAST_WORDS):  # a child of it may go on for ever
            if not self._read_errors():
                break
        lines = self._said.decode(errors="replace").strip().splitlines()
        # Results travel: they name no folder of this machine.
        words = f": {lines[-1][:200]}".replace(f"{os.getcwd()}{os.sep}", "") if lines else ""
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return NoAnswer(f"{how}{words}")

    def end(self, last_line: str = "") -> None:
        """Say goodbye, wait a moment, and end the program and all its children."""
        if self._process.poll() is None and last_line:
            self._write(memoryview(last_line.encode() + b"\n"))
        self._input.close()
        if last_line:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(SECONDS_TO_LEAVE)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._output.close()
        self._errors.close()


def _read_now(pipe: IO[bytes]) -> bytes:
    try:
        return os.read(pipe.fileno(), CHUNK)
    except BlockingIOError:
        return b""
