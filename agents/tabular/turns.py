"""One decision of a table learner and what it learns from it, compiled.

A learner updates the value of its last action when it is to move again, because only then does it
know what the action led to: the reward since then, and the values it now has to choose from. What
is taken as the value of the new position is the whole difference between the rules:

====================  ============================================================================
``sarsa``             the value of the action that is now played
``q_learning``        the highest value
``expected_sarsa``    the mean of the values, weighted with the probabilities of the policy
``double_q``          two values by each key: the action one thinks best, valued by the other
====================  ============================================================================

With eligibility traces, all earlier actions of the game take a share of each update, those of
Q-learning back to the last action that was not the best (Watkins). With backward updates, nothing
is learnt before the game is over, and then everything from the last action to the first.
"""

from __future__ import annotations

import numpy as np
from numba import types

from agents.tabular.hooks import IDS
from agents.tabular.model import (
    CHANGES,
    DOUBLE_Q,
    EVENTS,
    EXPECTED_SARSA,
    MODEL_ARRAYS,
    Q_LEARNING,
    SARSA,
    WORKSPACE,
)
from agents.tabular.table import (
    ABSENT,
    VDBE,
    best_value,
    draw,
    find,
    insert,
    scheduled,
    vdbe_epsilon,
    write_probs,
)
from envs.core.compiling import compiled, helper
from envs.core.kernels import INT, KERNELS, RNG, RULES, STATE
from envs.core.rng import mix, uniform

_STATE_TAG = np.uint64(0xA0761D6478BD642F)

# ---- reading -------------------------------------------------------------------------------------


@helper
def begin_episode(seat):
    """Forget the last game."""
    seat.last_slot = ABSENT
    seat.episode_length = 0


@helper
def read_values(model, work):
    """Look up every legal action: its values, and their mean."""
    m = model.record[0]
    num_values = model.values.shape[0]
    for action in range(work.mask.size):
        if not work.mask[action]:
            continue
        slot = find(model.keys, work.keys[action])
        total = 0.0
        for i in range(num_values):
            value = m.initial if slot == ABSENT else model.values[i, slot]
            work.values[i, action] = value
            total += value
        work.means[action] = total / num_values


@helper
def table_max(model):
    """The highest value of the whole table, and at least 0."""
    best = 0.0
    for slot in range(model.keys.size):
        if model.keys[slot] != np.uint64(0):
            best = max(best, model.values[0, slot])
    return best


@helper
def state_key(work):
    """A key for the position as a whole, whatever the abstraction makes of its actions."""
    key = _STATE_TAG
    for action in range(work.mask.size):
        if work.mask[action]:
            key ^= mix(work.keys[action])
    return key


@helper
def exploration_now(model, work):
    """Epsilon or temperature: by the schedule, or the state's own."""
    m = model.record[0]
    if m.policy == VDBE:
        slot = find(model.keys, state_key(work))
        return 1.0 if slot == ABSENT else model.values[0, slot]
    share = m.num_games / m.exploration_games
    return scheduled(m.exploration_schedule, m.exploration, m.exploration_end, share)


_KNOWN = MODEL_ARRAYS, KERNELS, RULES, STATE, INT, types.uint64, IDS, INT


@compiled(types.void(*_KNOWN, types.float64, WORKSPACE))
def evaluate_actions(model, kernels, rules, state, player, key, ids, policy, amount, work):
    """Write ``mask``, ``means`` and ``probs`` of a decision; a negative amount: as learnt."""
    m = model.record[0]
    kernels.legal(state, rules, work.mask)
    model.hooks.encode(state, rules, player, key, work.keys)
    read_values(model, work)
    for action in range(work.mask.size):
        work.adjusted[action] = work.means[action]
    if model.hooks.has_adjust:
        highest = table_max(model) if m.wants_table_max else -1.0
        adjusted = work.adjusted
        model.hooks.adjust(state, rules, player, work.mask, adjusted, highest, ids, model.memory)
    if amount < 0.0:
        amount = exploration_now(model, work)
    write_probs(policy, amount, work.mask, work.adjusted, work.probs)
    m.num_turns += 1
    m.exploration_sum += amount


# ---- learning ------------------------------------------------------------------------------------


@helper
def bootstrap_value(model, work, action, which):
    """The value of the position by the rule, if ``action`` is played in it."""
    rule = model.record[0].rule
    if rule == SARSA:
        return work.means[action]
    if rule == Q_LEARNING:
        return best_value(work.mask, work.means)
    if rule == EXPECTED_SARSA:
        total = 0.0
        for a in range(work.mask.size):
            if work.mask[a]:
                total += work.probs[a] * work.means[a]
        return total
    best = action
    for a in range(work.mask.size):
        if work.mask[a] and work.values[which, a] > work.values[which, best]:
            best = a
    return work.values[1 - which, best]


@helper
def reward_since(model, rules, state, player, place, work, total, is_over):
    """What the last action has earned up to now; ``total``: the player's return so far."""
    m = model.record[0]
    if m.reward_kind == EVENTS:
        return model.hooks.reward(work.before[place], state, rules, player, model.levels)
    if m.reward_kind == CHANGES:
        return total - work.seats[place].last_total
    return total if is_over else 0.0


@helper
def rate_of(model, which, slot):
    """The learning rate of an entry."""
    m = model.record[0]
    return 1.0 / model.visits[which, slot] if m.is_averaging else m.learning_rate


@helper
def update_traces(model, work, place, error, is_cut):
    """Share an error among the actions with a trace, the last of which has just been added."""
    m = model.record[0]
    seat = work.seats[place]
    slots, weights = work.episode_slots[place], work.episode_weights[place]
    for i in range(seat.episode_length):
        model.values[0, slots[i]] += rate_of(model, 0, slots[i]) * weights[i] * error
        weights[i] *= m.discount * m.trace_decay
    if is_cut:
        seat.episode_length = 0


