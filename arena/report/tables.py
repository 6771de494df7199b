"""The tables of a summary, and the summary as text for a terminal and as Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from arena.report.columns import Column, Table, aligned, escape, markdown
from arena.report.notes import notes, standings_notes
from arena.report.words import decimals_for, signed
from arena.statistics.distance import distance_title, in_figures
from arena.statistics.summary import RoleResult, Standing, Summary
from common.statistics import Interval

__all__ = [
    "Cross",
    "Meeting",
    "by_opponent",
    "by_seat",
    "comparisons",
    "cross_of",
    "in_unit",
    "lengths",
    "metagame",
    "singles",
    "standings",
    "to_markdown",
    "to_text",
]

# Up to so many agents every comparison has its line; beyond, and up to MAX_CROSS, they are a cross.
MAX_LISTED = 3
MAX_CROSS = 10


# ---- tables --------------------------------------------------------------------------------------


def in_unit(summary: Summary, title: str) -> str:
    """The title of a column with its unit."""
    return title if summary.unit.name == "points" else f"{title}, {summary.unit.name}"


def _figure(summary: Summary, key: str, title: str, is_signed: bool = False) -> Column:
    """A column of mean returns or leads, in the unit that people read."""
    title = in_unit(summary, title)
    return Column(key, title, _getter(key), scale=summary.unit.scale, is_signed=is_signed)


def _getter(key: str) -> partial[object]:
    return partial(_get, key)


def _get(key: str, entry: object) -> object:
    return getattr(entry, key)


WINS = Column("win_rate", "wins, %", _getter("win_rate"), ".1f", 100)
GAMES = Column("games", "games", _getter("games"), ",")
DEALS = Column("deals", "deals", _getter("deals"), ",")


def standings(summary: Summary) -> Table:
    """Every agent; columns that say nothing are left out."""
    entries = summary.standings
    distance = "exploitability" if len(summary.roles) == 2 else "nash_conv"
    wanted = [
        Column("name", "agent", _getter("name"), mark=_failed, hint=lambda entry: entry.agent_id),
        Column("role", "role", _getter("role")),
        _figure(summary, "mean_return", "mean return", is_signed=True),
        Column("placement", "place", _getter("placement"), ".2f"),
        WINS,
        Column("elo", "Elo", _getter("elo"), ".0f", mark=_unsure),
        Column("plackett_luce", "Plackett-Luce", _getter("plackett_luce"), ".0f", mark=_unsure),
        Column(
            distance,
            distance_title(len(summary.roles)),
            _getter(distance),
            write=partial(_distance, distance),
            hint=lambda entry: entry.policy,
        ),
        Column("seats", "seats", _getter("seats"), ","),
        DEALS,
        Column("faults", "faults", lambda entry: entry.faults or None, ","),
        Column("state", "state", _state if _has_states(summary) else lambda _: None),
    ]
    return Table("standings", _filled(wanted, entries), entries)


def _filled(columns: list[Column], entries: list[Standing]) -> list[Column]:
    return [column for column in columns if any(column.get(entry) is not None for entry in entries)]


def _failed(entry: Standing) -> str:
    return " (failed)" if entry.faults else ""


def _unsure(entry: Standing) -> str:
    return "" if entry.is_firm else "*"


def _distance(key: str, entry: Standing) -> str:
    return in_figures(getattr(entry, key), entry.is_estimated)


def _has_states(summary: Summary) -> bool:
    return any(entry.is_learning or not entry.is_reproducible for entry in summary.standings)


def _state(entry: Standing) -> str:
    return ("learning" if entry.is_learning else "frozen") + (
        "" if entry.is_reproducible else ", not repeatable"
    )


def comparisons(summary: Summary) -> Table:
    """Every two agents that can be compared."""
    wanted = [
        Column("first", "first", _getter("first")),
        Column("second", "second", _getter("second")),
        _figure(summary, "lead", "lead of the first", is_signed=True),
        Column("score", "better in, %", _getter("score"), ".1f", 100),
        GAMES,
        DEALS,
        Column("gain", "paired gain", _getter("gain"), ".2f"),
        Column("variance_gain", "variance gain", _getter("variance_gain"), ".2f"),
    ]
    entries = summary.comparisons
    shown = [column for column in wanted if any(column.get(e) is not None for e in entries)]
    return Table("comparisons", shown or wanted, entries, num_names=2)


def by_seat(summary: Summary) -> Table:
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
    return Table("seats", [Column("agent", "agent", str), *columns], names)


def by_opponent(summary: Summary) -> Table:
    """Every agent in every role, against everybody and against each opponent."""
    columns = [
        Column("agent", "agent", _getter("agent")),
        Column("role", "role" if summary.is_two_sided else "seat", _getter("role")),
        Column("against", "against", lambda entry: entry.against or "everybody"),
        _figure(summary, "mean_return", "mean return", is_signed=True),
        *([WINS] if any(entry.win_rate for entry in summary.by_role) else []),
        GAMES,
    ]
    return Table("roles", columns, summary.by_role, num_names=3)


def singles(summary: Summary) -> Table:
    """One among many of another kind."""
    columns = [
        Column("agent", "one of", _getter("agent")),
        Column("against", "among", lambda entry: f"{entry.num_others} of {entry.against}"),
        _figure(summary, "mean_return", "mean return", is_signed=True),
        *([WINS] if any(entry.win_rate for entry in summary.singles) else []),
        GAMES,
    ]
    return Table("singles", columns, summary.singles, num_names=2)


def lengths(summary: Summary) -> Table:
    """How long the games of every group were."""
    groups = [(" - ".join(group.agents), group.length) for group in summary.groups]
    columns = [
        Column("group", "group", lambda entry: entry[0]),
        Column("games", "games", lambda entry: entry[1].games, ","),
        Column("mean", "mean", lambda entry: entry[1].mean, ".1f"),
        Column("min", "shortest", lambda entry: entry[1].min, ","),
        *(
            Column(f"q{share}", f"{100 * float(share):g} %", partial(_quantile, share), ",")
            for share in summary.length.quantiles
        ),
        Column("max", "longest", lambda entry: entry[1].max, ","),
    ]
    return Table("lengths", columns, [*groups, ("all", summary.length)])


def _quantile(share: str, entry: tuple[str, object]) -> int:
    found: int = entry[1].quantiles[share]  # type: ignore[attr-defined]
    return found


def metagame(summary: Summary) -> Table | None:
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
    return Table("metagame", columns, order)


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
