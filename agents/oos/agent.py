"""The player of online outcome sampling."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from agents.base import Probs, Views
from agents.cfr.solver import make_solver
from agents.cfr.tree import GameTree, TooLargeError
from agents.cfr.variants import make_variant
from agents.ismcts.agent import SearchingAgent
from agents.ismcts.searcher import Budget, Root, SearchAnalysis, State, TreeSearcher, spend
from agents.ismcts.settings import TreeSettings
from agents.ismcts.tree import Pool, make_work
from agents.oos.outcome_sampling import NUM_COLUMNS, Lead, run_outcome_sampling
from common.errors import OptionError
from envs.core.game import Game


class OOSAgent(SearchingAgent):
    """Learns regrets from the start of the game, led to where it is, and plays their average."""

    wants_tokens = True

    def __init__(
        self,
        game: Game,
        iterations: int | None = None,
        time_per_move: float | None = None,
        delta: float = 0.9,
        rollout: str = "auto",
        max_nodes: int = 1 << 16,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare to search ``game``.

        Args:
            game: any game; there is a guarantee for two players and zero sum.
            iterations: simulations a move; 1000 if there is no ``time_per_move``.
            time_per_move: seconds a move.
            delta: how many simulations are led to the present decision.
            rollout: what is played beyond the table: ``random``, ``rule`` or ``auto``.
            max_nodes: memory, in infosets.
            clock: what time it is.
        """
        super().__init__(game, iterations, time_per_move, clock=clock)
        if not 0 <= delta < 1:
            raise OptionError(f"delta must be at least 0 and less than 1, not {delta}")
        self.delta = delta
        self._settings = TreeSettings(
            final="mixture",
            selection="regret",
            rollout=rollout,
            horizon="end",
            preference="return",
            max_nodes=max_nodes,
        )
        self._table: Pool | None = None

    @cached_property
    def _searcher(self) -> TreeSearcher:
        return TreeSearcher(self.game, self._settings, self._clock)

    def learnt(self, key: np.uint64, seat: int) -> dict[int, float]:
        """What the last search has learnt to play at any decision, by action; nothing if unknown.

        A search that is led (``delta``) knows most of where it was led to.
        """
        if self._table is None:
            return {}
        edges = self._searcher.edges(self._table, key, seat)
        total = sum(float(edge["policy"]) for edge in edges)
        return {int(edge["action"]): float(edge["policy"]) / total for edge in edges if total > 0.0}

    def _search(self, views: Views, worlds: State, budget: Budget, row: int) -> SearchAnalysis:
        """The table begins empty: what a row is answered may not depend on the rows before it."""
        root = Root(worlds[row], int(views.seats[row]), views.keys[row], views.masks[row])
        target, rng = np.array(views.tokens(row), np.int64), views.rngs[row]
        searcher, start = self._searcher, self._clock()
        (pool,) = trees = searcher.begin(root)
        self._table = pool
        game, facts = self.game, self.game.facts
        openings = range(facts.num_openings)
        roots = np.stack([game.new_position(opening).state for opening in openings])
        if not self.delta:
            target = target[:0]  # nothing is led: there is nothing to compare either
        room = np.zeros((NUM_COLUMNS, facts.max_length + 2)), np.zeros(facts.num_chance_outcomes)
        is_fixed = facts.num_players == 2 and facts.return_sum is not None
        pays = float(facts.return_sum or 0.0) if is_fixed else math.nan

        tables = game.kernels, game.optional, game.rules, roots, rng, pool, make_work(game)
        known = searcher.options, Lead(target, *room), self.delta, pays
        spend(budget, start, self._clock, partial(run_outcome_sampling, *tables, *known))
        for edge in searcher.edges(pool, root.key, root.seat):
            pool.root_visits[edge["action"]] = edge["visits"]
        found = searcher.analysis(root, trees, root.world[None], 0, self._clock() - start)
        return replace(found, values=np.full(len(found.actions), np.nan))


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
        make_variant(variant)  # refuses one that is unknown
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

    def _search_of(self, views: Views, budget: Budget) -> Callable[[int], SearchAnalysis]:
        """Look up what was solved, or let outcome sampling search."""
        if self.solved is None:
            return super()._search_of(views, budget)
        return partial(self._look_up, views, self.solved)

    def _look_up(self, views: Views, solved: Solved, row: int) -> SearchAnalysis:
        actions, probs = np.flatnonzero(views.masks[row]), solved.at(views.keys[row])
        return SearchAnalysis(
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
