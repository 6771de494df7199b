"""The small option sets leave no game out."""

from __future__ import annotations

from envs import GAMES
from tests.support.option_sets import OPTION_SETS, SMALL, name


def test_every_game_has_a_small_table() -> None:
    assert set(SMALL) <= {name(row) for row in OPTION_SETS}
    assert {small.rpartition("-")[0] for small in SMALL} == set(GAMES)
