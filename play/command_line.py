"""What ``play.py`` does: read the command line, and open the page or play in the terminal.

What is asked for is checked before anything is compiled: names must be known, and no argument is
quietly ignored.
"""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from agents import LEARNERS, ON_TOP, OUTSIDE, split_path
from agents.naming import check_agent, check_game, list_games, list_players
from common.commands import SEED, Parser, add_option, answers_in_one_line, at_least
from common.errors import MasqueradeError, OptionError, one_line
from envs import game_class
from play.messages import Create, SeatChoice

if TYPE_CHECKING:
    from envs.core.game import Game
    from play.catalogue import Catalogue
    from play.tables import Tables

FOLDER = Path("runs") / "play"
DEFAULT_PORT = 8420
USUAL = {"port": DEFAULT_PORT, "host": "127.0.0.1", "pace": 600, "folder": FOLDER}
ME = "me"
OF_THE_PAGE = ("port", "host", "no_open", "pace", "folder")
OF_A_TABLE = ("against", "watch", "seat")
MAX_PACE = 20_000


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = Parser(prog="play.py", description=inspect.getdoc(main))
    parser.add_argument("game", nargs="?", help="a game's id (default: choose on the page)")
    parser.add_argument(
        "--against", nargs="+", default=[], metavar="AGENT", help="who has the other seats; me: you"
    )
    parser.add_argument("--seat", type=at_least(0), help="where you sit (default: the first seat)")
    parser.add_argument(
        "--watch", nargs="+", default=[], metavar="AGENT", help="agents among themselves"
    )
    parser.add_argument("--load", type=Path, metavar="FILE", help="step through a game")
    add_option(parser)
    parser.add_argument(
        "--players",
        nargs="+",
        default=[],
        metavar="NAME",
        help="players of your own: module:Class, external:./program, or a file or folder of them",
    )
    parser.add_argument(
        "--list", action="store_true", help="games and players there are; with a game, who plays it"
    )
    parser.add_argument("--terminal", action="store_true", help="play in this terminal")
    parser.add_argument(
        "--port",
        type=at_least(0, most=65_535),
        help=f"of the page (default {DEFAULT_PORT})",
    )
    parser.add_argument("--host", help="address to listen to (default: this machine only)")
    parser.add_argument("--no-open", action="store_true", help="do not open a browser")
    parser.add_argument(
        "--pace",
        type=at_least(0, most=MAX_PACE),
        help="least milliseconds of an agent's move (default 600)",
    )
    parser.add_argument("--seed", type=SEED, help="of the first game in a terminal (drawn)")
    parser.add_argument("--folder", type=Path, help=f"where tables are kept (default {FOLDER})")
    parsed = parser.parse_args(arguments)
    unsaid: list[Any] = [None, False, []]  # 0 is a seat
    given = {
        name
        for name, value in vars(parsed).items()
        if not any(value is each or value == each == [] for each in unsaid)
    }
    _check(parsed, given)
    for name, usual in USUAL.items():
        if name not in given:
            setattr(parsed, name, usual)
    return parsed


@answers_in_one_line("play.py")
def main(words: list[str] | None = None) -> int:
    """Play any game against any agent.

    Examples:
      python play.py                                   every game, in the browser
      python play.py liars_dice_v0 --against liars_dice_rule --seat 1
      python play.py scotland_yard_v0 --option num_detectives=3
      python play.py leduc_v0 --watch leduc_rule random
      python play.py --load runs/play/games/FILE       step through a game that was kept
      python play.py --terminal no_thanks_v0           without a browser
      python play.py --players my_agents/              with players of your own in the list
    """
    arguments = parse_arguments(words)
    if arguments.list and arguments.game is None:
        print("\n".join(["games", *list_games(), "", "players", *list_players()]))
        return 0
    if arguments.list and "envs.core.compiling" not in sys.modules:
        os.environ["NUMBA_DISABLE_JIT"] = "1"  # to say who plays needs no compiled code
    # Imported when needed: --help and --list do without compiled code.
    from play.catalogue import Catalogue, find_own

    os.environ.setdefault("OMP_NUM_THREADS", "1")  # small networks are fastest on one thread
    own = [*find_own(arguments.players), *_named(arguments.against + arguments.watch)]
    catalogue = Catalogue(own)
    if arguments.list:
        players = catalogue.players(game_class(arguments.game)(**dict(arguments.option)))
        print("\n".join(f"  {player.spec}: {player.words}".rstrip(": ") for player in players))
        return 0
    if arguments.terminal:
        # Imported when needed: the page does without it.
        from play.terminal import choose_game, play_in_terminal

        game = choose_game(catalogue, dict(arguments.option), arguments.game)
        return play_in_terminal(
            arguments, choose_seats(arguments, game, catalogue), game, catalogue
        )
    try:
        # Imported when needed: the terminal does without a server.
        from play.server import serve
    except ModuleNotFoundError as error:
        raise MasqueradeError(
            f"{error.name} is missing: pip install 'masquerade[play]', or use --terminal"
        ) from error
    from play.agents import Thinkers
    from play.tables import Tables

    tables = Tables(arguments.folder, catalogue, Thinkers(), arguments.pace)
    start = _start(arguments, tables)  # what cannot be opened is refused before anybody can ask
    return serve(tables, arguments.host, arguments.port, start, not arguments.no_open)


