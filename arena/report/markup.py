"""HTML that cannot be broken by what it shows: every element is closed, every text escaped."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from typing import Any

__all__ = ["Safe", "element", "join", "script_data", "table"]

VOID = frozenset({"br", "input", "meta"})


class Safe(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, *children: str | None, **attributes: Any) -> Safe:
    """Make an element; children that are no :class:`Safe` are escaped, None is left out.

    Names of attributes are written with ``_`` for ``-`` and at the end of Python's own words;
    True is an attribute without a value, False and None are none.

    >>> element("td", "a < b", class_="name", data_rank=1)
    '<td class="name" data-rank="1">a &lt; b</td>'
    """
    written = [tag]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        name = name.rstrip("_").replace("_", "-")
        written.append(name if value is True else f'{name}="{html.escape(str(value))}"')
    start = f"<{' '.join(written)}>"
    return Safe(start) if tag in VOID else Safe(f"{start}{join(children)}</{tag}>")


def join(parts: Iterable[str | None]) -> Safe:
    """Put pieces together, escaping those that are plain text."""
    return Safe(
        "".join(
            part if isinstance(part, Safe) else html.escape(part)
            for part in parts
            if part is not None
        )
    )


def table(
    head: Iterable[str], rows: Iterable[Iterable[str]], class_: str = "", **attributes: Any
) -> Safe:
    """A table in a box of its own that scrolls sideways; the first cell of a row is its header.

    Args:
        head: the titles of the columns.
        rows: cells; one that is a ``td`` or ``th`` element already is taken as it is.
        class_: for the table.
        attributes: for the table.
    """
    titles = [each if _is_cell(each) else element("th", each, scope="col") for each in head]
    lines = []
    for row in rows:
        first, *others = row
        cells = [first if _is_cell(first) else element("th", first, scope="row")]
        cells += [cell if _is_cell(cell) else element("td", cell) for cell in others]
        lines.append(element("tr", *cells))
    content = element("thead", element("tr", *titles)), element("tbody", *lines)
    inner = element("table", *content, class_=class_ or None, **attributes)
    return element("div", inner, class_="scroll", tabindex=0)


def _is_cell(text: str) -> bool:
    return isinstance(text, Safe) and text.startswith(("<td", "<th"))


def script_data(identity: str, content: Any) -> Safe:
    r"""Data for the page's script; no text in it can end the element.

    >>> print(script_data("x", ["</script>"]))
    <script type="application/json" id="x">["\u003c/script>"]</script>
    """
    text = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    return element("script", Safe(text), type="application/json", id=identity)
