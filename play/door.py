"""What ``play.py`` does: read the command line, set up the hall, open the page."""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import sys
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from agents.listing import list_games, list_players
from envs import game_class
from envs.core.commands import MAX_SEED, Parser, add_option, answers_in_one_line, at_least
from envs.core.errors import MasqueradeError
from play.asked import ME, check_arguments, check_counts
from play.messages import SeatChoice

if TYPE_CHECKING:
    from envs.core.game import Game
    from play.catalogue import Catalogue

__all__ = ["main", "parse_arguments"]

FOLDER = Path("runs") / "play"
DEFAULT_PORT = 8420
USUAL = {"port": DEFAULT_PORT, "host": "127.0.0.1", "pace": 600, "folder": FOLDER}
MAX_PACE = 20_000
INTERRUPTED = 130
EXAMPLES = """\
examples:
  python play.py                                   every game, in the browser
  python play.py liars_dice_v0 --against liars_dice_rule --seat 1
  python play.py scotland_yard_v0 --option num_detectives=3
  python play.py leduc_v0 --watch leduc_rule random
  python play.py --load runs/play/games/FILE       step through a game that was kept
  python play.py --terminal no_thanks_v0           without a browser
  python play.py --players my_agents/              with players of your own in the list
"""


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = Parser(
        prog="play.py",
        description="Play any game against any agent.",
        epilog=EXAMPLES,
    )
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
    seed = at_least(0, most=MAX_SEED)
    parser.add_argument("--seed", type=seed, help="of the first game in a terminal (drawn)")
    parser.add_argument("--folder", type=Path, help=f"where tables are kept (default {FOLDER})")
    parsed = parser.parse_args(arguments)
    unsaid: list[Any] = [None, False, []]  # 0 is a seat
    given = {
        name
        for name, value in vars(parsed).items()
        if not any(value is each or value == each == [] for each in unsaid)
    }
    check_arguments(parsed, given)
    for name, usual in USUAL.items():
        if name not in given:
            setattr(parsed, name, usual)
    return parsed


@answers_in_one_line("play.py")
def main(words: list[str] | None = None) -> int:
    """Play; bad input gets one line and exit code 2."""
    arguments = parse_arguments(words)
    if arguments.list and arguments.game is None:
        print("\n".join(["games", *list_games(), "", "players", *list_players()]))
        return 0
    if arguments.list and "envs.core.compiling" not in sys.modules:
        os.environ["NUMBA_DISABLE_JIT"] = "1"  # to say who plays needs no compiled code
    # Imported when needed: --help and --list do without compiled code.
    from play.catalogue import Catalogue
    from play.own_players import find_own

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
    return _serve(arguments, catalogue)


def _named(specs: list[str]) -> list[str]:
    """Agents of the command line that stand in no list by themselves."""
    return [spec for spec in specs if ":" in spec]


def first_table(arguments: argparse.Namespace, catalogue: Catalogue) -> dict[str, Any] | None:
    """What the command line asks for, as the message that makes the table."""
    if arguments.game is None:
        return None
    options = dict(arguments.option)
    game = game_class(arguments.game)(**options)  # which refuses options that it cannot have
    message: dict[str, Any] = {"type": "create", "game": arguments.game, "options": options}
    if arguments.against or arguments.watch or arguments.seat is not None:
        choices = choose_seats(arguments, game, catalogue)
        message["seats"] = [choice.model_dump(exclude_defaults=True) for choice in choices]
    return message


def choose_seats(
    arguments: argparse.Namespace, game: Game, catalogue: Catalogue
) -> list[SeatChoice]:
    """Who sits where by the command line; the last one named has all seats that are left."""
    num_seats = game.facts.num_players
    check_counts(arguments, num_seats)
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


# ---- the page ------------------------------------------------------------------------------------


def _serve(arguments: argparse.Namespace, catalogue: Catalogue) -> int:
    try:
        import uvicorn
    except ModuleNotFoundError as error:
        raise MasqueradeError(
            f"{error.name} is missing: pip install 'masquerade[play]', or use --terminal"
        ) from error
    # Imported when needed: the terminal does without a server.
    from play.hall import Hall
    from play.server import LOOPBACK, hosts_of, make_app
    from play.thinking import Thinkers

    is_local = arguments.host in LOOPBACK
    hall = Hall(arguments.folder, catalogue, Thinkers(), arguments.pace)
    start = _start(arguments, hall)  # what cannot be opened is refused before anybody can ask
    listener = _listen(arguments.host, arguments.port)
    port = listener.getsockname()[1]
    app = make_app(hall, hosts_of(arguments.host, socket.gethostname()))
    address = f"http://{'localhost' if is_local else socket.gethostname()}:{port}/{start}"
    config = uvicorn.Config(
        app,
        log_level="error",
        ws_max_size=256_000,
        lifespan="on",
        timeout_graceful_shutdown=1,
        ws_ping_timeout=120.0,  # a busy machine must not cost anybody their connection
    )
    server = uvicorn.Server(config)
    print(f"play at {address}\n(Ctrl-C ends the server; tables are kept)", flush=True)
    threading.Thread(target=_warm, args=(hall,), daemon=True).start()
    if not arguments.no_open:
        webbrowser.open(address)
    with suppress(KeyboardInterrupt):  # which the server has answered already
        asyncio.run(server.serve(sockets=[listener]))
    # It ends when it is interrupted, whatever asyncio makes of that, or if it could not begin.
    code = INTERRUPTED if server.started else 2
    # Every table is on the disk. A thread in which somebody still thinks, or compiles, cannot be
    # stopped, and the end of the interpreter would wait for it.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _listen(host: str, port: int) -> socket.socket:
    """A socket on the port, or on any free one if ours is taken and none was asked for."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        try:
            listener.bind((host, port))
        except OSError:
            if port != DEFAULT_PORT:
                raise
            listener.bind((host, 0))
    except (OSError, OverflowError) as error:
        listener.close()
        other = "--host" if isinstance(error, socket.gaierror) else "--port"
        raise MasqueradeError(
            f"cannot listen to {host}:{port} ({error}): choose another {other}"
        ) from error
    listener.listen(256)  # so that a browser that is quicker than we are waits
    return listener


def _start(arguments: argparse.Namespace, hall: Any) -> str:
    """The part of the address that says what to open first."""
    # Imported when needed: --help and --list do without compiled code.
    from play.table import Seat

    if arguments.load is not None:
        return f"#open/{quote(hall.tables.library.take(arguments.load))}"
    message = first_table(arguments, hall.catalogue)
    if message is None:
        return ""
    game = game_class(arguments.game)(**dict(arguments.option))
    seats = [
        Seat(choice.get("agent", "me"), choice.get("agent", ""))
        for choice in message.get("seats", ())
    ]
    for number, seat in enumerate(seats):
        if ":" in seat.agent:  # what is no agent of ours says now what is wrong with it
            hall.tables.agent_at(game, number, seat)
    hall.first = message
    return "#first"


def _warm(hall: Any) -> None:
    """Load what newcomers need before they ask for it, as far as it is compiled."""
    catalogue = hall.catalogue
    hall.warmth.start()
    for card in catalogue.games():
        if hall.warmth.is_cold(card.id):
            continue
        try:
            catalogue.usual_seats(catalogue.new_game(card.id))
            catalogue.picture(card.id)
        except Exception as error:
            print(f"play.py: {card.id} cannot be played: {error}", file=sys.stderr)
