"""Tables as files, so that a server that is killed has every table as it was.

A table is one JSON file under ``runs/play/tables``, written anew after every move, whole or not at
all. Nothing in it is run: it names a game, options, agents, a seed and numbers of actions.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from envs.core.errors import MasqueradeError

__all__ = ["Store"]

VERSION = 1
_ID = re.compile(r"[A-Za-z0-9_-]{4,64}")


class Store:
    """A folder of tables.

    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()))
    >>> store.write("abcd", {"seed": 1})
    >>> store.read("abcd")["seed"], store.read("none")
    (1, None)
    """

    def __init__(self, folder: Path) -> None:
        """Make the folder if it is not there."""
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MasqueradeError(f"{folder} cannot be made: {error.strerror}") from error

    def _path(self, table_id: str) -> Path | None:
        """Where a table is kept; ``None`` for what is no id of a table."""
        return self.folder / f"{table_id}.json" if _ID.fullmatch(table_id) else None

    def write(self, table_id: str, content: dict[str, Any]) -> None:
        """Keep a table, whole or not at all."""
        path = self._path(table_id)
        if path is None:
            raise MasqueradeError(f"'{table_id}' is no id of a table")
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps({"version": VERSION, **content}), encoding="utf-8")
        os.replace(partial, path)

    def read(self, table_id: str) -> dict[str, Any] | None:
        """A table that was kept; ``None`` if there is none, or if it cannot be read."""
        path = self._path(table_id)
        if path is None or not path.is_file():
            return None
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(content, dict) or content.get("version") != VERSION:
            return None
        return content

    def ids(self) -> list[str]:
        """All tables, the one that moved last first."""
        paths = list(self.folder.glob("*.json"))
        paths.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        return [path.stem for path in paths]

    def drop(self, table_id: str) -> None:
        """Forget a table."""
        path = self._path(table_id)
        if path is not None:
            path.unlink(missing_ok=True)
