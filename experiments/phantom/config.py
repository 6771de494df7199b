"""Configuration files of the Phantom's original program, read as options.

========  =======================================================================================
section   keys
========  =======================================================================================
graph     ``Rows``, ``Columns``, ``probOfKeepNode`` (or ``probOfKeepingNode``), ``probTaxi``,
          ``probTram``
game      ``fantomVisibleTurns``, ``fantomTokens``, ``detectiveTokens``, ``numberOfTurns``,
          ``numberOfDetectives``; ``aiDelays`` and ``animationSpeed`` are for its screen
camera    ``moveSpeed``, ``zoomSpeed``, ``minZoomDistance``, ``maxZoomDistance``: for its screen
========  =======================================================================================

Keys for the screen are checked and left out: pictures here do not move.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from common.errors import OptionError, nearest
from common.files import read_json

NUMBERS: dict[str, dict[str, str | None]] = {
    "graph": {
        "Rows": "rows",
        "Columns": "columns",
        "probOfKeepNode": "keep",
        "probOfKeepingNode": "keep",
        "probTaxi": "taxi",
        "probTram": "tram",
    },
    "game": {
        "numberOfTurns": "rounds",
        "numberOfDetectives": "num_detectives",
        "aiDelays": None,
        "animationSpeed": None,
    },
    "camera": {
        "moveSpeed": None,
        "zoomSpeed": None,
        "minZoomDistance": None,
        "maxZoomDistance": None,
    },
}
TOKENS = {"fantomTokens": "fugitive_tickets", "detectiveTokens": "detective_tickets"}
TRANSPORTS = ("horseCab", "taxi", "tram")
REVEALS = "fantomVisibleTurns"


def load_config(path: str | Path) -> dict[str, Any]:
    """Options for ``make_game("phantom_v0", **options)``; none if there is no such file.

    >>> load_config("no such file.json")
    {}
    """
    if not Path(path).exists():
        return {}
    content = read_json(Path(path), "it needs sections graph, game and camera", OptionError)
    options: dict[str, Any] = {}
    for section, values in content.items():
        if section not in NUMBERS or not isinstance(values, dict):
            raise OptionError(f"unknown section '{section}': {nearest(section, NUMBERS)}")
        for key, value in values.items():
            options.update(_read(section, key, value))
    return options


def _read(section: str, key: str, value: Any) -> dict[str, Any]:
    if section == "game" and key in TOKENS:
        if not isinstance(value, dict) or set(value) != set(TRANSPORTS):
            names = "horseCab, taxi and tram"
            raise OptionError(f"{key} in 'game' must name {names}, not {value!r}")
        return {TOKENS[key]: tuple(value[name] for name in TRANSPORTS)}
    if section == "game" and key == REVEALS:
        if not isinstance(value, list):
            raise OptionError(f"{key} in 'game' must be a list of rounds, not {value!r}")
        return {"reveals": tuple(value)}
    known = NUMBERS[section]
    if key not in known:
        keys = [*known, *TOKENS, REVEALS] if section == "game" else [*known]
        raise OptionError(f"unknown key '{key}' in '{section}': {nearest(key, keys)}")
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise OptionError(f"{key} in '{section}' must be a number, not {value!r}")
    option = known[key]
    return {} if option is None else {option: value}
