"""What goes wrong round a table, and who is at it for no good: everybody else's game goes on."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import HTTPConnection

from envs.core.errors import MasqueradeError
from play.catalogue import Catalogue
from play.door import main
from play.files import Library
from play.guest import Guest
from play.hall import FAULT, Hall
from play.server import LOOPBACK, _is_allowed, hosts_of
from play.session import Session
from play.store import Store
from play.thinking import Thinkers

FULL, READ_ONLY = OSError(28, "No space left on device"), OSError(30, "Read-only file system")
AGENT = {"who": "agent", "agent": "random"}


class Disk:
    """One that takes nothing while ``fault`` is set."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.fault: OSError | None = None
        opened, synced = os.open, os.fsync

        def open_file(path: Any, flags: int, *rest: Any, **more: Any) -> int:
            if self.fault is READ_ONLY and flags & os.O_CREAT:
                raise self.fault
            return opened(path, flags, *rest, **more)

        def sync(file: Any) -> None:
            if self.fault is not None:
                raise self.fault
            synced(file)

        patch.setattr(os, "open", open_file)
        patch.setattr(os, "fsync", sync)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


class Room:
    """A hall and browsers in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hall = Hall(folder, Catalogue(), Thinkers(), pace=0)

    def guest(self) -> Guest:
        guest = Guest()
        self.hall.enter(guest)
        return guest

    async def say(self, guest: Guest, kind: str, **fields: Any) -> None:
        await self.hall.handle(guest, json.dumps({"type": kind, **fields}))

    async def settle(self) -> None:
        """Wait until all is done that was begun beside the messages."""
        while jobs := list(self.hall.tables._jobs):
            await asyncio.wait(jobs)

    async def create(self, guest: Guest, *seats: dict[str, Any]) -> tuple[Session, dict[str, Any]]:
        await self.say(guest, "create", game="kuhn_v0", seats=list(seats))
        joined = await hear(guest, "joined")
        return self.hall.tables.sessions[joined["table"]], joined

    async def move(self, guest: Guest, session: Session, seat: int, action: int) -> None:
        turn = session.table.turn_of(seat)
        about = {"table": session.id, "number": session.table.number}
        await self.say(guest, "move", **about, seat=seat, turn=turn, action=action)

    def kept(self, session: Session) -> dict[str, Any]:
        path = self.folder / "tables" / f"{session.id}.json"
        content: dict[str, Any] = json.loads(path.read_text())
        return content


async def hear(guest: Guest, *kinds: str) -> dict[str, Any]:
    """The next message of one of these kinds."""
    while True:
        text = str(await guest.outbox.get())
        assert FAULT not in text
        message: dict[str, Any] = json.loads(text)
        if message["type"] in kinds:
            return message


async def hear_end(guest: Guest) -> dict[str, Any]:
    while True:
        message = await hear(guest, "view", "error")
        if message.get("to_move") == -2:
            return message


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


# ---- a disk that takes nothing -------------------------------------------------------------------


@pytest.mark.parametrize("fault", [FULL, READ_ONLY], ids=["full", "read-only"])
def test_a_game_goes_on_where_nothing_can_be_kept_and_says_so(
    fault: OSError, tmp_path: Path, disk: Disk
) -> None:
    async def play() -> None:
        room = Room(tmp_path)
        guest = room.guest()
        session, _ = await room.create(guest, {"who": "me"}, AGENT)
        before = room.kept(session)
        disk.fault = fault
        while not session.table.is_over:
            if session.table.turn == 0:
                await room.move(guest, session, 0, 0)
                assert str(fault.strerror) in (await hear(guest, "error"))["text"]
            await asyncio.sleep(0.01)
        assert "returns" in await hear_end(guest), "the agent has moved, and it is shown"
        assert room.kept(session) == before, "the older file stays whole"
        files = [path.name for path in tmp_path.rglob("*") if path.is_file()]
        assert files == [f"{session.id}.json"], "nothing is left lying about"
        disk.fault = None
        await room.say(guest, "again", table=session.id, number=session.table.number, seat=0)
        await hear(guest, "view")
        assert room.kept(session)["number"] == before["number"] + 1
        await room.hall.close()

    run(play())


def test_an_invitation_is_not_lost_to_a_full_disk(tmp_path: Path, disk: Disk) -> None:
    async def play() -> None:
        room = Room(tmp_path)
        host, guest = room.guest(), room.guest()
        session, joined = await room.create(host, {"who": "me"}, {"who": "guest"})
        disk.fault = FULL
        await room.say(guest, "join", table=session.id, invite=joined["invites"]["1"])
        key = (await hear(guest, "joined"))["key"]
        assert session.seats_of(key) == [1]
        await room.hall.close()

    run(play())


def test_a_table_that_cannot_be_kept_is_not_made(tmp_path: Path, disk: Disk) -> None:
    async def play() -> None:
        room = Room(tmp_path)
        guest = room.guest()
        disk.fault = FULL
        await room.say(guest, "create", game="kuhn_v0", seats=[{"who": "me"}, AGENT])
        assert "No space left" in (await hear(guest, "error", "joined")).get("text", "")
        assert not room.hall.tables.sessions
        await room.hall.close()

    run(play())


def test_old_tables_and_games_that_cannot_be_removed_do_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("play.store.PRUNE_EVERY", 1)
    monkeypatch.setattr("play.store.MAX_KEPT", 1)
    store = Store(tmp_path)
    (tmp_path / "nowhere.json").symlink_to(tmp_path / "not there")
    (tmp_path / "folder.json").mkdir()
    for name in ("aaaa", "bbbb", "cccc"):
        store.write(name, {})
    assert (tmp_path / "cccc.json").is_file()


@pytest.mark.parametrize("words", [[], ["kuhn_v0"], ["--load", "kept.json"]])
def test_a_server_without_a_place_for_tables_does_not_start(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kept.json").write_text("{}")
    assert main([*words, "--no-open", "--port", "0", "--folder", "/proc/nowhere"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("play.py: /proc/nowhere")
    assert said.count("\n") == 1


@pytest.mark.parametrize("name", ["bad.json", "bad.phh"])
def test_a_file_that_is_no_game_is_not_taken_among_the_games(tmp_path: Path, name: str) -> None:
    library = Library(tmp_path / "games", Catalogue())
    (tmp_path / name).write_text("{}")
    with pytest.raises(MasqueradeError, match=r"bad|PHH|hand"):
        library.take(tmp_path / name)
    assert list(library.folder.iterdir()) == []


def test_a_game_that_cannot_be_read_is_no_download(tmp_path: Path) -> None:
    library = Library(tmp_path, Catalogue())
    (tmp_path / "latin.json").write_bytes(b"\xff\xfe")
    assert library.download("latin.json") is None
    assert library.download("latin.phh") is None


# ---- who is at it for no good --------------------------------------------------------------------


def test_who_came_after_the_end_does_not_stop_the_next_game(tmp_path: Path) -> None:
    """A watcher may see a game that is over; in the next one people play, and it sees nothing."""

    async def play() -> None:
        room = Room(tmp_path)
        host, other, watchers = room.guest(), room.guest(), [room.guest() for _ in range(20)]
        session, joined = await room.create(host, {"who": "me"}, {"who": "guest"})
        await room.say(other, "join", table=session.id, invite=joined["invites"]["1"])
        await hear(other, "view")
        while not session.table.is_over:
            seat = session.table.turn
            await room.move([host, other][seat], session, seat, 0)
        await hear_end(host)
        await hear_end(other)
        for watcher in watchers:
            await room.say(watcher, "join", table=session.id)
            await hear_end(watcher)
        await room.settle()
        for guest in (host, other, *watchers):
            while not guest.outbox.empty():
                guest.outbox.get_nowait()
        await room.say(host, "again", table=session.id, number=session.table.number, seat=0)
        assert (await hear(host, "view", "error"))["type"] == "view"
        assert (await hear(other, "view", "error"))["type"] == "view"
        seat = session.table.turn
        await room.move([host, other][seat], session, seat, 0)
        assert (await hear(host, "view", "error"))["type"] == "view"
        assert (await hear(other, "view", "error"))["type"] == "view"
        await room.settle()
        for watcher in watchers:
            kinds = [json.loads(str(watcher.outbox.get_nowait()))["type"]
                     for _ in range(watcher.outbox.qsize())]  # fmt: skip
            assert "view" not in kinds
        await room.hall.close()

    run(play())


def test_two_who_change_seats_at_once_do_not_get_each_others(tmp_path: Path) -> None:
    """The seats of a browser and the keys at the table stay together, whoever comes in between."""

    async def play() -> None:
        room = Room(tmp_path)
        host, rogue, twin = room.guest(), room.guest(), room.guest()
        session, joined = await room.create(host, {"who": "me"}, {"who": "guest"})
        await room.say(rogue, "join", table=session.id, invite=joined["invites"]["1"])
        key = (await hear(rogue, "joined"))["key"]
        await room.say(twin, "join", table=session.id, key=key)
        await hear(twin, "joined")
        while not session.table.is_over:
            seat = session.table.turn
            await room.move([host, rogue][seat], session, seat, 0)
        number = session.table.number
        again = {"table": session.id, "number": number, "swap": True}
        await asyncio.gather(*(room.say(guest, "again", **again) for guest in (rogue, twin, host)))
        assert session.table.number == number + 1, "one game is begun"
        for guest, own in ((host, joined["key"]), (rogue, key), (twin, key)):
            assert guest.places[session.id] == session.seats_of(own)
        await room.hall.close()

    run(play())


@pytest.mark.parametrize(
    ("host", "is_there"),
    [
        ("127.0.0.1:8420", True),
        ("192.168.1.7:8420", True),
        ("[fe80::1]:8420", True),
        ("ours:8420", True),
        ("ours.local:8420", True),
        ("evil.example:8420", False),
        ("", False),
        ("192.168.1.7.evil.example", False),
    ],
)
def test_a_server_for_all_answers_to_addresses_and_its_own_name(host: str, is_there: bool) -> None:
    """Another site that has its name point here would otherwise be one of our pages."""
    connection = HTTPConnection({"type": "http", "headers": [(b"host", host.encode())]})
    assert _is_allowed(connection, hosts_of("0.0.0.0", "ours")) == is_there
    assert _is_allowed(connection, LOOPBACK) == host.startswith("127")
