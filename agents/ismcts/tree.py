"""The memory of a search: nodes and edges in arrays that never grow, and scratch space.

Nodes lie in an open hash table under the key of what their observer has seen. A stamp says which
search a node belongs to, so that a new search begins without clearing anything. The edges of a
node are a list: those that were legal at its first visit lie side by side, and others follow
where another world brings other legal actions.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from envs.core.compiling import helper, inlined
from envs.core.game import Game
from envs.core.rng import below, first_key, fold, mix

NONE = -1

# What a search counts, in ``Pool.counters``.
COUNTERS = ("nodes", "edges", "simulations", "deepest", "left_out", "stamp", "steps")
NUM_NODES, NUM_EDGES, SIMULATIONS, DEEPEST, LEFT_OUT, STAMP, STEPS = range(len(COUNTERS))

MAX_EDGES_PER_NODE = 16
"""On average; memory for more is not made."""

CACHE_LINE = 64
_LOGS = np.log(np.maximum(np.arange(4096.0), 1.0))

NODE = np.dtype(
    (
        np.record,
        [
            ("key", np.uint64),
            ("total", np.float64),  # what its player got, over all visits
            ("visits", np.int32),
            ("first", np.int32),  # of its edges
            ("last", np.int32),
            ("stamp", np.int32),  # of the search; another number: the slot is free
        ],
    )
)
EDGE = np.dtype(
    (
        np.record,
        [
            ("total", np.float64),  # what the player got, over all visits
            ("squares", np.float64),
            ("regret", np.float64),
            ("policy", np.float64),  # what regret matching played, added up
            ("prior", np.float64),
            ("action", np.int32),
            ("next", np.int32),  # edge of the same node, or NONE
            ("visits", np.int32),
            ("available", np.int32),  # visits of the node at which it was legal
            ("simulation", np.int32),  # in which it was last legal
            ("pending", np.int32),  # simulations that wait for the value of a leaf
        ],
    )
)


WAY = np.dtype(
    (
        np.record,
        [
            ("slot", np.int64),  # the new node, or NONE when the game was over or memory used up
            ("turn", np.int64),
            ("depth", np.int64),
            ("key", np.uint64),  # of the searcher's own infosets; 0 where others move
        ],
    )
)


class Pool(NamedTuple):
    """A tree."""

    nodes: npt.NDArray[np.void]
    """[slots] of ``NODE``."""
    edges: npt.NDArray[np.void]
    """[edges] of ``EDGE``."""
    counters: npt.NDArray[np.int64]
    root_visits: npt.NDArray[np.int64]
    """[actions] at the root, over all worlds."""
    root_totals: npt.NDArray[np.float64]
    ranges: npt.NDArray[np.float64]
    """[players, 2] the lowest and highest result of each."""


class Work(NamedTuple):
    """Scratch memory of one thread."""

    state: npt.NDArray[np.uint8]
    scratch: npt.NDArray[np.uint8]
    mask: npt.NDArray[np.int8]
    """[actions, padded to whole words]: words are quicker to scan."""
    totals: npt.NDArray[np.float64]
    rewards: npt.NDArray[np.float64]
    keys: npt.NDArray[np.uint64]
    observation: npt.NDArray[np.float32]
    weights: npt.NDArray[np.float64]
    """[actions]"""
    path: npt.NDArray[np.int32]
    """[3, depth] node, edge and player of every decision in the tree."""
    probs: npt.NDArray[np.float64]
    """[depth] with which each was drawn."""
    bounds: npt.NDArray[np.float64]
    """[players, 2] lowest and highest return by the facts."""
    teams: npt.NDArray[np.int32]
    logs: npt.NDArray[np.float64]
    """Of the numbers from 0 on: one for every node on every way is too many to work out."""
    leaf: npt.NDArray[np.int64]
    """[1] the new node at which a guided simulation has stopped, or NONE."""


class Leaves(NamedTuple):
    """Where the simulations of a batch have come to."""

    ways: npt.NDArray[np.void]
    """[batch] of ``WAY``."""
    states: npt.NDArray[np.uint8]
    """[batch, state_size]"""
    paths: npt.NDArray[np.int32]
    """[batch, 3, depth] as in ``Work``."""
    totals: npt.NDArray[np.float64]
    """[batch, players] results of those that need no guide."""


def make_pool(num_actions: int, num_players: int, max_nodes: int) -> Pool:
    """Memory for so many nodes; nothing is touched before it is used.

    >>> pool = make_pool(2, 2, 1000)
    >>> pool.nodes.nbytes + pool.edges.nbytes
    193536
    """
    num_slots = 1 << (2 * max_nodes - 1).bit_length()
    num_edges = max(max_nodes * min(num_actions, MAX_EDGES_PER_NODE), num_actions)
    return Pool(
        nodes=_in_lines(num_slots, NODE),
        edges=_in_lines(num_edges, EDGE),
        counters=np.zeros(len(COUNTERS), np.int64),
        root_visits=np.zeros(num_actions, np.int64),
        root_totals=np.zeros(num_actions),
        ranges=np.zeros((num_players, 2)),
    )


def _in_lines(count: int, dtype: np.dtype[np.void]) -> npt.NDArray[np.void]:
    """Zeros that begin with a line of the processor's cache, so that no entry lies in two."""
    num_bytes = count * dtype.itemsize
    raw = np.zeros(num_bytes + CACHE_LINE, np.uint8)
    start = -raw.ctypes.data % CACHE_LINE
    return raw[start : start + num_bytes].view(dtype)


