"""The findings of a report's page, each a function from what was found to HTML."""

from __future__ import annotations

import math
from typing import Any

from arena.report import charts
from arena.report.collect import Report
from arena.report.crosstable import cross_table
from arena.report.markup import Safe, element, table
from arena.report.pieces import decimals_of, figure_cell, number_cell, section
from arena.report.words import as_interval, listing, share, signed
from arena.statistics.distance import distance_notes, distance_title, in_figures

__all__ = ["cross", "faults", "ladder", "lengths", "metagame", "roles", "standings"]


# ---- who is ahead --------------------------------------------------------------------------------


def ladder(report: Report) -> Safe:
    """Ratings and mean returns as dots with whiskers."""
    standings = report.summary["standings"]
    by_elo = sorted(standings, key=lambda standing: -round(standing["elo"][0], 1))
    decimals = decimals_of(standings, "mean_return")
    ratings = [
        charts.Dot(
            entry["name"],
            as_interval(entry["elo"]),
            f"{as_interval(entry['elo']):.0f}",
            entry["is_firm"],
        )
        for entry in by_elo
    ]
    returns = [
        charts.Dot(entry["name"], interval, signed(interval, decimals))
        for entry in standings
        for interval in [as_interval(entry["mean_return"])]
    ]
    note = (
        f"Whiskers hold the truth with {report.percent} confidence. Elo counts who did better; 0 "
        f"is {report.summary['anchor']}, and 400 points are odds of ten to one. Mean return counts "
        "by how much."
    )
    if not all(entry["is_firm"] for entry in standings):
        note += " A hollow dot won or lost everything, so its rating is an indication only."
    pair = element(
        "div",
        charts.dots(ratings, "Rating (Elo)"),
        charts.dots(returns, "Mean return of a game"),
        class_="columns",
    )
    return section("ladder", "Ladder", note, pair)


def cross(report: Report) -> Safe:
    """The heat map with its legend and the switch between lead and score."""
    key = element(
        "p",
        element("span", "row ahead", class_="key ahead", style="--s:.8"),
        element("span", "row behind", class_="key behind", style="--s:.8"),
        element("span", "may be luck", class_="key open", style="--s:.8"),
        class_="keys",
    )
    switch = element(
        "p",
        element("button", "lead", type="button", data_show="lead", aria_pressed="true"),
        element("button", "share of games", type="button", data_show="score", aria_pressed="false"),
        class_="switch",
        aria_label="what the table shows",
    )
    note = (
        "Lead is half the difference of the two mean returns when they sit at one table: with two "
        "players, what the row wins per game. Every deal was played in every seating."
    )
    bar = element("div", key, switch, class_="bar-of-keys")
    return section("cross-table", "Cross table", note, bar, cross_table(report.summary))


def standings(report: Report) -> Safe:
    """Everything about each agent in one sortable table."""
    entries = report.summary["standings"]
    has_blinds = any(entry["bb_per_100"] for entry in entries)
    has_rankings = any(entry["plackett_luce"] for entry in entries)
    head = ["agent", "mean return"]
    head += ["bb/100"] if has_blinds else []
    num_sides = len(report.summary["roles"])
    head += ["wins, %", *(["place"] if num_sides > 2 else []), "Elo"]
    head += ["Plackett-Luce"] if has_rankings else []
    has_distances = any(entry.get("nash_conv") is not None for entry in entries)
    head += ["Nash", "alpha-rank"]
    head += [distance_title(num_sides)] if has_distances else []
    head += ["seats", "faults"]
    decimals = decimals_of(entries, "mean_return")
    rows = []
    for entry in entries:
        marks = [] if entry["is_reproducible"] else ["not repeatable"]
        marks += ["learns"] if entry["is_learning"] else []
        name = element(
            "th",
            entry["name"],
            element("small", f" {', '.join(marks)}") if marks else None,
            scope="row",
            title=entry["agent_id"],
        )
        cells = [name, figure_cell(entry["mean_return"], decimals)]
        cells += [figure_cell(entry["bb_per_100"], 1)] if has_blinds else []
        cells += [figure_cell(entry["win_rate"], 1, 100)]
        cells += [figure_cell(entry["placement"], 2)] if num_sides > 2 else []
        cells += [figure_cell(entry["elo"], 0)]
        cells += [figure_cell(entry["plackett_luce"], 0)] if has_rankings else []
        cells += [number_cell(entry[key], ".2f") for key in ("nash", "alpha_rank")]
        cells += [_distance_cell(entry, num_sides)] if has_distances else []
        cells += [number_cell(entry[key], ",") for key in ("seats", "faults")]
        rows.append(cells)
    note = "Click on a title to sort by it. Wins: the best return at the table, ties shared."
    known = [(entry["name"], entry.get("nash_conv"), entry.get("policy", "")) for entry in entries]
    if has_distances:
        what = "on average over the seats" if num_sides == 2 else "in all seats together"
        title = distance_title(num_sides)
        note += f" {title[0].upper()}{title[1:]}: what best responses would gain {what}; 0 is best."
    note = " ".join([note, *distance_notes(known, num_sides)])
    return section("standings", "Standings", note, table(head, rows, class_="sortable"))


def _distance_cell(entry: dict[str, Any], num_sides: int) -> Safe:
    """How far an agent is from an equilibrium; why that is not known, or not exact, on hovering."""
    value = entry["nash_conv" if num_sides > 2 else "exploitability"]
    is_estimated = value is not None and entry["policy"] != "exact"
    by = math.inf if value is None else value
    return element(
        "td",
        in_figures(value, is_estimated),
        class_="num",
        title=entry["policy"],
        data_value=repr(min(by, 1e9)),
    )


