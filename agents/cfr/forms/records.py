"""The records and arrays of which a written tree consists, and what the walk over it counts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from envs.core.game import Game

NONE = -1

NODE = np.dtype(
    (
        np.record,
        [
            ("prob", np.float64),  # of the chance outcome that led here, 1 after a player's action
            ("parent", np.int32),  # NONE at the root
            ("end", np.int32),  # the subtree is this node up to, and without, ``end``
            ("index", np.int32),  # its information set, its number among the terminals, or NONE
            ("sequence", np.int32),  # that led here, or NONE after chance
            ("action", np.int32),  # action or outcome that led here
            ("player", np.int32),  # to move, CHANCE or OVER
        ],
    )
)
INFOSET = np.dtype(
    (
        np.record,
        [
            ("key", np.uint64),  # perfect-recall key of what the player has seen
            ("first_sequence", np.int32),  # its sequences lie in a row, actions rising
            ("num_actions", np.int32),
            ("parent_sequence", np.int32),  # the player's own sequence before it
            ("node", np.int32),  # the first node that belongs to it
            ("player", np.int32),
            ("depth", np.int32),  # actions and chance events before that node
        ],
    )
)
FRAME = np.dtype(
    (
        np.record,
        [
            ("action", np.int64),  # tried last; NONE when the node is new
            ("node", np.int64),
            ("next_sequence", np.int64),  # of the action tried next
            ("reach", np.float64),  # the probability that chance allows for this node
        ],
    )
)

# What can come of a walk.
FINE, TOO_LARGE, TOO_LONG, TWO_MASKS, NO_RECALL = range(5)
# What it counts.
NUM_NODES, NUM_TERMINALS, NUM_DECISIONS, NUM_INFOSETS, NUM_SEQUENCES, TABLE_SIZE = range(6)
NUM_COUNTS = 6

# In the table of information sets, whose number *n* is written as *n + 1*.
EMPTY = 0
FIRST_TABLE_SIZE = 64


class Stack(NamedTuple):
    """What a walk remembers of every node between the root and where it is."""

    frames: npt.NDArray[Any]
    states: npt.NDArray[np.uint8]
    masks: npt.NDArray[np.int8]
    probs: npt.NDArray[np.float64]
    """Of the outcomes, at a chance node."""
    keys: npt.NDArray[np.uint64]
    """What each player has seen, and the public."""
    last_sequences: npt.NDArray[np.int64]
    """Each player's last sequence, or NONE."""

    @classmethod
    def of(cls, game: Game, number: int = 0) -> Stack:
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

    nodes: npt.NDArray[Any]
    infosets: npt.NDArray[Any]
    sequence_actions: npt.NDArray[np.int32]
    terminal_probs: npt.NDArray[np.float64]
    terminal_returns: npt.NDArray[np.float64]
    terminal_sequences: npt.NDArray[np.int32]
    open_keys: npt.NDArray[np.uint64]
    """Keys of all players and of the public, a row for every node where the game is not over; or
    empty when nobody wants them."""
    table: npt.NDArray[np.int32]
    """Open-addressing table, of which 2**k slots are in use: an information set, or EMPTY."""


STACK = types.NamedTuple(
    (
        from_dtype(FRAME)[::1],
        types.uint8[:, ::1],
        types.int8[:, ::1],
        types.float64[:, ::1],
        types.uint64[:, ::1],
        types.int64[:, ::1],
    ),
    Stack,
)
TREE_ARRAYS = types.NamedTuple(
    (
        from_dtype(NODE)[::1],
        from_dtype(INFOSET)[::1],
        types.int32[::1],
        types.float64[::1],
        types.float64[:, ::1],
        types.int32[:, ::1],
        types.uint64[:, ::1],
        types.int32[::1],
    ),
    TreeArrays,
)
