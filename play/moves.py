"""Moves at the tables: those of people, and those of agents until a person is to move.

Everything happens in one event loop: a move changes its table, the table is kept, and whoever sits
there is told. Only thinking takes place elsewhere (``agents.py``), and what an agent answers
counts if its table is still as it was when the agent was asked.
"""

from __future__ import annotations

import asyncio
from functools import partial

from common.errors import MasqueradeError
from play.messages import Again, Move, Pace, TakeBack
from play.session import Session
from play.table import check_role
from play.tables import Browser, Tables


async def move(tables: Tables, browser: Browser, message: Move) -> None:
    """Play the action of a person."""
    session = tables.own(browser, message, message.seat).session
    if message.turn != session.table.turn_of(message.seat):
        raise MasqueradeError("the game has gone on since: look again")
    session.table.move(message.seat, message.action)
    await _changed(tables, session)


async def take_back(tables: Tables, browser: Browser, message: TakeBack) -> None:
    """Go back to the last move of a seat."""
    session = tables.own(browser, message, message.seat).session
    if not session.can_take_back(message.seat):
        raise MasqueradeError("there is no move of yours that can be taken back")
    session.take_back(message.seat)
    await _changed(tables, session)


async def again(tables: Tables, browser: Browser, message: Again) -> None:
    """Begin the next game at a table, perhaps with everybody one seat on."""
    session = tables.own(browser, message, message.seat).session
    table, mine = session.table, browser.places[session.id]
    others = [seat for i, seat in enumerate(table.seats) if seat.key and i not in mine]
    if others and not table.is_over:  # nobody runs away from a game that somebody else may win
        raise MasqueradeError("the game is not over, and others play it too")
    if message.swap:
        seats = [table.seats[-1], *table.seats[:-1]]
        agents = {(seat + 1) % len(seats): agent for seat, agent in table.agents.items()}
        for number, agent in agents.items():
            check_role(table.game, number, seats[number], agent)
        table.seats, table.agents = seats, agents
        for other in tables.browsers:
            if session.id in other.places:
                mine = other.places[session.id]
                other.places[session.id] = sorted((s + 1) % len(seats) for s in mine)
    session.begin()
    tables.tell_table(session)
    await _changed(tables, session)


async def set_pace(tables: Tables, browser: Browser, message: Pace) -> None:
    """Let agents be quicker or slower, pause, or make one move."""
    session = tables.own(browser, message, None).session
    if message.pace is not None:
        session.pace = message.pace
    if message.is_paused is not None:
        session.is_paused = message.is_paused
    await tables.keep(session)
    tables.tell_table(session)
    drive(tables, session, has_step=message.has_step)


async def _changed(tables: Tables, session: Session) -> None:
    """Keep the table, tell everybody, and let agents move."""
    if session.table.is_over:
        await _finish(tables, session)
    if await tables.keep(session):
        tables.tell(session)
    drive(tables, session)


async def _finish(tables: Tables, session: Session) -> None:
    session.count()
    session.kept = ""  # the file of the game before is not that of this one
    game = session.table.frozen()
    for number, agent in game.agents.items():
        if agent.end_games is not None:
            told = partial(game.tell_end, agent, number)
            tables.job(partial(tables.thinkers.tell, agent, told))
    await tables.keep_game(session)


# ---- agents --------------------------------------------------------------------------------------


def drive(tables: Tables, session: Session, has_step: bool = False) -> None:
    """Let agents move until a person is to, unless they do already."""
    if session.id in tables.drivers:
        return
    task = asyncio.create_task(_run_agents(tables, session, has_step))
    tables.drivers[session.id] = task
    task.add_done_callback(lambda _: tables.drivers.pop(session.id))


async def _run_agents(tables: Tables, session: Session, has_step: bool) -> None:
    table = session.table
    while table.turn in table.agents and (has_step or not session.is_paused):
        if not table.has_people and not _is_watched(tables, session):
            return
        has_step = False
        epoch, started = table.epoch, asyncio.get_running_loop().time()
        try:
            answer = await tables.thinkers.think(table.agents[table.turn], table.views())
        except Exception as error:
            if table.epoch == epoch:
                table.forfeit(_reason(error))
                await _changed(tables, session)
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
        await _changed(tables, session)


def _is_watched(tables: Tables, session: Session) -> bool:
    return any(session.id in browser.places for browser in tables.browsers)


def _reason(error: Exception) -> str:
    text = str(error).splitlines()[0] if str(error) else ""
    return text if isinstance(error, MasqueradeError) else f"{type(error).__name__}: {text}"
