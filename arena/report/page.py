"""The report as one HTML file that needs nothing but itself."""

from __future__ import annotations

from importlib.resources import files

from arena.report.background import games, repeat, training
from arena.report.collect import Report
from arena.report.findings import cross, faults, ladder, lengths, metagame, roles, standings
from arena.report.markup import Safe, element, join

__all__ = ["to_html"]

SECTIONS = (ladder, cross, standings, roles, lengths, metagame, faults, training, games, repeat)


def to_html(report: Report) -> str:
    """The whole page."""
    # Only the titles of sections that are there go into the menu.
    parts = [part for part in (section(report) for section in SECTIONS) if part is not None]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", report.title),
        element("style", _file("page.css")),
    )
    body = element(
        "body",
        _header(report),
        _menu(parts),
        element("main", *parts),
        element("script", _file("page.js")),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _file(name: str) -> Safe:
    return Safe(files("arena.report").joinpath(name).read_text(encoding="utf-8"))


def _header(report: Report) -> Safe:
    spec, summary = report.tournament.spec, report.summary
    games = sum(group["games"] for group in summary["groups"])
    worst = max(
        (
            entry["lead"][2] - entry["lead"][0]
            for entry in summary["comparisons"]
            if entry["lead"][2] is not None
        ),
        default=None,
    )
    facts = [
        ("agents", f"{len(spec.agents)}"),
        ("games", f"{games:,}"),
        ("deals", f"{spec.deals:,} in every seating"),
        ("seed", f"{spec.seed}"),
        ("confidence", report.percent),
    ]
    facts += [("leads known to", f"± {worst:.2g}")] if worst else []
    if summary["stopping"]:
        facts.append(("played until", f"± {summary['stopping']['half_width']:g}"))
    facts += [("luck corrected", spec.luck)] if spec.luck != "none" else []
    facts += [(name, str(value)) for name, value in spec.options.items()]
    chips = [element("div", element("dt", name), element("dd", value)) for name, value in facts]
    return element(
        "header",
        element("p", "Masquerade tournament", class_="kicker"),
        element("h1", report.title),
        element("p", report.verdict, class_="verdict"),
        element("dl", *chips, class_="facts"),
    )


def _menu(parts: list[Safe]) -> Safe:
    """Links to the sections, read off themselves."""
    links = []
    for part in parts:
        identity = part.partition('id="')[2].partition('"')[0]
        title = part.partition("<h2>")[2].partition("</h2>")[0]
        links.append(element("a", Safe(title), href=f"#{identity}"))
    return element("nav", join(links), aria_label="sections")
