"""Moves have a way of their own: no slow thinker, adviser or errand of others holds one up."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import AGENTS, agent_class
from agents.base import Agent
from agents.processes.outside import OutsideAgent
from envs import make_game
from envs.core.kernels import OVER
from play import advice, agents
from play.agents import MAX_THREADS, Thinkers, is_quick
from play.catalogue import OUTSIDERS, Catalogue
from play.server import MAX_ASKED, handle
from play.table import Table, TableSeat
from play.tables import Browser, Tables

NUM_BUSY = MAX_THREADS
HEADS_UP = {"num_players": 2}
# What says of an agent that it searches: a measure of how long.
MEASURES = {"time_per_move", "iterations", "simulations", "num_simulations", "max_nodes", "seconds"}


class Busy(OutsideAgent):
    """A slow thinker without a process: it thinks until the test lets it go on."""

    started = threading.Semaphore(0)
    opens = threading.Event()

    def start(self) -> None: ...

    def stop(self, has_failed: bool) -> None: ...

    def prepare(self, views: Any) -> Any:
        return views

    def ask(self, questions: Any, rows: Any, seconds: float) -> Any:
        Busy.started.release()
        assert Busy.opens.wait()
        return questions.masks[rows].argmax(axis=1)


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Busy]]:
    """``ismcts`` is such a thinker."""
    build = agents._build

    def plant(game: Any, spec: str, params: dict[str, Any]) -> Agent:
        return Busy(game, 1.0, 1) if spec == "ismcts" else build(game, spec, params)

    monkeypatch.setattr(agents, "_build", plant)
    monkeypatch.setattr(Busy, "started", threading.Semaphore(0))
    monkeypatch.setattr(Busy, "opens", threading.Event())
    yield Busy
    Busy.opens.set()


async def hear(guest: Browser, *kinds: str) -> dict[str, Any]:
    while True:
        message: dict[str, Any] = json.loads(str(await guest.outbox.get()))
        assert message["type"] != "error" or "error" in kinds, message
        if message["type"] in kinds:
            return message


class Room:
    """A server whose tables are asked by name."""

    def __init__(self, folder: Path) -> None:
        self.tables = Tables(folder, Catalogue(), Thinkers(), pace=0)

    def guest(self) -> Browser:
        guest = Browser()
        self.tables.browsers.add(guest)
        return guest

    async def say(self, guest: Browser, kind: str, **fields: Any) -> None:
        await handle(self.tables, guest, json.dumps({"type": kind, **fields}))

    async def play_out(self, guest: Browser, rng: np.random.Generator) -> int:
        """Play to the end, and wait for the answer to every move; how many there were."""
        num_moves, view = 0, await hear(guest, "view")
        while view["to_move"] != OVER:
            if view["to_move"] == view["seat"]:
                before = view["turn"]
                action = view["choices"][rng.integers(min(2, len(view["choices"])))]["action"]
                about = {name: view[name] for name in ("table", "number", "seat", "turn")}
                await self.say(guest, "move", **about, action=action)
                view = await hear(guest, "view")
                assert view["turn"] > before
                num_moves += 1
            else:
                view = await hear(guest, "view")
        return num_moves

    async def keep_busy(self, num: int) -> list[Browser]:
        """So many tables at each of which another slow thinker is asked for a move."""
        guests = []
        for number in range(num):
            guests.append(self.guest())
            slow = {"who": "agent", "agent": "ismcts", "seconds": 1.0 + number}
            await self.say(guests[-1], "create", game="kuhn_v0", seats=[slow, {"who": "me"}])
            await hear(guests[-1], "view")
            assert await asyncio.to_thread(Busy.started.acquire, True, 120)
        return guests


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


@contextmanager
def held(patch: pytest.MonkeyPatch, owner: Any, name: str) -> Iterator[threading.Semaphore]:
    """A function does not come back until the end; how often it has been called."""
    calls, opens, function = threading.Semaphore(0), threading.Event(), getattr(owner, name)

    def wait(*arguments: Any) -> Any:
        calls.release()
        assert opens.wait()
        return function(*arguments)

    patch.setattr(owner, name, wait)
    try:
        yield calls
    finally:
        opens.set()


# ---- who is quick --------------------------------------------------------------------------------


def test_whoever_has_a_measure_of_its_thinking_is_no_quick_player() -> None:
    searches = set()
    for agent_id in set(AGENTS) - OUTSIDERS:
        parents = agent_class(agent_id).__mro__
        if MEASURES & {name for each in parents for name in inspect.signature(each).parameters}:
            searches.add(agent_id)
    assert {"pursuit_search", "holdem_search", "ismcts", "max_n"} <= searches
    assert {agent_id for agent_id in AGENTS if not is_quick(agent_id)} == {
        *searches,
        *OUTSIDERS,
        "sb3",  # a network that keeps no time
    }


def test_nobody_from_outside_is_a_quick_player() -> None:
    for agent_id in (*OUTSIDERS, "my.module:Player"):
        assert not is_quick(agent_id)


@pytest.mark.parametrize(
    ("agent_id", "game_id"),
    [("ismcts", "kuhn_v0"), ("max_n", "kuhn_v0"), ("holdem_search", "holdem_v0")],
)
@pytest.mark.parametrize("params", [{}, {"seconds": 1.0}])
def test_a_search_is_where_it_can_be_stopped(
    agent_id: str, game_id: str, params: dict[str, Any]
) -> None:
    thinkers = Thinkers()
    assert isinstance(thinkers.agent(make_game(game_id), agent_id, params), OutsideAgent)
    thinkers.close()


def test_who_gives_advice_is_not_who_plays() -> None:
    """An opponent would remember what it was shown of another seat, and be kept from its moves."""
    thinkers, game = Thinkers(), make_game("kuhn_v0")
    assert thinkers.adviser(game, "kuhn_rule") is not thinkers.agent(game, "kuhn_rule")
    assert thinkers.adviser(game, "kuhn_rule") is thinkers.adviser(game, "kuhn_rule")
    thinkers.close()


def test_an_agent_that_is_asked_is_not_stopped_to_make_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    thinkers, stopped = Thinkers(max_agents=1), list[Agent]()
    monkeypatch.setattr(agents, "_stop", stopped.append)
    games = [make_game("kuhn_v0", num_players=number) for number in (2, 3, 4)]
    first = thinkers.agent(games[0], "random")
    with thinkers.lock(first):
        thinkers.agent(games[1], "random")
        assert first not in stopped
    thinkers.agent(games[2], "random")
    assert first in stopped
    thinkers.close()


# ---- who waits for whom --------------------------------------------------------------------------


def test_every_move_is_answered_while_eight_slow_thinkers_are_busy(
    tmp_path: Path, busy: type[Busy]
) -> None:
    async def play() -> None:
        room, rng = Room(tmp_path), np.random.default_rng(5)
        waiting = await room.keep_busy(NUM_BUSY)
        for seat in (0, 1):
            seats = [{"who": "agent", "agent": "holdem_call"}] * 2
            seats[seat] = {"who": "me"}
            guest = room.guest()
            await room.say(guest, "create", game="holdem_v0", options=HEADS_UP, seats=seats)
            joined = await hear(guest, "joined")
            for number in range(3):
                assert await room.play_out(guest, rng) > 0
                again = {"table": joined["table"], "number": number, "swap": number == 1}
                await room.say(guest, "again", **again)
        assert not busy.started.acquire(blocking=False), "they are still at their first moves"
        busy.opens.set()
        for guest in waiting:
            assert (await hear(guest, "view"))["to_move"] == 1
        room.tables.close()

    run(play())


def test_tables_that_share_a_slow_thinker_wait_without_losing_their_time(
    tmp_path: Path, busy: type[Busy], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits for its turn does not think yet, and takes no thread from anybody."""
    monkeypatch.setattr(agents, "MAX_THREADS", 2)

    async def play() -> None:
        room = Room(tmp_path)
        guests = []
        for _ in range(NUM_BUSY + 1):
            guests.append(room.guest())
            slow = {"who": "agent", "agent": "ismcts"}
            await room.say(guests[-1], "create", game="kuhn_v0", seats=[slow, {"who": "me"}])
            await hear(guests[-1], "view")
        assert await asyncio.to_thread(busy.started.acquire, True, 120)
        other = await room.keep_busy(1)  # another thinker finds a thread
        busy.opens.set()
        for guest in (*guests, *other):
            view = await hear(guest, "view")
            assert (view["to_move"], view.get("fault")) == (1, None)
        room.tables.close()

    run(play())


