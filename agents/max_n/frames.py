"""The memory of a search, and what all do with a node: order its moves, go down, store its value.

There is a frame for every node on the way to the present one, and a table of those before. A search
is a loop over frames, not a recursion, so it can stop after any node and go on later: that is how
it keeps a time limit without reading a clock.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.max_n.preference import utility_of
from envs.core.compiling import helper, inlined
from envs.core.game import Game
from envs.core.kernels import CHANCE, OVER
from envs.core.records import Grid, Row, record, tuple_type
from envs.core.rng import mix

MAX_PLAYERS = 8

COUNTERS = ("nodes", "leaves", "prunings", "hits", "stored", "deepest")
PROGRESS = record(
    depth=np.int64,  # of the present node
    is_entering=np.int64,  # or coming back to it from a child
    is_exact=np.int64,  # the result of the node that was left last
    is_complete=np.int64,  # nothing was estimated for it
    **dict.fromkeys(COUNTERS, np.int64),
)
NOBODY = -1
NO_ACTION = -1
COMPLETE = 1 << 30
"""Depth of a value that rests on the ends of games alone."""
EXACT, LOWER, UPPER = 0, 1, 2
"""Bounds of stored values; a search for vectors stores exact ones only."""
ORDERS = ("low_first", "high_first", "guess")
LOW_FIRST, HIGH_FIRST, GUESS = range(len(ORDERS))

_NUM_PROBES = 8
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)

FRAME = record(
    value=(np.float64, (MAX_PLAYERS,)),  # the best so far; of a chance node, the sum
    own=(np.float64, (MAX_PLAYERS,)),  # the mover's best since somebody else moved
    above=(np.float64, (MAX_PLAYERS,)),  # that of the player who moved before
    own_utility=np.float64,  # of ``own`` for the mover
    utility=np.float64,  # of ``value`` for the mover, before ties are averaged
    alpha=np.float64,
    beta=np.float64,
    floor=np.float64,  # alpha and
    ceiling=np.float64,  # beta when the node was entered
    key=np.uint64,
    turn=np.int32,
    depth_left=np.int32,  # decisions until the position is estimated
    num_moves=np.int32,
    next_move=np.int32,  # which of the moves comes next
    best=np.int32,  # action, or NO_ACTION
    num_tied=np.int32,
    above_player=np.int32,  # or NOBODY, when there is nothing to compare with
    has_own=np.int32,
    had_own=np.int32,  # when the node was entered
    was_cut=np.int32,
    is_exact=np.int32,  # all children so far were
    is_complete=np.int32,  # no position below was estimated
    has_replied=np.int32,  # best-reply search: an opponent has chosen
)
SETTINGS = record(
    weight=np.float64,  # of a place
    sum_bound=np.float64,  # no result adds up to more
    low=np.float64,  # no player gets less
    seed=np.uint64,
    num_players=np.int32,
    state_size=np.int32,
    preference=np.int32,
    pruning=np.int32,
    ties=np.int32,
    order=np.int32,
    hero=np.int32,  # of paranoid and best-reply search
    is_best_reply=np.int32,
    is_scalar=np.int32,  # paranoid and best-reply search: one number a node
)


class SearchStack(NamedTuple):
    """Where a search stands."""

    frames: Annotated[npt.NDArray[Any], FRAME]
    """[depth]"""
    states: Grid[np.uint8]
    """[depth, bytes]: padded with zeros to whole words, which are quicker to hash."""
    moves: Grid[np.int32]
    """[depth, actions]: in the order in which they are searched."""
    probs: Grid[np.float64]
    """[depth, outcomes]: of chance nodes."""
    mask: Row[np.int8]
    guesses: Row[np.float64]
    """[actions]: for sorting."""
    scratch: Row[np.uint8]
    result: Row[np.float64]
    """[players]: of the node that was left last."""
    progress: Annotated[npt.NDArray[Any], PROGRESS]
    """[1]"""


class PositionTable(NamedTuple):
    """Positions that were searched before; of 2**k slots, or of none."""

    keys: Row[np.uint64]
    depths: Row[np.int32]
    bests: Row[np.int32]
    bounds: Row[np.int8]
    values: Grid[np.float64]
    """[slots, players]; a search for one player uses the first column."""


STACK, TABLE = tuple_type(SearchStack), tuple_type(PositionTable)


def make_stack(game: Game) -> SearchStack:
    """Memory for a search to the end of the longest game."""
    facts = game.facts
    depth = facts.max_length + 2
    width = max(facts.num_actions, facts.num_chance_outcomes)
    return SearchStack(
        frames=np.zeros(depth, FRAME),
        states=np.zeros((depth, -(-game.state_size // 8) * 8), np.uint8),
        moves=np.zeros((depth, width), np.int32),
        probs=np.zeros((depth, max(1, facts.num_chance_outcomes))),
        mask=np.zeros(width, np.int8),
        guesses=np.zeros(width),
        scratch=np.zeros(game.state_size, np.uint8),
        result=np.zeros(facts.num_players),
        progress=np.zeros(1, PROGRESS),
    )


def make_table(bits: int, num_players: int) -> PositionTable:
    """A transposition table of ``2**bits`` slots; 0 bits make one that is never used."""
    size = 2**bits if bits else 0
    return PositionTable(
        keys=np.zeros(size, np.uint64),
        depths=np.zeros(size, np.int32),
        bests=np.zeros(size, np.int32),
        bounds=np.zeros(size, np.int8),
        values=np.zeros((size, num_players), np.float64),
    )


@helper
def copy_values(source, target, num_players):
    """Copy a vector of results; an assignment of slices would allocate."""
    for player in range(num_players):
        target[player] = source[player]


@helper
def state_key(row, salt):
    """A hash of the words of a state, never 0."""
    words = row.view(np.uint64)
    key = np.uint64(salt) * _GOLDEN
    for i in range(words.size):
        key = (key ^ words[i]) * np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(29)
    return mix(key) | np.uint64(1)


@inlined
def find(table, key):
    """The slot of a position, or -1."""
    last = np.uint64(table.keys.size - 1)
    for probe in range(_NUM_PROBES):
        slot = np.int64((key + np.uint64(probe)) & last)
        if table.keys[slot] == key:
            return slot
        if table.keys[slot] == np.uint64(0):
            return -1
    return -1


@inlined
def store(stack, table, key, depth, best, bound):
    """Enter ``stack.result``, in place of the shallowest of a few if there is no room."""
    last = np.uint64(table.keys.size - 1)
    slot = np.int64(key & last)
    for probe in range(_NUM_PROBES):
        other = np.int64((key + np.uint64(probe)) & last)
        if table.keys[other] == key or table.keys[other] == np.uint64(0):
            slot = other
            break
        if table.depths[other] < table.depths[slot]:
            slot = other
    table.keys[slot] = key
    table.depths[slot] = depth
    table.bests[slot] = best
    table.bounds[slot] = bound
    copy_values(stack.result, table.values[slot], stack.result.size)
    stack.progress[0].stored += 1


@inlined
def is_leaf(kernels, evaluation, rules, stack, o, depth):
    """Count a node that is entered; at a leaf everybody's returns become the result."""
    stack.progress[0].nodes += 1
    stack.progress[0].deepest = max(stack.progress[0].deepest, depth)
    f = stack.frames[depth]
    state = stack.states[depth, : o.state_size]
    f.turn = kernels.turn(state, rules)
    f.best = NO_ACTION
    if f.turn == OVER:
        kernels.returns(state, rules, stack.result)
    elif f.turn != CHANCE and f.depth_left <= 0:
        evaluation.evaluate(state, rules, stack.result)
    else:
        return False
    stack.progress[0].leaves += 1
    stack.progress[0].is_exact = 1
    stack.progress[0].is_complete = f.turn == OVER
    return True


