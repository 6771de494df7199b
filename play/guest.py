"""One browser: what waits to be sent to it, and where it sits."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

__all__ = ["Guest"]

MAX_PLACES = 24
"""Tables at which one browser can sit; from the one it came to first it gets up again."""
MAX_WAITING = 400
"""Messages that may wait for a browser before it is given up."""


class Guest:
    """One browser: what waits to be sent to it, and where it sits."""

    def __init__(self) -> None:
        """It sits nowhere yet."""
        self.outbox: asyncio.Queue[str | None] = asyncio.Queue(MAX_WAITING)
        self.places: dict[str, list[int]] = {}
        """Seats by table; no seat for one who watches."""
        self.num_asked = 0
        """Answers that are being made for it."""
        self._last: dict[tuple[str, int | None], str] = {}

    def send(self, message: dict[str, Any]) -> None:
        """Put a message into the box; one who does not take them is given up."""
        text = json.dumps(message, separators=(",", ":"), allow_nan=False, default=str)
        if message["type"] == "view":
            # What looks the same is not sent again: not even that something happened may show.
            place = message["table"], message["seat"]
            if self._last.get(place) == text:
                return
            self._last[place] = text
        try:
            self.outbox.put_nowait(text)
        except asyncio.QueueFull:
            with contextlib.suppress(asyncio.QueueEmpty):
                while True:
                    self.outbox.get_nowait()
            self.outbox.put_nowait(None)

    def sit(self, table_id: str, seats: list[int]) -> None:
        """Come to a table, or to other seats of it."""
        self.places.pop(table_id, None)
        self.places[table_id] = seats
        if len(self.places) > MAX_PLACES:
            gone = next(iter(self.places))
            del self.places[gone]
            self.forget_view(gone)
        self.forget_view(table_id)

    def forget_view(self, table_id: str) -> None:
        """Send the next view of a table even if it looks like the last."""
        self._last = {place: text for place, text in self._last.items() if place[0] != table_id}
