"""Pieces that several sections of a report's page are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from arena.report.markup import Safe, element
from arena.report.words import as_interval, decimals_for, minus, plus_minus, share

__all__ = ["decimals_of", "figure_cell", "number_cell", "section"]


def section(identity: str, title: str, note: str, *content: str | None) -> Safe:
    """A part of the page with a title and a line that says how to read it."""
    return element(
        "section",
        element("h2", title),
        element("p", note, class_="note") if note else None,
        *content,
        id=identity,
    )


def number_cell(value: float | None, form: str) -> Safe:
    """A cell that sorts by its value; ``form`` is how to write it, such as ``.2f``."""
    text = "∞" if value == math.inf else share(value, form)
    by = {None: -1.0, math.inf: 1e9}.get(value, value)
    return element("td", text, class_="num", data_value=repr(by))


def figure_cell(entry: list[float | None] | None, decimals: int, scale: float = 1.0) -> Safe:
    """A cell with an estimate and its interval."""
    if entry is None:
        return element("td", class_="num")
    scaled = as_interval([None if x is None else scale * x for x in entry])
    reach = element("small", minus(plus_minus(scaled, decimals)))
    text = minus(f"{scaled.mean:.{decimals}f} ")
    return element("td", text, reach, class_="num", data_value=repr(scaled.mean))


def decimals_of(entries: Iterable[dict[str, Any]], key: str) -> int:
    """How many decimals an interval needs in a table of such entries."""
    return decimals_for(as_interval(entry[key]) for entry in entries if entry[key] is not None)
