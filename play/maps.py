"""Maps of pursuits that people have saved: board files under ``runs/maps``, and nowhere else.

A map is chosen by the path that the option ``board`` gets, and that is looked at before anything
is opened: it must name a file of this folder, so no message and no file can make the server read
another one. A map that is there is never overwritten, for games that were kept name it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from common.errors import MasqueradeError
from common.files import read_text, write_text
from envs.core.game import Game

FOLDER = Path("runs") / "maps"
MAX_MAPS = 200
MAX_POOL, MAX_FAIR_POOL = 50, 4
"""Random maps that a table can draw from, any or fair ones: all are made before it begins."""
_NAME = re.compile(r"[\w-][\w -]{0,39}")


def saved_maps() -> list[str]:
    """What the option ``board`` can be, for every map that was saved."""
    return sorted(str(path) for path in FOLDER.glob("*.json") if _NAME.fullmatch(path.stem))


def check_board(options: Mapping[str, Any]) -> None:
    """Refuse options that name a file other than a map that was saved.

    >>> check_board({"board": "city"})
    >>> check_board({"board": "/etc/passwd"})
    Traceback (most recent call last):
    ...
    common.errors.MasqueradeError: board: choose one of the boards in the list, not a file
    """
    board = options.get("board")
    if not isinstance(board, str) or not any(sign in board for sign in "/\\."):
        return
    path = Path(board)
    is_ours = path.suffix == ".json" and _NAME.fullmatch(path.stem) and path.parent == FOLDER
    if not is_ours or path.is_symlink() or not path.is_file():
        raise MasqueradeError("board: choose one of the boards in the list, not a file")


def check_pool(options: Mapping[str, Any]) -> None:
    """Refuse options for which more random maps would be made than anybody waits for."""
    most = MAX_POOL if options.get("max_imbalance") is None else MAX_FAIR_POOL
    try:
        wanted = float(str(options.get("num_maps", 1)))
    except ValueError:
        return  # which the game refuses
    if wanted > most:
        raise MasqueradeError(f"num_maps: at most {most} at a table")


def map_text(name: str) -> str | None:
    """A map as a file to be downloaded; ``None`` if there is none."""
    try:
        check_board({"board": str(FOLDER / name)})
        return read_text(FOLDER / name, "save the map again")
    except MasqueradeError:
        return None


def board_of(game: Game, state: Any) -> Any | None:
    """The board that a game is played on; everybody sees it."""
    boards = getattr(game, "boards", None)
    if not boards:
        return None
    number = int(game.record(state).map) if len(boards) > 1 else 0
    return boards[max(number, 0)]


def draw_map(game: Game) -> str:
    """The map that a game begins on; empty for games without maps."""
    board = board_of(game, game.new_position().state)
    if board is None:
        return ""
    # Imported when needed: other games do without it.
    from envs.pursuit.picture import draw_board

    return draw_board(board)


def read_map(text: str) -> str:
    """A board file that somebody has brought along, as we write it."""
    # Imported when needed: other games do without it.
    from envs.pursuit.board import parse_board

    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise MasqueradeError("this file is no JSON: choose a board file") from None
    return parse_board(content).to_text()


def keep_map(name: str, text: str) -> str:
    """Write a map under a name that is free; the path."""
    if not _NAME.fullmatch(name):
        raise MasqueradeError("name the map with up to 40 letters, digits, spaces, - and _")
    path = FOLDER / f"{name}.json"
    if path.exists():
        if not path.is_symlink() and read_text(path, "choose another name") == text:
            return str(path)
        raise MasqueradeError(f"there is a map '{name}' already: choose another name")
    if len(saved_maps()) >= MAX_MAPS:
        raise MasqueradeError(f"there are {MAX_MAPS} maps already: delete some in {FOLDER}")
    write_text(path, text)
    return str(path)
