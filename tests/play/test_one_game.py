"""Whatever is asked about a game of a table belongs to that game: never to the next one."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from agents.advice import advise
from agents.base import Agent
from agents.learnt import exhibits
from envs.core.kernels import OVER
from play import counsel
from play.advice import Verdict
from play.catalogue import Catalogue
from play.guest import Guest
from play.hall import FAULT, Hall
from play.messages import AboutGame, Client, Join, parse_message
from play.session import Session
from play.thinking import Thinkers

ME, GUEST, AGENT = {"who": "me"}, {"who": "guest"}, {"who": "agent", "agent": "kuhn_rule"}
# What a message about a game says beside the game; a new message without an entry fails.
FIELDS: dict[str, dict[str, Any]] = {
    "move": {"seat": 0, "turn": 0, "action": 0},
    "take_back": {"seat": 0},
    "again": {},
    "pace": {"pace": 7, "has_step": True},
    "hint": {"seat": 0, "agent": "kuhn_rule"},
    "look": {"step": 0},
    "learnt": {"agent": "kuhn_rule"},
    "review": {"seat": 0, "agent": "kuhn_rule"},
    "save_map": {"name": "x"},
}


def kind_of(model: type[Any]) -> str:
    return str(get_args(model.model_fields["type"].annotation)[0])


ABOUT_A_TABLE = {
    kind_of(model): model for model in get_args(Client) if "table" in model.model_fields
}


class Room:
    """A hall, and tables of Kuhn poker in it."""

    def __init__(self, folder: Path) -> None:
        self.hall = Hall(folder, Catalogue(), Thinkers(), pace=0)

    async def table(self, *seats: dict[str, Any]) -> tuple[Session, Guest, dict[str, Any]]:
        guest = Guest()
        self.hall.enter(guest)
        await self.say(guest, "create", game="kuhn_v0", seats=list(seats))
        joined = await hear(guest, "joined")
        return self.hall.tables.sessions[joined["table"]], guest, joined

    async def say(self, guest: Guest, kind: str, **fields: Any) -> None:
        await self.hall.handle(guest, json.dumps({"type": kind, **fields}))

    async def about(self, guest: Guest, session: Session, kind: str, **fields: Any) -> None:
        """Say something about the game in play, unless ``fields`` name another."""
        about = {"table": session.id, "number": session.table.number}
        await self.say(guest, kind, **{**about, **FIELDS[kind], **fields})

    async def play_out(self, session: Session, guests: list[Guest]) -> None:
        """Everybody passes."""
        table = session.table
        while not table.is_over:
            seat, turn = table.turn, table.turn_of(table.turn)
            await self.about(guests[seat], session, "move", seat=seat, turn=turn)


async def hear(guest: Guest, *kinds: str) -> dict[str, Any]:
    """The next message of one of these kinds."""
    while True:
        text = str(await guest.outbox.get())
        assert FAULT not in text
        message: dict[str, Any] = json.loads(text)
        if message["type"] in kinds:
            return message


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


class Gate:
    """Holds advice until the test lets it go on."""

    def __init__(self, patch: pytest.MonkeyPatch, name: str, function: Callable[..., Any]) -> None:
        self.has_come, self.opens = threading.Event(), threading.Event()

        def wait(*arguments: Any) -> Any:
            self.has_come.set()
            assert self.opens.wait()
            return function(*arguments)

        patch.setattr(counsel, name, wait)

    async def is_reached(self) -> None:
        assert await asyncio.to_thread(self.has_come.wait, 120)


# ---- messages ------------------------------------------------------------------------------------


def test_every_message_about_a_table_says_which_game_it_is_about() -> None:
    """But for the one by which a browser comes to the table."""
    others = {kind for kind, model in ABOUT_A_TABLE.items() if not issubclass(model, AboutGame)}
    assert others == {kind_of(Join)}
    assert set(ABOUT_A_TABLE) - others == set(FIELDS), "say what a new message needs"


@pytest.mark.parametrize("kind", sorted(FIELDS))
def test_a_message_of_an_earlier_page_is_refused_in_words(kind: str) -> None:
    with pytest.raises(Exception, match=r"which game of the table .* reload the page"):
        parse_message(json.dumps({"type": kind, "table": "t", **FIELDS[kind]}))


def test_no_message_about_an_earlier_game_does_anything(tmp_path: Path) -> None:
    """Each would be right in the game in play, or at its end, if it were about that one."""

    async def play() -> None:
        room = Room(tmp_path)
        session, guest, joined = await room.table(ME, GUEST)
        other = Guest()
        room.hall.enter(other)
        await room.say(other, "join", table=session.id, invite=joined["invites"]["1"])
        await hear(other, "view")
        await room.play_out(session, [guest, other])
        await room.about(guest, session, "again")
        assert session.table.number == 1
        for is_over in (False, True):
            if is_over:
                await room.play_out(session, [guest, other])
            while not guest.outbox.empty():
                guest.outbox.get_nowait()
            before = json.dumps(session.to_dict())
            for kind in FIELDS:
                turn = {"turn": session.table.turn_of(0)} if kind == "move" else {}
                for number in (0, 2):
                    await room.about(guest, session, kind, number=number, **turn)
                    answer = await hear(guest, *ABOUT_A_TABLE, "error", "view", "table", "maps")
                    assert answer["type"] == "error", kind
                    assert "another game" in answer["text"], kind
                    assert (answer["about"], answer["number"]) == (kind, number)
            assert json.dumps(session.to_dict()) == before
        await room.hall.close()

    run(play())


def test_a_move_decided_before_another_was_taken_back_is_late(tmp_path: Path) -> None:
    """Though as much has happened in the game as then."""

    async def play() -> None:
        room = Room(tmp_path)
        session, guest, _ = await room.table(ME, ME)
        table = session.table
        await room.about(guest, session, "move", turn=table.turn_of(0), action=0)
        late = table.turn_of(1)
        await room.about(guest, session, "take_back")
        await room.about(guest, session, "move", turn=table.turn_of(0), action=1)
        assert table.turn == 1
        await room.about(guest, session, "move", seat=1, turn=late, action=1)
        assert "gone on" in (await hear(guest, "error"))["text"]
        assert [decision.action for decision in table.decisions] == [1]
        await room.hall.close()

    run(play())


# ---- what takes long -----------------------------------------------------------------------------


def test_a_review_does_not_tell_of_the_next_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked for at the end, and given when the opponent has moved in the next game."""

    async def play() -> None:
        room = Room(tmp_path)
        reviewed: list[tuple[int, int]] = []

        def review(table: Any, seat: int, _agent: Agent) -> list[Any]:
            reviewed.append((table.number, len(table.decisions)))
            return []

        gate = Gate(monkeypatch, "review", review)
        session, guest, joined = await room.table(ME, GUEST)
        other = Guest()
        room.hall.enter(other)
        await room.say(other, "join", table=session.id, invite=joined["invites"]["1"])
        await hear(other, "view")
        await room.play_out(session, [guest, other])
        num_decisions = len(session.table.decisions)
        await room.about(other, session, "review", seat=0)
        await gate.is_reached()
        await room.about(guest, session, "again")
        await room.about(guest, session, "move", turn=session.table.turn_of(0), action=1)
        gate.opens.set()
        answer = await hear(other, "review", "error")
        assert reviewed == [(0, num_decisions)], "the game that it was asked about"
        assert answer["type"] == "error", "and dropped, for another one is in play"
        assert "another game" in answer["text"]
        await room.hall.close()

    run(play())


