"""The tables of a server, those in memory and those on disk, and the browsers at them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from agents.base import Agent
from common.errors import FileError, MasqueradeError, one_line
from envs.core.drawing import Layout
from envs.core.game import Game
from play.agents import Thinkers
from play.catalogue import Catalogue, game_of
from play.compiling import Compiler
from play.messages import AboutGame, Create, OfGame, Refusal, Told, ViewNews
from play.session import Session
from play.store import Library, Store
from play.table import Table, TableSeat, check_role

MAX_PLACES = 24
"""Tables at which one browser can sit; from the one it came to first it gets up again."""
MAX_WAITING = 400
"""Messages that may wait for a browser before it is given up."""

MAX_TABLES = 400
"""Tables in memory; those at which nobody sits make room for others."""
GONE_ON = "this was about another game or seat at the table: look at the game in play"
NUM_WRITERS = 8
"""Threads that wait for the disk: every move of every table is written out before it is shown."""

T = TypeVar("T")


class Browser:
    """One browser: what waits to be sent to it, and where it sits."""

    def __init__(self) -> None:
        """It sits nowhere yet."""
        self.outbox: asyncio.Queue[str | None] = asyncio.Queue(MAX_WAITING)
        self.places: dict[str, list[int]] = {}
        """Seats by table; no seat for one who watches."""
        self.layout: Layout = "wide"
        """How pictures are laid out for it."""
        self.num_asked = 0
        """Answers that are being made for it."""
        self._last: dict[tuple[str, int | None], str] = {}

    def send(self, message: Told) -> None:
        """Put a message into the box; a browser that does not take them is given up."""
        content = message.to_dict()
        text = json.dumps(content, separators=(",", ":"), allow_nan=False, default=str)
        if isinstance(message, ViewNews):
            # What looks the same is not sent again: not even that something happened may show.
            place = message.table, message.seat
            if self._last.get(place) == text:
                return
            self._last[place] = text
        try:
            self.outbox.put_nowait(text)
        except asyncio.QueueFull:
            with contextlib.suppress(asyncio.QueueEmpty):
                while True:
                    self.outbox.get_nowait()
            self.outbox.put_nowait(None)

    def show(self, session: Session) -> None:
        """Send how a table stands, as each of the browser's seats there may see it."""
        seats = self.places.get(session.id)
        # Who came after the end of a game has no seat in the next one.
        if seats or (seats is not None and session.is_open):
            viewers: list[int | None] = [*seats] or [None]
            for seat in viewers:
                self.send(session.view(seat, self.layout))

    def sit(self, table_id: str, seats: list[int]) -> None:
        """Come to a table, or to other seats of it."""
        self.places.pop(table_id, None)
        self.places[table_id] = seats
        if len(self.places) > MAX_PLACES:
            gone = next(iter(self.places))
            del self.places[gone]
            self.forget_view(gone)
        self.forget_view(table_id)

    def forget_view(self, table_id: str) -> None:
        """Send the next view of a table even if it looks like the last."""
        self._last = {place: text for place, text in self._last.items() if place[0] != table_id}


@dataclass(frozen=True)
class Claim:
    """What a browser has asked about: one game of a table, from where the browser sits there.

    Whatever takes long has one: the answer is sent while all that still holds, or it is dropped.
    """

    browser: Browser
    session: Session
    number: int
    places: tuple[int, ...]

    @property
    def table(self) -> Table:
        """The table as it is now: a job that runs in a thread takes what it needs before."""
        return self.session.table

    @property
    def holds(self) -> bool:
        """Whether neither another game nor another seat has come since."""
        places = self.browser.places.get(self.session.id)
        return self.table.number == self.number and places == list(self.places)

    @property
    def about(self) -> dict[str, Any]:
        """Table and number, as answers have them."""
        return {"table": self.session.id, "number": self.number}

    def send(self, answer: OfGame) -> None:
        """Send what belongs to the game; refused if another one, or another seat, has come."""
        if not self.holds:
            raise MasqueradeError(GONE_ON)
        self.browser.send(answer)


