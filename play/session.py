"""A table with its series of games, as the browsers that sit at it are told of it."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Any

from arena.replay import join_words
from common.errors import MasqueradeError
from common.statistics import mean_interval
from envs.core.drawing import Layout
from envs.core.game import Game
from envs.core.kernels import CHANCE
from envs.core.position import Position
from play.messages import EndNews, LookAnswer, TableNews, ViewNews
from play.store import KeptTable
from play.table import Decision, Table, walk
from play.view import ELLIPSIS, Entry, notice

OF_THE_SERIES = ("title", "pace", "is_paused", "results", "kept", "is_counted")
"""What is kept of a session beside its table."""


def new_secret() -> str:
    """A name that nobody guesses."""
    return secrets.token_urlsafe(12)


def hashed(secret: str) -> str:
    """What is kept of a key; whoever reads the files cannot sit down with it."""
    return hashlib.sha256(secret.encode()).hexdigest() if secret else ""


@dataclass
class Session:
    """One table over several games.

    Args:
        id: what links name it by.
        table: the game in play.
        title: of the game, for people.
        pace: least milliseconds of an agent's move.
    """

    id: str
    table: Table
    title: str
    pace: int = 500
    is_paused: bool = False
    results: list[dict[str, Any]] = field(default_factory=list)
    """Games that count: who sat where, and the returns."""
    kept: str = ""
    """The file of the last game that has ended."""
    is_counted: bool = False
    """Whether the game in play is among the results."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while the table is written."""

    @property
    def game(self) -> Game:
        """The game with its options."""
        return self.table.game

    def seats_of(self, key: str) -> list[int]:
        """The seats that a key opens."""
        digest = hashed(key)
        return [i for i, seat in enumerate(self.table.seats) if digest and seat.key == digest]

    def accept(self, invite: str) -> str:
        """A key for whoever shows an invitation, which is used up."""
        digest = hashed(invite)
        for seat in self.table.seats:
            if digest and seat.invite == digest:
                key = new_secret()
                seat.key, seat.invite = hashed(key), ""
                return key
        raise MasqueradeError("this invitation has been used, or is none: ask for another link")

    def can_take_back(self, seat: int) -> bool:
        """Whether a seat has moved, and nobody but its own browser plays against agents."""
        own = self.table.seats[seat].key
        is_alone = all(s.key == own for s in self.table.seats if s.is_person)
        return is_alone and self.table.last_own(seat) is not None

    def begin(self) -> None:
        """Deal the next game of the series."""
        self.is_counted = False
        self.table.begin()

    def take_back(self, seat: int) -> None:
        """Go back to the last decision of a seat; the game no longer counts."""
        self.table.take_back(seat)
        if self.is_counted:
            self.results.pop()
            self.is_counted = False

    # ---- what is sent ----------------------------------------------------------------------------

    def describe(self, seats: list[int]) -> TableNews:
        """What stays the same for a game: who sits where, how the table is set up."""
        facts = self.game.facts
        return TableNews(
            table=self.id,
            game=self.game.id,
            title=self.title,
            options=self.game.options.changed(),
            number=self.table.number,
            unit=facts.unit.name,
            yours=seats,
            is_watched=not self.table.has_people,
            pace=self.pace,
            is_paused=self.is_paused,
            has_map=hasattr(self.game, "boards"),
            notation=self.game.notation,
            seats=[
                {
                    "name": seat.name,
                    "role": facts.seats[i].role,
                    "team": facts.seats[i].team,
                    "agent": seat.agent,
                    "params": seat.params,
                    "is_waiting": seat.is_person and not seat.key,
                }
                for i, seat in enumerate(self.table.seats)
            ],
            statistics=self.statistics(),
        )

    def view(self, viewer: int | None, layout: Layout = "wide") -> ViewNews:
        """The game as a seat may see it now; after the end, all of it."""
        table = self.table
        # At the end everything is turned up.
        sight = table.sight(None if table.is_over else viewer, layout)
        log = table.full_log() if viewer is None or table.is_over else table.log(viewer)
        told: dict[str, Any] = {
            "table": self.id,
            "number": table.number,
            "seat": viewer,
            "turn": len(log) if viewer is None else table.turn_of(viewer),
            **vars(sight),
            "log": lines_of(log),
            "can_take_back": viewer is not None and self.can_take_back(viewer),
        }
        if not table.is_over:
            return ViewNews(**told)
        return EndNews(
            **told,
            returns=table.returns(),
            fault=table.fault,
            seed=str(table.seed),
            kept=self.kept,
            num_steps=len(self._steps()) - 1,
            is_counted=self.is_counted,
            statistics=self.statistics(),
        )

    def statistics(self) -> list[dict[str, Any]]:
        """For everybody at the table: games that count, and the mean result with its interval."""
        facts = self.game.facts
        rows = []
        for name in dict.fromkeys(seat.name for seat in self.table.seats):
            values = [
                facts.unit.scale * value
                for result in self.results
                for who, value in zip(result["names"], result["returns"], strict=True)
                if who == name
            ]
            row: dict[str, Any] = {"name": name, "games": len(values)}
            if values:
                interval = mean_interval(values)
                row["mean"] = interval.mean
                # Equal results say nothing yet about how far they spread.
                row["half_width"] = interval.half_width if len(set(values)) > 1 else None
                row["last"] = values[-1]
            rows.append(row)
        return rows

    def count(self) -> None:
        """Enter the game that has just ended in the results, unless moves were taken back."""
        if not self.table.has_taken_back and not self.is_counted:
            names = [seat.name for seat in self.table.seats]
            self.results.append({"names": names, "returns": self.table.returns()})
            self.is_counted = True

    # ---- stepping through a game that is over ----------------------------------------------------

    def look(self, step: int, viewer: int | None, layout: Layout = "wide") -> LookAnswer:
        """A step of a game without secrets: one that is over, or that only agents play."""
        self._check_open()
        if viewer is not None and viewer >= len(self.table.seats):
            raise MasqueradeError(f"there is no seat {viewer} at this table")
        ends = self._steps()
        step = min(step, len(ends) - 1)
        start = ends[step - 1] if step else 0
        entries: list[Entry] = []
        then = Position(self.game, self.table.number)
        for then, action in walk(self.game, self.table.history[: ends[step]], self.table.number):
            if len(then.history) >= start:
                entries += _entry(then, action, viewer)
        return LookAnswer(
            table=self.id,
            number=self.table.number,
            step=step,
            num_steps=len(ends) - 1,
            viewer=viewer,
            svg=self.game.draw(then.state, viewer, layout),
            text=self.game.render(then.state, viewer),
            to_move=then.turn,
            log=lines_of(entries),
        )

    @property
    def is_open(self) -> bool:
        """Whether anybody may see everything."""
        return self.table.is_over or not self.table.has_people

    def _check_open(self) -> None:
        if not self.is_open:
            raise MasqueradeError("the game can be stepped through when it is over")

    def position_at(self, step: int) -> Position:
        """The true position at a step of such a game."""
        self._check_open()
        ends = self._steps()
        history = self.table.history[: ends[min(step, len(ends) - 1)]]
        return self.game.replay(history, self.table.number)

    def _steps(self) -> list[int]:
        """How much of the history each step has: chance events in a row are one step."""
        ends, was_chance = [0], False
        for then, _ in walk(self.game, self.table.history, self.table.number):
            is_chance = then.is_chance
            if is_chance and was_chance:
                ends.pop()
            ends.append(len(then.history) + 1)
            was_chance = is_chance
        return ends

    # ---- keeping ---------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, for the store."""
        return {
            **self.table.to_dict(),
            **{name: getattr(self, name) for name in OF_THE_SERIES},
        }

    @classmethod
    def from_kept(cls, table_id: str, content: KeptTable, table: Table) -> Session:
        """The session whose table has been made again."""
        table.seed, table.number = content.seed, content.number
        table.restore([Decision(*decision) for decision in content.decisions], content.fault)
        table.has_taken_back = content.has_taken_back
        if any(len(result.names) != len(result.returns) for result in content.results):
            raise MasqueradeError("this table cannot be set up again: its results are damaged")
        return cls(table_id, table, **content.model_dump(include={*OF_THE_SERIES}))


