"""The report of a tournament: a page to read, and the same for other programs.

``write_report(folder)`` writes ``report.html``, which needs no network, and beside it ``.md``,
``.json`` and tables as ``.csv``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from arena.folder import read_tournament
from arena.report.collect import Report, collect
from arena.report.columns import escape
from arena.report.page import to_html
from arena.report.tables import by_opponent, comparisons, standings, to_markdown
from arena.summary import Summary
from arena.workers import WorkerContext
from common.errors import MasqueradeError
from common.files import check_out, signed, write_text

COMMAND = "python evaluate.py report"


def write_report(
    folder: Path,
    out: Path | None = None,
    summary: Summary | None = None,
    context: WorkerContext | None = None,
    is_trusted: bool = False,
    is_forced: bool = False,
) -> Path:
    """Write the report of the tournament in ``folder`` and return the path of its page.

    Args:
        folder: what a tournament has written.
        out: the page; ``report.html`` in the folder by default. The others get its name.
        summary: of the tournament, if it is at hand; else it is read from the folder.
        context: its game and agents, if they have been made already.
        is_trusted: run programs and modules that the folder names, to show a few games again.
        is_forced: write over files there that are no report.
    """
    page = folder / "report.html" if out is None else out
    if page.suffix != ".html":
        raise MasqueradeError(f"--out must end in .html, not {page.name!r}")
    prefix = "" if page.stem == "report" else f"{page.stem}-"
    summary = summary or read_tournament(folder).summary
    tables = {
        f"{prefix}{table.name}.csv": table.csv()
        for table in (make(summary) for make in (standings, comparisons, by_opponent))
    }
    # In the tournament's own folder columns come and go with what has happened since.
    end = "," if out is None else "\n"
    heads = {name: text[: text.find(end) + 1] for name, text in tables.items()}
    check_report(page, is_forced, heads)
    report = collect(folder, summary, context, is_trusted)
    texts = {
        f"{page.stem}.md": _to_markdown(report),
        f"{page.stem}.json": _to_json(report),
        page.name: to_html(report),
    }
    for name, text in texts.items():
        texts[name] = signed(text, Path(name).suffix, COMMAND)
    for name, text in (tables | texts).items():
        write_text(page.with_name(name), text)
    return page


def check_report(page: Path, is_forced: bool = False, heads: Mapping[str, str] = {}) -> None:
    """Refuse a page beside which something else has the name of a part; ``heads`` tell tables."""
    pages = [page.name, f"{page.stem}.md", f"{page.stem}.json"]
    for name, head in {**dict.fromkeys(pages, ""), **heads}.items():
        check_out(page.with_name(name), COMMAND, is_forced, head=head)


def _to_markdown(report: Report) -> str:
    parts = [
        f"# {report.title}",
        escape(report.verdict),
        to_markdown(report.summary).rstrip(),
        "## Do it again",
        f"```bash\n{report.command}\n```",
        f"```yaml\n{report.config}```",
        ", ".join(f"{name} {version}" for name, version in report.versions.items()),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _to_json(report: Report) -> str:
    """Everything the page shows, for programs."""
    content = {
        "title": report.title,
        "verdict": report.verdict,
        "command": report.command,
        "config": report.config,
        "versions": report.versions,
        "summary": report.summary.to_dict(),
        "runs": [vars(run) for run in report.runs],
        "games": [vars(sample) for sample in report.samples.games],
    }
    return json.dumps(content, indent=1) + "\n"
