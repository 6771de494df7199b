"""What a sampling solver does at one node, compiled: move on, look up, draw, learn."""

from __future__ import annotations

import numpy as np

from agents.cfr.sampled.hash_tables import (
    ABSENT,
    enter,
    find,
    first_entry,
    num_entries,
)
from agents.cfr.sampled.hooks import NONE
from agents.cfr.sampled.workspace import BY_HISTORY, BY_INFOSET
from envs.core.compiling import inlined
from envs.core.kernels import CHANCE, OVER
from envs.core.keys import first_key, fold
from envs.core.rng import uniform

# ---- moving --------------------------------------------------------------------------------------


@inlined
def copy_state(source, target):
    """Copy a state."""
    for i in range(source.size):
        target[i] = source[i]


@inlined
def settle(game, work, depth, turn):
    """Play chance in the state at ``depth`` until somebody is to move; who, or OVER."""
    kernels, rules = game.kernels, game.rules
    state, keys = work.states[depth], work.keys[depth]
    if game.hooks.has_key and game.optional.has_settle:
        return game.optional.settle(state, rules, work.rng)
    while turn == CHANCE:
        outcome = kernels.sample(state, rules, work.rng)
        for player in range(keys.size):
            keys[player] = fold(keys[player], kernels.seen(state, rules, outcome, player))
        kernels.step(state, rules, outcome)
        turn = kernels.turn(state, rules)
    return turn


@inlined
def begin(game, work):
    """Put the root into the first row; who is to move."""
    state = work.states[0]
    copy_state(work.root, state)
    for player in range(work.keys.shape[1]):
        work.keys[0, player] = first_key(player)
    frame = work.frames[0]
    frame.own = 1.0
    frame.others = 1.0
    frame.explored = 1.0
    return settle(game, work, 0, game.kernels.turn(state, game.rules))


@inlined
def play(game, work, depth, action):
    """Put what follows the node at ``depth`` into the next row; who is to move there.

    It is OVER where the walk ends, be it with the game or at a position of the continuation values.
    """
    kernels, rules = game.kernels, game.rules
    state, child = work.states[depth], work.states[depth + 1]
    copy_state(state, child)
    kernels.step(child, rules, action)
    turn = kernels.turn(child, rules)
    if turn == OVER or (turn == CHANCE and game.hooks.has_position):
        walk = work.walk[0]
        walk.position = NONE
        if turn == CHANCE:
            walk.position = game.hooks.position(child, rules, walk.traverser)
        if turn == OVER or walk.position != NONE:
            return np.int64(OVER)
    if not game.hooks.has_key:
        for player in range(work.keys.shape[1]):
            token = kernels.seen(state, rules, action, player)
            work.keys[depth + 1, player] = fold(work.keys[depth, player], token)
    return settle(game, work, depth + 1, turn) if turn == CHANCE else turn


@inlined
def end_value(game, work, depth):
    """What the traverser gets where its walk ends; ``totals`` is what everybody has got so far."""
    walk = work.walk[0]
    game.kernels.returns(work.states[depth], game.rules, work.totals)
    value = work.totals[walk.traverser]
    if walk.position != NONE:
        value += game.continuation[walk.position]
    return value


# ---- decisions -----------------------------------------------------------------------------------


@inlined
def enter_row(frame, table, key, mask, size, actions):
    """Enter the row of an information set; if there is no room, note its ``actions`` instead."""
    place = enter(table, key, mask, size)
    if place != ABSENT:
        frame.first = first_entry(place)
        frame.num_actions = num_entries(place)
        return
    rank = 0
    for action in range(mask.size):
        if mask[action]:
            actions[rank] = action
            rank += 1
    frame.first = NONE
    frame.num_actions = size


@inlined
def mark_actions(game, work, depth):
    """Mark what can be done at ``depth``, by actions or by abstract ones; how much there is."""
    abstract, mask = work.abstract[depth], work.mask
    if abstract.size == 0:
        return game.kernels.legal(work.states[depth], game.rules, mask)
    size = 0
    for action in range(mask.size):
        mask[action] = action < abstract.size and abstract[action] != NONE
        size += mask[action]
    return np.int64(size)


