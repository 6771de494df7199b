"""Boards by strangers: whatever a file holds, it is a board or one clear line says why not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from common.errors import MasqueradeError
from envs import make_game
from envs.pursuit.board import Board, BoardError, load_board, parse_board
from envs.pursuit.boards import describe, main
from envs.pursuit.generators import MapRecipe, random_board
from envs.pursuit.picture import draw_board
from tests.support.sampling import IS_FULL

LONGEST = 400
"""Letters of a message; a line of a terminal or three."""
NUMBERS = [-1, 0, 1, 2, 257, 10**30, 0.5, 1e5, -1e5, 1e-7, 1e300, float("nan"), float("inf")]
WORDS = ["", " ", "taxi", "line\nbreak", "\x1b[31m", "\x00", "<b>&\"'", "\u202e", "ž", "x" * 5000]
SHAPES = [[], {}, [[]], [1], [1, 2, 3], {"from": 1, "to": 2}, [[1, 2]] * 3]
ODD = st.sampled_from([None, True, *NUMBERS, *WORDS, *SHAPES])
VALUES = st.recursive(
    ODD | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


def plain() -> dict[str, Any]:
    board = random_board(MapRecipe(rows=3, columns=3, keep=1.0), seed=1, number=0)
    found: dict[str, Any] = json.loads(board.to_text())
    found["starts"] = {"detective": [1, 2, 3], "fugitive": [7, 8]}
    found["water"] = [[[0.0, 1.5], [2.0, 1.5]]]
    return found


def damage(content: Any, path: list[int], value: Any, is_key: bool) -> Any:
    """Put a value in the place of an entry, or a key for another, wherever the path leads."""
    at = content
    for step in path:
        entries = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not entries:
            break
        key = entries[step % len(entries)]
        if step == path[-1] or not isinstance(at[key], dict | list):
            if is_key and isinstance(at, dict):
                at[str(value)] = at.pop(key)
            else:
                at[key] = value
            break
        at = at[key]
    return content


def is_one_line(text: str) -> bool:
    return 0 < len(text) <= LONGEST and text.isprintable()


def use(board: Board) -> None:
    """What a person does with a board: describe, draw, save, play, look at the console."""
    assert is_one_line(describe(board))
    ElementTree.fromstring(draw_board(board))
    assert parse_board(json.loads(board.to_text())) == board


# An end of an edge that takes many words to quote.
WORDY = {"a": [10**99, 10**99, {"b": 10**99, "c": 10**99, "d": 10**99}], "e": 10**99}


@settings(
    max_examples=300 if IS_FULL else 60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@example([([5, 0, 0, 1], WORDY, False)])
@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 20), min_size=1, max_size=5), VALUES, st.booleans()),
        min_size=1,
        max_size=3,
    )
)
def test_a_damaged_board_is_still_one_or_one_line_says_what_is_wrong(
    damages: list[tuple[list[int], Any, bool]],
) -> None:
    content: Any = plain()
    for change in damages:
        content = damage(content, *change)
    board, complaint = None, "none"
    try:
        board = parse_board(content)
    except BoardError as error:
        complaint = str(error)
    assert is_one_line(complaint)
    if board is not None:
        use(board)


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_what_is_no_board_at_all_is_refused_in_one_line(content: Any) -> None:
    with pytest.raises(BoardError) as caught:
        parse_board(content)
    assert is_one_line(str(caught.value))


HEAD = '{"format": "masquerade board", "version": 1, '
FILES = {
    "nested": "[" * 100_000,
    "digits": HEAD + f'"name": {"9" * 5000}}}',
    "twice": HEAD + '"name": "a", "name": "b"}',
    "nan": json.dumps({**plain(), "water": [[[float("nan"), 0], [1, 1]]]}),
    "binary": "\udcff",
    "million": None,  # made when it is needed: every test process would make it otherwise
}


def million_places() -> str:
    return json.dumps(
        {**plain(), "nodes": [{"number": n, "x": n, "y": 0} for n in range(1_000_000)]}
    )


@pytest.mark.parametrize("name", FILES)
def test_files_by_strangers_end_in_one_line_and_code_2(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "b.json"
    text = FILES[name] or million_places()
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert main(["check", str(path)]) == 2
    assert main(["draw", str(path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(is_one_line(line.replace(str(tmp_path), "")) for line in lines)


def test_names_that_no_file_can_have_are_refused() -> None:
    for name in ("a\0b", "x" * 5000, "two\nlines", "/"):
        with pytest.raises(MasqueradeError) as caught:
            make_game("phantom_v0", board=name)
        assert is_one_line(str(caught.value))


@pytest.mark.parametrize("spots", [(1e-7, 1e5), (0.0, 999_999.0), (-7.0, 3.0)])
def test_places_far_apart_or_on_one_pixel_are_played_drawn_and_printed(
    spots: tuple[float, float], tmp_path: Path
) -> None:
    content = plain()
    for node, x in zip(content["nodes"], (*spots, 5.0), strict=False):
        node["x"] = x
    board = parse_board(content)
    use(board)
    (tmp_path / "b.json").write_text(board.to_text())
    assert load_board(tmp_path / "b.json") == board
    game = make_game("phantom_v0", board=str(tmp_path / "b.json"), num_detectives=2)
    position = game.replay([])
    for number in (0, -1, -2):  # the starts of all three
        position.apply(position.legal_actions()[number])
    assert len(game.render(position.state)) < 10_000
    ElementTree.fromstring(game.draw(position.state, 1))
