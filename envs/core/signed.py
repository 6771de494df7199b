"""Files that say who has written them: no command writes over what is not its own.

A command that writes where the user says asks ``check_out`` before it works, and gives what it
writes to ``signed``. So the same command may write its own file anew, and everything else stays
unless ``--force`` asks for it: a tournament, a run, a file that was written by hand.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from envs.core.errors import FileError, one_line
from envs.core.files import is_stream, open_file, partial_of

__all__ = ["check_folder", "check_out", "signed"]

HEAD = 4096
"""Bytes in which a file says whose it is."""
# Where each format can say so; by the beginning, because names inside may come from anybody.
_MARKS = {
    ".json": rb'\{\s*"written_by": "%s[ "]',
    ".md": rb"(# [^\n]*\n\n)?<!-- Written by `%s[ `]",
    ".html": rb"<!DOCTYPE html>\n<!-- Written by `%s[ `]",
    ".svg": rb"<!-- Written by `%s[ `]",
    ".png": rb"\x89PNG.{1,60}Software\x00%s",
    ".npz": rb"PK\x03\x04.{26}about\.npy",
}
_OTHERS = rb"# Written by `%s[ `]"
_KEPT = ("best.json", "population.json", "selection.json", "summary.json", "tournament.json")
_KEEPERS = ("config.yaml", "population.json", "seed", "selection.json", "tournament.json")
"""What tournaments and runs keep, and what tells their folders."""


def signed(text: str, suffix: str, command: str) -> str:
    r"""A text with the command that has written it, as its format can say that.

    >>> signed('{\n "game": "kuhn_v0"\n}', ".json", "python evaluate.py exploitability")
    '{\n "written_by": "python evaluate.py exploitability",\n "game": "kuhn_v0"\n}'
    """
    if suffix == ".json":
        return f'{{\n "written_by": {json.dumps(command)},{text[1:]}'
    note = f"Written by `{one_line(command).replace('-->', '--')}`; do not edit."
    if suffix == ".md" and text.startswith("# "):
        title, _, rest = text.partition("\n\n")
        return f"{title}\n\n<!-- {note} -->\n\n{rest}"
    if suffix == ".html":
        return text.replace("<!DOCTYPE html>\n", f"<!DOCTYPE html>\n<!-- {note} -->\n", 1)
    return f"<!-- {note} -->\n{text}" if suffix in (".md", ".svg") else f"# {note}\n{text}"


def check_out(
    path: Path | None,
    by: str,
    is_forced: bool = False,
    suffixes: Sequence[str] = (),
    head: str = "",
    is_whole: bool = False,
) -> None:
    """Refuse a place that cannot be written, or holds what is not ours, before there is work.

    Args:
        path: where the user wants a file; ``None``: nowhere.
        by: the command as ``signed`` is told it, or its beginning.
        is_forced: whether the user said ``--force``: then any file may be written over.
        suffixes: how its name may end; empty: as it likes.
        head: how a file of this kind begins, where its format has no room for a word of ours.
        is_whole: whether that is all that the file may have.
    """
    if path is None or is_stream(path):
        return
    if suffixes and path.suffix not in suffixes:
        raise FileError(f"--out must end in {' or '.join(suffixes)}, not {path.name!r}")
    _check_reachable(path)
    if path.is_dir():
        raise FileError(f"{path} is a folder: name a file in it, such as {path / 'out'}")
    if is_forced:
        return
    if path.is_symlink():
        raise FileError(f"{path} is a link: name the file itself, or write over it with --force")
    if path.exists():
        if not _is_own(path, by, head, is_whole):
            raise FileError(
                f"{path} was not written by {by}: choose another --out, or write over it "
                "with --force"
            )
    elif path.name in _KEPT and any((path.parent / name).exists() for name in _KEEPERS):
        raise FileError(
            f"{path} is where a tournament or a run in {path.parent} keeps its own: "
            "choose another --out"
        )


def check_folder(path: Path, keeps: str, beginnings: Sequence[str] = ()) -> None:
    """Refuse a folder in which something else lies, before there is work.

    Args:
        path: where the user wants results.
        keeps: the file that tells a folder of this kind.
        beginnings: what may lie there before that file is written.
    """
    _check_reachable(path)
    if path.is_symlink() and not path.exists():
        raise FileError(f"{path} is a link to what is not there: choose another --out")
    if not path.exists() or (path / keeps).exists():
        return
    if not path.is_dir():
        raise FileError(f"{path} cannot be written (it is a file): choose another --out")
    others = [file.name for file in path.iterdir() if not _is_beginning(file, beginnings)]
    if others:
        raise FileError(
            f"{path} holds other files ({one_line(min(others), 60)}): choose another --out, "
            "a new folder or an empty one"
        )


def _is_beginning(file: Path, beginnings: Sequence[str]) -> bool:
    return file.name in beginnings or file.name.endswith(".partial")


def _is_own(path: Path, by: str, own_head: str, is_whole: bool) -> bool:
    """Whether a file says that the command has written it; an empty one is nobody's."""
    try:
        with open_file(path) as file:
            head = file.read(max(HEAD, 4 * len(own_head) + 1))
    except OSError as error:
        raise FileError(
            f"{path} cannot be read ({error.strerror or error}): choose another --out"
        ) from error
    if own_head:
        own = own_head.encode("utf-8", "replace")
        return not head or (head == own if is_whole else head.startswith(own))
    mark = _MARKS.get(path.suffix, _OTHERS).replace(b"%s", re.escape(by.encode()))
    return not head or re.match(mark, head, re.DOTALL) is not None


def _check_reachable(path: Path) -> None:
    """Refuse a place in which no file can be made."""
    place = Path(os.path.abspath(path))
    try:
        if place.name:
            partial_of(place).lstat()  # the longest name that will be needed
    except FileNotFoundError:
        pass
    except OSError as error:
        raise FileError(
            f"{one_line(path)} cannot be written ({error.strerror}): choose another --out"
        ) from error
    above = next(folder for folder in (place.parent, *place.parents) if folder.exists())
    if not os.access(above, os.W_OK | os.X_OK):
        raise FileError(f"{path} cannot be written ({above} is not yours): choose another --out")
