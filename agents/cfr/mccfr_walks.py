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

Where a game has continuation values, walks go from one position of theirs to the next, and after
every iteration the game is played on by the present policies: positions that come up often are
learnt well. The continuation values follow what the walks bring.
"""

from __future__ import annotations

import numpy as np
from numba import from_dtype, types

from agents.abstraction import NONE
from agents.cfr.mccfr_nodes import (
    CHANCE_ONLY,
    EXTERNAL,
    NO_BASELINES,
    OUTCOME,
    PLAN,
    SAMPLED_GAME,
    WORKSPACE,
    action_at,
    add_policy,
    add_regrets,
    begin,
    copy_state,
    decide,
    draw,
    end_value,
    find_baselines,
    mean_value,
    play,
)
from agents.cfr.mccfr_tables import LEFT_OUT, TABLE
from envs.core.compiling import compiled, inlined
from envs.core.kernels import INT, OVER
from envs.core.rng import below, uniform

TOO_LONG = -1
"""``run_walks``: a game went on beyond its declared length."""

# An action is hopeless when it would have to win so many walks at once to be played again. N. Brown
# and T. Sandholm, "Superhuman AI for multiplayer poker" (2019), pass such actions over in most
# walks.
HOPELESS = 10.0

# Later results count more in continuation values, as in linear averages, and the first guess counts
# like some twenty results.
GUESS_WEIGHT = 20.0

# Walks are functions of their own: in one large function they would leave each other no registers.
_PLAN = from_dtype(PLAN)[::1]
_WALK = types.float64(SAMPLED_GAME, WORKSPACE, TABLE, TABLE, _PLAN)


@inlined
def follow_baseline(baselines, entry, player, rate, seen):
    """Move the baseline of an entry towards what was seen; what it was before."""
    expected = np.float64(baselines.baselines[entry, player])
    baselines.baselines[entry, player] = expected + rate * (seen - expected)
    return expected


# ---- all actions of the traverser ----------------------------------------------------------------


@inlined
def open_node(game, work, depth, table, baselines, plan, turn):
    """Look at a new node: its policy, and which of its actions will be tried."""
    walk, frame, policy = work.walk[0], work.frames[depth], work.policies[depth]
    is_other = turn != walk.traverser
    decide(game, work, depth, table, turn, plan.deviations if is_other else 0.0)
    frame.at = 0
    frame.stop = frame.num_actions
    if is_other and plan.sampling == EXTERNAL:
        frame.at = draw(policy, frame.num_actions, uniform(work.rng))
        frame.stop = frame.at + 1
        find_baselines(work, depth, baselines, plan)
        add_policy(frame, table, policy, walk.average_weight)


@inlined
def is_hopeless(frame, walk, table, policy, rank):
    """Whether an action is never played and far from it."""
    if frame.first == NONE or policy[rank] > 0.0:
        return False
    return table.regrets[frame.first + rank] < walk.lowest_regret


@inlined
def rank_of_same(work, depth, table):
    """The rank of an earlier abstract action that stands for the same action, or NONE."""
    frame = work.frames[depth]
    if frame.is_abstract:
        action = action_at(work, depth, table, frame.at)
        for rank in range(frame.at):
            if action_at(work, depth, table, rank) == action:
                return rank
    return NONE


@inlined
def pass_over(work, depth, table):
    """Go to the next action of the traverser that is neither hopeless nor tried already."""
    walk, frame = work.walk[0], work.frames[depth]
    while frame.at < frame.stop:
        rank = rank_of_same(work, depth, table)
        if rank != NONE:
            work.values[depth, frame.at] = work.values[depth, rank]
        elif not is_hopeless(frame, walk, table, work.policies[depth], frame.at):
            break
        frame.at += 1


@inlined
def correct_drawn(frame, baselines, plan, policy, traverser, seen):
    """The value of a node at which one action was drawn by policy, with the help of baselines."""
    value, drawn = seen, frame.baseline + frame.stop - 1
    for i in range(frame.num_actions):
        value += policy[i] * baselines.baselines[frame.baseline + i, traverser]
    return value - follow_baseline(baselines, drawn, traverser, plan.baseline_rate, seen)


@inlined
def close_node(work, depth, table, baselines, plan):
    """Learn from the values of a node's actions; the value of the node."""
    walk, frame = work.walk[0], work.frames[depth]
    policy, values = work.policies[depth], work.values[depth]
    if frame.player != walk.traverser and plan.sampling == EXTERNAL:
        seen = values[frame.stop - 1]
        if frame.baseline != NONE:
            return correct_drawn(frame, baselines, plan, policy, walk.traverser, seen)
        return seen
    value = mean_value(policy, values, frame.num_actions)
    if frame.player == walk.traverser:
        if walk.passes_over:
            for rank in range(frame.num_actions):
                if is_hopeless(frame, walk, table, policy, rank):
                    values[rank] = value  # what was not tried is not regretted
        add_regrets(frame, table, plan, values, value, walk.regret_weight * frame.others)
        if walk.averages_own:
            add_policy(frame, table, policy, walk.average_weight * frame.own)
    return value


