"""Repeat what was published for a game, and say for every number whether it came out.

python -m experiments scotland_yard
python -m experiments no_thanks --only E1 E2 --scale 0.1 --workers 2

An experiment is a module of ``experiments/`` with a table ``GROUPS``: the id of a group
and the function that makes its rows. Groups are played one after the other and kept as they come
in ``runs/reproduce/<name>.json``, so that the same command goes on where it was stopped. Where our
number should lie was written down before it was known; a number whose interval lies outside is
called a MISS, one whose interval lies on both sides of an end is not decided.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from common.commands import (
    MAX_SEED,
    MAX_WORKERS,
    Parser,
    answers_in_one_line,
    at_least,
    is_rehearsal,
    rehearse,
)
from common.errors import OptionError, nearest, one_line
from common.files import read_json, remove_file, write_json
from common.imports import look_up
from common.progress import duration
from common.statistics import Interval

RUNS = Path("runs/reproduce")
MAX_SCALE = 1e6

EXPERIMENTS: dict[str, str] = {
    "ablations": "experiments.ablations:GROUPS",
    "holdem": "experiments.holdem.groups:GROUPS",
    "liars_dice": "experiments.liars_dice.tables:GROUPS",
    "no_thanks": "experiments.no_thanks:GROUPS",
    "phantom": "experiments.phantom.tables:GROUPS",
    "phantom_parts": "experiments.phantom.searching:PARTS",
    "phantom_search": "experiments.phantom.searching:GROUPS",
    "phantom_search_timed": "experiments.phantom.searching:TIMED",
    "search_rules": "experiments.search_rules:GROUPS",
    "scotland_yard": "experiments.scotland_yard:GROUPS",
}
"""Every experiment: name -> where its table of groups is; imported when asked for."""
LISTED = {
    "ablations": "what each part of DQN is worth, in Leduc poker, with a picture",
    "holdem": "a thesis on Q-learning for six players of no-limit hold'em",
    "liars_dice": "a thesis on SARSA with lie profiling; equilibria that learn and lean",
    "no_thanks": "a thesis on No Thanks! for three: searches, databases, matches, learners",
    "phantom": "the Phantom's tournament without search: simple players and beliefs",
    "phantom_parts": "what each part of a search is worth in the Phantom's game; levels",
    "phantom_search": "a thesis on search for the Phantom, at equal simulations",
    "phantom_search_timed": "the same at 2.5 seconds a decision, for hours",
    "search_rules": "a second of search a move against the rule players of every game",
    "scotland_yard": "a thesis on the reduced Scotland Yard: alpha-beta, Q-learning, solvers",
    "-m experiments.holdem.population": "six networks that teach each other",
    "-m experiments.holdem.selection": "which inputs a network of hold'em should see",
    "-m experiments.no_thanks.makers": "databases, networks and self-play of No Thanks!",
}
"""What each repeats; those with settings of their own are modules to run."""


@dataclass(frozen=True)
class Settings:
    """How much is played, and from where the chance comes."""

    seed: int = 0
    workers: int = 1
    scale: float = 1.0
    """All numbers of games are multiplied by it: 0.1 for a try, 10 for a night."""
    folder: Path = RUNS
    """For files of an experiment's own, such as tables it has computed."""

    def games(self, number: int) -> int:
        """A number of games, scaled; never fewer than two, which an interval needs.

        >>> Settings(scale=0.1).games(2000), Settings(scale=0.001).games(100)
        (200, 2)
        """
        return max(2, round(self.scale * number))


@dataclass(frozen=True)
class Row:
    """One number: what was published, what we get, and where it should lie."""

    quantity: str
    """In words, with its unit."""
    ours: float
    low: float | None = None
    high: float | None = None
    """The ends of the 95 % interval; ``None`` for what is exact."""
    games: int | None = None
    published: float | str | None = None
    wanted: tuple[float | None, float | None] | None = None
    """The least and the most it should be, either may be open."""
    note: str = ""
    id: str = ""
    """That of its group, if it has no other."""

    @classmethod
    def of(cls, quantity: str, interval: Interval, **more: Any) -> Row:
        """A row from an interval.

        >>> from common.statistics import wilson
        >>> Row.of("wins, %", wilson(12, 100).times(100), games=100, wanted=(9, 15)).verdict
        'not decided'
        >>> Row.of("wins, %", wilson(12, 100).times(100), games=100, wanted=(5, None)).verdict
        'hit'
        """
        return cls(quantity, interval.mean, interval.low, interval.high, **more)

    @property
    def verdict(self) -> str:
        """Whether ours lies where it should; if only a part of its interval does, nobody knows."""
        if self.wanted is None:
            return ""
        least, most = self.wanted
        least = -math.inf if least is None else least
        most = math.inf if most is None else most
        low = self.ours if self.low is None else self.low
        high = self.ours if self.high is None else self.high
        if low >= least and high <= most:
            return "hit"
        return "MISS" if high < least or low > most else "not decided"


Group = Callable[[Settings], Iterable[Row]]


def _check_groups(groups: Mapping[str, Group], only: Sequence[str]) -> None:
    for name in only:
        if name not in groups:
            raise OptionError(f"unknown group '{name}': {nearest(name, list(groups))}")


