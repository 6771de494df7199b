"""The exact solution of a two-player zero-sum game as a linear programme over its sequences.

1. A player's realization plan gives every sequence (information set, action) the probability that
   the player's own actions lead there: linear constraints, one for each information set.
2. Player 0 looks for the plan whose worst case is best. By duality the worst case is a sum of
   values, one for each information set of player 1, bounded by one inequality for each of player
   1's sequences.
3. The multipliers of those inequalities are the best plan of player 1.

D. Koller, N. Megiddo, B. von Stengel, "Efficient computation of equilibria for extensive two-person
games" (1996). The solver is HiGHS, through SciPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.cfr.tree import GameTree, Probs
from common.errors import MasqueradeError
from envs.core.facts import is_zero_sum_duel

METHODS = ("highs", "highs-ds", "highs-ipm")


@dataclass(frozen=True)
class Equilibrium:
    """An equilibrium of a two-player zero-sum game."""

    value: float
    """What player 0 wins on average."""
    probs: Probs
    """The equilibrium on the tree."""
    is_reached: npt.NDArray[np.bool_]
    """For every information set whether its player's own choices lead there; elsewhere the policy
    is uniform, and anything would do."""


def solve_lp(tree: GameTree, method: str = "highs") -> Equilibrium:
    """Solve a game of up to some 40,000 sequences.

    Args:
        tree: of a two-player zero-sum game.
        method: ``highs`` lets HiGHS choose, ``highs-ds`` is the dual simplex, ``highs-ipm`` the
            interior-point method, the fastest on games of more than some 5,000 sequences.

    >>> from envs import make_game
    >>> round(solve_lp(GameTree(make_game("kuhn_v0"))).value, 9)
    -0.055555556
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    if not is_zero_sum_duel(tree.game.facts):
        raise MasqueradeError(
            f"{tree.game!r} is no game of two players for a constant sum: use CFRSolver, which "
            "takes any game"
        )
    if method not in METHODS:
        raise MasqueradeError(f"unknown method '{method}': choose from {', '.join(METHODS)}")
    plans = [_plan_constraints(tree, player) for player in (0, 1)]
    payoff = _payoff_matrix(tree)
    # Variables: the plan of player 0 (the empty sequence last), then the values of player 1's
    # information sets (the empty one last, which is the value of the game).
    num_plan, num_values = payoff.shape[0], plans[1].shape[0]
    cost = np.zeros(num_plan + num_values)
    cost[-1] = -1.0
    at_most = hstack([-payoff.T, plans[1].T], format="csr")
    exactly = hstack([plans[0], csr_array((plans[0].shape[0], num_values))], format="csr")
    goal = np.zeros(plans[0].shape[0])
    goal[-1] = 1.0
    bounds = np.repeat([[0.0, np.inf], [-np.inf, np.inf]], [num_plan, num_values], axis=0)
    found = linprog(
        cost, at_most, np.zeros(at_most.shape[0]), exactly, goal, bounds=bounds, method=method
    )
    if found.status != 0:
        raise MasqueradeError(f"HiGHS did not solve {tree.game!r} ({found.message}): use CFRSolver")
    weights = np.concatenate([found.x[: num_plan - 1], -found.ineqlin.marginals[:-1]])
    probs, is_reached = tree.normalized(np.maximum(weights, 0.0))
    return Equilibrium(-float(found.fun), probs, is_reached)


def _plan_constraints(tree: GameTree, player: int) -> Any:
    """Sequences of an information set add up to the sequence before it; the empty sequence is 1.

    A sparse matrix: a row for each information set and a last one for the empty sequence, a column
    for each sequence of the player and a last one for the empty sequence.
    """
    from scipy.sparse import csr_array

    own, sequences = tree.infosets_of(player), tree.sequences_of(player)
    infosets = tree.infosets[own.start : own.stop]
    parents = _column(infosets["parent_sequence"], sequences, tree.num_sequences)
    owners = tree.sequence_infosets[sequences.start : sequences.stop] - own.start
    rows = np.concatenate([owners, np.arange(len(own) + 1)])
    columns = np.concatenate([np.arange(len(sequences)), parents, [len(sequences)]])
    values = np.repeat([1.0, -1.0, 1.0], [len(sequences), len(own), 1])
    return csr_array((values, (rows, columns)), shape=(len(own) + 1, len(sequences) + 1))


def _payoff_matrix(tree: GameTree) -> Any:
    """What player 0 wins: a row for each of its sequences, a column for each of player 1's."""
    from scipy.sparse import csr_array

    columns = [tree.sequences_of(player) for player in (0, 1)]
    rows, cols = (
        _column(tree.payoffs.sequences[:, p], columns[p], tree.num_sequences) for p in (0, 1)
    )
    shape = len(columns[0]) + 1, len(columns[1]) + 1
    return csr_array((tree.payoffs.values[:, 0], (rows, cols)), shape=shape)


def _column(sequences: npt.NDArray[np.int32], own: range, empty: int) -> npt.NDArray[np.int64]:
    """The place of sequences among a player's own; the empty sequence comes last."""
    return np.where(sequences == empty, len(own), sequences.astype(np.int64) - own.start)
