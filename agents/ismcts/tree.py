"""The memory of a search: nodes and edges in arrays that never grow, and scratch space.

Nodes lie in an open hash table under the key of what their observer has seen. A stamp says which
search a node belongs to, so that a new search begins without clearing anything. The edges of a
node are a list: those that were legal at its first visit lie side by side, and others follow
where another world brings other legal actions.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from envs.core.compiling import helper, inlined
from envs.core.game import Game
from envs.core.records import Cube, Grid, Row, record, tuple_type
from envs.core.rng import below, first_key, fold, mix

NONE = -1

# What a search counts, in ``Pool.counters``.
COUNTERS = ("nodes", "edges", "simulations", "deepest", "left_out", "stamp", "steps")
NUM_NODES, NUM_EDGES, SIMULATIONS, DEEPEST, LEFT_OUT, STAMP, STEPS = range(len(COUNTERS))

MAX_EDGES_PER_NODE = 16
"""On average; memory for more is not made."""

CACHE_LINE = 64
_LOGS = np.log(np.maximum(np.arange(4096.0), 1.0))

NODE = record(
    key=np.uint64,
    total=np.float64,  # what its player got, over all visits
    visits=np.int32,
    first=np.int32,  # of its edges
    last=np.int32,
    stamp=np.int32,  # of the search; another number: the slot is free
)
EDGE = record(
    total=np.float64,  # what the player got, over all visits
    squares=np.float64,
    regret=np.float64,
    policy=np.float64,  # what regret matching played, added up
    prior=np.float64,
    action=np.int32,
    next=np.int32,  # edge of the same node, or NONE
    visits=np.int32,
    available=np.int32,  # visits of the node at which it was legal
    simulation=np.int32,  # in which it was last legal
    pending=np.int32,  # simulations that wait for the value of a leaf
)


WAY = record(
    slot=np.int64,  # the new node, or NONE when the game was over or memory used up
    turn=np.int64,
    depth=np.int64,
    key=np.uint64,  # of the searcher's own infosets; 0 where others move
)


class Pool(NamedTuple):
    """A tree."""

    nodes: Annotated[npt.NDArray[Any], NODE]
    """[slots]"""
    edges: Annotated[npt.NDArray[Any], EDGE]
    """[edges]"""
    counters: Row[np.int64]
    root_visits: Row[np.int64]
    """[actions] at the root, over all worlds."""
    root_totals: Row[np.float64]
    ranges: Grid[np.float64]
    """[players, 2] the lowest and highest result of each."""


class Work(NamedTuple):
    """Scratch memory of one thread."""

    state: Row[np.uint8]
    scratch: Row[np.uint8]
    mask: Row[np.int8]
    """[actions, padded to whole words]: words are quicker to scan."""
    totals: Row[np.float64]
    rewards: Row[np.float64]
    keys: Row[np.uint64]
    observation: Row[np.float32]
    weights: Row[np.float64]
    """[actions]"""
    path: Grid[np.int32]
    """[3, depth] node, edge and player of every decision in the tree."""
    probs: Row[np.float64]
    """[depth] with which each was drawn."""
    bounds: Grid[np.float64]
    """[players, 2] lowest and highest return by the facts."""
    teams: Row[np.int32]
    logs: Row[np.float64]
    """Of the numbers from 0 on: one for every node on every way is too many to work out."""
    leaf: Row[np.int64]
    """[1] the new node at which a guided simulation has stopped, or NONE."""


class Leaves(NamedTuple):
    """Where the simulations of a batch have come to."""

    ways: Annotated[npt.NDArray[Any], WAY]
    """[batch]"""
    states: Grid[np.uint8]
    """[batch, state_size]"""
    paths: Cube[np.int32]
    """[batch, 3, depth] as in ``Work``."""
    totals: Grid[np.float64]
    """[batch, players] results of those that need no guide."""


POOL, WORK, LEAVES = tuple_type(Pool), tuple_type(Work), tuple_type(Leaves)


def make_pool(game: Game, max_nodes: int) -> Pool:
    """Memory for so many nodes; nothing is touched before it is used.

    >>> from envs import make_game
    >>> pool = make_pool(make_game("kuhn_v0"), 1000)
    >>> pool.nodes.nbytes + pool.edges.nbytes
    193536
    """
    num_actions, num_slots = game.facts.num_actions, 1 << (2 * max_nodes - 1).bit_length()
    num_edges = max(max_nodes * min(num_actions, MAX_EDGES_PER_NODE), num_actions)
    return Pool(
        nodes=_in_lines(num_slots, NODE),
        edges=_in_lines(num_edges, EDGE),
        counters=np.zeros(len(COUNTERS), np.int64),
        root_visits=np.zeros(num_actions, np.int64),
        root_totals=np.zeros(num_actions),
        ranges=np.zeros((game.facts.num_players, 2)),
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
    num_actions, depth = facts.num_actions, facts.max_length + 2
    return Work(
        state=np.zeros(game.state_size, np.uint8),
        scratch=np.zeros(game.state_size, np.uint8),
        mask=np.zeros(-(-num_actions // 8) * 8, np.int8),
        totals=np.zeros(facts.num_players),
        rewards=np.zeros(facts.num_players),
        keys=np.zeros(facts.num_players, np.uint64),
        observation=np.zeros(game.observation_size, np.float32),
        weights=np.zeros(num_actions),
        path=np.zeros((3, depth), np.int32),
        probs=np.zeros(depth),
        bounds=np.array([[seat.low, seat.high] for seat in facts.seats]),
        teams=np.array([seat.team for seat in facts.seats], np.int32),
        logs=_LOGS,
        leaf=np.zeros(1, np.int64),
    )


def make_leaves(game: Game, size: int) -> Leaves:
    """Room for a batch."""
    facts = game.facts
    return Leaves(
        ways=np.zeros(size, WAY),
        states=np.zeros((size, game.state_size), np.uint8),
        paths=np.zeros((size, 3, facts.max_length + 2), np.int32),
        totals=np.zeros((size, facts.num_players)),
    )


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
