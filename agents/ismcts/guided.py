"""Search led by a trained player: its policy as prior, what it expects as the value of a leaf.

Leaves are collected in batches, so that a network sees many at once; actions that wait for their
value count as tried meanwhile. Decisions of others are shown to the guide as their players would
see them in the world at hand. Where the guide has no values, or the game is not one of two players
and a fixed sum, a rollout takes their place.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.base import Agent, Views
from agents.ismcts.searcher import State, TreeSearcher
from agents.ismcts.settings import OPTIONS, PERFECT, TreeSettings
from agents.ismcts.simulations import (
    ALL_PARTS,
    add_reward,
    begin,
    look_up,
    open_node,
    play,
    play_chance,
    play_out,
    select,
    set_rewards,
)
from agents.ismcts.tree import DEEPEST, NONE, POOL, STEPS, WORK, Pool, add_node, copy_bytes
from agents.max_n.preference import BY_RETURN
from agents.spec import AgentSpec
from common.errors import OptionError
from envs.core.compiling import compiled, inlined
from envs.core.game import Game
from envs.core.kernels import INT, KERNELS, OPTIONAL_KERNELS, OVER, RNG, RULES
from envs.core.rng import Words

__all__ = ["GuidedSearcher"]

BATCH = 16
UNIFORM_SHARE = 0.25
"""Of a prior: no action is ruled out, not even by a player that always plays one."""

_OPTIONS = from_dtype(OPTIONS)[::1]
_NODE, _EDGE, _TURN = range(3)


class Leaves(NamedTuple):
    """Where the simulations of a batch have come to."""

    states: npt.NDArray[np.uint8]
    """[batch, state_size]"""
    paths: npt.NDArray[np.int32]
    """[batch, 3, depth] node, edge and player of every decision on the way."""
    depths: npt.NDArray[np.int64]
    slots: npt.NDArray[np.int64]
    """[batch] the new node, or NONE when the game was over or memory used up."""
    turns: npt.NDArray[np.int64]
    keys: npt.NDArray[np.uint64]
    """[batch] of the searcher's own infosets; 0 where others move, whose are not known."""
    totals: npt.NDArray[np.float64]
    """[batch, players] results of those that need no guide."""


LEAVES = types.NamedTuple(
    (
        types.uint8[:, ::1],
        types.int32[:, :, ::1],
        types.int64[::1],
        types.int64[::1],
        types.int64[::1],
        types.uint64[::1],
        types.float64[:, ::1],
    ),
    Leaves,
)


def make_leaves(game: Game, size: int) -> Leaves:
    """Room for a batch."""
    depth = game.facts.max_length + 2
    return Leaves(
        states=np.zeros((size, game.state_size), np.uint8),
        paths=np.zeros((size, 3, depth), np.int32),
        depths=np.zeros(size, np.int64),
        slots=np.zeros(size, np.int64),
        turns=np.zeros(size, np.int64),
        keys=np.zeros(size, np.uint64),
        totals=np.zeros((size, game.facts.num_players)),
    )


@inlined
def descend(kernels, optional, rules, pool, work, o, leaves, i, simulation, rng):
    """Walk down the tree to a new node, note the way, and mark it as tried; who is to move."""
    turn, depth = np.int64(o.seat), 0
    leaves.slots[i] = NONE
    while turn != OVER:
        key, slot, is_new = look_up(pool, work, o, turn)
        if is_new and not add_node(pool, slot, key):
            break
        open_node(kernels, optional, rules, pool, work, o, slot, turn, is_new, simulation, rng)
        if is_new:
            leaves.slots[i] = slot
            is_known = turn == o.seat and o.observers != PERFECT
            leaves.keys[i] = work.keys[turn] if is_known else np.uint64(0)
            break
        chosen, _ = select(pool, work, slot, turn, o, simulation, rng)
        if chosen == NONE:
            break
        leaves.paths[i, _NODE, depth] = slot
        leaves.paths[i, _EDGE, depth] = chosen
        leaves.paths[i, _TURN, depth] = turn
        pool.edges[chosen].pending += 1
        depth += 1
        play(kernels, rules, work, o, pool.edges[chosen].action, ALL_PARTS)
        turn = play_chance(kernels, rules, work, o, ALL_PARTS, rng)
    leaves.depths[i] = depth
    return turn


