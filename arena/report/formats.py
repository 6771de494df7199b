"""The report for programs and other people's documents: Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from arena.report.collect import Report
from arena.report.crosstable import meetings
from arena.report.words import as_interval, decimals_for, share, signed
from arena.statistics.distance import distance_notes, distance_title, in_figures

__all__ = ["markdown_table", "plain", "to_csv", "to_json", "to_markdown"]

# Quantities of each table of the summary that are estimates with intervals or plain numbers.
INTERVALS = {
    "standings": ("elo", "plackett_luce", "mean_return", "bb_per_100", "win_rate", "placement"),
    "comparisons": ("lead", "bb_per_100", "score"),
    "by_role": ("mean_return", "win_rate"),
    "singles": ("mean_return", "win_rate"),
}
NUMBERS = {
    "standings": (
        "nash",
        "nash_skill",
        "alpha_rank",
        "seats",
        "faults",
        "nash_conv",
        "exploitability",
    ),
    "comparisons": ("games", "gain", "luck_gain"),
    "by_role": ("games",),
    "singles": ("games",),
}
COLUMNS = ("table", "agent", "against", "role", "quantity", "value", "low", "high")


def plain(text: str) -> str:
    """A name in Markdown: nothing in it may start a cell, a tag or a piece of code.

    >>> plain("a|b <i>")
    'a&#124;b &lt;i&gt;'
    """
    for sign, code in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "&#124;")):
        text = text.replace(sign, code)
    for sign in "\\`*[]":
        text = text.replace(sign, f"&#{ord(sign)};")
    return " ".join(text.split())


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; figures are at the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def to_markdown(report: Report) -> str:
    """The findings, the standings and the cross table."""
    summary, spec = report.summary, report.tournament.spec
    names = [standing["name"] for standing in summary["standings"]]
    parts = [
        f"# {report.title}",
        plain(report.verdict),
        f"{spec.deals:,} deals in every seating, seed {spec.seed}, intervals of {report.percent}.",
        "## Standings",
        standings_table(summary),
        "## Lead of the row over the column",
        cross_markdown(summary, names),
    ]
    if summary["faults"]:
        parts += ["## Faults", "\n".join(f"- {plain(line)}" for line in summary["faults"])]
    parts += [
        "## Do it again",
        f"```bash\n{report.command}\n```",
        f"```yaml\n{report.config}```",
        ", ".join(f"{name} {version}" for name, version in report.tournament.versions.items()),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def standings_table(summary: dict[str, Any]) -> str:
    """Agents with their most asked-for figures."""
    entries = summary["standings"]
    decimals = decimals_for(as_interval(entry["mean_return"]) for entry in entries)
    has_blinds = any(entry["bb_per_100"] for entry in entries)
    has_distances = any(entry.get("nash_conv") is not None for entry in entries)
    num_sides = len(summary["roles"])
    rows = []
    for entry in entries:
        blinds = [signed(as_interval(entry["bb_per_100"]), 1)] if has_blinds else []
        wins = as_interval([None if x is None else 100 * x for x in entry["win_rate"]])
        rating = f"{as_interval(entry['elo']):.0f}" + ("" if entry["is_firm"] else " *")
        rows.append(
            [
                plain(entry["name"]),
                signed(as_interval(entry["mean_return"]), decimals),
                *blinds,
                f"{wins:.1f}",
                rating,
                share(entry["nash"]),
                *([_distance(entry, num_sides)] if has_distances else []),
                f"{entry['seats']:,}",
                f"{entry['faults']:,}",
            ]
        )
    head = ["agent", "mean return", *(["bb/100"] if has_blinds else []), "wins, %", "Elo"]
    head += ["Nash weight", *([distance_title(num_sides)] if has_distances else [])]
    head += ["seats", "faults"]
    text = markdown_table(head, rows)
    if not all(entry["is_firm"] for entry in entries):
        text += "\n\n\\* won or lost everything: an indication only."
    known = [(entry["name"], entry.get("nash_conv"), entry.get("policy", "")) for entry in entries]
    return "\n\n".join([text, *(plain(note) for note in distance_notes(known, num_sides))])


def _distance(entry: dict[str, Any], num_sides: int) -> str:
    """How far an agent is from an equilibrium."""
    value = entry["nash_conv" if num_sides > 2 else "exploitability"]
    return in_figures(value, value is not None and entry["policy"] != "exact")


def cross_markdown(summary: dict[str, Any], names: Sequence[str]) -> str:
    """Everybody's lead over everybody."""
    found = meetings(summary)
    decimals = decimals_for(meeting.lead for meeting in found.values())
    rows = [
        [
            plain(name),
            *(
                signed(found[name, other].lead, decimals) if (name, other) in found else ""
                for other in names
            ),
        ]
        for name in names
    ]
    return markdown_table(["", *(plain(name) for name in names)], rows)


def to_csv(report: Report) -> str:
    """Every figure in one long table, a line each."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_lines(report.summary))
    return text.getvalue()


def _lines(summary: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    for table, intervals in INTERVALS.items():
        for entry in summary[table]:
            agent = entry.get("name", entry.get("agent", entry.get("first")))
            against = entry.get("against", entry.get("second"))
            who = table, agent, against, entry.get("role")
            for quantity in intervals:
                if entry[quantity] is not None:
                    yield (*who, quantity, *entry[quantity])
            for quantity in NUMBERS[table]:
                yield (*who, quantity, entry.get(quantity), None, None)


def to_json(report: Report) -> str:
    """Everything the page shows, for programs."""
    content = {
        "title": report.title,
        "verdict": report.verdict,
        "command": report.command,
        "config": report.config,
        "versions": report.tournament.versions,
        "summary": report.summary,
        "runs": [vars(run) for run in report.runs],
        "games": [sample.to_dict() for sample in report.samples.games],
    }
    return json.dumps(content, indent=1) + "\n"
