"""What a file of settings says, and what there is to say in one: all without compiled code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.naming import (
    check_agent,
    check_game,
    check_keys,
    check_learner,
    list_games,
    list_learners,
)
from common.errors import MasqueradeError, OptionError, one_line
from common.outline import fields_of

CONFIGS = Path("configs")


def list_everything() -> str:
    """Games, learners with their settings, and configuration files."""
    lines = ["games", *list_games(), "", "learners", *list_learners(), "", "configs"]
    lines += [f"  {path}" for path in config_files()] or [
        f"  none: there is no {CONFIGS}/ here; run it from the folder of the project"
    ]
    lines += ["", "settings of a learner: python train.py --config FILE --dry-run"]
    return "\n".join(lines)


def config_files() -> list[Path]:
    """Every configuration of a run: ``configs/<game>/<agent>.yaml``."""
    return sorted(
        path
        for path in CONFIGS.glob("*/*.yaml")
        if path.parent.name not in ("tournaments", "reproduce", "demo", "populations")
    )


# ---- a file on top of another one, with single values changed by the command line ----------------


def read_yaml(path: Path, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Read a YAML file, put it on top of its ``base``, and apply ``section.key=value`` texts."""
    content = _read(path)
    base = content.pop("base", None)
    if base is not None:
        below = _read(path.parent / str(base))
        if "base" in below:
            raise MasqueradeError(f"{path}: its base {base} has a base itself; only one may follow")
        content = _merge(below, content)
    for text in overrides:
        content = _merge(content, _override(text))
    return content


def _read(path: Path) -> dict[str, Any]:
    # Imported when needed: --help and --list do without numbers.
    from common.files import read_yaml

    return read_yaml(path, "game, agent and train")


def _merge(below: dict[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings are put together key by key; anything else is replaced.

    >>> _merge({"game": {"id": "kuhn_v0"}, "log": {}}, {"game": {"params": {"num_players": 3}}})
    {'game': {'id': 'kuhn_v0', 'params': {'num_players': 3}}, 'log': {}}
    """
    merged = dict(below)
    for key, value in above.items():
        is_deeper = isinstance(value, Mapping) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if is_deeper else value
    return merged


def _override(text: str) -> dict[str, Any]:
    """The mapping that changes one value: ``train.steps=9`` is ``{"train": {"steps": 9}}``."""
    place, equals, value = text.partition("=")
    *sections, key = place.split(".")
    shown = one_line(repr(text), 80)
    if not equals or not sections:
        raise OptionError(f"--set takes SECTION.KEY=VALUE, such as train.steps=1000, not {shown}")
    # Imported when needed: --help and --list do without numbers.
    from common.files import parse_yaml

    content = {key: parse_yaml(value, f"--set {shown} is no valid YAML value")}
    for section in reversed(sections):
        content = {section: content}
    return content


SECTIONS = {
    "game": "training.config:GameSettings",
    "agent": "training.config:AgentSettings",
    "train": "training.config:TrainSettings",
    "eval": "training.config:EvalSettings",
    "log": "training.config:LogSettings",
}


# ---- the names in it, checked before anything is compiled ----------------------------------------


def check_run(content: Mapping[str, Any]) -> None:
    """Refuse keys, games, learners and agents that there are not, and what else a name is."""
    check_keys(SECTIONS, content)
    for section, place in SECTIONS.items():
        check_keys(fields_of(place), _mapping(content, section), f"{section}: ")
    game, agent = _mapping(content, "game"), _mapping(content, "agent")
    check_game(game.get("id"), (), "game: ")
    check_game(game.get("id"), _mapping(game, "params"), "game.params: ")
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
