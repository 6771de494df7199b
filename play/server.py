"""The server: a page, pictures and files over HTTP, and a WebSocket for all messages.

A message is checked, and handed to the function that does what it asks; ``HANDLERS`` names them.

The server listens to this machine only unless asked otherwise, refuses pages of other origins, and
sends nothing that would make a browser ask another machine for anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import quote, urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from common.errors import MasqueradeError, one_line, reason_of
from play import advice, lobby, moves
from play.maps import map_text
from play.messages import MAX_MESSAGE, Asked, Refusal, parse_message
from play.tables import Browser, Tables

IN_ORDER = (moves.move, moves.take_back, moves.again, moves.set_pace, advice.look, lobby.set_screen)
"""Done one after the other, and by nobody who may take long; all else is done beside them."""
BESIDE = (
    lobby.show_lobby,
    lobby.show_players,
    lobby.create,
    lobby.open_game,
    lobby.show_tournament,
    lobby.join,
    lobby.save_map,
    lobby.load_map,
    advice.hint,
    advice.learnt,
    advice.review,
)
HANDLERS: dict[type[Asked], Callable[[Tables, Browser, Any], Awaitable[None]]] = {
    get_type_hints(handler)["message"]: handler for handler in (*IN_ORDER, *BESIDE)
}
"""What does as a message asks, by the kind of message that it takes."""
MAX_ASKED = 4
"""Answers that one browser can wait for at a time; threads are left for others."""
FAULT = "this failed on the server, and changed nothing: the server's terminal says why"
DEFAULT_PORT = 8420
INTERRUPTED = 130

PAGE = Path(__file__).parent / "page"
MAX_BROWSERS = 600
# Pictures carry their own style elements; scripts come from files of the server only.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
LOOPBACK = ("127.0.0.1", "localhost", "::1")
ANY_ADDRESS = "*"


# ---- messages ------------------------------------------------------------------------------------


async def handle(tables: Tables, browser: Browser, text: str) -> None:
    """Do what a message asks; a wrong one is answered, and changes nothing."""
    try:
        message = parse_message(text)
    except MasqueradeError as error:
        browser.send(Refusal(about="message", text=one_line(error, 600)))
        return
    if HANDLERS[type(message)] in IN_ORDER:
        await _answer(tables, browser, message)
    elif browser.num_asked >= MAX_ASKED:
        _refuse(browser, message, "one thing after the other: wait for the answers")
    else:
        browser.num_asked += 1
        tables.job(lambda: _answer_beside(tables, browser, message))


async def _answer_beside(tables: Tables, browser: Browser, message: Asked) -> None:
    try:
        await _answer(tables, browser, message)
    finally:
        browser.num_asked -= 1


async def _answer(tables: Tables, browser: Browser, message: Asked) -> None:
    try:
        await HANDLERS[type(message)](tables, browser, message)
    except MasqueradeError as error:
        _refuse(browser, message, one_line(error, 600))
    except Exception as error:  # ours: whoever sits elsewhere must not suffer from it
        print(f"play.py: {message.type} failed: {reason_of(error)}", file=sys.stderr)
        _refuse(browser, message, FAULT)


def _refuse(browser: Browser, message: Asked, text: str) -> None:
    """Say why a message changes nothing, and what it was about, such as a game of a table."""
    places = ("table", "number", "game", "name")
    about = {name: getattr(message, name) for name in places if hasattr(message, name)}
    browser.send(Refusal(about=message.type, text=text, **about))


# ---- who may ask ---------------------------------------------------------------------------------


def hosts_of(host: str, name: str) -> tuple[str, ...]:
    """By what names browsers may call a server that listens to ``host`` on a machine of ``name``.

    Numbers are always ours. Another name may be of a site that points it here, to be taken for us.
    """
    if host in LOOPBACK:
        return LOOPBACK
    return (ANY_ADDRESS, *LOOPBACK, host, name.lower(), f"{name.lower()}.local")


def _is_allowed(connection: HTTPConnection, hosts: tuple[str, ...]) -> bool:
    """Whether a browser called us by our name, from a page of ours or from none."""
    origin = connection.headers.get("origin")
    try:
        host = urlsplit(f"//{connection.headers.get('host', '')}")
        is_ours = host.hostname in hosts or (ANY_ADDRESS in hosts and _is_address(host.hostname))
        return is_ours and (origin is None or urlsplit(origin).netloc == host.netloc)
    except ValueError:  # such as a bracket without its other half
        return False


def _is_address(name: str | None) -> bool:
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(name or ""))
    return False


# ---- the application -----------------------------------------------------------------------------


def make_app(tables: Tables, hosts: tuple[str, ...] = LOOPBACK) -> Starlette:
    """The application; ``hosts`` are the names by which browsers may call this server."""

    async def index(_request: Request) -> Response:
        return FileResponse(PAGE / "index.html")

    async def picture(request: Request) -> Response:
        game_id = request.path_params["game"]
        if game_id not in {card.id for card in tables.catalogue.games()}:
            return PlainTextResponse("no such game", 404)
        svg = await tables.thinkers.run(partial(tables.catalogue.picture, game_id))
        return Response(svg, media_type="image/svg+xml")

    async def kept(request: Request) -> Response:
        name = request.path_params["name"]
        found = await tables.thinkers.run(partial(tables.library.download, name))
        if found is None:
            return PlainTextResponse("no such game", 404)
        return _download(*found)

    async def saved_map(request: Request) -> Response:
        name = request.path_params["name"]
        text = map_text(name)
        if text is None:
            return PlainTextResponse("no such map", 404)
        return _download(name, text)

    async def talk(websocket: WebSocket) -> None:
        if not _is_allowed(websocket, hosts) or len(tables.browsers) >= MAX_BROWSERS:
            await websocket.close(1008)
            return
        await _talk(websocket, tables)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        tables.close()

    app = Starlette(
        routes=[
            Route("/", index),
            Route("/pictures/{game}.svg", picture),
            Route("/games/{name}", kept),
            Route("/maps/{name}", saved_map),
            WebSocketRoute("/ws", talk),
            Mount("/page", StaticFiles(directory=PAGE)),
        ],
        lifespan=lifespan,
    )

    class Guard(BaseHTTPMiddleware):
        """Refuse names that are not ours, so that no other site can be led here."""

        async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
            if not _is_allowed(request, hosts):
                return PlainTextResponse("this server answers to its own address only", 403)
            response = await call_next(request)
            response.headers["Content-Security-Policy"] = POLICY
            response.headers["X-Content-Type-Options"] = "nosniff"
            response.headers["Referrer-Policy"] = "no-referrer"
            response.headers["Cache-Control"] = "no-cache"
            return response

    app.add_middleware(Guard)
    return app


def _download(name: str, text: str) -> Response:
    # Names of ours have no quotes; whatever else they have is written as browsers read it.
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    return PlainTextResponse(text, headers=headers)


async def _talk(websocket: WebSocket, tables: Tables) -> None:
    """Talk to one browser until it goes."""
    await websocket.accept()
    browser = Browser()
    tables.browsers.add(browser)

    async def write() -> None:
        while (text := await browser.outbox.get()) is not None:
            await websocket.send_text(text)
        await websocket.close(1013)

    writer = asyncio.create_task(write())
    try:
        while True:
            message = await websocket.receive()
            if message["type"] == "websocket.disconnect":
                break
            text = message.get("text")
            if text is None:  # bytes are no message of ours
                text = "" if message.get("bytes") is None else "\0"
            await handle(tables, browser, text[: MAX_MESSAGE + 1])
    except (WebSocketDisconnect, RuntimeError):
        pass
    finally:
        tables.browsers.discard(browser)
        writer.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await writer


# ---- from the command line -----------------------------------------------------------------------


def serve(tables: Tables, host: str, port: int, start: str, is_opened: bool) -> int:
    """Serve until it is interrupted; it ends the process.

    Args:
        tables: what is served.
        host: the address to listen to.
        port: of it.
        start: the part of the address that says what to open first.
        is_opened: open a browser.
    """
    listener = listen(host, port)
    port = listener.getsockname()[1]
    name = "localhost" if host in LOOPBACK else socket.gethostname()
    address = f"http://{name}:{port}/{start}"
    config = uvicorn.Config(
        make_app(tables, hosts_of(host, socket.gethostname())),
        log_level="error",
        ws_max_size=256_000,
        lifespan="on",
        timeout_graceful_shutdown=1,
        ws_ping_timeout=120.0,  # a busy machine must not cost anybody their connection
    )
    server = uvicorn.Server(config)
    print(f"play at {address}\n(Ctrl-C ends the server; tables are kept)", flush=True)
    threading.Thread(target=_warm, args=(tables,), daemon=True).start()
    if is_opened:
        webbrowser.open(address)
    with contextlib.suppress(KeyboardInterrupt):  # which the server has answered already
        asyncio.run(server.serve(sockets=[listener]))
    # It ends when it is interrupted, whatever asyncio makes of that, or if it could not begin.
    code = INTERRUPTED if server.started else 2
    # Every table is on the disk. A thread in which somebody still thinks, or compiles, cannot be
    # stopped, and the end of the interpreter would wait for it.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def listen(host: str, port: int) -> socket.socket:
    """A socket on the port, or on any free one if ours is taken and none was asked for."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        try:
            listener.bind((host, port))
        except OSError:
            if port != DEFAULT_PORT:
                raise
            listener.bind((host, 0))
    except (OSError, OverflowError) as error:
        listener.close()
        other = "--host" if isinstance(error, socket.gaierror) else "--port"
        raise MasqueradeError(
            f"cannot listen to {host}:{port} ({error}): choose another {other}"
        ) from error
    listener.listen(256)  # so that a browser that is quicker than we are waits
    return listener


def _warm(tables: Tables) -> None:
    """Load what newcomers need before they ask for it, as far as it is compiled."""
    catalogue = tables.catalogue
    tables.compiler.start()
    for card in catalogue.games():
        if tables.compiler.is_cold(card.id):
            continue
        try:
            catalogue.usual_seats(catalogue.new_game(card.id))
            catalogue.picture(card.id)
        except Exception as error:
            print(f"play.py: {card.id} cannot be played: {error}", file=sys.stderr)
