"""Bots of OpenSpiel that play at our tables.

python evaluate.py tournament kuhn_v0 random cfr=openspiel:examples.openspiel_bots:cfr
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pyspiel

CFR_ITERATIONS = 1000
ISMCTS_SIMULATIONS = 200


@cache
def _solve(name: str) -> Any:
    """The average policy of CFR+, made once for each game."""
    solver = pyspiel.CFRPlusSolver(pyspiel.load_game(name))
    for _ in range(CFR_ITERATIONS):
        solver.evaluate_and_update_policy()
    return solver.tabular_average_policy()  # which, unlike average_policy, outlives the solver


def cfr(game: Any, player: int, seed: int) -> Any:
    """Plays the equilibrium that CFR+ has found; Kuhn poker takes it no time, Leduc minutes."""
    return pyspiel.make_policy_bot(game, player, seed, _solve(str(game)))


def ismcts(game: Any, player: int, seed: int) -> Any:
    """Information-set Monte Carlo tree search, for games that OpenSpiel can deal anew."""
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    return pyspiel.ISMCTSBot(seed, evaluator, 2.0, ISMCTS_SIMULATIONS)


# OpenSpiel's search gives other moves with the same seed; tables then say so.
ismcts.is_reproducible = False