@inlined
def enter_child(work, depth, plan):
    """Make the frame of a child new; False when nothing below it can matter."""
    walk, frame, child = work.walk[0], work.frames[depth], work.frames[depth + 1]
    policy = work.policies[depth]
    child.at = NONE
    child.own = frame.own
    child.others = frame.others
    if frame.player == walk.traverser:
        if walk.averages_own:
            child.own *= policy[frame.at]
    elif plan.sampling == CHANCE_ONLY:
        child.others *= policy[frame.at]
    # The average needs nodes that only the traverser comes to, the regrets the rest.
    return child.own > 0.0 or child.others > 0.0


@compiled(_WALK)
def walk_tree(game, work, table, baselines, plans):
    """External or chance sampling; the traverser's value, NaN if the game is too long."""
    plan = plans[0]
    walk, value, depth = work.walk[0], 0.0, 0
    turn = begin(game, work)
    if turn == OVER:
        return end_value(game, work, 0)
    work.frames[0].at = NONE
    while depth >= 0:
        frame = work.frames[depth]
        if frame.at == NONE:
            if depth + 1 == work.frames.size:
                return np.nan
            open_node(game, work, depth, table, baselines, plan, turn)
        else:
            frame.at += 1
        if walk.passes_over and frame.player == walk.traverser:
            pass_over(work, depth, table)
        if frame.at < frame.stop:
            work.values[depth, frame.at] = 0.0
            if enter_child(work, depth, plan):
                turn = play(game, work, depth, action_at(work, depth, table, frame.at))
                if turn == OVER:
                    value = end_value(game, work, depth + 1)
                    work.values[depth, frame.at] = value
                    if plan.pruning > 0.0:
                        work.span[0] = min(work.span[0], value)
                        work.span[1] = max(work.span[1], value)
                else:
                    depth += 1
        else:
            value = close_node(work, depth, table, baselines, plan)
            depth -= 1
            if depth >= 0:
                work.values[depth, work.frames[depth].at] = value
    return value


# ---- one game ------------------------------------------------------------------------------------


@inlined
def choose(work, depth, plan):
    """Draw an action of the node at ``depth``, and note how probable it was."""
    frame, child, policy = work.frames[depth], work.frames[depth + 1], work.policies[depth]
    size = frame.num_actions
    is_own = frame.player == work.walk[0].traverser
    if is_own and uniform(work.rng) < plan.epsilon:
        frame.at = below(work.rng, size)
    else:
        frame.at = draw(policy, size, uniform(work.rng))
    frame.drawn = policy[frame.at]
    child.explored = frame.explored
    if is_own:
        frame.drawn = plan.epsilon / size + (1.0 - plan.epsilon) * frame.drawn
        child.explored *= frame.drawn


@inlined
def learn_path(work, depth, table, baselines, plan):
    """Learn from what followed the drawn action of a node; ``totals`` becomes its value."""
    walk, frame = work.walk[0], work.frames[depth]
    policy, values = work.policies[depth], work.values[depth]
    has_baselines = frame.baseline != NONE
    for player in range(work.totals.size):
        if player != walk.traverser and plan.baselines == NO_BASELINES:
            continue
        seen, expected = work.totals[player], 0.0
        for i in range(frame.num_actions):
            values[i] = baselines.baselines[frame.baseline + i, player] if has_baselines else 0.0
        if has_baselines:
            entry, rate = frame.baseline + frame.at, plan.baseline_rate
            expected = follow_baseline(baselines, entry, player, rate, seen)
        values[frame.at] = expected + (seen - expected) / frame.drawn
        value = mean_value(policy, values, frame.num_actions)
        if player == walk.traverser and frame.player == walk.traverser:
            weight = walk.regret_weight / frame.explored
            add_regrets(frame, table, plan, values, value, weight)
        work.totals[player] = value


@compiled(_WALK)
def walk_path(game, work, table, baselines, plans):
    """Outcome sampling; the traverser's value, NaN if the game is too long."""
    plan = plans[0]
    walk = work.walk[0]
    turn, depth = begin(game, work), 0
    while turn != OVER:
        if depth + 1 == work.frames.size:
            return np.nan
        frame = work.frames[depth]
        decide(game, work, depth, table, turn, 0.0)
        find_baselines(work, depth, baselines, plan)
        choose(work, depth, plan)
        if turn != walk.traverser:
            add_policy(frame, table, work.policies[depth], walk.average_weight / frame.explored)
        turn = play(game, work, depth, action_at(work, depth, table, frame.at))
        depth += 1
    work.totals[walk.traverser] = end_value(game, work, depth)
    while depth > 0:
        depth -= 1
        learn_path(work, depth, table, baselines, plan)
    return work.totals[walk.traverser]


