"""Files: written whole or not at all, and read without trust.

Whatever the project writes goes through ``whole_file`` (or ``write_text``, ``write_json`` and
``write_arrays`` on top of it): a reader sees the file before or the file after, never half of it,
whether the disk is full, the process is killed or two processes write at once. Whatever it reads
comes through ``read_json``, ``read_yaml`` or ``read_arrays``: a file that is missing, cut, damaged,
of another kind or in another encoding gets one line that names it and the fix. None of them runs
anything that a file names.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import stat
import sys
import threading
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from common.errors import FileError, MasqueradeError, one_line, reason_of

MAX_VALUES = 100_000
"""Values in a YAML file; ours have hundreds."""
PLAIN = (dict, list, str, int, float, bool, type(None))
"""What a value in a YAML file may be."""
MAX_PLACE = 200
MAX_TEXT = 1 << 30
"""Bytes of a text; a file can claim to be longer than any disk."""
MAX_ARRAYS, MAX_SQUEEZED = 1 << 30, 100
"""Bytes of arrays that are unpacked in any case, and how many times the file's size otherwise."""


# ---- writing -------------------------------------------------------------------------------------


@contextlib.contextmanager
def whole_file(path: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """A file to write into, which takes the place of ``path`` when all of it is on the disk.

    A device such as ``/dev/null`` keeps its place and is written to.

    Args:
        path: the file; folders above it are made.
        mode: who may read it, as ``os.open`` takes it.
    """
    path = Path(path)
    with _telling_of(path):
        if is_stream(path):
            door = _door(path)
            handle = os.open(path, os.O_WRONLY) if door is None else os.dup(door)
            sys.stdout.flush()
            with os.fdopen(handle, "wb") as file:
                yield file
            return
        partial = partial_of(path)
        try:
            make_folder(path.parent)
            handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode)
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, path)
        finally:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)


@contextlib.contextmanager
def _telling_of(
    path: Path, cannot: str = "written", fix: str = "make room there, or choose another place"
) -> Iterator[None]:
    """Say in one line what the machine has against a file."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise FileError(f"{one_line(path)} cannot be {cannot} ({reason}): {fix}") from error


def is_stream(path: Path) -> bool:
    """Whether what is written there goes elsewhere: a device, a pipe, the standard output.

    >>> is_stream(Path("/dev/null")), is_stream(Path("results.json"))
    (True, False)
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    is_open = stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
    return stat.S_ISCHR(mode) or (is_open and _door(path) is not None)


def _door(path: Path) -> int | None:
    """The number of an open file that a path stands for: the standard output, or another."""
    place, name = os.path.split(os.path.abspath(path))
    if place == "/dev" and name in ("stdout", "stderr"):
        return 1 if name == "stdout" else 2
    return int(name) if place in ("/dev/fd", "/proc/self/fd") and name.isdecimal() else None


def partial_of(path: Path) -> Path:
    """What a file is called while this thread writes it."""
    return path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.partial")


def write_text(path: Path, text: str, mode: int = 0o666) -> None:
    """Write a text."""
    with whole_file(path, mode) as file:
        # Names may come from anywhere: what is no Unicode is written as a question mark.
        file.write(text.encode("utf-8", "replace"))


def write_json(path: Path, content: Any) -> None:
    """Write plain values."""
    write_text(path, json.dumps(content, indent=1) + "\n")


def write_arrays(
    path: Path, arrays: Mapping[str, npt.NDArray[Any]], is_compressed: bool = False
) -> None:
    """Write arrays as one ``npz`` file."""
    with whole_file(path) as file:
        (np.savez_compressed if is_compressed else np.savez)(file, allow_pickle=False, **arrays)


