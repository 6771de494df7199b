"""The names in the file of a run, checked before anything is compiled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.naming import check_agent, check_game, check_keys, check_learner
from envs.core.errors import MasqueradeError
from envs.core.outline import fields_of

__all__ = ["check_run"]

SECTIONS = {
    "game": "training.config:GameSettings",
    "agent": "training.config:AgentSettings",
    "train": "training.config:TrainSettings",
    "eval": "training.config:EvalSettings",
    "log": "training.config:LogSettings",
}


def check_run(content: Mapping[str, Any]) -> None:
    """Refuse keys, games, learners and agents that there are not, and what else a name is."""
    check_keys(SECTIONS, content)
    for section, place in SECTIONS.items():
        check_keys(fields_of(place), _mapping(content, section), f"{section}: ")
    game, agent = _mapping(content, "game"), _mapping(content, "agent")
    check_game(game.get("id"), _mapping(game, "params"), "game: ")
    check_learner(agent.get("id"), (), "agent.id: ", game.get("id"))
    check_learner(agent.get("id"), _mapping(agent, "params"), "agent.params: ")
    for section in ("train", "eval"):
        opponents = _mapping(content, section).get("opponents")
        for number, entry in enumerate(opponents if isinstance(opponents, list) else ()):
            name = entry.get("id") if isinstance(entry, Mapping) else entry
            if name in ("self", "past") or str(name).startswith("league:"):
                continue
            if section == "train" and isinstance(entry, Mapping):
                entry = {key: value for key, value in entry.items() if key != "weight"}
            try:
                check_agent(entry, game.get("id"))
            except MasqueradeError as error:
                raise type(error)(f"{section}.opponents.{number}: {error}") from error


def _mapping(content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = content.get(key)
    return found if isinstance(found, Mapping) else {}