# ---- where and how -------------------------------------------------------------------------------


def roles(report: Report) -> Safe:
    """Each agent in each seat or role."""
    summary = report.summary
    names, entries = summary["roles"], summary["by_role"]
    decimals = decimals_of(entries, "mean_return")
    overall = [entry for entry in entries if entry["against"] is None]
    cells = {(entry["agent"], entry["role"]): entry for entry in overall}
    rows: list[list[str]] = []
    for standing in summary["standings"]:
        row: list[str] = [standing["name"]]
        for role in names:
            entry = cells.get((standing["name"], role))
            row.append(figure_cell(entry and entry["mean_return"], decimals))
        rows.append(row)
    seats = {entry["role"]: entry for entry in summary["seats"]}
    rows.append(
        ["everybody", *(figure_cell(seats[role]["mean_return"], decimals) for role in names)]
    )
    note = "Mean return by where an agent sat. The last line is what the place itself is worth."
    parts = [table(["agent", *names], rows, class_="sortable total narrow")]
    detail = [entry for entry in entries if entry["against"] is not None]
    if detail:
        parts.append(_by_opponent(detail, decimals))
    if summary["singles"]:
        parts.append(_singles(summary["singles"]))
    return section("roles", "By seat", note, *parts)


def _by_opponent(entries: list[dict[str, Any]], decimals: int) -> Safe:
    rows = [
        [
            entry["agent"],
            entry["role"],
            entry["against"],
            figure_cell(entry["mean_return"], decimals),
            figure_cell(entry["win_rate"], 1, 100),
            number_cell(entry["games"], ","),
        ]
        for entry in entries
    ]
    head = ["agent", "seat", "against", "mean return", "wins, %", "games"]
    return element(
        "details",
        element("summary", "By seat and opponent"),
        table(head, rows, class_="sortable"),
    )


def _singles(entries: list[dict[str, Any]]) -> Safe:
    decimals = decimals_of(entries, "mean_return")
    rows = [
        [
            entry["agent"],
            f"{entry['num_others']} of {entry['against']}",
            figure_cell(entry["mean_return"], decimals),
            figure_cell(entry["win_rate"], 1, 100),
            number_cell(100 / (entry["num_others"] + 1), ".1f"),
            number_cell(entry["games"], ","),
        ]
        for entry in entries
    ]
    head = ["one", "among", "mean return", "wins, %", "fair share, %", "games"]
    return element("div", element("h3", "One among many"), table(head, rows, class_="sortable"))


def lengths(report: Report) -> Safe:
    """How long games were."""
    overall, groups = report.summary["length"], report.summary["groups"]
    title = f"{overall['games']:,} games, from {overall['min']} to {overall['max']} steps"
    parts = [charts.histogram(overall["edges"], overall["counts"], title)]
    if len(groups) > 1:
        rows = [
            (
                listing(group["agents"]),
                group["length"]["quantiles"],
                f"{group['length']['mean']:.1f}",
            )
            for group in groups
        ]
        caption = "Mean; line: nine games in ten, box: the middle half"
        parts.append(
            element(
                "details",
                element("summary", "By who played"),
                charts.boxes(rows, caption),
                open=len(groups) <= 10,
            )
        )
    note = f"Actions and chance events of a game; {overall['mean']:.1f} on average."
    return section("lengths", "Length of games", note, *parts)


def metagame(report: Report) -> Safe:
    """Whether a ladder is the whole truth."""
    meta = report.summary["metagame"]
    percent = min(100.0, 100 * meta["transitive"])  # which may be above by rounding
    parts = [("ladder", "ladder", percent), ("circles and noise", "rest", 100 - percent)]
    split = element(
        "p",
        *(
            element("span", f"{text} {part:.0f} %", class_=kind, style=f"flex-grow:{part:.2f}")
            for text, kind, part in parts
            if part >= 0.5
        ),
        class_="split",
    )
    sure = [cycle for cycle in meta["cycles"] if cycle["is_certain"]]
    found = [element("li", " beats ".join([*c["agents"], c["agents"][0]])) for c in sure[:12]]
    if len(sure) > 12:
        found.append(element("li", f"and {len(sure) - 12} more"))
    sentence = "No three agents beat each other in a circle beyond doubt." if not sure else None
    weights = []
    for key, title in (("nash", "Nash averaging: weight"), ("alpha_rank", "Alpha-rank: mass")):
        pairs = sorted(
            zip(meta["agents"], meta[key], strict=True), key=lambda pair: -round(pair[1] or 0.0, 6)
        )
        rows = [charts.Bar(name, value or 0.0, share(value)) for name, value in pairs]
        weights.append(charts.bars(rows, title))
    note = (
        "How much of all leads one ladder explains, and the rest. Nash averaging gives weight to "
        "those whom a wise chooser of agents would pick, alpha-rank to those who survive "
        "evolution; neither rewards beating the weak."
    )
    return section(
        "metagame",
        "Ladder or circles",
        note,
        split,
        element("ul", *found, class_="cycles") if found else element("p", sentence),
        element("div", *weights, class_="columns"),
    )


def faults(report: Report) -> Safe:
    """Games lost by mistakes."""
    lines = report.summary["faults"]
    if not lines:
        return section("faults", "Faults", "", element("p", "No agent failed in any game."))
    note = "An error, an illegal action or too long a thought loses that game and no other."
    items = element("ul", *(element("li", line) for line in lines), class_="faults")
    return section("faults", "Faults", note, items)
