"""The cross table: everybody's lead over everybody, as numbers on a scale of two colours."""

from __future__ import annotations

import math
from typing import Any

from arena.report.markup import Safe, element, table
from arena.report.words import (
    as_interval,
    decimals_for,
    minus,
    plus_minus,
    turned,
    with_sign,
)
from arena.statistics.intervals import Interval

__all__ = ["Meeting", "cross_table", "meetings"]

# From so many agents on, names of columns stand upright.
UPRIGHT_FROM = 10


class Meeting:
    """A comparison as the first or as the second of the two sees it."""

    def __init__(self, comparison: dict[str, Any], is_turned: bool) -> None:
        """Read one entry of a summary's comparisons."""
        lead, score = as_interval(comparison["lead"]), as_interval(comparison["score"])
        other = Interval(1 - score.mean, 1 - score.high, 1 - score.low)
        self.lead = turned(lead) if is_turned else lead
        self.score = other if is_turned else score
        self.games: int = comparison["games"]


def meetings(summary: dict[str, Any]) -> dict[tuple[str, str], Meeting]:
    """Every (row, column) of two agents that met."""
    found = {}
    for entry in summary["comparisons"]:
        found[entry["first"], entry["second"]] = Meeting(entry, is_turned=False)
        found[entry["second"], entry["first"]] = Meeting(entry, is_turned=True)
    return found


def cross_table(summary: dict[str, Any]) -> Safe:
    """The table; blue: the row is ahead, orange: it is behind, hatched: that may be luck."""
    names = [standing["name"] for standing in summary["standings"]]
    found = meetings(summary)
    decimals = decimals_for(meeting.lead for meeting in found.values())
    strongest = max((abs(meeting.lead.mean) for meeting in found.values()), default=0.0)
    rows = []
    for row, name in enumerate(names):
        cells = [element("th", name, scope="row", title=name)]
        for column, other in enumerate(names):
            met = found.get((name, other))
            if row == column or met is None:
                cells.append(element("td", class_="self", aria_label="does not play itself"))
            else:
                cells.append(_cell(met, name, other, strongest, decimals))
        rows.append(cells)
    head = [element("td", "row leads column", class_="corner")]
    head += [element("th", element("span", name), scope="col", title=name) for name in names]
    upright = " upright" if len(names) >= UPRIGHT_FROM else ""
    return table(head, rows, class_=f"heat{upright}", id="cross")


def _cell(met: Meeting, name: str, other: str, strongest: float, decimals: int) -> Safe:
    lead, score = met.lead, met.score
    is_certain = lead.excludes(0.0)
    side = ("ahead" if lead.mean > 0 else "behind") if is_certain else "open"
    # The square root keeps small leads visible beside large ones.
    strength = math.sqrt(abs(lead.mean) / strongest) if strongest else 0.0
    ends = f"[{lead.low:+.{decimals}f}, {lead.high:+.{decimals}f}]"
    hint = (
        f"{name} against {other}: {lead.mean:+.{decimals}f} {ends} a game, "
        f"better in {100 * score.mean:.1f} % of {met.games:,} games"
        + ("" if is_certain else "; may be luck")
    )
    return element(
        "td",
        element("b", minus(with_sign(lead.mean, decimals)), class_="as-lead"),
        element("small", minus(plus_minus(lead, decimals)).replace("± ", "±"), class_="as-lead"),
        element("b", f"{100 * score.mean:.0f} %", class_="as-score"),
        element("small", f"{100 * score.low:.0f} to {100 * score.high:.0f}", class_="as-score"),
        class_=side,
        style=f"--s:{strength:.3f}",
        title=hint,
        data_row=name,
        data_column=other,
        data_lead=repr(lead.mean),
        data_low=repr(lead.low),
        data_high=repr(lead.high),
    )
