from __future__ import annotations

from typing import Any

import pytest

from envs import GAMES
from tests.support.golden import FOLDER, playthrough
from tests.support.option_sets import OPTION_SETS, build, name


@pytest.mark.parametrize("row", OPTION_SETS, ids=name)
def test_a_playthrough_is_what_it_was(row: tuple[str, dict[str, Any]]) -> None:
    expected = (FOLDER / f"{name(row)}.txt").read_text()
    assert playthrough(build(row)) == expected, (
        "explain the change, then run python -m tests.support.golden"
    )


def test_every_game_has_a_playthrough_and_no_playthrough_is_an_orphan() -> None:
    assert {row[0] for row in OPTION_SETS} == set(GAMES)
    assert {path.stem for path in FOLDER.glob("*.txt")} == {name(row) for row in OPTION_SETS}
