"""What a sampling solver does at one node, compiled: move on, look up, draw, learn.

A game may add *hooks*: abstractions, continuation values, other opponents. All of them are compiled
functions over a state, and all may be left out:

``key``
    Information and action abstraction. Returns the key of the decision as the player to move goes
    by it, instead of everything that the player has seen. Where there are abstract actions it also
    writes the action that each of them stands for here, ``NONE`` where it is not to be had.
``position``
    Where walks end before the game does. Returns the number of a position in the table of
    continuation values as ``player`` sees it, or ``NONE`` where play goes on. It is asked where
    chance is to move. Iterations then follow whole games from one such position to the next.
``is_active``
    Whether ``player`` still decides anything. There are no walks for those who do not; their
    continuation values are learnt when the others play on. It goes with ``position``.
``explore``
    Puts any position in place of the first one, so that walks begin at rare ones as well.
``opponent``, ``deviation``
    Draw an action of a fixed opponent, and of somebody who does what no abstract action stands for.

``numbers`` and ``tables`` are whatever the game's own hooks want; every thread has ``numbers`` of
its own, which may serve as scratch memory.

Row ``d`` of every array of a :class:`SamplingWorkspace` belongs to the node at depth ``d``. What
follows a node is copied to the next row, so that the node itself stays as it was. Chance events
have no row.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from agents.abstraction import CHOOSE, KEY, NONE
from agents.cfr.mccfr_tables import (
    ABSENT,
    enter,
    find,
    first_entry,
    num_entries,
)
from envs.core.addresses import Addresses, AddressesType
from envs.core.compiling import inlined
from envs.core.game import Game
from envs.core.kernels import (
    CHANCE,
    INT,
    KERNELS,
    OPTIONAL_KERNELS,
    OVER,
    RNG,
    RULES,
    STATE,
    Kernels,
    OptionalKernels,
)
from envs.core.records import Grid, Row, record, tuple_type
from envs.core.rng import Words, first_key, fold, uniform

POSITION = INT(STATE, RULES, INT)
IS_ACTIVE = types.boolean(STATE, RULES, INT)
EXPLORE = types.void(STATE, RULES, RNG)

_HOOKS = AddressesType(
    "masquerade.SamplingHooks",
    {
        "key": KEY,
        "position": POSITION,
        "is_active": IS_ACTIVE,
        "explore": EXPLORE,
        "opponent": CHOOSE,
        "deviation": CHOOSE,
    },
)


class SamplingHooks(Addresses):
    """The hooks of one game, as one argument of compiled code."""

    numba_type = _HOOKS


NO_HOOKS = SamplingHooks()


class SampledGame(NamedTuple):
    """A game as walks through it see it."""

    kernels: Annotated[Kernels, KERNELS]
    optional: Annotated[OptionalKernels, OPTIONAL_KERNELS]
    rules: Annotated[npt.NDArray[np.int32], RULES]
    roots: Grid[np.uint8]
    """[openings, state]: the first positions."""
    hooks: Annotated[SamplingHooks, _HOOKS] = NO_HOOKS
    tables: Row[np.float64] = np.zeros(0)
    continuation: Row[np.float64] = np.zeros(0)
    """[position]: what the rest of the game brings."""
    visits: Row[np.int64] = np.zeros(0, np.int64)
    """[position]: how many results its continuation value was learnt from."""


SAMPLED_GAME = tuple_type(SampledGame)


# In the order of the words of the settings.
EXTERNAL, OUTCOME, CHANCE_ONLY = range(3)
NO_BASELINES, BY_INFOSET, BY_HISTORY = range(3)

PLAN = record(
    sampling=np.int64,  # EXTERNAL, OUTCOME or CHANCE_ONLY
    is_plus=np.int64,  # regrets below 0 are forgotten
    regret_power=np.float64,  # of the iteration's number, which its regrets count
    average_power=np.float64,  # and its policies in the average
    epsilon=np.float64,  # how often an outcome-sampling traverser plays anything
    baselines=np.int64,  # NO_BASELINES, BY_INFOSET or BY_HISTORY
    baseline_rate=np.float64,  # how far a baseline follows what was last seen
    stops_when_full=np.int64,
    pruning=np.float64,  # how often a walk passes hopeless actions over
    exploration=np.float64,  # how often a game begins at any position
    opponent_share=np.float64,  # how often all others are the fixed opponent
    deviations=np.float64,  # how often one of the others deviates
)
FRAME = record(
    player=np.int64,  # to move
    first=np.int64,  # entry, NONE when the table has no room for the information set
    num_actions=np.int64,
    is_abstract=np.int64,  # the entries are abstract actions
    baseline=np.int64,  # entry that has the first baseline, NONE without baselines
    at=np.int64,  # the action that is tried, by its rank; NONE when the node is new
    stop=np.int64,  # the rank before which to stop
    # Outcome sampling: the probability that the traverser explored its way here, and that
    # of the action that was drawn here.
    explored=np.float64,
    drawn=np.float64,
    # The probability that the traverser comes here and, in chance sampling, the others.
    own=np.float64,
    others=np.float64,
)

WALK = record(
    traverser=np.int64,  # whose regrets are estimated
    position=np.int64,  # as the traverser sees it, where the walk ends; NONE: game over
    regret_weight=np.float64,
    average_weight=np.float64,
    lowest_regret=np.float64,  # actions below it are passed over
    averages_own=np.int64,  # the traverser's policy is averaged, not the others'
    passes_over=np.int64,  # some actions of the traverser are not tried
)


class SamplingWorkspace(NamedTuple):
    """Where one thread works."""

    walk: Annotated[npt.NDArray[Any], WALK]
    """[1]: what the present walk is about."""
    frames: Annotated[npt.NDArray[Any], FRAME]
    states: Grid[np.uint8]
    keys: Grid[np.uint64]
    """What each player has seen, where no hook makes the keys."""
    actions: Grid[np.int32]
    """The legal ones, where the table does not know them."""
    abstract: Grid[np.int32]
    """The action that each abstract action stands for; of no width without them."""
    policies: Grid[np.float64]
    values: Grid[np.float64]
    """What the traverser gets after each action."""
    mask: Row[np.int8]
    totals: Row[np.float64]
    span: Row[np.float64]
    """[2]: the lowest and the highest value of the ends that an iteration has come to."""
    is_fixed: Row[np.int8]
    """[players]: who plays like the fixed opponent."""
    root: Row[np.uint8]
    """Where walks begin."""
    numbers: Row[np.int64]
    """For the hooks."""
    rng: Row[np.uint64]

    @classmethod
    def of(
        cls,
        game: Game,
        root: npt.NDArray[np.uint8],
        rng: Words,
        num_abstract: int = 0,
        numbers: npt.NDArray[np.int64] | None = None,
    ) -> SamplingWorkspace:
        """Room for the longest game."""
        facts = game.facts
        rows, width = facts.max_length + 1, max(facts.num_actions, num_abstract)
        return cls(
            np.zeros(1, WALK),
            np.zeros(rows, FRAME),
            np.zeros((rows, game.state_size), np.uint8),
            np.zeros((rows, facts.num_players), np.uint64),
            np.zeros((rows, width), np.int32),
            np.zeros((rows, num_abstract), np.int32),
            np.zeros((rows, width)),
            np.zeros((rows, width)),
            np.zeros(width, np.int8),
            np.zeros(facts.num_players),
            np.array([facts.min_return, facts.max_return]),
            np.zeros(facts.num_players, np.int8),
            root.copy(),
            np.zeros(0, np.int64) if numbers is None else numbers.copy(),
            rng,
        )


WORKSPACE = tuple_type(SamplingWorkspace)


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
