"""All games of a tournament in arrays, and the questions that tables ask of them.

What competes is a **side**: a seat, or a team of seats played by one agent, whose return is then
the mean of its seats' returns. A question is a set of weights over seatings and sides (agent a in
seat 0, say); its answer is one number for each deal of each stream of deals, so that everything
that shares the chance events of a deal is one observation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from arena.match import MatchResult
from arena.schedule import Group, WorkUnit
from common.errors import MasqueradeError
from common.statistics import Blocks
from envs.core.facts import Facts, side_returns, sides_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Returns that differ by less are equal: means over a team round differently in different orders.
DECIMALS = 9


def streams_of(groups: Sequence[Group], shared_deals: bool) -> list[Ints]:
    """The stream of deals of every seating: seatings of one stream play the same deals.

    >>> paired = Group((0, 1), ((0, 1), (1, 0)))
    >>> apart = Group((0, 2), ((0, 2), (2, 0)), is_paired=False)
    >>> [stream.tolist() for stream in streams_of([paired, apart, paired], shared_deals=False)]
    [[0, 0], [1, 2], [3, 3]]
    >>> [stream.tolist() for stream in streams_of([paired, apart], shared_deals=True)]
    [[0, 0], [0, 0]]
    """
    found, first = [], 0
    for group in groups:
        own = np.arange(len(group.seatings)) * (not group.is_paired and not shared_deals)
        found.append(first + own)
        first += 0 if shared_deals else int(own.max()) + 1
    return found


@dataclass(frozen=True)
class Results:
    """Who sat where and what they got; a list has an entry for each group."""

    groups: list[Group]
    seated: list[Ints]
    """[seatings, sides] the agent that plays each side."""
    returns: list[Floats]
    """[deals, seatings, sides]"""
    lengths: list[Ints]
    """[deals, seatings] actions and chance events."""
    corrected: list[Floats]
    """The returns after variance reduction; the returns themselves if there was none."""
    streams: list[Ints]
    """[seatings] which stream of deals each plays."""

    @classmethod
    def collect(
        cls,
        groups: list[Group],
        facts: Facts,
        deals: int,
        results: Sequence[tuple[WorkUnit, MatchResult]],
        shared_deals: bool = False,
    ) -> Results:
        """Put the first ``deals`` deals of all units together."""
        sides = sides_of(facts)
        shapes = [(deals, len(group.seatings)) for group in groups]
        returns = [np.zeros((*shape, len(sides))) for shape in shapes]
        lengths = [np.zeros(shape, np.int64) for shape in shapes]
        is_corrected = any(result.corrected is not None for _, result in results)
        corrected = [np.zeros_like(array) for array in returns] if is_corrected else returns
        for unit, result in results:
            num_deals = min(unit.num_deals, deals - unit.first_deal)
            if num_deals <= 0:
                continue
            block = slice(unit.first_deal, unit.first_deal + num_deals)
            for arrays, values in ((returns, result.returns), (corrected, result.corrected)):
                if values is not None:
                    of_sides = side_returns(facts, values[:num_deals]).round(DECIMALS)
                    arrays[unit.group][block, unit.seating] = of_sides
            lengths[unit.group][block, unit.seating] = result.lengths[:num_deals]
        seated = [
            np.array([[seating[side[0]] for side in sides] for seating in group.seatings])
            for group in groups
        ]
        streams = streams_of(groups, shared_deals)
        return cls(groups, seated, returns, lengths, corrected, streams)

    @property
    def num_deals(self) -> int:
        """How many deals each stream has."""
        return len(self.returns[0])

    @property
    def num_sides(self) -> int:
        """How many compete in a game."""
        return int(self.returns[0].shape[2])

    @cached_property
    def wins(self) -> list[Floats]:
        """[deals, seatings, sides] 1 for the highest return of a game; ``k`` equal ones get 1/k."""
        best = [returns == returns.max(axis=2, keepdims=True) for returns in self.returns]
        return [is_best / is_best.sum(axis=2, keepdims=True) for is_best in best]

    @cached_property
    def places(self) -> list[Floats]:
        """[deals, seatings, sides] 1 for the best; those who tie share the mean of their places."""
        return [
            1 + (ahead > 0).sum(axis=3) + ((ahead == 0).sum(axis=3) - 1) / 2
            for ahead in (returns[:, :, None, :] - returns[..., None] for returns in self.returns)
        ]

    # ---- questions -------------------------------------------------------------------------------

    @property
    def num_streams(self) -> int:
        """How many streams of deals there are."""
        return 1 + max(int(stream.max()) for stream in self.streams)

    def ask(self, values: list[Floats], weights: list[Floats]) -> Blocks:
        """The weighted mean of each deal, over all groups, seatings and sides.

        Args:
            values: for each group [deals, seatings, sides], such as ``returns``.
            weights: for each group [seatings, sides].
        """
        columns, streams, sums = [], [], []
        for value, weight, stream in zip(values, weights, self.streams, strict=True):
            has_any = weight.any(axis=1)
            if has_any.any():
                columns.append(np.einsum("dsk,sk->ds", value[:, has_any], weight[has_any]))
                streams.append(stream[has_any])
                sums.append(weight[has_any].sum(axis=1))
        return _blocks(np.concatenate(columns, 1), np.concatenate(streams), np.concatenate(sums))

    def of_agent(
        self, agent: int, against: int | None = None, side: int | None = None
    ) -> list[Floats]:
        """Weights of an agent's sides; an agent in several sides of a game counts by their mean.

        Args:
            agent: whose sides.
            against: only games in which this agent takes part too.
            side: only this side.
        """
        weights = []
        for seated in self.seated:
            is_mine = seated == agent
            if side is not None:
                is_mine &= np.arange(self.num_sides) == side
            if against is not None:
                is_mine &= (seated == against).any(axis=1, keepdims=True)
            weights.append(is_mine / np.maximum(is_mine.sum(axis=1, keepdims=True), 1))
        return weights

    def of_single(self, agent: int, against: int) -> list[Floats]:
        """Weights of an agent where it is alone and the other has all other sides."""
        weights = []
        for seated in self.seated:
            is_mine = seated == agent
            is_single = (is_mine.sum(axis=1) == 1) & (is_mine | (seated == against)).all(axis=1)
            weights.append((is_mine & is_single[:, None]).astype(np.float64))
        return weights

    def of_side(self, side: int) -> list[Floats]:
        """Weights of a side, whoever plays it."""
        return [np.ones(s.shape) * (np.arange(self.num_sides) == side) for s in self.seated]

    @staticmethod
    def num_games(weights: list[Floats]) -> int:
        """In how many seatings, so games of one deal, the weights pick something."""
        return sum(int((weight > 0).any(axis=1).sum()) for weight in weights)

    # ---- pairs -----------------------------------------------------------------------------------

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Agents that can be compared, each pair once, in order.

        They have met, each of them equally often in every side: whoever was only ever the fugitive
        cannot be compared with a pursuer by what the two got.
        """
        met = {pair for group in self.groups for pair in combinations(sorted(group.agents), 2)}
        return sorted(pair for pair in met if self._is_fair(*pair))

    def _is_fair(self, a: int, b: int) -> bool:
        mine, theirs = (
            sum(weights.sum(axis=0) for weights in self.of_agent(*pair))
            for pair in ((a, b), (b, a))
        )
        return bool(np.any(mine) and np.allclose(mine, theirs))

    def leads(self, a: int, b: int, is_raw: bool = False) -> Floats:
        """Half of what a's sides got more than b's, in every seating: [deals, seatings].

        After variance reduction, where there was any, unless ``is_raw``.
        """
        mine, theirs = self.of_agent(a, against=b), self.of_agent(b, against=a)
        columns = []
        values = self.returns if is_raw else self.corrected
        for returns, plus, minus in zip(values, mine, theirs, strict=True):
            has_both = plus.any(axis=1)
            weight = (plus - minus)[has_both] / 2
            columns.append(np.einsum("dsk,sk->ds", returns[:, has_both], weight))
        return np.concatenate(columns, axis=1)

    def meetings(self, a: int, b: int) -> Ints:
        """The stream of every seating in which the two meet: [seatings]."""
        both = zip(self.streams, self.of_agent(a, against=b), strict=True)
        return np.concatenate([stream[weight.any(axis=1)] for stream, weight in both])

    def blocks(self, columns: Floats, a: int, b: int) -> Blocks:
        """What ``leads`` or ``scores`` say, by deals."""
        streams = self.meetings(a, b)
        return _blocks(columns, streams, np.ones(len(streams)))

    def scores(self, a: int, b: int) -> Floats:
        """How often a's sides did better than b's, ties counted half: [deals, seatings]."""
        columns = []
        for returns, seated in zip(self.returns, self.seated, strict=True):
            for seating, agents in enumerate(seated):
                mine, theirs = np.flatnonzero(agents == a), np.flatnonzero(agents == b)
                if len(mine) and len(theirs):
                    game = returns[:, seating]
                    ahead = game[:, mine][:, :, None] - game[:, theirs][:, None, :]
                    columns.append((0.5 + 0.5 * np.sign(ahead)).mean(axis=(1, 2)))
        return np.stack(columns, axis=1)

    def lead_series(self) -> Floats:
        """The lead of every pair in every deal: [deals, pairs].

        Where agents play one role only: what the first side got in every group.
        """
        if not self.pairs:
            return np.stack([values[..., 0].mean(axis=1) for values in self.corrected], axis=1)
        return np.stack([self.leads(a, b).mean(axis=1) for a, b in self.pairs], axis=1)

    # ---- rankings --------------------------------------------------------------------------------

    def rankings(self) -> tuple[Ints, Floats, Ints, Ints]:
        """Every game: who played, [games, sides]; places, the same; deal and stream, [games]."""
        players, places, deals, streams = [], [], [], []
        for seated, place, stream in zip(self.seated, self.places, self.streams, strict=True):
            players.append(np.broadcast_to(seated, place.shape).reshape(-1, self.num_sides))
            places.append(place.reshape(-1, self.num_sides))
            deals.append(np.repeat(np.arange(self.num_deals), len(seated)))
            streams.append(np.tile(stream, self.num_deals))
        found = (np.concatenate(each) for each in (players, places, deals, streams))
        return tuple(found)  # type: ignore[return-value]

    @cached_property
    def has_only_winners(self) -> bool:
        """Whether, in every game, all who did not win got the same."""
        for returns, wins in zip(self.returns, self.wins, strict=True):
            losers = np.where(wins > 0, np.nan, returns)
            lowest = np.fmin.reduce(losers, axis=2)
            if (np.fmax.reduce(losers, axis=2) > lowest).any():
                return False
        return True


