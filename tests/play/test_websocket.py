"""The server as a browser meets it, over the raw WebSocket."""

from __future__ import annotations

import asyncio
import json
import signal
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from envs import GAMES
from envs.pursuit.generators import grid_board
from play.catalogue import Catalogue
from play.compiling import Compiler
from play.tables import Browser
from tests.support.play_server import Client, Server, serving
from tests.support.sampling import IS_FULL

KUHN = [{"who": "me"}, {"who": "guest"}]


@pytest.mark.parametrize(
    "game", list(GAMES) if IS_FULL else ["kuhn_v0", "no_thanks_v0", "phantom_v0"]
)
def test_a_whole_game_can_be_played_against_the_usual_opponents(client: Client, game: str) -> None:
    client.create(game)
    view = client.play_out(seed=3)
    assert len(view["returns"]) >= 2
    assert view["fault"] is None
    assert int(view["seed"]) >= 0
    assert view["statistics"][0]["games"] == 1
    assert view["kept"].startswith(game)


def test_an_illegal_late_or_foreign_move_changes_nothing(client: Client) -> None:
    table, _ = client.create("leduc_v0")
    view = client.view()
    wrong = [
        {"action": 99},
        {"action": -1},
        {"turn": view["turn"] + 1},
        {"seat": 1 - view["seat"]},
        {"table": "nowhere"},
    ]
    for change in wrong:
        fields = {"table": table, "seat": view["seat"], "turn": view["turn"], "action": 1}
        client.send("move", **{**fields, **change})
        assert client.error(), change
    client.move(view, view["choices"][0]["action"])
    assert client.receive("view")["turn"] > view["turn"]


def test_a_move_can_be_taken_back_and_the_game_no_longer_counts(client: Client) -> None:
    table, _ = client.create("kuhn_v0")
    first = client.view()
    client.move(first, 1)
    end = client.view()
    while end["to_move"] != -2:
        client.move(end, 1)
        end = client.view()
    assert end["is_counted"]
    client.send("take_back", table=table, seat=first["seat"])
    again = client.view()
    assert again["to_move"] == again["seat"]
    while again["to_move"] != -2:
        client.move(again, 0)
        again = client.view()
    assert not again["is_counted"]
    assert again["statistics"][0]["games"] == 0


def test_two_people_play_and_each_sees_only_their_own_card(server: Server) -> None:
    host, guest = Client(server.port), Client(server.port)
    table, key = host.create("kuhn_v0", seats=KUHN)
    invite = host.joined["invites"]["1"]
    guest.send("join", table=table, invite=invite)
    joined = guest.receive("joined")
    assert joined["key"] not in ("", key)
    mine, theirs = host.receive("view"), guest.receive("view")
    assert (mine["seat"], theirs["seat"]) == (0, 1)
    assert theirs["choices"] == []
    assert mine["text"].count("?") == 1
    assert theirs["text"].count("?") == 1
    assert not mine["can_take_back"]
    stranger = Client(server.port)
    for secret in ({"invite": invite}, {"key": "wrong"}, {}):
        stranger.send("join", table=table, **secret)
        assert stranger.error(), secret
    host.move(mine, 0)
    theirs = guest.view()
    guest.move(theirs, 0)
    ends = [host.receive("view"), host.receive("view")][-1], guest.receive("view")
    assert ends[0]["to_move"] == ends[1]["to_move"] == -2
    for one in (host, guest, stranger):
        one.close()


def test_agents_alone_can_be_watched_paused_and_stepped(client: Client) -> None:
    agents = [{"who": "agent", "agent": "random"}] * 2
    client.create("leduc_v0", seats=agents, pace=20_000)
    table = client.joined["table"]
    first = client.receive("view")
    assert first["seat"] is None
    client.send("pace", table=table, is_paused=True, pace=0)
    assert client.receive("table")["is_paused"]


def test_a_hint_has_shares_that_add_up_to_one(client: Client) -> None:
    table, _ = client.create("leduc_v0")
    view = client.view()
    client.send("hint", table=table, seat=view["seat"], agent="leduc_rule")
    hint = client.receive("hint")
    assert sum(bar["share"] for bar in hint["bars"]) == pytest.approx(1.0)


def test_a_game_that_is_over_can_be_stepped_through_from_every_seat(client: Client) -> None:
    table, _ = client.create("kuhn_v0")
    end = client.play_out(seed=1)
    texts = set()
    for viewer in (None, 0, 1):
        client.send("look", table=table, step=1, viewer=viewer)
        look = client.receive("look")
        assert look["step"] == 1
        texts.add(look["text"])
    assert len(texts) == 3
    client.send("review", table=table, seat=0, agent="kuhn_rule")
    assert client.receive("review")["verdicts"]
    assert end["num_steps"] >= 3


