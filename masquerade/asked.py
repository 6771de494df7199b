"""What a command line of ``evaluate.py`` asks for, checked before anything is compiled.

Names are looked up in tables and sources, places are looked at; what only the game or an agent can
know is left to them.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from agents import LEARNERS, RESPONDERS, split_name
from agents.learning.device import check_device
from agents.naming import check_agent, check_game, check_keys, check_names, check_params
from common.errors import MasqueradeError, OptionError, UnknownNameError, nearest, one_line
from common.files import check_folder, check_out, read_json, read_yaml
from common.outline import value_of
from envs import NOTATIONS

FINDINGS = (".json", ".md")
NO_TOURNAMENT = "give the folder of a tournament"
CONFIGS = Path("configs")
# Words that an option of a command may be, and where they stand.
WORDS = {
    "schedule": "arena.schedule:SCHEDULES",
    "executor": "arena.workers:EXECUTORS",
    "variance_reduction": "arena.spec:VARIANCE_REDUCTION",
    "form": "agents.cfr.solver:FORMS",
}


# Keys of a tournament's file.
KEYS = [f"arena.spec:{name}" for name in ("KEYS", "LIMITS")]


def command_of(arguments: argparse.Namespace) -> str:
    """How files that a command writes call it."""
    return f"python evaluate.py {arguments.command}"


def check_arguments(arguments: argparse.Namespace) -> None:
    """Refuse what can be seen to be wrong without the game."""
    _check_words(vars(arguments))
    if getattr(arguments, "device", None) is not None:
        check_device(arguments.device)
    check = _CHECKS.get(arguments.command)
    if check is not None:
        check(arguments)


def _check_words(given: Mapping[str, Any]) -> None:
    for name, place in WORDS.items():
        word, known = given.get(name), value_of(place)
        if isinstance(word, str) and known and word not in known:
            raise OptionError(f"unknown {name.replace('_', ' ')} '{word}': {nearest(word, known)}")


def _check_players(arguments: argparse.Namespace, min_agents: int = 2) -> None:
    """Refuse a game without agents, a game beside a file that names one, and unknown names."""
    config = getattr(arguments, "config", None)
    if config is not None:
        if arguments.game:
            raise MasqueradeError("give either --config or a game with its agents, not both")
        content = read_yaml(config, "game and agents")
        try:
            _check_content(content)
        except MasqueradeError as error:
            raise type(error)(f"{config}: {error}") from error
        return
    if not arguments.game or len(arguments.agents) < min_agents:
        raise MasqueradeError(
            f"name a game and at least {'two agents' if min_agents > 1 else 'one agent'} first, "
            f"such as: kuhn_v0 {'random kuhn_rule' if min_agents > 1 else 'random'}"
        )
    _check_named(arguments, arguments.game)
    check_names(arguments.agents)


def _check_content(content: Mapping[str, Any]) -> None:
    """The names in the file of a tournament."""
    check_keys([key for place in KEYS for key in value_of(place)], content, what="key")
    _check_words(content)
    game, agents = content.get("game"), content.get("agents")
    if isinstance(game, Mapping) and isinstance(agents, list):
        params = game.get("params") or {}
        options = params if isinstance(params, Mapping) else {}
        _check_game_and_agents(game.get("id"), options, agents)
        check_names(agents)


def _check_game_and_agents(game_id: Any, options: Iterable[str], agents: Iterable[Any]) -> None:
    check_game(game_id, options)
    for agent in agents:
        check_agent(agent, game_id)


def _check_named(arguments: argparse.Namespace, game_id: str | None) -> None:
    """The game and the agents of a command line; a parameter is one that an agent has."""
    options = dict(arguments.option) if game_id else ()
    _check_game_and_agents(game_id, options, arguments.agents)
    ids = {name or text: text for name, text in map(split_name, arguments.agents)}
    for key, _ in arguments.param:
        name, param = split_param(key, ids)
        check_params(ids[name], [param])


def split_param(key: str, names: Iterable[str]) -> tuple[str, str]:
    """The agent and its parameter that ``--param`` names, if there is such an agent.

    >>> split_param("ismcts.iterations", ["ismcts"])
    ('ismcts', 'iterations')
    """
    known = list(names)
    name, _, param = key.rpartition(".")
    if not (name and param):
        example = f"{known[0] if known else 'ismcts'}.{param or 'iterations'}"
        raise OptionError(
            f"--param takes AGENT.NAME=VALUE, such as {example}=..., not {one_line(key, 80)}"
        )
    if name not in known:
        raise OptionError(
            f"--param: there is no agent '{one_line(name, 80)}': {nearest(name, known)}"
        )
    return name, param


def _tournament(arguments: argparse.Namespace) -> None:
    _check_players(arguments)
    if arguments.out is not None:
        check_folder(arguments.out, "tournament.json", ["seed"])


def _findings(arguments: argparse.Namespace) -> None:
    check_out(arguments.out, command_of(arguments), arguments.force, FINDINGS)
    _check_players(arguments, 1)
    if arguments.game and arguments.command == "best-response":
        _check_responders(arguments.learner, arguments.game)


def _check_responders(names: Iterable[str], game_id: str) -> None:
    """A learner of responses is a file, the name of one of the game's, or an id."""
    folder = CONFIGS / re.sub(r"_v\d+$", "", game_id)
    known = {path.stem for path in folder.glob("*.yaml")} | {*LEARNERS, *RESPONDERS}
    for name in names:
        if name.endswith((".yaml", ".yml")):
            read_yaml(Path(name), "agent")
        elif name not in known:
            raise OptionError(f"unknown learner '{name}': {nearest(name, known)}")


