"""A summary as text for a terminal, as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from arena.statistics.distance import distance_notes, distance_title, in_figures
from arena.statistics.intervals import Interval

if TYPE_CHECKING:
    from arena.statistics.summary import Comparison, Cycle, Standing, Summary

__all__ = [
    "columns",
    "markdown",
    "to_csv",
    "to_markdown",
    "to_text",
]

Rows = list[list[str]]

WIDTH = 100
MAX_NAME, MIN_NAME = 24, 10
# Up to so many agents every comparison has its line; beyond, and up to MAX_CROSS, they are a cross.
MAX_LISTED = 3
MAX_CROSS = 10
MAX_CYCLES = 5


def to_text(summary: Summary) -> str:
    """Tables for a terminal of 100 columns."""
    standings, ratings = _standing_rows(summary), _rating_rows(summary)
    joined = [[*left, *right[1:]] for left, right in zip(standings, ratings, strict=True)]
    fits = _width(joined) <= WIDTH
    parts = [columns(joined)] if fits else [columns(standings), columns(ratings)]
    num_agents = len(summary.spec.agents)
    if num_agents <= MAX_LISTED:
        parts.append(columns(_comparison_rows(summary.comparisons), num_names=2))
    elif num_agents <= MAX_CROSS:
        note = "lead of the row over the column; with ? it may be chance (all pairs together)"
        parts.append([note, *columns(_cross_rows(summary))])
    parts.append(["return in each seat, against everybody", *columns(_seat_rows(summary))])
    if summary.singles:
        share = f"{100 / len(summary.roles):.1f} %"
        note = f"one against the rest; a fair share of wins is {share}"
        parts.append([note, *columns(_single_rows(summary))])
    parts.append(_notes(summary))
    return "\n\n".join("\n".join(lines) for lines in [[_title(summary)], *parts])


def to_markdown(summary: Summary) -> str:
    """Everything that the terminal shows, and the details."""
    parts = [
        f"# {_plain_title(summary)}",
        _title(summary),
        markdown(_standing_rows(summary)),
        markdown(_rating_rows(summary)),
        "## Pairs",
        markdown(_comparison_rows(summary.comparisons)),
        "## Seats",
        markdown(_seat_rows(summary)),
    ]
    for role in summary.roles:
        parts += [
            f"Return in **{role}** against each opponent:",
            markdown(_role_rows(summary, role)),
        ]
    if summary.singles:
        parts += ["## One against the rest", markdown(_single_rows(summary))]
    parts += ["## Game length", markdown(_length_rows(summary)), "## Notes"]
    parts.append("\n".join(f"- {note}" for note in _notes(summary)))
    return "\n\n".join(parts) + "\n"


def to_csv(summary: Summary) -> dict[str, str]:
    """Contents of CSV files by their names; an interval takes three columns."""
    return {
        "standings.csv": _csv(summary.standings),
        "comparisons.csv": _csv(summary.comparisons),
        "roles.csv": _csv(summary.by_role),
    }


# ---- rows ----------------------------------------------------------------------------------------


def _plain_title(summary: Summary) -> str:
    options = ", ".join(f"{name} {value}" for name, value in summary.spec.options.items())
    return summary.spec.game_id + (f" ({options})" if options else "")


def _title(summary: Summary) -> str:
    spec = summary.spec
    return (
        f"{_plain_title(summary)}: {spec.deals:,} deals in every seating, "
        f"{summary.length.games:,} games, seed {spec.seed}, "
        f"intervals {100 * spec.confidence:g} %"
    )


def _standing_rows(summary: Summary) -> Rows:
    standings = summary.standings
    has_blinds = summary.spec.big_blind is not None
    has_places = len(summary.roles) > 2
    has_faults = any(standing.faults for standing in standings)
    has_learners = any(standing.is_learning for standing in standings)
    head = ["agent", "mean return"]
    head += ["bb/100"] * has_blinds + ["win rate %"] + ["place"] * has_places
    rows = [[*head, "seats", *(["faults"] * has_faults), *(["state"] * has_learners)]]
    for s in standings:
        row = [s.name, _number(s.mean_return)]
        row += [f"{s.bb_per_100:.1f}"] if s.bb_per_100 else []
        row += [_percent(s.win_rate)]
        row += [f"{s.placement:.2f}"] * has_places + [f"{s.seats:,}"]
        row += [f"{s.faults:,}"] * has_faults
        rows.append(row + ["learning" if s.is_learning else "frozen"] * has_learners)
    return rows


def _rating_rows(summary: Summary) -> Rows:
    has_places = len(summary.roles) > 2
    has_distances = any(s.nash_conv is not None for s in summary.standings)
    head = ["agent", "Elo"] + ["Plackett-Luce"] * has_places + ["Nash", "alpha-rank"]
    head += [distance_title(len(summary.roles))] * has_distances
    rows = [head]
    for s in summary.standings:
        distance = s.nash_conv if has_places else s.exploitability
        rows.append(_rating_row(s) + [in_figures(distance, s.is_estimated)] * has_distances)
    return rows


def _rating_row(s: Standing) -> list[str]:
    mark = "" if s.is_firm else "*"
    row = [s.name, f"{s.elo:.0f}{mark}"]
    row += [f"{s.plackett_luce:.0f}{mark}"] if s.plackett_luce else []
    return [*row, _share(s.nash), _share(s.alpha_rank)]


def _comparison_rows(comparisons: Sequence[Comparison]) -> Rows:
    has_blinds = any(c.bb_per_100 for c in comparisons)
    rows = [["first", "second", "lead of the first", *(["bb/100"] * has_blinds)]]
    rows[0] += ["better in %", "games", "paired gain"]
    for c in comparisons:
        row = [c.first, c.second, _number(c.lead)]
        row += [f"{c.bb_per_100:.1f}"] if c.bb_per_100 else []
        gain = f"{c.gain:.2f}" if math.isfinite(c.gain) else "-"
        rows.append([*row, _percent(c.score_paired), f"{c.games:,}", gain])
    return rows


def _cross_rows(summary: Summary) -> Rows:
    meta = summary.metagame
    order = [meta.agents.index(standing.name) for standing in summary.standings]
    rows = [["", *(f"{column + 1} " for column in range(len(order)))]]
    for number, a in enumerate(order):
        row = [f"{number + 1} {meta.agents[a]}"]
        for b in order:
            mark = " " if meta.is_certain[a][b] else "?"
            row.append(". " if a == b else _number(meta.leads[a][b]) + mark)
        rows.append(row)
    return rows


def _seat_rows(summary: Summary) -> Rows:
    """Agents by seats; without intervals if they do not fit."""
    entries = {(r.agent, r.role): r.mean_return for r in summary.by_role if r.against is None}
    for is_short in (False, True):
        rows = [["agent", *summary.roles]]
        for s in summary.standings:
            cells = [entries[s.name, role] for role in summary.roles]
            rows.append([s.name, *(_number(c.mean if is_short else c) for c in cells)])
        every = [seat.mean_return for seat in summary.seats]
        rows.append(["everybody", *(_number(c.mean if is_short else c) for c in every)])
        if _width(rows) <= WIDTH:
            break
    return rows


def _role_rows(summary: Summary, role: str) -> Rows:
    entries = {(r.agent, r.against): r.mean_return for r in summary.by_role if r.role == role}
    names = [standing.name for standing in summary.standings]
    rows = [["agent", *(f"against {name}" for name in names)]]
    for a in names:
        cells = [entries.get((a, b)) for b in names]
        rows.append([a, *("" if cell is None else _number(cell) for cell in cells)])
    return rows


def _single_rows(summary: Summary) -> Rows:
    rows = [["one of", "against", "mean return", "win rate %", "games"]]
    for s in summary.singles:
        rate = _percent(s.win_rate)
        against = f"{s.num_others} of {s.against}"
        rows.append([s.agent, against, _number(s.mean_return), rate, f"{s.games:,}"])
    return rows


def _length_rows(summary: Summary) -> Rows:
    shares = list(summary.length.quantiles)
    rows = [
        [
            "group",
            "games",
            "mean",
            "shortest",
            *(f"{100 * float(s):g} %" for s in shares),
            "longest",
        ]
    ]
    labelled = [(" - ".join(g.agents), g.length) for g in summary.groups]
    for name, length in [*labelled, ("all", summary.length)]:
        quantiles = [f"{length.quantiles[share]:,}" for share in shares]
        row = [name, f"{length.games:,}", f"{length.mean:.1f}", f"{length.min:,}"]
        rows.append([*row, *quantiles, f"{length.max:,}"])
    return rows


# ---- notes ---------------------------------------------------------------------------------------


def _notes(summary: Summary) -> list[str]:
    """One line for everything that a table cannot say."""
    notes = [f"Elo is 0 for {summary.anchor}."]
    if not all(standing.is_firm for standing in summary.standings):
        notes.append("* won or lost everything: the rating is an indication only.")
    learning = [standing.name for standing in summary.standings if standing.is_learning]
    notes.append(f"Learning: {', '.join(learning)}." if learning else "All agents are frozen.")
    unsteady = [s.name for s in summary.standings if not s.is_reproducible]
    if unsteady:
        notes.append(f"Another run may differ, because of {', '.join(unsteady)}.")
    notes += distance_notes(
        [(s.name, s.nash_conv, s.policy) for s in summary.standings], len(summary.roles)
    )
    notes += _luck_notes(summary)
    notes += _cycle_notes(summary)
    q = summary.length.quantiles
    notes.append(
        f"Game length {summary.length.mean:.1f} on average, "
        f"half of all from {q['0.25']} to {q['0.75']}, the longest {summary.length.max}."
    )
    if summary.stopping:
        stopping = summary.stopping
        looks = f"{len(stopping.looks)} {'look' if len(stopping.looks) == 1 else 'looks'}"
        how = f"to ± {stopping.half_width:g}, sequentially: {looks}, the worst lead ± "
        end = "" if stopping.is_reached else "; the limit of deals came first"
        notes.append(f"Played {how}{stopping.reached:.3g}{end}.")
    return notes + summary.faults


def _luck_notes(summary: Summary) -> list[str]:
    """How much luck correction has gained, over all pairs."""
    spec = summary.spec
    gains = [c.luck_gain for c in summary.comparisons if c.luck_gain is not None]
    if not gains:
        return []
    least, half, most = (
        "over 1,000" if gain > 1000 else f"{gain:.1f}" if gain >= 10 else f"{gain:.2f}"
        for gain in (min(gains), statistics.median(gains), max(gains))
    )
    between = "" if least == most else f" (median of all pairs, {least} to {most})"
    return [
        f"Luck corrected ({spec.luck}): games for the same interval: {half} times fewer{between}. "
        f"Returns and leads only; each group had a pilot of {spec.pilot:,} games before."
    ]


def _cycle_notes(summary: Summary) -> list[str]:
    if len(summary.metagame.agents) < 3:
        return []
    certain = [cycle for cycle in summary.metagame.cycles if cycle.is_certain]
    doubtful = [cycle for cycle in summary.metagame.cycles if not cycle.is_certain]
    share = f"A ladder explains {100 * summary.metagame.transitive:.1f} % of the squared leads."
    if not certain and not doubtful:
        return [f"No cycle. {share}"]
    notes = [f"Cycle: {_cycle(cycle)}." for cycle in certain[:MAX_CYCLES]]
    if len(certain) > MAX_CYCLES:
        notes.append(f"And {len(certain) - MAX_CYCLES} more certain cycles.")
    if not certain:
        notes.append(f"No certain cycle. {share}")
    else:
        notes[-1] += f" {share}"
    if doubtful:
        many = f"{len(doubtful)} more" if certain else f"{len(doubtful)}"
        notes.append(f"{many} that may be chance, the strongest {_cycle(doubtful[0])}.")
    return notes


def _cycle(cycle: Cycle) -> str:
    names = [*cycle.agents, cycle.agents[0]]
    return f"{' beats '.join(map(_short, names))}, by {_number(cycle.strength)} or more"


# ---- words and lines -----------------------------------------------------------------------------


def _short(name: str, size: int = MAX_NAME) -> str:
    """A long name loses its middle: what tells names apart is at their ends."""
    tail = size // 2
    return name if len(name) <= size else f"{name[: size - tail - 1]}…{name[-tail:]}"


def _number(value: Interval | float) -> str:
    """Three decimals, fewer for amounts from ten and from a hundred on."""
    size = abs(value.mean if isinstance(value, Interval) else value)
    return format(value, f".{3 - (size >= 10) - (size >= 100)}f")


def _percent(rate: Interval) -> str:
    """One decimal; both ends only where the two sides differ by more than a bootstrap's noise."""
    shown = rate.times(100)
    sides = sorted((shown.mean - shown.low, shown.high - shown.mean))
    if sides[0] > 0.8 * sides[1]:
        return f"{shown.mean:.1f} ± {sides[1]:.1f}"
    return format(shown, ".1f")