class Tables:
    """All tables, the browsers at them, and what serves them.

    Args:
        folder: where tables and games are kept.
        catalogue: what can be played, and by whom.
        thinkers: the agents.
        pace: least milliseconds of an agent's move, where a table says nothing else.
    """

    def __init__(
        self, folder: Path, catalogue: Catalogue, thinkers: Thinkers, pace: int = 600
    ) -> None:
        """Tables that were kept are read when somebody comes back to them."""
        self.pace = pace
        self.first: Create | None = None
        """The table that the command line asks for, as a page would."""
        self.compiler = Compiler(catalogue)
        self.store = Store(folder / "tables")
        self.library = Library(folder / "games", catalogue)
        self.catalogue = catalogue
        self.thinkers = thinkers
        self.sessions: dict[str, Session] = {}
        self.browsers: set[Browser] = set()
        self.drivers: dict[str, asyncio.Task[None]] = {}
        """What has agents move, by table."""
        self._jobs: set[asyncio.Task[None]] = set()
        self._disk = ThreadPoolExecutor(NUM_WRITERS, thread_name_prefix="disk")

    def close(self) -> None:
        """Stop all that is under way; every table has been kept already."""
        for task in (*self._jobs, *self.drivers.values()):
            task.cancel()
        self.compiler.stop()
        self.thinkers.close()
        self._disk.shutdown(wait=True)

    # ---- finding ---------------------------------------------------------------------------------

    def own(self, browser: Browser, message: AboutGame, seat: int | None) -> Claim:
        """The game that a message is about, if it is in play and the browser has that seat."""
        places = browser.places.get(message.table)
        session = self.sessions.get(message.table)
        if places is None or session is None:
            raise MasqueradeError("sit down at the table first")
        if seat is not None and seat not in places:
            raise MasqueradeError(f"seat {seat} is not yours")
        if seat is None and session.table.has_people and not places:
            raise MasqueradeError("only those who sit at the table can do that")
        if message.number != session.table.number:
            raise MasqueradeError(GONE_ON)
        return Claim(browser, session, message.number, tuple(places))

    async def find(self, table_id: str) -> Session:
        """A table in memory, or one that was kept."""
        if table_id in self.sessions:
            return self.sessions[table_id]
        content = await self._on_disk(lambda: self.store.read(table_id))
        if content is None:
            raise MasqueradeError("there is no such table (any more): make a new one")

        def restore() -> Session:
            game = game_of(content.game, content.options)
            seats = [TableSeat(**seat.model_dump()) for seat in content.seats]
            table = Table(game, seats, self.agents(game, seats))
            return Session.from_kept(table_id, content, table)

        session = await self.thinkers.run(restore)
        # Somebody else may have asked for it in the meantime.
        if table_id not in self.sessions:
            self.admit(session)
        return self.sessions[table_id]

    def admit(self, session: Session) -> None:
        """Put a table into memory; one at which nobody sits makes room."""
        if len(self.sessions) >= MAX_TABLES:
            taken = {table_id for browser in self.browsers for table_id in browser.places}
            free = next((i for i in self.sessions if i not in taken | self.drivers.keys()), None)
            if free is None:
                raise MasqueradeError(f"all {MAX_TABLES} tables are taken: try again later")
            del self.sessions[free]
        self.sessions[session.id] = session

    def agents(self, game: Game, seats: list[TableSeat]) -> dict[int, Agent]:
        """The agents of a table; may take seconds."""
        return {
            number: self.agent_at(game, number, seat)
            for number, seat in enumerate(seats)
            if not seat.is_person
        }

    def agent_at(self, game: Game, number: int, seat: TableSeat) -> Agent:
        """The agent of one seat, if it may sit there."""
        self.catalogue.check(game, seat.agent)
        agent = self.thinkers.agent(game, seat.agent, seat.params)
        check_role(game, number, seat, agent)
        return agent

    # ---- keeping and telling ---------------------------------------------------------------------

    async def keep(self, session: Session) -> bool:
        """Write a table; whether it is still as it was then, so that it can be shown.

        Where nothing can be written the game goes on, and whoever sits there is told.
        """
        try:
            epoch = await self.write(session)
        except FileError as error:
            epoch = session.table.epoch
            self.warn(session, error)
        return session.table.epoch == epoch

    async def write(self, session: Session) -> int:
        """Write a table; the epoch that it was of."""
        async with session.lock:  # writes of one table come one after the other
            epoch, content = session.table.epoch, session.to_dict()
            await self._on_disk(lambda: self.store.write(session.id, content))
        return epoch

    async def keep_game(self, session: Session) -> None:
        """Write the game that has just ended among those that can be opened."""
        game, epoch = session.table.frozen(), session.table.epoch
        try:
            kept = await self._on_disk(lambda: self.library.keep(game, session.id))
        except FileError as error:
            kept = ""
            self.warn(session, error)
        if session.table.epoch == epoch:
            session.kept = kept

    def warn(self, session: Session, error: FileError) -> None:
        """Tell everybody at a table what the disk has against it, and the terminal."""
        text = f"not kept, and lost if the server ends now: {one_line(error, 500)}"
        print(f"play.py: {text}", file=sys.stderr)
        for browser in list(self.browsers):
            if session.id in browser.places:
                browser.send(Refusal(about="keep", text=text, table=session.id))

    async def _on_disk(self, job: Callable[[], T]) -> T:
        """Read or write in a thread of its own, however many agents are thinking."""
        return await asyncio.get_running_loop().run_in_executor(self._disk, job)

    def tell(self, session: Session) -> None:
        """Show everybody at a table how the game stands."""
        for browser in list(self.browsers):
            browser.show(session)

    def tell_table(self, session: Session) -> None:
        """Tell everybody at a table who sits there, and how it is set up."""
        for browser in list(self.browsers):
            if session.id in browser.places:
                browser.send(session.describe(browser.places[session.id]))

    def job(self, work: Callable[[], Awaitable[Any]]) -> None:
        """Do something beside everything else."""

        async def run() -> None:
            with contextlib.suppress(Exception):  # an agent that is told of an end has no say
                await work()

        task = asyncio.create_task(run())
        self._jobs.add(task)
        task.add_done_callback(self._jobs.discard)
