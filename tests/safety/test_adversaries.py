"""Adversaries at the wire and at the page: they learn nothing that is hidden and spoil no result.

What a program or a browser is sent is all it has. So everything is recorded and compared, byte for
byte, with what is sent where only hidden things are otherwise; and whatever they may say, other
people's games go on as if they had said nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.processes.external import ExternalAgent
from agents.spec import AgentSpec
from arena.match import play_match
from arena.spec import TournamentSpec
from arena.tournament import run_tournament
from envs import make_game
from envs.core.rng import new_rng
from play.agents import Thinkers
from play.catalogue import Catalogue
from play.server import FAULT, handle
from play.session import Session
from play.tables import Browser, Tables
from tests.support.sampling import IS_FULL
from tests.support.wire import lines_of

MORE = 10 if IS_FULL else 1
WANTS_ALL = ["python", "tests/support/planted_player.py", "wants everything", "1", "64"]

# ---- programs ------------------------------------------------------------------------------------

SMALL: list[tuple[str, dict[str, Any], int]] = [
    ("kuhn_v0", {"num_players": 3}, 300),
    ("leduc_v0", {}, 300),
    ("liars_dice_v0", {"dice": 1, "faces": 3}, 300),
    ("holdem_v0", {"num_players": 2}, 400),
    ("no_thanks_v0", {"highest": 8, "removed": 3, "chips": 2}, 100),
    ("scotland_yard_v0", {"preset": "reduced", "rows": 3, "columns": 3, "rounds": 2}, 400),
    ("phantom_v0", {"preset": "map_1", "rounds": 2}, 30),
]


def rows_sent(lines: list[str]) -> list[dict[str, Any]]:
    messages = [json.loads(line) for line in lines]
    return [row for each in messages if each["type"] == "act" for row in each["rows"]]


@pytest.mark.parametrize(("game_id", "options", "num_games"), SMALL, ids=lambda value: str(value))
def test_in_whole_matches_a_program_is_sent_what_its_tokens_say_and_no_more(
    game_id: str, options: dict[str, Any], num_games: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In all games in which a seat has noticed the same it is sent the same, byte for byte.

    But for the number of its game and the seed of its own chance, which come from one-way functions
    and are the same if only hidden things differ (see ``test_external.py``).
    """
    lines = lines_of(monkeypatch)
    game = make_game(game_id, **options)
    program = ExternalAgent(game, command=WANTS_ALL)
    others = [make_agent("random", game) for _ in range(game.facts.num_players - 1)]
    for seats in ([program, *others], [*others, program]):
        play_match(game, seats, MORE * num_games, seed=7, has_forfeits=True)
    known: dict[tuple[Any, ...], str] = {}
    num_met = 0
    for row in rows_sent(lines):
        del row["seed"], row["game"]
        key = row["seat"], tuple(row["tokens"])
        text = json.dumps(row)
        num_met += key in known
        assert known.setdefault(key, text) == text
    assert num_met > 20, "the same was never noticed twice"


SNOOP = """
import json, os, sys
from pathlib import Path

def spoken():
    found = [json.dumps(dict(os.environ)), " ".join(sys.argv), os.getcwd()]
    fds = [fd for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")]
    found.append(f"{len(fds)} open files")
    for name in ("cmdline", "environ"):
        found.append(Path(f"/proc/{os.getppid()}/{name}").read_text(errors="replace"))
    for path in sorted(Path(sys.argv[1]).rglob("*")):
        if path.name == "seed":  # for --resume; who is not this user cannot read it
            found.append(f"mode {path.stat().st_mode & 0o777:o}")
        elif path.is_file():
            found.append(str(path) + path.read_bytes().decode("latin-1"))
    return found

heard = []
for line in sys.stdin:
    heard.append(line)
    message = json.loads(line)
    if message["type"] == "hello":
        wants = ["observation", "tokens", "text", "words"]
        answer = {"protocol": 1, "wants": wants, "max_rows": 64}
    elif message["type"] == "act":
        Path(sys.argv[2]).write_text("\\n".join(heard + spoken()))
        answer = {"id": message["id"], "actions": [row["legal"][-1] for row in message["rows"]]}
    else:
        break
    print(json.dumps(answer), flush=True)
"""


