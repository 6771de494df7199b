"""Advice at the tables: hints, reviews, games stepped through, and what was learnt."""

from __future__ import annotations

import threading
from typing import Any

from agents.advice import advise, views_of
from agents.learnt import exhibits
from envs.core.errors import MasqueradeError
from play.advice import review
from play.guest import Guest
from play.messages import Handlers, Hint, Learnt, Look, Review
from play.session import Session
from play.tables import Tables

__all__ = ["Counsel"]


class Counsel:
    """What agents say to people."""

    def __init__(self, tables: Tables) -> None:
        """Nobody has been asked yet."""
        self._tables = tables
        self.handlers: Handlers = {
            Hint: self._hint,
            Look: self._look,
            Learnt: self._learnt,
            Review: self._review,
        }

    def send_advisers(self, guest: Guest, session: Session) -> None:
        """Send the list of those who can be asked, which may take a while to put together."""
        usual = self._tables.catalogue.card(session.game.id).against

        def tell(players: list[tuple[str, str]]) -> None:
            advisers = [{"spec": spec, "label": label} for spec, label in players]
            if session.id in guest.places:
                guest.send({"type": "advisers", "table": session.id, "advisers": advisers})

        async def send() -> None:
            found = await self._tables.thinkers.run(
                lambda: self._tables.catalogue.advisers(session.game)
            )
            tell([(player.spec, player.label) for player in found])

        tell([(usual, usual.replace("_", " "))])  # who is there at once
        self._tables.job(send)

    async def _hint(self, guest: Guest, message: Hint) -> None:
        claim = self._tables.own(guest, message, message.seat)
        table, thinkers = claim.table, self._tables.thinkers
        if table.turn != message.seat:
            raise MasqueradeError("a hint is given when you are to move")
        self._tables.catalogue.check(table.game, message.agent)
        game, views = table.game, table.views()
        about = {"type": "hint", "seat": message.seat, "turn": table.turn_of(message.seat)}

        def ask() -> dict[str, Any]:
            agent = thinkers.adviser(game, message.agent, message.seconds)
            with thinkers.lock(agent):
                return advise(agent, views).to_dict()

        found = await thinkers.ask(ask)
        claim.send({**about, "agent": message.agent, **found})

    async def _look(self, guest: Guest, message: Look) -> None:
        claim = self._tables.own(guest, message, None)
        claim.send(claim.session.look(message.step, message.viewer))

    async def _learnt(self, guest: Guest, message: Learnt) -> None:
        """Show what an agent has learnt; of the game it is told what the seat may know."""
        claim = self._tables.own(guest, message, message.seat)
        table, game, thinkers = claim.table, claim.table.game, self._tables.thinkers
        self._tables.catalogue.check(game, message.agent)
        views = None
        if message.step is not None:
            position = claim.session.position_at(message.step)  # refused while people play
            views = views_of(position) if position.turn >= 0 else None
        elif message.seat is not None and table.turn == message.seat:
            views = table.views()

        def ask() -> list[dict[str, Any]]:
            agent = thinkers.adviser(game, message.agent, None, is_here=True)
            with thinkers.lock(agent):
                return [exhibit.to_dict() for exhibit in exhibits(agent, views)]

        found = await thinkers.ask(ask)
        claim.send({"type": "learnt", "agent": message.agent, "exhibits": found})

    async def _review(self, guest: Guest, message: Review) -> None:
        claim = self._tables.own(guest, message, None)
        table, thinkers = claim.table.frozen(), self._tables.thinkers
        if not table.is_over:
            raise MasqueradeError("a review is given when the game is over")
        if message.seat >= len(table.seats):
            raise MasqueradeError(f"there is no seat {message.seat} at this table")
        self._tables.catalogue.check(table.game, message.agent)
        about = {"type": "review", "seat": message.seat, "turn": table.turn_of(message.seat)}
        is_left = threading.Event()

        def ask() -> list[dict[str, Any]]:
            agent = thinkers.adviser(table.game, message.agent, None)
            verdicts = []
            with thinkers.lock(agent):
                for verdict in review(table, message.seat, agent):
                    verdicts.append(vars(verdict))
                    if is_left.is_set() or not claim.holds:
                        break  # nobody waits for the rest, and others wait for the adviser
            return verdicts

        found = {"agent": message.agent, "unit": table.game.facts.unit.name}
        try:
            claim.send({**about, **found, "verdicts": await thinkers.ask(ask)})
        finally:
            is_left.set()
