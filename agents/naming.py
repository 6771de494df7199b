"""The names there are, listed, and those that a command is given, checked: by the sources alone.

Nothing is imported or compiled for it.
Whoever mistypes a game, an option, an agent or a learner hears of it at once, and not after minutes
of compiling. What a name stands for is checked by whoever makes it; here it is enough that there is
such a thing. What the sources do not tell is left to them, too.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping

from agents import AGENTS, LEARNERS, split_name, split_path, without_learner
from common.errors import MasqueradeError, OptionError, UnknownNameError, nearest, one_line
from common.imports import is_module_name
from common.outline import class_at, constant_of, fields_of, parameters_of, summary_of
from envs import GAMES


def check_game(game_id: object, options: Iterable[str] = (), place: str = "") -> None:
    """Refuse a game that is in no table, and options that it does not have.

    >>> check_game("kuhn_v0", ["num_player"])
    Traceback (most recent call last):
    ...
    common.errors.OptionError: unknown option 'num_player': did you mean 'num_players'? ...
    """
    if not isinstance(game_id, str):
        return  # which is no question of names
    if game_id not in GAMES:
        raise UnknownNameError(f"{place}unknown game '{game_id}': {nearest(game_id, GAMES)}")
    options_class = class_at(GAMES[game_id], "Options")
    known = fields_of(options_class) if options_class else None
    check_keys(known and [*known, "preset"], options, place)


def check_agent(value: object, game_id: object = "") -> None:
    """Refuse an agent that is in no table, one that does not play the game, and unknown params.

    Args:
        value: as ``AgentSpec.parse`` takes it.
        game_id: the game, if it is known.
    """
    if isinstance(value, Mapping):
        check_keys(fields_of("agents.spec:AgentSpec"), value, what="agent key")
        params = value.get("params")
        check_params(value.get("id"), params if isinstance(params, Mapping) else {})
        value = value.get("id")
    elif isinstance(value, str):
        value = split_name(value)[1]
    if not value:
        raise OptionError("an agent has no id: give one, such as 'random'")
    if not isinstance(value, str):
        return  # which is no question of names
    agent_id, _ = split_path(value)
    if agent_id not in AGENTS:
        _check_outsider(agent_id)
        return
    plays = constant_of(AGENTS[agent_id], "game_ids")
    if plays and isinstance(game_id, str) and game_id not in plays:
        raise MasqueradeError(f"{agent_id} plays {' and '.join(plays)}, not {game_id}")


def check_names(agents: Iterable[object]) -> None:
    """Refuse two agents of one name, each as ``AgentSpec.parse`` takes it."""
    found = [name for name in map(_name_of, agents) if name]
    doubles = sorted({name for name in found if found.count(name) > 1})
    if doubles:
        raise OptionError(f"two agents are called {doubles}: name them, such as 'other=random'")


def _name_of(agent: object) -> str:
    if isinstance(agent, Mapping):
        return str(agent.get("name") or agent.get("id") or "")
    name, text = split_name(str(agent))
    return name or text


def check_params(value: object, params: Iterable[str]) -> None:
    """Refuse a parameter that an agent does not have.

    >>> check_params("ismcts", ["iteration"])
    Traceback (most recent call last):
    ...
    common.errors.OptionError: agent 'ismcts' cannot be made: unknown parameter 'iteration': ...
    """
    agent_id = split_path(value)[0] if isinstance(value, str) else ""
    known = parameters_of(AGENTS[agent_id]) if agent_id in AGENTS else None
    names = sorted({*(known or ())} - {"game"})
    for name in params:
        if known is not None and name not in names and name != "path":
            hint = nearest(name, names) if names else "there are none"
            raise OptionError(
                f"agent '{agent_id}' cannot be made: unknown parameter '{one_line(name)}': {hint}"
            )


def _check_outsider(agent_id: str) -> None:
    """An agent of the user's own has a module and a class; what is in it says the import."""
    if ":" not in agent_id:
        raise UnknownNameError(f"unknown agent '{agent_id}': {nearest(agent_id, AGENTS)}")
    module, _, name = agent_id.partition(":")
    try:
        found = importlib.util.find_spec(module.partition(".")[0])
    except (ImportError, ValueError):
        found = None
    if found is None or not name.isidentifier():
        raise UnknownNameError(
            f"agent '{one_line(agent_id, 200)}' cannot be found: give 'module:Class' of a module "
            "that can be imported from here, or an id of the list (--list)"
        )


def check_learner(
    learner_id: object, params: Iterable[str] = (), place: str = "", game_id: object = ""
) -> None:
    """Refuse a learner that is in no table or not for the game, and settings it does not have.

    >>> check_learner("cfr_rounds", game_id="kuhn_v0")
    Traceback (most recent call last):
    ...
    common.errors.MasqueradeError: cfr_rounds learns liars_dice_v0, not kuhn_v0: cfr, ...
    """
    if not isinstance(learner_id, str):
        return
    reason = without_learner(learner_id)
    if reason:
        raise UnknownNameError(f"{place}{reason}; learners are {', '.join(sorted(LEARNERS))}")
    if is_module_name(learner_id):
        return
    if learner_id not in LEARNERS:
        raise UnknownNameError(
            f"{place}unknown learner '{learner_id}': {nearest(learner_id, LEARNERS)}"
        )
    learns = constant_of(LEARNERS[learner_id], "game_ids")
    if learns and game_id and game_id not in learns:
        every = [name for name, at in LEARNERS.items() if not constant_of(at, "game_ids")]
        raise MasqueradeError(
            f"{place}{learner_id} learns {' and '.join(learns)}, not {game_id}: "
            f"{', '.join(every)} learn every game"
        )
    settings = class_at(LEARNERS[learner_id], "settings_class")
    check_keys(settings and fields_of(settings), params, place)


def check_keys(
    known: Iterable[str] | None, given: Iterable[str], place: str = "", what: str = "option"
) -> None:
    """Refuse a key that is none of those that are known; ``None``: nobody knows."""
    names = None if known is None else list(known)
    for key in given:
        if names is not None and key not in names:
            raise OptionError(f"{place}unknown {what} '{one_line(key)}': {nearest(key, names)}")


def list_games() -> list[str]:
    """A line for each game.

    >>> list_games()[1]
    '  kuhn_v0: Kuhn poker'
    """
    named = {name: summary_of(place).partition(";")[0] for name, place in sorted(GAMES.items())}
    return [f"  {name}: {words.rstrip('.')}" for name, words in named.items()]


def list_players() -> list[str]:
    """A line for each kind of player.

    >>> list_players()[0]
    '  random: Plays uniformly among the legal actions.'
    """
    return [
        f"  {name}{':RUN' if name in LEARNERS else ''}: {summary_of(place)}"
        for name, place in AGENTS.items()
    ]


def list_learners() -> list[str]:
    """A line for each learner, with what its steps are."""
    return [
        f"  {name}: {summary_of(place)} Counts {constant_of(place, 'unit')}."
        for name, place in LEARNERS.items()
    ]
