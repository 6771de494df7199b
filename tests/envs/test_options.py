"""Options of games and learners: what they read, refuse and tell."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from common.errors import OptionError
from common.imports import look_up
from envs import GAMES, make_game
from envs.core.game import Game
from envs.core.options import Options, option


class Table(Options):
    dice: int | tuple[int, ...] = option(2, low=1, high=6, is_list=True, help="dice")
    rate: float = option(0.5, low=0.0, high=1e7, help="a rate")
    steps: int = option(10, low=1, high=10**9, help="steps")
    sizes: tuple[int, ...] = option((8,), low=1, high=99, is_list=True, help="sizes")
    limit: int | None = option(None, low=1, high=9, help="a limit")
    mode: str = option("slow", choices=("slow", "fast"), can_import=True, help="a mode")
    first: int | str = option(0, low=0, high=5, choices=("random",), help="who begins")
    is_loud: bool = option(False, is_structural=False, help="noise")

    def __post_init__(self) -> None:
        if self.is_loud and self.first == "random":
            raise OptionError("loud tables have a first player: set first")


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("rate", "3e-4", 0.0003),
        ("rate", 1, 1.0),
        ("rate", np.float32(0.25), 0.25),
        ("steps", "1e6", 1_000_000),
        ("steps", np.int64(7), 7),
        ("dice", [2, 3], (2, 3)),
        ("dice", 4, 4),
        ("sizes", 4, (4,)),
        ("limit", None, None),
        ("mode", "my.module:name", "my.module:name"),
        ("first", "random", "random"),
    ],
)
def test_what_is_allowed_is_read_as_its_type(name: str, value: Any, read: Any) -> None:
    found = getattr(Table.parse({name: value}), name)
    assert found == read
    assert type(found) is type(read)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"dise": 2}, "unknown option 'dise': did you mean 'dice'? (known: "),
        ({"steps": 2.5}, "steps must be a whole number from 1 to 1000000000, not 2.5"),
        ({"steps": "1.5e0"}, "steps must be a whole number from 1 to 1000000000, not 1.5"),
        ({"steps": True}, "steps must be a whole number from 1 to 1000000000, not True"),
        ({"steps": "7"}, "steps must be a whole number from 1 to 1000000000, not '7'"),
        ({"steps": None}, "steps must be a whole number from 1 to 1000000000, not None"),
        ({"rate": "nane"}, "rate must be a number from 0.0 to 10000000.0, not 'nane'"),
        ({"dice": []}, "dice must be a whole number from 1 to 6 or a list of such numbers, not ()"),
        ({"dice": [1, 7]}, "or a list of such numbers, not (1, 7)"),
        ({"limit": 10}, "limit must be a whole number from 1 to 9 or null, not 10"),
        ({"mode": "quick"}, "mode must be 'slow' or 'fast' or 'module:name', not 'quick'"),
        ({"is_loud": 1}, "is_loud must be true or false, not 1"),
        ({"is_loud": True, "first": "random"}, "loud tables have a first player: set first"),
    ],
    ids=str,
)
def test_what_is_wrong_is_refused_in_one_line(values: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        Table.parse(values)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_options_are_values() -> None:
    table = Table(dice=[2, 3])
    assert table == Table(dice=(2, 3)) != Table(dice=3)
    assert hash(table) == hash(Table(dice=(2, 3)))
    assert pickle.loads(pickle.dumps(table)) == table
    assert Table.parse(table.to_dict()) == table
    assert table.replace(rate=0.25).to_dict() == {**table.to_dict(), "rate": 0.25}
    with pytest.raises(OptionError, match="rate must be a number"):
        table.replace(rate=-1)
    with pytest.raises(ValueError, match="frozen"):
        table.dice = 2


def test_a_player_fits_where_structural_options_are_equal() -> None:
    table = Table(dice=3, is_loud=True)
    assert "is_loud" not in table.structural()
    assert table.misfit(Table(dice=3).to_dict()) == ""
    assert table.misfit(Table(dice=[1, 2], rate=1).to_dict()) == "dice=[1, 2], rate=1.0"


@pytest.mark.parametrize("game_id", GAMES)
def test_options_that_are_not_structural_change_no_actions_and_no_observations(
    game_id: str,
) -> None:
    found: type[Game] = look_up("game", GAMES, game_id)
    game = make_game(game_id)
    schema = found.Options.json_schema()["properties"]
    for name in set(schema) - set(game.options.structural()):
        is_flag = schema[name].get("type") == "boolean"
        values = [True, False] if is_flag else schema[name].get("enum", [schema[name]["default"]])
        for value in values:
            other = make_game(game_id, **{name: value})
            assert other.facts.num_actions == game.facts.num_actions
            assert other.facts.num_players == game.facts.num_players
            assert other.observation_size == game.observation_size
            assert [f.name for f in other.fields] == [f.name for f in game.fields]


def test_the_schema_has_the_range_of_every_option() -> None:
    schema = Table.json_schema()
    assert schema["additionalProperties"] is False
    assert schema["properties"]["limit"] == {
        "anyOf": [{"type": "integer", "minimum": 1, "maximum": 9}, {"type": "null"}],
        "default": None,
        "description": "a limit",
    }
    assert {"enum": ["slow", "fast"]} in schema["properties"]["mode"]["anyOf"]
    assert schema["properties"]["is_loud"]["type"] == "boolean"
