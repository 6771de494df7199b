"""The JSON Schema of a run's file: editors complete its keys, explain them and mark wrong ones.

``python train.py --schema > configs/schema.json`` writes it anew; a test fails when it no longer
says what the code does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents import LEARNERS
from common.imports import look_up
from envs import GAMES
from envs.core.game import Game
from envs.core.options import Options
from training.config import RunConfig, learner_class

__all__ = ["run_schema"]


def run_schema() -> dict[str, Any]:
    """What a file may say, with the options of every game and the settings of every learner."""
    schema = RunConfig.json_schema()
    definitions = schema["$defs"]
    settings = {learner_id: learner_class(learner_id).settings_class for learner_id in LEARNERS}
    definitions |= {cls.__name__: cls.json_schema() for cls in settings.values()}
    definitions |= {game_id: _options_of(game_id) for game_id in GAMES}
    definitions["GameSettings"] |= _by_id({game_id: game_id for game_id in GAMES})
    definitions["AgentSettings"] |= _by_id({key: cls.__name__ for key, cls in settings.items()})
    del definitions[Options.__name__]
    for part in (schema, definitions["GameSettings"], definitions["AgentSettings"]):
        del part["required"]  # a base may have said it
    schema["properties"]["base"] = {"type": "string", "description": "a file that this one changes"}
    return {"$schema": "http://json-schema.org/draft-07/schema#", **schema}


def _options_of(game_id: str) -> dict[str, Any]:
    game: type[Game] = look_up("game", GAMES, game_id)
    schema = game.Options.json_schema()
    if game.presets:
        text = "options that are given together"
        schema["properties"]["preset"] = {"enum": [*game.presets], "description": text}
    return schema


def _by_id(definitions: Mapping[str, str]) -> dict[str, Any]:
    """An ``id``, and with each id its own ``params``."""
    return {
        "properties": {"id": {"enum": [*definitions]}, "params": {"type": ["object", "null"]}},
        "allOf": [
            {
                "if": {"properties": {"id": {"const": name}}, "required": ["id"]},
                "then": {"properties": {"params": {"$ref": f"#/$defs/{definition}"}}},
            }
            for name, definition in definitions.items()
        ],
    }
