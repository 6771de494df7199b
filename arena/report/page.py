"""The report as one HTML file that needs nothing but itself: what ``page.html`` shows."""

from __future__ import annotations

import math
import shlex
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from arena.report import tables
from arena.report.collect import Report, Run
from arena.report.tables import Cross, distance_title, standings_notes
from arena.report.words import decimals_for, listing, minus, plus_minus, signed, with_sign
from arena.summary import Metagame, Summary
from common.statistics import Interval

STEPS = (("first", "|◀"), ("back", "◀"), ("next", "▶"), ("last", "▶|"))
MAX_CIRCLES = 12
FAR = 5.0
"""Times the median: a dot beyond it lies at the edge of its chart."""


@dataclass(frozen=True)
class Chart:
    """Rows of a chart and their axis."""

    title: str
    entries: Sequence[dict[str, Any]]
    scale: Scale


def to_html(report: Report) -> str:
    """The whole page."""
    environment = Environment(
        loader=PackageLoader("arena", "report"), autoescape=True, undefined=StrictUndefined
    )
    environment.filters |= {
        "minus": minus,
        "is_finite": math.isfinite,
        "bounded": lambda value: max(-1e9, min(value, 1e9)),  # which a script can read
    }
    assert environment.loader is not None
    css, js = (
        Markup(environment.loader.get_source(environment, name)[0])
        for name in ("page.css", "page.js")
    )
    page = environment.get_template("page.html")
    content = _findings(report) | _background(report)
    return page.render(
        report=report, summary=report.summary, tables=tables, css=css, js=js, steps=STEPS, **content
    )


# ---- findings ------------------------------------------------------------------------------------


def _findings(report: Report) -> dict[str, Any]:
    summary = report.summary
    cross = tables.cross_of(summary)
    found = {
        "facts": _facts(report),
        "ladders": _ladders(summary),
        "ladder_note": _ladder_note(report),
        "cross": cross,
        "cross_rows": _cross_rows(cross) if cross else [],
        "corner": "row against column" if summary.is_two_sided else "row leads column",
        "has_scores": cross and any(cell.score for cell in cross.cells.values()),
        "cross_note": _cross_note(summary, cross) if cross else "",
        "standings_note": _standings_note(summary),
        **_lengths(summary),
    }
    return found | (_metagame(summary.metagame) if summary.metagame else {})


def _facts(report: Report) -> list[tuple[str, str]]:
    spec, summary = report.spec, report.summary
    found = [
        ("agents", f"{len(spec.agents)}"),
        ("games", f"{sum(group.games for group in summary.groups):,}"),
        ("deals", f"{spec.deals:,} for every seating"),
        ("seed", f"{spec.seed}"),
        ("confidence", report.percent),
        ("unit", summary.unit.name),
    ]
    widths = [entry.lead.half_width * summary.unit.scale for entry in summary.comparisons]
    worst = max((width for width in widths if math.isfinite(width)), default=0.0)
    found += [("leads known to", f"± {worst:.2g}")] if worst else []
    if summary.stopping:
        found.append(("played until", f"± {summary.stopping.half_width:g}"))
    if spec.variance_reduction != "none":
        found.append(("variance reduction", spec.variance_reduction))
    return found + [(name, str(value)) for name, value in spec.options.items()]


def _ladders(summary: Summary) -> list[Chart]:
    """Leads over the next and of the first, which tell good players apart; else mean returns."""
    names = [standing.name for standing in summary.standings if standing.role is None]
    leads = {(entry.first, entry.second): entry.lead for entry in summary.comparisons}
    leads |= {(b, a): lead.times(-1) for (a, b), lead in leads.items()}
    scale = summary.unit.scale
    following = [(a, leads.get((a, b))) for a, b in pairwise(names)]
    behind = [(name, leads.get((names[0], name))) for name in names[1:]]
    returns: list[tuple[str, Interval | None]] = [
        (standing.name, standing.mean_return) for standing in summary.standings
    ]
    charts: list[tuple[str, list[tuple[str, Interval | None]]]] = [
        ("Lead over the next", following if len(names) > 2 else []),
        (f"Lead of {names[0]} over each of the others" if names else "", behind),
        ("Mean return of a game", [] if leads else returns),
    ]
    found = []
    for title, entries in charts:
        scaled = [(name, lead.times(scale)) for name, lead in entries if lead is not None]
        decimals = decimals_for(interval for _, interval in scaled)
        rows = [
            {
                "name": name,
                "interval": each,
                "text": signed(each, decimals),
                "is_firm": each.excludes(0.0) or not leads,
            }
            for name, each in scaled
        ]
        if rows:
            axis = scale_for(_most_ends(interval for _, interval in scaled), has_zero=bool(leads))
            found.append(Chart(tables.in_unit(summary, title), rows, axis))
    return found