@inlined
def read_result(stack, table, slot):
    """Make what is stored the result."""
    copy_values(table.values[slot], stack.result, stack.result.size)
    stack.progress[0].is_exact = 1
    stack.progress[0].is_complete = table.depths[slot] == COMPLETE
    stack.progress[0].hits += 1


@inlined
def descend(kernels, rules, stack, o, depth):
    """Play the next move of the node at ``depth`` into the row below it."""
    f = stack.frames[depth]
    action = stack.moves[depth, f.next_move]
    f.next_move += 1
    for i in range(stack.states.shape[1]):
        stack.states[depth + 1, i] = stack.states[depth, i]
    kernels.step(stack.states[depth + 1, : o.state_size], rules, action)
    is_decision = f.turn != CHANCE
    stack.frames[depth + 1].depth_left = f.depth_left - is_decision


@inlined
def order_moves(kernels, evaluation, rules, stack, o, depth, hint):
    """Write the legal moves of a node in the order in which they are to be searched."""
    f = stack.frames[depth]
    state = stack.states[depth, : o.state_size]
    kernels.legal(state, rules, stack.mask)
    moves = stack.moves[depth]
    count = 0
    for i in range(stack.mask.size):
        action = stack.mask.size - 1 - i if o.order == HIGH_FIRST else i
        if stack.mask[action]:
            moves[count] = action
            count += 1
    f.num_moves = count
    if f.turn == CHANCE:
        kernels.chance(state, rules, stack.probs[depth])
        return
    if o.order == GUESS and count > 1:
        sort_by_guess(kernels, evaluation, rules, stack, o, depth)
    for i in range(count):  # the hint first, if it is among the moves
        if moves[i] == hint:
            for j in range(i, 0, -1):
                moves[j] = moves[j - 1]
            moves[0] = hint
            break


@inlined
def sort_by_guess(kernels, evaluation, rules, stack, o, depth):
    """Sort moves by the estimate of what they lead to, the best for the mover first."""
    f = stack.frames[depth]
    moves = stack.moves[depth]
    for i in range(f.num_moves):
        for j in range(stack.scratch.size):
            stack.scratch[j] = stack.states[depth, j]
        kernels.step(stack.scratch, rules, moves[i])
        evaluation.evaluate(stack.scratch, rules, stack.result)
        guess = utility_of(stack.result, o.num_players, f.turn, o.preference, o.weight)
        action = moves[i]
        at = i
        while at > 0 and stack.guesses[at - 1] < guess:
            stack.guesses[at] = stack.guesses[at - 1]
            moves[at] = moves[at - 1]
            at -= 1
        stack.guesses[at] = guess
        moves[at] = action
