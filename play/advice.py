"""Advice at the tables: hints, reviews, games stepped through, and what was learnt."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TypeVar

from agents.advice import Advice, Bar, advise, legal_words, views_of
from agents.base import Agent
from agents.learnt import Exhibit, exhibits
from common.errors import MasqueradeError
from envs.core.game import Game
from play.messages import (
    Advisers,
    Hint,
    HintAnswer,
    Learnt,
    LearntAnswer,
    Look,
    Review,
    ReviewAnswer,
)
from play.session import Session
from play.table import Table, walk
from play.tables import Browser, Tables

T = TypeVar("T")


@dataclass(frozen=True)
class Verdict:
    """One own decision, and what the adviser says of it."""

    number: int
    """Which decision of the game."""
    words: str
    share: float
    """How often the adviser chooses the same."""
    best: str
    """What it chooses most."""
    best_share: float
    cost: float | None
    """What the move is worth less than the best one, where values are known."""


def verdicts(table: Table, seat: int, agent: Agent) -> Iterator[Verdict]:
    """What ``agent`` says of each decision of ``seat``, from the first to the last.

    The history is what was played, whoever dealt it: a game from a file has a dealer of its own.
    """
    number = -1
    for then, action in walk(table.game, table.history, table.number):
        number += not then.is_chance
        if then.turn != seat:
            continue
        views = views_of(then, agent)
        words = legal_words(views)
        if len(words) < 2:
            continue  # there was nothing to decide
        advice = advise(agent, views, words)
        own = advice.bar(action)
        best = max(advice.bars, key=_worth)
        cost = None
        if own is not None and own.value is not None and best.value is not None:
            cost = max(0.0, best.value - own.value)
        share = 0.0 if own is None else own.share
        yield Verdict(number, words[action], share, best.words, best.share, cost)


def _worth(bar: Bar) -> tuple[float, float]:
    return (bar.value if bar.value is not None else bar.share, bar.share)


# ---- what browsers ask ---------------------------------------------------------------------------


def send_advisers(tables: Tables, browser: Browser, session: Session) -> None:
    """Send the list of those who can be asked, which may take a while to put together."""
    usual = tables.catalogue.card(session.game.id).against

    def tell(players: dict[str, str]) -> None:
        advisers = [{"spec": spec, "label": label} for spec, label in players.items()]
        if session.id in browser.places:
            browser.send(Advisers(table=session.id, advisers=advisers))

    async def send() -> None:
        found = await tables.thinkers.run(lambda: tables.catalogue.advisers(session.game))
        tell({player.spec: player.label for player in found})

    tell({usual: usual.replace("_", " ")})  # who is there at once
    tables.job(send)


async def hint(tables: Tables, browser: Browser, message: Hint) -> None:
    """Say what an agent would do in a seat's place."""
    claim = tables.own(browser, message, message.seat)
    table, seat = claim.table, message.seat
    if table.turn != seat:
        raise MasqueradeError("a hint is given when you are to move")
    views, turn = table.views(), table.turn_of(seat)

    def ask(agent: Agent) -> Advice:
        return advise(agent, views)

    found = await _ask(tables, table.game, message.agent, ask, message.seconds)
    claim.send(
        HintAnswer(**claim.about, seat=seat, turn=turn, agent=message.agent, **asdict(found))
    )


async def look(tables: Tables, browser: Browser, message: Look) -> None:
    """Show a step of a game that is over."""
    claim = tables.own(browser, message, None)
    claim.send(claim.session.look(message.step, message.viewer, browser.layout))


async def learnt(tables: Tables, browser: Browser, message: Learnt) -> None:
    """Show what an agent has learnt; of the game it is told what the seat may know."""
    claim = tables.own(browser, message, message.seat)
    table, views = claim.table, None
    if message.step is not None:
        position = claim.session.position_at(message.step)  # refused while people play
        views = views_of(position) if position.turn >= 0 else None
    elif message.seat is not None and table.turn == message.seat:
        views = table.views()

    def ask(agent: Agent) -> list[Exhibit]:
        return exhibits(agent, views)

    found = await _ask(tables, table.game, message.agent, ask, is_here=True)
    shown = [exhibit.to_dict() for exhibit in found]
    claim.send(LearntAnswer(**claim.about, agent=message.agent, exhibits=shown))


async def review(tables: Tables, browser: Browser, message: Review) -> None:
    """Say what the decisions of a seat have cost in a game that is over."""
    claim = tables.own(browser, message, None)
    table, seat = claim.table.frozen(), message.seat
    if not table.is_over:
        raise MasqueradeError("a review is given when the game is over")
    if seat >= len(table.seats):
        raise MasqueradeError(f"there is no seat {seat} at this table")
    is_left = threading.Event()

    def ask(agent: Agent) -> list[Verdict]:
        found = []
        for verdict in verdicts(table, seat, agent):
            found.append(verdict)
            if is_left.is_set() or not claim.holds:
                break  # nobody waits for the rest, and others wait for the adviser
        return found

    about = {**claim.about, "seat": seat, "turn": table.turn_of(seat), "agent": message.agent}
    try:
        found = await _ask(tables, table.game, message.agent, ask)
        shown = [vars(verdict) for verdict in found]
        claim.send(ReviewAnswer(**about, unit=table.game.facts.unit.name, verdicts=shown))
    finally:
        is_left.set()


async def _ask(
    tables: Tables,
    game: Game,
    spec: str,
    job: Callable[[Agent], T],
    seconds: float | None = None,
    is_here: bool = False,
) -> T:
    """Ask an agent for advice in a thread, if it may be asked here."""
    tables.catalogue.check(game, spec)
    thinkers = tables.thinkers

    def ask() -> T:
        agent = thinkers.adviser(game, spec, seconds, is_here)
        with thinkers.lock(agent):
            return job(agent)

    return await thinkers.ask(ask)
