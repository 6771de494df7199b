"""The record of a pursuit and the numbers its kernels read: options, maps, distances.

A state is one :data:`STATE`. The rules are one :data:`RULES`, then for every map of the pool one
:data:`MAP`, and then the tables those point to: for each kind of ticket the neighbours of every
place (``starts[place] .. starts[place + 1]`` in a list of targets), and all distances, four to a
word.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from envs.core.compiling import JIT_DISABLED, helper
from envs.pursuit.board import MAX_NODES, MAX_TRANSPORTS

__all__ = ["MAP", "MAX_DETECTIVES", "MAX_KINDS", "MAX_LOG", "RULES", "STATE"]

MAX_DETECTIVES = 6
MAX_PIECES = 1 + MAX_DETECTIVES
MAX_KINDS = MAX_TRANSPORTS + 1
"""Kinds of tickets: one for each transport that has its own, and black ones."""
MAX_ROUNDS = 60
MAX_DOUBLES = 10
MAX_LOG = MAX_ROUNDS + MAX_DOUBLES + 2
"""Fields of the travel log; number 0 is not used."""

FUGITIVE = 0
"""The fugitive's piece and seat; detectives are 1, 2, ..."""
NOWHERE = -1
NOTHING = -1
UNLIMITED = -1
START = -2
"""In the log: a placement, which takes no ticket."""
FAR = 255
"""The distance of places that are not on the map."""

# What comes next.
MAP_DRAW, DETECTIVE_DRAW, FUGITIVE_DRAW = range(3)
DETECTIVE_PLACING, FUGITIVE_PLACING, FUGITIVE_MOVE, PICK, DETECTIVE_MOVE, ENDED = range(3, 9)

# How a game ended.
REASONS = ("running", "caught", "blocked", "escaped", "nobody is left to chase")
RUNNING, CAUGHT, BLOCKED, ESCAPED, ALL_OUT = range(5)

MOVING = ("in_order", "any_order", "at_once")
IN_ORDER, ANY_ORDER, AT_ONCE = range(3)