@inlined
def look_up(game, work, depth, table):
    """Find the row of the node at ``depth``, or enter it."""
    frame = work.frames[depth]
    key = work.keys[depth, frame.player]
    if game.hooks.has_key:
        state, abstract = work.states[depth], work.abstract[depth]
        player, numbers = frame.player, work.numbers
        key = game.hooks.key(state, game.rules, player, numbers, game.tables, abstract)
    frame.is_abstract = work.abstract.shape[1]
    place = find(table, key)
    if place != ABSENT:
        frame.first = first_entry(place)
        frame.num_actions = num_entries(place)
    else:
        size = mark_actions(game, work, depth)
        enter_row(frame, table, key, work.mask, size, work.actions[depth])


@inlined
def leave_one(work, depth, action):
    """Leave a single action at ``depth``, which is in no table."""
    frame = work.frames[depth]
    work.actions[depth, 0] = action
    frame.first = NONE
    frame.num_actions = 1
    frame.is_abstract = 0


@inlined
def decide(game, work, depth, table, player, deviations):
    """Prepare the decision at ``depth``: find its row, and write the policy there."""
    frame, state, rng = work.frames[depth], work.states[depth], work.rng
    frame.player = player
    if deviations > 0.0 and uniform(rng) < deviations:
        action = game.hooks.deviation(state, game.rules, rng, work.numbers, game.tables)
        leave_one(work, depth, action)
    elif work.is_fixed[player]:
        action = game.hooks.opponent(state, game.rules, rng, work.numbers, game.tables)
        leave_one(work, depth, action)
    else:
        look_up(game, work, depth, table)
    match_regrets(frame, table, work.policies[depth])


@inlined
def find_baselines(work, depth, baselines, plan):
    """Note where the baselines of the node at ``depth`` are.

    By history, they know what nobody knows: all that the players have seen taken together.
    """
    frame = work.frames[depth]
    frame.baseline = frame.first if plan.baselines == BY_INFOSET else NONE
    if plan.baselines == BY_HISTORY:
        key = work.keys[depth, 0]
        for player in range(1, work.keys.shape[1]):
            key = fold(key, np.int64(work.keys[depth, player]))
        place = find(baselines, key)
        if place == ABSENT:
            place = enter(baselines, key, work.mask, frame.num_actions)
        if place != ABSENT:
            frame.baseline = first_entry(place)


@inlined
def match_regrets(frame, table, policy):
    """Write the policy in proportion to positive regrets, uniform when there are none."""
    size, first = frame.num_actions, frame.first
    total = 0.0
    if first != NONE:
        for i in range(size):
            policy[i] = max(table.regrets[first + i], 0.0)
            total += policy[i]
    if total > 0.0:
        share = 1.0 / total
        for i in range(size):
            policy[i] *= share
    else:
        for i in range(size):
            policy[i] = 1.0 / size


@inlined
def draw(policy, size, number):
    """The rank of the action that a uniform ``number`` in [0, 1) falls on."""
    chosen = 0
    for i in range(size):
        # An action of probability 0 is never drawn, not even when rounding leaves a rest.
        if policy[i] > 0.0:
            chosen = i
            number -= policy[i]
            if number < 0.0:
                break
    return chosen


@inlined
def action_at(work, depth, table, rank):
    """The action of a rank in the node at ``depth``."""
    frame = work.frames[depth]
    if frame.first == NONE:
        action = np.int64(work.actions[depth, rank])
    else:
        action = np.int64(table.actions[frame.first + rank])
    return np.int64(work.abstract[depth, action]) if frame.is_abstract else action


# ---- learning ------------------------------------------------------------------------------------


@inlined
def add_regrets(frame, table, plan, values, value, weight):
    """Add ``weight`` times what every action is better than ``value`` to its regret."""
    if frame.first == NONE:
        return
    for i in range(frame.num_actions):
        entry = frame.first + i
        regret = table.regrets[entry] + weight * (values[i] - value)
        table.regrets[entry] = max(regret, 0.0) if plan.is_plus else regret


@inlined
def add_policy(frame, table, policy, weight):
    """Let the policy count ``weight`` times in the average."""
    if frame.first == NONE:
        return
    for i in range(frame.num_actions):
        table.cumulative_policy[frame.first + i] += weight * policy[i]


@inlined
def mean_value(policy, values, size):
    """What the policy gets if the actions get ``values``."""
    value = 0.0
    for i in range(size):
        value += policy[i] * values[i]
    return value
