"""A tournament as a YAML file, there and back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from arena.schedules.spec import TournamentSpec
from common.errors import MasqueradeError
from common.files import read_yaml

__all__ = ["config_of", "read_config", "to_yaml", "with_games"]


def read_config(path: Path) -> TournamentSpec:
    """Read the tournament that a YAML file describes."""
    content = read_yaml(path, "game and agents")
    try:
        return TournamentSpec.parse(content)
    except MasqueradeError as error:
        raise type(error)(f"{path}: {error}") from error


def with_games(spec: TournamentSpec, games: int) -> TournamentSpec:
    """The same tournament with so many games of every group, rounded up to whole deals.

    >>> from arena.schedules.spec import AgentSpec
    >>> agents = AgentSpec.parse("random"), AgentSpec.parse("kuhn_rule")
    >>> with_games(TournamentSpec("kuhn_v0", agents), 101).deals  # each deal in both seatings
    51
    """
    groups = spec.groups(spec.build_game())
    seatings = max(len(group.seatings) for group in groups)
    return replace(spec, deals=-(-games // seatings))


def config_of(spec: dict[str, Any]) -> dict[str, Any]:
    """A specification, as plain types, as the mapping of a YAML file without what is empty.

    >>> from arena.schedules.spec import AgentSpec
    >>> agents = AgentSpec("random", name="zero"), AgentSpec("kuhn_rule", name="kuhn_rule")
    >>> config_of(TournamentSpec("kuhn_v0", agents, deals=50).to_dict())["agents"]
    [{'id': 'random', 'name': 'zero'}, 'kuhn_rule']
    """
    game = {"id": spec["game_id"], "params": spec.get("options")}
    agents = []
    for agent in spec["agents"]:
        entry = _filled(agent)
        if entry.get("name") == entry["id"]:
            entry.pop("name")
        agents.append(entry["id"] if list(entry) == ["id"] else entry)
    rest = {
        key: value for key, value in spec.items() if key not in ("game_id", "agents", "options")
    }
    return {"game": _filled(game), "agents": agents, **_filled(rest)}


def _filled(entry: dict[str, Any]) -> dict[str, Any]:
    """What is neither missing nor empty; numbers stay, zero or not."""
    return {key: value for key, value in entry.items() if value not in (None, {}, [], (), "")}


def to_yaml(spec: dict[str, Any]) -> str:
    """The file that ``evaluate.py tournament --config`` takes to play this tournament again."""
    plain = json.loads(json.dumps(config_of(spec)))  # tuples become lists
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=100)