@helper
def extend_trace(work, place, slot):
    """The last action's trace begins, or begins again."""
    seat = work.seats[place]
    slots, weights = work.episode_slots[place], work.episode_weights[place]
    for i in range(seat.episode_length):
        if slots[i] == slot:
            weights[i] = 1.0
            return
    slots[seat.episode_length] = slot
    weights[seat.episode_length] = 1.0
    seat.episode_length += 1


@helper
def learn(model, work, place, which, reward, next_value, is_cut):
    """Update the last action of a seat; ``is_cut``: its traces end here."""
    m = model.record[0]
    seat = work.seats[place]
    slot = seat.last_slot
    current = seat.last_value if m.snapshot else model.values[which, slot]
    error = reward + m.discount * next_value - current
    m.num_updates += 1
    m.error_sum += abs(error)
    model.visits[which, slot] += 1
    if m.has_episode:
        extend_trace(work, place, slot)
        update_traces(model, work, place, error, is_cut)
    else:
        model.values[which, slot] += rate_of(model, which, slot) * error
    if m.policy == VDBE:
        weight = m.vdbe_weight if m.vdbe_weight > 0.0 else 1.0 / seat.num_legal
        change = rate_of(model, which, slot) * error
        epsilon = model.values[0, seat.state_slot]
        epsilon = vdbe_epsilon(epsilon, change, m.vdbe_sensitivity, weight)
        for i in range(model.values.shape[0]):
            model.values[i, seat.state_slot] = epsilon


@helper
def keep_step(model, work, place, slot, value, is_best):
    """Keep a decision for the backward updates at the end."""
    seat = work.seats[place]
    at = seat.episode_length
    work.episode_slots[place, at] = slot
    work.episode_values[place, at] = value
    work.episode_is_best[place, at] = is_best
    seat.episode_length += 1


@helper
def update_backward(model, work, place):
    """Update all actions of a game, the last one first, each towards what followed it."""
    m = model.record[0]
    slots, rewards = work.episode_slots[place], work.episode_weights[place]
    following = 0.0
    for back in range(work.seats[place].episode_length):
        i = work.seats[place].episode_length - 1 - back
        slot = slots[i]
        target = rewards[i] + m.discount * following
        error = target - model.values[0, slot]
        m.num_updates += 1
        m.error_sum += abs(error)
        model.visits[0, slot] += 1
        model.values[0, slot] += rate_of(model, 0, slot) * error
        following = work.episode_values[place, i]
        if m.rule != Q_LEARNING or work.episode_is_best[place, i]:
            following += m.trace_decay * (target - following)


# ---- a game, as one seat plays it ----------------------------------------------------------------


@helper
def keep_decision(model, state, place, action, slot, total, work):
    """Keep what the update of this action will need, when the seat is to move again."""
    m = model.record[0]
    seat = work.seats[place]
    seat.last_slot = slot
    seat.last_value = work.means[action]
    seat.last_total = total
    seat.state_slot = ABSENT
    if m.policy == VDBE:
        seat.state_slot = insert(model.keys, model.values, model.size, state_key(work), 1.0)
        seat.num_legal = work.mask.sum()
    if m.reward_kind == EVENTS:
        for i in range(state.size):
            work.before[place, i] = state[i]


@compiled(INT(*_KNOWN, WORKSPACE, RNG))
def take_turn(model, kernels, rules, state, player, key, ids, place, work, rng):
    """Select an action, learn from the last one, and return the new one."""
    m = model.record[0]
    evaluate_actions(model, kernels, rules, state, player, key, ids, m.policy, -1.0, work)
    action = draw(work.probs, uniform(rng))
    if not m.is_learning:
        return action
    seat = work.seats[place]
    total = 0.0
    if m.reward_kind == CHANGES:
        kernels.returns(state, rules, work.totals)
        total = work.totals[player]
    slot = insert(model.keys, model.values, model.size, work.keys[action], m.initial)
    is_best = work.means[action] >= best_value(work.mask, work.means)
    which = 0
    if m.rule == DOUBLE_Q and uniform(rng) < 0.5:
        which = 1
    if seat.last_slot != ABSENT or m.is_backward:
        next_value = bootstrap_value(model, work, action, which)
        reward = 0.0
        if seat.last_slot != ABSENT:
            reward = reward_since(model, rules, state, player, place, work, total, False)
        if m.is_backward:
            if seat.episode_length > 0:
                work.episode_weights[place, seat.episode_length - 1] = reward
            keep_step(model, work, place, slot, next_value, is_best)
        else:
            if m.overwrite:
                seat.last_slot = slot
                seat.last_value = work.means[action]
            is_cut = m.rule == Q_LEARNING and not is_best
            learn(model, work, place, which, reward, next_value, is_cut)
    keep_decision(model, state, place, action, slot, total, work)
    return action


@compiled(types.void(MODEL_ARRAYS, RULES, STATE, INT, INT, types.float64, WORKSPACE, RNG))
def end_game(model, rules, state, player, place, total, work, rng):
    """Learn from the end of a game, with a return of ``total``."""
    m = model.record[0]
    seat = work.seats[place]
    if not m.is_learning or seat.last_slot == ABSENT or not m.final_update:
        return
    which = 0
    if m.rule == DOUBLE_Q and uniform(rng) < 0.5:
        which = 1
    reward = reward_since(model, rules, state, player, place, work, total, True)
    if m.is_backward:
        work.episode_weights[place, seat.episode_length - 1] = reward
        update_backward(model, work, place)
    else:
        learn(model, work, place, which, reward, 0.0, True)
