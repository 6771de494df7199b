"""A server of ``play.py`` in a process of its own, and a client that speaks its WebSocket."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from websockets.sync.client import ClientConnection, connect

PROJECT = Path(__file__).resolve().parents[2]
START = re.compile(r"http://[\w.-]+:(\d+)/")


class Server:
    """A running server; ``kill`` is what a power cut would do."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        """Start it on a free port and wait until it says where it is."""
        command = [sys.executable, str(PROJECT / "play.py"), "--no-open", "--port", "0"]
        self.process = subprocess.Popen(
            [*command, "--folder", str(folder), *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(PROJECT), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.folder = folder
        self.lines: list[str] = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            found = START.search(line)
            if found:
                self.port = int(found.group(1))
                self.address = line.split()[-1]
                return
        raise AssertionError("".join(self.lines))

    def kill(self) -> str:
        """Kill it at once; what it has written since it started."""
        self.process.kill()
        out, _ = self.process.communicate()
        return "".join(self.lines) + (out or "")


@contextlib.contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Server]:
    """A server for as long as a test needs it."""
    server = Server(folder, *arguments)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()


class Client:
    """A browser without a screen."""

    def __init__(self, port: int, **options: Any) -> None:
        """Connect."""
        # No limits of time: the other side may be busy.
        options = {"max_size": 2**24, "open_timeout": None, "ping_interval": None, **options}
        self._stack = contextlib.ExitStack()
        opened = connect(f"ws://localhost:{port}/ws", **options)
        self.socket: ClientConnection = self._stack.enter_context(opened)
        self._numbers: dict[str, int] = {}
        """The game that was seen last at each table: what is said is about that one."""

    def send(self, kind: str, **fields: Any) -> None:
        """Send a message."""
        if "table" in fields and kind != "join":
            fields = {"number": self._numbers.get(fields["table"], 0), **fields}
        self.socket.send(json.dumps({"type": kind, **fields}))

    def receive(self, *kinds: str) -> dict[str, Any]:
        """The next message of one of these kinds; others are passed over, errors are not."""
        while True:
            message: dict[str, Any] = json.loads(self.socket.recv())
            if message["type"] == "view":
                self._numbers[message["table"]] = message["number"]
            if message["type"] in kinds:
                return message
            assert message["type"] != "error", message

    def error(self) -> str:
        """What is wrong with the last message; every other answer is one too many."""
        while True:
            message = json.loads(self.socket.recv())
            if message["type"] not in ("advisers", "rules"):
                assert message["type"] == "error", message
                return str(message["text"])

    def create(self, game: str, **fields: Any) -> tuple[str, str]:
        """Make a table; its id and the key of the seats."""
        self.send("create", game=game, **{"pace": 0, **fields})
        joined = self.receive("joined")
        self.joined = joined
        return joined["table"], joined["key"]

    def view(self, seat: int | None = None) -> dict[str, Any]:
        """The next view in which ``seat`` (or whoever has it) is to move, or of the end."""
        while True:
            view = self.receive("view")
            own = view["seat"] if seat is None else seat
            if view["seat"] == own and view["to_move"] in (own, -2):
                return view

    def move(self, view: dict[str, Any], action: int) -> None:
        """Play an action in answer to a view."""
        self.send("move", table=view["table"], seat=view["seat"], turn=view["turn"], action=action)

    def play_out(self, seed: int) -> dict[str, Any]:
        """Play random moves to the end of the game; the last view."""
        rng = np.random.default_rng(seed)
        while True:
            view = self.view()
            if view["to_move"] == -2:
                return view
            assert "seed" not in view, "whoever knows the seed knows all dice and cards"
            choice = view["choices"][rng.integers(len(view["choices"]))]
            first = choice["action"]
            self.move(view, int(rng.integers(first, choice.get("last", first) + 1)))

    def close(self) -> None:
        """Go."""
        self._stack.close()