def _most_ends(intervals: Iterable[Interval]) -> list[float]:
    """The ends of all intervals but those so far out that the others would fall together."""
    intervals = list(intervals)
    reach = statistics.median(max(map(abs, _ends(each))) for each in intervals)
    near = [x for each in intervals if abs(each.mean) <= FAR * reach for x in _ends(each)]
    return near or [x for each in intervals for x in _ends(each)]


def _ends(interval: Any) -> tuple[float, float, float]:
    return interval.mean, interval.low, interval.high


def _ladder_note(report: Report) -> str:
    note = f"Whiskers hold the truth with {report.percent} confidence."
    if report.summary.comparisons:
        note += (
            " A lead is half of what one wins more than the other when they sit at one table. "
            "Where the dot is hollow it may be chance; a dot at the edge may lie beyond it."
        )
    return note


def _cross_note(summary: Summary, cross: Cross) -> str:
    if summary.is_two_sided:
        return (
            f"{cross.corner[0].upper()}{cross.corner[1:]} (column). Colours compare it with the "
            f"mean of all, {cross.even:.3g}."
        )
    return (
        f"Lead, in {summary.unit.name}, is half the difference of the two mean returns when they "
        "sit at one table: with two players, what the row wins per game."
    )


def _cross_rows(cross: Cross) -> list[dict[str, Any]]:
    """The cells of the heat map: how strong, for whom, and the figures in words."""
    decimals = cross.decimals
    strongest = max(abs(cell.lead.mean - cross.even) for cell in cross.cells.values())
    rows = []
    for name in cross.rows:
        cells: list[dict[str, Any] | None] = []
        for other in cross.columns:
            met = cross.cells.get((name, other))
            if met is None:
                cells.append(None)
                continue
            lead, is_certain = met.lead, met.lead.excludes(cross.even)
            better = f", better in {100 * met.score.mean:.1f} %" if met.score else ""
            hint = (
                f"{name} against {other}: {lead.mean:+.{decimals}f} [{lead.low:+.{decimals}f}, "
                f"{lead.high:+.{decimals}f}]{better} of {met.games:,} games"
            )
            side = "ahead" if lead.mean > cross.even else "behind"
            # The square root keeps small leads visible beside large ones.
            ahead = abs(lead.mean - cross.even)
            cells.append(
                {
                    "column": other,
                    "side": side if is_certain else "open",
                    "strength": math.sqrt(ahead / strongest) if strongest else 0.0,
                    "hint": hint + ("" if is_certain else "; may be chance"),
                    "text": with_sign(lead.mean, decimals),
                    "reach": plus_minus(lead, decimals).replace("± ", "±"),
                    "lead": lead,
                    "score": met.score,
                }
            )
        rows.append({"name": name, "cells": cells})
    return rows


def _standings_note(summary: Summary) -> str:
    num_sides = len(summary.roles)
    order = {"return": "mean return", "place": "mean place", "win": "games won"}[summary.objective]
    note = f"Ordered by {order}; click on a title to sort by it."
    if any(entry.win_rate for entry in summary.standings):
        note += " Wins: the best return at the table, ties shared."
    if any(entry.nash_conv is not None for entry in summary.standings):
        what = "on average over the seats" if num_sides == 2 else "in all seats together"
        title = distance_title(num_sides)
        note += f" {title[0].upper()}{title[1:]}: what best responses would gain {what}; 0 is best."
    return " ".join([note, *standings_notes(summary)])


