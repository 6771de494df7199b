"""The hall: browsers come and go, ask for games, and sit down at tables.

A message is checked, and handed to whoever does what it asks: the hall itself, ``turns`` for moves,
``counsel`` for advice, ``maps`` for boards.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

from envs.core.errors import MasqueradeError, one_line, reason_of
from play.catalogue import Catalogue, game_of, rules_of
from play.counsel import Counsel
from play.guest import Guest
from play.map_room import MapRoom
from play.messages import (
    Again,
    Client,
    Create,
    Handlers,
    Join,
    Lobby,
    Look,
    Move,
    Open,
    Pace,
    Players,
    SeatChoice,
    TakeBack,
    Tournament,
    parse_message,
)
from play.session import Session, hashed, new_secret
from play.table import Seat, Table
from play.tables import Tables, viewers_of
from play.thinking import Thinkers
from play.turns import Turns
from play.warming import Warmth

__all__ = ["FAULT", "Hall"]

IN_ORDER = (Move, TakeBack, Again, Pace, Look)
"""Done one after the other, and by nobody who may take long; all else is done beside them."""
MAX_ASKED = 4
"""Answers that one browser can wait for at a time; threads are left for others."""
FAULT = "this failed on the server, and changed nothing: the server's terminal says why"


class Hall:
    """All that a server does for its browsers.

    Args:
        folder: where tables and games are kept.
        catalogue: what can be played, and by whom.
        thinkers: the agents.
        pace: least milliseconds of an agent's move, where a table says nothing else.
    """

    def __init__(
        self, folder: Path, catalogue: Catalogue, thinkers: Thinkers, pace: int = 600
    ) -> None:
        """Nobody is there yet."""
        self.pace = pace
        self.catalogue = catalogue
        self.thinkers = thinkers
        self.tables = Tables(folder, catalogue, thinkers)
        self.first: dict[str, Any] | None = None
        """The table that the command line asks for, as a page would."""
        self.warmth = Warmth(catalogue)
        self._turns = Turns(self.tables)
        self._counsel = Counsel(self.tables)
        self._handlers: Handlers = {
            Lobby: self._lobby,
            Players: self._players,
            Create: self._create,
            Open: self._open,
            Tournament: self._tournament,
            Join: self._join,
            **self._turns.handlers,
            **self._counsel.handlers,
            **MapRoom(self.tables).handlers,
        }

    # ---- coming and going ------------------------------------------------------------------------

    def enter(self, guest: Guest) -> None:
        """A browser has come."""
        self.tables.guests.add(guest)

    def leave(self, guest: Guest) -> None:
        """A browser has gone; its tables stay."""
        self.tables.guests.discard(guest)

    async def close(self) -> None:
        """Stop all that is under way; every table has been kept already."""
        self.warmth.stop()
        self._turns.close()
        self.tables.close()

    async def handle(self, guest: Guest, text: str) -> None:
        """Do what a message asks; a wrong one is answered, and changes nothing."""
        try:
            message: Client = parse_message(text)
        except MasqueradeError as error:
            guest.send({"type": "error", "about": "message", "text": one_line(error, 600)})
            return
        if isinstance(message, IN_ORDER):
            await self._answer(guest, message)
        elif guest.num_asked >= MAX_ASKED:
            _refuse(guest, message, "one thing after the other: wait for the answers")
        else:
            guest.num_asked += 1
            self.tables.job(lambda: self._answer_beside(guest, message))

    async def _answer_beside(self, guest: Guest, message: Client) -> None:
        try:
            await self._answer(guest, message)
        finally:
            guest.num_asked -= 1

    async def _answer(self, guest: Guest, message: Client) -> None:
        try:
            await self._handlers[type(message)](guest, message)
        except MasqueradeError as error:
            _refuse(guest, message, one_line(error, 600))
        except Exception as error:  # ours: whoever sits elsewhere must not suffer from it
            print(f"play.py: {message.type} failed: {reason_of(error)}", file=sys.stderr)
            _refuse(guest, message, FAULT)

    # ---- the lobby -------------------------------------------------------------------------------

    async def _lobby(self, guest: Guest, _message: Lobby) -> None:
        library, run = self.tables.library, self.thinkers.run
        guest.send(
            {
                "type": "lobby",
                "games": [vars(card) for card in self.catalogue.games()],
                "files": await run(library.listing),
                "tournaments": await run(library.tournaments),
                "cold": [
                    card.id for card in self.catalogue.games() if self.warmth.is_cold(card.id)
                ],
                "first": self.first,
            }
        )

    async def _tournament(self, guest: Guest, message: Tournament) -> None:
        found = await self.thinkers.run(lambda: self.tables.library.games_of(message.name))
        guest.send({"type": "tournament", **found})

    async def picture(self, game_id: str) -> str | None:
        """A position of a game for the lobby; ``None`` for what is no game."""
        if game_id not in {card.id for card in self.catalogue.games()}:
            return None
        return await self.thinkers.run(partial(self.catalogue.picture, game_id))

    async def _players(self, guest: Guest, message: Players) -> None:
        await self.warmth.wait(guest, message.game)

        def describe() -> dict[str, Any]:
            game = game_of(message.game, message.options)
            return self.catalogue.describe(game)

        guest.send({"type": "players", **await self.thinkers.run(describe)})

    async def _open(self, guest: Guest, message: Open) -> None:
        recording = await self.thinkers.run(lambda: self.tables.library.read(message.name))
        session = Session(new_secret(), recording.table, recording.title)
        session.kept = message.name
        self.tables.admit(session)
        guest.sit(session.id, [])
        joined = {"type": "joined", "table": session.id, "game": session.game.id}
        guest.send({**joined, "name": message.name, "key": "", "invites": {}})
        guest.send(session.describe([]))
        guest.send(session.view(None))
        self._counsel.send_advisers(guest, session)

    # ---- sitting down ----------------------------------------------------------------------------

    async def _create(self, guest: Guest, message: Create) -> None:
        await self.warmth.wait(guest, message.game)
        card = self.catalogue.card(message.game)
        options = dict(message.options)
        if message.seats is None:
            options = {**card.options, **options}

        def prepare() -> tuple[Table, str, dict[int, str]]:
            game = game_of(message.game, options)
            chosen = message.seats or self.catalogue.usual_seats(game)
            seats, key, invites = _seats(chosen)
            table = Table(game, seats, self.tables.agents(game, seats))
            table.begin()
            return table, key, invites

        table, key, invites = await self.thinkers.run(prepare)
        pace = self.pace if message.pace is None else message.pace
        session = Session(new_secret(), table, card.title, pace)
        await self.tables.write(session)  # what cannot be kept is not begun
        self.tables.admit(session)
        self._sit(guest, session, key, invites)

    async def _join(self, guest: Guest, message: Join) -> None:
        session = await self.tables.find(message.table)
        key = message.key
        if message.invite:
            key = session.accept(message.invite)
            await self.tables.keep(session)
            self.tables.tell_table(session)
        self._sit(guest, session, key)

    def _sit(
        self, guest: Guest, session: Session, key: str, invites: dict[int, str] | None = None
    ) -> None:
        seats = session.seats_of(key)
        if not seats and not session.is_open:
            raise MasqueradeError("this key opens no seat at the table: ask for an invitation")
        guest.sit(session.id, seats)
        joined = {"type": "joined", "table": session.id, "game": session.game.id}
        guest.send({**joined, "key": key, "invites": invites or {}})
        guest.send(session.describe(seats))
        for seat in viewers_of(seats):
            guest.send(session.view(seat))
        guest.send({"type": "rules", "table": session.id, "rules": rules_of(session.game)})
        self._counsel.send_advisers(guest, session)
        self._turns.drive(session)


def _refuse(guest: Guest, message: Client, text: str) -> None:
    """Say why a message changes nothing, and what it was about, such as a game of a table."""
    places = ("table", "number", "game", "name")
    about = {name: getattr(message, name) for name in places if hasattr(message, name)}
    guest.send({"type": "error", "about": message.type, "text": text, **about})


def _seats(chosen: list[SeatChoice]) -> tuple[list[Seat], str, dict[int, str]]:
    """Seats, the key of whoever makes the table, and an invitation for each guest."""
    key, invites, seats = "", dict[int, str](), []
    people = [choice for choice in chosen if choice.who != "agent"]
    if any(choice.who == "me" for choice in people):
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
