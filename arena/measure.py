"""From the games of a tournament to its summary.

Games of one deal share its chance events, so every interval is taken over deals: all that was
played with a deal counts as one observation. ``streams_of`` says who played the same deals.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from arena.match import MatchResult
from arena.metagame import alpha_rank, cycles, nash_average
from arena.ratings import Ratings, bradley_terry, plackett_luce
from arena.results import Results, paired_gain
from arena.schedule import Group, WorkUnit
from arena.spec import TournamentSpec
from arena.summary import (
    QUANTILES,
    Comparison,
    GroupResult,
    Lengths,
    Metagame,
    RoleResult,
    SeatResult,
    SingleResult,
    Standing,
    Stopping,
    Summary,
)
from common.errors import MasqueradeError
from common.statistics import Blocks, Interval, mean_interval
from envs.core.facts import Facts, is_symmetric, is_two_sided, side_bounds, side_roles, sides_of
from envs.core.game import Game

if TYPE_CHECKING:
    from arena.exploitability import Distance

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MAX_BINS = 20
Played = Sequence[tuple[WorkUnit, MatchResult]]


def summarise(
    spec: TournamentSpec,
    game: Game,
    groups: list[Group],
    played: Played,
    unsteady: Collection[int] = (),
    stopping: Stopping | None = None,
    distances: Sequence[Distance] = (),
    lead_interval: Callable[[Blocks], Interval] | None = None,
) -> Summary:
    """Put the results of all units together.

    Args:
        spec: what was played; its ``deals`` first deals are counted.
        game: the game.
        groups: who played with whom.
        played: every unit with its result.
        unsteady: places of agents that do not play the same each time.
        stopping: how play was ended, if not by the number of deals.
        distances: how far each agent is from an equilibrium, if that was measured.
        lead_interval: the interval of a lead; ``mean_interval`` by default.
    """
    collected = Results.collect(groups, game.facts, spec.deals, played, spec.shared_deals)
    measured = _Measured(spec, game, collected, lead_interval)
    results, names = measured.results, measured.names
    faults = faults_by_agent(groups, played, spec.deals)
    every_length = np.concatenate([lengths.ravel() for lengths in results.lengths])
    edges = bin_edges(every_length)
    return Summary(
        spec=spec,
        unit=spec.read_in(game),
        objective=game.facts.objective,
        standings=measured.standings(faults, unsteady, distances),
        comparisons=[measured.compare(a, b) for a, b in results.pairs],
        faults=[
            f"{names[agent]} lost {count:,} {'game' if count == 1 else 'games'}: {reason}"
            for agent, reasons in sorted(faults.items())
            for reason, count in sorted(reasons.items())
        ],
        anchor=names[measured.anchor],
        roles=measured.roles,
        is_two_sided=is_two_sided(game.facts),
        seats=[
            SeatResult(role, *measured.of(results.of_side(side))[1:])
            for side, role in enumerate(measured.roles)
        ],
        by_role=measured.by_role(),
        singles=measured.singles(),
        groups=[
            GroupResult(
                tuple(names[agent] for agent in group.agents),
                len(group.seatings),
                lengths.size,
                measure_lengths(lengths, edges),
            )
            for group, lengths in zip(groups, results.lengths, strict=True)
        ],
        length=measure_lengths(every_length, edges),
        metagame=measured.metagame() if results.pairs else None,
        stopping=stopping,
    )


def side_names(facts: Facts) -> tuple[str, ...]:
    """What to call each side: by its role where sides differ, else by its seats.

    >>> from envs import make_game
    >>> side_names(make_game("kuhn_v0").facts)
    ('seat 0', 'seat 1')
    """
    if is_symmetric(facts):
        return tuple(
            f"{'seats' if len(side) > 1 else 'seat'} {'+'.join(map(str, side))}"
            for side in sides_of(facts)
        )
    names = [" and ".join(dict.fromkeys(roles)) for roles in side_roles(facts)]
    return tuple(
        f"{name} {1 + names[:i].count(name)}" if names.count(name) > 1 else name
        for i, name in enumerate(names)
    )


def faults_by_agent(groups: list[Group], played: Played, deals: int) -> dict[int, dict[str, int]]:
    """For each agent how often it failed, by reason."""
    faults: dict[int, dict[str, int]] = {}
    for unit, result in played:
        seating = groups[unit.group].seatings[unit.seating]
        for fault in result.faults:
            if fault.game < min(deals, unit.first_deal + unit.num_deals):
                reasons = faults.setdefault(seating[fault.seat], {})
                reasons[fault.reason] = reasons.get(fault.reason, 0) + 1
    return faults


class _Measured:
    """The parts of a summary."""

    def __init__(
        self,
        spec: TournamentSpec,
        game: Game,
        results: Results,
        lead_interval: Callable[[Blocks], Interval] | None,
    ) -> None:
        self.spec, self.results = spec, results
        self.names = [agent.name for agent in spec.agents]
        self.roles = side_names(game.facts)
        self.is_symmetric = is_symmetric(game.facts)
        self.objective = game.facts.objective
        self.counts_wins = self.objective != "return"
        ends = side_bounds(game.facts)
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        self.lead_bounds = ((low - high) / 2, (high - low) / 2)
        mean = partial(mean_interval, confidence=spec.confidence)
        self.mean_return = partial(mean, bounds=(low, high))
        self.mean_place = partial(mean, bounds=(1, results.num_sides))
        self.rate = partial(mean, bounds=(0, 1))
        self.lead_interval = lead_interval or partial(mean, bounds=self.lead_bounds)
        self.rated = sorted({agent for pair in results.pairs for agent in pair})
        """Those that can be compared; all of them unless somebody plays one role only."""
        ids = [agent.id for agent in spec.agents]
        self.anchor = next((a for a in self.rated if ids[a] == "random"), (self.rated or [0])[0])

    # ---- agents ----------------------------------------------------------------------------------

    def standings(
        self,
        faults: dict[int, dict[str, int]],
        unsteady: Collection[int],
        distances: Sequence[Distance],
    ) -> list[Standing]:
        results, has_ranks = self.results, self.results.num_sides > 2
        elo = self._bradley_terry() if self.counts_wins and self.rated else None
        ranks = self._plackett_luce() if elo and has_ranks and self.is_symmetric else None
        standings = []
        for agent in range(len(self.names)):
            weights = results.of_agent(agent)
            has_side = sum(weight.sum(axis=0) for weight in weights) > 0
            roles = [role for role, has in zip(self.roles, has_side, strict=True) if has]
            row = self.rated.index(agent) if agent in self.rated else None
            found = distances[agent] if distances else None
            returns = results.ask(results.corrected, weights)
            places = results.ask(results.places, weights) if has_ranks else None
            wins = results.ask(results.wins, weights) if self.counts_wins else None
            rating = elo.interval(row, self.spec.confidence) if elo and row is not None else None
            num_seats = sum(int((seated == agent).sum()) for seated in results.seated)
            standings.append(
                Standing(
                    name=self.names[agent],
                    agent_id=self.spec.agents[agent].id,
                    role=None if len(roles) == len(self.roles) else " and ".join(roles),
                    mean_return=self.mean_return(returns),
                    placement=self.mean_place(places) if places else None,
                    win_rate=self.rate(wins) if wins else None,
                    elo=rating,
                    plackett_luce=ranks.interval(agent, self.spec.confidence) if ranks else None,
                    seats=num_seats * results.num_deals,
                    faults=sum(faults.get(agent, {}).values()),
                    is_firm=bool(elo is None or row is None or elo.is_firm[row]),
                    is_reproducible=agent not in unsteady,
                    nash_conv=found.nash_conv if found else None,
                    exploitability=found.exploitability if found else None,
                    policy=found.how if found else "it was not measured",
                    deals=returns.count,
                )
            )
        return sorted(standings, key=self._order)

    def _order(self, standing: Standing) -> tuple[str, float, float]:
        """By the objective of the game; who has the same by the mean return."""
        by_objective = -standing.mean_return.mean
        if self.objective == "place" and standing.placement:
            by_objective = standing.placement.mean
        elif self.counts_wins and standing.win_rate:
            by_objective = -standing.win_rate.mean
        return standing.role or "", by_objective, -standing.mean_return.mean

    def _bradley_terry(self) -> Ratings:
        """Ratings from who did better, with the spread of scores measured over deals."""
        place = {agent: i for i, agent in enumerate(self.rated)}
        num_agents, results = len(place), self.results
        wins = np.zeros((num_agents, num_agents))
        totals = np.zeros((num_agents, results.num_streams, results.num_deals))
        for pair in results.pairs:
            (a, b), scores = (place[agent] for agent in pair), results.scores(*pair)
            wins[a, b], wins[b, a] = scores.sum(), scores.size - scores.sum()
            np.add.at(totals[a], results.meetings(*pair), scores.T)
            np.add.at(totals[b], results.meetings(*pair), 1 - scores.T)
        names = [self.names[agent] for agent in self.rated]
        return bradley_terry(wins, place[self.anchor], totals=totals.T, names=names)

    def _plackett_luce(self) -> Ratings:
        players, places, deals, streams = self.results.rankings()
        return plackett_luce(
            players,
            places,
            self.anchor,
            names=self.names,
            deals=deals,
            streams=streams,
            # Where all losers get the same, they are not equally good: nobody ranked them.
            is_last_unranked=self.results.has_only_winners,
        )

    # ---- pairs and roles -------------------------------------------------------------------------

    def compare(self, a: int, b: int) -> Comparison:
        leads = self.results.leads(a, b)
        blocks = self.results.blocks(leads, a, b)
        score = variance_gain = None
        if self.counts_wins:
            score = self.rate(self.results.blocks(self.results.scores(a, b), a, b))
        if self.spec.variance_reduction != "none":
            variance_gain = self._variance_gain(a, b)
        return Comparison(
            first=self.names[a],
            second=self.names[b],
            games=leads.size,
            lead=self.lead_interval(blocks),
            score=score,
            gain=paired_gain(leads, blocks) if len(leads) > 1 else 1.0,
            variance_gain=variance_gain,
            deals=blocks.count,
        )

    def _variance_gain(self, a: int, b: int) -> float:
        """How many times fewer games the corrected lead needs: a ratio of variances over deals."""
        if self.results.num_deals < 2:
            return 1.0
        raw = float(self.results.leads(a, b, is_raw=True).mean(axis=1).var())
        left = float(self.results.leads(a, b).mean(axis=1).var())
        if raw == 0:
            return 1.0
        return raw / left if left > 1e-15 * raw else np.inf

    def by_role(self) -> list[RoleResult]:
        """Everybody in every side; where there are two, against each opponent too."""
        found, agents = [], range(len(self.names))
        others = agents if len(self.roles) == 2 else range(0)
        for agent in agents:
            for side, role in enumerate(self.roles):
                for against in (None, *others):
                    weights = self.results.of_agent(agent, against, side)
                    if agent != against and self.results.num_games(weights):
                        other = None if against is None else self.names[against]
                        found.append(RoleResult(self.names[agent], role, other, *self.of(weights)))
        return found

    def singles(self) -> list[SingleResult]:
        found = []
        for pair in self.results.pairs if len(self.roles) > 2 else ():
            for agent, against in (pair, pair[::-1]):
                weights = self.results.of_single(agent, against)
                if self.results.num_games(weights):
                    one, other, rest = self.names[agent], self.names[against], self.of(weights)
                    found.append(SingleResult(one, other, len(self.roles) - 1, *rest))
        return found

    def of(self, weights: list[Floats]) -> tuple[int, Interval, Interval | None]:
        """Games, mean return and win rate of what the weights pick; a deal is one observation."""
        results = self.results
        wins = self.rate(results.ask(results.wins, weights)) if self.counts_wins else None
        mean = self.mean_return(results.ask(results.corrected, weights))
        return results.num_games(weights) * results.num_deals, mean, wins

    # ---- ladder or circle ------------------------------------------------------------------------

    def metagame(self) -> Metagame:
        names = [self.names[agent] for agent in self.rated]
        place = {agent: i for i, agent in enumerate(self.rated)}
        leads, low = np.full((2, len(names), len(names)), np.nan)
        confidence = 1 - (1 - self.spec.confidence) / len(self.results.pairs)
        for pair in self.results.pairs:
            (a, b) = (place[agent] for agent in pair)
            blocks = self.results.blocks(self.results.leads(*pair), *pair)
            lead = mean_interval(blocks, confidence, self.lead_bounds)
            leads[a, b], low[a, b] = lead.mean, lead.low
            leads[b, a], low[b, a] = -lead.mean, -lead.high
        is_certain = (low > 0) | (low.T > 0)
        firm = np.where(is_certain, leads, 0.0)
        found, transitive = cycles(leads, low, names)
        try:
            nash = nash_average(firm)
            weights, skill = nash.mixture, nash.skill
        except MasqueradeError:  # one number that cannot be found must not cost the whole table
            weights = skill = np.full(len(names), np.nan)
        return Metagame(
            tuple(names),
            tuple(map(tuple, np.nan_to_num(leads).tolist())),
            tuple(map(tuple, is_certain.tolist())),
            tuple(weights.tolist()),
            tuple(skill.tolist()),
            tuple(alpha_rank(firm).tolist()),
            transitive,
            1 - transitive,
            found,
        )


# ---- lengths -------------------------------------------------------------------------------------


def bin_edges(lengths: Ints) -> tuple[int, ...]:
    """Equal bins of whole lengths from the shortest game to the longest.

    >>> bin_edges(np.array([3, 4, 5])), bin_edges(np.array([0, 99]))[:3]
    ((3, 4, 5, 6), (0, 5, 10))
    """
    low, high = int(lengths.min()), int(lengths.max())
    width = -(-(high - low + 1) // MAX_BINS)
    return tuple(range(low, high + width + 1, width))


def measure_lengths(lengths: npt.ArrayLike, edges: Sequence[int]) -> Lengths:
    """Describe the lengths of some games.

    >>> measured = measure_lengths([3, 3, 5, 4], edges=(3, 4, 5, 6))
    >>> measured.mean, measured.quantiles["0.5"], measured.counts
    (3.75, 3, (2, 1, 1))
    """
    values = np.asarray(lengths, np.int64).ravel()
    # The smallest length that the share does not exceed: whole, and one that was played.
    found = np.quantile(values, QUANTILES, method="inverted_cdf")
    return Lengths(
        len(values),
        float(values.mean()),
        int(values.min()),
        int(values.max()),
        {f"{share:g}": int(value) for share, value in zip(QUANTILES, found, strict=True)},
        tuple(edges),
        tuple(np.histogram(values, edges)[0].tolist()),
    )
