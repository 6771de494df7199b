"""The player of online outcome sampling."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from agents.base import Actions, Agent, Views
from agents.search.ismcts.agent import draw
from agents.search.ismcts.analysis import Analysis
from agents.search.ismcts.budget import Budget, spend
from agents.search.ismcts.memory import Pool, make_work
from agents.search.ismcts.outcome_sampling import NUM_COLUMNS, run_outcome_sampling
from agents.search.ismcts.searcher import Root, TreeSearcher
from agents.search.ismcts.settings import TreeSettings
from common.errors import OptionError
from envs.core.game import Game
from envs.core.rng import Words

__all__ = ["OOSAgent"]


class OOSAgent(Agent):
    """Learns regrets from the start of the game, led to where it is, and plays their average."""

    thinks_long = True
    keeps_time = True
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
        super().__init__(game)
        if iterations is None and time_per_move is None:
            iterations = 1000
        if (iterations or 0) < 0 or (time_per_move or 0) < 0:
            raise OptionError("iterations and time_per_move must be at least 0")
        if not 0 <= delta < 1:
            raise OptionError(f"delta must be at least 0 and less than 1, not {delta}")
        self.budget = Budget(iterations, time_per_move)
        self.time_per_move = time_per_move
        self.is_reproducible = time_per_move is None
        self.delta = delta
        self._settings = TreeSettings(
            final="mixture",
            selection="regret",
            rollout=rollout,
            horizon="end",
            preference="return",
            max_nodes=max_nodes,
        )
        self._clock = clock
        self._table: Pool | None = None
        self.last: list[Analysis] = []
        """What the last call of ``act`` has found, row by row."""

    @cached_property
    def _searcher(self) -> TreeSearcher:
        return TreeSearcher(self.game, self._settings, self._clock)

    def act(self, views: Views) -> Actions:
        """Search every row by itself and draw from the average policy."""
        self.last = self.analyse(views)
        if self.log is not None:
            self.log += map(str, self.last)
        drawn = [draw(found, views.rngs[row]) for row, found in enumerate(self.last)]
        return np.array(drawn, np.int64)

    def analyse(self, views: Views, budget: Budget | None = None) -> list[Analysis]:
        """Search every row without choosing."""
        worlds = views.worlds()
        return [
            self._search(
                Root(worlds[row], int(views.seats[row]), views.keys[row], views.masks[row]),
                np.array(views.tokens(row), np.int64),
                views.rngs[row],
                budget or self.budget,
            )
            for row in range(len(views))
        ]

    def learnt(self, key: np.uint64, seat: int) -> dict[int, float]:
        """What the last search has learnt to play at any decision, by action; nothing if unknown.

        A search that is led (``delta``) knows most of where it was led to.
        """
        if self._table is None:
            return {}
        edges = self._searcher.edges(self._table, key, seat)
        total = sum(float(edge["policy"]) for edge in edges)
        return {int(edge["action"]): float(edge["policy"]) / total for edge in edges if total > 0.0}

    def _search(self, root: Root, target: Actions, rng: Words, budget: Budget) -> Analysis:
        """The table begins empty: what a row is answered may not depend on the rows before it."""
        searcher, start = self._searcher, self._clock()
        (pool,) = trees = searcher.begin(root)
        self._table = pool
        game, facts = self.game, self.game.facts
        openings = range(facts.num_openings)
        roots = np.stack([game.new_position(opening).state for opening in openings])
        reaches = np.zeros((NUM_COLUMNS, facts.max_length + 2))
        probs = np.zeros(facts.num_chance_outcomes)
        work = make_work(game)
        if not self.delta:
            target = target[:0]  # nothing is led: there is nothing to compare either
        is_fixed = facts.num_players == 2 and facts.return_sum is not None
        pays = float(facts.return_sum or 0.0) if is_fixed else math.nan

        def run(count: int) -> None:
            run_outcome_sampling(
                game.kernels,
                game.optional,
                game.rules,
                roots,
                rng,
                pool,
                work,
                searcher.options,
                target,
                reaches,
                probs,
                self.delta,
                pays,
                count,
            )

        spend(budget, start, self._clock, run)
        self._count_root(pool, root)
        found = searcher.analysis(root, trees, root.world[None], 0, self._clock() - start)
        return replace(found, values=np.full(len(found.actions), np.nan))

    def _count_root(self, pool: Pool, root: Root) -> None:
        """Let the visits of the present decision be those of its root."""
        for edge in self._searcher.edges(pool, root.key, root.seat):
            pool.root_visits[edge["action"]] = edge["visits"]
