"""CFR over the public tree of a two-player game: one pass updates all private hands at once.

The same algorithm as :mod:`agents.cfr.solver`, iteration by iteration, in another order: vectors
over hands instead of one information set after the other, and one small matrix of payoffs, hand
against hand, for all histories that the public sees end in the same way. Equal matrices are kept
once. M. Johanson and others, "Accelerating best response calculation in large extensive games"
(2011), describe such passes.

A player's reach is worked out once an iteration: it serves the other player's gains and the
player's own average.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from agents.cfr.layout import VECTORS, Layout
from agents.cfr.public import NoPublicTreeError, PublicTree
from agents.cfr.sequences import TABLES, Tables
from agents.cfr.solver import CFRSolver, Solver
from agents.cfr.tree import DEFAULT_MAX_NODES, GameTree, Probs
from agents.cfr.variants import SETTINGS_TYPE, Variant, average_weight, discount
from agents.cfr.walk import NONE
from envs.core.compiling import compiled, helper
from envs.core.errors import OptionError, nearest
from envs.core.game import Game
from envs.core.kernels import INT

__all__ = ["FORMS", "VectorCFRSolver", "make_solver"]

FORMS = ("auto", "public", "tree")

_FLOATS = types.float64[::1]
_SCRATCH = types.float64[:, ::1]


@compiled(types.void(VECTORS, INT, _FLOATS, _FLOATS))
def spread_reach(vectors, player, policy, reach):
    """Write a player's reach of all hands and pairs under a policy."""
    reach[vectors.slots[player]] = 1.0
    for k in range(vectors.starts[player], vectors.starts[player + 1]):
        step = vectors.steps[k]
        if step.first_parent != NONE:
            for h in range(step.num_hands):
                parent = vectors.parents[step.first_parent + h]
                reach[step.inner + h] = reach[step.outer + parent]
        before = reach[step.inner : step.inner + step.num_hands]
        for action in range(step.num_actions):
            first = step.first_pair + action * step.num_hands
            own, after = policy[first : first + step.num_hands], reach[first:]
            for h in range(own.size):
                after[h] = before[h] * own[h]


@compiled(types.void(VECTORS, INT, _FLOATS, _FLOATS))
def pay_ends(vectors, player, reach, gains):
    """Write what a player's vectors get at once, from the games that end there."""
    gains[vectors.slots[player] : vectors.slots[player + 1]] = 0.0
    payoffs = vectors.payoffs[player]
    for k in range(vectors.ends.size):
        end = vectors.ends[k]
        num_own, num_other = end.num_hands[player], end.num_hands[1 - player]
        own = gains[end.at[player] : end.at[player] + num_own]
        other = reach[end.at[1 - player] : end.at[1 - player] + num_other]
        for j in range(num_other):
            weight = other[j]
            if weight != 0.0:
                row = payoffs[end.matrix + j * num_own :]
                for h in range(num_own):
                    own[h] += weight * row[h]


@helper
def hand_back(vectors, step, gains):
    """Add the gains of hands to the hands they came from."""
    if step.first_parent != NONE:
        for h in range(step.num_hands):
            gains[step.outer + vectors.parents[step.first_parent + h]] += gains[step.inner + h]


