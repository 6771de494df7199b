"""What a tournament says: who is ahead of whom, by how much, and how sure that is.

Games of one deal share its luck, so every interval is taken over deals: all seatings of a deal
count as one observation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.design import Group
from arena.intervals import Interval, mean_interval, paired_gain, wilson
from arena.match import MatchResult
from arena.ratings import Ratings, bradley_terry
from arena.spec import TournamentSpec
from arena.units import Unit
from envs.core.game import Game

__all__ = ["Comparison", "Standing", "Summary", "summarise"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """One agent against another, over all games they played together."""

    first: str
    second: str
    games: int
    lead: Interval
    """Half the difference of their mean returns: with two players, what the first wins per game."""
    score: Interval
    """Share of games in which the first did better, ties counted half."""
    gain: float
    """How many times more games would be needed without playing deals in every seating."""


@dataclass(frozen=True)
class Standing:
    """One agent in the whole tournament."""

    name: str
    elo: Interval
    """Bradley-Terry rating; 0 is the random player, or the first agent if there is none."""
    mean_return: Interval
    seats: int
    """Games played, counting each seat that the agent had in one."""
    faults: int
    """Games lost by an error or an illegal action."""
    is_firm: bool
    """False for an agent that won or lost everything: then the rating is an indication only."""


@dataclass(frozen=True)
class Summary:
    """The result of a tournament."""

    spec: TournamentSpec
    standings: list[Standing]
    """Highest mean return first; in games for chips the most frequent winner may be another."""
    comparisons: list[Comparison]
    mean_length: float
    faults: list[str]
    """What went wrong, a line for each kind."""

    @property
    def worst_half_width(self) -> float:
        """The least certain lead."""
        return max(comparison.lead.half_width for comparison in self.comparisons)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "spec": self.spec.to_dict(),
            "standings": [_plain(standing) for standing in self.standings],
            "comparisons": [_plain(comparison) for comparison in self.comparisons],
            "mean_length": self.mean_length,
            "faults": self.faults,
        }

    def to_text(self) -> str:
        """Tables for a terminal."""
        spec, confidence = self.spec, f"{100 * self.spec.confidence:g} %"
        options = f" {spec.options}" if spec.options else ""
        lines = [
            f"{spec.game_id}{options}, {spec.deals:,} deals in every seating, seed {spec.seed}, "
            f"intervals {confidence}",
            "",
            *_columns(_standing_rows(self.standings)),
            "",
            *_columns(_comparison_rows(self.comparisons)),
        ]
        return "\n".join([*lines, "", *self.faults] if self.faults else lines)

    def to_markdown(self) -> str:
        """The same as Markdown."""
        tables = _standing_rows(self.standings), _comparison_rows(self.comparisons)
        parts = [f"# {self.spec.game_id}, {self.spec.deals:,} deals, seed {self.spec.seed}"]
        for rows in tables:
            head, *body = rows
            lines = [head, ["---"] * len(head), *body]
            parts.append("\n".join("| " + " | ".join(line) + " |" for line in lines))
        parts += self.faults
        return "\n\n".join(parts) + "\n"


def summarise(
    spec: TournamentSpec,
    game: Game,
    groups: list[Group],
    results: list[tuple[Unit, MatchResult]],
) -> Summary:
    """Put the results of all units together."""
    names = [agent.name for agent in spec.agents]
    returns = _returns_by_group(game, groups, spec.deals, results)
    pairs = [
        _compare(spec, names, group, returns[g], a, b)
        for g, group in enumerate(groups)
        for i, a in enumerate(group.agents)
        for b in group.agents[i + 1 :]
    ]
    faults = _faults_by_agent(groups, results)
    ratings = _rate(spec, names, groups, returns)
    standings = []
    for agent, name in enumerate(names):
        values = np.concatenate(
            [
                _agent_values(group, returns[g], agent).mean(axis=1)
                for g, group in enumerate(groups)
                if agent in group.agents
            ]
        )
        num_seats = sum(seating.count(agent) for group in groups for seating in group.seatings)
        standings.append(
            Standing(
                name,
                ratings.interval(agent, spec.confidence),
                mean_interval(values, spec.confidence),
                num_seats * spec.deals,
                sum(faults.get(agent, {}).values()),
                bool(ratings.is_firm[agent]),
            )
        )
    standings.sort(key=lambda standing: -standing.mean_return.mean)
    lengths = np.concatenate([result.lengths[: unit.num_deals] for unit, result in results])
    lines = [
        f"{names[agent]} lost {count:,} games by {reason}"
        for agent, reasons in sorted(faults.items())
        for reason, count in sorted(reasons.items())
    ]
    return Summary(spec, standings, pairs, float(lengths.mean()), lines)


def _returns_by_group(
    game: Game, groups: list[Group], deals: int, results: list[tuple[Unit, MatchResult]]
) -> list[Floats]:
    """For each group [deals, seatings, seats]."""
    returns = [np.zeros((deals, len(group.seatings), game.facts.num_players)) for group in groups]
    for unit, result in results:
        block = slice(unit.first_deal, unit.first_deal + unit.num_deals)
        returns[unit.group][block, unit.seating] = result.returns[: unit.num_deals]
    return returns


def _agent_values(group: Group, returns: Floats, agent: int) -> Floats:
    """[deals, seatings] mean return of the agent's seats; seatings without it are left out."""
    columns = []
    for s, seating in enumerate(group.seatings):
        seats = [seat for seat, who in enumerate(seating) if who == agent]
        if seats:
            columns.append(returns[:, s, seats].mean(axis=1))
    return np.stack(columns, axis=1)