def _of_folder(arguments: argparse.Namespace) -> None:
    """A tournament that is there, and a file that may be written."""
    folder = arguments.folder
    if not folder.is_dir():
        raise MasqueradeError(f"{folder} is no folder: give one that a tournament has written")
    read_json(folder / "tournament.json", NO_TOURNAMENT)
    if arguments.command == "report":
        check_out(arguments.out, command_of(arguments), arguments.force, (".html",))
    elif arguments.out is not None and arguments.out.suffix:
        check_out(arguments.out, command_of(arguments), arguments.force, tuple(NOTATIONS))


def _replay(arguments: argparse.Namespace) -> None:
    if arguments.game:
        if arguments.source or arguments.group:
            raise MasqueradeError("give either a tournament's folder or --game with --agents")
        _check_named(arguments, arguments.game)
    elif arguments.source is None:
        raise MasqueradeError(
            "name a tournament's folder or a position file first, or give --game and --agents"
        )
    elif not arguments.source.exists():
        raise MasqueradeError(
            f"{arguments.source} is neither a folder nor a file: give the folder of a "
            "tournament, or a file with a position or a hand"
        )


def _leaderboard(arguments: argparse.Namespace) -> None:
    folder = CONFIGS / "tournaments"
    known = [path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.yaml")]
    for name in arguments.names if known else ():
        if name not in known and f"{name.partition('_v')[0]}" not in known:
            raise UnknownNameError(f"no tournament file for '{name}': {nearest(name, known)}")


def _advise(arguments: argparse.Namespace) -> None:
    is_saved = arguments.game.endswith(".json")
    if is_saved and not Path(arguments.game).exists():
        raise MasqueradeError(f"{arguments.game} is not there: give a game, or a saved position")
    _check_named(arguments, None if is_saved else arguments.game)


_CHECKS: dict[str, Callable[[argparse.Namespace], None]] = {
    "tournament": _tournament,
    "match": _tournament,
    "report": _of_folder,
    "export": _of_folder,
    "replay": _replay,
    "leaderboard": _leaderboard,
    "exploitability": _findings,
    "best-response": _findings,
    "behaviour": partial(_check_players, min_agents=1),
    "advise": _advise,
}
