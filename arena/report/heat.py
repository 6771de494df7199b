"""A cross table of many agents as a picture, with variants of one player taken together."""

from __future__ import annotations

from dataclasses import replace
from html import escape

from arena.report.columns import shorten
from arena.report.tables import Cross
from arena.report.words import listing, minus, with_sign
from arena.statistics.summary import Summary

__all__ = ["group_notes", "groups_of", "to_svg", "without"]

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
        f"<title>{escape(cross.corner)}</title>",
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
    return escape(shorten(name, MAX_LETTERS))
