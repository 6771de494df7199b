"""The games and options that the generic tests run over."""

from __future__ import annotations

from typing import Any

import pytest
from _pytest.mark import ParameterSet

from envs import GAMES, make_game
from envs.core.compiling import JIT_DISABLED
from envs.core.game import Game
from tests.support.sampling import IS_FULL

OPTION_SETS: list[tuple[str, dict[str, Any]]] = [
    ("holdem_v0", {}),
    ("holdem_v0", {"preset": "thesis"}),
    (
        "holdem_v0",
        {
            "num_players": 2,
            "num_hands": 4,
            "stacks": (500, 1500),
            "button": "random",
            "menu": 0.5,
            "ante": 10,
            "rewards": "big_blinds",
        },
    ),
    (
        "holdem_v0",
        {
            "preset": "exact",
            "num_players": 3,
            "stacks": (7, 20, 31),
            "num_hands": 2,
            "fresh_stacks": True,
            "moves_shown": 0,
        },
    ),
    (
        "holdem_v0",
        {
            "num_players": 5,
            "stacks": (60, 45, 1000, 220, 90),
            "small_blind": 10,
            "big_blind": 20,
            "ante": 5,
            "button": 4,
            "fold_when_free": "check",
            "limit": "pot",
            "table_rules": "pokerkit",
            "observation": "blocks",
            "encoding": "normalised",
            "blocks": (1, 2, 3, 4, 5, 6, 7, 8, 9),
            "reward_time": "move",
            "history": 2,
            "history_actions": True,
        },
    ),
    ("kuhn_v0", {}),
    ("kuhn_v0", {"num_players": 3}),
    ("kuhn_v0", {"num_players": 5}),
    ("leduc_v0", {}),
    ("leduc_v0", {"num_players": 3}),
    ("liars_dice_v0", {}),
    ("liars_dice_v0", {"preset": "openspiel"}),
    ("liars_dice_v0", {"single_round": True, "dice": 1, "faces": 2, "first_player": "random"}),
    (
        "liars_dice_v0",
        {"dice": (2, 1), "faces": 3, "wild": "ones_unbiddable", "raising": "face_first"},
    ),
    (
        "liars_dice_v0",
        {
            "num_players": 3,
            "dice": (1, 2, 3),
            "wild": "ones",
            "raising": "count_first",
            "first_player": "random",
            "rewards": "dice",
        },
    ),
    (
        "liars_dice_v0",
        {
            "num_players": 6,
            "wild": "highest",
            "first_player": "alternate",
            "starter_after_elimination": "winner",
        },
    ),
    ("scotland_yard_v0", {}),
    ("scotland_yard_v0", {"preset": "reduced"}),
    # Small enough for its whole tree, with every kind of move.
    (
        "scotland_yard_v0",
        {
            "board": "grid",
            "rows": 2,
            "columns": 3,
            "num_detectives": 1,
            "rounds": 2,
            "reveals": 2,
            "detective_tickets": "unlimited",
            "black_tickets": 1,
            "double_moves": 1,
        },
    ),
    # Few tickets, so that detectives drop out.
    (
        "scotland_yard_v0",
        {
            "seats": "each",
            "moving": "in_order",
            "num_detectives": 3,
            "detective_tickets": (3, 2, 1),
            "rewards": "survival",
        },
    ),
    ("phantom_v0", {}),
    (
        "phantom_v0",
        {
            "rows": 5,
            "columns": 6,
            "num_maps": 4,
            "num_detectives": 2,
            "placement_order": "detectives_first",
        },
    ),
    (
        "phantom_v0",
        {
            "board": "grid",
            "rows": 2,
            "columns": 2,
            "num_detectives": 1,
            "rounds": 3,
            "reveals": 3,
            "detective_tickets": 2,
            "fugitive_tickets": 2,
        },
    ),
    (
        "phantom_v0",
        {
            "board": "map_1",
            "seats": "each",
            "num_detectives": 3,
            "starts": "drawn",
            "double_moves": 1,
            "black_tickets": 2,
        },
    ),
    ("no_thanks_v0", {}),
    ("no_thanks_v0", {"preset": "official", "num_players": 7, "returns": "place"}),
    ("no_thanks_v0", {"highest": 6, "removed": 1, "chips": 1, "returns": "win"}),
    (
        "no_thanks_v0",
        {
            "num_players": 4,
            "lowest": -2,
            "highest": 12,
            "removed": 3,
            "chips": "unlimited",
            "cap": True,
            "first_player": "alternate",
        },
    ),
]
OPTION_SETS += [(new, {}) for new in GAMES if new not in {row[0] for row in OPTION_SETS}]


def name(row: tuple[str, dict[str, Any]]) -> str:
    """A short name of a row, for test ids and file names."""
    same_game = [other for other in OPTION_SETS if other[0] == row[0]]
    return f"{row[0]}-{same_game.index(row)}"


def build(row: tuple[str, dict[str, Any]]) -> Game:
    """Make the game of a row."""
    game_id, options = row
    return make_game(game_id, **options)


SMALL: tuple[str, ...] = (
    *("kuhn_v0-0", "kuhn_v0-1", "leduc_v0-0", "liars_dice_v0-2", "liars_dice_v0-4"),
    *("holdem_v0-3", "scotland_yard_v0-1", "phantom_v0-2", "no_thanks_v0-2"),
)
SMALL += tuple(f"{new}-0" for new in GAMES if f"{new}-" not in " ".join(SMALL))
"""Tables of every game that plain Python gets through in seconds."""


def params(is_small: bool = False) -> list[ParameterSet]:
    """Every option set with its name, or the small ones alone."""
    return [
        pytest.param(row, id=name(row)) for row in OPTION_SETS if not is_small or name(row) in SMALL
    ]


every_option_set = pytest.mark.parametrize("game", params(), indirect=True)
"""Decorate a test with it to get every game with every option set as its argument ``game``."""

every_option_set_in_time = pytest.mark.parametrize(
    "game", params(is_small=JIT_DISABLED and not IS_FULL), indirect=True
)
"""The same, with the small ones alone where nothing is compiled; all of them by make test-all."""
