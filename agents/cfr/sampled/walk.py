"""Walks through sampled parts of a game, compiled; ``solver`` is the Python face.

A walk belongs to one player, the *traverser*, whose regrets it estimates; an iteration is one walk
for every player. Chance is always drawn.

``walk_tree``
    goes depth first through all actions of the traverser. The others' actions are drawn from their
    policies (external sampling) or all tried as well (chance sampling).
``walk_path``
    plays one game (outcome sampling). The traverser explores, and what it gets counts as many times
    as what it did was unlikely.

Where a single action is drawn, baselines may stand in for the others: a value then is the baseline
of the action plus what the drawn one brought beyond its own, divided by its probability. Its
expectation is the same whatever the baselines are; the closer they come, the smaller its variance.
"""

from __future__ import annotations

import numpy as np
from numba import from_dtype, types

from agents.cfr.sampled.hash_tables import LEFT_OUT, TABLE
from agents.cfr.sampled.nodes import (
    CHANCE_ONLY,
    DESK,
    EXTERNAL,
    NO_BASELINES,
    NONE,
    OUTCOME,
    PLAN,
    action_at,
    add_policy,
    add_regrets,
    begin,
    draw,
    find_baselines,
    look_up,
    match_regrets,
    mean_value,
    play,
)
from envs.core.compiling import compiled, inlined
from envs.core.kernels import INT, KERNELS, OVER, RULES
from envs.core.rng import below, uniform

__all__ = ["TOO_LONG", "run_walks"]

TOO_LONG = -1
"""``run_walks``: a game went on beyond its declared length."""


@inlined
def next_seat(player, num_players):
    """The player whose policy is averaged in the walks of ``player``: each in one of them."""
    return player + 1 if player + 1 < num_players else 0


@inlined
def follow_baseline(book, entry, player, rate, seen):
    """Move the baseline of an entry towards what was seen; what it was before."""
    expected = np.float64(book.baselines[entry, player])
    book.baselines[entry, player] = expected + rate * (seen - expected)
    return expected


# ---- all actions of the traverser ----------------------------------------------------------------


@inlined
def open_node(kernels, rules, desk, depth, table, book, plan, turn, traverser, average_weight):
    """Look at a new node: its policy, and which of its actions will be tried."""
    frame, policy = desk.frames[depth], desk.policies[depth]
    look_up(kernels, rules, desk, depth, table, turn)
    match_regrets(frame, table, policy)
    frame.at = 0
    frame.stop = frame.num_actions
    if turn != traverser and plan.sampling == EXTERNAL:
        frame.at = draw(policy, frame.num_actions, uniform(desk.rng))
        frame.stop = frame.at + 1
        find_baselines(desk, depth, book, plan)
        if turn == next_seat(traverser, desk.totals.size):
            add_policy(frame, table, policy, average_weight)


@inlined
def correct_drawn(frame, book, plan, policy, traverser, seen):
    """The value of a node at which one action was drawn by policy, with the help of baselines."""
    value, drawn = seen, frame.baseline + frame.stop - 1
    for i in range(frame.num_actions):
        value += policy[i] * book.baselines[frame.baseline + i, traverser]
    return value - follow_baseline(book, drawn, traverser, plan.baseline_rate, seen)


@inlined
def close_node(desk, depth, table, book, plan, traverser, regret_weight, average_weight):
    """Learn from the values of a node's actions; the value of the node."""
    frame, policy, values = desk.frames[depth], desk.policies[depth], desk.values[depth]
    if frame.player != traverser and plan.sampling == EXTERNAL:
        seen = values[frame.stop - 1]
        if frame.baseline != NONE:
            return correct_drawn(frame, book, plan, policy, traverser, seen)
        return seen
    value = mean_value(policy, values, frame.num_actions)
    if frame.player == traverser:
        add_regrets(frame, table, plan, values, value, regret_weight * frame.others)
        if plan.sampling == CHANCE_ONLY:
            add_policy(frame, table, policy, average_weight * frame.own)
    return value


@inlined
def enter_child(frame, child, policy, plan, traverser):
    """Make the frame of a child new; False when nothing below it can matter."""
    child.at = NONE
    child.own = frame.own
    child.others = frame.others
    if plan.sampling == CHANCE_ONLY:
        if frame.player == traverser:
            child.own *= policy[frame.at]
        else:
            child.others *= policy[frame.at]
    # The average needs nodes that only the traverser comes to, the regrets the rest.
    return child.own > 0.0 or child.others > 0.0


