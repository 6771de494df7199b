"""What a command line of ``play.py`` asks for: names are checked, and nothing is quietly ignored.

Nothing is compiled for it: whoever mistypes a name hears of it at once.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from agents import LEARNERS, ON_TOP, OUTSIDE, split_path
from agents.naming import check_agent, check_game
from envs.core.errors import MasqueradeError, OptionError, one_line

__all__ = ["ME", "check_arguments", "check_counts"]

ME = "me"
OF_THE_PAGE = ("port", "host", "no_open", "pace", "folder")
OF_A_TABLE = ("against", "watch", "seat")


def check_arguments(arguments: argparse.Namespace, given: set[str]) -> None:
    """Refuse names that there are not, and arguments that would do nothing.

    Args:
        arguments: the command line.
        given: which of them it names.
    """
    _check_together(given)
    if arguments.host == "":
        raise OptionError("--host is empty, which would be every address: name one, or leave it")
    if arguments.load is not None:
        from envs.core.files import read_text  # not needed for --help

        read_text(arguments.load, "give a game that was kept, or a hand in PHH")
    if arguments.game is not None:
        check_game(arguments.game, dict(arguments.option))
    for name in arguments.against + arguments.watch:
        if name != ME:
            _check_player(name, arguments.game or "")
    if ME in arguments.watch:
        raise OptionError(f"--watch shows agents among themselves: for '{ME}' use --against")
    for name in arguments.players:
        if not Path(name).exists():
            _check_player(name, "")


def _check_together(given: set[str]) -> None:
    """Refuse arguments that another one makes meaningless, with what to leave out."""
    rules: list[tuple[bool, tuple[str, ...], str]] = [
        ("list" in given, ("load", "terminal", *OF_A_TABLE, *OF_THE_PAGE, "seed"),
         "--list prints and ends"),
        ("list" in given and "game" not in given, ("option", "players"),
         "--list needs a game for that: name one, such as kuhn_v0"),
        ("load" in given, ("game", *OF_A_TABLE, "option", "terminal", "seed"),
         "--load opens a game as it was kept, on the page"),
        ("terminal" in given, OF_THE_PAGE, "--terminal does without a page"),
        ("terminal" not in given, ("seed",), "--seed is for games in a --terminal"),
        ("watch" in given, ("against", "seat"), "--watch has agents in all seats"),
        (not given & {"game", "terminal"}, (*OF_A_TABLE, "option"),
         "a table needs a game: name one first, such as kuhn_v0"),
    ]  # fmt: skip
    for holds, useless, reason in rules:
        found = [name for name in useless if name in given] if holds else []
        if found:
            words = [_words(name) for name in found]
            raise OptionError(f"{reason}; or leave out {' and '.join(words)}")


def _words(name: str) -> str:
    return "the game" if name == "game" else f"--{name.replace('_', '-')}"


def _check_player(name: str, game_id: str) -> None:
    """An agent by the name that the list of players has, or with the file it comes from."""
    if "=" in name.partition(":")[0]:
        raise OptionError(
            f"'{one_line(name, 80)}': nobody is renamed at a table; write "
            f"'{one_line(name.partition('=')[2], 60) or 'random'}'"
        )
    if not name:
        raise OptionError("an agent's name is empty: name one, such as random")
    agent_id, path = split_path(name)
    check_agent(name, game_id)
    if agent_id in LEARNERS:
        if not path:
            raise OptionError(f"'{agent_id}' plays from a run: write '{agent_id}:runs/...'")
        if not Path(path).exists():
            raise MasqueradeError(f"{path} is not there: train it first, or name another run")
    if agent_id in OUTSIDE and not path:
        raise OptionError(f"'{agent_id}' is somebody else's: write '{agent_id}:PATH'")
    if agent_id in ON_TOP:
        raise OptionError(f"'{agent_id}' plays on top of a trained player: in tournaments only")


def check_counts(arguments: argparse.Namespace, num_seats: int) -> None:
    """Refuse more agents than there are seats for them, and a seat that there is not."""
    for name, most in (("against", num_seats - 1), ("watch", num_seats)):
        agents = getattr(arguments, name)
        if len(agents) > most:
            seats = "one seat is" if most == 1 else f"{most} seats are"
            raise OptionError(f"--{name} names {len(agents)} agents, but {seats} free: name fewer")
    if arguments.seat is not None and arguments.seat >= num_seats:
        raise OptionError(f"--seat must be from 0 to {num_seats - 1}, not {arguments.seat}")