@compiled(
    types.void(
        *(KERNELS, OPTIONAL_KERNELS, RULES, types.uint8[:, ::1], RNG, POOL, WORK, _OPTIONS),
        *(LEAVES, INT, types.boolean),
    )
)
def collect(
    kernels, optional, rules, worlds, rng, pool, work, options, leaves, count, has_rollouts
):
    """Walk to ``count`` leaves; those that need no guide, or all with rollouts, get results."""
    o = options[0]
    for i in range(count):
        simulation = begin(kernels, rules, worlds, rng, pool, work, o, ALL_PARTS)
        turn = descend(kernels, optional, rules, pool, work, o, leaves, i, simulation, rng)
        copy_bytes(work.state, leaves.states[i])
        leaves.turns[i] = turn
        if turn == OVER or leaves.slots[i] == NONE or has_rollouts:
            _, num_more = play_out(kernels, optional, rules, work, o, turn, np.int64(NONE), rng)
            pool.counters[STEPS] += num_more
            for player in range(o.num_players):
                leaves.totals[i, player] = work.totals[player]
        pool.counters[DEEPEST] = max(pool.counters[DEEPEST], leaves.depths[i])
        pool.counters[STEPS] += leaves.depths[i]


@compiled(types.void(POOL, WORK, _OPTIONS, LEAVES, types.float64[:, ::1], INT))
def spread(pool, work, options, leaves, priors, count):
    """Give new nodes their priors, and add the results to every node on the ways."""
    o = options[0]
    for i in range(count):
        if leaves.slots[i] != NONE:
            num_edges = 0
            at = pool.nodes[leaves.slots[i]].first
            while at != NONE:
                num_edges += 1
                at = pool.edges[at].next
            at = pool.nodes[leaves.slots[i]].first
            while at != NONE:
                pool.edges[at].prior = priors[i, pool.edges[at].action] * num_edges
                at = pool.edges[at].next
        for player in range(o.num_players):
            work.totals[player] = leaves.totals[i, player]
        set_rewards(pool, work, o, np.int64(NONE))
        for step in range(leaves.depths[i]):
            slot, at = leaves.paths[i, _NODE, step], leaves.paths[i, _EDGE, step]
            pool.edges[at].pending -= 1
            reward = work.rewards[leaves.paths[i, _TURN, step]]
            add_reward(pool, slot, at, reward, step == 0)


# ---- the Python face -----------------------------------------------------------------------------


class Guide(Protocol):
    """Any agent that tells its policy; ``values`` or ``state_values`` are a help."""

    def policy(self, views: Views) -> npt.NDArray[np.float64] | None:
        """[n, num_actions] with which probability it chooses each action."""


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
        guide: Guide,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Allocate all memory; ``guide`` is any agent that tells its policy."""
        super().__init__(game, settings, clock)
        self.guide = guide
        facts = game.facts
        is_zero_sum = facts.num_players == 2 and facts.return_sum is not None
        by_return = int(self.options["preference"][0]) == BY_RETURN
        self.has_values = is_zero_sum and by_return and _values_of(guide) is not None
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
        rows = np.flatnonzero(leaves.slots[:size] != NONE)
        if not len(rows):
            return priors
        views = Views(
            self.game,
            leaves.turns[rows],
            leaves.keys[rows],
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
            values = _values_of(self.guide, views)
            assert values is not None
            seats = [facts.seats[seat] for seat in views.seats.tolist()]
            values = np.clip(values, [seat.low for seat in seats], [seat.high for seat in seats])
            leaves.totals[rows] = float(facts.return_sum or 0.0) - values[:, None]
            leaves.totals[rows, views.seats] = values
        return priors


def _values_of(guide: Any, views: Views | None = None) -> npt.NDArray[np.float64] | None:
    """What the guide expects for the players to move; ``None`` if it does not say.

    Without views: an empty array if it would say.
    """
    if not (hasattr(guide, "state_values") or hasattr(guide, "values")):
        return None
    if views is None:
        return np.zeros(0)
    if hasattr(guide, "state_values"):
        return np.asarray(guide.state_values(views), np.float64)
    rated = np.where(views.masks == 1, guide.values(views), -np.inf)
    return np.asarray(rated.max(axis=1), np.float64)
