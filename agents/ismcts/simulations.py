"""Simulations of a search, compiled; ``searcher`` is the Python face.

Each of them draws a world for the player who searches, walks down the tree, plays on from where
the tree ends, and adds what everybody got to the nodes on its way. A decision is found by what its
observer has seen: the one who searches (``single``), the player whose decision it is (``many``),
or somebody who sees everything (``perfect``). With many observers each player's part of the tree
grows by one node a simulation at most.

What is tried next at a node (``selection``):

=============  ==================================================================================
``ucb``        UCB1 with the number of visits at which an action was available (Cowling, Powley
               and Whitehouse, "Information Set Monte Carlo Tree Search", 2012)
``ucb_tuned``  the same with the variance of each action (Auer, Cesa-Bianchi and Fischer, 2002)
``puct``       as in AlphaZero: what the priors make likely is tried more
``regret``     regret matching: a mixed strategy, learnt from unbiased estimates
``uniform``    what has been tried least
=============  ==================================================================================

UCB tries every action once before any twice; ties are broken at random.

A guide is not asked from here. Simulations then stop at new nodes, which are collected in batches,
so that a network sees many at once; actions that wait for their value count as tried meanwhile.
"""

from __future__ import annotations

import math

import numpy as np
from numba import from_dtype, types

from agents.ismcts.settings import MANY, OPTIONS, OWN, PERFECT, PUCT, REGRET, TUNED, UNIFORM
from agents.ismcts.tree import (
    DEEPEST,
    LEAVES,
    NONE,
    POOL,
    SIMULATIONS,
    STEPS,
    WORK,
    add_edge,
    add_node,
    copy_bytes,
    count_edges,
    extend,
    find_node,
    narrow,
    observed_key,
    random_of,
    set_rule_priors,
    state_key,
    turn_key,
)
from agents.max_n.preference import BY_PLACE, place_of
from envs.core.compiling import compiled, inlined
from envs.core.engine import settle
from envs.core.kernels import CHANCE, INT, KERNELS, OPTIONAL_KERNELS, OVER, RNG, RULES, STATE
from envs.core.rng import below, fold, uniform

UNTRIED = 1e9
MARGIN = 0.02
"""Of a reward by place: what the score counts among equal places."""
ALL_PARTS = np.int64(-1)
"""Of a tree: every player's decisions are looked up."""
_OPTIONS = from_dtype(OPTIONS)[::1]
SEARCH = (KERNELS, OPTIONAL_KERNELS, RULES, types.uint8[:, ::1], RNG, POOL, WORK, _OPTIONS)
"""What every kernel here and of other searches takes first, up to the options of one record."""
_NODE, _EDGE, _TURN = range(3)


# ---- what to try next ----------------------------------------------------------------------------


@inlined
def log_of(logs, number):
    """A logarithm from the table, which is quicker, or beyond it."""
    return logs[number] if number < logs.size else math.log(np.float64(number))


@inlined
def score(edge, o, visits, low, scale, mean, log_available):
    """What speaks for an action."""
    if o.selection == UNIFORM:
        return -np.float64(edge.visits)
    if o.selection == PUCT:
        value = (edge.total / edge.visits - low) * scale if edge.visits else mean
        tried = edge.visits + edge.pending
        return value + o.exploration * edge.prior * math.sqrt(visits) / (1.0 + tried)
    if edge.visits == 0:
        return UNTRIED
    value = (edge.total / edge.visits - low) * scale
    wide = log_available / edge.visits
    if o.selection == TUNED:
        variance = edge.squares / edge.visits * scale * scale
        raw = edge.total / edge.visits * scale
        variance = max(variance - raw * raw, 0.0) + math.sqrt(2.0 * wide)
        return value + o.exploration * math.sqrt(wide * min(0.25, variance))
    return value + o.exploration * math.sqrt(wide)


@inlined
def select(pool, work, slot, turn, o, simulation, rng):
    """An edge of the node that is available in this simulation, and its probability."""
    if o.selection == REGRET:
        return select_by_regret(pool, slot, o, simulation, rng)
    node = pool.nodes[slot]
    low, high = pool.ranges[turn, 0], pool.ranges[turn, 1]
    scale = 1.0 / (high - low) if high > low else 1.0
    mean = (node.total / node.visits - low) * scale if node.visits else 0.5
    best, chosen, num_tied = -np.inf, NONE, 0
    available, log_available = 1, 0.0
    at = node.first
    while at != NONE:
        edge = pool.edges[at]
        if edge.simulation == simulation:
            if edge.available != available:  # mostly the same for all actions of a node
                available = edge.available
                log_available = log_of(work.logs, available)
            worth = score(edge, o, node.visits, low, scale, mean, log_available)
            if worth > best:
                best, chosen, num_tied = worth, at, 1
            elif worth == best:
                num_tied += 1
                if below(rng, num_tied) == 0:
                    chosen = at
        at = edge.next
    return chosen, 1.0


