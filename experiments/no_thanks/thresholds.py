"""The symmetric equilibrium of the threshold rules of No Thanks!.

One player with every threshold sits against others who share one: how much does the best of them
gain? The threshold that leaves the least
to gain is the equilibrium of the family. All pairs play the same decks, every seat in turn.

The first pass looks at all thresholds, the second, with ten times the games, at those near the best
of the first; whoever deviates may choose any threshold in both.

No single threshold is an exact equilibrium: against low ones a higher one gains, against high ones
it pays to leave every card to the others (a threshold far below zero). The two gains meet at 12, by
places as by scores, and that is the threshold of least gain. In a mixed equilibrium of three
everybody draws a threshold before the game.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
from numba import types

from agents.games.no_thanks.rules import takes_below
from common.errors import OptionError
from common.statistics import Interval
from envs.core.compiling import compiled
from envs.core.game import Game
from envs.core.kernels import INT, KERNELS, OPTIONAL_KERNELS, OVER, RNG, RULES, STATE, TOTALS
from envs.core.rng import Words, seed_stream, stream
from envs.no_thanks import NoThanks
from envs.no_thanks.kernels import PAY, TAKE, can_pay
from envs.no_thanks.kernels import RULES as RULES_RECORD
from envs.no_thanks.kernels import STATE as STATE_RECORD
from experiments import runner

REFINEMENT = 10
"""So many times the games in the second pass, for thresholds at most ``NEAR`` away."""
NEAR = 2


@compiled(
    types.void(KERNELS, OPTIONAL_KERNELS, RULES, RNG, INT, STATE, RNG, TOTALS, TOTALS, TOTALS)
)
def _play(kernels, optional, rules, root, num_games, state, rng, totals, sums, thresholds):
    """Add up the returns and squared returns of one player who sits in every seat in turn.

    ``thresholds`` are his own and those of the others after him.
    """
    r = rules.view(RULES_RECORD)[0]
    for number in range(num_games):
        for seat in range(r.num_players):
            seed_stream(root, number, rng)
            kernels.new(state, rules, 0)
            turn = optional.settle(state, rules, rng)
            s = state.view(STATE_RECORD)[0]
            while turn != OVER:
                ahead = turn - seat if turn >= seat else turn - seat + r.num_players
                takes = takes_below(s, r, thresholds[ahead]) or not can_pay(s, r)
                kernels.step(state, rules, TAKE if takes else PAY)
                turn = kernels.turn(state, rules)
            kernels.returns(state, rules, totals)
            sums[0] += totals[seat]
            sums[1] += totals[seat] ** 2


def mean_return(
    game: Game, thresholds: Sequence[float], num_games: int, root: Words
) -> tuple[float, float]:
    """The mean return of the first player of ``thresholds``, and its standard error."""
    state, rng = np.empty(game.state_size, np.uint8), np.empty(4, np.uint64)
    totals, sums = np.empty(game.facts.num_players), np.zeros(2)
    buffers = (state, rng, totals, sums, np.array(thresholds, np.float64))
    _play(game.kernels, game.optional, game.rules, root, num_games, *buffers)
    count = num_games * game.facts.num_players
    mean = sums[0] / count
    return float(mean), float(np.sqrt(max(sums[1] / count - mean**2, 0.0) / count))


@dataclass(frozen=True)
class ThresholdRow:
    """What can be gained against players who all have one threshold."""

    threshold: int
    best_response: int
    gain: float
    standard_error: float


def find_equilibrium(
    game: Game, thresholds: Sequence[int], num_games: int, seed: int = 0
) -> tuple[int, list[ThresholdRow]]:
    """Find the symmetric equilibrium among ``thresholds``.

    Args:
        game: with the number of players and the returns that are asked for.
        thresholds: of everybody.
        num_games: decks of the first pass, each played once in every seat.
        seed: of the decks.

    Returns:
        The threshold against which the least can be gained, and the rows of the second pass.

    >>> game = NoThanks(returns="place", highest=6, removed=0, chips=2)
    >>> find_equilibrium(game, range(0, 4), num_games=200)[0] in range(4)
    True
    """
    root = stream(seed, "thresholds")
    rows = [_row(game, t, thresholds, num_games, root) for t in thresholds]
    best = min(rows, key=lambda row: row.gain).threshold
    near = [t for t in thresholds if abs(t - best) <= NEAR]
    rows = [_row(game, t, thresholds, num_games * REFINEMENT, root) for t in near]
    return min(rows, key=lambda row: row.gain).threshold, rows


def _row(game: Game, others: int, own: Sequence[int], num_games: int, root: Words) -> ThresholdRow:
    rest = [others] * (game.facts.num_players - 1)
    means = {each: mean_return(game, [each, *rest], num_games, root) for each in own}
    best = max(means, key=lambda each: means[each][0])
    # What everybody gets who keeps to the threshold of the others is the measure of a gain.
    kept, _ = mean_return(game, [others, *rest], num_games, root)
    return ThresholdRow(others, best, means[best][0] - kept, means[best][1])


def mixed_equilibrium(
    game: Game, thresholds: Sequence[int], num_games: int, seed: int = 0, num_rounds: int = 20_000
) -> tuple[npt.NDArray[np.float64], float]:
    """How often each threshold is drawn in a symmetric equilibrium of three, and what is gained.

    The payoffs of all triples are estimated once; regret matching against oneself, averaged over
    its rounds, finds the mixture; the gain is that of the best threshold against it.
    """
    if game.facts.num_players != 3:
        raise OptionError("mixed equilibria are found for three players only")
    root, count = stream(seed, "thresholds"), len(thresholds)
    payoffs = np.empty((count, count, count))
    for i, j, k in product(range(count), repeat=3):
        line = [thresholds[i], thresholds[j], thresholds[k]]
        payoffs[i, j, k] = mean_return(game, line, num_games, root)[0]
    regrets, sums = np.zeros(count), np.zeros(count)
    for number in range(num_rounds):
        positive = np.maximum(regrets, 0.0)
        total = positive.sum()
        mix = positive / total if total > 0 else np.full(count, 1 / count)
        worth = payoffs @ mix @ mix
        regrets = np.maximum(regrets + worth - mix @ worth, 0.0)
        sums += (number + 1) * mix
    mix = sums / sums.sum()
    worth = payoffs @ mix @ mix
    return mix, float(worth.max() - mix @ worth)


FAMILY = range(-15, 21)
MIXED = (-5, 7, 12, 14)


def pure(settings: runner.Settings) -> Iterator[runner.Row]:
    """T: what can be gained in the second pass against three who share a threshold."""
    for returns in ("place", "score"):
        game = NoThanks(num_players=3, returns=returns)
        best, rows = find_equilibrium(game, FAMILY, settings.games(1000), settings.seed)
        for row in rows:
            error = 1.96 * row.standard_error
            gain = Interval(row.gain, row.gain - error, row.gain + error)
            note = f"best response {row.best_response}"
            what = f"gain against threshold {row.threshold}, by {returns}"
            yield runner.Row.of(what, gain, note=note)
        yield runner.Row(f"threshold of least gain, by {returns}", best, wanted=(12, 12))


def mixed(settings: runner.Settings) -> Iterator[runner.Row]:
    """TM: how often each of some thresholds is drawn in equilibrium."""
    game = NoThanks(returns="place")
    mix, gain = mixed_equilibrium(game, MIXED, settings.games(1000), settings.seed)
    for threshold, share in zip(MIXED, mix, strict=True):
        yield runner.Row(f"share of threshold {threshold}, by place", float(share))
    yield runner.Row("gain of the best of them", gain)
