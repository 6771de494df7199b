"""Files of slices: arrays with a few words about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from common.errors import MasqueradeError, one_line
from common.files import read_arrays, write_arrays

__all__ = ["FORMAT", "read_slices", "slices_kind", "write_slices"]

FORMAT = 2


def write_slices(path: Path, about: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Write a file; it is there as a whole or not at all."""
    told = json.dumps({"format": FORMAT, **about})
    write_arrays(path, {"about": np.array(told), **arrays}, is_compressed=True)


def read_slices(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """What ``write_slices`` has written about ``kind``."""
    about, arrays = _read(path)
    if about["kind"] != kind:
        raise MasqueradeError(f"{path} holds slices of kind '{about['kind']}', not '{kind}'")
    return about, arrays


def slices_kind(path: Path) -> str:
    """Which kind of slices a file holds."""
    return str(_read(path)[0]["kind"])


def _read(path: Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    arrays = read_arrays(path, "make it anew, slices of No Thanks!")
    try:
        about = json.loads(str(arrays.pop("about")))
        kind = about["kind"]
    except (KeyError, ValueError, TypeError, RecursionError) as error:
        reason = one_line(error)
        raise MasqueradeError(f"{path} holds no slices of No Thanks!: {reason}") from error
    if about.get("format") != FORMAT or not isinstance(kind, str):
        raise MasqueradeError(
            f"{path} has format {about.get('format')}, not {FORMAT}: make it anew"
        )
    return about, arrays
