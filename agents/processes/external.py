"""A player that is a program of its own, in any language: JSON, one object a line.

``docs/external_players.md`` has the protocol. The program is told what its seat may know (the view
of the player to move) and nothing else.

It is spoken to in lines: one line in, one line out, within a time. No threads: one loop writes the
question, reads the answer and empties the program's error output, so that no pipe can fill up and
block. Linux and macOS.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt

from agents.base import Actions, Views
from agents.processes.outside import NoAnswer, OutsideAgent, late
from common.errors import OptionError
from envs.core.game import Game
from envs.core.rng import next_word

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
        said = b""
        with contextlib.suppress(BlockingIOError):
            said = os.read(self._errors.fileno(), CHUNK)
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


PROTOCOL = 1
DEFAULT_LIMIT = 10.0
MAX_ROWS = 1024
WANTS = ("observation", "tokens", "text", "words")
GOODBYE = json.dumps({"type": "goodbye"})

Row = dict[str, Any]


class ExternalAgent(OutsideAgent):
    """Asks a program for its moves.

    Args:
        game: the game to play.
        path: the program's file; Python runs it if it ends with ``.py``.
        command: the program and its arguments, instead of a path; ``python`` is this Python.
        time_per_move: seconds it may think about a move. It is told so. Without it, 10 seconds.
    """

    code_params = ("path", "command")

    def __init__(
        self,
        game: Game,
        path: str = "",
        command: Sequence[str] = (),
        time_per_move: float | None = None,
    ) -> None:
        """Start the program, so that one that does not work is known at once."""
        super().__init__(game, DEFAULT_LIMIT if time_per_move is None else time_per_move, 1)
        self.time_per_move = time_per_move
        self.wants: tuple[str, ...] = ("observation",)
        self._command = _read_command(path, command)
        self._stop: weakref.finalize[[str], ExternalAgent] | None = None
        self._num_questions = 0
        try:
            self._begin()
        except NoAnswer as failure:
            self.end(has_failed=True)
            label = path or " ".join(command)
            raise OptionError(f"external player '{label}' {failure}") from failure

    def start(self) -> None:
        """Start the program and exchange hellos."""
        try:
            self._process = LineProcess(self._command, self.clock)
        except OSError as error:
            raise NoAnswer(f"cannot be started: {error.strerror}") from error
        self._stop = weakref.finalize(self, self._process.end, GOODBYE)
        try:
            answer = self._exchange(self._hello(), self.start_limit)
        except TimeoutError:
            raise NoAnswer(f"did not answer hello within {self.start_limit:g} s") from None
        if answer.get("protocol") != PROTOCOL:
            raise NoAnswer(
                f"speaks protocol {answer.get('protocol')!r}: this arena speaks {PROTOCOL}"
            )
        wants = answer.get("wants", ["observation"])
        if not isinstance(wants, list) or not all(want in WANTS for want in wants):
            raise NoAnswer(f"wants {wants!r}: choose from {', '.join(WANTS)}")
        max_rows = answer.get("max_rows", 1)
        if type(max_rows) is not int or not 1 <= max_rows <= MAX_ROWS:
            raise NoAnswer(f"wants max_rows {max_rows!r}: choose from 1 to {MAX_ROWS}")
        self.wants = tuple(wants)
        self.wants_tokens = "tokens" in wants
        self.max_rows = max_rows

    def stop(self, has_failed: bool) -> None:
        """End the program, with a goodbye if there is somebody to hear it."""
        if self._stop is not None and self._stop.detach():
            self._process.end("" if has_failed else GOODBYE)

    def _hello(self) -> Row:
        game, facts = self.game, self.game.facts
        fields = [{"name": f.name, "size": f.size, "meaning": f.meaning} for f in game.fields]
        return {
            "type": "hello",
            "protocol": PROTOCOL,
            "game": game.id,
            "options": game.options.to_dict(),
            "num_players": facts.num_players,
            "num_actions": facts.num_actions,
            "roles": [seat.role for seat in facts.seats],
            "min_return": facts.min_return,
            "max_return": facts.max_return,
            "observation": fields,
            "time_per_move": self.limit,
        }

    def prepare(self, views: Views) -> list[Row]:
        """One object for each row, of nothing but what its player may know."""
        # 53 bits: what every language's numbers can hold.
        seeds = [int(next_word(rng) >> np.uint64(11)) for rng in views.rngs]
        rows: list[Row] = [
            {
                "seat": int(views.seats[i]),
                "legal": np.flatnonzero(views.masks[i]).tolist(),
                "key": f"{int(views.keys[i]):016x}",
                "seed": seeds[i],
                "game": f"{int(views.game_ids[i]):016x}",
            }
            for i in range(len(views))
        ]
        if "observation" in self.wants:
            # Shares such as 0.2 are sent as such, not as the nearest 32-bit number.
            observations = views.observations.astype(np.float64).round(6).tolist()
            for row, observation in zip(rows, observations, strict=True):
                row["observation"] = observation
        if "tokens" in self.wants:
            for i, row in enumerate(rows):
                row["tokens"] = [f"{token & 0xFFFFFFFFFFFFFFFF:x}" for token in views.tokens(i)]
        if "text" in self.wants or "words" in self.wants:
            for row, world in zip(rows, views.worlds(), strict=True):
                if "text" in self.wants:
                    row["text"] = self.game.render(world, row["seat"])
                if "words" in self.wants:
                    row["words"] = [self.game.action_text(world, a) for a in row["legal"]]
        return rows

    def ask(self, questions: list[Row], rows: npt.NDArray[np.int64], seconds: float) -> Actions:
        """Send rows and read as many actions."""
        self._num_questions += 1
        asked = [questions[row] for row in rows]
        question = {"type": "act", "id": self._num_questions, "rows": asked}
        try:
            answer = self._exchange(question, seconds)
        except TimeoutError:
            raise late(self.limit) from None
        actions = answer.get("actions")
        # A number that does not fit is the answer to something else, or an unasked one.
        if answer.get("id") != self._num_questions:
            raise NoAnswer("answered with another id than the question's")
        if not isinstance(actions, list) or not all(type(action) is int for action in actions):
            raise NoAnswer("answered without a list of whole numbers 'actions'")
        if len(actions) != len(rows):
            raise NoAnswer(f"answered {len(actions)} actions where {len(rows)} were asked for")
        # Whatever is out of range is illegal, also what would not fit an int64.
        return np.array([action if 0 <= action < 2**31 else -1 for action in actions])

    def _exchange(self, question: Row, seconds: float) -> Row:
        line = self._process.ask(json.dumps(question, separators=(",", ":")), seconds)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            raise NoAnswer(f"answered no JSON: {line[:80]!r}") from None
        if not isinstance(answer, dict):
            raise NoAnswer(f"answered no JSON object: {line[:80]!r}")
        return answer


def _read_command(path: str, command: Sequence[str]) -> list[str]:
    """The program and its arguments as the operating system wants them."""
    if isinstance(command, str) or bool(path) == bool(command):
        raise OptionError(
            "external takes a path or a command, such as external:./player.py or "
            "{command: [python, player.py]}"
        )
    if path and not Path(path).is_file():
        raise OptionError(f"external player '{path}' cannot be found: give the path of a program")
    if path:
        # Without a folder in its name a program would be looked for elsewhere.
        program = str(Path(path).absolute())
        return [sys.executable, program] if path.endswith(".py") else [program]
    words = [str(word) for word in command]
    return [sys.executable, *words[1:]] if words[0] in ("python", "python3") else words