@inlined
def regrets_at(pool, slot, simulation):
    """The sum of the positive regrets of what is available at a node, and how much that is."""
    total, count = 0.0, 0
    at = pool.nodes[slot].first
    while at != NONE:
        edge = pool.edges[at]
        if edge.simulation == simulation:
            total += max(edge.regret, 0.0)
            count += 1
        at = edge.next
    return total, count


@inlined
def regret_share(regret, total, count):
    """How often regret matching plays an action."""
    return max(regret, 0.0) / total if total > 0.0 else 1.0 / count


@inlined
def select_by_regret(pool, slot, o, simulation, rng):
    """Draw from the positive regrets, mixed with exploration; add the policy up."""
    total, count = regrets_at(pool, slot, simulation)
    left, chosen, prob = uniform(rng), NONE, 1.0
    at = pool.nodes[slot].first
    while at != NONE:
        edge = pool.edges[at]
        if edge.simulation == simulation:
            own = regret_share(edge.regret, total, count)
            edge.policy += own
            drawn = o.gamma / count + (1.0 - o.gamma) * own
            if left >= 0.0 and drawn > 0.0:
                chosen, prob = at, drawn
                left -= drawn
        at = edge.next
    return chosen, prob


@inlined
def learn_regrets(pool, slot, chosen, prob, reward, simulation):
    """Add estimates of what each action would have brought beyond the policy.

    The mean of the node is the baseline: an estimate of an action is the baseline, and for the one
    that was tried what it brought beyond it, divided by its probability.
    """
    node = pool.nodes[slot]
    baseline = node.total / node.visits if node.visits else reward
    surplus = (reward - baseline) / prob
    total, count = regrets_at(pool, slot, simulation)
    own = regret_share(pool.edges[chosen].regret, total, count)
    at = node.first
    while at != NONE:
        edge = pool.edges[at]
        if edge.simulation == simulation:
            edge.regret -= own * surplus
        at = edge.next
    pool.edges[chosen].regret += surplus


# ---- what follows the tree -----------------------------------------------------------------------


@inlined
def policy_action(kernels, optional, rules, work, o, rng):
    """An action of the rollout policy."""
    if o.has_rule and uniform(rng) >= o.epsilon:
        return optional.rollout(work.state, rules, rng)
    num_legal = kernels.legal(work.state, rules, work.mask[: work.weights.size])
    return random_of(work.mask, num_legal, rng)


@inlined
def play_out(kernels, optional, rules, work, o, turn, last, rng):
    """Play ``work.state`` to the end or the depth, write the totals; who moved last."""
    depth = 0
    while turn != OVER:
        if turn == CHANCE or (o.rollout_depth and depth == o.rollout_depth):
            optional.evaluate(work.state, rules, work.totals)
            return last, depth
        last = turn
        kernels.step(work.state, rules, policy_action(kernels, optional, rules, work, o, rng))
        depth += 1
        if o.stops_at_chance:
            turn = kernels.turn(work.state, rules)
        else:
            turn = settle(kernels, optional, rules, work.state, rng)
    kernels.returns(work.state, rules, work.totals)
    return last, depth


@inlined
def set_rewards(pool, work, o, last):
    """Make rewards of totals: by team, by place if that is what counts, and within known ranges."""
    num_players = o.num_players
    for player in range(num_players):
        total, count = 0.0, 0
        for other in range(num_players):
            if work.teams[other] == work.teams[player]:
                total += work.totals[other]
                count += 1
        reward = total / count
        low, high = work.bounds[player, 0], work.bounds[player, 1]
        if o.preference == BY_PLACE and num_players > 1:
            worse = num_players - place_of(work.totals, num_players, player)
            own = (work.totals[player] - low) / (high - low)
            reward = (worse + MARGIN * own) / (num_players - 1 + MARGIN)
        elif (
            o.coalition > 0.0
            and last >= 0
            and last != player
            and work.teams[last] == work.teams[player]
            and reward > 0.5 * (low + high)
        ):
            reward -= o.coalition * (reward - low)
        work.rewards[player] = reward
        if o.is_by_seen:
            pool.ranges[player, 0] = min(pool.ranges[player, 0], reward)
            pool.ranges[player, 1] = max(pool.ranges[player, 1], reward)


