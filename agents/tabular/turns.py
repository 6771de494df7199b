"""One decision of a table learner and what it learns from it, compiled.

A learner updates the value of its last action when it is to move again, because only then does it
know what the action led to: the reward since then, and the values it now has to choose from. What
stands for the worth of the new position is the whole difference between the rules:

====================  ============================================================================
``sarsa``             the value of the action that is now played
``q_learning``        the highest value
``expected_sarsa``    the mean of the values, weighted with the probabilities of the choice
``double_q``          two values by each key: the action one thinks best, valued by the other
====================  ============================================================================

With traces, all earlier actions of the game take a share of each update, those of Q-learning back
to the last action that was not the best (Watkins). With a sweep, nothing is updated before the game
is over, and then everything from the last action to the first.
"""

from __future__ import annotations

import numpy as np
from numba import types

from agents.tabular.hooks import PLACES
from agents.tabular.records import (
    AT_END,
    CHANGES,
    DESK,
    DOUBLE_Q,
    EVENTS,
    EXPECTED_SARSA,
    MINDS,
    Q_LEARNING,
    SARSA,
)
from agents.tabular.selection import VDBE, best_value, draw, scheduled, vdbe_epsilon, write_probs
from agents.tabular.table import ABSENT, find, insert
from envs.core.compiling import compiled, helper
from envs.core.kernels import INT, KERNELS, RNG, RULES, STATE
from envs.core.rng import mix, uniform

__all__ = ["consider", "end_game", "sit_down", "take_turn"]

_SEAT_SHIFT = np.uint64(60)
_STATE_TAG = np.uint64(0xA0761D6478BD642F)


# ---- reading -------------------------------------------------------------------------------------


@helper
def sit_down(seat):
    """Forget the last game."""
    seat.last_slot = ABSENT
    seat.trail_length = 0


@helper
def read_values(mind, desk, player):
    """Look up every legal action: its place, its values, and their mean."""
    m = mind.record[0]
    num_values = mind.values.shape[0]
    tag = np.uint64(0) if m.is_shared else np.uint64(player + 1) << _SEAT_SHIFT
    for action in range(desk.mask.size):
        if not desk.mask[action]:
            continue
        desk.keys[action] ^= tag
        slot = find(mind.keys, desk.keys[action])
        desk.slots[action] = slot
        total = 0.0
        for i in range(num_values):
            value = m.initial if slot == ABSENT else mind.values[i, slot]
            desk.values[i, action] = value
            total += value
        desk.means[action] = total / num_values


@helper
def table_max(mind):
    """The highest value of the whole table, and at least 0."""
    best = 0.0
    for slot in range(mind.keys.size):
        if mind.keys[slot] != np.uint64(0):
            best = max(best, mind.values[0, slot])
    return best


@helper
def state_key(desk):
    """A key for the position as a whole, whatever its actions are coded as."""
    key = _STATE_TAG
    for action in range(desk.mask.size):
        if desk.mask[action]:
            key ^= mix(desk.keys[action])
    return key


@helper
def exploration_now(mind, desk):
    """Epsilon or temperature: by the schedule, or the state's own."""
    m = mind.record[0]
    if m.policy == VDBE:
        slot = find(mind.keys, state_key(desk))
        return 1.0 if slot == ABSENT else mind.values[0, slot]
    share = m.num_games / m.schedule_games
    return scheduled(m.schedule, m.exploration, m.exploration_end, share)


@compiled(INT(MINDS, KERNELS, RULES, STATE, INT, types.uint64, PLACES, INT, types.float64, DESK))
def consider(mind, kernels, rules, state, player, key, who, policy, amount, desk):
    """Write ``mask``, ``means`` and ``probs`` of a decision; a negative amount: as learnt."""
    m = mind.record[0]
    num_legal = kernels.legal(state, rules, desk.mask)
    mind.hooks.encode(state, rules, player, key, desk.keys)
    read_values(mind, desk, player)
    for action in range(desk.mask.size):
        desk.bent[action] = desk.means[action]
    if m.has_memory:
        highest = table_max(mind) if m.wants_table_max else -1.0
        mind.hooks.bend(state, rules, player, desk.mask, desk.bent, highest, who, mind.memory)
    if amount < 0.0:
        amount = exploration_now(mind, desk)
    write_probs(policy, amount, desk.mask, desk.bent, desk.probs)
    m.num_turns += 1
    m.exploration_sum += amount
    return num_legal


