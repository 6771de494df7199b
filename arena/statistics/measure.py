"""From the games of a tournament to its summary.

Games of one deal share its luck, so every interval is taken over deals: all seatings of a deal, in
all groups, count as one observation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from arena.playing.match import MatchResult
from arena.running.work_units import Unit
from arena.schedules.schedule import Group
from arena.schedules.spec import TournamentSpec
from arena.statistics.intervals import (
    Interval,
    mean_interval,
    paired_bootstrap,
    paired_gain,
    wilson,
)
from arena.statistics.lengths import bin_edges, measure_lengths
from arena.statistics.metagame import alpha_rank, cycles, nash_average
from arena.statistics.ratings import Ratings, bradley_terry, plackett_luce
from arena.statistics.results import Outcomes
from arena.statistics.summary import (
    Comparison,
    Cycle,
    GroupResult,
    Metagame,
    RoleResult,
    SeatResult,
    SingleResult,
    Standing,
    Stopping,
    Summary,
    Traits,
)
from envs.core.errors import MasqueradeError
from envs.core.game import Game

if TYPE_CHECKING:
    from arena.statistics.exploitability import Distance

__all__ = ["faults_by_agent", "summarise"]

Floats = npt.NDArray[np.float64]


def summarise(
    spec: TournamentSpec,
    game: Game,
    groups: list[Group],
    results: Sequence[tuple[Unit, MatchResult]],
    traits: Sequence[Traits],
    stopping: Stopping | None = None,
    distances: Sequence[Distance] = (),
) -> Summary:
    """Put the results of all units together.

    Args:
        spec: what was played; its ``deals`` first deals are counted.
        game: the game.
        groups: who played with whom.
        results: every unit with its result.
        traits: what each agent says about itself.
        stopping: how play was ended, if not by the number of deals.
        distances: how far each agent is from an equilibrium, if somebody has looked.
    """
    outcomes = Outcomes.collect(groups, spec.sides(game), spec.deals, results)
    names = [agent.name for agent in spec.agents]
    roles = spec.role_names(game)
    comparisons = [_compare(spec, outcomes, a, b) for a, b in outcomes.pairs]
    metagame = _metagame(spec, outcomes)
    faults = faults_by_agent(groups, results, spec.deals)
    standings = _standings(spec, outcomes, metagame, faults, traits, distances)
    lines = [
        f"{names[agent]} lost {count:,} {'game' if count == 1 else 'games'} by {reason}"
        for agent, reasons in sorted(faults.items())
        for reason, count in sorted(reasons.items())
    ]
    every_length = np.concatenate([lengths.ravel() for lengths in outcomes.lengths])
    edges = bin_edges(every_length)
    return Summary(
        spec,
        standings,
        comparisons,
        float(every_length.mean()),
        lines,
        names[_anchor(spec)],
        roles,
        [_seat(spec, outcomes, role, name) for role, name in enumerate(roles)],
        _by_role(spec, outcomes, roles),
        _singles(spec, outcomes),
        [
            GroupResult(
                tuple(names[agent] for agent in group.agents),
                len(group.seatings),
                lengths.size,
                measure_lengths(lengths, edges),
            )
            for group, lengths in zip(groups, outcomes.lengths, strict=True)
        ],
        measure_lengths(every_length, edges),
        metagame,
        stopping,
    )


# ---- agents --------------------------------------------------------------------------------------


def _standings(
    spec: TournamentSpec,
    outcomes: Outcomes,
    metagame: Metagame,
    faults: dict[int, dict[str, int]],
    traits: Sequence[Traits],
    distances: Sequence[Distance],
) -> list[Standing]:
    elo = _bradley_terry(spec, outcomes)
    places = _plackett_luce(spec, outcomes) if outcomes.num_sides > 2 else None
    standings = []
    for agent, trait in enumerate(traits):
        weights = outcomes.of_agent(agent)
        mean_return = mean_interval(outcomes.ask(outcomes.corrected, weights), spec.confidence)
        wins = outcomes.ask(outcomes.wins, weights)
        num_seats = sum(int((seated == agent).sum()) for seated in outcomes.seated)
        standings.append(
            Standing(
                spec.agents[agent].name,
                spec.agents[agent].id,
                elo.interval(agent, spec.confidence),
                places.interval(agent, spec.confidence) if places else None,
                mean_return,
                _in_blinds(spec, mean_return),
                _bootstrapped(spec, wins),
                wilson(wins.sum(), len(wins), spec.confidence),
                mean_interval(outcomes.ask(outcomes.places, weights), spec.confidence),
                metagame.nash[agent],
                metagame.nash_skill[agent],
                metagame.alpha_rank[agent],
                num_seats * spec.deals,
                sum(faults.get(agent, {}).values()),
                bool(elo.is_firm[agent]),
                trait.is_learning,
                trait.is_reproducible,
                *_distance(distances, agent),
            )
        )
    return sorted(standings, key=lambda standing: -standing.mean_return.mean)


def _distance(distances: Sequence[Distance], agent: int) -> tuple[float | None, float | None, str]:
    if not distances:
        return None, None, "nobody has looked"
    found = distances[agent]
    return found.nash_conv, found.exploitability, found.how


def _anchor(spec: TournamentSpec) -> int:
    ids = [agent.id for agent in spec.agents]
    return ids.index("random") if "random" in ids else 0


def _bradley_terry(spec: TournamentSpec, outcomes: Outcomes) -> Ratings:
    """Ratings from who did better, with the covariance of scores measured over deals."""
    num_agents, deals = len(spec.agents), outcomes.num_deals
    wins, totals = np.zeros((num_agents, num_agents)), np.zeros((deals, num_agents))
    for a, b in outcomes.pairs:
        scores = outcomes.scores(a, b)
        wins[a, b], wins[b, a] = scores.sum(), scores.size - scores.sum()
        totals[:, a] += scores.sum(axis=1)
        totals[:, b] += scores.shape[1] - scores.sum(axis=1)
    covariance = np.cov(totals, rowvar=False) * deals if deals > 1 else None
    names = [agent.name for agent in spec.agents]
    return bradley_terry(wins, _anchor(spec), score_covariance=covariance, names=names)


def _plackett_luce(spec: TournamentSpec, outcomes: Outcomes) -> Ratings:
    players, places, deals = outcomes.rankings()
    return plackett_luce(
        players,
        places,
        _anchor(spec),
        names=[agent.name for agent in spec.agents],
        blocks=deals,
        # Where all losers get the same, they are not equally good: nobody ranked them.
        is_last_unranked=outcomes.has_only_winners,
    )


def faults_by_agent(
    groups: list[Group], results: Sequence[tuple[Unit, MatchResult]], deals: int
) -> dict[int, dict[str, int]]:
    """For each agent how often it failed, by reason."""
    faults: dict[int, dict[str, int]] = {}
    for unit, result in results:
        seating = groups[unit.group].seatings[unit.seating]
        for fault in result.faults:
            if fault.game < min(deals, unit.first_deal + unit.num_deals):
                reasons = faults.setdefault(seating[fault.seat], {})
                reasons[fault.reason] = reasons.get(fault.reason, 0) + 1
    return faults


# ---- pairs and roles -----------------------------------------------------------------------------


def _compare(spec: TournamentSpec, outcomes: Outcomes, a: int, b: int) -> Comparison:
    leads, scores = outcomes.leads(a, b), outcomes.scores(a, b)
    lead = mean_interval(leads, spec.confidence)
    return Comparison(
        spec.agents[a].name,
        spec.agents[b].name,
        leads.size,
        lead,
        _in_blinds(spec, lead),
        wilson(scores.mean() * len(scores), len(scores), spec.confidence),
        _bootstrapped(spec, scores.mean(axis=1).round(12)),
        paired_gain(leads) if len(leads) > 1 else 1.0,
        _luck_gain(outcomes, a, b) if spec.luck != "none" else None,
    )


def _luck_gain(outcomes: Outcomes, a: int, b: int) -> float:
    """How many times fewer games the corrected lead needs: the ratio of variances over deals."""
    if outcomes.num_deals < 2:
        return 1.0
    raw = float(outcomes.leads(a, b, is_raw=True).mean(axis=1).var())
    left = float(outcomes.leads(a, b).mean(axis=1).var())
    if raw == 0:
        return 1.0
    return raw / left if left > 1e-15 * raw else np.inf


def _by_role(spec: TournamentSpec, outcomes: Outcomes, roles: Sequence[str]) -> list[RoleResult]:
    results = []
    met = {*outcomes.pairs, *((b, a) for a, b in outcomes.pairs)}
    for agent in range(len(spec.agents)):
        for role, role_name in enumerate(roles):
            others = [b for b in range(len(spec.agents)) if (agent, b) in met]
            for against in (None, *others):
                weights = outcomes.of_agent(agent, against, role)
                results.append(
                    RoleResult(
                        spec.agents[agent].name,
                        role_name,
                        None if against is None else spec.agents[against].name,
                        outcomes.num_games(weights) * outcomes.num_deals,
                        *_return_and_wins(spec, outcomes, weights),
                    )
                )
    return results


def _singles(spec: TournamentSpec, outcomes: Outcomes) -> list[SingleResult]:
    if outcomes.num_sides < 3:
        return []
    results = []
    for pair in outcomes.pairs:
        for agent, against in (pair, pair[::-1]):
            weights = outcomes.of_single(agent, against)
            num_games = outcomes.num_games(weights)
            if num_games:
                results.append(
                    SingleResult(
                        spec.agents[agent].name,
                        spec.agents[against].name,
                        outcomes.num_sides - 1,
                        num_games * outcomes.num_deals,
                        *_return_and_wins(spec, outcomes, weights),
                    )
                )
    return results


def _seat(spec: TournamentSpec, outcomes: Outcomes, role: int, name: str) -> SeatResult:
    return SeatResult(name, *_return_and_wins(spec, outcomes, outcomes.of_role(role)))


def _return_and_wins(
    spec: TournamentSpec, outcomes: Outcomes, weights: list[Floats]
) -> tuple[Interval, Interval]:
    """Mean return and win rate of what the weights pick; a deal is one observation."""
    wins = outcomes.ask(outcomes.wins, weights)
    return (
        mean_interval(outcomes.ask(outcomes.corrected, weights), spec.confidence),
        wilson(wins.sum(), len(wins), spec.confidence),
    )


def _bootstrapped(spec: TournamentSpec, values: Floats) -> Interval:
    """A rate with its bootstrap over deals; Wilson's where there is nothing to resample."""
    if np.ptp(values) == 0:
        return wilson(values.sum(), len(values), spec.confidence)
    return paired_bootstrap(values, np.random.default_rng(spec.seed), spec.confidence)


