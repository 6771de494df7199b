"""Simulations of a search, compiled; ``searcher`` is the Python face.

Each of them draws a world for the player who searches, walks down the tree, plays on from where
the tree ends, and adds what everybody got to the nodes on its way. A decision is found by what its
observer has seen: the one who searches (``single``), the player whose decision it is (``many``),
or somebody who sees everything (``perfect``). With many observers each player's part of the tree
grows by one node a simulation at most.
"""

from __future__ import annotations

import numpy as np
from numba import from_dtype, types

from agents.search.ismcts.memory import (
    DEEPEST,
    NONE,
    POOL,
    SIMULATIONS,
    STAMP,
    STEPS,
    WORK,
)
from agents.search.ismcts.nodes import (
    add_edge,
    add_node,
    copy_bytes,
    extend,
    find_node,
    narrow,
    observed_key,
    set_rule_priors,
    state_key,
    turn_key,
)
from agents.search.ismcts.playouts import play_out, policy_action, set_rewards
from agents.search.ismcts.selection import learn_regrets, select
from agents.search.ismcts.settings import MANY, OPTIONS, OWN, PERFECT, REGRET
from envs.core.compiling import compiled, inlined
from envs.core.kernels import (
    CHANCE,
    INT,
    KERNELS,
    OPTIONAL_KERNELS,
    OVER,
    RNG,
    RULES,
    STATE,
)
from envs.core.keys import fold

__all__ = ["ALL_PARTS", "find_slot", "follow_visits", "run_simulations"]

_OPTIONS = from_dtype(OPTIONS)[::1]
_NODE, _EDGE, _TURN = range(3)
ALL_PARTS = np.int64(-1)
"""Of a tree: every player's decisions are looked up."""


@inlined
def begin(kernels, rules, worlds, rng, pool, work, o, parts):
    """Draw the world of the next simulation and set the keys of players in it; its number.

    Of many observers only those have keys whose ``parts`` of the tree are to be looked up.
    """
    simulation = pool.counters[SIMULATIONS] + 1
    pool.counters[SIMULATIONS] = simulation
    copy_bytes(worlds[simulation % worlds.shape[0]], work.state)
    if not o.is_fixed:
        kernels.determinize(work.state, rules, o.seat, rng)
    set_keys(kernels, rules, work, o, parts)
    return simulation


@inlined
def set_keys(kernels, rules, work, o, parts):
    """What the observers know at the root of a search."""
    if o.observers == PERFECT:
        work.keys[0] = state_key(work.state)
        return
    if o.observers == MANY:
        for player in range(o.num_players):
            if player != o.seat and parts >> player & 1:
                work.keys[player] = observed_key(
                    kernels, rules, work.state, player, work.observation
                )
    work.keys[o.seat] = o.root_key


@inlined
def is_own_or_chance(kernels, rules, work, o):
    """Whether no opponent is to move."""
    turn = kernels.turn(work.state, rules)
    return turn == CHANCE or turn == o.seat


@inlined
def play(kernels, rules, work, o, action, parts):
    """Play an action and fold what the observers of these parts of the tree see of it."""
    if o.observers == PERFECT:
        work.keys[0] = fold(work.keys[0], action + 1)
    elif o.observers == MANY:
        for player in range(o.num_players):
            if parts >> player & 1:
                token = kernels.seen(work.state, rules, action, player)
                work.keys[player] = fold(work.keys[player], token)
    elif o.observers != OWN or is_own_or_chance(kernels, rules, work, o):
        token = kernels.seen(work.state, rules, action, o.seat)
        work.keys[o.seat] = fold(work.keys[o.seat], token)
    kernels.step(work.state, rules, action)


@inlined
def play_chance(kernels, rules, work, o, parts, rng):
    """Play all chance that is due, unless simulations stop there; who is to move then."""
    turn = kernels.turn(work.state, rules)
    while turn == CHANCE and not o.stops_at_chance:
        play(kernels, rules, work, o, kernels.sample(work.state, rules, rng), parts)
        turn = kernels.turn(work.state, rules)
    return turn


@inlined
def observer_of(o, turn):
    """Whose key finds a decision."""
    if o.observers == MANY:
        return np.int64(turn)
    return np.int64(0) if o.observers == PERFECT else np.int64(o.seat)


