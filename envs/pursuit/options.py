"""The record of a pursuit, the numbers its kernels read, and the options these follow from.

A state is one :data:`STATE`. The rules are one :data:`RULES`, then for every map of the pool one
:data:`MAP`, and then the tables those point to: for each kind of ticket the neighbours of every
place (``starts[place] .. starts[place + 1]`` in a list of targets), and all distances, four to a
word; ``tables`` writes them. Scotland Yard and the Phantom differ in the defaults of the options.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array
from pydantic import Field

from common.errors import OptionError
from envs.core.compiling import JIT_DISABLED, helper
from envs.core.options import Options, free_option, option
from envs.core.records import record
from envs.pursuit.board import MAX_NODES, MAX_TRANSPORTS
from envs.pursuit.generators import EDGE_MODES, MapRecipe

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

STATE = record(
    # Public: how many histories, consistent with all that detectives have seen, lead to
    # each place. Whole numbers, exact up to 2**53.
    belief=(np.float64, (MAX_NODES,)),
    turn=np.int8,  # seat to move, CHANCE or OVER
    phase=np.int8,  # what comes next
    reason=np.int8,  # how it ended, or RUNNING
    map=np.int32,  # which map of the pool
    round_number=np.int16,  # number of the round, from 1; 0 before the first
    num_moves=np.int16,  # fields of the log in use
    piece=np.int8,  # whose move comes next
    moved=np.uint8,  # bit d - 1: detective d has moved in this round
    is_out=np.uint8,  # bit d - 1: detective d has left the game
    double=np.int8,  # moves left of a double move, or 0
    doubles_left=np.int8,
    place=(np.int16, (MAX_PIECES,)),  # the fugitive's is the only secret
    seen_place=np.int16,  # where the fugitive was last seen, or NOWHERE
    seen_move=np.int16,  # in which field of the log
    tickets=(np.int16, (MAX_PIECES, MAX_KINDS)),
    given=(np.int16, (MAX_KINDS,)),  # tickets that detectives have spent
    used=(np.int16, (MAX_KINDS,)),  # tickets that the fugitive has used
    log_kind=(np.int8, (MAX_LOG,)),  # ticket of each move, START for a placement
    log_place=(np.int16, (MAX_LOG,)),  # where he showed himself, or NOWHERE
    log_round=(np.int16, (MAX_LOG,)),
    last_from=(np.int16, (MAX_PIECES,)),  # detectives' last moves, for pictures
    last_kind=(np.int8, (MAX_PIECES,)),
)
RULES = record(
    num_players=np.int32,
    num_detectives=np.int32,
    has_seat_each=np.int32,  # a seat for every detective
    num_slots=np.int32,  # places have numbers below
    num_kinds=np.int32,
    num_tickets=np.int32,  # kinds without the black one
    black=np.int32,  # the kind of a black ticket, or NOTHING
    double_action=np.int32,  # or NOTHING
    pick_action=np.int32,  # picks detective 1; the others follow
    rounds=np.int32,
    are_detectives_first=np.int32,
    are_starts_chosen=np.int32,
    does_fugitive_place_first=np.int32,
    placement_is_round=np.int32,
    start_is_known=np.int32,
    moving=np.int32,
    may_share=np.int32,  # detectives may stand on one place
    may_step_on_detective=np.int32,
    do_stuck_leave=np.int32,
    do_tickets_pass=np.int32,  # from detectives to the fugitive
    pays_survival=np.int32,
    detective_tickets=(np.int32, (MAX_KINDS,)),
    fugitive_tickets=(np.int32, (MAX_KINDS,)),
    double_moves=np.int32,
    is_reveal=(np.int32, (MAX_LOG,)),  # by field of the log
    num_maps=np.int32,
    shows_map=np.int32,  # the observation tells which transport stops where
)
MAP = record(
    num_nodes=np.int32,
    nodes=np.int32,  # where the list of places begins
    num_detective_starts=np.int32,
    detective_starts=np.int32,
    num_fugitive_starts=np.int32,
    fugitive_starts=np.int32,
    universal=np.int32,  # a kind of ticket that takes one away from everywhere
    ways=(np.int32, (MAX_KINDS,)),  # by kind: where its neighbours begin
    distances=np.int32,
    stops=np.int32,  # by kind and place: 1 where it stops
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

SPARE_WORDS = -(-STATE.itemsize // 8)
"""Room for one state is more than for one weight per place."""

if JIT_DISABLED:

    def spare_weights() -> Any:
        """Room for one weight per place, or for one state, for as long as the caller runs."""
        return np.empty(SPARE_WORDS)

else:
    # Compiled code allocates nothing; what a call needs for itself lies on the caller's stack.

    @intrinsic  # type: ignore[untyped-decorator]
    def spare_weights(_context: Any) -> Any:
        """Room for one weight per place, or for one state, for as long as the caller runs."""
        array_type = types.Array(types.float64, 1, "C")

        def codegen(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
            entry = context.get_data_type(types.float64)
            array = make_array(array_type)(context, builder)
            width = context.get_constant(types.intp, context.get_abi_sizeof(entry))
            populate_array(
                array,
                data=cgutils.alloca_once(builder, entry, size=SPARE_WORDS),
                shape=[context.get_constant(types.intp, SPARE_WORDS)],
                strides=[width],
                itemsize=width,
                meminfo=None,
            )
            return array._getvalue()

        return array_type(), codegen


SHIPPED = ("grid", "random", "city", "map_1", "map_2", "map_3")
"""Boards by name: two that are made, and those in ``envs/pursuit/maps``."""
MAX_TICKETS = 200
MAX_MAPS = 2000


class _AnyBoard:
    """What the option ``board`` may be, for messages and for the JSON Schema."""

    def __str__(self) -> str:
        return " or ".join(repr(name) for name in SHIPPED) + " or the path of a board file"

    def __call__(self, schema: dict[str, Any]) -> None:
        schema["examples"] = list(SHIPPED)


def board_option(default: str) -> Any:
    """Declare the option for a board: a name, or the path of a file."""
    words = "the board to play on, by name or by path"
    return Field(default, description=words, json_schema_extra=_AnyBoard())


class PursuitOptions(Options):
    """Options of a pursuit."""

    board: str = board_option("city")
    rows: int = option(5, low=1, high=MAX_NODES, help="rows of a grid or a random map")
    columns: int = option(5, low=1, high=MAX_NODES, help="columns of a grid or a random map")
    num_maps: int = free_option(1, low=1, high=MAX_MAPS, help="random maps to draw from")
    first_map: int = free_option(
        0,
        low=0,
        high=10**6,
        help="number of the first of them, so that maps to train and to test on can differ",
    )
    map_seed: int = free_option(0, low=0, high=2**31, help="series of random maps")
    keep: float = free_option(0.8, low=0.0, high=1.0, help="share of a random map's cells in use")
    taxi: float = free_option(0.4, low=0.0, high=1.0, help="share of places where taxis stop")
    tram: float = free_option(0.2, low=0.0, high=1.0, help="share of places where trams stop")
    edge_mode: str = free_option("radius", choices=EDGE_MODES, help="which stops are joined")
    radius: int = free_option(2, low=1, high=MAX_NODES, help="how far apart joined stops may be")
    max_imbalance: float | None = free_option(
        None,
        low=0.01,
        high=0.5,
        help="random maps on which simple players' win rate is farther from one half are refused",
    )
    num_detectives: int = option(5, low=1, high=MAX_DETECTIVES, help="detectives who give chase")
    seats: str = option(
        "team", choices=("team", "each"), help="one player for all detectives, or one for each"
    )
    rounds: int = free_option(22, low=1, high=MAX_ROUNDS, help="rounds until the fugitive escapes")
    reveals: int | tuple[int, ...] = free_option(
        (3, 8, 13, 18, 24),
        low=0,
        high=MAX_LOG - 1,
        is_list=True,
        help="moves after which the fugitive shows himself; one number: every so many, 0: never",
    )
    first: str = option(
        "fugitive", choices=("fugitive", "detectives"), help="who moves first in a round"
    )
    moving: str = option(
        "any_order",
        choices=MOVING,
        help="detectives move in the order of their numbers, in any order they like, or at once, "
        "so that only their targets must differ; with seats='each' they move in order by default",
    )
    starts: str = option("drawn", choices=("drawn", "chosen"), help="start cards, or free choice")
    placement_order: str = option(
        "fugitive_first",
        choices=("fugitive_first", "detectives_first"),
        help="who chooses a start first; the fugitive's choice is hidden, the detectives' is seen",
    )
    placement_is_round: bool = option(True, help="whether the choice of starts is the first round")
    start_is_known: bool = option(False, help="whether detectives see where the fugitive starts")
    detective_tickets: int | tuple[int, ...] | str = option(
        (11, 8, 4),
        low=0,
        high=MAX_TICKETS,
        is_list=True,
        choices=("unlimited",),
        help="tickets of every detective, one number for each transport",
    )
    fugitive_tickets: int | tuple[int, ...] | str = option(
        "unlimited",
        low=0,
        high=MAX_TICKETS,
        is_list=True,
        choices=("unlimited",),
        help="tickets of the fugitive, one number for each transport",
    )
    black_tickets: int = option(5, low=0, high=MAX_TICKETS, help="black tickets of the fugitive")
    double_moves: int = option(2, low=0, high=MAX_DOUBLES, help="double moves of the fugitive")
    spent_tickets: str = option(
        "supply", choices=("supply", "fugitive"), help="who gets a ticket that a detective used"
    )
    stuck_detectives: str = option(
        "leave",
        choices=("leave", "stay"),
        help="what detectives do who have no ticket for any way out",
    )
    may_share: bool = option(False, help="whether two detectives may stand on one place")
    may_step_on_detective: bool = option(
        False, help="whether the fugitive may walk into a detective, and lose"
    )
    rewards: str = free_option(
        "win",
        choices=("win", "survival"),
        help="1 for the winner, or a share for every round that the fugitive has survived",
    )

    def __post_init__(self) -> None:
        """Check what no single option can."""
        if self.seats == "each" and self.moving == "any_order":
            if "moving" in self.model_fields_set:
                raise OptionError(
                    "seats='each' needs moving='in_order' or 'at_once': "
                    "who has a seat moves in turn"
                )
            object.__setattr__(self, "moving", "in_order")  # it is frozen from here on
        if self.num_maps > 1 and self.board != "random":
            raise OptionError(f"num_maps={self.num_maps} needs board='random', not '{self.board}'")
        if self.max_imbalance is not None and self.board != "random":
            raise OptionError(f"max_imbalance needs board='random', not '{self.board}'")
        if self.starts == "chosen" and self.placement_is_round and self.rounds < 2:
            raise OptionError("rounds must be at least 2 when the placement is the first of them")
        if self.board in ("grid", "random") and not 2 <= self.rows * self.columns <= MAX_NODES:
            raise OptionError(
                f"rows x columns must be from 2 to {MAX_NODES}, not {self.rows} x {self.columns}"
            )

    @property
    def recipe(self) -> MapRecipe:
        """How random maps are made."""
        return MapRecipe.of(self)

    def reveal_moves(self) -> set[int]:
        """The moves after which the fugitive shows himself.

        >>> sorted(PursuitOptions(reveals=20).reveal_moves())
        [20, 40, 60]
        """
        if isinstance(self.reveals, tuple):
            return set(self.reveals) - {0}
        return set(range(self.reveals, MAX_LOG, self.reveals)) if self.reveals else set()


def with_default(name: str, default: Any, help: str | None = None) -> Any:
    """Declare an option of every pursuit again, with another default and perhaps other words."""
    field = PursuitOptions.model_fields[name]
    allowed: Any = replace(field.json_schema_extra, default=default)  # type: ignore[type-var]
    return Field(default, description=help or field.description, json_schema_extra=allowed)
