"""Whole walks and iterations over a round of Liar's Dice, shared by threads.

The numbers are the same for any number of threads: tasks have their own parts of the tables, and
their gains are taken up in the same order, whoever did them.
"""

from __future__ import annotations

import numpy as np
from numba import from_dtype, types

from agents.cfr.passes.thread_team import CREW, NONE, SIZE, give_out, meet, take
from agents.cfr.variants import SETTINGS_TYPE, average_weight, discount
from agents.games.liars_dice.cfr.passes import (
    CUT,
    LEARN,
    NO_CUT,
    SCOUT,
    SCRATCH,
    TABLES,
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
def do_task(shape, player, policy, sums, scratch, tasks, task, record, purpose):
    """Walk the subtree of a task."""
    begun, frame = tasks.frames[task], scratch.frames[0]
    frame.place = begun.place
    frame.standing = begun.standing
    frame.mover = begun.mover
    level = shape.levels[begun.standing]
    for h in range(shape.widths[1 - player, level]):
        scratch.reach[0, h] = tasks.reach[task, h]
    walk(shape, player, policy, sums, scratch, tasks, NO_CUT, record, purpose)
    for h in range(shape.widths[player, level]):
        tasks.gains[task, h] = scratch.gains[0, h]


_WALK = SHAPE, _PRIORS, INT, _FLOATS, _FLOATS, SCRATCH, TASKS


@compiled(types.void(*_WALK, _WEIGHTS, INT, CREW, INT))
def walk_round(shape, priors, player, policy, sums, scratch, tasks, record, purpose, crew, worker):
    """Do a worker's share of a walk of the whole round; worker 0 has the gains in its row 0."""
    if crew[SIZE] == 1:
        begin_at_root(priors, player, scratch)
        walk(shape, player, policy, sums, scratch, tasks, NO_CUT, record, purpose)
        return
    if worker == 0:
        begin_at_root(priors, player, scratch)
        give_out(crew, walk(shape, player, policy, sums, scratch, tasks, CUT, record, SCOUT))
    meet(crew)
    task = take(crew)
    while task != NONE:
        do_task(shape, player, policy, sums, scratch, tasks, task, record, purpose)
        task = take(crew)
    meet(crew)
    if worker == 0:
        begin_at_root(priors, player, scratch)
        walk(shape, player, policy, sums, scratch, tasks, CUT, record, purpose)


@compiled(
    types.void(
        SHAPE,
        _PRIORS,
        TABLES,
        SCRATCH,
        TASKS,
        _WEIGHTS,
        SETTINGS_TYPE,
        CREW,
        INT,
        INT,
        INT,
    )
)
def run_rounds(
    shape, priors, tables, scratch, tasks, record, variant, crew, worker, done, num_iterations
):
    """Do a worker's share of so many iterations after ``done`` earlier ones."""
    weights, settings = record[0], variant[0]
    for t in range(done + 1, done + num_iterations + 1):
        for player in range(2):
            weights.keep_gain = discount(t, settings.alpha)
            weights.keep_loss = discount(t, settings.beta)
            # Player 1 meets the opener's policy of the next iteration, which is already there.
            weights.average = average_weight(t + player, settings)
            weights.prunes = settings.alpha == np.inf and abs(settings.beta) == np.inf
            walk_round(
                shape,
                priors,
                player,
                tables.regrets,
                tables.sums,
                scratch,
                tasks,
                record,
                LEARN,
                crew,
                worker,
            )
