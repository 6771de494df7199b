"""The doors of the hall: a page, a WebSocket, pictures of the games.

The server listens to this machine only unless asked otherwise, refuses pages of other origins, and
sends nothing that would make a browser ask another machine for anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote, urlsplit

from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from play.guest import Guest
from play.hall import Hall
from play.maps import map_text
from play.messages import MAX_MESSAGE

__all__ = ["LOOPBACK", "hosts_of", "make_app"]

PAGE = Path(__file__).parent / "page"
MAX_GUESTS = 600
# Pictures carry their own style elements; scripts come from files of the server only.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
LOOPBACK = ("127.0.0.1", "localhost", "::1")
ANY_ADDRESS = "*"


def hosts_of(host: str, name: str) -> tuple[str, ...]:
    """By what names browsers may call a server that listens to ``host`` on a machine of ``name``.

    Numbers are always ours. Another name may be of a site that points it here, to be taken for us.
    """
    if host in LOOPBACK:
        return LOOPBACK
    return (ANY_ADDRESS, *LOOPBACK, host, name.lower(), f"{name.lower()}.local")


def make_app(hall: Hall, hosts: tuple[str, ...] = LOOPBACK) -> Starlette:
    """The application; ``hosts`` are the names by which browsers may call this server."""

    async def index(_request: Request) -> Response:
        return FileResponse(PAGE / "index.html")

    async def picture(request: Request) -> Response:
        svg = await hall.picture(request.path_params["game"])
        if svg is None:
            return PlainTextResponse("no such game", 404)
        return Response(svg, media_type="image/svg+xml")

    async def kept(request: Request) -> Response:
        name = request.path_params["name"]
        found = await hall.thinkers.run(lambda: hall.tables.library.download(name))
        if found is None:
            return PlainTextResponse("no such game", 404)
        return _download(*found)

    async def saved_map(request: Request) -> Response:
        name = request.path_params["name"]
        text = map_text(name)
        if text is None:
            return PlainTextResponse("no such map", 404)
        return _download(name, text)

    async def socket(websocket: WebSocket) -> None:
        if not _is_allowed(websocket, hosts) or len(hall.tables.guests) >= MAX_GUESTS:
            await websocket.close(1008)
            return
        await _serve(websocket, hall)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await hall.close()

    app = Starlette(
        routes=[
            Route("/", index),
            Route("/pictures/{game}.svg", picture),
            Route("/games/{name}", kept),
            Route("/maps/{name}", saved_map),
            WebSocketRoute("/ws", socket),
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


async def _serve(websocket: WebSocket, hall: Hall) -> None:
    """Talk to one browser until it goes."""
    await websocket.accept()
    guest = Guest()
    hall.enter(guest)

    async def write() -> None:
        while (text := await guest.outbox.get()) is not None:
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
            await hall.handle(guest, text[: MAX_MESSAGE + 1])
    except (WebSocketDisconnect, RuntimeError):
        pass
    finally:
        hall.leave(guest)
        writer.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await writer