# ---- one simulation ------------------------------------------------------------------------------


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
    slot, is_new = find_node(pool, key)
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
    if is_new and o.is_guided:
        open_node(kernels, optional, rules, pool, work, o, slot, turn, is_new, simulation, rng)
        work.leaf[0] = slot
        return NONE, depth, parts
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
        if o.is_guided:
            pool.edges[chosen].pending += 1
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
        action = np.int64(NONE)
        if is_own(work, o, turn) or not o.has_model:
            action, depth, parts = tree_action(
                kernels, optional, rules, pool, work, o, turn, depth, parts, simulation, rng
            )
        if action == NONE and o.is_guided:
            break
        if action == NONE:
            action = policy_action(kernels, optional, rules, work, o, rng)
        num_plies += 1
        last = turn
        play(kernels, rules, work, o, action, parts)
        turn = play_chance(kernels, rules, work, o, parts, rng)
        if turn == CHANCE:
            break
    return turn, depth, last, num_plies


@inlined
def back_up(pool, work, o, depth, simulation):
    """Count a visit of every node on the way and its edge, and add what came of it."""
    for i in range(depth):
        slot, at, turn = work.path[_NODE, i], work.path[_EDGE, i], work.path[_TURN, i]
        reward, edge, node = work.rewards[turn], pool.edges[at], pool.nodes[slot]
        if o.is_guided:
            edge.pending -= 1
        elif o.selection == REGRET:
            learn_regrets(pool, slot, at, work.probs[i], reward, simulation)
        edge.visits += 1
        edge.total += reward
        edge.squares += reward * reward
        node.visits += 1
        node.total += reward
        if i == 0:
            pool.root_visits[edge.action] += 1
            pool.root_totals[edge.action] += reward


# ---- all simulations -----------------------------------------------------------------------------


@compiled(types.void(*SEARCH, INT))
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


@compiled(types.void(*SEARCH, LEAVES, INT, types.boolean))
def collect(
    kernels, optional, rules, worlds, rng, pool, work, options, leaves, count, has_rollouts
):
    """Walk to ``count`` leaves; those that need no guide, or all with rollouts, get results."""
    o = options[0]
    parts = parts_to_grow(work, o)
    for i in range(count):
        simulation = begin(kernels, rules, worlds, rng, pool, work, o, parts)
        work.leaf[0] = NONE
        turn, depth, _, num_plies = descend(
            kernels, optional, rules, pool, work, o, parts, simulation, rng
        )
        leaf = leaves.ways[i]
        leaf.turn, leaf.depth, leaf.slot = turn, depth, work.leaf[0]
        is_known = turn == o.seat and o.observers != PERFECT
        leaf.key = work.keys[turn] if is_known else np.uint64(0)
        copy_bytes(work.state, leaves.states[i])
        for step in range(depth):
            for row in range(3):
                leaves.paths[i, row, step] = work.path[row, step]
        if turn == OVER or leaf.slot == NONE or has_rollouts:
            _, num_more = play_out(kernels, optional, rules, work, o, turn, np.int64(NONE), rng)
            num_plies += num_more
            for player in range(o.num_players):
                leaves.totals[i, player] = work.totals[player]
        pool.counters[DEEPEST] = max(pool.counters[DEEPEST], depth)
        pool.counters[STEPS] += num_plies


@compiled(types.void(POOL, WORK, _OPTIONS, LEAVES, types.float64[:, ::1], INT))
def spread(pool, work, options, leaves, priors, count):
    """Give new nodes their priors, and add the results to every node on the ways."""
    o = options[0]
    for i in range(count):
        leaf = leaves.ways[i]
        if leaf.slot != NONE:
            num_edges = count_edges(pool, leaf.slot)
            at = pool.nodes[leaf.slot].first
            while at != NONE:
                pool.edges[at].prior = priors[i, pool.edges[at].action] * num_edges
                at = pool.edges[at].next
        for player in range(o.num_players):
            work.totals[player] = leaves.totals[i, player]
        set_rewards(pool, work, o, np.int64(NONE))
        for step in range(leaf.depth):
            for row in range(3):
                work.path[row, step] = leaves.paths[i, row, step]
        back_up(pool, work, o, leaf.depth, 0)


# ---- what was found ------------------------------------------------------------------------------


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
        turn = kernels.turn(work.state, rules)
        while turn == CHANCE:  # its likeliest outcomes
            kernels.chance(work.state, rules, probs)
            play(kernels, rules, work, o, np.argmax(probs), ALL_PARTS)
            turn = kernels.turn(work.state, rules)
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
    slot, is_new = find_node(pool, turn_key(key, turn))
    return NONE if is_new else slot
