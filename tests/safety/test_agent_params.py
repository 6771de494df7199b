"""Every parameter of every agent, with what it must not be: made, or refused in one line.

The agents come from the table, their parameters from their constructors.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from agents import AGENTS, agent_class
from agents.ismcts import TreeSettings
from agents.max_n import SearchSettings
from agents.spec import AgentSpec, annotations_of, read_params
from common.errors import MasqueradeError
from envs import GAMES, make_game
from envs.core.game import Game
from tests.support.sampling import sample

SMALL: dict[str, dict[str, Any]] = {
    "leduc_v0": {},
    "kuhn_v0": {},
    "liars_dice_v0": {"dice": 1},
    "holdem_v0": {"num_players": 2},
    "no_thanks_v0": {"highest": 8, "removed": 3, "chips": 2},
    "scotland_yard_v0": {"preset": "reduced", "rows": 3, "columns": 3, "rounds": 2},
    "phantom_v0": {"preset": "map_1", "rounds": 2},
}
"""Games, those that are made soonest first; an agent is given the first that it plays."""
NEEDED: dict[str, dict[str, Any]] = {
    "leaning": {"base": "liars_dice_rule"},
    "profiled": {"base": "q_learning"},
}
"""What an agent cannot be made without."""
WRONG: list[Any] = [
    *(math.nan, math.inf, -math.inf, 10**30, -(10**30), 1.5, True, "", "x", "nan", "1e400"),
    *(b"x", [], [math.nan], {}, {"a": 1}, "\x1b[31m", "a\nb", "x" * 5000),
]


def parameters(agent_id: str) -> dict[str, str]:
    """By name, the annotation; a path and a program are tested with their files."""
    found = annotations_of(agent_class(agent_id))
    settings = getattr(agent_class(agent_id), "settings_class", None)
    if settings in (SearchSettings, TreeSettings):
        kinds = {name: field.annotation for name, field in settings.model_fields.items()}
        found |= {name: getattr(kind, "__name__", str(kind)) for name, kind in kinds.items()}
    left_out = ("self", "game", "return", "path", "command", "device", "settings", "params")
    return {name: kind for name, kind in found.items() if name not in left_out}


def game_of(agent_id: str) -> Game:
    own = agent_class(agent_id).game_ids or tuple(SMALL)
    game_id = next(game_id for game_id in SMALL if game_id in own)
    return make_game(game_id, **SMALL[game_id])


CASES = [(agent_id, name) for agent_id in AGENTS for name in parameters(agent_id)]


def test_every_game_is_among_the_small_ones() -> None:
    assert set(SMALL) == set(GAMES)


@pytest.mark.parametrize(("agent_id", "name"), sample(CASES, lambda case: case[1]))
def test_every_parameter_is_of_its_kind_or_refused_in_one_line(agent_id: str, name: str) -> None:
    game, annotation = game_of(agent_id), parameters(agent_id)[name]
    num_refused = 0
    for value in WRONG:
        spec = AgentSpec(agent_id, {**NEEDED.get(agent_id, {}), name: value})
        try:
            spec.build(game)
        except MasqueradeError as error:
            num_refused += 1
            text = str(error)
            assert "\n" not in text
            assert len(text) < 1500
            # What a constructor raised that is no refusal of ours does not say what is allowed.
            is_told = "must be" in text or "missing" in text or name == "base_params"
            assert is_told or "cannot be made" not in text, (value, text)
        else:
            assert read_params({name: value}, {name: annotation})
    assert num_refused > 5


@pytest.mark.parametrize(("name", "right"), [("dept", "depth"), ("time_per_mov", "time_per_move")])
def test_a_misspelt_parameter_is_answered_with_the_right_word(name: str, right: str) -> None:
    with pytest.raises(MasqueradeError, match=f"did you mean '{right}'"):
        AgentSpec("max_n", {name: 1}).build(make_game("kuhn_v0"))


def test_kinds_are_read_from_annotations() -> None:
    kinds = {"a": "int | None", "b": "Sequence[int] | None", "c": "Any", "d": "bool", "e": "Net"}
    right = {"a": None, "b": [1], "c": "anything", "d": True, "e": object(), "unknown": object}
    assert read_params(right, kinds) == right
    for name, value in {"a": True, "b": "x", "d": 1, "e": "x"}.items():
        with pytest.raises(MasqueradeError, match=f"{name} must be"):
            read_params({name: value}, kinds)
