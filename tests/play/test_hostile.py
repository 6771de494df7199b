"""Browsers that mean no good, at a real server: they are refused, and others play on."""

from __future__ import annotations

import contextlib
import http.client
import json
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.support.play_server import Client, Server

TRAVERSALS = (
    "/games/../../../etc/passwd",
    "/games/..%2f..%2f..%2fetc%2fpasswd",
    "/games/%2e%2e/%2e%2e/tables/",
    "/games/..%5c..%5cetc",
    "/games/.",
    "/games/%00",
    "/games/" + "a" * 5000,
    "/games/x.json%00.phh",
    "/maps/../tables/x.json",
    "/maps/..%2ftables%2fx.json",
    "/maps/%ff",
    "/page/../../play.py",
    "/page/..%2f..%2fplay.py",
    "/page/%2e%2e/%2e%2e/pyproject.toml",
    "/page//etc/passwd",
    "/pictures/..%2f..%2fx.svg",
    "/pictures/kuhn_v0.svg/../../x",
    "//etc/passwd",
    "/tables/",
    "/ws",
    "/%0d%0aSet-Cookie:%20a=b",
)


def get(server: Server, path: str, **headers: str) -> tuple[int, bytes, Any]:
    address = "localhost", server.port
    with contextlib.closing(http.client.HTTPConnection(*address)) as connection:
        connection.putrequest("GET", path, skip_host=bool(headers.get("Host")))
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        with connection.getresponse() as answer:
            return answer.status, answer.read(), answer.headers


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_address_leads_out_of_its_folder(server: Server, path: str) -> None:
    status, body, headers = get(server, path)
    assert 400 <= status < 500
    assert b"root:" not in body
    assert b"import" not in body
    assert b"Traceback" not in body
    assert "Set-Cookie" not in headers


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "[", "127.0.0.1@evil"])
def test_other_names_are_refused_whatever_they_look_like(server: Server, host: str) -> None:
    assert get(server, "/", Host=host)[0] in (400, 403)


@pytest.mark.parametrize(
    "origin", ["null", "file://", "http://evil.example", "http://[", "x" * 5000]
)
def test_other_origins_open_no_socket(server: Server, origin: str) -> None:
    with pytest.raises(InvalidStatus):
        Client(server.port, origin=origin)


def test_ten_megabytes_end_only_their_own_connection(server: Server) -> None:
    good, bad = Client(server.port), Client(server.port)
    good.create("kuhn_v0")
    with contextlib.suppress(ConnectionClosed):
        bad.socket.send("x" * 10_000_000)
    with pytest.raises(ConnectionClosed):
        bad.socket.recv()
    bad.close()
    good.play_out(seed=1)
    good.close()


def test_bytes_and_broken_text_are_answered(server: Server) -> None:
    client = Client(server.port)
    for message in (
        b"\xff\xfe\x00",
        b"",
        "",
        "\x00",
        "\ud7ff" * 100,
        json.dumps({"type": ["move"]}),
    ):
        client.socket.send(message)
        assert "refused" in client.error()
    client.close()


def test_hundreds_of_sockets_and_tables_leave_room_for_a_player(server: Server) -> None:
    crowd = [Client(server.port) for _ in range(60)]
    for client in crowd:
        client.send("create", game="kuhn_v0", seats=[{"who": "me"}, {"who": "guest"}])
    player = Client(server.port)
    player.create("kuhn_v0")
    player.play_out(seed=2)
    for client in (*crowd, player):
        client.close()


def test_names_are_text_to_everybody(server: Server) -> None:
    """Whatever somebody is called: it is sent as text, and files have it in one plain line."""
    client = Client(server.port)
    name = "\x1b[31m<script>\u202e\n"
    seats = [{"who": "me", "name": name}, {"who": "agent", "agent": "random"}]
    client.create("kuhn_v0", seats=seats)
    assert client.play_out(seed=3)["to_move"] == -2
    client.send("lobby")
    listed = client.receive("lobby")["files"]
    assert all(text.isprintable() for row in listed for text in row["names"])
    client.close()
