"""CFR over the public tree of a two-player game: one pass updates all private hands at once.

The same algorithm as :mod:`agents.cfr.solver`, iteration by iteration, in another order: vectors
over hands instead of one information set after the other, and one small matrix of payoffs, hand
against hand, for all histories that the public sees end in the same way. Equal matrices are kept
once. M. Johanson and others, "Accelerating best response calculation in large extensive games"
(2011), describe such passes.

A player's reach is worked out once an iteration: it serves the other player's counterfactual values
and the player's own average.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.cfr.forms.layout import Layout
from agents.cfr.forms.public import NoPublicTreeError, PublicTree
from agents.cfr.forms.tree import DEFAULT_MAX_NODES, GameTree, Probs
from agents.cfr.passes.sequences import CFRArrays
from agents.cfr.passes.thread_team import ThreadTeam
from agents.cfr.passes.vectors import best_value, normalize, run_vector_cfr, spread_reach
from agents.cfr.solver import CFRSolver, Solver
from agents.cfr.variants import Variant
from common.errors import OptionError, nearest
from envs.core.game import Game

__all__ = ["FORMS", "VectorCFRSolver", "make_solver"]

FORMS = ("auto", "public", "tree")


class VectorCFRSolver(Solver):
    """CFR over the public tree; the fast way for two players.

    The tree must have been made with ``has_keys``.

    >>> from envs import make_game
    >>> solver = VectorCFRSolver.of(make_game("leduc_v0"), "discounted")
    >>> solver.run(400)
    >>> solver.exploitability() < 1e-3
    True
    """

    def _make_tables(self) -> CFRArrays:
        self.layout = Layout(PublicTree(self.tree))
        size = len(self.layout.order)
        self._scratch = np.zeros((3, size))
        return CFRArrays(*(np.zeros(size) for _ in CFRArrays._fields))

    @classmethod
    def of(
        cls,
        game: Game,
        variant: str | Variant = "cfr+",
        max_nodes: int = DEFAULT_MAX_NODES,
        num_threads: int = 1,
        **changes: Any,
    ) -> VectorCFRSolver:
        """Write down the tree of a game and solve that."""
        return cls(GameTree(game, max_nodes, has_keys=True), variant, num_threads, **changes)

    @property
    def num_parts(self) -> int:
        """Parts of the game that threads can share."""
        return self.layout.num_parts

    def _work(self, team: ThreadTeam, num_iterations: int, worker: int) -> None:
        vectors, arrays, settings = self.layout.vectors, self._arrays, self._settings
        run_vector_cfr(vectors, arrays, settings, team, worker, self.iteration, num_iterations)

    def _get(self, name: str) -> Probs:
        values = np.empty(self.tree.num_sequences)
        values[self.layout.sequences] = getattr(self._arrays, name)[self.layout.slots]
        return values

    def _set(self, name: str, values: Probs) -> None:
        getattr(self._arrays, name)[self.layout.slots] = values[self.layout.sequences]

    def _refresh(self) -> None:
        for player in (0, 1):
            spread_reach(self.layout.vectors, player, self._arrays.policy, self._arrays.reach)

    def exploitability(self) -> float:
        """As for every solver, by the vector passes."""
        vectors = self.layout.vectors
        policy, reach, cf_values = self._scratch
        normalize(vectors, self._arrays.cumulative_policy, policy)
        for player in (0, 1):
            spread_reach(vectors, player, policy, reach)
        best = sum(best_value(vectors, player, reach, cf_values) for player in (0, 1))
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
    num_threads: int = 1,
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
            return VectorCFRSolver(tree, variant, num_threads, **changes)
        except NoPublicTreeError:
            if form == "public":
                raise
    return CFRSolver(tree, variant, num_threads, **changes)
