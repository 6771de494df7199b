"""Walk a game tree and write it down, compiled; :mod:`agents.cfr.tree` is the Python face.

Two walks over the same tree: ``count_nodes`` says how much room is needed, ``write_tree`` fills it.
Both go depth first with a stack whose row ``d`` belongs to depth ``d``.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from envs.core.compiling import compiled, inlined
from envs.core.game import Game
from envs.core.kernels import CHANCE, INT, KERNELS, OVER, PUBLIC, RULES
from envs.core.records import Grid, Row, record, tuple_type
from envs.core.rng import first_key, fold

NONE = -1

NODE = record(
    prob=np.float64,  # of the chance outcome that led here, 1 after a player's action
    parent=np.int32,  # NONE at the root
    end=np.int32,  # the subtree is this node up to, and without, ``end``
    index=np.int32,  # its information set, its number among the terminals, or NONE
    sequence=np.int32,  # that led here, or NONE after chance
    action=np.int32,  # action or outcome that led here
    player=np.int32,  # to move, CHANCE or OVER
)
INFOSET = record(
    key=np.uint64,  # perfect-recall key of what the player has seen
    first_sequence=np.int32,  # its sequences lie in a row, actions rising
    num_actions=np.int32,
    parent_sequence=np.int32,  # the player's own sequence before it
    node=np.int32,  # the first node that belongs to it
    player=np.int32,
)
FRAME = record(
    action=np.int64,  # tried last; NONE when the node is new
    node=np.int64,
    next_sequence=np.int64,  # of the action tried next
    reach=np.float64,  # the probability that chance allows for this node
)

# What can come of a walk.
FINE, TOO_LARGE, TOO_LONG, TWO_MASKS, NO_RECALL = range(5)
# What it counts.
NUM_NODES, NUM_TERMINALS, NUM_DECISIONS, NUM_INFOSETS, NUM_SEQUENCES, TABLE_SIZE = range(6)
NUM_COUNTS = 6

# In the table of information sets, whose number *n* is written as *n + 1*.
EMPTY = 0
FIRST_TABLE_SIZE = 64


class WalkStack(NamedTuple):
    """What a walk remembers of every node between the root and where it is."""

    frames: Annotated[npt.NDArray[Any], FRAME]
    states: Grid[np.uint8]
    masks: Grid[np.int8]
    probs: Grid[np.float64]
    """Of the outcomes, at a chance node."""
    keys: Grid[np.uint64]
    """What each player has seen, and the public."""
    last_sequences: Grid[np.int64]
    """Each player's last sequence, or NONE."""

    @classmethod
    def of(cls, game: Game, number: int = 0) -> WalkStack:
        """Room for the longest game, with the start of game ``number`` at the bottom."""
        facts = game.facts
        rows = facts.max_length + 1
        states = np.zeros((rows, game.state_size), np.uint8)
        states[0] = game.new_position(number).state
        return cls(
            np.zeros(rows, FRAME),
            states,
            np.zeros((rows, game.mask_size), np.int8),
            np.zeros((rows, max(facts.num_chance_outcomes, 1))),
            np.zeros((rows, facts.num_players + 1), np.uint64),
            np.zeros((rows, facts.num_players), np.int64),
        )


class TreeArrays(NamedTuple):
    """What ``write_tree`` fills."""

    nodes: Annotated[npt.NDArray[Any], NODE]
    infosets: Annotated[npt.NDArray[Any], INFOSET]
    sequence_actions: Row[np.int32]
    terminal_probs: Row[np.float64]
    terminal_returns: Grid[np.float64]
    terminal_sequences: Grid[np.int32]
    open_keys: Grid[np.uint64]
    """Keys of all players and of the public, a row for every node where the game is not over; or
    empty when nobody wants them."""
    table: Row[np.int32]
    """Open-addressing table, of which 2**k slots are in use: an information set, or EMPTY."""


STACK = tuple_type(WalkStack)
TREE_ARRAYS = tuple_type(TreeArrays)


@inlined
def next_action(mask, action):
    """The first possible action after ``action``; the size of the mask when there is none."""
    action += 1
    while action < mask.size and mask[action] == 0:
        action += 1
    return action


@inlined
def push(kernels, rules, stack, depth, action):
    """Play an action of the node at ``depth``, one row above it, and return whose turn it is."""
    state, child = stack.states[depth], stack.states[depth + 1]
    for i in range(state.size):
        child[i] = state[i]
    kernels.step(child, rules, action)
    return kernels.turn(child, rules)


@inlined
def begin(kernels, rules, stack, depth):
    """See what can be played at ``depth``; nothing has been tried."""
    stack.frames[depth].action = NONE
    kernels.legal(stack.states[depth], rules, stack.masks[depth])


