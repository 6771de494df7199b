"""How good a policy is, exactly: expected values, best responses, NashConv and exploitability.

All of it is for policies on a tree, ``[num_sequences] float64``; see ``tabulate`` for any agent's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.cfr.sequence_form import fill_reach, follow_best
from agents.cfr.tree import GameTree, Probs
from agents.cfr.tree_walk import NODE
from envs.core.compiling import compiled


@compiled(
    types.void(from_dtype(NODE)[::1], types.float64[::1], types.float64[:, ::1], types.float64[::1])
)
def add_others_reach(nodes, probs, reach, out):
    """Fill each player's reach of every node, chance's last, and add up that of the others."""
    chance = reach.shape[1] - 1
    for v in range(nodes.size):
        node = nodes[v]
        if v > 0:
            for column in range(chance + 1):
                reach[v, column] = reach[node.parent, column]
            if node.sequence < 0:
                reach[v, chance] *= node.prob
            else:
                reach[v, nodes[node.parent].player] *= probs[node.sequence]
        if node.player >= 0:
            product = 1.0
            for column in range(chance + 1):
                if column != node.player:
                    product *= reach[v, column]
            out[node.index] += product


@dataclass(frozen=True)
class BestResponse:
    """The best one player can do against fixed policies of the others."""

    value: float
    probs: Probs
    """The others' policy, with the player's part replaced by a best response."""


def expected_values(tree: GameTree, probs: Probs) -> npt.NDArray[np.float64]:
    """What each player gets on average when all follow the policy: [players] float64."""
    reach = _reach(tree, tree.check_policy(probs))
    weights = reach[tree.payoffs.sequences].prod(axis=1)
    values: npt.NDArray[np.float64] = weights @ tree.payoffs.values
    return values


def best_response(tree: GameTree, probs: Probs, player: int) -> BestResponse:
    """A best response of one player when the others follow the policy.

    >>> from envs import make_game
    >>> tree = GameTree(make_game("kuhn_v0"))
    >>> best_response(tree, tree.uniform(), player=0).value
    0.5
    """
    probs = tree.check_policy(probs).copy()
    cf_values, values = np.zeros(tree.num_sequences + 1), np.zeros(tree.num_infosets)
    value = follow_best(tree.form, player, _reach(tree, probs), cf_values, values, probs)
    return BestResponse(float(value), probs)


def nash_conv(tree: GameTree, probs: Probs) -> float:
    """How much the players could gain, each by a best response alone, added up.

    It is 0 exactly when the policy is a Nash equilibrium, for any number of players.
    """
    best = [best_response(tree, probs, player).value for player in range(tree.num_players)]
    return float(np.sum(best) - expected_values(tree, probs).sum())


def exploitability(tree: GameTree, probs: Probs) -> float:
    """NashConv divided by the number of players.

    >>> from envs import make_game
    >>> tree = GameTree(make_game("kuhn_v0"))
    >>> round(exploitability(tree, tree.uniform()), 6)
    0.458333
    """
    return nash_conv(tree, probs) / tree.num_players


def counterfactual_reach(tree: GameTree, probs: Probs) -> npt.NDArray[np.float64]:
    """The probability that chance and the others allow for each information set.

    It is summed over the histories of the set: [num_infosets] float64.
    """
    reach = np.ones((len(tree.nodes), tree.num_players + 1))
    out = np.zeros(tree.num_infosets)
    add_others_reach(tree.nodes, tree.check_policy(probs), reach, out)
    return out


def _reach(tree: GameTree, probs: Probs) -> npt.NDArray[np.float64]:
    reach = np.empty(tree.num_sequences + 1)
    for player in range(tree.num_players):
        fill_reach(tree.form, player, probs, reach)
    return reach
