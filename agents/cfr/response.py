"""How good a policy is, exactly: expected values, best responses, NashConv and exploitability.

All of it is for policies on a tree, ``[num_sequences] float64``; see ``tabulate`` for any agent's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.cfr.tree import GameTree, Probs
from agents.cfr.tree_walk import NODE
from agents.cfr.vectors import Floats, Layout, best_value, spread_reach
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
    reach = reach_of(tree.layout, tree.check_policy(probs))[tree.layout.slots]
    # Who never moved has come to the empty sequence for sure.
    weights = np.append(reach, 1.0)[tree.payoffs.sequences].prod(axis=1)
    values: npt.NDArray[np.float64] = weights @ tree.payoffs.values
    return values


def best_response(tree: GameTree, probs: Probs, player: int) -> BestResponse:
    """A best response of one player when the others follow the policy; the first of equal actions.

    >>> from envs import make_game
    >>> tree = GameTree(make_game("kuhn_v0"))
    >>> best_response(tree, tree.uniform(), player=0).value
    0.5
    """
    probs = tree.check_policy(probs).copy()
    cf_values = np.zeros(tree.layout.num_slots)
    value = best_value(tree.layout.vectors, player, reach_of(tree.layout, probs), cf_values)
    own, values = tree.sequences_of(player), cf_values[tree.layout.slots]
    best = np.maximum.reduceat(values, tree.infosets["first_sequence"])
    chosen = np.flatnonzero(values == best[tree.sequence_infosets])
    _, firsts = np.unique(tree.sequence_infosets[chosen], return_index=True)
    response = np.zeros_like(probs)
    response[chosen[firsts]] = 1.0
    probs[own.start : own.stop] = response[own.start : own.stop]
    return BestResponse(float(value), probs)


def best_values(layout: Layout, probs: Probs) -> tuple[float, ...]:
    """What a best response of each player gets when the others follow the policy."""
    reach, cf_values = reach_of(layout, probs), np.zeros(layout.num_slots)
    players = range(len(layout.vectors.tops) - 1)
    return tuple(float(best_value(layout.vectors, p, reach, cf_values)) for p in players)


def nash_conv(tree: GameTree, probs: Probs) -> float:
    """How much the players could gain, each by a best response alone, added up.

    It is 0 exactly when the policy is a Nash equilibrium, for any number of players.
    """
    best = best_values(tree.layout, tree.check_policy(probs))
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


def reach_of(layout: Layout, probs: Probs) -> Floats:
    """The probability that the players' own choices lead to every hand and sequence: [num_slots].

    >>> from envs import make_game
    >>> tree = GameTree(make_game("kuhn_v0"))
    >>> float(reach_of(tree.layout, tree.uniform()).min())
    0.25
    """
    policy, reach = np.zeros((2, layout.num_slots))
    policy[layout.slots] = probs
    for player in range(len(layout.vectors.tops) - 1):
        spread_reach(layout.vectors, player, policy, reach)
    return reach
