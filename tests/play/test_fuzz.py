"""Broken messages: each gets an answer in words, none changes a table, none raises anything."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from play.agents import Thinkers
from play.catalogue import Catalogue
from play.messages import MAX_MESSAGE
from play.server import FAULT, handle
from play.tables import Browser, Tables

NUM_MESSAGES = 10_000
JUNK: list[Any] = [
    None,
    True,
    -1,
    0,
    1,
    63,
    64,
    2**31,
    2**63,
    -(2**70),
    1.5,
    float("1e308"),
    "",
    "x",
    "\0",
    "../../etc/passwd",
    "é" * 50,
    "a" * 500,
    [],
    [1, 2],
    {},
    {"a": {"b": []}},
    [[[[[]]]]],
    {"__class__": "x"},
]
FIELDS = (
    *("table", "key", "invite", "seat", "turn", "action", "game", "options", "seats", "pace"),
    *("is_paused", "has_step", "agent", "seconds", "step", "viewer", "name", "swap", "extra"),
    *("text", "number"),
)
KINDS = (
    *("lobby", "players", "create", "open", "join", "move", "take_back", "again", "pace"),
    *("hint", "look", "review", "learnt", "nothing", "view", "__init__"),
    *("tournament", "save_map", "load_map"),
)
# What changes a table if it happens to be right is sent with something wrong in it.
HARMLESS = {
    "lobby",
    "players",
    "open",
    "look",
    "hint",
    "review",
    "learnt",
    "tournament",
    "load_map",
}


def broken(rng: np.random.Generator, table: str, seat: int) -> str:
    """A message with at least one thing wrong in it."""
    way = rng.integers(6)
    if way == 0:
        return str(rng.choice(["", "{", "[]", "null", "7", '"x"', "{}", "\0", "[" * 5000, "NaN"]))
    if way == 1:
        return "x" * (MAX_MESSAGE + 10)
    kind = str(rng.choice(KINDS))
    fields: dict[str, Any] = {"table": table, "number": 0, "seat": seat}
    for name in rng.choice(FIELDS, size=rng.integers(1, 5)):
        fields[str(name)] = JUNK[rng.integers(len(JUNK))]
    if kind not in HARMLESS:
        fields["extra"] = 1
    if way == 2:
        fields["type"] = JUNK[rng.integers(len(JUNK))]
        return json.dumps(fields)
    text = json.dumps({"type": kind, **fields})
    return text if way > 3 else text[: rng.integers(1, len(text))]


def test_broken_messages_change_no_table_and_are_all_answered(tmp_path: Path) -> None:
    asyncio.run(fuzz(tmp_path))


async def answered(guest: Browser, what: str) -> dict[str, Any]:
    """The next thing that is sent, but for advisers and rules, which come by themselves."""
    while True:
        answer: dict[str, Any] = json.loads(str(await guest.outbox.get()))
        if answer["type"] not in ("advisers", "rules"):
            return answer


async def fuzz(folder: Path) -> None:
    tables = Tables(folder, Catalogue(), Thinkers(), pace=0)
    guest = Browser()
    tables.browsers.add(guest)
    seats = [{"who": "me"}, {"who": "guest"}]
    message = {"type": "create", "game": "kuhn_v0", "seats": seats}
    await handle(tables, guest, json.dumps(message))
    while (await answered(guest, "a table"))["type"] != "view":
        pass
    table_id = next(iter(tables.sessions))
    before = json.dumps(tables.sessions[table_id].to_dict())
    kept = (folder / "tables" / f"{table_id}.json").read_bytes()
    rng = np.random.default_rng(0)
    for number in range(NUM_MESSAGES):
        text = broken(rng, table_id, 0)
        await handle(tables, guest, text)
        answer = await answered(guest, f"message {number}: {text[:200]}")
        assert answer["type"] in ("error", "lobby", "players", "look", "hint", "learnt"), text[:200]
        assert answer.get("text") != FAULT, text
        if answer["type"] == "error":
            assert "\n" not in answer["text"]
            assert len(answer["text"]) < 2000
    assert json.dumps(tables.sessions[table_id].to_dict()) == before
    assert (folder / "tables" / f"{table_id}.json").read_bytes() == kept
    assert list(tables.sessions) == [table_id]
    tables.close()


# ---- tables that somebody has edited -------------------------------------------------------------

EDITS: list[tuple[str, Any]] = [
    ("version", 2),
    ("game", "os"),
    ("options", {"board": "/etc/passwd"}),
    ("options", {"game_id": 1}),
    ("seed", -1),
    ("seed", 2**80),
    ("number", 2**40),
    ("decisions", [[0, 2**40, ""]]),
    ("decisions", [[1, 0, ""]]),
    ("decisions", [[0, 7, ""]]),
    ("decisions", [[0, 0, "0" * 64]]),
    ("decisions", [[0, 0, ""]] * 50),
    ("decisions", "x"),
    ("fault", [99]),
    ("pace", 10**9),
    ("title", ["x"]),
    ("results", [{"names": ["a"], "returns": []}]),
    ("results", [{"names": ["a"], "returns": ["NaN"]}]),
    ("seats", []),
    ("seats", [{"name": "x", "agent": "os:getcwd", "params": {}, "key": "", "invite": ""}] * 2),
    ("seats", [{"name": "x", "agent": "random", "params": {"path": "x"}, "key": "", "invite": ""}]),
    ("extra", 1),
]


@pytest.mark.parametrize(("name", "value"), EDITS, ids=lambda value: str(value)[:30])
def test_a_table_that_was_edited_is_refused_in_a_line(
    tmp_path: Path, name: str, value: object
) -> None:
    asyncio.run(edited(tmp_path, name, value))


async def edited(folder: Path, name: str, value: object) -> None:
    tables = Tables(folder, Catalogue(), Thinkers(), pace=0)
    guest = Browser()
    seats = [{"who": "me"}, {"who": "me"}]
    await handle(tables, guest, json.dumps({"type": "create", "game": "kuhn_v0", "seats": seats}))
    joined = await answered(guest, "a table")
    table_id = joined["table"]
    while (await answered(guest, "a table"))["type"] != "view":
        pass
    path = folder / "tables" / f"{table_id}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    tables.sessions.clear()
    stranger = Browser()
    join = {"type": "join", "table": table_id, "key": joined["key"]}
    await handle(tables, stranger, json.dumps(join))
    answer = await answered(stranger, "a join")
    assert answer["type"] == "error"
    assert answer["text"] != FAULT
    assert "\n" not in answer["text"]
    assert not tables.sessions
    tables.close()
