"""The core every game stands on: contract, generators, positions, batches, ``check_game``.

A name is imported from its module when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envs.core.lazily import load

if TYPE_CHECKING:
    from envs.core.batch import Batch, random_actions
    from envs.core.checking import CheckReport, check_game
    from envs.core.compiling import compiled, direct, helper, kernel
    from envs.core.errors import (
        GameContractError,
        IllegalActionError,
        MasqueradeError,
        OptionError,
        PositionError,
        UnknownNameError,
    )
    from envs.core.facts import CHIPS, POINTS, Facts, ObservationField, Seat, Unit, equal_seats
    from envs.core.game import Game
    from envs.core.kernels import CHANCE, OVER, PUBLIC, UNSEEN, Kernels, OptionalKernels
    from envs.core.keys import first_key, fold
    from envs.core.options import Options, option
    from envs.core.playouts import PlayoutResult, random_playouts
    from envs.core.position import Position
    from envs.core.rng import below, fill_streams, new_rng, stream, uniform
    from envs.core.tree import TreeCounts, count_tree
    from envs.core.views import Views

__all__ = [
    "CHANCE",
    "CHIPS",
    "OVER",
    "POINTS",
    "PUBLIC",
    "UNSEEN",
    "Batch",
    "CheckReport",
    "Facts",
    "Game",
    "GameContractError",
    "IllegalActionError",
    "Kernels",
    "MasqueradeError",
    "ObservationField",
    "OptionError",
    "OptionalKernels",
    "Options",
    "PlayoutResult",
    "Position",
    "PositionError",
    "Seat",
    "TreeCounts",
    "Unit",
    "UnknownNameError",
    "Views",
    "below",
    "check_game",
    "compiled",
    "count_tree",
    "direct",
    "equal_seats",
    "fill_streams",
    "first_key",
    "fold",
    "helper",
    "kernel",
    "new_rng",
    "option",
    "random_actions",
    "random_playouts",
    "stream",
    "uniform",
]

_MODULES: dict[str, tuple[str, ...]] = {
    "batch": ("Batch", "random_actions"),
    "checking": ("CheckReport", "check_game"),
    "compiling": ("compiled", "direct", "helper", "kernel"),
    "errors": (
        "GameContractError",
        "IllegalActionError",
        "MasqueradeError",
        "OptionError",
        "PositionError",
        "UnknownNameError",
    ),
    "facts": ("CHIPS", "POINTS", "Facts", "ObservationField", "Seat", "Unit", "equal_seats"),
    "game": ("Game",),
    "kernels": ("CHANCE", "OVER", "PUBLIC", "UNSEEN", "Kernels", "OptionalKernels"),
    "keys": ("first_key", "fold"),
    "options": ("Options", "option"),
    "playouts": ("PlayoutResult", "random_playouts"),
    "position": ("Position",),
    "rng": ("below", "fill_streams", "new_rng", "stream", "uniform"),
    "tree": ("TreeCounts", "count_tree"),
    "views": ("Views",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a name when it is first asked for."""
    return load(__name__, _HOMES, name)
