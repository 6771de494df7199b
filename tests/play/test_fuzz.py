"""Broken messages: each gets an answer in words, none changes a table, none raises anything."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np

from play.catalogue import Catalogue
from play.hall import Guest, Hall
from play.messages import MAX_MESSAGE
from play.thinking import Thinkers

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
)
KINDS = (
    *("lobby", "players", "create", "open", "join", "move", "take_back", "again", "pace"),
    *("hint", "look", "review", "nothing", "view", "__init__"),
)
# What changes a table if it happens to be right is sent with something wrong in it.
HARMLESS = {"lobby", "players", "open", "look", "hint", "review"}


def broken(rng: np.random.Generator, table: str, seat: int) -> str:
    """A message with at least one thing wrong in it."""
    way = rng.integers(6)
    if way == 0:
        return str(rng.choice(["", "{", "[]", "null", "7", '"x"', "{}", "\0", "[" * 5000, "NaN"]))
    if way == 1:
        return "x" * (MAX_MESSAGE + 10)
    kind = str(rng.choice(KINDS))
    fields: dict[str, Any] = {"table": table, "seat": seat}
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


async def fuzz(folder: Path) -> None:
    hall = Hall(folder, Catalogue(), Thinkers(), pace=0)
    guest = Guest()
    hall.enter(guest)
    seats = [{"who": "me"}, {"who": "guest"}]
    message = {"type": "create", "game": "kuhn_v0", "seats": seats}
    await hall.handle(guest, json.dumps(message))
    table_id = next(iter(hall.sessions))
    before = json.dumps(hall.sessions[table_id].to_dict())
    kept = (folder / "tables" / f"{table_id}.json").read_bytes()
    rng = np.random.default_rng(0)
    for number in range(NUM_MESSAGES):
        while not guest.outbox.empty():
            guest.outbox.get_nowait()
        text = broken(rng, table_id, 0)
        await hall.handle(guest, text)
        assert not guest.outbox.empty(), f"message {number} was not answered: {text[:200]}"
        answer = json.loads(str(guest.outbox.get_nowait()))
        assert answer["type"] in ("error", "lobby", "players", "look", "hint"), text[:200]
        if answer["type"] == "error":
            assert "\n" not in answer["text"]
            assert len(answer["text"]) < 2000
    assert json.dumps(hall.sessions[table_id].to_dict()) == before
    assert (folder / "tables" / f"{table_id}.json").read_bytes() == kept
    assert list(hall.sessions) == [table_id]
    await hall.close()
