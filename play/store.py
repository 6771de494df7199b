"""Tables as files, so that a server that is killed has every table as it was.

A table is one JSON file under ``runs/play/tables``, written anew after every move, whole or not at
all. Nothing in it is run: it names a game, options, agents, a seed and numbers of actions, and what
does not fit the model of it is not set up again, whoever has edited it.
"""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from common.errors import MasqueradeError
from common.files import make_folder, read_json, write_text
from play.messages import Action, Milliseconds, SeatNumber, Seconds, Spec, words_of

__all__ = ["KeptSeat", "KeptTable", "Store", "oldest_first", "remove_oldest"]

VERSION = 1
MAX_KEPT = 4000
"""Tables on disk; the oldest are forgotten."""
PRUNE_EVERY = 100
_ID = re.compile(r"[A-Za-z0-9_-]{4,64}")
Name = Annotated[str, Field(max_length=200)]
Hash = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Kept(BaseModel):
    """Base of all that is kept."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class KeptSeat(Kept):
    """Who sits there."""

    name: Name
    agent: Spec
    params: dict[Literal["seconds"], Seconds]
    key: Hash
    invite: Hash


class KeptResult(Kept):
    """A game that counts."""

    names: list[Name]
    returns: list[Finite]


class KeptTable(Kept):
    """All that makes a table what it is."""

    version: Literal[1]
    game: Name
    options: dict[str, Any]
    seats: list[KeptSeat]
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    number: Annotated[int, Field(ge=0, lt=2**31)]
    decisions: list[tuple[SeatNumber, Action, Hash]]
    fault: tuple[SeatNumber, Annotated[str, Field(max_length=2000)]] | None
    has_taken_back: bool
    title: Name
    pace: Milliseconds
    is_paused: bool
    results: list[KeptResult]
    kept: Name
    is_counted: bool


def oldest_first(folder: Path, pattern: str = "*.json") -> list[Path]:
    """The files of a folder by the time of their last change; links are not followed."""
    found = []
    for path in folder.glob(pattern):
        with contextlib.suppress(OSError):  # gone since
            found.append((path.lstat().st_mtime, path))
    return [path for _, path in sorted(found)]


def remove_oldest(folder: Path, num_kept: int) -> None:
    """Make room; what cannot be removed stays, which is no reason to stop a game."""
    for path in oldest_first(folder)[:-num_kept]:
        with contextlib.suppress(OSError):
            path.unlink()


class Store:
    """A folder of tables.

    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()))
    >>> print(store.read("none"))
    None
    """

    def __init__(self, folder: Path) -> None:
        """Make the folder if it is not there."""
        self.folder = folder
        self._num_written = 0
        make_folder(folder)

    def _path(self, table_id: str) -> Path | None:
        """Where a table is kept; ``None`` for what is no id of a table."""
        return self.folder / f"{table_id}.json" if _ID.fullmatch(table_id) else None

    def write(self, table_id: str, content: dict[str, Any]) -> None:
        """Keep a table, whole or not at all."""
        path = self._path(table_id)
        if path is None:
            raise MasqueradeError(f"'{table_id}' is no id of a table")
        write_text(path, json.dumps({"version": VERSION, **content}))
        self._num_written += 1
        if self._num_written % PRUNE_EVERY == 0:
            self._prune()

    def read(self, table_id: str) -> KeptTable | None:
        """A table that was kept; ``None`` if there is none."""
        path = self._path(table_id)
        if path is None or not path.is_file():
            return None
        fix = "make a new table"
        try:
            return KeptTable.model_validate(read_json(path, fix))
        except ValidationError as error:
            raise MasqueradeError(f"{path} is damaged ({words_of(error)}): {fix}") from None

    def _prune(self) -> None:
        """Forget the tables at which nobody has moved for longest."""
        remove_oldest(self.folder, MAX_KEPT)
