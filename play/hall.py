"""All tables of a server and the browsers that sit at them.

Everything happens in one event loop: a message is checked, changes its table, the table is kept,
and whoever sits there is told. Only thinking takes place elsewhere (``thinking.py``), and what an
agent answers counts if its table is still as it was when the agent was asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from agents.advice import advise
from envs.core.errors import MasqueradeError
from envs.core.game import Game
from play.advice import legal_words, review
from play.catalogue import Catalogue, game_of
from play.files import Library
from play.messages import (
    Again,
    Client,
    Create,
    Hint,
    Join,
    Lobby,
    Look,
    Move,
    Open,
    Pace,
    Players,
    Review,
    SeatChoice,
    TakeBack,
    parse_message,
)
from play.session import Session, hashed, new_secret, seats_from
from play.store import Store
from play.table import Seat, Table
from play.thinking import Thinkers

__all__ = ["Guest", "Hall"]

MAX_TABLES = 400
"""Tables in memory; those at which nobody sits make room for others."""
MAX_KEPT = 4000
"""Tables on disk; the oldest are forgotten."""
MAX_WAITING = 400
"""Messages that may wait for a browser before it is given up."""


class Guest:
    """One browser: what waits to be sent to it, and where it sits."""

    def __init__(self) -> None:
        """It sits nowhere yet."""
        self.outbox: asyncio.Queue[str | None] = asyncio.Queue(MAX_WAITING)
        self.places: dict[str, list[int]] = {}
        """Seats by table; no seat for one who watches."""
        self._last: dict[tuple[str, int | None], str] = {}

    def send(self, message: dict[str, Any]) -> None:
        """Put a message into the box; one who does not take them is given up."""
        text = json.dumps(message, separators=(",", ":"), allow_nan=False, default=str)
        if message["type"] == "view":
            # What looks the same is not sent again: not even that something happened may show.
            place = message["table"], message["seat"]
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

    def forget_view(self, table_id: str) -> None:
        """Send the next view of a table even if it looks like the last."""
        self._last = {place: text for place, text in self._last.items() if place[0] != table_id}


class Hall:
    """The tables of a server.

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
        self.store = Store(folder / "tables")
        self.library = Library(folder / "games", catalogue)
        self.catalogue = catalogue
        self.thinkers = thinkers
        self.first: dict[str, Any] | None = None
        """The table that the command line asks for, as a page would."""
        self.sessions: dict[str, Session] = {}
        self.guests: set[Guest] = set()
        self._drivers: dict[str, asyncio.Task[None]] = {}
        self._jobs: set[asyncio.Task[None]] = set()
        self._handlers: dict[type[Any], Callable[[Guest, Any], Awaitable[None]]] = {
            Lobby: self._lobby,
            Players: self._players,
            Create: self._create,
            Open: self._open,
            Join: self._join,
            Move: self._move,
            TakeBack: self._take_back,
            Again: self._again,
            Pace: self._pace,
            Hint: self._hint,
            Look: self._look,
            Review: self._review,
        }

    # ---- coming and going ------------------------------------------------------------------------

    def enter(self, guest: Guest) -> None:
        """A browser has come."""
        self.guests.add(guest)

    def leave(self, guest: Guest) -> None:
        """A browser has gone; its tables stay."""
        self.guests.discard(guest)

    async def close(self) -> None:
        """Stop all that is under way; every table has been kept already."""
        for task in [*self._drivers.values(), *self._jobs]:
            task.cancel()
        self.thinkers.close()

    async def handle(self, guest: Guest, text: str) -> None:
        """Do what a message asks; a wrong one is answered, and changes nothing."""
        try:
            message: Client = parse_message(text)
        except MasqueradeError as error:
            guest.send({"type": "error", "about": "message", "text": str(error)})
            return
        try:
            await self._handlers[type(message)](guest, message)
        except MasqueradeError as error:
            guest.send({"type": "error", "about": message.type, "text": str(error)})

    # ---- the lobby -------------------------------------------------------------------------------

    async def _lobby(self, guest: Guest, _message: Lobby) -> None:
        games = [vars(card) for card in self.catalogue.games()]
        files = await self.thinkers.run(self.library.listing)
        guest.send({"type": "lobby", "games": games, "files": files, "first": self.first})

    async def picture(self, game_id: str) -> str | None:
        """A position of a game for the lobby; ``None`` for what is no game."""
        if game_id not in {card.id for card in self.catalogue.games()}:
            return None
        return await self.thinkers.run(partial(self.catalogue.picture, game_id))

    async def _players(self, guest: Guest, message: Players) -> None:
        def describe() -> dict[str, Any]:
            game = game_of(message.game, message.options)
            return self.catalogue.describe(game)

        guest.send({"type": "players", **await self.thinkers.run(describe)})

    async def _open(self, guest: Guest, message: Open) -> None:
        recording = await self.thinkers.run(lambda: self.library.read(message.name))
        session = Session(new_secret(), recording.table, recording.title)
        session.kept = message.name
        self._admit(session)
        guest.places[session.id] = []
        guest.send({"type": "joined", "table": session.id, "key": "", "invites": {}})
        guest.send(session.describe([]))
        guest.send(session.view(None))

    # ---- sitting down ----------------------------------------------------------------------------

    async def _create(self, guest: Guest, message: Create) -> None:
        card = self.catalogue.card(message.game)
        options = dict(message.options)
        if message.seats is None:
            options = {**card.options, **options}

        def prepare() -> tuple[Game, Table, str, dict[int, str]]:
            game = game_of(message.game, options)
            chosen = message.seats or self.catalogue.usual_seats(game)
            seats, key, invites = _seats(chosen)
            for choice in chosen:
                if choice.who == "agent":
                    self.catalogue.check(game, choice.agent)
            table = Table(game, seats, self._agents(game, seats))
            table.begin()
            return game, table, key, invites

        _, table, key, invites = await self.thinkers.run(prepare)
        pace = self.pace if message.pace is None else message.pace
        session = Session(new_secret(), table, card.title, pace)
        self._admit(session)
        self._keep(session)
        self._sit(guest, session, key, invites)

    def _agents(self, game: Game, seats: list[Seat]) -> dict[int, Any]:
        """The agents of a table; may take seconds."""
        found = {}
        for number, seat in enumerate(seats):
            if not seat.is_person:
                agent = self.thinkers.agent(game, seat.agent, seat.params)
                if not agent.can_sit(number):
                    role = game.facts.seats[number].role
                    raise MasqueradeError(f"{seat.agent} cannot play the {role}: choose another")
                found[number] = agent
        return found

    async def _join(self, guest: Guest, message: Join) -> None:
        session = await self._find(message.table)
        key = message.key
        if message.invite:
            key = session.accept(message.invite)
            self._keep(session)
            self._tell_table(session)
        self._sit(guest, session, key)

    def _sit(
        self, guest: Guest, session: Session, key: str, invites: dict[int, str] | None = None
    ) -> None:
        seats = session.seats_of(key)
        if not seats and session.table.has_people and not session.table.is_over:
            raise MasqueradeError("this key opens no seat at the table: ask for an invitation")
        guest.places[session.id] = seats
        guest.forget_view(session.id)
        joined = {"type": "joined", "table": session.id, "key": key, "invites": invites or {}}
        guest.send(joined)
        guest.send(session.describe(seats))
        for seat in _viewers(seats):
            guest.send(session.view(seat))
        if seats:
            self._send_advisers(guest, session)
        self._drive(session)

    async def _find(self, table_id: str) -> Session:
        """A table in memory, or one that was kept."""
        if table_id in self.sessions:
            return self.sessions[table_id]
        content = self.store.read(table_id)
        if content is None:
            raise MasqueradeError("there is no such table (any more): make a new one")

        def restore() -> Session:
            game = game_of(content["game"], content["options"])
            seats = seats_from(content)
            return Session.from_dict(
                table_id, content, Table(game, seats, self._agents(game, seats))
            )

        try:
            session = await self.thinkers.run(restore)
        except (KeyError, TypeError, ValueError) as error:
            raise MasqueradeError(f"this table cannot be set up again: {error}") from error
        # Somebody else may have asked for it in the meantime.
        if table_id not in self.sessions:
            self._admit(session)
        return self.sessions[table_id]

    def _admit(self, session: Session) -> None:
        """Put a table into memory; one at which nobody sits makes room."""
        if len(self.sessions) >= MAX_TABLES:
            taken = {table_id for guest in self.guests for table_id in guest.places}
            free = next((i for i in self.sessions if i not in taken | set(self._drivers)), None)
            if free is None:
                raise MasqueradeError(f"all {MAX_TABLES} tables are taken: try again later")
            del self.sessions[free]
        self.sessions[session.id] = session

    # ---- playing ---------------------------------------------------------------------------------

    def _own(self, guest: Guest, table_id: str, seat: int | None) -> Session:
        """The table at which a browser sits in that seat."""
        places = guest.places.get(table_id)
        session = self.sessions.get(table_id)
        if places is None or session is None:
            raise MasqueradeError("sit down at the table first")
        if seat is not None and seat not in places:
            raise MasqueradeError(f"seat {seat} is not yours")
        if seat is None and session.table.has_people and not places:
            raise MasqueradeError("only those who sit at the table can do that")
        return session

    async def _move(self, guest: Guest, message: Move) -> None:
        session = self._own(guest, message.table, message.seat)
        if message.turn != len(session.table.log(message.seat)):
            raise MasqueradeError("the game has gone on since: look again")
        session.table.move(message.seat, message.action)
        self._changed(session)

    async def _take_back(self, guest: Guest, message: TakeBack) -> None:
        session = self._own(guest, message.table, message.seat)
        if not session.can_take_back(message.seat):
            raise MasqueradeError("there is no move of yours that can be taken back")
        session.table.take_back(message.seat)
        if session.is_counted:
            session.results.pop()
            session.is_counted = False
        self._changed(session)

    async def _again(self, guest: Guest, message: Again) -> None:
        session = self._own(guest, message.table, message.seat)
        table = session.table
        if message.swap:
            seats = [table.seats[-1], *table.seats[:-1]]
            agents = await self.thinkers.run(lambda: self._agents(table.game, seats))
            table.seats, table.agents = seats, agents
            for other in self.guests:
                if session.id in other.places:
                    mine = other.places[session.id]
                    other.places[session.id] = sorted((s + 1) % len(seats) for s in mine)
        session.is_counted = False
        table.begin()
        self._tell_table(session)
        self._changed(session)

    async def _pace(self, guest: Guest, message: Pace) -> None:
        session = self._own(guest, message.table, None)
        if message.pace is not None:
            session.pace = message.pace
        if message.is_paused is not None:
            session.is_paused = message.is_paused
        self._keep(session)
        self._tell_table(session)
        self._drive(session, has_step=message.has_step)

    def _changed(self, session: Session) -> None:
        """Keep the table, tell everybody, and let agents move."""
        if session.table.is_over:
            self._finish(session)
        self._keep(session)
        self._tell(session)
        self._drive(session)

    def _finish(self, session: Session) -> None:
        session.count()
        session.kept = self.library.keep(session)
        table = session.table
        for number, agent in table.agents.items():
            if agent.end_games is not None:
                self._job(partial(self.thinkers.run, partial(table.tell_end, agent, number)))

    def _keep(self, session: Session) -> None:
        self.store.write(session.id, session.to_dict())

    def _tell(self, session: Session) -> None:
        for guest in list(self.guests):
            if session.id in guest.places:
                for seat in _viewers(guest.places[session.id]):
                    guest.send(session.view(seat))

    def _send_advisers(self, guest: Guest, session: Session) -> None:
        """Send the list of those who can be asked, which may take a while to put together."""
        usual = self.catalogue.card(session.game.id).against

        def tell(players: list[tuple[str, str]]) -> None:
            advisers = [{"spec": spec, "label": label} for spec, label in players]
            guest.send({"type": "advisers", "table": session.id, "advisers": advisers})

        async def send() -> None:
            found = await self.thinkers.run(lambda: self.catalogue.players(session.game))
            found.sort(key=lambda player: player.spec != usual)
            tell([(player.spec, player.label) for player in found])

        tell([(usual, usual.replace("_", " "))])  # who is there at once
        self._job(send)

    def _tell_table(self, session: Session) -> None:
        for guest in list(self.guests):
            if session.id in guest.places:
                guest.send(session.describe(guest.places[session.id]))

    # ---- agents at the table ---------------------------------------------------------------------

    def _drive(self, session: Session, has_step: bool = False) -> None:
        """Let agents move until a person is to, unless they do already."""
        if session.id in self._drivers:
            return
        task = asyncio.create_task(self._run_agents(session, has_step))
        self._drivers[session.id] = task
        task.add_done_callback(lambda _: self._drivers.pop(session.id, None))

    async def _run_agents(self, session: Session, has_step: bool) -> None:
        table = session.table
        while table.turn in table.agents and (has_step or not session.is_paused):
            if not table.has_people and not self._is_watched(session):
                return
            has_step = False
            epoch, started = table.epoch, asyncio.get_running_loop().time()
            try:
                answer = await self.thinkers.think(table.agents[table.turn], table.views())
            except Exception as error:
                if table.epoch == epoch:
                    table.forfeit(_reason(error))
                    self._changed(session)
                continue
            rest = session.pace / 1000 - (asyncio.get_running_loop().time() - started)
            if rest > 0:
                await asyncio.sleep(rest)
            if table.epoch != epoch:
                continue  # taken back, or a new game
            try:
                table.agent_move(answer.action, answer.rngs)
            except MasqueradeError as error:
                table.forfeit(_reason(error))
            self._changed(session)

    def _is_watched(self, session: Session) -> bool:
        return any(session.id in guest.places for guest in self.guests)

    # ---- advice ----------------------------------------------------------------------------------

    async def _hint(self, guest: Guest, message: Hint) -> None:
        session = self._own(guest, message.table, message.seat)
        table = session.table
        if table.turn != message.seat:
            raise MasqueradeError("a hint is given when you are to move")
        self.catalogue.check(table.game, message.agent)
        views, words, turn = table.views(), legal_words(table), len(table.log(message.seat))

        def ask() -> dict[str, Any]:
            agent = self.thinkers.adviser(table.game, message.agent, message.seconds)
            return advise(agent, views, words).to_dict()

        found = await self.thinkers.run(ask)
        about = {"type": "hint", "table": session.id, "seat": message.seat, "turn": turn}
        guest.send({**about, "agent": message.agent, **found})

    async def _look(self, guest: Guest, message: Look) -> None:
        session = self._own(guest, message.table, None)
        guest.send(session.look(message.step, message.viewer))

    async def _review(self, guest: Guest, message: Review) -> None:
        session = self._own(guest, message.table, None)
        table = session.table
        if not table.is_over:
            raise MasqueradeError("a review is given when the game is over")
        if message.seat >= len(table.seats):
            raise MasqueradeError(f"there is no seat {message.seat} at this table")
        self.catalogue.check(table.game, message.agent)

        def ask() -> list[dict[str, Any]]:
            agent = self.thinkers.adviser(table.game, message.agent, None)
            return [vars(verdict) for verdict in review(table, message.seat, agent)]

        about: dict[str, Any] = {"type": "review", "table": session.id, "seat": message.seat}
        unit, number = table.game.facts.unit, table.number
        verdicts = await self.thinkers.run(ask)
        guest.send(
            {
                **about,
                "agent": message.agent,
                "number": number,
                "unit": unit.name,
                "verdicts": verdicts,
            }
        )

    def _job(self, work: Callable[[], Awaitable[Any]]) -> None:
        async def run() -> None:
            with contextlib.suppress(Exception):  # an agent that is told of an end has no say
                await work()

        task = asyncio.create_task(run())
        self._jobs.add(task)
        task.add_done_callback(self._jobs.discard)