def _share(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "-"


def _width(rows: Rows) -> int:
    """Columns that the rows would take with their names at full length."""
    return _total_width([[_short(row[0]), *row[1:]] for row in rows])


def _total_width(cells: Rows) -> int:
    return sum(_widths(cells)) + 2 * (len(cells[0]) - 1)


def _widths(cells: Rows) -> list[int]:
    return [max(map(len, column)) for column in zip(*cells, strict=True)]


def columns(rows: Rows, num_names: int = 1) -> list[str]:
    """Lines of aligned cells; names, in the first columns, give way to fit the terminal."""
    for size in range(MAX_NAME, MIN_NAME - 1, -1):
        cells = [[_short(c, size) for c in row[:num_names]] + row[num_names:] for row in rows]
        if _total_width(cells) <= WIDTH:
            break
    widths = _widths(cells)
    lines = []
    for row in cells:
        aligned = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        aligned[:num_names] = [c.ljust(w) for c, w in zip(row[:num_names], widths, strict=False)]
        lines.append("  ".join(aligned).rstrip())
    return lines


def markdown(rows: Rows) -> str:
    """A table as Markdown; all but the first column at the right."""
    head, *body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _csv(entries: Sequence[Any]) -> str:
    """A line for each entry, with the names of its fields at the top."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    for number, entry in enumerate(entries):
        cells = _cells(entry)
        if number == 0:
            writer.writerow(cells)
        writer.writerow(cells.values())
    return file.getvalue()


def _cells(entry: Any) -> dict[str, Any]:
    cells: dict[str, Any] = {}
    for field in fields(entry):
        value = getattr(entry, field.name)
        if "Interval" not in str(field.type):
            cells[field.name] = value
            continue
        ends = (None, None, None) if value is None else (value.mean, value.low, value.high)
        for suffix, end in zip(("", "_low", "_high"), ends, strict=True):
            cells[field.name + suffix] = end
    return cells