def test_moves_do_not_wait_for_what_others_have_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play() -> None:
        room = Room(tmp_path)
        player = room.guest()
        seats = [{"who": "me"}, {"who": "agent", "agent": "kuhn_rule"}]
        await room.say(player, "create", game="kuhn_v0", seats=seats)
        await hear(player, "joined")
        with held(monkeypatch, room.tables.library, "games_of") as opened:
            for _ in range(-(-2 * MAX_THREADS // MAX_ASKED)):
                crowd = room.guest()
                for _ in range(MAX_ASKED):
                    await room.say(crowd, "tournament", name="x")
            for _ in range(MAX_THREADS):
                assert await asyncio.to_thread(opened.acquire, True, 120)
            await room.say(crowd, "tournament", name="x")
            assert "wait for the answers" in (await hear(crowd, "error"))["text"]
            assert await room.play_out(player, np.random.default_rng(0)) > 0
        room.tables.close()

    run(play())


def test_moves_do_not_wait_for_the_advice_that_the_same_agent_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play() -> None:
        room = Room(tmp_path)
        guests = [room.guest() for _ in range(2)]
        views = []
        for guest in guests:
            seats = [{"who": "me"}, {"who": "agent", "agent": "kuhn_rule"}]
            await room.say(guest, "create", game="kuhn_v0", seats=seats)
            views.append(await hear(guest, "view"))
        with held(monkeypatch, advice, "advise") as asked:
            about = {name: views[0][name] for name in ("table", "number", "seat")}
            await room.say(guests[0], "hint", **about, agent="kuhn_rule")
            assert await asyncio.to_thread(asked.acquire, True, 120)
            about = {name: views[1][name] for name in ("table", "number", "seat", "turn")}
            await room.say(guests[1], "move", **about, action=0)
            while views[1]["to_move"] != OVER and len(views[1]["log"]) < 3:
                views[1] = await hear(guests[1], "view")
        room.tables.close()

    run(play())


def test_the_end_of_a_game_does_not_hold_up_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file is written beside everything else; then the last move is answered."""

    async def play() -> None:
        room = Room(tmp_path)
        players = [room.guest(), room.guest()]
        seats = [{"who": "me"}, {"who": "agent", "agent": "kuhn_rule"}]
        with held(monkeypatch, room.tables.library, "keep") as ended:
            await room.say(players[0], "create", game="kuhn_v0", seats=seats)
            slow_end = asyncio.create_task(room.play_out(players[0], np.random.default_rng(0)))
            assert await asyncio.to_thread(ended.acquire, True, 120)
            await room.say(players[1], "create", game="kuhn_v0", seats=seats)
            assert (await hear(players[1], "view"))["to_move"] == 0
            assert not slow_end.done()
        assert await slow_end > 0
        room.tables.close()

    run(play())


def test_a_showdown_is_put_into_words_without_going_through_every_amount(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last call of a hand turns up cards that no world drawn before has: all had been asked."""
    game = make_game("holdem_v0", num_players=2, menu="exact")
    table = Table(game, [TableSeat("one"), TableSeat("other")])
    table.begin(seed=1)
    asked: list[int] = []
    words = type(game).action_text

    def count(self: Any, state: Any, action: int) -> str:
        asked.append(action)
        return words(self, state, action)

    monkeypatch.setattr(type(game), "action_text", count)
    while not table.is_over:
        assert len(table.position.legal_actions()) > 1000
        table.move(table.turn, 1)  # checks and calls
    for seat in (0, 1):
        said = [entry.words for entry in table.log(seat) if entry.actor >= 0]
        assert len(said) == 8
        assert said[-1].startswith("check")
    assert len(asked) < 1000
