"""The walk over the public tree of a round of Liar's Dice, compiled, and whole iterations of it.

One walk is for one *player*: it carries the chances with which the *other* holds each hand and has
made the bids so far (its reach) down the tree, and the counterfactual values of the player's hands
up again.

* Where the other is to move, its policy is read from an array of weights, each at least 0 or taken
  as such; regrets and the cumulative policy are both such arrays.
* Where the player is to move, what is done with the values depends on the purpose: learn from them
  (``LEARN``), take the best (``RESPOND``) or the worst (``LOSE``), or take what the player's policy
  gets (``EVALUATE``).

Subtrees that the other never reaches are left out. All values there are 0, so without discounts
they would change nothing.

For several threads the walk is cut at a depth: a first one (``SCOUT``) writes down what is to be
done below, anybody does these tasks in any order, each in its own part of the arrays, and a last
walk over the top takes up their values. The numbers are the same for any number of threads: tasks
have their own parts of the arrays, and their values are taken up in the same order, whoever did
them.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.cfr.threads import NONE, SIZE, THREAD_TEAM, barrier, give_out, take
from agents.cfr.variants import SETTINGS_TYPE, average_weight, discount
from agents.games.liars_dice.round_tree import NO_BID_YET, SHAPE, ShapeArrays
from envs.core.compiling import compiled, helper, inlined, summing
from envs.core.kernels import INT
from envs.core.records import Cube, Grid, Row, record, tuple_type

ZERO, ONE, TWO = np.float32(0.0), np.float32(1.0), np.float32(2.0)
TINY = np.float32(1e-25)
"""What is smaller is taken as 0: numbers near the end of the range of floats are a hundred times as
slow, and under discounts regrets and reach do get there."""


@summing
def reach_with(reach, fits, num_fitting):
    """How likely the other has at least so many fitting dice, and has got here."""
    total = ZERO
    for h in range(reach.size):
        total += reach[h] if fits[h] >= num_fitting else ZERO
    return total


@inlined
def pay_call(shape, player, standing, reach, width, is_bidder, cf_values):
    """Write what each hand of the player gets, from 1 to -1, when the standing bid is called."""
    # A hand with k fitting dice wins for its bidder against everybody who has the rest. So the
    # value is a sum over k of what one fitting die more adds.
    other_fits, fits = shape.fits[1 - player, standing], shape.fits[player, standing]
    count = shape.counts[standing]
    sign = ONE if is_bidder else -ONE
    below = reach_with(reach, other_fits, count)
    base = sign * (TWO * below - reach_with(reach, other_fits, 0))
    for h in range(width):
        cf_values[h] = base
    for k in range(1, min(count, shape.dice[player]) + 1):
        enough = reach_with(reach, other_fits, count - k)
        step = sign * TWO * (enough - below)
        below = enough
        for h in range(width):
            cf_values[h] += step if fits[h] >= k else ZERO


@inlined
def add_weights(weights, width, num_actions, totals):
    """Sum what is positive over actions, for every hand."""
    for h in range(width):
        totals[h] = ZERO
    for action in range(num_actions):
        row = weights[action * width : (action + 1) * width]
        for h in range(width):
            totals[h] += max(row[h], ZERO)
    # What is not known at all is uniform, which ``share`` makes of a negative total.
    for h in range(width):
        if totals[h] <= ZERO:
            totals[h] = -np.float32(num_actions)


@helper
def share(weight, total):
    """The probability that belongs to a weight."""
    return max(weight, ZERO) / total if total > ZERO else -ONE / total


@inlined
def learn(regrets, choices, width, num_actions, totals, cf_values, keep):
    """Values of the policy, and new regrets; ``keep`` is for positive and for negative ones."""
    for h in range(width):
        cf_values[h] = ZERO
    for action in range(num_actions):
        row = regrets[action * width : (action + 1) * width]
        choice = choices[action]
        for h in range(width):
            cf_values[h] += share(row[h], totals[h]) * choice[h]
    for action in range(num_actions):
        row = regrets[action * width : (action + 1) * width]
        choice = choices[action]
        for h in range(width):
            regret = row[h] + (choice[h] - cf_values[h])
            regret *= keep[0] if regret >= ZERO else keep[1]
            row[h] = regret if abs(regret) > TINY else ZERO


@inlined
def take_best(choices, width, num_actions, sign, cf_values):
    """Values of the best action of every hand, or of the worst if ``sign`` is -1."""
    for h in range(width):
        cf_values[h] = choices[0, h]
    for action in range(1, num_actions):
        for h in range(width):
            cf_values[h] = sign * max(sign * cf_values[h], sign * choices[action, h])


@inlined
def take_share(weights, choices, width, num_actions, totals, cf_values):
    """Values of a policy."""
    for h in range(width):
        cf_values[h] = ZERO
    for action in range(num_actions):
        row = weights[action * width : (action + 1) * width]
        for h in range(width):
            cf_values[h] += share(row[h], totals[h]) * choices[action, h]


LEARN, RESPOND, EVALUATE, SCOUT, LOSE = range(5)
NOT_BEGUN = -1
NO_CUT = -1
CUT = 2
"""Depth of the subtrees that threads share."""

FRAME = record(
    place=np.int64,  # where the entries of this node begin
    standing=np.int32,
    mover=np.int32,
    child=np.int32,  # the raise that is looked at, or NOT_BEGUN
)
WEIGHTS = record(
    keep_positive=np.float32,  # what positive regrets are multiplied by
    keep_negative=np.float32,
    average=np.float32,  # how much the other's policy counts in its average
    prunes=np.int32,
)


class RoundArrays(NamedTuple):
    """What the solver learns: one entry for each public node, action and hand of the mover."""

    regrets: Row[np.float32]
    """Policies are read from here; a walk that learns nothing may have other weights instead."""
    cumulative_policy: Row[np.float32]


class Scratch(NamedTuple):
    """Room for one walk; row *d* belongs to depth *d*."""

    frames: Annotated[npt.NDArray[Any], FRAME]
    reach: Grid[np.float32]
    """[depth, hand] of the other."""
    cf_values: Grid[np.float32]
    """[depth, hand] of the player."""
    choices: Cube[np.float32]
    """[depth, action, hand] counterfactual values of the player's actions."""
    totals: Grid[np.float32]
    """[depth, hand] of the mover's weights."""
    moved: Grid[np.float32]
    """[depth, hand] reach of the other after its move, before hands become alike."""


