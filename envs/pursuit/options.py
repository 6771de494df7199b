"""The options of a pursuit; Scotland Yard and the Phantom differ in their defaults."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import Field

from common.errors import OptionError
from envs.core.options import Options, option
from envs.pursuit.board import MAX_NODES
from envs.pursuit.generators import EDGE_MODES, MapRecipe
from envs.pursuit.record import MAX_DETECTIVES, MAX_DOUBLES, MAX_LOG, MAX_ROUNDS, MOVING

__all__ = ["SHIPPED", "PursuitOptions", "board_option", "with_default"]

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
    num_maps: int = option(
        1, low=1, high=MAX_MAPS, is_structural=False, help="random maps to draw from"
    )
    first_map: int = option(
        0,
        low=0,
        high=10**6,
        is_structural=False,
        help="number of the first of them, so that maps to train and to test on can differ",
    )
    map_seed: int = option(0, low=0, high=2**31, is_structural=False, help="series of random maps")
    keep: float = option(
        0.8, low=0.0, high=1.0, is_structural=False, help="share of a random map's cells in use"
    )
    taxi: float = option(
        0.4, low=0.0, high=1.0, is_structural=False, help="share of places where taxis stop"
    )
    tram: float = option(
        0.2, low=0.0, high=1.0, is_structural=False, help="share of places where trams stop"
    )
    edge_mode: str = option(
        "radius", choices=EDGE_MODES, is_structural=False, help="which stops are joined"
    )
    radius: int = option(
        2, low=1, high=MAX_NODES, is_structural=False, help="how far apart joined stops may be"
    )
    max_imbalance: float | None = option(
        None,
        low=0.01,
        high=0.5,
        is_structural=False,
        help="random maps on which simple players' win rate is farther from one half are refused",
    )
    num_detectives: int = option(5, low=1, high=MAX_DETECTIVES, help="detectives who give chase")
    seats: str = option(
        "team", choices=("team", "each"), help="one player for all detectives, or one for each"
    )
    rounds: int = option(
        22, low=1, high=MAX_ROUNDS, is_structural=False, help="rounds until the fugitive escapes"
    )
    reveals: int | tuple[int, ...] = option(
        (3, 8, 13, 18, 24),
        low=0,
        high=MAX_LOG - 1,
        is_list=True,
        is_structural=False,
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
    rewards: str = option(
        "win",
        choices=("win", "survival"),
        is_structural=False,
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
        return MapRecipe(
            self.rows,
            self.columns,
            self.keep,
            self.taxi,
            self.tram,
            self.edge_mode,
            self.radius,
        )

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
