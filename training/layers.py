"""A file of settings, on top of another one, with single values changed by the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from common import files
from common.errors import MasqueradeError, OptionError, one_line

__all__ = ["read_yaml"]


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
    return files.read_yaml(path, "game, agent and train")


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
    content = {key: files.parse_yaml(value, f"--set {shown} is no valid YAML value")}
    for section in reversed(sections):
        content = {section: content}
    return content
