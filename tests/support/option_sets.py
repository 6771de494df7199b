"""The games and options that the generic tests run over."""

from __future__ import annotations

from typing import Any

import pytest

from envs import make_game
from envs.core import Game

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
]


def name(row: tuple[str, dict[str, Any]]) -> str:
    """A short name of a row, for test ids and file names."""
    same_game = [other for other in OPTION_SETS if other[0] == row[0]]
    return f"{row[0]}-{same_game.index(row)}"


def build(row: tuple[str, dict[str, Any]]) -> Game:
    """Make the game of a row."""
    game_id, options = row
    return make_game(game_id, **options)


every_option_set = pytest.mark.parametrize(
    "game", [pytest.param(row, id=name(row)) for row in OPTION_SETS], indirect=True
)
"""Decorate a test with it to get every game with every option set as its argument ``game``."""
