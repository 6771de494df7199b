"""Behind the findings: how agents were trained, games to step through, and how to repeat it all."""

from __future__ import annotations

import math
import shlex

from arena.report import charts
from arena.report.collect import Report
from arena.report.markup import Safe, element, script_data, table
from arena.report.pieces import decimals_of, figure_cell, number_cell, section
from arena.report.words import listing

__all__ = ["games", "repeat", "training"]


def training(report: Report) -> Safe | None:
    """Learning curves and exploitability of agents that come from runs; None if there are none."""
    if not report.runs:
        return None
    metrics = sorted({name for run in report.runs for name in run.curves})
    figures = [
        charts.curves(
            [
                charts.Curve(run.agent, run.curves[name], run.bands.get(name, ((), ())))
                for run in report.runs
                if name in run.curves
            ],
            name,
        )
        for name in metrics
    ]
    measured = [run for run in report.runs if run.exploitability is not None]
    rows = [
        charts.Bar(run.agent, run.exploitability, charts.up_text(run.exploitability))
        for run in sorted(measured, key=lambda run: run.exploitability or 0.0)
        if run.exploitability is not None
    ]
    return section(
        "training",
        "How they were trained",
        "Curves over training steps, from the folders of the agents' runs, with intervals where "
        "they are noted; the last value is in brackets.",
        charts.bars(rows, "Exploitability at the end: less is better") if rows else None,
        element("div", *figures, class_="columns") if figures else None,
    )


# ---- games and how to repeat them ----------------------------------------------------------------

STEPS = (("first", "|◀"), ("back", "◀"), ("next", "▶"), ("last", "▶|"))


def games(report: Report) -> Safe:
    """Sample games to step through."""
    samples = report.samples
    trouble = f"Games could not be played again: {samples.trouble}" if samples.trouble else ""
    replay = f"python evaluate.py replay {shlex.quote(report.folder)}"
    if not samples.games:
        return section("games", "Sample games", "", element("p", trouble))
    buttons = [
        element("button", sign, type="button", data_go=go, aria_label=go) for go, sign in STEPS
    ]
    slider = element("input", type="range", min=0, max=0, value=0, aria_label="step")
    viewer = element(
        "div",
        element("label", "Game ", element("select"), class_="chooser"),
        element("div", class_="switch views", role="group", aria_label="whose view"),
        element(
            "div",
            element("div", class_="board", aria_live="polite"),
            element("ol", class_="moves"),
            class_="table-top",
        ),
        element("div", *buttons, slider, element("output"), class_="controls"),
        element("p", class_="end"),
        element("p", "This game again: ", element("code"), class_="again"),
        id="viewer",
        tabindex=0,
    )
    total = len(report.summary["groups"])
    shown = f" of {samples.num_groups} of {total} groups" if samples.num_groups < total else ""
    note = (
        f"The first deals{shown}, not chosen ones, played again from the seed. Step with the arrow "
        "keys; a player's view shows only what that player could know."
    )
    data = {
        "games": [sample.to_dict() for sample in samples.games],
        "replay": replay,
    }
    script = element("noscript", element("p", f"Stepping needs JavaScript; or: {replay}"))
    problem = element("p", trouble) if trouble else None
    return section(
        "games", "Sample games", note, script, viewer, problem, script_data("data", data)
    )


def repeat(report: Report) -> Safe:
    """All that is needed to get the same figures once more."""
    versions = [
        element("div", element("dt", name), element("dd", str(version)))
        for name, version in report.tournament.versions.items()
    ]
    unsure = [s["name"] for s in report.summary["standings"] if not s["is_reproducible"]]
    note = "The same file and seed give the same games, whatever the number of workers."
    if unsure:
        note += f" Not so the choices of {listing(unsure)}, which depend on a clock or a program."
    copy = element("button", "copy", type="button", data_copy="config")
    file = element("code", report.config, id="config")
    return section(
        "repeat",
        "Do it again",
        note,
        element("pre", element("code", report.command), class_="code"),
        element("div", copy, element("pre", file, class_="code"), class_="copied"),
        element("dl", *versions, class_="versions"),
        comparisons(report),
    )


def comparisons(report: Report) -> Safe:
    """Every pair in full."""
    entries = report.summary["comparisons"]
    decimals = decimals_of(entries, "lead")
    rows = [
        [
            entry["first"],
            entry["second"],
            figure_cell(entry["lead"], decimals),
            figure_cell(entry["score"], 1, 100),
            number_cell(entry["games"], ","),
            number_cell(math.inf if entry["gain"] is None else entry["gain"], ".2f"),
        ]
        for entry in entries
    ]
    head = ["first", "second", "lead of the first", "better in, %", "games", "paired gain"]
    why = (
        "Gain: how many times more games it would take if deals were not played in every seating, "
        "or returns not corrected for luck."
    )
    if any(entry["luck_gain"] is not None for entry in entries):
        head.append("luck gain")
        for entry, row in zip(entries, rows, strict=True):
            row.append(number_cell(entry["luck_gain"], ".2f"))
    return element(
        "details",
        element("summary", "All comparisons"),
        element("p", why, class_="note"),
        table(head, rows, class_="sortable"),
    )
