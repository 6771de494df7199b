"""Finding, making and extending the nodes of a tree."""

from __future__ import annotations

import numpy as np

from agents.search.ismcts.memory import LEFT_OUT, NONE, NUM_EDGES, NUM_NODES, STAMP
from envs.core.compiling import helper, inlined
from envs.core.keys import first_key, fold
from envs.core.rng import below, mix

__all__ = [
    "add_edge",
    "add_node",
    "copy_bytes",
    "extend",
    "find_node",
    "nth_legal",
    "observed_key",
    "random_of",
    "state_key",
    "turn_key",
]

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
    """The slot of a node, or that of the free place where it belongs."""
    last = np.uint64(pool.nodes.size - 1)
    stamp = pool.counters[STAMP]
    slot = np.int64(mix(key) & last)
    while pool.nodes[slot].stamp == stamp and pool.nodes[slot].key != key:
        slot = np.int64((np.uint64(slot) + np.uint64(1)) & last)
    return slot


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
def set_rule_priors(optional, rules, pool, work, slot, num_draws, rng):
    """Let the quick policy of the game say how likely each action is."""
    num_edges = 0
    edge = pool.nodes[slot].first
    while edge != NONE:
        num_edges += 1
        edge = pool.edges[edge].next
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
