"""The tables of a server: those in memory, those on disk, and who is told of them."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from agents.base import Agent
from envs.core.errors import FileError, MasqueradeError, one_line
from envs.core.game import Game
from play.catalogue import Catalogue, game_of
from play.files import Library
from play.guest import Guest
from play.messages import AboutGame
from play.session import Session
from play.store import Store
from play.table import Seat, Table
from play.thinking import Thinkers

__all__ = ["Claim", "Tables", "check_role", "viewers_of"]

MAX_TABLES = 400
"""Tables in memory; those at which nobody sits make room for others."""
GONE_ON = "this was about another game or seat at the table: look at the game in play"
NUM_WRITERS = 8
"""Threads that wait for the disk: every move of every table is written out before it is shown."""

T = TypeVar("T")


@dataclass(frozen=True)
class Claim:
    """What a browser has asked about: one game of a table, from where the browser sits there.

    Whatever takes long has one: the answer is sent while all that still holds, or it is dropped.
    """

    guest: Guest
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
        places = self.guest.places.get(self.session.id)
        return self.table.number == self.number and places == list(self.places)

    def send(self, answer: dict[str, Any]) -> None:
        """Send what belongs to the game; refused if another one, or another seat, has come."""
        if not self.holds:
            raise MasqueradeError(GONE_ON)
        self.guest.send({**answer, "table": self.session.id, "number": self.number})


class Tables:
    """All tables and the browsers at them.

    Args:
        folder: where tables and games are kept.
        catalogue: what can be played, and by whom.
        thinkers: the agents.
    """

    def __init__(self, folder: Path, catalogue: Catalogue, thinkers: Thinkers) -> None:
        """Tables that were kept are read when somebody comes back to them."""
        self.store = Store(folder / "tables")
        self.library = Library(folder / "games", catalogue)
        self.catalogue = catalogue
        self.thinkers = thinkers
        self.sessions: dict[str, Session] = {}
        self.guests: set[Guest] = set()
        self.busy: set[str] = set()
        """Tables at which agents move."""
        self._jobs: set[asyncio.Task[None]] = set()
        self._disk = ThreadPoolExecutor(NUM_WRITERS, thread_name_prefix="disk")

    def close(self) -> None:
        """Stop all that is under way; every table has been kept already."""
        for task in self._jobs:
            task.cancel()
        self.thinkers.close()
        self._disk.shutdown(wait=True)

    # ---- finding ---------------------------------------------------------------------------------

    def own(self, guest: Guest, message: AboutGame, seat: int | None) -> Claim:
        """The game that a message is about, if it is in play and the browser has that seat."""
        places = guest.places.get(message.table)
        session = self.sessions.get(message.table)
        if places is None or session is None:
            raise MasqueradeError("sit down at the table first")
        if seat is not None and seat not in places:
            raise MasqueradeError(f"seat {seat} is not yours")
        if seat is None and session.table.has_people and not places:
            raise MasqueradeError("only those who sit at the table can do that")
        if message.number != session.table.number:
            raise MasqueradeError(GONE_ON)
        return Claim(guest, session, message.number, tuple(places))

    async def find(self, table_id: str) -> Session:
        """A table in memory, or one that was kept."""
        if table_id in self.sessions:
            return self.sessions[table_id]
        content = await self._on_disk(lambda: self.store.read(table_id))
        if content is None:
            raise MasqueradeError("there is no such table (any more): make a new one")

        def restore() -> Session:
            game = game_of(content.game, content.options)
            seats = [Seat(**seat.model_dump()) for seat in content.seats]
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
            taken = {table_id for guest in self.guests for table_id in guest.places}
            free = next((i for i in self.sessions if i not in taken | self.busy), None)
            if free is None:
                raise MasqueradeError(f"all {MAX_TABLES} tables are taken: try again later")
            del self.sessions[free]
        self.sessions[session.id] = session

    def agents(self, game: Game, seats: list[Seat]) -> dict[int, Agent]:
        """The agents of a table; may take seconds."""
        found = {}
        for number, seat in enumerate(seats):
            if not seat.is_person:
                found[number] = self.agent_at(game, number, seat)
        return found

    def agent_at(self, game: Game, number: int, seat: Seat) -> Agent:
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
        for guest in list(self.guests):
            if session.id in guest.places:
                guest.send({"type": "error", "about": "keep", "text": text, "table": session.id})

    async def _on_disk(self, job: Callable[[], T]) -> T:
        """Read or write in a thread of its own, however many agents are thinking."""
        return await asyncio.get_running_loop().run_in_executor(self._disk, job)

    def tell(self, session: Session) -> None:
        """Show everybody at a table how the game stands."""
        for guest in list(self.guests):
            places = guest.places.get(session.id)
            # Who came after the end of a game has no seat in the next one.
            if places or (places is not None and session.is_open):
                for seat in viewers_of(places):
                    guest.send(session.view(seat))

    def tell_table(self, session: Session) -> None:
        """Tell everybody at a table who sits there, and how it is set up."""
        for guest in list(self.guests):
            if session.id in guest.places:
                guest.send(session.describe(guest.places[session.id]))

    def job(self, work: Callable[[], Awaitable[Any]]) -> None:
        """Do something beside everything else."""

        async def run() -> None:
            with contextlib.suppress(Exception):  # an agent that is told of an end has no say
                await work()

        task = asyncio.create_task(run())
        self._jobs.add(task)
        task.add_done_callback(self._jobs.discard)


def check_role(game: Game, number: int, seat: Seat, agent: Agent) -> None:
    """Refuse an agent in a seat whose role it cannot play."""
    if not agent.can_sit(number):
        role = game.facts.seats[number].role
        raise MasqueradeError(f"{seat.agent} cannot play the {role}: choose another")


def viewers_of(seats: list[int]) -> list[int | None]:
    """Through whose eyes a browser looks; who has no seat sees everything, if anything."""
    return list(seats) or [None]