def _lengths(summary: Summary) -> dict[str, Any]:
    every, edges = summary.length, summary.length.edges
    boxes = [
        {
            "name": listing(group.agents),
            "quantiles": group.length.quantiles,
            "text": f"{group.length.mean:.1f}",
        }
        for group in summary.groups
    ]
    values = [value for row in boxes for value in row["quantiles"].values()]  # type: ignore[attr-defined]
    caption = "Mean; line: nine games in ten, box: the middle half"
    has_boxes = len(summary.groups) > 1
    return {
        "length_scale": scale_for([edges[0] - 0.5, edges[-1] - 0.5], about=6, is_whole=True),
        "length_title": f"{every.games:,} games, from {every.min} to {every.max} steps",
        "length_boxes": Chart(caption, boxes, scale_for(values, is_whole=True))
        if has_boxes
        else None,
    }


def _metagame(meta: Metagame) -> dict[str, Any]:
    """Whether a ladder is the whole truth."""
    percent = min(100.0, 100 * meta.transitive)  # which may be above by rounding
    parts = [("ladder", "ladder", percent), ("circles and noise", "rest", 100 - percent)]
    sure = [cycle.agents for cycle in meta.cycles if cycle.is_certain]
    circles = [" beats ".join([*agents, agents[0]]) for agents in sure[:MAX_CIRCLES]]
    if len(sure) > MAX_CIRCLES:
        circles.append(f"and {len(sure) - MAX_CIRCLES} more")
    weights = []
    for values, title in (
        (meta.nash, "Nash averaging: weight"),
        (meta.alpha_rank, "Alpha-rank: mass"),
    ):
        pairs = [(n, v) for n, v in zip(meta.agents, values, strict=True) if math.isfinite(v)]
        pairs.sort(key=lambda pair: -round(pair[1], 6))
        rows = [{"name": name, "value": value, "text": f"{value:.2f}"} for name, value in pairs]
        weights.append(Chart(title, rows, scale_for([v for _, v in pairs], has_zero=True)))
    return {
        "split": [part for part in parts if part[2] >= 0.5],
        "circles": circles,
        "weights": weights,
    }


# ---- behind the findings -------------------------------------------------------------------------


def _background(report: Report) -> dict[str, Any]:
    """How agents were trained, games to step through, and how to repeat it all."""
    summary, samples = report.summary, report.samples
    total = len(summary.groups)
    shown = f" of {samples.num_groups} of {total} groups" if samples.num_groups < total else ""
    replay = f"python evaluate.py replay {shlex.quote(str(report.folder))}"
    unsure = [s.name for s in summary.standings if not s.is_reproducible]
    note = "The same file and seed give the same games, whatever the number of workers."
    if unsure:
        note += f" Not so the choices of {listing(unsure)}, which depend on a clock or a program."
    return {
        "games_note": f"The first deals{shown}, not chosen ones, played again from the seed. Step "
        "with the arrow keys; a player's view shows only what that player could know.",
        "game_data": {"games": [vars(game) for game in samples.games], "replay": replay},
        "replay": replay,
        "repeat_note": note,
        **_training(report),
    }


def _training(report: Report) -> dict[str, Any]:
    """Learning curves and exploitability of agents that come from runs."""
    bars = [
        {"name": run.agent, "value": run.exploitability, "text": up_text(run.exploitability)}
        for run in sorted(report.runs, key=lambda run: run.exploitability or 0.0)
        if run.exploitability is not None
    ]
    groups = []
    for name in sorted({name for run in report.runs for name in run.curves if _is_shown(name)}):
        with_curve = [run for run in report.runs if name in run.curves]
        heights = [y for run in with_curve for _, y in run.curves[name]]
        heights += [y for run in with_curve for ends in run.bands.get(name, ()) for _, y in ends]
        charts = [_share_chart(run, name, scale_for(heights, about=3)) for run in with_curve]
        groups.append({"title": in_words(name), "charts": charts})
    scale = scale_for([float(str(bar["value"])) for bar in bars], has_zero=True)
    title = "Exploitability at the end: less is better"
    return {
        "run_bars": Chart(title, bars, scale) if bars else None,
        "run_curves": groups,
        "has_training": bool(bars or groups),
    }


