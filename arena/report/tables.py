"""The tables of a summary, and the summary as text for a terminal and as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any

from arena.report.columns import Column, ReportTable, aligned, escape, markdown, shorten
from arena.report.words import decimals_for, in_figures, signed, with_sign
from arena.summary import Cycle, RoleResult, Standing, Summary
from common.statistics import Interval

# Up to so many agents every comparison has its line; beyond, and up to MAX_CROSS, they are a cross.
MAX_LISTED = 3
MAX_CROSS = 10


# ---- tables --------------------------------------------------------------------------------------


def in_unit(summary: Summary, title: str) -> str:
    """The title of a column with its unit."""
    return title if summary.unit.name == "points" else f"{title}, {summary.unit.name}"


def _figure(summary: Summary, key: str, title: str) -> Column:
    """A column of mean returns or leads, in the unit that people read."""
    title = in_unit(summary, title)
    return Column(key, title, scale=summary.unit.scale, is_signed=True)


WINS = Column("win_rate", "wins, %", form=".1f", scale=100)
GAMES = Column("games", "games", form=",")
DEALS = Column("deals", "deals", form=",")


def standings(summary: Summary) -> ReportTable:
    """Every agent; columns that say nothing are left out."""
    entries = summary.standings
    distance = "exploitability" if len(summary.roles) == 2 else "nash_conv"
    wanted = [
        Column("name", "agent", mark=_failed, hint=lambda entry: entry.agent_id),
        Column("role", "role"),
        _figure(summary, "mean_return", "mean return"),
        Column("placement", "place", form=".2f"),
        WINS,
        Column("elo", "Elo", form=".0f", mark=_unsure),
        Column("plackett_luce", "Plackett-Luce", form=".0f", mark=_unsure),
        Column(
            distance,
            distance_title(len(summary.roles)),
            write=lambda entry: in_figures(getattr(entry, distance), entry.is_estimated),
            hint=lambda entry: entry.policy,
        ),
        Column("seats", "seats", form=","),
        DEALS,
        Column("faults", "faults", lambda entry: entry.faults or None, ","),
    ]
    if not all(entry.is_reproducible for entry in entries):
        states = {True: "frozen", False: "frozen, not repeatable"}
        wanted.append(Column("state", "state", lambda entry: states[entry.is_reproducible]))
    return ReportTable("standings", _filled(wanted, entries), entries)


def _filled(columns: list[Column], entries: Sequence[Any]) -> list[Column]:
    return [
        column for column in columns if any(column.value(entry) is not None for entry in entries)
    ]


def _failed(entry: Standing) -> str:
    return " (failed)" if entry.faults else ""


def _unsure(entry: Standing) -> str:
    return "" if entry.is_firm else "*"


def comparisons(summary: Summary) -> ReportTable:
    """Every two agents that can be compared."""
    wanted = [
        Column("first", "first"),
        Column("second", "second"),
        _figure(summary, "lead", "lead of the first"),
        Column("score", "better in, %", form=".1f", scale=100),
        GAMES,
        DEALS,
        Column("gain", "paired gain", form=".2f"),
        Column("variance_gain", "variance gain", form=".2f"),
    ]
    entries = summary.comparisons
    return ReportTable("comparisons", _filled(wanted, entries) or wanted, entries, num_names=2)


def by_seat(summary: Summary) -> ReportTable:
    """Mean returns of agents by where they sat; the last line is everybody."""
    found = {(e.agent, e.role): e.mean_return for e in summary.by_role if e.against is None}
    every = "everybody"
    found |= {(every, seat.role): seat.mean_return for seat in summary.seats}

    def get(role: str, name: str) -> Interval | None:
        return found.get((name, role))

    names = [*(entry.name for entry in summary.standings), every]
    columns = [
        Column(role, in_unit(summary, role), partial(get, role), scale=summary.unit.scale)
        for role in summary.roles
    ]
    return ReportTable("seats", [Column("agent", "agent", str), *columns], names)


def by_opponent(summary: Summary) -> ReportTable:
    """Every agent in every role, against everybody and against each opponent."""
    columns = [
        Column("agent", "agent"),
        Column("role", "role" if summary.is_two_sided else "seat"),
        Column("against", "against", lambda entry: entry.against or "everybody"),
        _figure(summary, "mean_return", "mean return"),
        *([WINS] if any(entry.win_rate for entry in summary.by_role) else []),
        GAMES,
    ]
    return ReportTable("roles", columns, summary.by_role, num_names=3)


def singles(summary: Summary) -> ReportTable:
    """One among many of another kind."""
    columns = [
        Column("agent", "one of"),
        Column("against", "among", lambda entry: f"{entry.num_others} of {entry.against}"),
        _figure(summary, "mean_return", "mean return"),
        *([WINS] if any(entry.win_rate for entry in summary.singles) else []),
        GAMES,
    ]
    return ReportTable("singles", columns, summary.singles, num_names=2)


def lengths(summary: Summary) -> ReportTable:
    """How long the games of every group were."""
    named = [(" - ".join(group.agents), group.length) for group in summary.groups]
    entries = [
        {"group": name, **vars(length), **{f"q{k}": v for k, v in length.quantiles.items()}}
        for name, length in [*named, ("all", summary.length)]
    ]
    shares = [(f"q{x}", f"{100 * float(x):g} %", ",") for x in summary.length.quantiles]
    columns = [
        Column(key, title, itemgetter(key), form)
        for key, title, form in (
            ("group", "group", None),
            ("games", "games", ","),
            ("mean", "mean", ".1f"),
            ("min", "shortest", ","),
            *shares,
            ("max", "longest", ","),
        )
    ]
    return ReportTable("lengths", columns, entries)


def metagame(summary: Summary) -> ReportTable | None:
    """The weights of agents that no ladder can show; only in reports."""
    meta = summary.metagame
    if meta is None:
        return None
    columns = [
        Column("agent", "agent", lambda i: meta.agents[i]),
        Column("nash", "Nash average", lambda i: meta.nash[i], ".2f"),
        Column("nash_skill", "lead over it", lambda i: meta.nash_skill[i], ".3f"),
        Column("alpha_rank", "alpha-rank", lambda i: meta.alpha_rank[i], ".2f"),
    ]
    order = sorted(range(len(meta.agents)), key=lambda i: (-meta.nash[i], -meta.alpha_rank[i]))
    return ReportTable("metagame", columns, order)


# ---- the cross table -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Meeting:
    """What the agent of a row got from the agent of a column."""

    lead: Interval
    """In the unit that people read."""
    games: int
    score: Interval | None = None


@dataclass(frozen=True)
class Cross:
    """Everybody against everybody, or all agents of one side against all of the other."""

    corner: str
    rows: list[str]
    columns: list[str]
    cells: dict[tuple[str, str], Meeting]
    even: float = 0.0
    """The figure of a row that is neither ahead nor behind."""

    @property
    def decimals(self) -> int:
        """That all figures have."""
        return decimals_for(cell.lead for cell in self.cells.values())

    @property
    def lines(self) -> list[list[str]]:
        """Head and rows as text."""
        decimals = self.decimals
        rows = [
            [
                row,
                *(
                    signed(self.cells[row, column].lead, decimals)
                    if (row, column) in self.cells
                    else ""
                    for column in self.columns
                ),
            ]
            for row in self.rows
        ]
        return [["", *self.columns], *rows]

    def text(self) -> list[str]:
        """Lines for a terminal: columns by their numbers, without intervals."""
        lines = [["", *(f"{i + 1} " for i in range(len(self.columns)))]]
        is_square = self.rows == self.columns
        for number, row in enumerate(self.rows):
            cells = []
            for column in self.columns:
                cell = self.cells.get((row, column))
                mark = " " if cell and cell.lead.excludes(self.even) else "?"
                mean = f"{cell.lead.mean:z.{self.decimals}f}{mark}" if cell else ". "
                cells.append(mean)
            lines.append([f"{number + 1} {row}" if is_square else row, *cells])
        note = f"{self.corner}; with ? the difference may be chance"
        named = [f"{i + 1} {name}" for i, name in enumerate(self.columns)]
        return [note, *aligned(lines), *([] if is_square else [f"columns: {', '.join(named)}"])]


def cross_of(summary: Summary) -> Cross | None:
    """The cross table, or None where nobody can be compared."""
    scale, unit = summary.unit.scale, summary.unit.name
    if summary.is_two_sided:
        entries = [e for e in summary.by_role if e.role == summary.roles[0] and e.against]
        cells = {_key(e): Meeting(e.mean_return.times(scale), e.games, e.win_rate) for e in entries}
        order = [standing.name for standing in summary.standings]
        rows = [name for name in order if any(name == row for row, _ in cells)]
        columns = [name for name in order if any(name == column for _, column in cells)]
        corner = f"mean return ({unit}) of {summary.roles[0]} (row) against {summary.roles[1]}"
        even = summary.seats[0].mean_return.mean * scale
        return Cross(corner, rows, columns, cells, even)
    if not summary.comparisons:
        return None
    cells = {}
    for entry in summary.comparisons:
        lead, score = entry.lead.times(scale), entry.score
        other = score and Interval(1 - score.mean, 1 - score.high, 1 - score.low)
        cells[entry.first, entry.second] = Meeting(lead, entry.games, score)
        cells[entry.second, entry.first] = Meeting(lead.times(-1), entry.games, other)
    names = [standing.name for standing in summary.standings]
    return Cross(f"lead of the row over the column ({unit})", names, names, cells)


def _key(entry: RoleResult) -> tuple[str, str]:
    return entry.agent, entry.against or ""


# ---- the whole summary ---------------------------------------------------------------------------


def to_text(summary: Summary) -> str:
    """Tables for a terminal of 100 columns."""
    parts = [[_title(summary)], standings(summary).text()]
    cross = cross_of(summary)
    if cross and (summary.is_two_sided or len(cross.rows) > MAX_LISTED):
        parts += [cross.text()] if len(cross.columns) <= MAX_CROSS else []
    elif summary.comparisons:
        parts.append(comparisons(summary).text())
    parts.append(["return in each seat, against everybody", *by_seat(summary).text()])
    if summary.singles:
        share = f"{100 / len(summary.roles):.1f} %"
        note = f"one against the rest; a fair share of wins is {share}"
        parts.append([note, *singles(summary).text()])
    parts.append(notes(summary))
    return "\n\n".join("\n".join(lines) for lines in parts)


def to_markdown(summary: Summary) -> str:
    """Everything that the terminal shows, and the details."""
    cross, meta = cross_of(summary), metagame(summary)
    parts = [_title(summary), standings(summary).markdown()]
    parts += [escape(note) for note in standings_notes(summary)]
    if cross:
        parts += [f"## {cross.corner[0].upper()}{cross.corner[1:]}", markdown(cross.lines)]
    if summary.comparisons:
        parts += ["## Pairs", comparisons(summary).markdown()]
    parts += ["## Seats", by_seat(summary).markdown()]
    if len(summary.roles) == 2:
        parts += ["## By opponent", by_opponent(summary).markdown()]
    if summary.singles:
        parts += ["## One against the rest", singles(summary).markdown()]
    if meta:
        parts += ["## Ladder or circles", meta.markdown()]
    parts += ["## Game length", lengths(summary).markdown(), "## Notes"]
    parts.append("\n".join(f"- {escape(note)}" for note in notes(summary)))
    return "\n\n".join(parts) + "\n"


def _title(summary: Summary) -> str:
    spec = summary.spec
    options = ", ".join(f"{name} {value}" for name, value in spec.options.items())
    return (
        f"{spec.game_id}{f' ({options})' if options else ''}: "
        f"{spec.deals:,} deals for every seating, {summary.length.games:,} games, "
        f"seed {spec.seed}, intervals {100 * spec.confidence:g} %"
    )


MAX_CYCLES = 5


# ---- what the tables cannot say, a line each -----------------------------------------------------


def standings_notes(summary: Summary) -> list[str]:
    """What the table of standings cannot say."""
    entries = summary.standings
    found = []
    if any(entry.elo for entry in entries):
        found.append(f"Elo is 0 for {summary.anchor}.")
    if not all(entry.is_firm for entry in entries):
        found.append("* won or lost everything: the rating is an indication only.")
    if len(summary.groups) > 1:
        all_play = "Each group draws its own"
        if summary.spec.shared_deals:
            remembers = any(agent.can_remember for agent in summary.spec.agents)
            who = "Groups that could not remember" if remembers else "All groups"
            all_play = f"{who} play the same"
        found.append(
            f"{all_play} {summary.spec.deals:,} deals; 'deals' are the independent ones that a "
            "figure rests on."
        )
    known = [(entry.name, entry.nash_conv, entry.policy) for entry in entries]
    return found + distance_notes(known, len(summary.roles))


def notes(summary: Summary) -> list[str]:
    """One line for everything that a table cannot say."""
    found = standings_notes(summary)
    found.append("All agents are frozen.")
    remembering = [agent.name for agent in summary.spec.agents if agent.can_remember]
    if remembering:
        found.append(
            f"Could remember earlier games: {', '.join(remembering)}. They never meet the same "
            "deal twice, and start afresh in every work unit and every seat."
        )
    unsteady = [s.name for s in summary.standings if not s.is_reproducible]
    if unsteady:
        found.append(f"Another run may differ, because of {', '.join(unsteady)}.")
    found += _variance_notes(summary)
    found += _cycle_notes(summary)
    q = summary.length.quantiles
    found.append(
        f"Game length {summary.length.mean:.1f} on average, "
        f"half of all from {q['0.25']} to {q['0.75']}, the longest {summary.length.max}."
    )
    if summary.stopping:
        stopping = summary.stopping
        looks = f"{len(stopping.looks)} {'look' if len(stopping.looks) == 1 else 'looks'}"
        how = f"to ± {stopping.half_width:g}, sequentially: {looks}, the worst lead ± "
        end = "" if stopping.is_reached else "; the limit of deals came first"
        found.append(f"Played {how}{stopping.reached:.3g}{end}.")
    return found + summary.faults


def _variance_notes(summary: Summary) -> list[str]:
    """How much variance reduction has gained, over all pairs."""
    spec = summary.spec
    gains = [c.variance_gain for c in summary.comparisons if c.variance_gain is not None]
    if not gains:
        return []
    least, half, most = (
        "over 1,000" if gain > 1000 else f"{gain:.1f}" if gain >= 10 else f"{gain:.2f}"
        for gain in (min(gains), statistics.median(gains), max(gains))
    )
    between = "" if least == most else f" (median of all pairs, {least} to {most})"
    return [
        f"Variance reduction ({spec.variance_reduction}): games for the same interval: {half} "
        f"times fewer{between}. Returns and leads only; each group had a pilot of {spec.pilot:,} "
        "games before."
    ]


def _cycle_notes(summary: Summary) -> list[str]:
    meta = summary.metagame
    if meta is None or len(meta.agents) < 3:
        return []
    certain = [cycle for cycle in meta.cycles if cycle.is_certain]
    doubtful = [cycle for cycle in meta.cycles if not cycle.is_certain]
    share = f"A ladder explains {100 * meta.transitive:.1f} % of the squared leads."
    if not certain and not doubtful:
        return [f"No cycle. {share}"]
    found = [f"Cycle: {_cycle(summary, cycle)}." for cycle in certain[:MAX_CYCLES]]
    if len(certain) > MAX_CYCLES:
        found.append(f"And {len(certain) - MAX_CYCLES} more certain cycles.")
    if not certain:
        found.append(f"No certain cycle. {share}")
    else:
        found[-1] += f" {share}"
    if doubtful:
        many = f"{len(doubtful)} more" if certain else f"{len(doubtful)}"
        found.append(f"{many} that may be chance, the strongest {_cycle(summary, doubtful[0])}.")
    return found


def _cycle(summary: Summary, cycle: Cycle) -> str:
    names = [*cycle.agents, cycle.agents[0]]
    strength = with_sign(cycle.strength * summary.unit.scale, 3).lstrip("+")
    return f"{' beats '.join(map(shorten, names))}, by {strength} or more"


def distance_title(num_players: int) -> str:
    """What tables call the distance from an equilibrium."""
    return "exploitability" if num_players == 2 else "NashConv"


def distance_notes(
    standings: Sequence[tuple[str, float | None, str]], num_players: int
) -> list[str]:
    """Whose distance from an equilibrium is not exact, and why; (name, NashConv, policy) each."""
    title = distance_title(num_players)
    asked = [name for name, value, policy in standings if value is not None and policy != "exact"]
    missing: dict[str, list[str]] = {}
    for name, value, policy in standings:
        if value is None:
            missing.setdefault(policy, []).append(name)
    if len(missing) == 1 and len(*missing.values()) == len(standings):
        return [f"No {title}: {next(iter(missing))}."]
    of_asked = f"{title[0].upper()}{title[1:]} after ~: of an agent that was asked for its policy."
    notes = [of_asked] if asked else []
    return notes + [f"No {title} of {', '.join(who)}: {why}." for why, who in missing.items()]