# ---- learning ------------------------------------------------------------------------------------


@helper
def worth(mind, desk, action, which):
    """What the position is worth by the rule, if ``action`` is played in it."""
    rule = mind.record[0].rule
    if rule == SARSA:
        return desk.means[action]
    if rule == Q_LEARNING:
        return best_value(desk.mask, desk.means)
    if rule == EXPECTED_SARSA:
        total = 0.0
        for a in range(desk.mask.size):
            if desk.mask[a]:
                total += desk.probs[a] * desk.means[a]
        return total
    best = action
    for a in range(desk.mask.size):
        if desk.mask[a] and desk.values[which, a] > desk.values[which, best]:
            best = a
    return desk.values[1 - which, best]


@helper
def reward_since(mind, kernels, rules, state, player, place, desk, is_over):
    """What the last action has earned up to now."""
    m = mind.record[0]
    seat = desk.seats[place]
    if m.reward_kind == EVENTS:
        return mind.hooks.reward(desk.before[place], state, rules, player, mind.levels)
    if m.reward_kind == AT_END and not is_over:
        return 0.0
    kernels.returns(state, rules, desk.totals)
    before = seat.last_total if m.reward_kind == CHANGES else 0.0
    return desk.totals[player] - before


@helper
def rate_of(mind, which, slot):
    """The learning rate of an entry."""
    m = mind.record[0]
    return 1.0 / mind.visits[which, slot] if m.is_averaging else m.learning_rate


@helper
def spread(mind, desk, place, error, is_cut):
    """Share an error among the actions of the trail, the last of which has just been added."""
    m = mind.record[0]
    seat = desk.seats[place]
    slots, weights = desk.trail_slots[place], desk.trail_weights[place]
    for i in range(seat.trail_length):
        mind.values[0, slots[i]] += rate_of(mind, 0, slots[i]) * weights[i] * error
        weights[i] *= m.discount * m.trace_decay
    if is_cut:
        seat.trail_length = 0


@helper
def extend_trail(mind, desk, place, slot):
    """The last action's trace begins, or begins again."""
    m = mind.record[0]
    seat = desk.seats[place]
    slots, weights = desk.trail_slots[place], desk.trail_weights[place]
    for i in range(seat.trail_length):
        if slots[i] == slot:
            weights[i] = weights[i] + 1.0 if m.is_accumulating else 1.0
            return
    slots[seat.trail_length] = slot
    weights[seat.trail_length] = 1.0
    seat.trail_length += 1


@helper
def learn(mind, desk, place, which, reward, next_worth, is_cut):
    """Update the last action of a seat; ``is_cut``: its traces end here."""
    m = mind.record[0]
    seat = desk.seats[place]
    slot = seat.last_slot
    current = seat.last_value if m.has_snapshot else mind.values[which, slot]
    error = reward + m.discount * next_worth - current
    m.num_updates += 1
    m.error_sum += abs(error)
    mind.visits[which, slot] += 1
    if m.has_trail:
        extend_trail(mind, desk, place, slot)
        spread(mind, desk, place, error, is_cut)
    else:
        mind.values[which, slot] += rate_of(mind, which, slot) * error
    if m.policy == VDBE:
        weight = m.vdbe_weight if m.vdbe_weight > 0.0 else 1.0 / seat.num_legal
        change = rate_of(mind, which, slot) * error
        epsilon = mind.values[0, seat.state_slot]
        epsilon = vdbe_epsilon(epsilon, change, m.vdbe_sensitivity, weight)
        for i in range(mind.values.shape[0]):
            mind.values[i, seat.state_slot] = epsilon


@helper
def note(mind, desk, place, slot, value, is_best):
    """Remember a decision for the sweep at the end."""
    seat = desk.seats[place]
    at = seat.trail_length
    desk.trail_slots[place, at] = slot
    desk.trail_values[place, at] = value
    desk.trail_flags[place, at] = is_best
    seat.trail_length += 1


