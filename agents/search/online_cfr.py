"""A player that solves the game while it plays, where the game is small enough to be written down.

A search at the table needs no sampling when the whole tree fits its memory: the time of a move goes
into CFR passes over all of it, from the start of the game. What comes out is a policy for every
decision, so the same passes serve all of them, and it is near an equilibrium whatever the position:
ISMCTS is not, however long it searches, and online outcome sampling comes there slowly. Games that
do not fit are left to online outcome sampling.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from agents.base import Probs, Views
from agents.cfr.solver import make_solver
from agents.cfr.tree import GameTree, TooLargeError
from agents.cfr.variants import VARIANTS
from agents.search.ismcts.analysis import Analysis
from agents.search.ismcts.budget import Budget, spend
from agents.search.ismcts.oos_agent import OOSAgent
from common.errors import OptionError, nearest
from envs.core.game import Game

__all__ = ["OnlineCFRAgent"]

NODES_PER_SECOND = 500_000
"""A tree with more nodes for each second of a move takes too much of it to write down."""


@dataclass(frozen=True)
class Solved:
    """What CFR has found, by information set in the order of their keys."""

    tree: GameTree
    keys: npt.NDArray[np.uint64]
    order: npt.NDArray[np.int64]
    probs: npt.NDArray[np.float64]
    iterations: int
    seconds: float

    def at(self, key: np.uint64) -> npt.NDArray[np.float64]:
        """The probabilities of the legal actions of a decision, in rising order."""
        infoset = self.tree.infosets[self.order[np.searchsorted(self.keys, key)]]
        first = int(infoset["first_sequence"])
        return self.probs[first : first + int(infoset["num_actions"])]


class OnlineCFRAgent(OOSAgent):
    """Solves the game from its start, in the time of a move, and plays what came out.

    >>> from agents import make_agent
    >>> from agents.cfr import GameTree, exploitability, tabulate
    >>> from envs import make_game
    >>> tree = GameTree(make_game("leduc_v0"))
    >>> answer = tabulate(make_agent("online_cfr", tree.game, iterations=200), tree)
    >>> exploitability(tree, answer.probs) < 0.01
    True
    """

    def __init__(
        self,
        game: Game,
        iterations: int | None = None,
        time_per_move: float | None = None,
        variant: str = "discounted",
        max_tree_nodes: int = 2_000_000,
        max_nodes: int = 1 << 16,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare to solve ``game``.

        Args:
            game: any game; there is a guarantee for two players and zero sum.
            iterations: passes over the tree, or simulations where it does not fit; 1000 if there is
                no ``time_per_move``.
            time_per_move: seconds of the first move; what it has solved serves the others.
            variant: of CFR.
            max_tree_nodes: the largest tree that is written down.
            max_nodes: memory of outcome sampling elsewhere, in infosets.
            clock: what time it is.
        """
        super().__init__(game, iterations, time_per_move, max_nodes=max_nodes, clock=clock)
        if max_tree_nodes < 0:
            raise OptionError(f"max_tree_nodes must be at least 0, not {max_tree_nodes}")
        if variant not in VARIANTS:
            raise OptionError(f"unknown variant '{variant}': {nearest(variant, VARIANTS)}")
        self.variant = variant
        self.max_tree_nodes = max_tree_nodes

    @cached_property
    def solved(self) -> Solved | None:
        """The game's solution; ``None`` if it does not fit, or if there is no time at all."""
        start, budget, most = self._clock(), self.budget, self.max_tree_nodes
        if budget.seconds is not None:
            most = min(most, int(budget.seconds * NODES_PER_SECOND))
        if 0 in (budget.seconds, budget.iterations) or self.game.facts.num_openings > 1:
            return None
        try:
            solver = make_solver(self.game, self.variant, max_nodes=most)
        except TooLargeError:
            return None
        spend(budget, start, self._clock, solver.run)
        probs, keys = solver.average_policy(), solver.tree.infosets["key"]
        order, seconds = np.argsort(keys), self._clock() - start
        return Solved(solver.tree, keys[order], order, probs, solver.iteration, seconds)

    def policy(self, views: Views) -> Probs | None:
        """What was solved, row by row; ``None`` if the game does not fit."""
        if self.solved is None:
            return None
        told = np.zeros(views.masks.shape)
        for row, key in enumerate(views.keys):
            told[row, views.masks[row] > 0] = self.solved.at(key)
        return told

    def analyse(self, views: Views, budget: Budget | None = None) -> list[Analysis]:
        """What was solved, or what outcome sampling finds."""
        solved = self.solved
        if solved is None:
            return super().analyse(views, budget)
        found = []
        for row, key in enumerate(views.keys):
            actions, probs = np.flatnonzero(views.masks[row]), solved.at(key)
            found.append(
                Analysis(
                    seat=int(views.seats[row]),
                    actions=actions,
                    visits=np.zeros(len(actions), np.int64),
                    shares=probs,
                    values=np.full(len(actions), np.nan),
                    policy=probs,
                    variation=(int(actions[np.argmax(probs)]),),
                    simulations=solved.iterations,
                    nodes=len(solved.tree.nodes),
                    depth=self.game.facts.max_length,
                    seconds=solved.seconds,
                )
            )
        return found
