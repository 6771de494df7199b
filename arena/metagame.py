"""When there is no ladder: players as the moves of a game of their own.

If a beats b beats c beats a, no rating tells the truth. ``nash_average`` and ``alpha_rank`` weigh
such players, ``cycles`` says where the cycles are and how much they matter.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from arena.ratings import square
from arena.summary import Cycle
from common.errors import MasqueradeError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class NashAverage:
    """The weight of each player at equilibrium, and how well each does against that mixture."""

    mixture: Floats
    """[players] probabilities of the maximum-entropy equilibrium."""
    skill: Floats
    """[players] mean payoff against the mixture: 0 for players in it, negative for the others."""


def nash_average(payoffs: npt.ArrayLike) -> NashAverage:
    """Weigh players by the equilibrium of the game of choosing one (Balduzzi et al. 2018).

    Copies of a player share its weight, and beating the weak earns nothing. Among all equilibria
    the one of largest entropy is taken, so the answer is unique and does not depend on the order
    of players. It is found in two steps: a linear program (HiGHS) says who has weight in any
    equilibrium; then ``p = softmax(-l @ payoffs)`` on those, with the multipliers ``l`` of the
    constraints ``payoffs @ p <= 0`` from the convex dual. Payoffs below a millionth of the largest
    count as even. An equilibrium can jump when a payoff crosses 0: look at the intervals, too.

    >>> rock_paper_scissors = [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]
    >>> nash_average(rock_paper_scissors).mixture.round(3)
    array([0.333, 0.333, 0.333])

    Args:
        payoffs: [players, players] antisymmetric: mean return, win rate - 1/2, or log-odds.
    """
    table = _antisymmetric(payoffs)
    num_players = len(table)
    # Scale-free equilibria p >= 0, table @ p <= 0, with as many p >= 1 as can be: max sum of t,
    # 0 <= t <= 1, t <= p. Equilibria are convex, so one of them has the weights of all.
    eye, zero = np.eye(num_players), np.zeros((num_players, num_players))
    support_program = optimize.linprog(
        np.repeat([0.0, -1.0], num_players),
        A_ub=np.block([[table, zero], [-eye, eye]]),
        b_ub=np.zeros(2 * num_players),
        bounds=[(0, None)] * num_players + [(0, 1)] * num_players,
        method="highs",
    )
    if not support_program.success:
        raise MasqueradeError(f"no equilibrium was found: {support_program.message}")
    support = np.flatnonzero(support_program.x[num_players:] > 0.5)
    rows = table[:, support]
    # Against any equilibrium those in the support earn exactly 0, the others at most 0.
    bounds = [(None if i in support else 0, None) for i in range(num_players)]

    def dual(multipliers: Floats) -> tuple[float, Floats]:
        scores = -multipliers @ rows
        return float(special.logsumexp(scores)), -rows @ special.softmax(scores)

    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 20_000, "maxfun": 100_000}
    best = optimize.minimize(
        dual, np.zeros(num_players), jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    mixture = np.zeros(num_players)
    mixture[support] = special.softmax(-best.x @ rows)
    if (table @ mixture).max() > 1e-5:
        raise MasqueradeError(f"the equilibrium did not converge: {best.message}")
    return NashAverage(mixture, np.asarray(payoffs, np.float64) @ mixture)


def alpha_rank(payoffs: npt.ArrayLike, alpha: float | None = None, population: int = 50) -> Floats:
    """Rank players by evolution with rare mutants (Omidshafiei et al. 2019, one population).

    The answer is the share of time that a population spends with each player: [players].

    A population plays one strategy until a mutant takes over; with fitness ahead by ``d`` it does
    so with probability ``(1 - exp(-a d)) / (1 - exp(-a m d))``. Without ``alpha`` the pressure is
    doubled until the distribution no longer moves, beginning where even the smallest difference
    counts, so that a plateau between two scales is not taken for the limit. As any difference then
    counts in full, set payoffs that are not significant to 0 first.

    All is done in logarithms, with the elimination of Grassmann, Taksar and Heyman, which never
    subtracts: no pressure is too high for it.

    >>> alpha_rank([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]).round(3)
    array([0.333, 0.333, 0.333])

    Args:
        payoffs: [players, players] what the row gets against the column; need not be zero-sum.
        alpha: selection pressure; None sweeps it.
        population: its size ``m``.
    """
    table = square(payoffs, "payoffs")
    ahead = table - table.T
    largest = np.abs(ahead).max()
    ahead[np.abs(ahead) <= 1e-9 * largest] = 0
    if alpha is not None:
        return _stationary(_log_fixation(alpha * ahead, population))
    if largest == 0:
        return np.full(len(table), 1 / len(table))
    alpha = 10 / (population * float(np.abs(ahead[ahead != 0]).min()))
    mass = _stationary(_log_fixation(alpha * ahead, population))
    for _ in range(60):
        alpha *= 2
        before, mass = mass, _stationary(_log_fixation(alpha * ahead, population))
        if np.abs(mass - before).max() < 1e-9:
            break
    return mass


def _log_fixation(ahead: Floats, population: int) -> Floats:
    """Log-probability that the column's mutant takes over the row's population."""
    gap = np.abs(ahead)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(-np.expm1(-gap)) - np.log(-np.expm1(-population * gap))
    ratio = np.where(gap == 0, -math.log(population), ratio)
    # Behind by d is e^(-(m - 1) d) times as likely as ahead by d.
    fixation: Floats = ratio - (population - 1) * np.maximum(ahead, 0)
    return fixation


def _stationary(log_rates: Floats) -> Floats:
    """Stationary distribution of a Markov chain from the logs of its rates off the diagonal."""
    rates = log_rates.copy()
    num_states = len(rates)
    for k in range(num_states - 1, 0, -1):
        rates[:k, k] -= special.logsumexp(rates[k, :k])
        rates[:k, :k] = np.logaddexp(rates[:k, :k], rates[:k, k, None] + rates[k, :k])
    log_mass = np.zeros(num_states)
    for k in range(1, num_states):
        log_mass[k] = special.logsumexp(log_mass[:k] + rates[:k, k])
    return np.asarray(special.softmax(log_mass), np.float64)


def cycles(
    payoffs: npt.ArrayLike, low: npt.ArrayLike, names: Sequence[str]
) -> tuple[tuple[Cycle, ...], float]:
    """Find the cycles of three and split the payoffs into a ladder and a rest.

    The split is Helmholtz-Hodge's: the differences of ratings that come nearest to the payoffs (in
    a full table the ratings are the row means) are the gradient part, and what remains is
    orthogonal to it: the curl (Jiang et al. 2011, Balduzzi et al. 2018). Noise counts as rest.

    >>> payoffs = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    >>> cycles(payoffs, payoffs - 0.1, "abc")[0]
    (Cycle(agents=('a', 'c', 'b'), strength=1.0, is_certain=True),)

    Args:
        payoffs: [players, players] antisymmetric; NaN for a pair that has not met.
        low: [players, players] lower end of each payoff's interval: the row beats the column when
            it is above 0.
        names: of the players.

    Returns:
        Every cycle of three, certain or not, from its first player on; the certain first, then the
        strongest. And the share of the squared payoffs that differences of ratings explain.
    """
    table = np.array(payoffs, np.float64)
    has_met = np.isfinite(table) & ~np.eye(len(table), dtype=bool)
    table = _antisymmetric(np.where(has_met, table, 0), is_scaled=False)
    beats = has_met & (np.nan_to_num(np.asarray(low, np.float64)) > 0)
    found = []
    for a, b, c in itertools.permutations(range(len(table)), 3):
        strength = float(min(table[a, b], table[b, c], table[c, a]))
        if a == min(a, b, c) and strength > 0:
            is_certain = bool(beats[a, b] and beats[b, c] and beats[c, a])
            found.append(Cycle((names[a], names[b], names[c]), strength, is_certain))
    found.sort(key=lambda cycle: (not cycle.is_certain, -cycle.strength))
    laplacian = np.diag(has_met.sum(axis=1)) - has_met
    ratings = np.linalg.pinv(laplacian.astype(np.float64), hermitian=True) @ table.sum(axis=1)
    ladder = np.where(has_met, ratings[:, None] - ratings, 0)
    total = float(np.sum(table**2))
    return tuple(found), float(np.sum(ladder**2)) / total if total else 1.0


def _antisymmetric(payoffs: npt.ArrayLike, is_scaled: bool = True) -> Floats:
    """Return an exactly antisymmetric copy, divided by its largest entry if so wished."""
    table = square(payoffs, "payoffs")
    largest = float(np.abs(table).max(initial=0)) or 1.0
    if np.abs(table + table.T).max(initial=0) > 1e-6 * largest:
        raise MasqueradeError("payoffs must be antisymmetric: what the row wins the column loses")
    return (table - table.T) / 2 / (largest if is_scaled else 1.0)