def _blocks(columns: Floats, streams: Ints, weights: Floats) -> Blocks:
    """Add up seatings, [deals, seatings], that play the same deals.

    Args:
        columns: what each seating adds.
        streams: [seatings] which deals it plays.
        weights: [seatings] how much it counts.
    """
    names, index = np.unique(streams, return_inverse=True)
    totals, sums = np.zeros((len(names), len(columns))), np.zeros(len(names))
    np.add.at(totals, index, columns.T)
    np.add.at(sums, index, weights)
    return Blocks((totals.T / sums).round(DECIMALS + 3), sums / sums.sum())


def paired_gain(values: npt.ArrayLike, blocks: Blocks | None = None) -> float:
    """Return how many times fewer games paired deals need for an equally wide interval.

    Take ``N`` games in ``S`` seatings. *Paired*: ``N / S`` deals, each in all seatings; the mean
    has variance ``Var(deal mean) / (N / S) = S Var(deal mean) / N``. *Unpaired*: a fresh deal for
    each game, still ``N / S`` games per seating; the variance is ``(1 / N)`` times the average over
    seatings of ``Var(result in that seating)``. Widths go with the root of variance over games, so
    the ratio of the two variances is the ratio of games::

        gain = average variance of a seating / (S * variance of a deal's mean)

    Both come from the same ``[deals, seatings]``. With equal variances and a correlation ``r``
    between seatings this is ``1 / (1 + (S - 1) r)``: above 1 when a deal that is good for one seat
    is bad for another, below 1 when the seatings of a deal repeat each other. The unpaired games
    have balanced seats too, so an advantage of the first seat is not counted as a gain.

    >>> rng = np.random.default_rng(0)
    >>> deal, noise = rng.normal(size=10_000), rng.normal(size=(10_000, 2))
    >>> round(paired_gain(noise + np.sqrt(3) * deal[:, None] * [1, -1]), 1)  # r = -3 / 4
    4.0

    Args:
        values: [deals, seatings] result of one player (or team) in each seating.
        blocks: the same by what was played with the same deals, if not all seatings were.
    """
    table = np.asarray(values, np.float64)
    if table.ndim != 2 or len(table) < 2:
        raise MasqueradeError(f"need [deals, seatings] with two deals or more, not {table.shape}")
    unpaired = float(table.var(axis=0, ddof=1).mean())
    blocks = blocks or Blocks.of(table)
    paired = table.shape[1] * float(blocks.shares**2 @ blocks.values.var(axis=0, ddof=1))
    if unpaired == 0:
        return 1.0
    return unpaired / paired if paired > 1e-15 * unpaired else math.inf