@inlined
def walk_tree(
    kernels, rules, root, desk, table, book, plan, traverser, regret_weight, average_weight
):
    """External or chance sampling; False if the game is longer than it says."""
    turn = begin(kernels, rules, root, desk)
    depth = 0
    desk.frames[0].at = NONE
    while depth >= 0:
        frame = desk.frames[depth]
        if frame.at == NONE:
            if depth + 1 == desk.frames.size:
                return False
            open_node(
                kernels, rules, desk, depth, table, book, plan, turn, traverser, average_weight
            )
        else:
            frame.at += 1
        if frame.at < frame.stop:
            desk.values[depth, frame.at] = 0.0
            if enter_child(frame, desk.frames[depth + 1], desk.policies[depth], plan, traverser):
                turn = play(kernels, rules, desk, depth, action_at(frame, desk, depth, table))
                if turn == OVER:
                    kernels.returns(desk.states[depth + 1], rules, desk.totals)
                    desk.values[depth, frame.at] = desk.totals[traverser]
                else:
                    depth += 1
        else:
            value = close_node(
                desk, depth, table, book, plan, traverser, regret_weight, average_weight
            )
            depth -= 1
            if depth >= 0:
                desk.values[depth, desk.frames[depth].at] = value
    return True


# ---- one game ------------------------------------------------------------------------------------


@inlined
def choose(desk, depth, plan, traverser):
    """Draw an action of the node at ``depth``, and note how probable it was."""
    frame, child, policy = desk.frames[depth], desk.frames[depth + 1], desk.policies[depth]
    size = frame.num_actions
    is_own = frame.player == traverser
    if is_own and uniform(desk.rng) < plan.epsilon:
        frame.at = below(desk.rng, size)
    else:
        frame.at = draw(policy, size, uniform(desk.rng))
    frame.drawn = policy[frame.at]
    child.explored = frame.explored
    if is_own:
        frame.drawn = plan.epsilon / size + (1.0 - plan.epsilon) * frame.drawn
        child.explored *= frame.drawn


@inlined
def learn_path(desk, depth, table, book, plan, traverser, regret_weight):
    """Learn from what followed the drawn action of a node; ``totals`` becomes its value."""
    frame, policy, values = desk.frames[depth], desk.policies[depth], desk.values[depth]
    has_baselines = frame.baseline != NONE
    for player in range(desk.totals.size):
        if player != traverser and plan.baselines == NO_BASELINES:
            continue
        seen, expected = desk.totals[player], 0.0
        for i in range(frame.num_actions):
            values[i] = book.baselines[frame.baseline + i, player] if has_baselines else 0.0
        if has_baselines:
            entry, rate = frame.baseline + frame.at, plan.baseline_rate
            expected = follow_baseline(book, entry, player, rate, seen)
        values[frame.at] = expected + (seen - expected) / frame.drawn
        value = mean_value(policy, values, frame.num_actions)
        if player == traverser and frame.player == traverser:
            add_regrets(frame, table, plan, values, value, regret_weight / frame.explored)
        desk.totals[player] = value


@inlined
def walk_path(
    kernels, rules, root, desk, table, book, plan, traverser, regret_weight, average_weight
):
    """Outcome sampling; False if the game is longer than it says."""
    turn = begin(kernels, rules, root, desk)
    depth = 0
    averaged = next_seat(traverser, desk.totals.size)
    while turn != OVER:
        if depth + 1 == desk.frames.size:
            return False
        frame, policy = desk.frames[depth], desk.policies[depth]
        look_up(kernels, rules, desk, depth, table, turn)
        find_baselines(desk, depth, book, plan)
        match_regrets(frame, table, policy)
        choose(desk, depth, plan, traverser)
        if turn == averaged:
            add_policy(frame, table, policy, average_weight / frame.explored)
        turn = play(kernels, rules, desk, depth, action_at(frame, desk, depth, table))
        depth += 1
    kernels.returns(desk.states[depth], rules, desk.totals)
    while depth > 0:
        depth -= 1
        learn_path(desk, depth, table, book, plan, traverser, regret_weight)
    return True


# ---- iterations ----------------------------------------------------------------------------------


@compiled(
    INT(
        KERNELS,
        RULES,
        types.uint8[:, ::1],
        DESK,
        TABLE,
        TABLE,
        from_dtype(PLAN)[::1],
        INT,
        INT,
        INT,
    )
)
def run_walks(kernels, rules, roots, desk, table, book, plans, first, end, stride):
    """Run iterations ``first``, ``first + stride`` ... before ``end``; the first that was not run.

    Baselines are in ``book``, which may be the same table. With ``stops_when_full`` the iteration
    in which the table had no room is the last.
    """
    plan = plans[0]
    left_out = table.counts[LEFT_OUT]
    t = first
    while t < end:
        weight = np.float64(t) ** plan.regret_power
        average = np.float64(t) ** plan.average_power
        root = roots[t % roots.shape[0]]
        for player in range(desk.totals.size):
            if plan.sampling == OUTCOME:
                is_fine = walk_path(
                    kernels, rules, root, desk, table, book, plan, player, weight, average
                )
            else:
                is_fine = walk_tree(
                    kernels, rules, root, desk, table, book, plan, player, weight, average
                )
            if not is_fine:
                return TOO_LONG
        t += stride
        if plan.stops_when_full and table.counts[LEFT_OUT] > left_out:
            break
    return t