@inlined
def look_up(pool, work, o, turn):
    """The key of the present decision, its slot, and whether the tree does not have it yet."""
    key = turn_key(work.keys[observer_of(o, turn)], turn)
    slot = find_node(pool, key)
    is_new = pool.nodes[slot].key != key or pool.nodes[slot].stamp != pool.counters[STAMP]
    return key, slot, is_new


@inlined
def open_node(kernels, optional, rules, pool, work, o, slot, turn, is_new, simulation, rng):
    """Mark what is available at a node in this world, and give it what it has not met yet.

    A node of few actions (``width``) keeps those that it got when it was new.
    """
    num_legal = kernels.legal(work.state, rules, work.mask[: work.weights.size])
    at = pool.nodes[slot].first
    while at != NONE:
        edge = pool.edges[at]
        if work.mask[edge.action]:
            edge.available += 1
            edge.simulation = simulation
            work.mask[edge.action] = 2
            num_legal -= 1
        at = edge.next
    if num_legal and (is_new or not o.width):
        if o.width and num_legal > o.width:
            num_legal = narrow(kernels, optional, rules, work, o, num_legal, turn)
        extend(pool, work, slot, num_legal, simulation)
        if o.prior_draws:
            set_rule_priors(optional, rules, pool, work, slot, o.prior_draws, rng)


@inlined
def part_of(o, turn):
    """The part of the tree that a decision belongs to, as a bit: with many observers one each."""
    return np.int64(1) << turn if o.observers == MANY else np.int64(1)


@inlined
def is_own(work, o, player):
    """Whether a player is the one who searches, or of the same team."""
    return work.teams[player] == work.teams[o.seat]


@inlined
def parts_to_grow(work, o):
    """The parts of the tree to which a simulation adds a node, as bits."""
    if o.observers != MANY:
        return np.int64(1)
    parts = np.int64(0)
    for player in range(o.num_players):
        if not o.has_model or is_own(work, o, player):
            parts |= np.int64(1) << player
    return parts


@inlined
def tree_action(kernels, optional, rules, pool, work, o, turn, depth, parts, simulation, rng):
    """What the tree tries at a decision, NONE if it has nothing for it, and depth and parts then.

    ``parts`` are those that have not grown in this simulation yet: below a new node there is none.
    """
    part = part_of(o, turn)
    if not parts & part:
        return NONE, depth, parts
    key, slot, is_new = look_up(pool, work, o, turn)
    if is_new and not add_node(pool, slot, key):
        return NONE, depth, parts & ~part  # the memory is used up
    if is_new and o.selection != REGRET and not o.width:
        # Most nodes are visited once, and a visit needs one action: the others come later.
        action = policy_action(kernels, optional, rules, work, o, rng)
        chosen, prob = add_edge(pool, slot, action, simulation), 1.0
    else:
        open_node(kernels, optional, rules, pool, work, o, slot, turn, is_new, simulation, rng)
        chosen, prob = select(pool, work, slot, turn, o, simulation, rng)
        action = NONE
    if chosen != NONE:
        work.path[_NODE, depth] = slot
        work.path[_EDGE, depth] = chosen
        work.path[_TURN, depth] = turn
        work.probs[depth] = prob
        depth += 1
        action = np.int64(pool.edges[chosen].action)
    return action, depth, parts & ~part if is_new else parts


@inlined
def descend(kernels, optional, rules, pool, work, o, parts, simulation, rng):
    """Walk down the tree and note the way; ``(turn, depth, last)`` of where it ends."""
    turn, depth, last, num_plies = np.int64(o.seat), 0, np.int64(NONE), 0
    while turn != OVER and parts:
        if o.tree_depth and num_plies == o.tree_depth:
            break
        num_plies += 1
        action = np.int64(NONE)
        if is_own(work, o, turn) or not o.has_model:
            action, depth, parts = tree_action(
                kernels, optional, rules, pool, work, o, turn, depth, parts, simulation, rng
            )
        if action == NONE:
            action = policy_action(kernels, optional, rules, work, o, rng)
        last = turn
        play(kernels, rules, work, o, action, parts)
        turn = play_chance(kernels, rules, work, o, parts, rng)
        if turn == CHANCE:
            break
    return turn, depth, last, num_plies