def test_a_review_that_nobody_waits_for_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long game of a slow adviser would keep its thread from others for minutes."""

    async def play() -> None:
        room = Room(tmp_path)
        has_begun, opens = threading.Event(), threading.Event()
        looked_at: list[int] = []

        def review(_table: Any, _seat: int, _agent: Agent) -> Iterator[Verdict]:
            has_begun.set()
            assert opens.wait()
            for number in range(9):
                looked_at.append(number)
                yield Verdict(number, "pass", 1.0, "pass", 1.0, None)

        monkeypatch.setattr(counsel, "review", review)
        session, guest, _ = await room.table(ME, ME)
        await room.play_out(session, [guest, guest])
        await room.about(guest, session, "review")
        assert await asyncio.to_thread(has_begun.wait)
        await room.about(guest, session, "again")
        opens.set()
        assert "another game" in (await hear(guest, "review", "error"))["text"]
        assert looked_at == [0]
        await room.hall.close()

    run(play())


def test_the_end_of_a_game_does_not_name_the_file_of_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody comes to the table while the game is being written."""

    async def play() -> None:
        room = Room(tmp_path)
        session, guest, joined = await room.table(ME, ME)
        await room.play_out(session, [guest, guest])
        assert session.kept
        has_come, opens = asyncio.Event(), asyncio.Event()
        keep_game = room.hall.tables.keep_game

        async def keep_later(session: Session) -> None:
            has_come.set()
            await opens.wait()
            await keep_game(session)

        monkeypatch.setattr(room.hall.tables, "keep_game", keep_later)
        first = session.kept
        await room.about(guest, session, "again")
        last = asyncio.create_task(room.play_out(session, [guest, guest]))
        await has_come.wait()
        back = Guest()
        room.hall.enter(back)
        await room.say(back, "join", table=session.id, key=joined["key"])
        view = await hear(back, "view")
        assert (view["to_move"], view["kept"]) == (OVER, "")
        opens.set()
        await last
        while not view["kept"]:
            view = await hear(back, "view")
        assert view["kept"] != first
        await room.hall.close()

    run(play())


