"""Walk a whole game tree: how many nodes of each kind it has, and how many information sets.

The counts pin a game down better than any single test, and compare with what other libraries
publish.
"""

from __future__ import annotations

import numpy as np
from numba import types

from common.errors import MasqueradeError
from envs.core.checking.trees import TreeCounts
from envs.core.compiling import compiled
from envs.core.game import Game
from envs.core.kernels import CHANCE, INT, KERNELS, OVER, RULES
from envs.core.rng import first_key, fold

# Columns of the counts that the walk returns.
_CHANCE, _DECISION, _TERMINAL, _DEPTH, _FULL = range(5)


@compiled(INT(types.uint64[::1], types.uint64))
def _insert(table, key):
    """Put a key into a table of 2**k slots; 1 if it was new, 0 if known, -1 if full."""
    last = np.uint64(table.size - 1)
    slot = key & last
    for _ in range(64):
        if table[slot] == key:
            return 0
        if table[slot] == 0:
            table[slot] = key
            return 1
        slot = (slot + np.uint64(1)) & last
    return -1


@compiled(
    types.void(
        KERNELS,
        RULES,
        types.uint8[:, ::1],
        types.int8[:, ::1],
        types.uint64[:, ::1],
        types.int64[::1],
        types.uint64[::1],
        types.int64[::1],
        types.int64[::1],
        INT,
    )
)
def _walk(kernels, rules, states, masks, keys, actions, table, counts, infosets, max_nodes):
    """Depth-first walk from ``states[0]``; row ``d`` of every stack belongs to depth ``d``."""
    depth = 0
    actions[0] = -1
    num_nodes = 0
    for player in range(infosets.size):
        keys[0, player] = first_key(player)
    while depth >= 0:
        turn = kernels.turn(states[depth], rules)
        if actions[depth] < 0:
            num_nodes += 1
            counts[_DEPTH] = max(counts[_DEPTH], depth)
            if turn == OVER:
                counts[_TERMINAL] += 1
                depth -= 1
                continue
            found = 0
            if turn == CHANCE:
                counts[_CHANCE] += 1
            else:
                counts[_DECISION] += 1
                found = _insert(table, keys[depth, turn])
                infosets[turn] += found
            if found < 0 or num_nodes > max_nodes or depth + 1 >= actions.size:
                counts[_FULL] = 1
                return
            kernels.legal(states[depth], rules, masks[depth])
        action = actions[depth] + 1
        while action < masks.shape[1] and masks[depth, action] == 0:
            action += 1
        actions[depth] = action
        if action == masks.shape[1]:
            depth -= 1
            continue
        for player in range(infosets.size):
            token = kernels.seen(states[depth], rules, action, player)
            keys[depth + 1, player] = fold(keys[depth, player], token)
        for i in range(states.shape[1]):
            states[depth + 1, i] = states[depth, i]
        kernels.step(states[depth + 1], rules, action)
        depth += 1
        actions[depth] = -1


def count_tree(game: Game, max_nodes: int = 100_000_000) -> TreeCounts:
    """Count every node of the game tree; a game of more than ``max_nodes`` nodes is refused.

    >>> from envs import make_game
    >>> counts = count_tree(make_game("kuhn_v0"))
    >>> counts.chance, counts.decision, counts.terminal, counts.infosets
    (4, 24, 30, (6, 6))
    """
    rows = game.facts.max_length + 2
    table_size = 1 << 16
    while True:
        states = np.zeros((rows, game.state_size), np.uint8)
        states[0] = game.new_position().state
        masks = np.zeros((rows, game.mask_size), np.int8)
        keys = np.zeros((rows, game.facts.num_players), np.uint64)
        actions = np.zeros(rows, np.int64)
        counts = np.zeros(5, np.int64)
        infosets = np.zeros(game.facts.num_players, np.int64)
        table = np.zeros(table_size, np.uint64)
        _walk(
            game.kernels,
            game.rules,
            states,
            masks,
            keys,
            actions,
            table,
            counts,
            infosets,
            max_nodes,
        )
        if not counts[_FULL]:
            sizes = tuple(int(n) for n in infosets)
            chance, decision, terminal, depth = (int(n) for n in counts[:_FULL])
            return TreeCounts(chance, decision, terminal, sizes, depth)
        if counts[:3].sum() > max_nodes:
            raise MasqueradeError(
                f"{game!r} has more than {max_nodes:,} nodes: choose smaller options to count it"
            )
        if counts[_DEPTH] >= game.facts.max_length + 1:
            raise MasqueradeError(
                f"{game!r} goes on beyond its declared max_length of {game.facts.max_length}"
            )
        table_size *= 8
