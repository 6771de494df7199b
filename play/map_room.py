"""Maps as people ask for them: that of a table saved, one of their own brought along."""

from __future__ import annotations

import json

from common.errors import MasqueradeError
from play.guest import Guest
from play.maps import board_of, keep_map, saved_maps
from play.messages import Handlers, LoadMap, SaveMap
from play.tables import Tables

__all__ = ["MapRoom"]


class MapRoom:
    """Saves the maps of tables, and takes those that people bring."""

    def __init__(self, tables: Tables) -> None:
        """Nothing is written yet."""
        self._tables = tables
        self.handlers: Handlers = {SaveMap: self._save, LoadMap: self._load}

    async def _save(self, guest: Guest, message: SaveMap) -> None:
        table = self._tables.own(guest, message, None).table
        board = board_of(table.game, table.position.state)
        if board is None:
            raise MasqueradeError("this game has no map")
        path = await self._tables.thinkers.run(lambda: keep_map(message.name, board.to_text()))
        self._tell(guest, path, message.table)

    async def _load(self, guest: Guest, message: LoadMap) -> None:
        # Imported when needed: only pursuits have boards.
        from envs.pursuit.board import parse_board

        def keep() -> str:
            try:
                content = json.loads(message.text)
            except (ValueError, RecursionError):
                raise MasqueradeError("this file is no JSON: choose a board file") from None
            return keep_map(message.name, parse_board(content).to_text())

        self._tell(guest, await self._tables.thinkers.run(keep))

    def _tell(self, guest: Guest, path: str, table_id: str = "") -> None:
        about = {"type": "maps", "table": table_id}
        guest.send({**about, "maps": saved_maps(), "saved": path})
