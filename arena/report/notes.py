"""What the tables of a summary cannot say, a line each."""

from __future__ import annotations

import statistics

from arena.report.columns import shorten
from arena.report.words import with_sign
from arena.statistics.distance import distance_notes
from arena.statistics.summary import Cycle, Summary

__all__ = ["notes", "standings_notes"]

MAX_CYCLES = 5


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
    learning = [standing.name for standing in summary.standings if standing.is_learning]
    found.append(f"Learning: {', '.join(learning)}." if learning else "All agents are frozen.")
    remembering = [agent.name for agent in summary.spec.agents if agent.can_remember]
    if remembering:
        found.append(
            f"Could remember earlier games: {', '.join(remembering)}. They never meet the same "
            "deal twice"
            + ("." if learning else ", and start afresh in every work unit and every seat.")
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