def append_text(path: Path, text: str) -> None:
    """Add to the end of a file; one that is cut there is mended by whoever reads it.

    A folder of somebody else's may have a link there, to a file of yours: it is not followed.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    with _telling_of(path), os.fdopen(os.open(path, flags, 0o666), "ab") as file:
        file.write(text.encode("utf-8", "replace"))


def make_folder(path: Path) -> None:
    """Make a folder and those above it, unless they are there."""
    with _telling_of(path):
        path.mkdir(parents=True, exist_ok=True)


def remove_file(path: Path) -> None:
    """Remove a file, if it is there."""
    with _telling_of(path, "removed", "remove it by hand"):
        path.unlink(missing_ok=True)


# ---- reading -------------------------------------------------------------------------------------


def open_file(path: Path) -> IO[bytes]:
    """Open a file to read it; what never ends or never begins, such as a device, is refused."""
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is no ordinary file", str(path))
    return file


def checksum(paths: Iterable[Path]) -> str:
    """Of what the files hold, one after the other."""
    total = 0
    for path in paths:
        with open_file(path) as file:
            while part := file.read(1 << 20):
                total = zlib.crc32(part, total)
    return f"{total:08x}"


def read_text(path: Path, fix: str, kind: type[MasqueradeError] = FileError) -> str:
    """Read a text in UTF-8.

    Args:
        path: the file.
        fix: what to do if it cannot be read, for the one line that says so.
        kind: the error to raise.
    """
    try:
        with open_file(path) as file:
            if os.fstat(file.fileno()).st_size > MAX_TEXT:
                raise OSError(errno.EFBIG, f"it has more than {MAX_TEXT:,} bytes", str(path))
            return file.read().decode("utf-8")
    except OSError as error:
        raise kind(f"{path} cannot be read ({error.strerror or error}): {fix}") from error
    except ValueError as error:
        raise kind(f"{path} is not written in UTF-8 ({one_line(error)}): {fix}") from error


def read_json(path: Path, fix: str, kind: type[MasqueradeError] = FileError) -> dict[str, Any]:
    """Read a mapping from a JSON file; see ``read_text`` for the arguments."""
    text = read_text(path, fix, kind)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError, MemoryError) as error:
        raise kind(f"{path} is cut or damaged ({one_line(error)}): {fix}") from error
    if not isinstance(content, dict):
        raise kind(f"{path} is damaged (it holds no mapping): {fix}")
    return content


def read_yaml(path: Path, needs: str) -> dict[str, Any]:
    """Read a mapping with text for keys from a YAML file.

    Args:
        path: the file.
        needs: what it must have, such as "game and agents".
    """
    text = read_text(path, "name a YAML file that is there, in UTF-8")
    content = parse_yaml(text, f"{path} is no valid YAML")
    if not isinstance(content, dict):
        raise FileError(f"{path} must be a mapping with {needs}")
    return content


def parse_yaml(text: str, complaint: str) -> Any:
    """What a text in YAML says; ``complaint`` begins the line that refuses one that is none."""
    import yaml  # takes a while, and not everybody reads YAML

    class Loader(yaml.SafeLoader):
        """Refuses what YAML lets pass: the same key twice, of which only the last would count."""

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            known: set[str] = set()
            for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
                if key.value != "<<" and str(key.value) in known:
                    line = key.start_mark.line + 1
                    raise ValueError(f"line {line} has '{one_line(key.value, 60)}' twice")
                known.add(str(key.value))
            return super().construct_mapping(node, deep)

    try:
        content = yaml.load(text, Loader)
        _check_values(content, "", (), [0])
        return content
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise FileError(f"{complaint}: {one_line(error)}") from error


def _check_values(content: Any, place: str, above: tuple[int, ...], num_seen: list[int]) -> None:
    """Refuse what nobody here reads, wherever it is: YAML reads ``1:`` and ``yes:`` as no text.

    A few lines can stand for billions of values, which name each other: they are counted.
    """
    num_seen[0] += 1
    if num_seen[0] > MAX_VALUES:
        raise ValueError(f"{place}it stands for more than {MAX_VALUES:,} values: write fewer")
    if id(content) in above:
        raise ValueError(f"{place}a name (&) stands for what contains itself: write it out")
    if not isinstance(content, PLAIN):  # YAML knows dates, sets and bytes
        shown = f"{one_line(repr(content), 60)}, a {type(content).__name__}"
        raise ValueError(f"{place}this is read as {shown}: write it in quotes")
    above = (*above, id(content))
    for value in content if isinstance(content, list) else ():
        _check_values(value, place, above, num_seen)
    for key, value in content.items() if isinstance(content, dict) else ():
        if not isinstance(key, str):
            shown = one_line(repr(key), 60)
            raise ValueError(f"{place}the key {shown} is no text: write it in quotes")
        _check_values(value, f"{place}{key}: "[-MAX_PLACE:], above, num_seen)


def read_arrays(
    path: Path,
    fix: str,
    kind: type[MasqueradeError] = FileError,
    names: Collection[str] | None = None,
) -> dict[str, npt.NDArray[Any]]:
    """Read the arrays of an ``npz`` file; nothing in it is unpickled.

    Args:
        path: the file.
        fix: what to do if it cannot be read.
        kind: the error to raise.
        names: those that must be there; others are left alone. ``None``: all there are.
    """
    try:
        with open_file(path) as raw:
            _check_archive(raw)
            raw.seek(0)
            file = np.load(raw, allow_pickle=False)
            return {name: file[name] for name in (file.files if names is None else names)}
    except OSError as error:
        raise kind(f"{path} cannot be read ({error.strerror or error}): {fix}") from error
    except Exception as error:  # NumPy says whatever its parsers raise, TokenError too
        raise kind(f"{path} is truncated or damaged ({reason_of(error)}): {fix}") from error


def _check_archive(raw: IO[bytes]) -> None:
    """Refuse what is no archive, and one whose arrays would fill the memory out of a few bytes."""
    if not zipfile.is_zipfile(raw):
        raise ValueError("no npz archive")
    with zipfile.ZipFile(raw) as archive:
        size = sum(each.file_size for each in archive.infolist())
    if size > max(MAX_ARRAYS, MAX_SQUEEZED * os.fstat(raw.fileno()).st_size):
        raise ValueError(f"its arrays would be {size:,} bytes, out of far fewer")


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
    with _telling_of(path, "read", "choose another --out"), open_file(path) as file:
        head = file.read(max(HEAD, 4 * len(own_head) + 1))
    if own_head:
        own = own_head.encode("utf-8", "replace")
        return not head or (head == own if is_whole else head.startswith(own))
    mark = _MARKS.get(path.suffix, _OTHERS).replace(b"%s", re.escape(by.encode()))
    return not head or re.match(mark, head, re.DOTALL) is not None


def _check_reachable(path: Path) -> None:
    """Refuse a place in which no file can be made."""
    place = Path(os.path.abspath(path))
    with _telling_of(path, fix="choose another --out"), contextlib.suppress(FileNotFoundError):
        if place.name:
            partial_of(place).lstat()  # the longest name that will be needed
    above = next(folder for folder in (place.parent, *place.parents) if folder.exists())
    if not os.access(above, os.W_OK | os.X_OK):
        raise FileError(f"{path} cannot be written ({above} is not yours): choose another --out")