def _in_blinds(spec: TournamentSpec, value: Interval) -> Interval | None:
    return None if spec.big_blind is None else value.times(100 / spec.big_blind)


# ---- ladder or circle ----------------------------------------------------------------------------


def _metagame(spec: TournamentSpec, outcomes: Outcomes) -> Metagame:
    names = [agent.name for agent in spec.agents]
    leads, low = np.zeros((2, len(names), len(names)))
    confidence = 1 - (1 - spec.confidence) / len(outcomes.pairs)
    for a, b in outcomes.pairs:
        lead = mean_interval(outcomes.leads(a, b), confidence)
        leads[a, b], low[a, b] = lead.mean, lead.low
        leads[b, a], low[b, a] = -lead.mean, -lead.high
    is_certain = (low > 0) | (low.T > 0)
    firm = np.where(is_certain, leads, 0.0)
    found = cycles(leads, low)
    try:
        nash = nash_average(firm)
        weights, skill = nash.mixture, nash.skill
    except MasqueradeError:  # one number that cannot be found must not cost the whole table
        weights = skill = np.full(len(names), np.nan)
    return Metagame(
        tuple(names),
        tuple(map(tuple, leads.tolist())),
        tuple(map(tuple, is_certain.tolist())),
        tuple(weights.tolist()),
        tuple(skill.tolist()),
        tuple(alpha_rank(firm).mass.tolist()),
        found.transitive,
        found.cyclic,
        tuple(
            Cycle(tuple(names[i] for i in cycle.players), cycle.strength, cycle.is_certain)  # type: ignore[arg-type]
            for cycle in found.found
        ),
    )