def test_a_game_that_was_kept_opens_again(client: Client, server: Server) -> None:
    table, _ = client.create("liars_dice_v0", options={"dice": 1})
    end = client.play_out(seed=5)
    other = Client(server.port)
    other.send("open", name=end["kept"])
    opened = other.receive("view")
    assert opened["returns"] == end["returns"]
    assert opened["svg"] == end["svg"]
    reviews = []
    for who, where in ((client, table), (other, opened["table"])):
        who.send("review", table=where, seat=0, agent="liars_dice_rule")
        reviews.append(who.receive("review")["verdicts"])
    assert reviews[0] == reviews[1], "the cards that were dealt are judged"
    other.close()


# ---- safety --------------------------------------------------------------------------------------


def test_pages_of_other_origins_are_refused(server: Server) -> None:
    for origin in ("http://evil.example", "null", f"http://localhost:{server.port + 1}"):
        with pytest.raises(InvalidStatus):
            Client(server.port, origin=origin)
    Client(server.port, origin=f"http://localhost:{server.port}").close()


def test_other_names_of_the_server_are_refused(server: Server) -> None:
    request = urllib.request.Request(f"http://localhost:{server.port}/")
    request.add_header("Host", "evil.example")
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(request)


@pytest.mark.parametrize(
    "name", ["../tables/x.json", "/etc/passwd", "..%2f..%2fpasswd", "a\0b", "x" * 299, "."]
)
def test_names_of_files_do_not_lead_out_of_their_folder(client: Client, name: str) -> None:
    client.send("open", name=name)
    assert "no game" in client.error()


@pytest.mark.parametrize(
    "agent", ["external:/bin/ls", "os:getcwd", "cfr:../../x", "nobody", "tests.support.x:Y"]
)
def test_nobody_outside_the_list_may_sit_down(client: Client, agent: str) -> None:
    seats = [{"who": "me"}, {"who": "agent", "agent": agent}]
    client.send("create", game="kuhn_v0", seats=seats)
    assert "choose from the list" in client.error()


def test_boards_are_not_read_from_paths_that_a_message_names(client: Client) -> None:
    client.send("create", game="scotland_yard_v0", options={"board": "/etc/passwd"})
    assert "not a file" in client.error()


# ---- killed and started again --------------------------------------------------------------------


def test_a_server_that_was_killed_has_every_table_as_it_was(folder: Path) -> None:
    places: list[tuple[str, str, dict[str, Any]]] = []
    with serving(folder) as server:
        for game in ("kuhn_v0", "liars_dice_v0"):
            client = Client(server.port)
            table, key = client.create(game)
            view = client.view()
            for _ in range(2):
                if view["to_move"] == view["seat"]:
                    client.move(view, view["choices"][-1]["action"])
                    view = client.view()
            places.append((table, key, view))
            client.close()
        assert "Traceback" not in server.kill()
    with serving(folder) as server:
        for table, key, before in places:
            client = Client(server.port)
            client.send("join", table=table, key=key)
            after = client.view()
            assert {**after, "seed": 0} == {**before, "seed": 0}
            client.close()


def test_an_interrupt_ends_the_server_and_keeps_the_tables(folder: Path) -> None:
    with serving(folder, "--pace", "0") as server:
        client = Client(server.port)
        table, key = client.create("leduc_v0")
        before = client.view()
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait() == 130
        client.close()
        assert "Traceback" not in server.kill()
    with serving(folder) as server:
        client = Client(server.port)
        client.send("join", table=table, key=key)
        assert client.view() == before
        client.close()


# ---- the compiler --------------------------------------------------------------------------------


def test_whoever_waits_for_the_compiler_is_told_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Compiler, "_begin", lambda self: None)  # nothing is compiled here

    async def wait() -> str:
        compiler, browser = Compiler(Catalogue()), Browser()
        compiler.cold = ["kuhn_v0"]
        waiting = asyncio.create_task(compiler.wait(browser.send, "kuhn_v0"))
        told = str(await browser.outbox.get())
        assert not waiting.done()
        compiler.cold.clear()
        await waiting
        return told

    told = json.loads(asyncio.run(wait()))
    assert (told["type"], told["title"]) == ("compiling", "Kuhn poker")
    assert 0 <= told["done"] <= told["total"] > 3


@pytest.mark.parametrize("board", ["../x.json", "runs/maps/../../x.json", "runs/maps/none.json"])
def test_only_maps_that_were_saved_are_opened(client: Client, board: str) -> None:
    client.send("create", game="phantom_v0", options={"board": board})
    assert "not a file" in client.error()


@pytest.mark.parametrize("name", ["../x", ".hidden", "a/b", "x" * 41, "", "a\0b"])
def test_names_of_maps_do_not_lead_out_of_their_folder(client: Client, name: str) -> None:
    text = grid_board(3, 3).to_text()
    client.send("load_map", name=name, text=text)
    assert client.error()
    client.send("load_map", name="good", text="[" * 5000)
    assert "no JSON" in client.error()