def _is_shown(name: str) -> bool:
    """Win rates by opponent say little that returns do not; the rest is for TensorBoard."""
    return name.count("/") < 2 or name.endswith("/return")


def in_words(name: str) -> str:
    """The title of a curve.

    >>> in_words("eval/leduc_rule/return"), in_words("charts/exploitability")
    ('Return against leduc_rule', 'Exploitability')
    """
    parts = name.split("/")
    title = parts[-1].replace("_", " ").capitalize()
    return f"{title} against {parts[1]}" if len(parts) == 3 else title


def _share_chart(run: Run, name: str, up: Scale) -> dict[str, Any]:
    """One learner's curve over the share of its own run, in percent."""
    points, (low, high) = run.curves[name], run.bands.get(name, ([], []))
    end = max(step for step, _ in points) or 1.0

    def shares(values: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        return [(100 * step / end, value) for step, value in values]

    return {
        "title": f"{run.agent}: {up_text(points[-1][1])} after {end:,.0f} steps",
        "curves": [{"points": shares(points), "low": shares(low), "high": shares(high)}],
        # On the left there is room for the labels of the heights.
        "across": Scale((0.0, 25.0, 50.0, 75.0, 100.0), left=9.0),
        "up": up,
    }


# ---- axes with round ticks, on which ``charts.html`` draws ---------------------------------------
#
# Places along the width are percentages and everything else is in pixels, so a chart fills its
# column on a desk and on a phone without its letters being stretched or shrunk.


# Part of the width left free at either side, so that dots and labels at the ends are not cut off.
MARGIN = 3.0


@dataclass(frozen=True)
class Scale:
    """From values to places along an axis."""

    ticks: tuple[float, ...]
    """Round values; the first and the last are the ends of the axis."""
    left: float = MARGIN
    """Percentage of the width left free before the first."""

    def place(self, value: float) -> float:
        """Percentage of the width, within the chart for whatever value."""
        low, high = self.ticks[0], self.ticks[-1]
        share = (value - low) / (high - low)
        width = 100 - MARGIN - self.left
        return round(self.left + width * min(1.0, max(0.0, share)), 3)

    @property
    def labels(self) -> list[tuple[float, str, bool]]:
        """Where each label stands, its text, and whether it gives way where room is scarce.

        On a phone only every other label has room; 0 is always one of them.
        """
        origin = self.ticks.index(0.0) if 0.0 in self.ticks else 0
        return [
            (self.place(tick), self.label(tick), bool((number - origin) % 2))
            for number, tick in enumerate(self.ticks)
        ]

    def height(self, value: float, plot: float) -> float:
        """The place of a value on an axis that goes up, in pixels of a plot so high."""
        share = (value - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])
        return round(8 + (plot - 16) * (1 - share), 2)

    def label(self, value: float) -> str:
        """A value as the axis writes it, with the decimals of the distance between ticks."""
        step = self.ticks[1] - self.ticks[0]
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        if round(step * 10**decimals, 6) % 1:
            decimals += 1
        return minus(f"{value:,.{decimals}f}")


def scale_for(
    values: Iterable[float],
    has_zero: bool = False,
    about: int = 4,
    is_whole: bool = False,
) -> Scale:
    """An axis with round ticks around all values.

    >>> scale_for([3, 41]).ticks
    (0.0, 10.0, 20.0, 30.0, 40.0, 50.0)

    Args:
        values: what must fit; those that are not finite are left out.
        has_zero: whether 0 must be on the axis.
        about: how many steps are wanted.
        is_whole: whether ticks must be whole numbers.
    """
    finite = [float(value) for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    if has_zero:
        low, high = min(0.0, low), max(0.0, high)
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999)
    step = max(1.0, round(step)) if is_whole else step
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(step * i, 12) for i in range(first, max(last, first + 1) + 1))
    return Scale(ticks)


def up_text(value: float) -> str:
    """A value with three significant figures.

    >>> up_text(0.012345), up_text(1234.5)
    ('0.0123', '1,234')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
