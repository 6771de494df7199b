"""Who is stronger: Bradley-Terry for games of two, Plackett-Luce for games of many.

Both are Luce's choice model (a player of strength ``g`` is chosen from a field with probability
``g / sum``): a game of two is one choice, a ranking of ``k`` is ``k - 1`` choices, each from those
still left. One Newton solver serves both. Ratings are on the Elo scale, with one player anchored at
0. Where a beats b beats c beats a no rating tells the truth; see ``metagame``.

Games of one deal share its luck and are not independent. The estimates do not mind, but the errors
do, so both take what the deals say: ``bradley_terry`` the measured covariance of scores,
``plackett_luce`` the deal of every game.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csgraph

from arena.statistics.intervals import DEFAULT_CONFIDENCE, Interval, normal_quantile
from envs.core.errors import MasqueradeError

__all__ = [
    "Ratings",
    "bradley_terry",
    "plackett_luce",
    "square",
]

Floats = npt.NDArray[np.float64]

ELO = 400 / math.log(10)
"""Elo points in one unit of log-odds: 400 points are odds of ten to one."""


@dataclass(frozen=True)
class Ratings:
    """Elo ratings with everything needed to compare any two players."""

    elo: Floats
    """[players] rating; the anchor has 0."""
    covariance: Floats
    """[players, players] of the ratings; the anchor's row and column are 0."""
    is_firm: npt.NDArray[np.bool_]
    """[players] False where only the prior keeps the rating finite: a player, or a group, that won
    or lost everything against the anchor's group. Their interval is an indication, no more."""

    def interval(self, player: int, confidence: float = DEFAULT_CONFIDENCE) -> Interval:
        """Return a player's rating relative to the anchor."""
        return self._interval(self.elo[player], self.covariance[player, player], confidence)

    def difference(self, a: int, b: int, confidence: float = DEFAULT_CONFIDENCE) -> Interval:
        """Return by how much a is ahead of b: narrower than two intervals, if the anchor is far."""
        covariance = self.covariance
        variance = covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]
        return self._interval(self.elo[a] - self.elo[b], variance, confidence)

    @staticmethod
    def _interval(mean: float, variance: float, confidence: float) -> Interval:
        reach = normal_quantile(confidence) * math.sqrt(max(0.0, variance))
        return Interval(float(mean), float(mean) - reach, float(mean) + reach)