def _named(specs: list[str]) -> list[str]:
    """Agents of the command line that stand in no list by themselves."""
    return [spec for spec in specs if ":" in spec]


def _start(arguments: argparse.Namespace, tables: Tables) -> str:
    """The part of the address that says what to open first."""
    # Imported when needed: --help and --list do without compiled code.
    from play.table import TableSeat

    if arguments.load is not None:
        return f"#open/{quote(tables.library.take(arguments.load))}"
    if arguments.game is None:
        return ""
    options = dict(arguments.option)
    game = game_class(arguments.game)(**options)  # which refuses options that it cannot have
    seats = None
    if arguments.against or arguments.watch or arguments.seat is not None:
        seats = choose_seats(arguments, game, tables.catalogue)
    for number, choice in enumerate(seats or ()):
        if ":" in choice.agent:  # what is no agent of ours says now what is wrong with it
            tables.agent_at(game, number, TableSeat(choice.agent, choice.agent))
    tables.first = Create(type="create", game=arguments.game, options=options, seats=seats)
    return "#first"


def choose_seats(
    arguments: argparse.Namespace, game: Game, catalogue: Catalogue
) -> list[SeatChoice]:
    """Who sits where by the command line; the last one named has all seats that are left."""
    num_seats = game.facts.num_players
    _check_counts(arguments, num_seats)
    usual = catalogue.usual_seats(game)
    if arguments.watch:
        named = arguments.watch + [arguments.watch[-1]] * num_seats
        return [_choice(name) for name in named[:num_seats]]
    mine = next(number for number, choice in enumerate(usual) if choice.who == "me")
    seat = mine if arguments.seat is None else arguments.seat
    default = next((choice.agent for choice in usual if choice.who == "agent"), "random")
    named = [*arguments.against, *[(arguments.against or [default])[-1]] * num_seats]
    others = [_choice(name) for name in named[: num_seats - 1]]
    return [*others[:seat], SeatChoice(who="me"), *others[seat:]]


def _choice(name: str) -> SeatChoice:
    """An agent, or ``me`` for another person at the same screen."""
    return SeatChoice(who="me") if name == ME else SeatChoice(who="agent", agent=name)


# ---- what would do nothing -----------------------------------------------------------------------


def _check(arguments: argparse.Namespace, given: set[str]) -> None:
    """Refuse names that there are not, and arguments that would do nothing.

    Args:
        arguments: the command line.
        given: which of them it names.
    """
    _check_together(given)
    if arguments.host == "":
        raise OptionError("--host is empty, which would be every address: name one, or leave it")
    if arguments.load is not None:
        from common.files import read_text  # not needed for --help

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


def _check_counts(arguments: argparse.Namespace, num_seats: int) -> None:
    """Refuse more agents than there are seats for them, and a seat that there is not."""
    for name, most in (("against", num_seats - 1), ("watch", num_seats)):
        agents = getattr(arguments, name)
        if len(agents) > most:
            seats = "one seat is" if most == 1 else f"{most} seats are"
            raise OptionError(f"--{name} names {len(agents)} agents, but {seats} free: name fewer")
    if arguments.seat is not None and arguments.seat >= num_seats:
        raise OptionError(f"--seat must be from 0 to {num_seats - 1}, not {arguments.seat}")