@pytest.mark.parametrize("change", ["again", "swap", "leaves", "other seat", "nothing"])
@pytest.mark.parametrize("kind", ["hint", "learnt"])
def test_an_answer_comes_only_to_whom_and_where_it_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, change: str
) -> None:
    async def play() -> None:
        room = Room(tmp_path)
        plain = {"hint": advise, "learnt": exhibits}[kind]
        gate = Gate(monkeypatch, {"hint": "advise", "learnt": "exhibits"}[kind], plain)
        session, guest, _ = await room.table(ME, AGENT)
        number = session.table.number
        await room.about(guest, session, kind, seat=0)
        await gate.is_reached()
        if change in ("again", "swap"):
            await room.about(guest, session, "again", swap=change == "swap")
        elif change == "leaves":
            for place in range(24):
                guest.sit(f"elsewhere {place}", [0])
        elif change == "other seat":
            guest.sit(session.id, [1])
        gate.opens.set()
        answer = await hear(guest, kind, "error")
        assert answer["type"] == (kind if change == "nothing" else "error")
        assert answer["number"] == number
        await room.hall.close()

    run(play())


def test_an_agent_hears_the_end_of_the_game_that_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though by the time it has a moment for it the next game is in play."""

    async def play() -> None:
        room = Room(tmp_path)
        told: list[tuple[int, int, list[float]]] = []
        has_time, is_told = asyncio.Event(), asyncio.Event()

        def end_games(game_ids: Any, seats: Any, returns: Any) -> None:
            told.append((int(game_ids[0]), int(seats[0]), returns[0].tolist()))

        async def tell(_thinkers: Thinkers, _agent: Agent, news: Callable[[], None]) -> None:
            await has_time.wait()
            news()
            is_told.set()

        monkeypatch.setattr(Thinkers, "tell", tell)
        session, guest, _ = await room.table(ME, AGENT)
        table = session.table
        monkeypatch.setattr(table.agents[1], "end_games", end_games)
        view = await hear(guest, "view")
        while view["to_move"] != OVER:
            if view["to_move"] == 0:
                await room.about(guest, session, "move", turn=view["turn"])
            view = await hear(guest, "view")
        expected = int(table._batch.game_ids(np.array([0]), np.array([1]))[0]), 1, table.returns()
        await room.about(guest, session, "again")
        has_time.set()
        await is_told.wait()
        assert told == [expected]
        await room.hall.close()

    run(play())