def _scores(group: Group, returns: Floats, a: int, b: int) -> Floats:
    """[deals, seatings] how often a's seats did better than b's, ties counted half."""
    columns = []
    for s, seating in enumerate(group.seatings):
        mine = returns[:, s, [seat for seat, who in enumerate(seating) if who == a]]
        theirs = returns[:, s, [seat for seat, who in enumerate(seating) if who == b]]
        ahead = mine[:, :, None] - theirs[:, None, :]
        columns.append((0.5 + 0.5 * np.sign(ahead)).mean(axis=(1, 2)))
    return np.stack(columns, axis=1)


def _compare(
    spec: TournamentSpec, names: list[str], group: Group, returns: Floats, a: int, b: int
) -> Comparison:
    leads = (_agent_values(group, returns, a) - _agent_values(group, returns, b)) / 2
    scores = _scores(group, returns, a, b)
    return Comparison(
        names[a],
        names[b],
        games=leads.size,
        lead=mean_interval(leads.mean(axis=1), spec.confidence),
        # Wilson's interval stays honest for an agent that wins all; a deal counts as one game.
        score=wilson(scores.mean() * len(scores), len(scores), spec.confidence),
        gain=paired_gain(leads) if len(leads) > 1 else 1.0,
    )


def _rate(
    spec: TournamentSpec, names: list[str], groups: list[Group], returns: list[Floats]
) -> Ratings:
    """Bradley-Terry from who did better, with the variance measured over deals."""
    wins = np.zeros((len(names), len(names)))
    variances = np.zeros_like(wins)
    for g, group in enumerate(groups):
        for i, a in enumerate(group.agents):
            for b in group.agents[i + 1 :]:
                scores = _scores(group, returns[g], a, b)
                wins[a, b] += scores.sum()
                wins[b, a] += scores.size - scores.sum()
                variance = scores.sum(axis=1).var(ddof=1) * len(scores) if len(scores) > 1 else 0.0
                variances[a, b] += variance
                variances[b, a] += variance
    ids = [agent.id for agent in spec.agents]
    anchor = ids.index("random") if "random" in ids else 0
    has_variance = spec.deals > 1
    return bradley_terry(
        wins, anchor, score_variances=variances if has_variance else None, names=names
    )


def _faults_by_agent(
    groups: list[Group], results: list[tuple[Unit, MatchResult]]
) -> dict[int, dict[str, int]]:
    """For each agent how often it failed, by reason."""
    faults: dict[int, dict[str, int]] = {}
    for unit, result in results:
        seating = groups[unit.group].seatings[unit.seating]
        for fault in result.faults:
            reasons = faults.setdefault(seating[fault.seat], {})
            reasons[fault.reason] = reasons.get(fault.reason, 0) + 1
    return faults


# ---- tables --------------------------------------------------------------------------------------


def _standing_rows(standings: list[Standing]) -> list[list[str]]:
    rows = [["agent", "Elo", "mean return", "seats", "faults"]]
    for s in standings:
        elo = f"{s.elo:.0f}" + ("" if s.is_firm else " (won or lost all)")
        rows.append([s.name, elo, f"{s.mean_return}", f"{s.seats:,}", f"{s.faults:,}"])
    return rows


def _comparison_rows(comparisons: list[Comparison]) -> list[list[str]]:
    rows = [["first", "second", "lead of the first", "better in", "games", "paired gain"]]
    for c in comparisons:
        low, high = 100 * c.score.low, 100 * c.score.high
        score = f"{100 * c.score.mean:.1f} % [{low:.1f}, {high:.1f}]"
        gain = f"{c.gain:.2f}" if np.isfinite(c.gain) else "-"
        rows.append([c.first, c.second, f"{c.lead}", score, f"{c.games:,}", gain])
    return rows


def _columns(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines


def _plain(value: Any) -> dict[str, Any]:
    out = {}
    for name, entry in vars(value).items():
        is_interval = isinstance(entry, Interval)
        out[name] = [entry.mean, entry.low, entry.high] if is_interval else entry
    return out