STATE = np.dtype(
    (
        np.record,
        [
            # Public: how many histories, consistent with all that detectives have seen, lead to
            # each place. Whole numbers, exact up to 2**53.
            ("belief", np.float64, (MAX_NODES,)),
            ("turn", np.int8),  # seat to move, CHANCE or OVER
            ("phase", np.int8),  # what comes next
            ("reason", np.int8),  # how it ended, or RUNNING
            ("map", np.int32),  # which map of the pool
            ("round_number", np.int16),  # number of the round, from 1; 0 before the first
            ("num_moves", np.int16),  # fields of the log in use
            ("piece", np.int8),  # whose move comes next
            ("moved", np.uint8),  # bit d - 1: detective d has moved in this round
            ("is_out", np.uint8),  # bit d - 1: detective d has left the game
            ("double", np.int8),  # moves left of a double move, or 0
            ("doubles_left", np.int8),
            ("place", np.int16, (MAX_PIECES,)),  # the fugitive's is the only secret
            ("seen_place", np.int16),  # where the fugitive was last seen, or NOWHERE
            ("seen_move", np.int16),  # in which field of the log
            ("tickets", np.int16, (MAX_PIECES, MAX_KINDS)),
            ("given", np.int16, (MAX_KINDS,)),  # tickets that detectives have spent
            ("used", np.int16, (MAX_KINDS,)),  # tickets that the fugitive has used
            ("log_kind", np.int8, (MAX_LOG,)),  # ticket of each move, START for a placement
            ("log_place", np.int16, (MAX_LOG,)),  # where he showed himself, or NOWHERE
            ("log_round", np.int16, (MAX_LOG,)),
            ("last_from", np.int16, (MAX_PIECES,)),  # detectives' last moves, for pictures
            ("last_kind", np.int8, (MAX_PIECES,)),
        ],
    )
)
RULES = np.dtype(
    (
        np.record,
        [
            ("num_players", np.int32),
            ("num_detectives", np.int32),
            ("has_seat_each", np.int32),  # a seat for every detective
            ("num_slots", np.int32),  # places have numbers below
            ("num_kinds", np.int32),
            ("num_tickets", np.int32),  # kinds without the black one
            ("black", np.int32),  # the kind of a black ticket, or NOTHING
            ("double_action", np.int32),  # or NOTHING
            ("pick_action", np.int32),  # picks detective 1; the others follow
            ("rounds", np.int32),
            ("are_detectives_first", np.int32),
            ("are_starts_chosen", np.int32),
            ("does_fugitive_place_first", np.int32),
            ("is_placement_a_round", np.int32),
            ("is_start_known", np.int32),
            ("moving", np.int32),
            ("may_share", np.int32),  # detectives may stand on one place
            ("may_step_on_detective", np.int32),
            ("do_stuck_leave", np.int32),
            ("do_tickets_pass", np.int32),  # from detectives to the fugitive
            ("pays_survival", np.int32),
            ("detective_tickets", np.int32, (MAX_KINDS,)),
            ("fugitive_tickets", np.int32, (MAX_KINDS,)),
            ("doubles", np.int32),
            ("is_reveal", np.int32, (MAX_LOG,)),  # by field of the log
            ("num_maps", np.int32),
            ("shows_map", np.int32),  # the observation tells which transport stops where
        ],
    )
)
MAP = np.dtype(
    (
        np.record,
        [
            ("num_nodes", np.int32),
            ("nodes", np.int32),  # where the list of places begins
            ("num_detective_starts", np.int32),
            ("detective_starts", np.int32),
            ("num_fugitive_starts", np.int32),
            ("fugitive_starts", np.int32),
            ("universal", np.int32),  # a kind of ticket that takes one away from everywhere
            ("ways", np.int32, (MAX_KINDS,)),  # by kind: where its neighbours begin
            ("distances", np.int32),
            ("stops", np.int32),  # by kind and place: 1 where it stops
        ],
    )
)
RULES_SIZE, MAP_SIZE = RULES.itemsize // 4, MAP.itemsize // 4


@helper
def map_of(rules, index):
    """The record of one map of the pool."""
    at = RULES_SIZE + MAP_SIZE * index
    return rules[at : at + MAP_SIZE].view(MAP)[0]


@helper
def distance(rules, m, num_slots, a, b):
    """Steps between two places, by any transport."""
    index = num_slots * a + b
    return (rules[m.distances + (index >> 2)] >> (8 * (index & 3))) & 255


# ---- memory for one call -------------------------------------------------------------------------

if JIT_DISABLED:

    def spare_weights() -> Any:
        """Room for one weight per place, for as long as the caller runs."""
        return np.empty(MAX_NODES)

    def spare_state() -> Any:
        """Room for one state, for as long as the caller runs."""
        return np.empty(STATE.itemsize, np.uint8)

else:
    # Compiled code allocates nothing; what a call needs for itself lies on the caller's stack.

    def _stack_array(dtype: Any, size: int) -> Any:
        """Code for an array of ``size`` entries on the stack of the function that asks for it."""
        array_type = types.Array(dtype, 1, "C")

        def codegen(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
            entry = context.get_data_type(dtype)
            memory = cgutils.alloca_once(builder, entry, size=size)
            array = make_array(array_type)(context, builder)
            number = types.intp
            width = context.get_abi_sizeof(entry)
            populate_array(
                array,
                data=memory,
                shape=[context.get_constant(number, size)],
                strides=[context.get_constant(number, width)],
                itemsize=context.get_constant(number, width),
                meminfo=None,
            )
            return array._getvalue()

        return array_type(), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def spare_weights(_context: Any) -> Any:
        """Room for one weight per place, for as long as the caller runs."""
        return _stack_array(types.float64, MAX_NODES)

    @intrinsic  # type: ignore[untyped-decorator]
    def spare_state(_context: Any) -> Any:
        """Room for one state, for as long as the caller runs."""
        return _stack_array(types.uint8, STATE.itemsize)