# ---- iterations ----------------------------------------------------------------------------------


@inlined
def begin_game(game, work, plan):
    """Put any opening at the root or, now and then, any position."""
    copy_state(game.roots[below(work.rng, game.roots.shape[0])], work.root)
    if uniform(work.rng) < plan.exploration:
        game.hooks.explore(work.root, game.rules, work.rng)


@inlined
def learn_continuation(game, work, player, value):
    """Let the continuation value of the root follow what a walk has brought."""
    game.kernels.returns(work.root, game.rules, work.totals)
    at = game.hooks.position(work.root, game.rules, player)
    rate = 2.0 / (game.visits[at] + GUESS_WEIGHT)
    game.continuation[at] += rate * (value - work.totals[player] - game.continuation[at])
    game.visits[at] += 1


@compiled(types.boolean(SAMPLED_GAME, WORKSPACE, TABLE, _PLAN))
def advance(game, work, table, plans):
    """Play on by the present policies to where the next walks begin; False if it is too long."""
    plan = plans[0]
    walk, hooks, rules = work.walk[0], game.hooks, game.rules
    turn, depth = begin(game, work), 0
    while turn != OVER:
        if depth + 1 == work.frames.size:
            return False
        frame = work.frames[depth]
        decide(game, work, depth, table, turn, 0.0)
        rank = draw(work.policies[depth], frame.num_actions, uniform(work.rng))
        turn = play(game, work, depth, action_at(work, depth, table, rank))
        depth += 1
    state, is_over = work.states[depth], walk.position == NONE
    for player in range(work.totals.size):
        if not hooks.is_active(work.root, rules, player):
            walk.traverser = player
            walk.position = NONE if is_over else hooks.position(state, rules, player)
            learn_continuation(game, work, player, end_value(game, work, depth))
    if is_over:
        begin_game(game, work, plan)
    else:
        copy_state(state, work.root)
    return True


@inlined
def set_opponents(work, player, has_opponents):
    """Say who plays like the fixed opponent: nobody, or all but one player."""
    for seat in range(work.is_fixed.size):
        work.is_fixed[seat] = has_opponents and seat != player


@inlined
def run_walk(game, work, table, baselines, plans, player, span, has_opponents):
    """One walk of a player; its value, NaN if the game is too long."""
    plan = plans[0]
    walk = work.walk[0]
    walk.traverser = player
    # Among fixed opponents nobody else's policy is drawn.
    walk.averages_own = has_opponents or plan.sampling == CHANCE_ONLY
    walk.lowest_regret = -np.inf
    if plan.pruning > 0.0 and uniform(work.rng) < plan.pruning:
        walk.lowest_regret = -HOPELESS * span * walk.regret_weight
    walk.passes_over = walk.lowest_regret > -np.inf or work.abstract.shape[1] > 0
    set_opponents(work, player, has_opponents)
    if plan.sampling == OUTCOME:
        return walk_path(game, work, table, baselines, plans)
    return walk_tree(game, work, table, baselines, plans)


@compiled(INT(SAMPLED_GAME, WORKSPACE, TABLE, TABLE, _PLAN, INT, INT, INT))
def run_walks(game, work, table, baselines, plans, first, end, stride):
    """Run iterations ``first``, ``first + stride`` ... before ``end``; the first that was not run.

    Baselines may be in the same table as regrets. With ``stops_when_full`` the iteration in which
    the table had no room is the last.
    """
    plan = plans[0]
    num_players, follows = work.totals.size, game.hooks.has_position
    left_out = table.counts[LEFT_OUT]
    t = first
    while t < end:
        if not follows:
            copy_state(game.roots[t % game.roots.shape[0]], work.root)
        work.walk[0].regret_weight = np.float64(t) ** plan.regret_power
        work.walk[0].average_weight = np.float64(t) ** plan.average_power
        span = work.span[1] - work.span[0]
        work.span[0], work.span[1] = np.inf, -np.inf
        has_opponents = plan.opponent_share > 0.0 and uniform(work.rng) < plan.opponent_share
        for player in range(num_players):
            if follows and not game.hooks.is_active(work.root, game.rules, player):
                continue
            value = run_walk(game, work, table, baselines, plans, player, span, has_opponents)
            if np.isnan(value):
                return TOO_LONG
            if follows:
                learn_continuation(game, work, player, value)
        if follows:
            set_opponents(work, below(work.rng, num_players), has_opponents)
            if not advance(game, work, table, plans):
                return TOO_LONG
        t += stride
        if plan.stops_when_full and table.counts[LEFT_OUT] > left_out:
            break
    return t