def bradley_terry(
    wins: npt.ArrayLike,
    anchor: int = 0,
    prior: float = 1.0,
    score_covariance: npt.ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> Ratings:
    """Rate players from the table of who beat whom (Zermelo 1929, Bradley and Terry 1952).

    >>> wins = [[0, 10, 5], [30, 0, 20], [35, 40, 0]]
    >>> ratings = bradley_terry(wins)
    >>> print(f"{ratings.interval(2):.0f}")
    314 ± 108

    Args:
        wins: [players, players] games that the row won against the column; a tie adds half to
            both. The diagonal is ignored.
        anchor: the player whose rating is 0.
        prior: drawn games added to each pair that has met. One, the default, is Jeffreys' prior for
            a single pair; it keeps an undefeated player finite and fades as games are played.
        score_covariance: [players, players] measured covariance of the players' total scores (wins
            over all opponents), for games that are not independent (paired deals, many players at
            one table) or have many ties. The estimate stays the same and errors become the sandwich
            ``H⁻¹ V H⁻¹`` instead of the inverse Fisher information ``H⁻¹``.
        names: what to call the players in an error.

    Raises:
        MasqueradeError: if some players never met the others, directly or through third ones.
    """
    table = square(wins, "wins")
    np.fill_diagonal(table, 0)
    if (table < 0).any():
        raise MasqueradeError("wins must not be negative")
    sets, weights = _pairs(table + table.T)
    choices = _Choices(sets, weights, table.sum(axis=1), table)
    measured = None if score_covariance is None else square(score_covariance, "score_covariance")
    return _rate(choices, anchor, prior, names, lambda _: measured)


def plackett_luce(
    players: npt.ArrayLike,
    places: npt.ArrayLike,
    anchor: int = 0,
    prior: float = 1.0,
    names: Sequence[str] | None = None,
    *,
    blocks: npt.ArrayLike | None = None,
    is_last_unranked: bool = False,
) -> Ratings:
    """Rate players from the places of games of any size (Luce 1959, Plackett 1975, Hunter 2004).

    Tied seats are split: the log-likelihood is averaged over all orders of a tie, so that in games
    of two it equals ``bradley_terry`` with half wins. A player may hold several seats of a game.

    >>> players = [[0, 1, 2], [2, 0, 1], [1, 2, 0], [0, 2, 1]] * 10
    >>> places = [[3, 2, 1], [1, 2, 3], [2, 2, 1], [2, 1, 3]] * 10
    >>> ratings = plackett_luce(players, places)
    >>> print(f"{ratings.interval(2):.0f} {ratings.is_firm}")
    172 ± 112 [ True  True  True]

    Args:
        players: [games, seats] who sat where; -1 for a seat that was empty.
        places: [games, seats] smaller is better; equal is a tie.
        anchor: the player whose rating is 0.
        prior: drawn games of two, added to each pair that has met; see ``bradley_terry``.
        names: what to call the players in an error.
        blocks: [games] the number of each game's deal, from 0, for games that are not independent.
            The estimate stays the same; errors are the sandwich with the spread between deals.
        is_last_unranked: take seats tied for the last place as unordered instead of equal, which is
            right for games that name only the winner.

    Raises:
        MasqueradeError: if some players never met the others, directly or through third ones.
    """
    who, ranks = np.asarray(players, np.int64), np.asarray(places, np.float64)
    if who.ndim != 2 or who.shape != ranks.shape or who.size == 0 or who.min() < -1:
        raise MasqueradeError(f"players and places must be [games, seats], not {who.shape}")
    orders = _split_ties(who, ranks, is_last_unranked)
    choices, stages = _choices_of(orders, int(who.max()) + 1)

    def measured(log_strengths: Floats) -> Floats | None:
        if blocks is None:
            return None
        pulls = _pulls(orders, stages, log_strengths)[orders.kind_of_game]
        return _total_covariance(pulls, np.asarray(blocks, np.int64))

    return _rate(choices, anchor, prior, names, measured)


@dataclass(frozen=True)
class _Orders:
    """Games as strict orders; games that went alike are of one kind and kept once."""

    players: npt.NDArray[np.int64]
    """[orders, seats] best first; -1 for an empty seat."""
    weights: Floats
    """[orders] games that the order stands for, each split over the orders of its ties."""
    shares: Floats
    """[orders] how much of one game of its kind it is."""
    depths: npt.NDArray[np.int64]
    """[orders] places that count."""
    kinds: npt.NDArray[np.int64]
    """[orders] the kind of game it belongs to."""
    kind_of_game: npt.NDArray[np.int64]
    """[games] the kind of each game."""


def _split_ties(who: npt.NDArray[np.int64], ranks: Floats, is_last_unranked: bool) -> _Orders:
    """Turn places into strict orders: a tie of ``t`` seats makes ``t!`` orders."""
    num_seats = who.shape[1]
    ranks = np.where(who < 0, np.inf, ranks)
    seats = np.lexsort((who, ranks), axis=1)
    who, ranks = np.take_along_axis(who, seats, 1), np.take_along_axis(ranks, seats, 1)
    dense = np.cumsum(np.diff(ranks, axis=1, prepend=ranks[:, :1]) > 0, axis=1)
    games, kind_of_game, counts = np.unique(
        np.hstack([who, dense]), axis=0, return_inverse=True, return_counts=True
    )
    rows, shares, depths, kinds = [], [], [], []
    for kind, row in enumerate(games.tolist()):
        filled = sum(player >= 0 for player in row[:num_seats])
        seated, dense_places = row[:filled], row[num_seats : num_seats + filled]
        groups = [
            [player for player, _ in group]
            for _, group in itertools.groupby(
                zip(seated, dense_places, strict=True), key=lambda seat: seat[1]
            )
        ]
        last = groups.pop() if is_last_unranked and groups and len(groups[-1]) > 1 else []
        splits = list(itertools.product(*map(itertools.permutations, groups)))
        empty = [-1] * (num_seats - filled)
        rows += [[*itertools.chain(*split), *last, *empty] for split in splits]
        shares += [1 / len(splits)] * len(splits)
        depths += [filled - len(last)] * len(splits)
        kinds += [kind] * len(splits)
    weights = np.array(shares) * counts[kinds].astype(np.float64)
    return _Orders(
        np.array(rows),
        weights,
        np.array(shares),
        np.array(depths),
        np.array(kinds),
        kind_of_game.ravel(),
    )


@dataclass(frozen=True)
class _Stage:
    """The choice of one place in the orders that have it."""

    rows: npt.NDArray[np.int64]
    """[rows] numbers of the orders."""
    left: Floats
    """[rows, players] seats still in the field."""
    best: Floats
    """[rows, players] one-hot: who was chosen."""


def _choices_of(orders: _Orders, num_players: int) -> tuple[_Choices, list[_Stage]]:
    """All choices that the orders were made by, together and place by place."""
    one_hot = np.eye(num_players + 1)[:, :num_players]  # the last row, -1, is an empty seat
    stages = []
    for stage in range(orders.players.shape[1] - 1):
        left = one_hot[orders.players[:, stage:]].sum(axis=1)
        rows = np.flatnonzero((orders.depths > stage) & (left.sum(axis=1) > 1))
        stages.append(_Stage(rows, left[rows], one_hot[orders.players[rows, stage]]))
    beaten, chosen = np.zeros((num_players, num_players)), np.zeros(num_players)
    for choice in stages:
        weight = orders.weights[choice.rows]
        chosen += weight @ choice.best
        beaten += choice.best.T @ (weight[:, None] * choice.left)
    np.fill_diagonal(beaten, 0)  # a player in several seats may come before itself
    every = np.concatenate([np.zeros((0, num_players)), *(choice.left for choice in stages)])
    sets, index = np.unique(every, axis=0, return_inverse=True)
    totals = np.zeros(len(sets))
    used = [orders.weights[choice.rows] for choice in stages]
    np.add.at(totals, index.ravel(), np.concatenate([np.zeros(0), *used]))
    return _Choices(sets, totals, chosen, beaten), stages


def _pulls(orders: _Orders, stages: list[_Stage], log_strengths: Floats) -> Floats:
    """How a game of each kind pulls at the log-strengths: [kinds, players]."""
    pulls = np.zeros((int(orders.kinds.max()) + 1, len(log_strengths)))
    for choice in stages:
        probs = choice.left * np.exp(log_strengths)
        probs /= probs.sum(axis=1, keepdims=True)
        share = orders.shares[choice.rows, None]
        np.add.at(pulls, orders.kinds[choice.rows], share * (choice.best - probs))
    return pulls


def _total_covariance(values: Floats, blocks: npt.NDArray[np.int64]) -> Floats | None:
    """Covariance of the total of rows that are independent between blocks; None for one block."""
    totals = np.zeros((int(blocks.max()) + 1, values.shape[1]))
    np.add.at(totals, blocks, values)
    if len(totals) < 2:
        return None
    covariance: Floats = np.cov(totals, rowvar=False) * len(totals)
    return covariance


@dataclass(frozen=True)
class _Choices:
    """Everything the likelihood of Luce's model needs."""

    sets: Floats
    """[sets, players] how many seats each player has in a field that was chosen from."""
    weights: Floats
    """[sets] how many choices were made from it."""
    chosen: Floats
    """[players] how often each was chosen."""
    beaten: Floats
    """[players, players] how often the row was chosen before the column; diagonal 0."""


def _pairs(games: Floats) -> tuple[Floats, Floats]:
    """Fields of two for each pair with games, and how many: [players, players] -> sets, weights."""
    first, second = np.nonzero(np.triu(games, 1))
    sets = np.eye(len(games))[first] + np.eye(len(games))[second]
    return sets, games[first, second]


def _rate(
    choices: _Choices,
    anchor: int,
    prior: float,
    names: Sequence[str] | None,
    measured: Callable[[Floats], Floats | None],
) -> Ratings:
    """Check, add the prior, fit, and put the result on the Elo scale.

    ``measured`` gives, at the fitted log-strengths, the covariance of the players' total scores;
    None stands for independent games.
    """
    num_players = len(choices.chosen)
    if num_players < 2:
        raise MasqueradeError("a rating needs two players or more")
    if not 0 <= anchor < num_players:
        raise MasqueradeError(f"anchor must be one of the {num_players} players, not {anchor}")
    _check_connected(choices.beaten, names)
    strong = csgraph.connected_components(choices.beaten > 0, connection="strong")[1]
    is_firm = np.asarray(strong == strong[anchor])
    if prior < 0 or (prior == 0 and not is_firm.all()):
        raise MasqueradeError("some players won or lost everything: give a prior above 0")

    has_met = (choices.beaten + choices.beaten.T > 0).astype(np.float64)
    drawn, weights = _pairs(prior * has_met)
    log_strengths, information = _fit(
        np.concatenate([choices.sets, drawn]),
        np.concatenate([choices.weights, weights]),
        choices.chosen + prior / 2 * has_met.sum(axis=1),
    )
    others = np.ix_(*[np.delete(np.arange(num_players), anchor)] * 2)
    errors = np.linalg.inv(information[others])
    scores = measured(log_strengths)
    if scores is not None:
        errors = errors @ scores[others] @ errors
    covariance = np.zeros((num_players, num_players))
    covariance[others] = errors * ELO**2
    return Ratings((log_strengths - log_strengths[anchor]) * ELO, covariance, is_firm)


def _fit(sets: Floats, weights: Floats, chosen: Floats) -> tuple[Floats, Floats]:
    """Maximise Luce's likelihood by Newton's method: log-strengths and Fisher information.

    The log-likelihood ``chosen . x - sum(weights * log(sets @ exp(x)))`` is concave in ``x`` and
    blind to a shift of all ``x``, so halving a step that went too far is all the care it needs.
    Hunter's MM algorithm has the same limit in many cheaper steps, but errors need the information
    matrix in any case.
    """

    def likelihood(x: Floats) -> float:
        return float(chosen @ x - weights @ np.log(sets @ np.exp(x)))

    x = np.zeros(len(chosen))
    for _ in range(100):
        probs = sets * np.exp(x)
        probs /= probs.sum(axis=1, keepdims=True)
        expected = weights @ probs
        information = np.diag(expected) - probs.T @ (weights[:, None] * probs)
        # Ones in the direction of the shift make the matrix regular and leave the step as it is.
        step = np.linalg.solve(information + np.trace(information) / x.size, chosen - expected)
        step -= step.mean()
        if np.abs(step).max() < 1e-9:
            return x, information
        before, size = likelihood(x), 1.0
        while likelihood(x + size * step) < before - 1e-12 * abs(before) and size > 1e-6:
            size /= 2
        x = x + size * step
    raise MasqueradeError("ratings did not converge: scale down extreme numbers of games")


def _check_connected(beaten: Floats, names: Sequence[str] | None) -> None:
    """Refuse a table in which two groups of players never met, and name the groups."""
    num_groups, labels = csgraph.connected_components(beaten + beaten.T > 0, directed=False)
    if num_groups > 1:
        known = names or [str(player) for player in range(len(beaten))]
        groups = [
            "{" + ", ".join(known[i] for i in np.flatnonzero(labels == group).tolist()) + "}"
            for group in range(num_groups)
        ]
        raise MasqueradeError(
            f"no games connect {' and '.join(groups)}: rate the groups apart or let them meet"
        )


def square(table: npt.ArrayLike, name: str) -> Floats:
    """Return a finite square copy."""
    array = np.array(table, np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not np.isfinite(array).all():
        raise MasqueradeError(f"{name} must be finite and [players, players], not {array.shape}")
    return array
