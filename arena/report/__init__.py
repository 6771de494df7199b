"""The report of a tournament: a page to read, and the same for other programs.

``write_report(folder)`` writes ``report.html``, which needs no network, and beside it ``.md``,
``.csv`` and ``.json``.
"""

from __future__ import annotations

import os
from pathlib import Path

from arena.report.collect import collect
from arena.report.formats import to_csv, to_json, to_markdown
from arena.report.page import to_html
from envs.core.errors import MasqueradeError

__all__ = ["write_report"]


def write_report(folder: Path, out: Path | None = None) -> Path:
    """Write the report of the tournament in ``folder`` and return the path of its page.

    Args:
        folder: what a tournament has written.
        out: the page; ``report.html`` in the folder by default. The others get its name.
    """
    page = folder / "report.html" if out is None else out
    if page.suffix != ".html":
        raise MasqueradeError(f"--out must end in .html, not {page.name!r}")
    report = collect(folder)
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        for suffix, write in (
            (".md", to_markdown),
            (".csv", to_csv),
            (".json", to_json),
            (".html", to_html),
        ):
            partial = page.with_suffix(f"{suffix}.partial")
            partial.write_text(write(report), encoding="utf-8")
            os.replace(partial, page.with_suffix(suffix))
    except OSError as error:
        raise MasqueradeError(f"{page} cannot be written: {error.strerror}") from error
    return page