@compiled(INT(KERNELS, RULES, STACK, INT, types.int64[::1]))
def count_nodes(kernels, rules, stack, max_nodes, counts):
    """Count nodes, terminals and decisions below the bottom of the stack."""
    depth = 0
    turn = kernels.turn(stack.states[0], rules)
    counts[NUM_NODES] = 1
    counts[NUM_DECISIONS] = turn >= 0
    begin(kernels, rules, stack, 0)
    while depth >= 0:
        frame, mask = stack.frames[depth], stack.masks[depth]
        frame.action = next_action(mask, frame.action)
        if frame.action == mask.size:
            depth -= 1
            continue
        if depth + 1 >= stack.frames.size:
            return TOO_LONG
        turn = push(kernels, rules, stack, depth, frame.action)
        counts[NUM_NODES] += 1
        if counts[NUM_NODES] > max_nodes:
            return TOO_LARGE
        if turn == OVER:
            counts[NUM_TERMINALS] += 1
            continue
        counts[NUM_DECISIONS] += turn >= 0
        depth += 1
        begin(kernels, rules, stack, depth)
    return FINE


# ---- writing -------------------------------------------------------------------------------------


@inlined
def find_slot(arrays, key, last):
    """The slot of the table where a key is, or where it belongs."""
    slot = key & last
    while arrays.table[slot] != EMPTY and arrays.infosets[arrays.table[slot] - 1].key != key:
        slot = (slot + np.uint64(1)) & last
    return slot


@inlined
def find_infoset(arrays, key, counts):
    """The number of the information set with this key; a new one gets the next number.

    Games have far fewer information sets than decisions, so only as much of the table is used as
    those found so far need: a small table stays in the cache.
    """
    num_infosets = counts[NUM_INFOSETS]
    last = np.uint64(counts[TABLE_SIZE] - 1)
    slot = find_slot(arrays, key, last)
    if arrays.table[slot] != EMPTY:
        return arrays.table[slot] - np.int64(1)
    if 2 * num_infosets >= counts[TABLE_SIZE]:
        for i in range(counts[TABLE_SIZE]):
            arrays.table[i] = EMPTY
        counts[TABLE_SIZE] *= 2
        last = np.uint64(counts[TABLE_SIZE] - 1)
        for i in range(num_infosets):
            arrays.table[find_slot(arrays, arrays.infosets[i].key, last)] = i + 1
        slot = find_slot(arrays, key, last)
    arrays.table[slot] = num_infosets + 1
    return num_infosets


@inlined
def write_sequences(arrays, infoset, mask, first_sequence):
    """Write the sequences of a new information set."""
    sequence = first_sequence
    action = next_action(mask, NONE)
    while action < mask.size:
        arrays.sequence_actions[sequence] = action
        sequence += 1
        action = next_action(mask, action)
    infoset.first_sequence = first_sequence
    infoset.num_actions = sequence - first_sequence


@inlined
def has_mask(arrays, infoset, mask):
    """Whether the legal actions of a known information set are those of ``mask``."""
    sequence = infoset.first_sequence
    end = sequence + infoset.num_actions
    action = next_action(mask, NONE)
    while action < mask.size:
        if sequence == end or arrays.sequence_actions[sequence] != action:
            return False
        sequence += 1
        action = next_action(mask, action)
    return sequence == end


@inlined
def write_decision(stack, arrays, depth, player, counts):
    """Find or enter the information set of the node at ``depth``; FINE or what is wrong with it."""
    frame, mask, key = stack.frames[depth], stack.masks[depth], stack.keys[depth, player]
    parent_sequence = stack.last_sequences[depth, player]
    at = find_infoset(arrays, key, counts)
    infoset = arrays.infosets[at]
    if at == counts[NUM_INFOSETS]:
        infoset.key = key
        infoset.player = player
        infoset.node = frame.node
        infoset.parent_sequence = parent_sequence
        write_sequences(arrays, infoset, mask, counts[NUM_SEQUENCES])
        counts[NUM_INFOSETS] += 1
        counts[NUM_SEQUENCES] += infoset.num_actions
    elif infoset.player != player or infoset.parent_sequence != parent_sequence:
        return NO_RECALL
    elif not has_mask(arrays, infoset, mask):
        return TWO_MASKS
    arrays.nodes[frame.node].index = at
    frame.next_sequence = infoset.first_sequence
    return FINE


@inlined
def write_node(kernels, rules, stack, arrays, depth, turn, counts):
    """Begin a node where something is to be decided; FINE or what is wrong with it."""
    frame = stack.frames[depth]
    arrays.nodes[frame.node].player = turn
    arrays.nodes[frame.node].index = NONE
    if arrays.open_keys.size:
        row = counts[NUM_NODES] - counts[NUM_TERMINALS] - 1
        for column in range(stack.keys.shape[1]):
            arrays.open_keys[row, column] = stack.keys[depth, column]
    begin(kernels, rules, stack, depth)
    if turn == CHANCE:
        kernels.chance(stack.states[depth], rules, stack.probs[depth])
        return FINE
    return write_decision(stack, arrays, depth, turn, counts)


