"""Who is stronger: Bradley-Terry for games of two, Plackett-Luce for games of many.

Both are Luce's choice model (a player of strength ``g`` is chosen from a field with probability
``g / sum``): a game of two is one choice, a ranking of ``k`` is ``k - 1`` choices, each from those
still left. A tie counts as the average of its orders. One Newton solver serves both. Ratings are on
the Elo scale, with one player anchored at 0. Where a beats b beats c beats a no rating tells the
truth; see ``metagame``.

Games of one deal share its chance events and are not independent. The estimates do not mind, but
the errors do, so both take what the deals say: ``bradley_terry`` the scores of every deal,
``plackett_luce`` the deal of every game.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse, special
from scipy.sparse import csgraph

from common.errors import MasqueradeError
from common.statistics import DEFAULT_CONFIDENCE, Blocks, Interval, t_quantile

Floats = npt.NDArray[np.float64]

ELO = 400 / math.log(10)
"""Elo points in one unit of log-odds: 400 points are odds of ten to one."""


@dataclass(frozen=True)
class Ratings:
    """Elo ratings with everything needed to compare any two players."""

    elo: Floats
    """[players] rating; the anchor has 0."""
    covariance: Floats
    """[players, players] of the ratings, were games independent and those of a deal a single one;
    the anchor's row and column are 0. It serves where all deals are alike and show no spread."""
    is_firm: npt.NDArray[np.bool_]
    """[players] False where only the prior keeps the rating finite: a player, or a group, that won
    or lost everything against the anchor's group. Their interval is an indication, no more."""
    pulls: Floats | None = None
    """[deals, streams, players] by how much each deal alone pulls a rating; None for independent
    games. Their mean has the spread of the ratings."""

    def interval(self, player: int, confidence: float = DEFAULT_CONFIDENCE) -> Interval:
        """Return a player's rating relative to the anchor."""
        return self._interval(np.eye(len(self.elo))[player], confidence)

    def difference(self, a: int, b: int, confidence: float = DEFAULT_CONFIDENCE) -> Interval:
        """Return by how much a is ahead of b: narrower than two intervals, if the anchor is far."""
        one_hot = np.eye(len(self.elo))
        return self._interval(one_hot[a] - one_hot[b], confidence)

    def _interval(self, contrast: Floats, confidence: float) -> Interval:
        mean, variance = float(contrast @ self.elo), float(contrast @ self.covariance @ contrast)
        degrees = math.inf
        if self.pulls is not None:
            measured, found = _blocks(self.pulls @ contrast).spread
            if measured > 0:  # deals that are all alike show no spread
                variance, degrees = measured, found
        reach = t_quantile(confidence, degrees) * math.sqrt(max(0.0, variance))
        return Interval(mean, mean - reach, mean + reach)


def _blocks(values: Floats) -> Blocks:
    """[deals, streams] that all count the same."""
    return Blocks(values, np.full(values.shape[1], 1 / values.shape[1]))