def _viewers(seats: list[int]) -> list[int | None]:
    """Through whose eyes a browser looks; who has no seat sees everything, if anything."""
    return list(seats) or [None]


def _seats(chosen: list[SeatChoice]) -> tuple[list[Seat], str, dict[int, str]]:
    """Seats, the key of whoever makes the table, and an invitation for each guest."""
    key, invites, seats = "", dict[int, str](), []
    people = [choice for choice in chosen if choice.who == "me"]
    if people:
        key = new_secret()
    for number, choice in enumerate(chosen):
        if choice.who == "agent":
            params = {} if choice.seconds is None else {"seconds": choice.seconds}
            seats.append(Seat(choice.name or choice.agent, choice.agent, params))
        elif choice.who == "me":
            name = choice.name or ("You" if len(people) == 1 else f"Player {number}")
            seats.append(Seat(name, key=hashed(key)))
        else:
            invites[number] = new_secret()
            seats.append(Seat(choice.name or f"Guest {number}", invite=hashed(invites[number])))
    return _distinct(seats), key, invites


def _distinct(seats: list[Seat]) -> list[Seat]:
    """Agents of one kind in several seats are told apart by numbers."""
    names = [seat.name for seat in seats]
    for number, seat in enumerate(seats):
        if names.count(names[number]) > 1 and not seat.is_person:
            seat.name = f"{names[number]} {names[: number + 1].count(names[number])}"
    return seats


def _reason(error: Exception) -> str:
    text = str(error).splitlines()[0] if str(error) else ""
    return text if isinstance(error, MasqueradeError) else f"{type(error).__name__}: {text}"