@inlined
def write_terminal(kernels, rules, stack, arrays, depth, counts):
    """Write what a finished game pays and how it came about."""
    at = counts[NUM_TERMINALS]
    frame = stack.frames[depth]
    kernels.returns(stack.states[depth], rules, arrays.terminal_returns[at])
    arrays.terminal_probs[at] = frame.reach
    for player in range(stack.last_sequences.shape[1]):
        arrays.terminal_sequences[at, player] = stack.last_sequences[depth, player]
    node = arrays.nodes[frame.node]
    node.player = OVER
    node.index = at
    node.end = frame.node + 1
    counts[NUM_TERMINALS] += 1


@inlined
def write_edge(stack, arrays, depth, action, child):
    """Write how ``child`` comes from the node at ``depth``, and how likely it is."""
    frame, above = stack.frames[depth], stack.frames[depth + 1]
    for player in range(stack.last_sequences.shape[1]):
        stack.last_sequences[depth + 1, player] = stack.last_sequences[depth, player]
    node, turn = arrays.nodes[child], arrays.nodes[frame.node].player
    node.parent = frame.node
    node.action = action
    node.prob = 1.0
    node.sequence = NONE
    if turn == CHANCE:
        node.prob = stack.probs[depth, action]
    else:
        node.sequence = frame.next_sequence
        stack.last_sequences[depth + 1, turn] = frame.next_sequence
        frame.next_sequence += 1
    above.reach = frame.reach * node.prob
    above.node = child


@inlined
def write_seen(kernels, rules, stack, arrays, depth, action):
    """Write what everybody has seen after an action of the node at ``depth``."""
    num_players = stack.last_sequences.shape[1]
    for player in range(num_players):
        token = kernels.seen(stack.states[depth], rules, action, player)
        stack.keys[depth + 1, player] = fold(stack.keys[depth, player], token)
    if arrays.open_keys.size:
        token = kernels.seen(stack.states[depth], rules, action, PUBLIC)
        stack.keys[depth + 1, num_players] = fold(stack.keys[depth, num_players], token)


@inlined
def write_root(stack, arrays):
    """Write the first node: nobody has seen anything."""
    num_players = stack.last_sequences.shape[1]
    frame, node = stack.frames[0], arrays.nodes[0]
    frame.node = 0
    frame.reach = 1.0
    node.parent = NONE
    node.sequence = NONE
    node.action = NONE
    node.prob = 1.0
    for player in range(num_players):
        stack.keys[0, player] = first_key(player)
        stack.last_sequences[0, player] = NONE
    stack.keys[0, num_players] = first_key(PUBLIC)


@compiled(INT(KERNELS, RULES, STACK, TREE_ARRAYS, types.int64[::1]))
def write_tree(kernels, rules, stack, arrays, counts):
    """Write down every node below the bottom of the stack; the arrays must be large enough."""
    depth = 0
    turn = kernels.turn(stack.states[0], rules)
    counts[NUM_NODES] = 1
    counts[TABLE_SIZE] = FIRST_TABLE_SIZE
    write_root(stack, arrays)
    result = write_node(kernels, rules, stack, arrays, 0, turn, counts)
    while depth >= 0 and result == FINE:
        frame, mask = stack.frames[depth], stack.masks[depth]
        frame.action = next_action(mask, frame.action)
        if frame.action == mask.size:
            arrays.nodes[frame.node].end = counts[NUM_NODES]
            depth -= 1
            continue
        turn = push(kernels, rules, stack, depth, frame.action)
        write_edge(stack, arrays, depth, frame.action, counts[NUM_NODES])
        counts[NUM_NODES] += 1
        if turn == OVER:
            write_terminal(kernels, rules, stack, arrays, depth + 1, counts)
        else:
            write_seen(kernels, rules, stack, arrays, depth, frame.action)
            depth += 1
            result = write_node(kernels, rules, stack, arrays, depth, turn, counts)
    return result


@compiled(types.void(TREE_ARRAYS, types.int32[::1], types.int32[::1]))
def renumber(arrays, new_infosets, new_sequences):
    """Give the information sets and sequences of all nodes and terminals other numbers.

    The last of ``new_sequences`` is what terminals get for a player who never moved.
    """
    for v in range(arrays.nodes.size):
        node = arrays.nodes[v]
        if node.sequence != NONE:
            node.sequence = new_sequences[node.sequence]
        if node.player >= 0:
            node.index = new_infosets[node.index]
    for terminal in range(arrays.terminal_sequences.shape[0]):
        sequences = arrays.terminal_sequences[terminal]
        for player in range(sequences.size):
            sequences[player] = new_sequences[sequences[player]]
