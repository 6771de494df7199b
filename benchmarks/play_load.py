"""Many tables at once on this machine: how soon an answer comes, and what a kill costs.

    python -m benchmarks.play_load                      # 200 tables, each with a person who thinks
    python -m benchmarks.play_load --tables 20 --seconds 5 --game kuhn_v0

It starts ``play.py`` in a process of its own and plays at every table over the WebSocket, as people
do: a move, a pause, a move. In the middle the server is killed (SIGKILL) and started again, and
every player comes back to the table and compares it with what it saw last. What is measured:

* the time from a move to the first message that shows it, median and 95th percentile;
* moves that were lost (never shown), doubled (shown twice) or refused: each must be 0;
* tables that were not as before the kill: must be 0;
* the memory of the server at the start and at the end.

The answers of agents are not awaited: they take their time on purpose (``pace``).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from common.commands import AMOUNT, Parser, answers_in_one_line, at_least
from common.files import write_json

PROJECT = Path(__file__).resolve().parents[1]
OUT = Path("runs") / "benchmarks" / "play_load.json"
GAMES = ["liars_dice_v0", "no_thanks_v0", "leduc_v0", "kuhn_v0"]
TARGET = 0.05
"""Seconds within which half of all answers should come."""
OVER = -2


class LoadServer:
    """``play.py`` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        """Start it and wait until it says where it is."""
        command = [sys.executable, str(PROJECT / "play.py"), "--no-open", "--port", "0"]
        self.process = subprocess.Popen(
            [*command, "--folder", str(folder), "--pace", "400"],
            env={**os.environ, "PYTHONPATH": str(PROJECT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if "http://" in line:
                self.port = int(line.rpartition(":")[2].strip("/\n"))
                return
        raise SystemExit("play.py did not start")

    def memory(self) -> float:
        """Megabytes in use."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        kilobytes = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(kilobytes.split()[1]) / 1024

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()


class Person:
    """Somebody at a table who plays random moves and thinks for a while before each."""

    def __init__(self, number: int, game: str, think: float) -> None:
        """Nothing is known yet."""
        self.rng = np.random.default_rng(number)
        self.game = game
        self.think = think
        self.table = self.key = ""
        self.view: dict[str, Any] = {}
        self.delays: list[float] = []
        self.num_moves = self.num_lost = self.num_refused = self.num_changed = self.num_games = 0

    async def sit(self, port: int) -> ClientConnection:
        """Make a table, or come back to it and compare it with what was seen last."""
        socket = await connect(f"ws://localhost:{port}/ws", max_size=2**24)
        if not self.table:
            await self._say(socket, "create", game=self.game)
            joined = await self._hear(socket, "joined")
            self.table, self.key = joined["table"], joined["key"]
            self.view = await self._hear(socket, "view")
            return socket
        before = self.view
        await self._say(socket, "join", table=self.table, key=self.key)
        self.view = await self._hear(socket, "view")
        # Agents may have moved on before the kill: what was there then must still be there. If one
        # of their moves ended the game, the log has since been turned up and cannot be compared.
        old, new = before["log"], self.view["log"]
        is_turned_up = self.view["to_move"] == OVER != before["to_move"]
        is_same_game = self.view["number"] == before["number"]
        if is_same_game and not is_turned_up and new[: len(old) - 1] != old[:-1]:
            self.num_changed += 1
        return socket

    async def play(self, socket: ClientConnection, until: float) -> None:
        """Play until the time is over, or the server is gone."""
        try:
            while time.monotonic() < until:
                await self._step(socket)
        except ConnectionClosed:
            pass

    async def _step(self, socket: ClientConnection) -> None:
        view = self.view
        if view["to_move"] == OVER:
            self.num_games += 1
            about = {"table": self.table, "number": view["number"], "seat": view["seat"]}
            await self._say(socket, "again", **about)
            while self.view["number"] == view["number"]:
                self.view = await self._hear(socket, "view")
            return
        if view["to_move"] != view["seat"]:
            self.view = await self._hear(socket, "view")
            return
        await asyncio.sleep(self.think * (0.5 + self.rng.random()))
        choice = view["choices"][self.rng.integers(len(view["choices"]))]
        message = {name: view[name] for name in ("table", "number", "seat", "turn")}
        self.num_moves += 1
        started = time.perf_counter()
        await self._say(socket, "move", **message, action=choice["action"])
        self.view = await self._hear(socket, "view")
        self.delays.append(time.perf_counter() - started)
        own = [line for line in self.view["log"] if line[0] == view["seat"]]
        earlier = [line for line in view["log"] if line[0] == view["seat"]]
        if self.view["to_move"] != OVER and len(own) != len(earlier) + 1:
            self.num_lost += 1

    async def _say(self, socket: ClientConnection, kind: str, **fields: Any) -> None:
        await socket.send(json.dumps({"type": kind, **fields}))

    async def _hear(self, socket: ClientConnection, kind: str) -> dict[str, Any]:
        while True:
            message: dict[str, Any] = json.loads(await socket.recv())
            self.num_refused += message["type"] == "error"
            if message["type"] == kind:
                return message


async def measure(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Play, kill, come back, play on."""
    games = islice(cycle(arguments.game), arguments.tables)
    people = [Person(number, game, arguments.think) for number, game in enumerate(games)]
    memory = []
    for part in range(2):
        server = LoadServer(folder)
        sockets = [await person.sit(server.port) for person in people]
        memory.append(server.memory())
        until = time.monotonic() + arguments.seconds
        playing = [
            asyncio.create_task(person.play(socket, until))
            for person, socket in zip(people, sockets, strict=True)
        ]
        if part == 0:
            await asyncio.sleep(arguments.seconds)
            server.kill()  # in the middle of everything
        await asyncio.gather(*playing)
        if part == 1:
            memory.append(server.memory())
            await asyncio.gather(*(socket.close() for socket in sockets))
            server.kill()
    delays = np.concatenate([person.delays for person in people])
    return {
        "tables": arguments.tables,
        "moves": sum(person.num_moves for person in people),
        "games": sum(person.num_games for person in people),
        "median_ms": 1000 * float(np.median(delays)),
        "p95_ms": 1000 * float(np.quantile(delays, 0.95)),
        "target_ms": 1000 * TARGET,
        "lost_or_doubled": sum(person.num_lost for person in people),
        "refused": sum(person.num_refused for person in people),
        "changed_by_the_kill": sum(person.num_changed for person in people),
        "memory_mb": [round(value, 1) for value in memory],
    }


@answers_in_one_line("play_load")
def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, write, and say by the exit code whether the target was met."""
    parser = Parser(prog="python -m benchmarks.play_load", description=__doc__.partition("\n")[0])
    add, tables = parser.add_argument, at_least(1, most=100_000)
    add("--tables", type=tables, default=200, help="tables at once (default 200)")
    add("--seconds", type=AMOUNT, default=20, help="before and after the kill")
    add("--think", type=AMOUNT, default=3.0, help="mean seconds between moves")
    add("--game", nargs="+", default=GAMES, help="games (default: four that are quick)")
    add("--check", action="store_true", help="exit 1 if the target is missed")
    arguments = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as name:
        found = asyncio.run(measure(arguments, Path(name)))
    for key, value in found.items():
        print(f"{key:22} {value if not isinstance(value, float) else round(value, 1)}")
    write_json(OUT, found)
    faults = found["lost_or_doubled"] + found["refused"] + found["changed_by_the_kill"]
    is_met = faults == 0 and found["median_ms"] <= 1000 * TARGET
    if arguments.check and not is_met:
        print("missed: moves lost, or answers later than they should come", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