class Tasks(NamedTuple):
    """Subtrees that are walked separately."""

    frames: Annotated[npt.NDArray[Any], FRAME]
    reach: Grid[np.float32]
    """[task, hand] of the other, when the subtree begins."""
    cf_values: Grid[np.float32]
    """[task, hand] of the player, when it is done."""


class Round(NamedTuple):
    """All that the workers of a walk share."""

    shape: Annotated[ShapeArrays, SHAPE]
    priors: Grid[np.float32]
    """[player, hand] how likely each kind of hand is before the first bid."""
    arrays: Annotated[RoundArrays, tuple_type(RoundArrays)]
    tasks: Annotated[Tasks, tuple_type(Tasks)]


ROUND, SCRATCH = tuple_type(Round), tuple_type(Scratch)


@inlined
def width_at(shape, player, frame):
    """The length of a vector over a player's hands at a node."""
    return shape.widths[player, shape.levels[frame.standing]]


@inlined
def num_raises_at(shape, frame):
    """How many raises there are at a node."""
    return shape.first_raise[frame.standing + 1] - shape.first_raise[frame.standing]


@inlined
def begin_at(frame, place, standing, mover):
    """Make a frame that of a new node."""
    frame.place = place
    frame.standing = standing
    frame.mover = mover
    frame.child = NOT_BEGUN


@inlined
def go_down(shape, frame, below):
    """Make ``below`` the frame of the raise that is looked at."""
    at = shape.first_raise[frame.standing] + frame.child
    begin_at(below, frame.place + shape.offsets[frame.mover, at], shape.raises[at], 1 - frame.mover)


@inlined
def standing_after(shape, frame):
    """What stands after the raise that is looked at."""
    return shape.raises[shape.first_raise[frame.standing] + frame.child]


@inlined
def move_other(arrays, place, reach, totals, average, moved):
    """Write the other's reach after the action whose entries begin at ``place``.

    It counts ``average`` times in the average policy.
    """
    width = reach.size
    weights = arrays.regrets[place : place + width]
    for h in range(width):
        part = reach[h] * share(weights[h], totals[h])
        moved[h] = part if part > TINY else ZERO
    if average > ZERO:
        own_policy = arrays.cumulative_policy[place : place + width]
        for h in range(width):
            own_policy[h] += average * moved[h]


