"""A page for each game that says who plays it best, written by the command it names.

A page holds nothing that depends on the day or the machine: the same code writes the same page.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from arena.report import tables
from arena.report.columns import escape, in_markdown, markdown, shorten
from arena.report.tables import Cross, standings_notes
from arena.report.words import listing, minus, verdict, with_sign
from arena.spec import TournamentSpec, read_config, with_games
from arena.summary import Summary
from arena.tournament import run_tournament
from common.errors import MasqueradeError, nearest
from common.files import write_text

PROJECT = Path(__file__).resolve().parents[2]
CONFIGS = PROJECT / "configs" / "tournaments"
PAGES = PROJECT / "docs" / "leaderboards"
RUNS = Path("runs") / "leaderboards"

CODE = ("envs/**/*.py", "agents/**/*.py", "arena/*.py")
"""What games depend on."""
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
    for pattern in CODE:
        for path in sorted(PROJECT.glob(pattern)):
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


# ---- the cross table as a picture, variants of one player taken together -------------------------


CELL, NAME, HEAD, SIZE = 46, 130, 120, 11
SLANT = 60
"""To the right of the last column, whose name leans that far."""
MAX_LETTERS = 18
AHEAD, BEHIND, OPEN = (47, 111, 181), (217, 130, 43), (236, 238, 233)


def groups_of(summary: Summary) -> dict[str, list[str]]:
    """Agents of one kind whose leads over each other may all be chance: the first has the others.

    Six variants of one solver that play alike are one player to whoever reads a table.
    """
    meta = summary.metagame
    if meta is None:
        return {}
    place = {name: number for number, name in enumerate(meta.agents)}
    kinds: dict[str, str] = {}
    groups: dict[str, list[str]] = {}
    for standing in (s for s in summary.standings if s.name in place and not s.faults):
        for first, others in groups.items():
            members = [first, *others]
            is_alike = kinds[first] == standing.agent_id and not any(
                meta.is_certain[place[standing.name]][place[member]] for member in members
            )
            if is_alike and standing.agent_id not in ("random", ""):
                others.append(standing.name)
                break
        else:
            groups[standing.name], kinds[standing.name] = [], standing.agent_id
    return {first: others for first, others in groups.items() if others}


def group_notes(groups: dict[str, list[str]]) -> list[str]:
    """A line for each group.

    >>> group_notes({"cfr": ["cfr_plus", "pcfr_plus"]})
    ['cfr stands for cfr_plus and pcfr_plus too: their leads over each other may all be chance.']
    """
    return [
        f"{first} stands for {listing(others)} too: their leads over each other may all be chance."
        for first, others in groups.items()
    ]


def without(cross: Cross, groups: dict[str, list[str]]) -> Cross:
    """The cross table without those for whom another stands."""
    hidden = {name for others in groups.values() for name in others}
    rows, columns = (
        [name for name in names if name not in hidden] for names in (cross.rows, cross.columns)
    )
    return replace(cross, rows=rows, columns=columns)


def to_svg(cross: Cross) -> str:
    """The picture: blue is ahead, orange behind, and pale what may be chance."""
    width, height = NAME + CELL * len(cross.columns) + SLANT, HEAD + 24 * len(cross.rows) + 8
    strongest = max((abs(c.lead.mean - cross.even) for c in cross.cells.values()), default=1.0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'font-family="sans-serif" font-size="{SIZE}">',
        f"<title>{html.escape(cross.corner)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for number, name in enumerate(cross.columns):
        x = NAME + CELL * number + CELL / 2 + 4
        parts.append(
            f'<text transform="translate({x:g} {HEAD - 6}) rotate(-50)">{_name(name)}</text>'
        )
    for number, row in enumerate(cross.rows):
        y = HEAD + 24 * number
        parts.append(f'<text x="{NAME - 6}" y="{y + 16}" text-anchor="end">{_name(row)}</text>')
        for column, name in enumerate(cross.columns):
            met = cross.cells.get((row, name))
            if met is not None:
                share = (abs(met.lead.mean - cross.even) / (strongest or 1.0)) ** 0.5
                is_sure = met.lead.excludes(cross.even)
                colour = AHEAD if met.lead.mean > cross.even else BEHIND
                mixed = [round(255 + (c - 255) * (0.12 + 0.5 * share)) for c in colour]
                fill = f"rgb{tuple(mixed) if is_sure else OPEN}"
                text = minus(with_sign(met.lead.mean, min(2, cross.decimals)))
                x = NAME + CELL * column
                parts.append(
                    f'<rect x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="22" fill="{fill}"/>'
                    f'<text x="{x + CELL / 2:g}" y="{y + 16}" text-anchor="middle">{text}</text>'
                )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _name(name: str) -> str:
    return html.escape(shorten(name, MAX_LETTERS))