def reproduce(
    groups: Mapping[str, Group], settings: Settings, path: Path, only: Sequence[str] = ()
) -> list[Row]:
    """Play the groups that ``path`` does not have yet with these settings; all their rows."""
    _check_groups(groups, only)
    kept = _read(path)
    rows = []
    for name in only or groups:
        found = kept.get(name)
        if found is None or found["seed"] != settings.seed or found["scale"] != settings.scale:
            print(f"{name} ...{_forecast(found, settings)}", file=sys.stderr, flush=True)
            begun = time.monotonic()
            made = []
            for found_row in groups[name](settings):
                row = replace(found_row, id=found_row.id or name)
                made.append(row)
                print(f"  {row.id} {row.quantity}: {_ours(row)}", file=sys.stderr, flush=True)
            seconds = time.monotonic() - begun
            print(f"{name}: {duration(seconds)}", file=sys.stderr)
            found = {"seed": settings.seed, "scale": settings.scale, "seconds": seconds}
            kept[name] = {**found, "rows": [asdict(row) for row in made]}
            write_json(path, kept)
        rows += [_row(content) for content in kept[name]["rows"]]
    return rows


def _forecast(kept: Mapping[str, Any] | None, settings: Settings) -> str:
    """How long a group may take, by how long it took with another seed or scale."""
    if kept is None or not kept.get("seconds"):
        return ""
    seconds = kept["seconds"] * settings.scale / kept["scale"]
    return f" roughly {duration(seconds)}, as it took with a scale of {kept['scale']:g}"


def _row(content: Mapping[str, Any]) -> Row:
    wanted = content["wanted"]
    row = Row(**{**content, "wanted": None if wanted is None else tuple(wanted)})
    table_text([row])  # which needs numbers where there should be numbers
    return row


def _read(path: Path) -> dict[str, Any]:
    fix = "begin again with --fresh"
    kept = read_json(path, fix) if path.exists() else {}
    try:
        for found in kept.values():
            found["seed"], found["scale"], [_row(content) for content in found["rows"]]
            _forecast(found, Settings(scale=MAX_SCALE))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
        reason = one_line(error)
        raise OptionError(f"{path} holds no groups of rows ({reason}): {fix}") from error
    return kept


def table_text(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table.

    >>> print(table_text([Row("wins, %", 12.5, 10.1, 15.3, 200, 12.0, (9, 15), id="R1")]))
    | id | quantity | games | published | ours | wanted | |
    |---|---|---|---|---|---|---|
    | R1 | wins, % | 200 | 12 | 12.5 [10.1, 15.3] | 9 .. 15 | not decided |
    """
    lines = [
        "| id | quantity | games | published | ours | wanted | |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        games = "" if row.games is None else f"{row.games:,}"
        published = (
            f"{row.published:g}" if isinstance(row.published, float | int) else row.published
        )
        verdict = " ".join(filter(None, (row.verdict, row.note)))
        cells = (row.id, row.quantity, games, published or "", _ours(row), _wanted(row), verdict)
        # Kept rows may come from anybody: nothing in them may start a row, a cell or a tag.
        plain = [one_line(cell).replace("|", "&#124;").replace("<", "&lt;") for cell in cells]
        lines.append(f"| {' | '.join(plain)} |".replace("|  |", "| |"))
    return "\n".join(lines)


def _ours(row: Row) -> str:
    if row.low is None or row.high is None:
        return f"{row.ours:g}"
    width = row.high - row.low
    decimals = 1 if width > 1 else 2 if width > 0.1 else 3 if width > 0.01 else 4
    return f"{Interval(row.ours, row.low, row.high):.{decimals}f}"


def _wanted(row: Row) -> str:
    low, high = row.wanted or (None, None)
    if low is not None and high is not None:
        return f"{low:g} .. {high:g}" if low != high else f"{low:g}"
    if low is not None:
        return f"from {low:g}"
    return "" if high is None else f"up to {high:g}"


@answers_in_one_line("reproduce", "stopped: the same command goes on with the next group")
def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; bad input gets one line and exit code 2."""
    parser = Parser(prog="python -m experiments", description=__doc__)
    parser.add_argument("name", nargs="?", metavar="NAME", help=f"{', '.join(EXPERIMENTS)}")
    parser.add_argument("--list", action="store_true", help="say which experiments there are")
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="groups, not all")
    seed, workers, scale = (
        at_least(0, MAX_SEED),
        at_least(1, MAX_WORKERS),
        at_least(1e-9, MAX_SCALE),
    )
    parser.add_argument("--seed", type=seed, default=0, help="root of all chance (0)")
    parser.add_argument("--workers", type=workers, default=1, help="processes, if it can use them")
    parser.add_argument("--scale", type=scale, default=1.0, help="times the numbers of games (1)")
    parser.add_argument("--fresh", action="store_true", help="forget what was played before")
    parsed = parser.parse_args(arguments)
    if parsed.list:
        print("\n".join(f"{name:36}{words}" for name, words in LISTED.items()))
        return 0
    if parsed.name is None:
        parser.error("name an experiment before --only, or --list them")
    # For small networks one thread is fastest; two on a busy machine take many times as long.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if parsed.name in EXPERIMENTS and parsed.only:
        words = sys.argv[1:] if arguments is None else arguments
        rehearse(["-m", "experiments", *words])
    groups: Mapping[str, Group] = look_up("experiment", EXPERIMENTS, parsed.name)
    _check_groups(groups, parsed.only)  # before anything that was kept is forgotten
    if is_rehearsal():
        return 0
    path = RUNS / f"{parsed.name}.json"
    if parsed.fresh:
        remove_file(path)
    settings = Settings(parsed.seed, parsed.workers, parsed.scale)
    rows = reproduce(groups, settings, path, parsed.only)
    print(f"{table_text(rows)}\n\nall numbers in {path}")
    return 0
