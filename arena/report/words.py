"""Figures and findings in words, the same in every format of a report."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from arena.summary import Metagame, Summary
from common.statistics import Interval

MAX_NAMED = 4
# What the first of the standings has, by the objective of the game.
BEST = {"return": "the highest mean return", "place": "the best mean place", "win": "the most wins"}


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
    """The reach of an interval: ``± 0.05``, or its ends when the sides differ by more than noise.

    >>> plus_minus(Interval(1.0, 0.5, 1.5), 1), plus_minus(Interval(0.9, 0.71, 0.96), 2)
    ('± 0.5', '[0.71, 0.96]')
    """
    if not math.isfinite(interval.half_width):
        return "± ?"
    sides = sorted((interval.mean - interval.low, interval.high - interval.mean))
    if sides[0] > 0.8 * sides[1] or f"{sides[0]:.{decimals}f}" == f"{sides[1]:.{decimals}f}":
        return f"± {sides[1]:.{decimals}f}"
    return f"[{interval.low:.{decimals}f}, {interval.high:.{decimals}f}]"


def signed(interval: Interval, decimals: int | None = None) -> str:
    """A figure that may go either way, with its interval.

    >>> signed(Interval(0.51, 0.49, 0.53), 2)
    '+0.51 ± 0.02'
    """
    decimals = decimals_for([interval]) if decimals is None else decimals
    return f"{with_sign(interval.mean, decimals)} {plus_minus(interval, decimals)}"


def with_sign(value: float, decimals: int) -> str:
    """A number with its sign, unless it shows as 0.

    >>> with_sign(0.51, 1), with_sign(-0.001, 2)
    ('+0.5', '0.00')
    """
    text = f"{value:+.{decimals}f}"
    return text if float(text) else text[1:]


def in_figures(value: float | None, is_estimated: bool = False) -> str:
    """Four decimals, or two figures of what is smaller than those show.

    >>> in_figures(0.91666), in_figures(0.000123), in_figures(1e-17), in_figures(None)
    ('0.9167', '1.2e-04', '0', '-')
    >>> in_figures(0.5, is_estimated=True)
    '~0.5000'
    """
    if value is None:
        return "-"
    if abs(value) < 1e-9:
        return "0"
    text = f"{value:.4f}" if abs(value) >= 1e-3 else f"{value:.1e}"
    return f"~{text}" if is_estimated else text


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


# ---- the result in a sentence or two -------------------------------------------------------------


def verdict(summary: Summary) -> str:
    """The result of a tournament in a sentence or two."""
    findings = [_of_roles(summary)] if summary.is_two_sided else []
    meta = summary.metagame
    if meta is None:
        return " ".join(findings + _failures(summary))
    standings = [standing for standing in summary.standings if standing.role is None]
    names = [standing.name for standing in standings]
    findings.append(_of_two(summary) if len(names) == 2 else _of_many(summary, meta, names))
    rated = [standing for standing in standings if standing.elo]
    best = max(rated, key=lambda standing: standing.elo.mean, default=None)  # type: ignore[union-attr]
    if best and best.elo and standings[0].elo and best.elo.low > standings[0].elo.high:
        findings.append(f"Counting who did better, not by how much, {best.name} comes first.")
    sure = [cycle.agents for cycle in meta.cycles if cycle.is_certain]
    if sure:
        circle = " beats ".join([*sure[0], sure[0][0]])
        count = "There is a circle" if len(sure) == 1 else f"There are {len(sure)} circles"
        such = ":" if len(sure) == 1 else ", such as"
        findings.append(f"{count}{such} {circle}. No ladder can show that; see the cross table.")
    return " ".join(findings + _failures(summary))


def _a_game(summary: Summary, lead: Interval, has_sign: bool = True) -> str:
    """A lead in the unit that people read."""
    text = signed(lead.times(summary.unit.scale))
    text = text if has_sign else text.lstrip("+")
    per = "" if "/" in summary.unit.name else " a game"
    return f"{text} {summary.unit.name}{per}"


def _of_roles(summary: Summary) -> str:
    """Who does best in each role of a game whose sides differ."""
    parts = []
    for role in summary.roles:
        entries = [e for e in summary.by_role if e.role == role and e.against is None]
        best = max(entries, key=lambda entry: entry.mean_return.mean)
        parts.append(f"{best.agent} does best as {role} ({_a_game(summary, best.mean_return)})")
    return f"{listing(parts)}."


def _of_two(summary: Summary) -> str:
    comparison = summary.comparisons[0]
    lead, winner, loser = comparison.lead, comparison.first, comparison.second
    if lead.mean < 0:
        winner, loser, lead = loser, winner, lead.times(-1)
    figure = _a_game(summary, lead)
    if lead.low > 0:
        return f"{winner} beats {loser}, with a lead of {figure}."
    return (
        f"{winner} and {loser} cannot be told apart yet: "
        f"the lead of {winner} is {figure}, which may be chance."
    )


def _of_many(summary: Summary, meta: Metagame, names: list[str]) -> str:
    top, others = names[0], names[1:]
    place = {name: i for i, name in enumerate(meta.agents)}

    def beats(first: str, second: str) -> bool:
        i, j = place[first], place[second]
        return bool(meta.is_certain[i][j] and meta.leads[i][j] > 0)

    beaten = [name for name in others if beats(top, name)]
    stronger = [name for name in others if beats(name, top)]
    champion = next((a for a in names if all(beats(a, b) for b in names if b != a)), None)
    if champion == top:
        rival = min(others, key=lambda name: meta.leads[place[top]][place[name]])
        behind = _a_game(summary, _lead(summary, top, rival), has_sign=False)
        return f"{top} beats {_all(others)}; {rival} comes closest, {behind} behind."
    best = BEST[summary.objective]
    if champion is not None:
        return (
            f"{champion} beats {_all(others)} head to head; "
            f"{top} wins more from the weak and has {best}."
        )
    if stronger:
        beat = "beats" if len(stronger) == 1 else "beat"
        return f"{top} has {best}, but {listing(stronger)} {beat} it head to head."
    if not beaten:
        return f"Nobody is surely the best: the lead of {top} over any of the others may be chance."
    equals = [name for name in others if name not in beaten]
    return (
        f"{top} is ahead of {len(beaten)} of the {len(others)} others beyond doubt; "
        f"against {listing(equals)} its lead may be chance."
    )


def _all(others: Sequence[str]) -> str:
    """Everybody else, as people say it.

    >>> _all(["a", "b"]), _all(["a", "b", "c"])
    ('both others', 'all 3 others')
    """
    return "both others" if len(others) == 2 else f"all {len(others)} others"


def _failures(summary: Summary) -> list[str]:
    """Who lost games by failing: a sentence for each, the worst first."""
    failed = sorted((s for s in summary.standings if s.faults), key=lambda s: -s.faults)
    told = [f"{s.name} failed in {s.faults:,} of its {s.seats:,} games" for s in failed[:MAX_NAMED]]
    if len(failed) > MAX_NAMED:
        told.append(f"{len(failed) - MAX_NAMED} more failed too")
    return [f"{listing(told)}, and lost those."] if told else []


def _lead(summary: Summary, first: str, second: str) -> Interval:
    for comparison in summary.comparisons:
        if (comparison.first, comparison.second) == (first, second):
            return comparison.lead
        if (comparison.second, comparison.first) == (first, second):
            return comparison.lead.times(-1)
    raise KeyError((first, second))