def make_work(game: Game) -> Work:
    """Scratch memory for the simulations of one thread."""
    facts = game.facts
    bounds = np.array([[seat.low, seat.high] for seat in facts.seats])
    teams = np.array([seat.team for seat in facts.seats], np.int32)
    sizes = game.state_size, game.observation_size, facts.num_actions, facts.max_length + 2
    return _work(*sizes, bounds, teams)


def _work(
    state_size: int,
    observation_size: int,
    num_actions: int,
    depth: int,
    bounds: npt.NDArray[np.float64],
    teams: npt.NDArray[np.int32],
) -> Work:
    num_players = len(teams)
    return Work(
        state=np.zeros(state_size, np.uint8),
        scratch=np.zeros(state_size, np.uint8),
        mask=np.zeros(-(-num_actions // 8) * 8, np.int8),
        totals=np.zeros(num_players),
        rewards=np.zeros(num_players),
        keys=np.zeros(num_players, np.uint64),
        observation=np.zeros(observation_size, np.float32),
        weights=np.zeros(num_actions),
        path=np.zeros((3, depth), np.int32),
        probs=np.zeros(depth),
        bounds=bounds,
        teams=teams,
        logs=_LOGS,
        leaf=np.zeros(1, np.int64),
    )


def make_leaves(size: int, state_size: int, num_players: int, depth: int) -> Leaves:
    """Room for a batch."""
    return Leaves(
        ways=np.zeros(size, WAY),
        states=np.zeros((size, state_size), np.uint8),
        paths=np.zeros((size, 3, depth), np.int32),
        totals=np.zeros((size, num_players)),
    )


POOL, LEAVES = numba.typeof(make_pool(1, 1, 1)), numba.typeof(make_leaves(1, 1, 1, 1))
WORK = numba.typeof(_work(1, 1, 1, 1, np.zeros((1, 2)), np.zeros(1, np.int32)))


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ONES = np.uint64(0x0101010101010101)


@helper
def copy_bytes(source, target):
    """Copy a state; an assignment of slices would allocate."""
    for i in range(target.size):
        target[i] = source[i]


@helper
def nth_legal(mask, nth):
    """The legal action with ``nth`` others before it; ``mask`` is padded to whole words."""
    words = mask.view(np.uint64)
    for i in range(words.size):
        count = np.int64((words[i] * _ONES) >> np.uint64(56))
        if nth < count:
            for action in range(8 * i, 8 * i + 8):
                if mask[action]:
                    if nth == 0:
                        return action
                    nth -= 1
        nth -= count
    return -1


@helper
def random_of(mask, num_legal, rng):
    """A uniform legal action."""
    return nth_legal(mask, below(rng, num_legal))


# ---- keys ----------------------------------------------------------------------------------------


@helper
def turn_key(key, turn):
    """The key of a node: what its observer has seen, and who is to move; never 0."""
    return (key + np.uint64(turn + 1) * _GOLDEN) | np.uint64(1)


@helper
def observed_key(kernels, rules, state, player, observation):
    """What another player knows at the root of a search, as far as its observation says."""
    kernels.observe(state, rules, player, observation)
    words = observation.view(np.uint32)
    key = first_key(player)
    for i in range(words.size):
        # Most of an observation is zeros, and where the others are tells them apart.
        if words[i]:
            key = (key ^ np.uint64(words[i]) ^ (np.uint64(i) << np.uint64(32))) * _GOLDEN
            key ^= key >> np.uint64(29)
    return mix(key)


@helper
def state_key(state):
    """A key of a whole state."""
    key = _GOLDEN
    for i in range(state.size):
        key = (key ^ np.uint64(state[i])) * np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(29)
    return fold(mix(key), 1)


# ---- nodes ---------------------------------------------------------------------------------------


@inlined
def find_node(pool, key):
    """The slot of a node, or that of the free place where it belongs, and whether it is free."""
    last = np.uint64(pool.nodes.size - 1)
    stamp = pool.counters[STAMP]
    slot = np.int64(mix(key) & last)
    while pool.nodes[slot].stamp == stamp and pool.nodes[slot].key != key:
        slot = np.int64((np.uint64(slot) + np.uint64(1)) & last)
    return slot, pool.nodes[slot].stamp != stamp


@inlined
def add_node(pool, slot, key):
    """Make a node in a free place; False if all are used."""
    if 2 * (pool.counters[NUM_NODES] + 1) > pool.nodes.size:
        pool.counters[LEFT_OUT] += 1
        return False
    pool.counters[NUM_NODES] += 1
    node = pool.nodes[slot]
    node.key = key
    node.total = 0.0
    node.visits = 0
    node.first = NONE
    node.last = NONE
    node.stamp = pool.counters[STAMP]
    return True


@inlined
def add_edge(pool, slot, action, simulation):
    """Give a node another action; its edge, or NONE if all are used."""
    at = pool.counters[NUM_EDGES]
    if at == pool.edges.size:
        pool.counters[LEFT_OUT] += 1
        return np.int64(NONE)
    pool.counters[NUM_EDGES] = at + 1
    edge, node = pool.edges[at], pool.nodes[slot]
    edge.total = 0.0
    edge.squares = 0.0
    edge.regret = 0.0
    edge.policy = 0.0
    edge.prior = 1.0
    edge.action = action
    edge.next = NONE
    edge.visits = 0
    edge.available = 1
    edge.simulation = simulation
    edge.pending = 0
    if node.first == NONE:
        node.first = at
    else:
        pool.edges[node.last].next = at
    node.last = at
    return at


@inlined
def narrow(kernels, optional, rules, work, o, num_legal, turn):
    """Leave only the ``width`` legal actions with the best estimates; how many are left."""
    num_actions = work.weights.size
    for action in range(num_actions):
        work.weights[action] = -np.inf
        if work.mask[action]:
            copy_bytes(work.state, work.scratch)
            kernels.step(work.scratch, rules, action)
            optional.evaluate(work.scratch, rules, work.totals)
            work.weights[action] = work.totals[turn]
    while num_legal > o.width:
        worst = -1
        for action in range(num_actions):
            if work.mask[action] and (worst < 0 or work.weights[action] <= work.weights[worst]):
                worst = action
        work.mask[worst] = 0
        num_legal -= 1
    return num_legal


@inlined
def extend(pool, work, slot, num_new, simulation):
    """Give a node the actions that are marked 1 in the mask."""
    action = 0
    while num_new > 0:
        if work.mask[action] == 1:
            if add_edge(pool, slot, action, simulation) == NONE:
                return
            num_new -= 1
        action += 1


@inlined
def count_edges(pool, slot):
    """How many actions a node has."""
    count, edge = 0, pool.nodes[slot].first
    while edge != NONE:
        count += 1
        edge = pool.edges[edge].next
    return count


@inlined
def set_rule_priors(optional, rules, pool, work, slot, num_draws, rng):
    """Let the quick policy of the game say how likely each action is."""
    num_edges = count_edges(pool, slot)
    for draw in range(num_draws):
        action = optional.rollout(work.state, rules, rng)
        edge = pool.nodes[slot].first
        while edge != NONE:
            e = pool.edges[edge]
            if draw == 0:
                e.prior = 1.0
            if e.action == action:
                e.prior += np.float64(num_edges) / num_draws
            edge = e.next