def bradley_terry(
    wins: npt.ArrayLike,
    anchor: int = 0,
    prior: float = 1.0,
    totals: npt.ArrayLike | None = None,
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
        totals: [deals, streams, players] the players' scores (wins over all opponents) with every
            deal of every stream of deals, for games that are not independent (paired deals, many
            players at one table) or have many ties. The estimate stays the same and errors become
            the sandwich ``H⁻¹ V H⁻¹`` with the spread ``V`` of the totals within streams instead of
            the inverse Fisher information ``H⁻¹``.
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
    measured = None if totals is None else np.asarray(totals, np.float64)
    return _rate(choices, anchor, prior, names, lambda _: measured)


def plackett_luce(
    players: npt.ArrayLike,
    places: npt.ArrayLike,
    anchor: int = 0,
    prior: float = 1.0,
    names: Sequence[str] | None = None,
    *,
    deals: npt.ArrayLike | None = None,
    streams: npt.ArrayLike = 0,
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
        deals: [games] the number of each game's deal, from 0, for games that are not independent.
            The estimate stays the same; errors are the sandwich with the spread between deals.
        streams: [games] from which stream of deals, if there are several.
        is_last_unranked: take seats tied for the last place as unordered instead of equal, which is
            right for games that name only the winner.

    Raises:
        MasqueradeError: if some players never met the others, directly or through third ones.
    """
    who, ranks = np.asarray(players, np.int64), np.asarray(places, np.float64)
    if who.ndim != 2 or who.shape != ranks.shape or who.size == 0 or who.min() < -1:
        raise MasqueradeError(f"players and places must be [games, seats], not {who.shape}")
    num_players = int(who.max()) + 1
    ties = _find_ties(who, ranks, num_players, is_last_unranked)
    left, shares = _expand(ties.tied, ties.behind)
    tied, behind = ties.tied.astype(np.float64), ties.behind.astype(np.float64)
    weighted = ties.counts[:, None] * tied
    beaten = weighted.T @ behind + weighted.T @ tied / 2
    np.fill_diagonal(beaten, 0)  # a player in several seats may come before itself
    choices = _Choices(left, shares.T @ ties.counts, weighted.sum(axis=0), beaten)

    def measured(log_strengths: Floats) -> Floats | None:
        if deals is None:
            return None
        probs = left * np.exp(log_strengths)
        pulls = tied - shares @ (probs / probs.sum(axis=1, keepdims=True))
        deal, stream = np.asarray(deals, np.int64), np.asarray(streams, np.int64)
        totals = np.zeros((int(deal.max()) + 1, int(stream.max()) + 1, num_players))
        np.add.at(totals, (deal, stream), ties.of_game @ pulls)
        return totals

    return _rate(choices, anchor, prior, names, measured)


@dataclass(frozen=True)
class _Ties:
    """Games as groups of seats that share a place (a seat alone, mostly), each kind kept once."""

    tied: npt.NDArray[np.int8]
    """[kinds, players] seats of each player in the group."""
    behind: npt.NDArray[np.int8]
    """[kinds, players] seats of each player in a worse place."""
    of_game: sparse.csr_array
    """[games, kinds] which groups a game is made of."""

    @property
    def counts(self) -> Floats:
        """[kinds] in how many games each was seen."""
        return np.asarray(self.of_game.sum(axis=0), np.float64).ravel()


def _find_ties(
    who: npt.NDArray[np.int64], ranks: Floats, num_players: int, is_last_unranked: bool
) -> _Ties:
    """Split each game into its places; seats in front of nobody and alone say nothing."""
    num_games, num_seats = who.shape
    ranks = np.where(who < 0, np.inf, ranks)
    seats = np.argsort(ranks, axis=1, kind="stable")
    who, ranks = np.take_along_axis(who, seats, 1), np.take_along_axis(ranks, seats, 1)
    place = np.cumsum(np.diff(ranks, axis=1, prepend=ranks[:, :1]) > 0, axis=1)
    groups, games = [np.zeros((0, 2 * num_players), np.int8)], [np.zeros(0, np.int64)]
    for number in range(num_seats):
        group = np.zeros((num_games, 2 * num_players), np.int8)
        for mask, first in ((place == number, 0), (place > number, num_players)):
            rows, columns = np.nonzero(mask & (who >= 0))
            np.add.at(group, (rows, first + who[rows, columns]), 1)
        is_last = ~group[:, num_players:].any(axis=1)
        is_alone = group[:, :num_players].sum(axis=1) <= 1
        kept = np.flatnonzero(~is_last | ~(is_alone | is_last_unranked))
        kept = kept[group[kept, :num_players].any(axis=1)]
        groups.append(group[kept])
        games.append(kept)
    kinds, kind_of_group = _unique_rows(np.concatenate(groups))
    ones = np.ones(len(kind_of_group))
    shape = num_games, len(kinds)
    of_game = sparse.csr_array((ones, (np.concatenate(games), kind_of_group)), shape)
    return _Ties(kinds[:, :num_players], kinds[:, num_players:], of_game)


def _expand(
    tied: npt.NDArray[np.int8], behind: npt.NDArray[np.int8]
) -> tuple[Floats, sparse.csr_array]:
    """The fields that a group of ties is chosen from, averaged over the orders of the group.

    In a random order of ``t`` seats, those not yet chosen are, at each size ``m``, any subset with
    the same probability. So ``2^t`` subsets with weight ``1 / C(t, m)`` stand for ``t!`` orders.

    Returns:
        [fields, players] seats of each player in a field, and [kinds, fields] the weights.
    """
    num_tied = tied.sum(axis=1)
    fields = [np.zeros((0, tied.shape[1]), np.int8)]
    kinds, weights = [np.zeros(0, np.int64)], [np.zeros(0)]
    for size in np.unique(num_tied).tolist():
        rows = np.flatnonzero(num_tied == size)
        members = np.repeat(np.tile(np.arange(tied.shape[1]), len(rows)), tied[rows].ravel())
        one_hot = np.eye(tied.shape[1], dtype=np.int8)[members.reshape(len(rows), size)]
        subsets = (np.arange(1, 2**size)[:, None] >> np.arange(size) & 1).astype(np.int8)
        left = np.einsum("sm,rmp->rsp", subsets, one_hot) + behind[rows][:, None]
        fields.append(left.reshape(-1, tied.shape[1]))
        kinds.append(np.repeat(rows, len(subsets)))
        weights.append(np.tile(1 / special.comb(size, subsets.sum(axis=1)), len(rows)))
    found, index = _unique_rows(np.concatenate(fields))
    shape = len(tied), len(found)
    shares = sparse.csr_array((np.concatenate(weights), (np.concatenate(kinds), index)), shape)
    return found.astype(np.float64), shares


def _unique_rows(
    rows: npt.NDArray[np.int8],
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64]]:
    """Different rows, and where each row went; faster than ``np.unique`` with an axis."""
    keys = np.ascontiguousarray(rows).view(f"V{rows.shape[1]}").ravel()
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], index


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

    ``measured`` gives, at the fitted log-strengths, the players' total scores in every block,
    [deals, streams, players]; None stands for independent games.
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
    errors = np.zeros((num_players, num_players))
    errors[others] = np.linalg.inv(information[others])
    totals, games, pulls = measured(log_strengths), 1.0, None
    if totals is not None:
        num_pairs = has_met.sum() / 2
        games = float(choices.beaten.sum() / num_pairs) / len(totals)  # of a pair with a deal
        pulls = totals @ errors * ELO * totals[..., 0].size
    covariance = errors * ELO**2 * max(1.0, games)
    return Ratings((log_strengths - log_strengths[anchor]) * ELO, covariance, is_firm, pulls)


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