def _entry(then: Position, action: int, viewer: int | None) -> list[Entry]:
    if viewer is None:
        return [Entry(CHANCE if then.is_chance else then.turn, then.action_text(action))]
    entry = notice(then.game, then.state, action, viewer)
    return [] if entry is None else [entry]


def _without_gaps(words: list[str]) -> list[str]:
    """Events in a row; of those that are partly hidden, what they have in common is said once.

    >>> _without_gaps(["player 0 rolls 5", "player 1 rolls …", "player 1 rolls 2"])
    ['player 0 rolls 5', 'player 1 rolls …']
    """
    hidden = [text.removesuffix(ELLIPSIS).strip() for text in words if text.endswith(ELLIPSIS)]
    said = [
        next((f"{it} {ELLIPSIS}" for it in hidden if text.startswith(it)), text) for text in words
    ]
    return list(dict.fromkeys(said)) if hidden else words


def lines_of(entries: list[Entry]) -> list[tuple[int, str]]:
    """Entries as pairs of actor and words; chance events in a row are one line."""
    lines: list[tuple[int, str]] = []
    chance: list[str] = []

    def close() -> None:
        if chance:
            lines.append((CHANCE, join_words(_without_gaps(chance))))
            chance.clear()

    for entry in entries:
        if entry.actor == CHANCE:
            chance.append(entry.words)
        else:
            close()
            lines.append((entry.actor, entry.words))
    close()
    return lines
