"""Figures and findings in words, the same in every format of a report."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from arena.statistics.intervals import Interval

__all__ = [
    "as_interval",
    "decimals_for",
    "listing",
    "minus",
    "plus_minus",
    "share",
    "signed",
    "turned",
    "verdict",
    "with_sign",
]

MAX_NAMED = 4


def as_interval(entry: Sequence[float | None]) -> Interval:
    """An interval from ``[mean, low, high]``; an end that is None is not known."""
    mean, low, high = entry
    return Interval(
        math.nan if mean is None else mean,
        -math.inf if low is None else low,
        math.inf if high is None else high,
    )


def turned(interval: Interval) -> Interval:
    """The same from the other side's point of view."""
    return Interval(0.0 - interval.mean, 0.0 - interval.high, 0.0 - interval.low)


def decimals_for(intervals: Iterable[Interval]) -> int:
    """Decimals that show two figures of the typical half width, from 0 to 4.

    >>> decimals_for([Interval(0.5, 0.45, 0.55)]), decimals_for([Interval(300, 280, 320)])
    (3, 0)
    """
    widths = sorted(i.half_width for i in intervals if 0 < i.half_width < math.inf)
    if not widths:
        return 3
    return min(4, max(0, 1 - math.floor(math.log10(widths[len(widths) // 2]))))


def plus_minus(interval: Interval, decimals: int) -> str:
    """The reach of an interval: ``± 0.05``, or its ends when the sides differ.

    >>> plus_minus(Interval(1.0, 0.5, 1.5), 1), plus_minus(Interval(0.9, 0.71, 0.96), 2)
    ('± 0.5', '[0.71, 0.96]')
    """
    if not math.isfinite(interval.half_width):
        return "± ?"
    below = f"{interval.mean - interval.low:.{decimals}f}"
    above = f"{interval.high - interval.mean:.{decimals}f}"
    if below == above:
        return f"± {above}"
    return f"[{interval.low:.{decimals}f}, {interval.high:.{decimals}f}]"


def signed(interval: Interval, decimals: int) -> str:
    """A figure that may go either way, with its interval.

    >>> signed(Interval(0.51, 0.49, 0.53), 2)
    '+0.51 ± 0.02'
    """
    return f"{with_sign(interval.mean, decimals)} {plus_minus(interval, decimals)}"


def share(value: float | None, form: str = ".2f") -> str:
    """A number, or a question mark where none was found."""
    return "?" if value is None else format(value, form)


def with_sign(value: float, decimals: int) -> str:
    """A number with its sign, unless it shows as 0.

    >>> with_sign(0.51, 1), with_sign(-0.001, 2)
    ('+0.5', '0.00')
    """
    text = f"{value:+.{decimals}f}"
    return text if float(text) else text[1:]


def minus(text: str) -> str:
    """The text with true minus signs, as wide as a plus, before its numbers."""
    return re.sub(r"-(?=[\d.])", "\N{MINUS SIGN}", text)


def listing(names: Sequence[str]) -> str:
    """Names as a sentence has them.

    >>> listing(["a", "b", "c"])
    'a, b and c'
    """
    names = [str(name) for name in names]
    if len(names) > MAX_NAMED + 1:
        names = [*names[:MAX_NAMED], f"{len(names) - MAX_NAMED} more"]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def verdict(summary: dict[str, Any]) -> str:
    """The result of a tournament in a sentence or two."""
    names = [standing["name"] for standing in summary["standings"]]
    finding = _of_two(summary) if len(names) == 2 else _of_many(summary, names)
    best = max(summary["standings"], key=lambda standing: standing["elo"][0])
    if as_interval(best["elo"]).low > as_interval(summary["standings"][0]["elo"]).high:
        finding += f" Counting who did better, not by how much, {best['name']} comes first."
    sure = [cycle["agents"] for cycle in summary["metagame"]["cycles"] if cycle["is_certain"]]
    if sure:
        circle = " beats ".join([*sure[0], sure[0][0]])
        count = "There is a circle" if len(sure) == 1 else f"There are {len(sure)} circles"
        such = ":" if len(sure) == 1 else ", such as"
        finding += f" {count}{such} {circle}. No ladder can show that; see the cross table."
    return finding


def _of_two(summary: dict[str, Any]) -> str:
    comparison = summary["comparisons"][0]
    lead = as_interval(comparison["lead"])
    winner, loser = comparison["first"], comparison["second"]
    if lead.mean < 0:
        winner, loser, lead = loser, winner, turned(lead)
    figure = signed(lead, decimals_for([lead]))
    if lead.low > 0:
        return f"{winner} beats {loser}, with a lead of {figure} a game."
    return (
        f"{winner} and {loser} cannot be told apart yet: "
        f"the lead of {winner} is {figure} a game, which may be luck."
    )


def _of_many(summary: dict[str, Any], names: list[str]) -> str:
    top, others = names[0], names[1:]
    meta = summary["metagame"]
    place = {name: i for i, name in enumerate(meta["agents"])}

    def beats(first: str, second: str) -> bool:
        i, j = place[first], place[second]
        return bool(meta["is_certain"][i][j] and meta["leads"][i][j] > 0)

    beaten = [name for name in others if beats(top, name)]
    stronger = [name for name in others if beats(name, top)]
    champion = next((a for a in names if all(beats(a, b) for b in names if b != a)), None)
    if champion == top:
        rival = min(others, key=lambda name: meta["leads"][place[top]][place[name]])
        lead = _lead(summary, top, rival)
        return (
            f"{top} beats all {len(others)} others; {rival} comes closest, "
            f"{signed(lead, decimals_for([lead])).lstrip('+')} a game behind."
        )
    if champion is not None:
        return (
            f"{champion} beats all {len(others)} others head to head; "
            f"{top} wins more from the weak and has the highest mean return."
        )
    if stronger:
        return f"{top} has the highest mean return, but {listing(stronger)} beats it head to head."
    if not beaten:
        return f"Nobody is surely the best: the lead of {top} over any of the others may be luck."
    equals = [name for name in others if name not in beaten]
    return (
        f"{top} is ahead of {len(beaten)} of the {len(others)} others beyond doubt; "
        f"against {listing(equals)} its lead may be luck."
    )


def _lead(summary: dict[str, Any], first: str, second: str) -> Interval:
    for comparison in summary["comparisons"]:
        if (comparison["first"], comparison["second"]) == (first, second):
            return as_interval(comparison["lead"])
        if (comparison["second"], comparison["first"]) == (first, second):
            return turned(as_interval(comparison["lead"]))
    raise KeyError((first, second))
