"""The first games on a machine: compiled beside the server, so that the page stays usable.

Whoever waits for a game is told how far it is. ``python -m play.compiling GAME ...`` is the process
that compiles: it plays a game of each at a table, the most wanted first, and says when it is ready.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

from agents import AGENTS
from envs import GAMES
from envs.core.compiling import JIT_DISABLED, sources_of
from envs.core.warming import has_compiled_code, is_compiled
from play.agents import Thinkers
from play.catalogue import Catalogue
from play.messages import Compiling, Told
from play.table import Table, TableSeat

TABLE = Path(__file__).resolve().with_name("table.py")
ROOT = TABLE.parents[1]
EVERY = 0.5
"""Seconds between two looks at how far the compiler is."""


class Compiler:
    """Which games are compiled.

    Args:
        catalogue: the games, and who plays them first.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        """Nothing is compiled by it yet."""
        self._catalogue = catalogue
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._ready: set[str] = set()
        self.cold: list[str] = []
        """Games that are known not to be ready yet, the most wanted first."""

    def progress(self, game_id: str) -> tuple[int, int]:
        """How many of the files that a first game needs are compiled, and how many there are."""
        files = _files(game_id, self._catalogue.card(game_id).against)
        return sum(is_compiled(path) for path in files), len(files)

    def is_cold(self, game_id: str) -> bool:
        """Whether a first game would wait for the compiler."""
        with self._lock:
            if JIT_DISABLED or game_id in self._ready or game_id not in GAMES:
                return False
            if game_id not in self.cold:
                done, total = self.progress(game_id)
                (self._ready.add if done == total else self.cold.append)(game_id)
            return game_id in self.cold

    def start(self) -> None:
        """Compile what is missing, in the order of the lobby."""
        for card in self._catalogue.games():
            self.is_cold(card.id)
        if self.cold and self._process is None:
            self._begin()

    def stop(self) -> None:
        """Let the compiler go; the files that it has finished stay."""
        if self._process is not None:
            self._process.kill()

    async def wait(self, tell: Callable[[Told], None], game_id: str) -> None:
        """Until a game is compiled; the browser is told how far it is."""
        if not await asyncio.to_thread(self.is_cold, game_id):
            return
        if self._process is None or self.cold[0] != game_id:
            self.cold.sort(key=lambda one: one != game_id)
            self.stop()
            self._begin()
        last = None
        while game_id in self.cold:
            now = await asyncio.to_thread(self.progress, game_id)
            if now != last:
                title = self._catalogue.card(game_id).title
                tell(Compiling(game=game_id, title=title, done=now[0], total=now[1]))
                last = now
            await asyncio.sleep(EVERY)

    def _begin(self) -> None:
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "play.compiling", *self.cold],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,  # closed when the server ends, however it does
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # Ctrl-C is for the server, which stops it
        )
        threading.Thread(target=self._follow, args=(self._process,), daemon=True).start()

    def _follow(self, process: subprocess.Popen[str]) -> None:
        """Note which games are ready, until the process ends."""
        assert process.stdout is not None
        with process:
            for line in process.stdout:
                self._note([line.strip()])
        if process is self._process:
            self._note(list(self.cold))  # it has failed: such a game is compiled when it is played

    def _note(self, games: list[str]) -> None:
        with self._lock:
            self._ready.update(games)
            self.cold = [one for one in self.cold if one not in self._ready]


@cache
def _files(game_id: str, agent_id: str) -> tuple[Path, ...]:
    """The files with compiled code that a first game needs."""
    places = [GAMES[game_id], AGENTS.get(agent_id, "")]
    needed = sources_of(TABLE)
    for place in filter(None, places):
        found = importlib.util.find_spec(place.partition(":")[0])
        if found is not None and found.origin is not None:
            needed = needed | sources_of(Path(found.origin))
    return tuple(path for path in sorted(needed) if has_compiled_code(path))


def main(games: list[str]) -> int:
    """Play a game of each with its usual players, as a newcomer's table has them."""
    os.nice(5)
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    catalogue, thinkers = Catalogue(), Thinkers()
    for game_id in games:
        game = catalogue.new_game(game_id)
        choices = catalogue.usual_seats(game)
        seats = [TableSeat(str(number), choice.agent) for number, choice in enumerate(choices)]
        agents = {i: thinkers.agent(game, seat.agent) for i, seat in enumerate(seats) if seat.agent}
        table = Table(game, seats, agents)
        table.begin(seed=0)
        for _ in range(60):
            if table.is_over:
                break
            mover = table.turn
            table.sight(mover)
            if mover in agents:
                answer = thinkers.answer(agents[mover], table.views())
                table.agent_move(answer.action, answer.rngs)
            else:
                table.move(mover, table.position.legal_actions()[0])
        for path in _files(game_id, catalogue.card(game_id).against):
            module = path.relative_to(ROOT).with_suffix("").parts
            importlib.import_module(".".join(module))  # what this game did not come to
        print(game_id, flush=True)
    thinkers.close()
    return 0


def _end_with_the_server() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