@inlined
def add_reward(pool, slot, at, reward, is_root):
    """Count a visit of a node and one of its edges, and what came of it."""
    edge, node = pool.edges[at], pool.nodes[slot]
    edge.visits += 1
    edge.total += reward
    edge.squares += reward * reward
    node.visits += 1
    node.total += reward
    if is_root:
        pool.root_visits[edge.action] += 1
        pool.root_totals[edge.action] += reward


@inlined
def back_up(pool, work, o, depth, simulation):
    """Add the rewards to every node on the way."""
    for i in range(depth):
        slot, at, turn = work.path[_NODE, i], work.path[_EDGE, i], work.path[_TURN, i]
        reward = work.rewards[turn]
        if o.selection == REGRET:
            learn_regrets(pool, slot, at, work.probs[i], reward, simulation)
        add_reward(pool, slot, at, reward, i == 0)


@compiled(
    types.void(
        KERNELS, OPTIONAL_KERNELS, RULES, types.uint8[:, ::1], RNG, POOL, WORK, _OPTIONS, INT
    )
)
def run_simulations(kernels, optional, rules, worlds, rng, pool, work, options, count):
    """Run ``count`` simulations.

    Args:
        kernels: of the game.
        optional: what else it has.
        rules: of the game.
        worlds: [n, state_size] worlds to begin with in turn; they are determinized anew for every
            simulation unless the options say that they are fixed.
        rng: of this thread.
        pool: the tree.
        work: scratch memory.
        options: one record.
        count: how many.
    """
    o = options[0]
    parts = parts_to_grow(work, o)
    for _ in range(count):
        simulation = begin(kernels, rules, worlds, rng, pool, work, o, parts)
        turn, depth, last, num_plies = descend(
            kernels, optional, rules, pool, work, o, parts, simulation, rng
        )
        last, num_more = play_out(kernels, optional, rules, work, o, turn, last, rng)
        set_rewards(pool, work, o, last)
        back_up(pool, work, o, depth, simulation)
        pool.counters[DEEPEST] = max(pool.counters[DEEPEST], depth)
        pool.counters[STEPS] += num_plies + num_more


@inlined
def play_likeliest_chance(kernels, rules, work, o, probs):
    """Play the likeliest outcomes of all chance that is due; who is to move then."""
    turn = kernels.turn(work.state, rules)
    while turn == CHANCE:
        kernels.chance(work.state, rules, probs)
        play(kernels, rules, work, o, np.argmax(probs), ALL_PARTS)
        turn = kernels.turn(work.state, rules)
    return turn


@compiled(INT(KERNELS, RULES, STATE, POOL, WORK, _OPTIONS, types.float64[::1], INT))
def follow_visits(kernels, rules, world, pool, work, options, probs, first):
    """Write the most visited actions from ``first`` on to ``work.path[0]``; how many they are."""
    o = options[0]
    copy_bytes(world, work.state)
    set_keys(kernels, rules, work, o, ALL_PARTS)
    action, length = np.int64(first), 0
    while action != NONE and length < work.path.shape[1]:
        work.path[0, length] = action
        length += 1
        play(kernels, rules, work, o, action, ALL_PARTS)
        turn = play_likeliest_chance(kernels, rules, work, o, probs)
        action = np.int64(NONE)
        if turn != OVER:
            _, slot, is_new = look_up(pool, work, o, turn)
            kernels.legal(work.state, rules, work.mask[: work.weights.size])
            at, most = np.int64(NONE) if is_new else np.int64(pool.nodes[slot].first), 0
            while at != NONE:
                edge = pool.edges[at]
                if edge.visits > most and work.mask[edge.action]:
                    most, action = edge.visits, np.int64(edge.action)
                at = np.int64(edge.next)
    return length


@compiled(INT(POOL, types.uint64, INT))
def find_slot(pool, key, turn):
    """The slot of a decision, or NONE if the tree does not have it."""
    wanted = turn_key(key, turn)
    slot = find_node(pool, wanted)
    is_there = pool.nodes[slot].stamp == pool.counters[STAMP] and pool.nodes[slot].key == wanted
    return slot if is_there else NONE
