"""Moves at the tables: those of people, and those of agents until a person is to move.

Everything happens in one event loop: a move changes its table, the table is kept, and whoever sits
there is told. Only thinking takes place elsewhere (``thinking.py``), and what an agent answers
counts if its table is still as it was when the agent was asked.
"""

from __future__ import annotations

import asyncio
from functools import partial

from envs.core.errors import MasqueradeError
from play.guest import Guest
from play.messages import Again, Handlers, Move, Pace, TakeBack
from play.session import Session
from play.tables import Tables, check_role

__all__ = ["Turns"]


class Turns:
    """Who moves at the tables."""

    def __init__(self, tables: Tables) -> None:
        """Nobody moves yet."""
        self._tables = tables
        self._drivers: dict[str, asyncio.Task[None]] = {}
        self.handlers: Handlers = {
            Move: self._move,
            TakeBack: self._take_back,
            Again: self._again,
            Pace: self._pace,
        }

    def close(self) -> None:
        """Stop the agents."""
        for task in self._drivers.values():
            task.cancel()

    async def _move(self, guest: Guest, message: Move) -> None:
        session = self._tables.own(guest, message, message.seat).session
        if message.turn != session.table.turn_of(message.seat):
            raise MasqueradeError("the game has gone on since: look again")
        session.table.move(message.seat, message.action)
        await self._changed(session)

    async def _take_back(self, guest: Guest, message: TakeBack) -> None:
        session = self._tables.own(guest, message, message.seat).session
        if not session.can_take_back(message.seat):
            raise MasqueradeError("there is no move of yours that can be taken back")
        session.table.take_back(message.seat)
        if session.is_counted:
            session.results.pop()
            session.is_counted = False
        await self._changed(session)

    async def _again(self, guest: Guest, message: Again) -> None:
        session = self._tables.own(guest, message, message.seat).session
        table, mine = session.table, guest.places[session.id]
        others = [seat for i, seat in enumerate(table.seats) if seat.key and i not in mine]
        if others and not table.is_over:  # nobody runs away from a game that somebody else may win
            raise MasqueradeError("the game is not over, and others play it too")
        if message.swap:
            seats = [table.seats[-1], *table.seats[:-1]]
            agents = {(seat + 1) % len(seats): agent for seat, agent in table.agents.items()}
            for number, agent in agents.items():
                check_role(table.game, number, seats[number], agent)
            table.seats, table.agents = seats, agents
            for other in self._tables.guests:
                if session.id in other.places:
                    mine = other.places[session.id]
                    other.places[session.id] = sorted((s + 1) % len(seats) for s in mine)
        session.is_counted = False
        table.begin()
        self._tables.tell_table(session)
        await self._changed(session)

    async def _pace(self, guest: Guest, message: Pace) -> None:
        session = self._tables.own(guest, message, None).session
        if message.pace is not None:
            session.pace = message.pace
        if message.is_paused is not None:
            session.is_paused = message.is_paused
        await self._tables.keep(session)
        self._tables.tell_table(session)
        self.drive(session, has_step=message.has_step)

    async def _changed(self, session: Session) -> None:
        """Keep the table, tell everybody, and let agents move."""
        if session.table.is_over:
            await self._finish(session)
        if await self._tables.keep(session):
            self._tables.tell(session)
        self.drive(session)

    async def _finish(self, session: Session) -> None:
        session.count()
        session.kept = ""  # the file of the game before is not that of this one
        game = session.table.frozen()
        for number, agent in game.agents.items():
            if agent.end_games is not None:
                told = partial(game.tell_end, agent, number)
                self._tables.job(partial(self._tables.thinkers.tell, agent, told))
        await self._tables.keep_game(session)

    # ---- agents ----------------------------------------------------------------------------------

    def drive(self, session: Session, has_step: bool = False) -> None:
        """Let agents move until a person is to, unless they do already."""
        if session.id in self._drivers:
            return
        task = asyncio.create_task(self._run_agents(session, has_step))
        self._drivers[session.id] = task
        self._tables.busy.add(session.id)

        def end(_: object) -> None:
            del self._drivers[session.id]
            self._tables.busy.discard(session.id)

        task.add_done_callback(end)

    async def _run_agents(self, session: Session, has_step: bool) -> None:
        table = session.table
        while table.turn in table.agents and (has_step or not session.is_paused):
            if not table.has_people and not self._is_watched(session):
                return
            has_step = False
            epoch, started = table.epoch, asyncio.get_running_loop().time()
            try:
                answer = await self._tables.thinkers.think(table.agents[table.turn], table.views())
            except Exception as error:
                if table.epoch == epoch:
                    table.forfeit(_reason(error))
                    await self._changed(session)
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
            await self._changed(session)

    def _is_watched(self, session: Session) -> bool:
        return any(session.id in guest.places for guest in self._tables.guests)


def _reason(error: Exception) -> str:
    text = str(error).splitlines()[0] if str(error) else ""
    return text if isinstance(error, MasqueradeError) else f"{type(error).__name__}: {text}"