@helper
def sweep(mind, desk, place):
    """Update all actions of a game, the last one first, each towards what followed it."""
    m = mind.record[0]
    slots, rewards = desk.trail_slots[place], desk.trail_weights[place]
    following = 0.0
    for back in range(desk.seats[place].trail_length):
        i = desk.seats[place].trail_length - 1 - back
        slot = slots[i]
        target = rewards[i] + m.discount * following
        error = target - mind.values[0, slot]
        m.num_updates += 1
        m.error_sum += abs(error)
        mind.visits[0, slot] += 1
        mind.values[0, slot] += rate_of(mind, 0, slot) * error
        following = desk.trail_values[place, i]
        if m.rule != Q_LEARNING or desk.trail_flags[place, i]:
            following += m.trace_decay * (target - following)


# ---- a game, as one seat plays it ----------------------------------------------------------------


@helper
def sit_out(mind, kernels, rules, state, player, place, action, num_legal, slot, desk):
    """Keep what will be needed when the seat is to move again."""
    m = mind.record[0]
    seat = desk.seats[place]
    seat.last_slot = slot
    seat.last_value = desk.means[action]
    seat.num_legal = num_legal
    seat.state_slot = ABSENT
    if m.policy == VDBE:
        seat.state_slot = insert(mind.keys, mind.values, mind.size, state_key(desk), 1.0)
    if m.reward_kind == CHANGES:
        kernels.returns(state, rules, desk.totals)
        seat.last_total = desk.totals[player]
    if m.reward_kind == EVENTS:
        for i in range(state.size):
            desk.before[place, i] = state[i]


@compiled(INT(MINDS, KERNELS, RULES, STATE, INT, types.uint64, PLACES, INT, DESK, RNG))
def take_turn(mind, kernels, rules, state, player, key, who, place, desk, rng):
    """Choose an action, learn from the last one, and return the new one."""
    m = mind.record[0]
    num_legal = consider(mind, kernels, rules, state, player, key, who, m.policy, -1.0, desk)
    action = draw(desk.probs, uniform(rng))
    if not m.is_learning:
        return action
    seat = desk.seats[place]
    slot = insert(mind.keys, mind.values, mind.size, desk.keys[action], m.initial)
    is_best = desk.means[action] >= best_value(desk.mask, desk.means)
    which = 0
    if m.rule == DOUBLE_Q and uniform(rng) < 0.5:
        which = 1
    if seat.last_slot != ABSENT or m.is_sweep:
        next_worth = worth(mind, desk, action, which)
        reward = 0.0
        if seat.last_slot != ABSENT:
            reward = reward_since(mind, kernels, rules, state, player, place, desk, False)
        if m.is_sweep:
            if seat.trail_length > 0:
                desk.trail_weights[place, seat.trail_length - 1] = reward
            note(mind, desk, place, slot, next_worth, is_best)
        else:
            if m.has_overwrite:
                seat.last_slot = slot
                seat.last_value = desk.means[action]
            is_cut = m.rule == Q_LEARNING and not is_best
            learn(mind, desk, place, which, reward, next_worth, is_cut)
    sit_out(mind, kernels, rules, state, player, place, action, num_legal, slot, desk)
    return action


@compiled(types.void(MINDS, KERNELS, RULES, STATE, INT, INT, DESK, RNG))
def end_game(mind, kernels, rules, state, player, place, desk, rng):
    """Learn from the end of a game."""
    m = mind.record[0]
    seat = desk.seats[place]
    if not m.is_learning or seat.last_slot == ABSENT or not m.has_final_update:
        return
    which = 0
    if m.rule == DOUBLE_Q and uniform(rng) < 0.5:
        which = 1
    reward = reward_since(mind, kernels, rules, state, player, place, desk, True)
    if m.is_sweep:
        desk.trail_weights[place, seat.trail_length - 1] = reward
        sweep(mind, desk, place)
    else:
        learn(mind, desk, place, which, reward, 0.0, True)