@inlined
def enter(game, scratch, player, depth, average):
    """Begin a node: the mover's weights, and the games that end here by a call."""
    shape, frame = game.shape, scratch.frames[depth]
    width, other_width = width_at(shape, player, frame), width_at(shape, 1 - player, frame)
    num_raises = num_raises_at(shape, frame)
    can_call = frame.standing != NO_BID_YET
    num_actions = num_raises + can_call
    is_own = frame.mover == player
    row_width = width if is_own else other_width
    rows = game.arrays.regrets[frame.place : frame.place + num_actions * row_width]
    totals = scratch.totals[depth]
    add_weights(rows, row_width, num_actions, totals)
    reach = scratch.reach[depth, :other_width]
    cf_values = scratch.cf_values[depth]
    if is_own:
        if can_call:
            cf_values = scratch.choices[depth, num_raises]
            pay_call(shape, player, frame.standing, reach, width, False, cf_values)
        return
    if not can_call:
        for h in range(width):
            cf_values[h] = ZERO
        return
    called = scratch.reach[depth + 1, :other_width]
    place = frame.place + num_raises * row_width
    move_other(game.arrays, place, reach, totals, average, called)
    pay_call(shape, player, frame.standing, called, width, True, cf_values)


@inlined
def descend(game, scratch, player, depth, average):
    """Write the other's reach of the next child one row below; False if it is 0 throughout."""
    shape, frame, other = game.shape, scratch.frames[depth], 1 - player
    other_width = width_at(shape, other, frame)
    before_level = shape.levels[frame.standing]
    after_level = shape.levels[standing_after(shape, frame)]
    reach, below = scratch.reach[depth, :other_width], scratch.reach[depth + 1]
    raised = reach
    if frame.mover != player:
        raised = below if before_level == after_level else scratch.moved[depth]
        place = frame.place + frame.child * other_width
        move_other(game.arrays, place, reach, scratch.totals[depth], average, raised)
    if before_level != after_level:
        for h in range(shape.widths[other, after_level]):
            below[h] = ZERO
        kinds = shape.maps[other, before_level, after_level]
        for h in range(other_width):
            below[kinds[h]] += raised[h]
    elif frame.mover == player:
        for h in range(other_width):
            below[h] = reach[h]
    if frame.mover == player:
        return True
    largest = ZERO
    for h in range(shape.widths[other, after_level]):
        largest = max(largest, below[h])
    return largest > ZERO


@inlined
def is_last_bid(shape, frame):
    """Whether nothing can be bid after the raise that is looked at."""
    after = standing_after(shape, frame)
    return shape.first_raise[after] == shape.first_raise[after + 1]


@inlined
def call_at_once(shape, scratch, player, depth):
    """Values after the last bid, which has to be called: half of all nodes, and no choice."""
    frame = scratch.frames[depth]
    after = standing_after(shape, frame)
    level = shape.levels[after]
    reach = scratch.reach[depth + 1, : shape.widths[1 - player, level]]
    is_bidder = frame.mover == player
    cf_values = scratch.cf_values[depth + 1]
    width = shape.widths[player, level]
    pay_call(shape, player, after, reach, width, is_bidder, cf_values)


@inlined
def give_back(shape, scratch, player, depth, is_reached):
    """Take up the values of a child, which lie one row below."""
    frame = scratch.frames[depth]
    before_level = shape.levels[frame.standing]
    after_level = shape.levels[standing_after(shape, frame)]
    width = shape.widths[player, before_level]
    below = scratch.cf_values[depth + 1]
    kinds = shape.maps[player, before_level, after_level]
    if frame.mover == player:
        choice = scratch.choices[depth, frame.child]
        if not is_reached:
            for h in range(width):
                choice[h] = ZERO
        elif before_level == after_level:
            for h in range(width):
                choice[h] = below[h]
        else:
            for h in range(width):
                choice[h] = below[kinds[h]]
    elif is_reached:
        cf_values = scratch.cf_values[depth]
        if before_level == after_level:
            for h in range(width):
                cf_values[h] += below[h]
        else:
            for h in range(width):
                cf_values[h] += below[kinds[h]]


@inlined
def leave(game, scratch, player, depth, weights, purpose):
    """Make one value for each of the player's hands of those of its actions."""
    shape, frame = game.shape, scratch.frames[depth]
    width = width_at(shape, player, frame)
    num_actions = num_raises_at(shape, frame) + (frame.standing != NO_BID_YET)
    rows = game.arrays.regrets[frame.place : frame.place + num_actions * width]
    choices, totals = scratch.choices[depth], scratch.totals[depth]
    cf_values = scratch.cf_values[depth]
    if purpose == LEARN:
        keep = weights.keep_positive, weights.keep_negative
        learn(rows, choices, width, num_actions, totals, cf_values, keep)
    elif purpose in (RESPOND, LOSE):
        sign = ONE if purpose == RESPOND else -ONE
        take_best(choices, width, num_actions, sign, cf_values)
    elif purpose == EVALUATE:
        take_share(rows, choices, width, num_actions, totals, cf_values)


