"""The core every game stands on: contract, generators, positions, batches, ``check_game``."""

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
from envs.core.game import Facts, Game, Piece
from envs.core.kernels import CHANCE, OVER, PUBLIC, UNSEEN, Kernels
from envs.core.keys import first_key, fold
from envs.core.options import Options, option
from envs.core.playouts import PlayoutResult, random_playouts
from envs.core.position import Position
from envs.core.rng import below, fill_streams, new_rng, stream, uniform
from envs.core.tree import TreeCounts, count_tree

__all__ = [
    "CHANCE",
    "OVER",
    "PUBLIC",
    "UNSEEN",
    "CheckReport",
    "Facts",
    "Game",
    "GameContractError",
    "IllegalActionError",
    "Kernels",
    "MasqueradeError",
    "OptionError",
    "Options",
    "Piece",
    "PlayoutResult",
    "Position",
    "PositionError",
    "TreeCounts",
    "UnknownNameError",
    "below",
    "check_game",
    "compiled",
    "count_tree",
    "direct",
    "fill_streams",
    "first_key",
    "fold",
    "helper",
    "kernel",
    "new_rng",
    "option",
    "random_playouts",
    "stream",
    "uniform",
]
