"""Whole walks and iterations over a round of Liar's Dice, shared by threads.

The numbers are the same for any number of threads: tasks have their own parts of the arrays, and
their values are taken up in the same order, whoever did them.
"""

from __future__ import annotations

import numpy as np
from numba import from_dtype, types

from agents.cfr.passes.thread_team import NONE, SIZE, THREAD_TEAM, barrier, give_out, take
from agents.cfr.variants import SETTINGS_TYPE, average_weight, discount
from agents.games.liars_dice.cfr.passes import (
    CUT,
    LEARN,
    NO_CUT,
    ROUND_ARRAYS,
    SCOUT,
    SCRATCH,
    TASKS,
    WEIGHTS,
    walk,
)
from agents.games.liars_dice.cfr.shape import NO_BID_YET, SHAPE
from envs.core.compiling import compiled, inlined
from envs.core.kernels import INT

__all__ = ["run_rounds", "walk_round"]

_FLOATS, _PRIORS = types.float32[::1], types.float32[:, ::1]
_WEIGHTS = from_dtype(WEIGHTS)[::1]


@inlined
def begin_at_root(priors, player, scratch):
    """Put the beginning of a round into row 0."""
    frame = scratch.frames[0]
    frame.place = 0
    frame.standing = NO_BID_YET
    frame.mover = 0
    for h in range(priors.shape[1]):
        scratch.reach[0, h] = priors[1 - player, h]


@inlined
def do_task(shape, player, policy, cumulative_policy, scratch, tasks, task, record, purpose):
    """Walk the subtree of a task."""
    begun, frame = tasks.frames[task], scratch.frames[0]
    frame.place = begun.place
    frame.standing = begun.standing
    frame.mover = begun.mover
    level = shape.levels[begun.standing]
    for h in range(shape.widths[1 - player, level]):
        scratch.reach[0, h] = tasks.reach[task, h]
    walk(shape, player, policy, cumulative_policy, scratch, tasks, NO_CUT, record, purpose)
    for h in range(shape.widths[player, level]):
        tasks.cf_values[task, h] = scratch.cf_values[0, h]


_WALK = SHAPE, _PRIORS, INT, _FLOATS, _FLOATS, SCRATCH, TASKS


@compiled(types.void(*_WALK, _WEIGHTS, INT, THREAD_TEAM, INT))
def walk_round(
    shape, priors, player, policy, cumulative_policy, scratch, tasks, record, purpose, team, worker
):
    """Do a worker's share of a walk of the whole round; worker 0 has the values in its row 0."""
    if team[SIZE] == 1:
        begin_at_root(priors, player, scratch)
        walk(shape, player, policy, cumulative_policy, scratch, tasks, NO_CUT, record, purpose)
        return
    if worker == 0:
        begin_at_root(priors, player, scratch)
        give_out(
            team, walk(shape, player, policy, cumulative_policy, scratch, tasks, CUT, record, SCOUT)
        )
    barrier(team)
    task = take(team)
    while task != NONE:
        do_task(shape, player, policy, cumulative_policy, scratch, tasks, task, record, purpose)
        task = take(team)
    barrier(team)
    if worker == 0:
        begin_at_root(priors, player, scratch)
        walk(shape, player, policy, cumulative_policy, scratch, tasks, CUT, record, purpose)


@compiled(
    types.void(
        SHAPE,
        _PRIORS,
        ROUND_ARRAYS,
        SCRATCH,
        TASKS,
        _WEIGHTS,
        SETTINGS_TYPE,
        THREAD_TEAM,
        INT,
        INT,
        INT,
    )
)
def run_rounds(
    shape, priors, arrays, scratch, tasks, record, variant, team, worker, done, num_iterations
):
    """Do a worker's share of so many iterations after ``done`` earlier ones."""
    weights, settings = record[0], variant[0]
    for t in range(done + 1, done + num_iterations + 1):
        for player in range(2):
            weights.keep_positive = discount(t, settings.alpha)
            weights.keep_negative = discount(t, settings.beta)
            # Player 1 meets the opener's policy of the next iteration, which is already there.
            weights.average = average_weight(t + player, settings)
            weights.prunes = settings.alpha == np.inf and abs(settings.beta) == np.inf
            walk_round(
                shape,
                priors,
                player,
                arrays.regrets,
                arrays.cumulative_policy,
                scratch,
                tasks,
                record,
                LEARN,
                team,
                worker,
            )