def test_a_program_that_reads_whatever_it_finds_does_not_find_the_seed(tmp_path: Path) -> None:
    """Whoever knows the root seed knows all cards: until the end only this user's file has it."""
    program, notes, out = tmp_path / "snoop.py", tmp_path / "notes.txt", tmp_path / "out"
    program.write_text(SNOOP)
    words = ["python", str(program), str(out), str(notes)]
    snoop = AgentSpec("external", {"command": words}, name="snoop")
    spec = TournamentSpec("leduc_v0", (AgentSpec.parse("leduc_rule"), snoop), deals=40)
    summary = run_tournament(spec, out)
    assert not summary.faults
    seed = summary.spec.seed
    assert seed is not None
    found = notes.read_text()
    assert "hello" in found
    assert str(out) in found
    assert "mode 600" in found
    assert "3 open files" in found, "nothing is inherited but its pipes"
    for shown in (str(seed), f"{seed:x}", seed.to_bytes(16, "little").hex().rstrip("0")):
        assert len(shown) > 8
        assert shown not in found
    assert str(seed) in (out / "summary.json").read_text(), "afterwards everybody may know it"


# ---- the page ------------------------------------------------------------------------------------

TABLES: list[tuple[str, dict[str, Any]]] = [
    ("kuhn_v0", {}),
    ("leduc_v0", {}),
    ("liars_dice_v0", {"dice": 2}),
    ("holdem_v0", {"num_players": 2}),
    ("scotland_yard_v0", {}),
    ("phantom_v0", {"preset": "map_1"}),
    ("no_thanks_v0", {"num_players": 3}),
]
LOOKS = (0, 1, 3, 13)
"""Moves after which a browser tries everything; in a pursuit little is hidden at first."""


def nosy(table: str, mine: int, view: dict[str, Any]) -> list[dict[str, Any]]:
    """All that a browser may ask or try that is not its own move."""
    other = 1 - mine
    about: list[dict[str, Any]] = [
        {"type": "look", "step": step, "viewer": viewer}
        for step in (0, 1, 5)
        for viewer in (None, 0, 1)
    ]
    about += [{"type": "learnt", "agent": "random", "step": step} for step in (0, 1)]
    for seat in (mine, other):
        about.append({"type": "hint", "seat": seat, "agent": "random"})
        about.append({"type": "learnt", "seat": seat, "agent": "random"})
        about.append({"type": "review", "seat": seat, "agent": "random"})
        about.append({"type": "take_back", "seat": seat})
        for swap in (False, True):
            about.append({"type": "again", "seat": seat, "swap": swap})
    about += [{"type": "again"}, {"type": "again", "swap": True}]
    about += [{"type": "join"}, {"type": "join", "key": "x" * 22}, {"type": "join", "invite": "x"}]
    about += [{"type": "move", "seat": other, "turn": turn, "action": 0} for turn in range(4)]
    about.append({"type": "move", "seat": mine, "turn": view["turn"] + 1, "action": 0})
    about = [{"number": view["number"], **each} if each["type"] != "join" else each
             for each in about]  # fmt: skip
    found = [{"table": table, **each} for each in about]
    return [*found, {"type": "open", "name": table}, {"type": "open", "name": f"{table}.json"}]


async def told(guest: Browser, is_wanted: Callable[[str], bool]) -> str:
    """The next message of a kind that is wanted; others come by themselves."""
    while True:
        text = str(await guest.outbox.get())
        if is_wanted(json.loads(text)["type"]):
            return text


