"""What a sampling solver does at one node, compiled: move on, look up, draw, learn.

Row ``d`` of every array of a :class:`Desk` belongs to the node at depth ``d``. What follows a node
is copied to the next row, so that the node itself stays as it was. Chance events have no row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.cfr.sampled.hash_tables import (
    ABSENT,
    enter,
    find,
    first_entry,
    num_entries,
)
from envs.core.compiling import inlined
from envs.core.game import Game
from envs.core.kernels import CHANCE, OVER
from envs.core.keys import first_key, fold
from envs.core.rng import Words

__all__ = [
    "BY_HISTORY",
    "BY_INFOSET",
    "CHANCE_ONLY",
    "DESK",
    "EXTERNAL",
    "NONE",
    "NO_BASELINES",
    "OUTCOME",
    "PLAN",
    "Desk",
    "action_at",
    "add_policy",
    "add_regrets",
    "begin",
    "draw",
    "find_baselines",
    "look_up",
    "match_regrets",
    "mean_value",
    "play",
]

EXTERNAL, OUTCOME, CHANCE_ONLY = range(3)
NO_BASELINES, BY_INFOSET, BY_HISTORY = range(3)
NONE = -1

PLAN = np.dtype(
    (
        np.record,
        [
            ("sampling", np.int64),  # EXTERNAL, OUTCOME or CHANCE_ONLY
            ("is_plus", np.int64),  # regrets below 0 are forgotten
            ("regret_power", np.float64),  # of the iteration's number, which its regrets count
            ("average_power", np.float64),  # and its policies in the average
            ("epsilon", np.float64),  # how often an outcome-sampling traverser plays anything
            ("baselines", np.int64),  # NO_BASELINES, BY_INFOSET or BY_HISTORY
            ("baseline_rate", np.float64),  # how far a baseline follows what was last seen
            ("stops_when_full", np.int64),
        ],
    )
)
FRAME = np.dtype(
    (
        np.record,
        [
            ("player", np.int64),  # to move
            ("first", np.int64),  # entry, NONE when the table has no room for the information set
            ("num_actions", np.int64),
            ("baseline", np.int64),  # entry that has the first baseline, NONE without baselines
            ("at", np.int64),  # the action that is tried, by its rank; NONE when the node is new
            ("stop", np.int64),  # the rank before which to stop
            # Outcome sampling: the probability that the traverser explored its way here, and that
            # of the action that was drawn here.
            ("explored", np.float64),
            ("drawn", np.float64),
            # Chance sampling: the probability that the traverser and the others come here.
            ("own", np.float64),
            ("others", np.float64),
        ],
    )
)


class Desk(NamedTuple):
    """Where one thread works."""

    frames: npt.NDArray[Any]
    states: npt.NDArray[np.uint8]
    keys: npt.NDArray[np.uint64]
    """What each player has seen."""
    actions: npt.NDArray[np.int32]
    """The legal ones, where the table does not know them."""
    policies: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    """What the traverser gets after each action."""
    mask: npt.NDArray[np.int8]
    totals: npt.NDArray[np.float64]
    rng: Words

    @classmethod
    def of(cls, game: Game, rng: Words) -> Desk:
        """Room for the longest game."""
        facts = game.facts
        rows = facts.max_length + 1
        return cls(
            np.zeros(rows, FRAME),
            np.zeros((rows, game.state_size), np.uint8),
            np.zeros((rows, facts.num_players), np.uint64),
            np.zeros((rows, facts.num_actions), np.int32),
            np.zeros((rows, facts.num_actions)),
            np.zeros((rows, facts.num_actions)),
            np.zeros(facts.num_actions, np.int8),
            np.zeros(facts.num_players),
            rng,
        )


DESK = types.NamedTuple(
    (
        from_dtype(FRAME)[::1],
        types.uint8[:, ::1],
        types.uint64[:, ::1],
        types.int32[:, ::1],
        types.float64[:, ::1],
        types.float64[:, ::1],
        types.int8[::1],
        types.float64[::1],
        types.uint64[::1],
    ),
    Desk,
)


# ---- moving --------------------------------------------------------------------------------------


@inlined
def settle(kernels, rules, desk, depth, turn):
    """Play chance in the state at ``depth`` until somebody is to move; who, or OVER."""
    state, keys = desk.states[depth], desk.keys[depth]
    while turn == CHANCE:
        outcome = kernels.sample(state, rules, desk.rng)
        for player in range(keys.size):
            keys[player] = fold(keys[player], kernels.seen(state, rules, outcome, player))
        kernels.step(state, rules, outcome)
        turn = kernels.turn(state, rules)
    return turn


@inlined
def begin(kernels, rules, root, desk):
    """Put the start of a game into the first row; who is to move."""
    state = desk.states[0]
    for i in range(root.size):
        state[i] = root[i]
    for player in range(desk.keys.shape[1]):
        desk.keys[0, player] = first_key(player)
    frame = desk.frames[0]
    frame.own = 1.0
    frame.others = 1.0
    frame.explored = 1.0
    return settle(kernels, rules, desk, 0, kernels.turn(state, rules))


@inlined
def play(kernels, rules, desk, depth, action):
    """Put what follows the node at ``depth`` into the next row; who is to move there."""
    state, child = desk.states[depth], desk.states[depth + 1]
    for i in range(state.size):
        child[i] = state[i]
    kernels.step(child, rules, action)
    turn = kernels.turn(child, rules)
    if turn == OVER:
        return turn
    for player in range(desk.keys.shape[1]):
        token = kernels.seen(state, rules, action, player)
        desk.keys[depth + 1, player] = fold(desk.keys[depth, player], token)
    return settle(kernels, rules, desk, depth + 1, turn)


@inlined
def find_row(frame, table, key):
    """Note where the row of an information set is; False if there is none yet."""
    place = find(table, key)
    if place == ABSENT:
        return False
    frame.first = first_entry(place)
    frame.num_actions = num_entries(place)
    return True


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
def look_up(kernels, rules, desk, depth, table, player):
    """Find the row of the node at ``depth``, or enter it."""
    frame, key = desk.frames[depth], desk.keys[depth, player]
    frame.player = player
    if not find_row(frame, table, key):
        size = kernels.legal(desk.states[depth], rules, desk.mask)
        enter_row(frame, table, key, desk.mask, size, desk.actions[depth])


@inlined
def find_baselines(desk, depth, book, plan):
    """Note where the baselines of the node at ``depth`` are; ``book`` is the table that has them.

    By history, they know what nobody knows: all that the players have seen taken together.
    """
    frame = desk.frames[depth]
    frame.baseline = frame.first if plan.baselines == BY_INFOSET else NONE
    if plan.baselines == BY_HISTORY:
        key = desk.keys[depth, 0]
        for player in range(1, desk.keys.shape[1]):
            key = fold(key, np.int64(desk.keys[depth, player]))
        place = find(book, key)
        if place == ABSENT:
            place = enter(book, key, desk.mask, frame.num_actions)
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
def action_at(frame, desk, depth, table):
    """The action that is tried in the node at ``depth``."""
    if frame.first == NONE:
        return np.int64(desk.actions[depth, frame.at])
    return np.int64(table.actions[frame.first + frame.at])


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
        table.sums[frame.first + i] += weight * policy[i]


@inlined
def mean_value(policy, values, size):
    """What the policy gets if the actions get ``values``."""
    value = 0.0
    for i in range(size):
        value += policy[i] * values[i]
    return value