@helper
def update_hands(step, tables, scratch, weight, keep_gain, keep_loss, scale):
    """Average, regrets and next policy of all hands at one decision.

    Each loop runs over slices, whose indices are known not to be negative: only such loops become
    vector instructions.
    """
    num_hands = step.num_hands
    first, end = step.first_pair, step.first_pair + step.num_actions * num_hands
    policy, gains = tables.policy[first:end], tables.gains[first:end]
    regrets, sums, reach = (
        tables.regrets[first:end],
        tables.sums[first:end],
        tables.reach[first:end],
    )
    values, totals = scratch[0, :num_hands], scratch[1, :num_hands]
    for h in range(num_hands):
        values[h] = 0.0
        totals[h] = 0.0
    for i in range(policy.size):
        sums[i] += weight * reach[i]
    for action in range(step.num_actions):
        own = policy[action * num_hands : (action + 1) * num_hands]
        gain = gains[action * num_hands : (action + 1) * num_hands]
        for h in range(num_hands):
            values[h] += own[h] * gain[h]
    for action in range(step.num_actions):
        gain = gains[action * num_hands : (action + 1) * num_hands]
        for h in range(num_hands):
            gain[h] -= values[h]
    for i in range(policy.size):
        regret = regrets[i] + gains[i]
        regret = regret * (keep_gain if regret >= 0.0 else keep_loss) + 0.0
        regrets[i] = regret
        policy[i] = max(regret + scale * gains[i], 0.0)
    for action in range(step.num_actions):
        own = policy[action * num_hands : (action + 1) * num_hands]
        for h in range(num_hands):
            totals[h] += own[h]
    uniform = 1.0 / step.num_actions
    for action in range(step.num_actions):
        own = policy[action * num_hands : (action + 1) * num_hands]
        for h in range(num_hands):
            own[h] = own[h] / totals[h] if totals[h] > 0.0 else uniform
    inner = tables.gains[step.inner : step.inner + num_hands]
    for h in range(num_hands):
        inner[h] += values[h]


@helper
def update_side(vectors, tables, scratch, player, t, settings):
    """All decisions of one player, from the leaves to the root."""
    weight = average_weight(t, settings)
    keep_gain, keep_loss = discount(t, settings.alpha), discount(t, settings.beta)
    scale = 1.0 if settings.is_predictive else 0.0
    for k in range(vectors.starts[player + 1] - 1, vectors.starts[player] - 1, -1):
        step = vectors.steps[k]
        if step.num_actions:
            update_hands(step, tables, scratch, weight, keep_gain, keep_loss, scale)
        hand_back(vectors, step, tables.gains)


@compiled(types.void(VECTORS, TABLES, _SCRATCH, SETTINGS_TYPE, INT, INT))
def run_vector_cfr(vectors, tables, scratch, record, done, num_iterations):
    """Run so many iterations after ``done`` earlier ones; ``reach`` must fit the policy."""
    settings = record[0]
    for t in range(done + 1, done + num_iterations + 1):
        for player in range(2):
            pay_ends(vectors, player, tables.reach, tables.gains)
            if settings.is_alternating:
                update_side(vectors, tables, scratch, player, t, settings)
                spread_reach(vectors, player, tables.policy, tables.reach)
        if not settings.is_alternating:
            for player in range(2):
                update_side(vectors, tables, scratch, player, t, settings)
                spread_reach(vectors, player, tables.policy, tables.reach)


@compiled(types.float64(VECTORS, INT, _FLOATS, _FLOATS))
def best_value(vectors, player, reach, gains):
    """What a best response of the player gets against the other's reach."""
    pay_ends(vectors, player, reach, gains)
    for k in range(vectors.starts[player + 1] - 1, vectors.starts[player] - 1, -1):
        step = vectors.steps[k]
        if step.num_actions:
            for h in range(step.num_hands):
                best = gains[step.first_pair + h]
                for action in range(1, step.num_actions):
                    best = max(best, gains[step.first_pair + action * step.num_hands + h])
                gains[step.inner + h] += best
        hand_back(vectors, step, gains)
    return gains[vectors.slots[player]]


@compiled(types.void(VECTORS, INT, _FLOATS, _FLOATS))
def normalize(vectors, player, sums, policy):
    """Weights of pairs as probabilities, uniform where all are 0."""
    for k in range(vectors.starts[player], vectors.starts[player + 1]):
        step = vectors.steps[k]
        for h in range(step.num_hands):
            total = 0.0
            for action in range(step.num_actions):
                total += sums[step.first_pair + action * step.num_hands + h]
            for action in range(step.num_actions):
                at = step.first_pair + action * step.num_hands + h
                policy[at] = sums[at] / total if total > 0.0 else 1.0 / step.num_actions