async def answers(tables: Tables, guest: Browser, messages: list[dict[str, Any]]) -> list[str]:
    """What each of them is answered with, in their order."""
    found = []
    for message in messages:
        await handle(tables, guest, json.dumps(message))
        answer = await told(guest, lambda kind: kind not in ("advisers", "rules"))
        assert FAULT not in answer, message
        found.append(answer)
    return found


async def seated(
    tables: Tables, game_id: str, options: dict[str, Any]
) -> tuple[Session, list[Browser]]:
    """A table of two people, each with a browser."""
    host, rogue = Browser(), Browser()
    for guest in (host, rogue):
        tables.browsers.add(guest)
    num_guests = make_game(game_id, **options).facts.num_players - 1
    seats = [{"who": "me"}, *[{"who": "guest"}] * num_guests]
    create = {"type": "create", "game": game_id, "options": options, "seats": seats}
    await handle(tables, host, json.dumps(create))
    made = json.loads(await told(host, "joined".__eq__))
    join = {"type": "join", "table": made["table"], "invite": made["invites"]["1"]}
    await handle(tables, rogue, json.dumps(join))
    await told(rogue, "view".__eq__)
    return tables.sessions[made["table"]], [host, rogue]


def forget(guests: list[Browser]) -> None:
    """Forget what was sent so far; of what still comes by itself, nobody here takes notice."""
    for guest in guests:
        while not guest.outbox.empty():
            guest.outbox.get_nowait()


async def try_everything(folder: Path, game_id: str, options: dict[str, Any]) -> int:
    tables = Tables(folder, Catalogue(), Thinkers(), pace=0)
    session, (host, rogue) = await seated(tables, game_id, options)
    table, game, mine = session.table, session.game, 1
    forget([host, rogue])
    num_swapped, rng = 0, np.random.default_rng(3)
    for number in range(1 + max(LOOKS)):
        if table.is_over:
            break
        if number not in LOOKS:
            table.move(table.turn, int(rng.choice(table.position.legal_actions())))
            continue
        before, truth = json.dumps(session.to_dict()), table._position.state.copy()
        seen = session.view(mine).to_dict()
        messages = nosy(session.id, mine, seen)
        first = await answers(tables, rogue, messages)
        state = table._position.state
        game.kernels.determinize(state, game.rules, mine, new_rng(number))
        num_swapped += int((state != truth).any())
        assert await answers(tables, rogue, messages) == first
        state[:] = truth
        # Only its own hint and what an agent has learnt are answers; all else is refused.
        kinds = {json.loads(text)["type"] for text in first}
        assert kinds <= {"error", "hint", "learnt"}, kinds
        assert json.dumps(session.to_dict()) == before
        heard = {
            json.loads(str(host.outbox.get_nowait()))["type"] for _ in range(host.outbox.qsize())
        }
        assert heard <= {"advisers", "rules"}
        assert "hint" in kinds or table.turn != mine
        legal = table.position.legal_actions()
        table.move(table.turn, int(rng.choice(legal)))
    tables.close()
    return num_swapped


@pytest.mark.parametrize(("game_id", "options"), TABLES, ids=lambda value: str(value))
def test_a_browser_that_tries_everything_learns_and_changes_nothing(
    game_id: str, options: dict[str, Any], tmp_path: Path
) -> None:
    assert asyncio.run(try_everything(tmp_path, game_id, options)) > 0


def test_after_the_end_anybody_may_begin_again(tmp_path: Path) -> None:
    async def again() -> None:
        tables = Tables(tmp_path, Catalogue(), Thinkers(), pace=0)
        session, guests = await seated(tables, "kuhn_v0", {})
        forget(guests)
        while not session.table.is_over:
            session.table.move(session.table.turn, 0)
        number = session.table.number
        message = {"type": "again", "table": session.id, "number": number, "seat": 1}
        await handle(tables, guests[1], json.dumps(message))
        answer = json.loads(str(await guests[1].outbox.get()))
        assert answer["type"] != "error", answer
        assert session.table.number == number + 1
        tables.close()

    asyncio.run(again())
