"""Games of Liar's Dice, logged, replayed, saved and loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from common.errors import PositionError
from envs import make_game
from envs.core.position import Position
from tests.support.liars_dice_table import (
    play,
    random_game,
    table,
)
from tests.support.plain_python import digest, plain_python_digest

GAME = make_game("liars_dice_v0")


# ---- logs and files ------------------------------------------------------------------------------


MATCHES = [
    {},
    {"num_players": 3, "dice": [1, 3, 2], "first_player": "random", "rewards": "dice"},
    {"num_players": 4, "dice": 2, "first_player": "alternate", "raising": "face_first"},
    {"preset": "openspiel", "dice": 3},
]


@pytest.mark.parametrize("options", MATCHES, ids=repr)
def test_a_game_is_replayed_from_its_log_to_the_same_bytes(options: dict[str, Any]) -> None:
    game = make_game("liars_dice_v0", **options)
    played, again = random_game(game, seed=5, number=2), random_game(game, seed=5, number=2)
    assert played.history == again.history
    replayed = game.replay(played.history, number=2)
    assert replayed.is_over
    assert replayed.state.tobytes() == played.state.tobytes()
    assert replayed.returns().tobytes() == played.returns().tobytes()
    assert random_game(game, seed=6, number=2).history != played.history


@pytest.mark.parametrize("options", MATCHES, ids=repr)
def test_a_saved_position_is_loaded_whole(options: dict[str, Any], tmp_path: Path) -> None:
    game = make_game("liars_dice_v0", **options)
    full = random_game(game, seed=5, number=3).history
    for length in (0, 1, len(full) // 2, len(full)):
        position = game.replay(full[:length], number=3)
        position.save(tmp_path / "position.json")
        assert same(Position.load(tmp_path / "position.json", game), position)
    assert [path.name for path in tmp_path.iterdir()] == ["position.json"]


def same(one: Position, other: Position) -> bool:
    """Whether two positions agree in everything they consist of."""
    return (
        one.state.tobytes() == other.state.tobytes()
        and one.history == other.history
        and one.number == other.number
        and one.game == other.game
    )


def saved(tmp_path: Path) -> tuple[Position, Path, str]:
    """A position of the first round, its file, and the text in it."""
    position = table("12", "3")
    play(position, "1*1", "2*3")
    path = tmp_path / "position.json"
    position.save(path)
    return position, path, path.read_text(encoding="utf-8")


def refused(path: Path, position: Position, content: str) -> bool:
    """Load ``content``: a refusal in one line, or else exactly the position that was saved."""
    path.write_text(content, encoding="utf-8")
    try:
        loaded = Position.load(path, position.game)
    except PositionError as error:
        message = str(error)
    else:
        assert same(loaded, position), "a damaged file was loaded as another position"
        return False
    assert "\n" not in message
    assert message.startswith(str(path))
    return True


def test_a_truncated_file_is_refused_at_every_length(tmp_path: Path) -> None:
    position, path, text = saved(tmp_path)
    for length in range(len(text.rstrip())):
        assert refused(path, position, text[:length]), length


def test_a_changed_character_is_never_loaded_as_another_position(tmp_path: Path) -> None:
    position, path, text = saved(tmp_path)
    number = text.index('"number": 0')
    num_refused = 0
    for at in set(range(len(text))) - set(range(number, number + len('"number": 0'))):
        for character in '07"\\x ':
            num_refused += refused(path, position, text[:at] + character + text[at + 1 :])
    assert num_refused > 4 * len(text)  # the others changed nothing, or a space between two entries


def test_a_changed_game_number_is_refused(tmp_path: Path) -> None:
    position, path, text = saved(tmp_path)
    assert refused(path, position, text.replace('"number": 0', '"number": 7'))


def test_a_changed_log_of_a_finished_round_is_refused(tmp_path: Path) -> None:
    position, path, _ = saved(tmp_path)
    play(position, "3*3", "liar")
    assert position.is_chance
    position.save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    content["history"][0] = 3
    assert refused(path, position, json.dumps(content))


def test_a_letter_outside_ascii_is_refused(tmp_path: Path) -> None:
    position, path, text = saved(tmp_path)
    assert refused(path, position, text.replace('"state": "', '"state": "\u00e9'))


@pytest.mark.parametrize(
    "damage",
    [
        {"version": 2},
        {"version": None},
        {"format": "something else"},
        {"game": "kuhn_v0"},
        {"options": {}},
        {"number": "0"},
        {"history": None},
        {"history": [99]},
        {"history": [[0]]},
        {"history": [0] * 500},
        {"state": ""},
        {"state": "!"},
        {"state": "AAAA"},
        {"state": None},
    ],
)
def test_a_file_with_a_wrong_entry_is_refused(damage: dict[str, Any], tmp_path: Path) -> None:
    position, path, text = saved(tmp_path)
    assert refused(path, position, json.dumps(json.loads(text) | damage))


@pytest.mark.parametrize(
    "content", ["", "null", "[]", "7", "{}", "\x00", '{"format": "masquerade position"}']
)
def test_a_file_of_something_else_is_refused(content: str, tmp_path: Path) -> None:
    position, path, _ = saved(tmp_path)
    assert refused(path, position, content)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "position.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PositionError, match="is not written in UTF-8"):
        Position.load(path, GAME)


def test_a_position_is_not_loaded_with_other_options(tmp_path: Path) -> None:
    position, path, _ = saved(tmp_path)
    with pytest.raises(PositionError, match=r"load it with that game, not liars_dice_v0\(\)"):
        Position.load(path, GAME)
    with pytest.raises(PositionError, match="load it with that game, not kuhn_v0"):
        Position.load(path, make_game("kuhn_v0"))
    assert same(Position.load(path, position.game), position)


# ---- compiled or not -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{"num_players": 3, "dice": [2, 1, 2], "raising": "face_first"}, {"dice": 2}]
)
def test_plain_python_plays_the_same_games(options: dict[str, Any]) -> None:
    games = ("liars_dice_v0", options, 5, 7)
    assert plain_python_digest(*games) == digest(*games)
