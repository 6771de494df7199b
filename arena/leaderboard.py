"""A page for each game that says who plays it best, written by the command it names.

A page holds nothing that depends on the day or the machine: the same code writes the same page.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from arena.report import tables
from arena.report.columns import escape, in_markdown, markdown
from arena.report.heat import group_notes, groups_of, to_svg, without
from arena.report.notes import standings_notes
from arena.report.words import listing, verdict
from arena.running.tournament import run_tournament
from arena.schedules.config import read_config, with_games
from arena.schedules.spec import TournamentSpec
from arena.statistics.summary import Summary
from common.errors import MasqueradeError, nearest
from common.files import write_text

__all__ = [
    "CONFIGS",
    "PAGES",
    "PROJECT",
    "find_configs",
    "make_index",
    "make_page",
    "name_of",
    "settings_of",
    "write_leaderboards",
]

PROJECT = Path(__file__).resolve().parents[1]
CONFIGS = PROJECT / "configs" / "tournaments"
PAGES = PROJECT / "docs" / "leaderboards"
RUNS = Path("runs") / "leaderboards"

COMMAND = "python evaluate.py leaderboard"


def find_configs(names: Sequence[str] = (), folder: Path = CONFIGS) -> list[Path]:
    """The tournament files of some games, by file or by game, or of all of them.

    >>> [name_of(path) for path in find_configs(["kuhn", "leduc_v0", "search/leduc"])]
    ['kuhn', 'leduc', 'search/leduc']
    """
    if not folder.is_dir():
        raise MasqueradeError(
            "leaderboards are made from configs/tournaments/, which is in the repository, not in "
            "the installed package: run the command in a clone"
        )
    # A game's own file comes before those of a folder, such as search/.
    paths = sorted(folder.glob("*.yaml")) + sorted(folder.glob("*/*.yaml"))
    known = {name_of(path, folder): path for path in paths}
    if not names:
        return list(known.values())
    by_game: dict[str, Path] = {}
    for path in known.values():
        by_game.setdefault(read_config(path).game_id, path)
    found = []
    for name in names:
        if name not in known and name not in by_game:
            raise MasqueradeError(f"no tournament file for '{name}': {nearest(name, known)}")
        found.append(known[name] if name in known else by_game[name])
    return found


def name_of(config: Path, folder: Path = CONFIGS) -> str:
    """What a tournament file is called: with its folder, if it is in one of ours."""
    is_ours = config.is_relative_to(folder)
    return config.relative_to(folder).with_suffix("").as_posix() if is_ours else config.stem


def write_leaderboards(
    configs: Sequence[Path],
    games: int | None = None,
    workers: int = 1,
    pages: Path = PAGES,
    runs: Path = RUNS,
) -> Iterator[Path]:
    """Play each tournament, write its page, and at the end the index of all pages.

    Args:
        configs: the tournaments' files.
        games: games of every group, instead of what the file says.
        workers: processes to play in.
        pages: where the pages are.
        runs: where results are kept; those of the same code and file are used again.
    """
    for config in configs:
        spec = read_config(config)
        if games is not None:
            spec = with_games(spec, games)
        name = name_of(config)
        folder = runs / f"{name}-{_fingerprint(spec)}"
        summary = run_tournament(spec, folder, workers, has_resume=True)
        page = pages / f"{name}.md"
        text, cross = make_page(config, summary, games), tables.cross_of(summary)
        if cross and f"({config.stem}.svg)" in text:
            picture = to_svg(without(cross, groups_of(summary)))
            write_text(page.with_suffix(".svg"), picture)
        write_text(page, text)
        yield page
    index = pages / "README.md"
    write_text(index, make_index(pages))
    yield index


def _fingerprint(spec: TournamentSpec) -> str:
    """Changes with the tournament, with runs that are trained anew and with code of its games."""
    what = {key: value for key, value in spec.to_dict().items() if key != "deals"}
    what["fingerprints"] = [agent.fingerprint() for agent in spec.agents]
    digest = hashlib.sha256(json.dumps(what, sort_keys=True).encode())
    rooms = ("envs", "agents", "arena/playing", "arena/schedules", "arena/variance_reduction")
    for room in rooms:
        for path in sorted((PROJECT / room).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:10]


def make_page(config: Path, summary: Summary, games: int | None = None) -> str:
    """The page of one game."""
    spec, cross = summary.spec, tables.cross_of(summary)
    name = name_of(config)
    command = f"{COMMAND} {name}" + ("" if games is None else f" --games {games}")
    options = "".join(f", {key} {value}" for key, value in spec.options.items())
    options += f", {folder}" if (folder := name.rpartition("/")[0]) else ""
    parts = [
        f"# {spec.game_id}{options}",
        f"<!-- Written by `{command}`; do not edit. -->",
        escape(verdict(summary)),
        tables.standings(summary).markdown(),
        *map(escape, standings_notes(summary)),
    ]
    if cross and len(summary.standings) > 2:
        groups = groups_of(summary)
        cross = without(cross, groups)
        title = f"{cross.corner[0].upper()}{cross.corner[1:]}"
        parts += [f"{title}:", *map(escape, group_notes(groups))]
        is_wide = len(cross.columns) > tables.MAX_CROSS
        parts.append(f"![{title}]({config.stem}.svg)" if is_wide else markdown(cross.lines))
        if is_wide:
            parts.append("Pale: may be chance. With intervals: `evaluate.py report` of the folder.")
    parts += [f"- {escape(line)}" for line in summary.faults]
    unsure = [escape(s.name) for s in summary.standings if not s.is_reproducible]
    if unsure:
        parts.append(f"Choices of {listing(unsure)} depend on a clock or on another program.")
    most = max(summary.groups, key=lambda group: group.num_seatings)
    parts += [
        f"{spec.deals:,} deals, each in {most.num_seatings} seatings, for every "
        f"{'pair' if len(most.agents) == 2 else 'group'} of agents; "
        f"seed {spec.seed}; intervals of {100 * spec.confidence:g} %; "
        f"masquerade {version('masquerade')}.",
        *settings_of(spec),
        f"The agents and their settings are in `configs/tournaments/{name}.yaml`. To repeat:",
        f"```bash\n{command}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def settings_of(spec: TournamentSpec) -> list[str]:
    """A sentence with what agents are given (budgets of searches, for example), if any are.

    >>> settings_of(read_config(CONFIGS / "search" / "no_thanks.yaml"))[0][:46]
    'Settings: ismcts, mo_ismcts, pimc, flat_mc, oo'
    """
    names: dict[str, list[str]] = {}
    for agent in spec.agents:
        # What was learnt is named by a path.
        given = [f"{key} {value}" for key, value in agent.params.items() if key != "path"]
        if given:
            names.setdefault(", ".join(given), []).append(agent.name)
    told = [f"{', '.join(some)}: {given}" for given, some in names.items()]
    return [escape(f"Settings: {'; '.join(told)}.")] if told else []


def make_index(pages: Path = PAGES) -> str:
    """The list of all pages with the verdict of each."""
    rows = []
    for page in sorted(pages.glob("*.md")) + sorted(pages.glob("*/*.md")):
        if page.name != "README.md":
            title, _, finding = page.read_text(encoding="utf-8").split("\n\n")[:3]
            link = page.relative_to(pages).as_posix()
            rows.append([f"[{title.removeprefix('# ')}]({link})", finding])
    parts = [
        "# Leaderboards",
        f"<!-- Written by `{COMMAND}`; do not edit. -->",
        "Who plays each game best, and how sure that is: every deal in every seating, with the "
        "intervals, the seed and the command on each page.",
        in_markdown([["game", "verdict"], *rows]).replace("---:", "---"),
        f"`{COMMAND}` plays all tournaments and writes these pages anew.",
    ]
    return "\n\n".join(parts) + "\n"