@inlined
def stop_at_task(game, scratch, player, depth, task, purpose):
    """At the cut: write down what is to be done, or take up what has been done."""
    frame, begun, tasks = scratch.frames[depth], game.tasks.frames[task], game.tasks
    if purpose == SCOUT:
        begin_at(begun, frame.place, frame.standing, frame.mover)
        for h in range(width_at(game.shape, 1 - player, frame)):
            tasks.reach[task, h] = scratch.reach[depth, h]
    else:
        for h in range(width_at(game.shape, player, frame)):
            scratch.cf_values[depth, h] = tasks.cf_values[task, h]


_WEIGHTS = from_dtype(WEIGHTS)[::1]


@compiled(INT(ROUND, SCRATCH, INT, INT, _WEIGHTS, INT))
def walk(game, scratch, player, cut, record, purpose):
    """Walk the subtree of ``scratch.frames[0]`` with the reach in row 0; values are left there.

    Returns how many tasks were met at depth ``cut``.
    """
    shape, weights = game.shape, record[0]
    average = weights.average if purpose == LEARN else ZERO
    num_tasks = 0
    depth = 0
    scratch.frames[0].child = NOT_BEGUN
    while True:
        frame = scratch.frames[depth]
        num_raises = num_raises_at(shape, frame)
        if depth == cut:
            stop_at_task(game, scratch, player, depth, num_tasks, purpose)
            num_tasks += 1
            frame.child = num_raises
        elif frame.child == NOT_BEGUN:
            enter(game, scratch, player, depth, average)
            frame.child = 0
        else:
            give_back(shape, scratch, player, depth, True)
            frame.child += 1
        while frame.child < num_raises:
            is_reached = descend(game, scratch, player, depth, average)
            if is_last_bid(shape, frame):
                call_at_once(shape, scratch, player, depth)
            elif is_reached or not weights.prunes:
                break
            give_back(shape, scratch, player, depth, is_reached)
            frame.child += 1
        if frame.child < num_raises:
            go_down(shape, frame, scratch.frames[depth + 1])
            depth += 1
            continue
        if frame.mover == player and depth != cut:
            leave(game, scratch, player, depth, weights, purpose)
        if depth == 0:
            return num_tasks
        depth -= 1


# ---- shared by threads ---------------------------------------------------------------------------


@inlined
def begin_at_root(game, scratch, player):
    """Put the beginning of a round into row 0."""
    begin_at(scratch.frames[0], 0, NO_BID_YET, 0)
    for h in range(game.priors.shape[1]):
        scratch.reach[0, h] = game.priors[1 - player, h]


@inlined
def do_task(game, scratch, player, task, record, purpose):
    """Walk the subtree of a task."""
    shape, tasks = game.shape, game.tasks
    begun = tasks.frames[task]
    begin_at(scratch.frames[0], begun.place, begun.standing, begun.mover)
    for h in range(width_at(shape, 1 - player, begun)):
        scratch.reach[0, h] = tasks.reach[task, h]
    walk(game, scratch, player, NO_CUT, record, purpose)
    for h in range(width_at(shape, player, begun)):
        tasks.cf_values[task, h] = scratch.cf_values[0, h]


@compiled(types.void(ROUND, SCRATCH, INT, _WEIGHTS, INT, THREAD_TEAM, INT))
def walk_round(game, scratch, player, record, purpose, team, worker):
    """Do a worker's share of a walk of the whole round; worker 0 has the values in its row 0."""
    if team[SIZE] == 1:
        begin_at_root(game, scratch, player)
        walk(game, scratch, player, NO_CUT, record, purpose)
        return
    if worker == 0:
        begin_at_root(game, scratch, player)
        give_out(team, walk(game, scratch, player, CUT, record, SCOUT))
    barrier(team)
    task = take(team)
    while task != NONE:
        do_task(game, scratch, player, task, record, purpose)
        task = take(team)
    barrier(team)
    if worker == 0:
        begin_at_root(game, scratch, player)
        walk(game, scratch, player, CUT, record, purpose)


@compiled(types.void(ROUND, SCRATCH, _WEIGHTS, SETTINGS_TYPE, THREAD_TEAM, INT, INT, INT))
def run_rounds(game, scratch, record, variant, team, worker, done, num_iterations):
    """Do a worker's share of so many iterations after ``done`` earlier ones."""
    weights, settings = record[0], variant[0]
    for t in range(done + 1, done + num_iterations + 1):
        for player in range(2):
            weights.keep_positive = discount(t, settings.alpha)
            weights.keep_negative = discount(t, settings.beta)
            # Player 1 meets the opener's policy of the next iteration, which is already there.
            weights.average = average_weight(t + player, settings)
            weights.prunes = settings.alpha == np.inf and abs(settings.beta) == np.inf
            walk_round(game, scratch, player, record, LEARN, team, worker)