class VectorCFRSolver(Solver):
    """CFR over the public tree; the fast way for two players.

    >>> from envs import make_game
    >>> solver = VectorCFRSolver.of(make_game("leduc_v0"), "discounted")
    >>> solver.run(400)
    >>> solver.exploitability() < 1e-3
    True
    """

    def __init__(self, tree: GameTree, variant: str | Variant = "cfr+", **changes: Any) -> None:
        """Find the public tree of a tree that was made with ``has_keys``."""
        super().__init__(tree, variant, **changes)
        self.layout = Layout(PublicTree(tree))
        self._slots = np.flatnonzero(self.layout.order != NONE)
        self._pairs = self.layout.order[self._slots]
        size = len(self.layout.order)
        self._tables = Tables(*(np.zeros(size) for _ in Tables._fields))
        self._scratch = np.zeros((2, self.layout.most_hands))
        self._set("policy", tree.uniform())
        self._refresh()

    @classmethod
    def of(
        cls,
        game: Game,
        variant: str | Variant = "cfr+",
        max_nodes: int = DEFAULT_MAX_NODES,
        **changes: Any,
    ) -> VectorCFRSolver:
        """Write down the tree of a game and solve that."""
        return cls(GameTree(game, max_nodes, has_keys=True), variant, **changes)

    def _run(self, num_iterations: int) -> None:
        run_vector_cfr(
            self.layout.vectors,
            self._tables,
            self._scratch,
            self._settings,
            self.iteration,
            num_iterations,
        )

    def _get(self, name: str) -> Probs:
        values = np.empty(self.tree.num_pairs)
        values[self._pairs] = getattr(self._tables, name)[self._slots]
        return values

    def _set(self, name: str, values: Probs) -> None:
        getattr(self._tables, name)[self._slots] = values[self._pairs]

    def _refresh(self) -> None:
        for player in (0, 1):
            spread_reach(self.layout.vectors, player, self._tables.policy, self._tables.reach)

    def exploitability(self) -> float:
        """As for every solver, by the vector passes."""
        vectors = self.layout.vectors
        policy, reach, gains = np.zeros((3, len(self.layout.order)))
        for player in (0, 1):
            normalize(vectors, player, self._tables.sums, policy)
            spread_reach(vectors, player, policy, reach)
        best = sum(best_value(vectors, player, reach, gains) for player in (0, 1))
        return float(best - self._total()) / 2

    def _total(self) -> float:
        """What both players get together, which in a general-sum game depends on the policy."""
        total = self.tree.game.facts.return_sum
        if total is not None:
            return total
        from agents.cfr.response import expected_values

        return float(expected_values(self.tree, self.average_policy()).sum())


def make_solver(
    game: Game,
    variant: str | Variant = "cfr+",
    form: str = "auto",
    max_nodes: int = DEFAULT_MAX_NODES,
    **changes: Any,
) -> Solver:
    """A solver of a game: over its public tree, over its sequence form, or what fits.

    >>> from envs import make_game
    >>> type(make_solver(make_game("kuhn_v0"))).__name__
    'VectorCFRSolver'
    >>> type(make_solver(make_game("kuhn_v0", num_players=3))).__name__
    'CFRSolver'
    """
    if form not in FORMS:
        raise OptionError(f"unknown form '{form}': {nearest(form, FORMS)}")
    can_be_public = form == "public" or (form == "auto" and game.facts.num_players == 2)
    tree = GameTree(game, max_nodes, has_keys=can_be_public)
    if can_be_public:
        try:
            return VectorCFRSolver(tree, variant, **changes)
        except NoPublicTreeError:
            if form == "public":
                raise
    return CFRSolver(tree, variant, **changes)
