"""Search led by a trained player: its policy as prior, what it expects as the value of a leaf.

Leaves are collected in batches, so that a network sees many at once; actions that wait for their
value count as tried meanwhile. Decisions of others are shown to the guide as their players would
see them in the world at hand. Where the guide has no values, or the game is not one of two players
and a fixed sum, a rollout takes their place.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Agent, Views
from agents.ismcts.searcher import State, TreeSearcher
from agents.ismcts.settings import TreeSettings
from agents.ismcts.simulations import collect, spread
from agents.ismcts.tree import NONE, Leaves, Pool, make_leaves
from agents.max_n.preference import BY_RETURN
from agents.spec import AgentSpec
from common.errors import OptionError
from envs.core.game import Game
from envs.core.rng import Words

BATCH = 16
UNIFORM_SHARE = 0.25
"""Of a prior: no action is ruled out, not even by a player that always plays one."""


def make_guide(game: Game, spec: Any) -> Agent:
    """The agent of a specification such as ``dqn:runs/leduc_v0/dqn-seed0``."""
    guide = AgentSpec.parse(spec).build(game)
    if guide.num_past or guide.wants_tokens:
        raise OptionError(f"'{spec}' cannot guide a search: it wants more than the present view")
    if type(guide).policy is Agent.policy:
        raise OptionError(f"'{spec}' cannot guide a search: it does not tell its policy")
    return guide


class GuidedSearcher(TreeSearcher):
    """Searches with the help of a trained player."""

    def __init__(
        self,
        game: Game,
        settings: TreeSettings,
        guide: Agent,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Allocate all memory; ``guide`` is any agent that tells its policy."""
        super().__init__(game, settings, clock, is_guided=True)
        self.guide = guide
        facts = game.facts
        is_zero_sum = facts.num_players == 2 and facts.return_sum is not None
        by_return = int(self.options["preference"][0]) == BY_RETURN
        tells_values = hasattr(guide, "state_values") or hasattr(guide, "values")
        self.has_values = is_zero_sum and by_return and tells_values
        """Whether leaves are valued by the guide; else by rollouts."""
        self._leaves = [make_leaves(game, BATCH) for _ in self._works]

    def _simulate(self, thread: int, pool: Pool, worlds: State, rng: Words, count: int) -> None:
        game, leaves = self.game, self._leaves[thread]
        tables = game.kernels, game.optional, game.rules
        own = self._works[thread], self._options[thread]
        while count > 0:
            size = min(count, BATCH)
            collect(*tables, worlds, rng, pool, *own, leaves, size, not self.has_values)
            priors = self._ask(leaves, size)
            spread(pool, *own, leaves, priors, size)
            count -= size

    def _ask(self, leaves: Leaves, size: int) -> npt.NDArray[np.float64]:
        """Let the guide look at all new nodes; their values go into the results of the leaves."""
        facts = self.game.facts
        priors = np.zeros((size, facts.num_actions))
        rows = np.flatnonzero(leaves.ways["slot"][:size] != NONE)
        if not len(rows):
            return priors
        views = Views(
            self.game,
            leaves.ways["turn"][rows],
            leaves.ways["key"][rows],
            np.ones((len(rows), 4), np.uint64),
            leaves.states[rows],
            np.zeros(len(rows), np.uint64),
        )
        told = self.guide.policy(views)
        if told is None:
            raise OptionError("the guide of a search must tell its policy: name another")
        even = views.masks / views.masks.sum(axis=1, keepdims=True)
        priors[rows] = (1.0 - UNIFORM_SHARE) * told + UNIFORM_SHARE * even
        if self.has_values:
            seats = [facts.seats[seat] for seat in views.seats.tolist()]
            values = _values_of(self.guide, views)
            values = np.clip(values, [seat.low for seat in seats], [seat.high for seat in seats])
            leaves.totals[rows] = float(facts.return_sum or 0.0) - values[:, None]
            leaves.totals[rows, views.seats] = values
        return priors


def _values_of(guide: Any, views: Views) -> npt.NDArray[np.float64]:
    """What the guide expects for the players to move."""
    if hasattr(guide, "state_values"):
        return np.asarray(guide.state_values(views), np.float64)
    rated = np.where(views.masks == 1, guide.values(views), -np.inf)
    return np.asarray(rated.max(axis=1), np.float64)
