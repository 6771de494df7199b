"""What a node of a cluster does before it can import anything of ours.

These functions travel as they are, by value, so they use Ray and the standard library alone. A node
that has the sources where they are here (one machine, or folders that machines share) takes those;
any other gets them sent, once, into a folder that is named by what is in it.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

__all__ = ["Files", "hash_files", "play_unit", "unpack"]

Files = dict[str, list[str]]
"""Folder -> names of files in it, relative to it."""


def play_unit(files: Files, code: str, archive: list[Any], package: bytes, unit: bytes) -> Any:
    """Play a unit of a tournament with the sources it was meant for.

    Args:
        files: where the sources are on the machine that asks.
        code: their hash.
        archive: Ray's reference to all of them in one, should they not be here.
        package: the specification, pickled.
        unit: what to play, pickled.
    """
    if "arena.running.context" not in sys.modules:
        has_files = hash_files(files) == code
        sys.path[:0] = list(files) if has_files else [unpack(_fetch(*archive), code)]
    # Imported when needed: the sources may have come just now.
    from arena.running.context import play_packed

    return play_packed(package, unit)


def _fetch(reference: Any) -> bytes:
    import ray

    content: bytes = ray.get(reference)
    return content


def hash_files(files: Files) -> str:
    """Changes with any name and any content; empty if something is missing."""
    digest = hashlib.sha256()
    for folder, names in files.items():
        for name in names:
            try:
                content = (Path(folder) / name).read_bytes()
            except OSError:
                return ""
            digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.hexdigest()[:16]


def unpack(archive: bytes, code: str) -> str:
    """Put sources into a folder of their own, which stays, so that they are compiled once."""
    chosen = os.environ.get("MASQUERADE_CACHE")
    base = Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "masquerade"
    folder = base / "sources" / code
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = tempfile.mkdtemp(dir=folder.parent)
        with zipfile.ZipFile(io.BytesIO(archive)) as file:
            file.extractall(partial)
        try:
            os.rename(partial, folder)
        except OSError:  # another process of this machine was first
            shutil.rmtree(partial)
    return str(folder)
