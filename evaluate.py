"""Who is better, and how sure are we: tournaments between agents.

python evaluate.py tournament --config configs/tournaments/liars_dice.yaml
python evaluate.py tournament leduc_v0 random leduc_rule --games 20000 --workers 2
python evaluate.py match kuhn_v0 kuhn_rule random --games 5000
python evaluate.py report runs/tournaments/leduc_v0-tournament-seed0
python evaluate.py replay runs/tournaments/leduc_v0-tournament-seed0 --deal 7 --viewer 0
python evaluate.py replay hands.phhs --deal 3
python evaluate.py export runs/tournaments/holdem_v0-tournament-seed0 --out hands.phhs
python evaluate.py leaderboard
python evaluate.py exploitability leduc_v0 random leduc_rule
python evaluate.py best-response liars_dice_v0 liars_dice_rule
python evaluate.py behaviour holdem_v0 holdem_tight
python evaluate.py advise no_thanks_v0 no_thanks_value max_n --moves pay pay take
python evaluate.py --list
"""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.naming import list_games, list_players
from common.commands import (
    COUNT,
    MAX_GAMES,
    SEED,
    WORKERS,
    Pairs,
    Parser,
    add_option,
    add_out,
    answers_in_one_line,
    at_least,
    parse_option,
)

RUNS = Path("runs") / "tournaments"
GOING_ON = dict.fromkeys(("tournament", "match"), "go on with the same command and --resume")
GOING_ON |= dict.fromkeys(("best-response", "leaderboard"), "the same command goes on")
MAX_SECONDS = 86_400.0
MAX_NODES = 10**10
MAX_STEPS = 10**12


class _List(argparse.Action):
    """Like ``--help``: print what there is, and end."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, nargs=0)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        files = sorted(Path("configs/tournaments").glob("**/*.yaml"))
        parts = [("games", list_games()), ("players", list_players())]
        parts.append(("tournaments (--config)", [f"  {path}" for path in files]))
        print("\n\n".join("\n".join([title, *lines]) for title, lines in parts))
        parser.exit()


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = Parser(prog="evaluate.py", description=__doc__)
    parser.add_argument("--list", action=_List, help="games, players and tournaments there are")
    subparsers = parser.add_subparsers(dest="command", required=True)
    for name, add in COMMANDS.items():
        text = inspect.getdoc(add) or ""
        add(subparsers.add_parser(name, help=text.partition("\n")[0], description=text))
    parsed = parser.parse_args(arguments)
    parsed.words = sys.argv[1:] if arguments is None else list(arguments)
    return parsed


def _add_tournament(command: argparse.ArgumentParser) -> None:
    """Everybody against everybody, each deal in every seating, with a table and a report.

    Examples:
      python evaluate.py tournament leduc_v0 random leduc_rule --games 20000 --workers 2
      python evaluate.py tournament kuhn_v0 random kuhn_rule other=random --until 0.01
      python evaluate.py tournament kuhn_v0 random mine=external:examples/external_player.py
      python evaluate.py tournament --config configs/tournaments/liars_dice.yaml --games 400
      python evaluate.py tournament leduc_v0 random leduc_rule --resume   (in its folder)
    """
    _add_match(command)
    command.add_argument("--config", type=Path, help="a YAML file instead of game and agents")


def _add_agents(command: argparse.ArgumentParser) -> None:
    command.add_argument("game", nargs="?", help="a game's id, such as leduc_v0")
    command.add_argument(
        "agents",
        nargs="*",
        help="agents' ids, 'id:path' or 'module:Class'; 'zero=random' renames one",
    )
    _add_params(command)
    command.add_argument("--device", help="auto, cpu or cuda, for agents that can choose")


def _add_measured(
    command: argparse.ArgumentParser, out: str = "also write a .json or .md file", **how: str
) -> None:
    """What is known of single agents takes them from a tournament's file, too."""
    _add_agents(command)
    command.add_argument("--config", type=Path, help="the game and agents of a tournament's file")
    command.add_argument("--seed", type=SEED, help="root of all chance (default 0)")
    add_out(command, out, **how)


def _add_params(command: argparse.ArgumentParser) -> None:
    add_option(command)
    command.add_argument(
        "--param",
        action=Pairs,
        type=parse_option,
        default=[],
        metavar="AGENT.NAME=VALUE",
        help="a parameter of an agent, such as --param ismcts.iterations=5000; may be repeated",
    )


def _add_group(command: argparse.ArgumentParser, default: str) -> None:
    command.add_argument(
        "--group",
        "--pair",
        nargs="+",
        default=[],
        metavar="NAME",
        help=f"who played together (default: {default})",
    )


def _add_match(command: argparse.ArgumentParser) -> None:
    """One group of agents, each deal in every seating, with a table and a report.

    Examples:
      python evaluate.py match kuhn_v0 kuhn_rule random --games 5000
      python evaluate.py match leduc_v0 ismcts leduc_rule --games 200 --param ismcts.iterations=5000
      python evaluate.py match leduc_v0 a=leduc_rule b=leduc_rule c=random --option num_players=3
    """
    _add_agents(command)
    command.add_argument("--games", type=COUNT, help="games of every group (default 2000)")
    command.add_argument(
        "--seed",
        type=SEED,
        help="root of all chance (default 0; drawn at random if players from outside take part)",
    )
    command.add_argument(
        "--schedule", help="auto, distinct, balanced or duels (more than two seats)"
    )
    command.add_argument(
        "--tables",
        type=at_least(1, most=100_000),
        help="sets of agents in a balanced schedule (default: enough)",
    )
    command.add_argument(
        "--shared-deals",
        action="store_true",
        default=None,
        help="let all groups play the same deals (default: each draws its own)",
    )
    command.add_argument(
        "--workers", type=WORKERS, help="at a time (default 1; with ray: all processors it has)"
    )
    command.add_argument(
        "--executor", default="processes", help="where to play: processes (default) or ray"
    )
    command.add_argument(
        "--ray-address",
        metavar="ADDRESS",
        help="a running cluster (default: $RAY_ADDRESS, or one on this machine for the while)",
    )
    command.add_argument(
        "--time-per-move",
        type=at_least(0.0, most=MAX_SECONDS),
        metavar="SECONDS",
        help="time of every agent that has none of its own; who takes longer loses the game",
    )
    command.add_argument(
        "--variance-reduction",
        help="take chance out of returns (AIVAT, MIVAT): none, chance or full",
    )
    command.add_argument(
        "--pilot", type=COUNT, metavar="GAMES", help="of every group, for variance reduction"
    )
    command.add_argument(
        "--until",
        type=at_least(1e-9, most=1e9),
        help="play on until all leads are known to this ±",
    )
    command.add_argument("--out", type=Path, help=f"folder of the results (in {RUNS}/)")
    command.add_argument("--resume", action="store_true", help="go on in that folder")


def _add_report(command: argparse.ArgumentParser) -> None:
    """Write the report of a tournament that has been played.

    It is a page that needs no network, and the same as Markdown, CSV and JSON beside it.

    Examples:
      python evaluate.py report runs/tournaments/leduc_v0-tournament-seed0
      python evaluate.py report runs/tournaments/leduc_v0-tournament-seed0 --out leduc.html
    """
    command.add_argument("folder", type=Path, help="what a tournament has written")
    add_out(command, "the page (report.html in there)")
    _add_trust(command)


def _add_replay(command: argparse.ArgumentParser) -> None:
    """Print one game step by step, for a spectator or as one of its players saw it.

    Exactly the game that a tournament played, a new one, the moves up to a saved position, or a
    hand of a poker hand history (PHH).

    Examples:
      python evaluate.py replay runs/tournaments/leduc_v0-tournament-seed0 --pair random leduc_rule
      python evaluate.py replay runs/tournaments/leduc_v0-tournament-seed0 --deal 7 --seating 1
      python evaluate.py replay runs/tournaments/leduc_v0-tournament-seed0 --deal 7 --viewer 0
      python evaluate.py replay --game leduc_v0 --agents leduc_rule random --seed 3
      python evaluate.py replay position.json
      python evaluate.py replay hands.phhs --deal 3            (the fourth hand of the file)
    """
    command.add_argument("source", type=Path, nargs="?", help="a tournament's folder or a position")
    _add_group(command, "the first group of the tournament")
    command.add_argument("--deal", type=SEED, default=0, help="number of the deal (default 0)")
    command.add_argument(
        "--seating", type=at_least(0), default=0, help="number of the seating (default 0)"
    )
    command.add_argument("--viewer", type=at_least(0), help="a seat: show only what its player saw")
    command.add_argument("--game", help="a game's id, to play a new game instead")
    command.add_argument("--agents", nargs="+", default=[], help="one for each seat of --game")
    _add_params(command)
    command.add_argument("--seed", type=SEED, default=0, help="of a new game (default 0)")
    _add_trust(command)


def _add_trust(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--trust",
        action="store_true",
        help="run programs and modules that the folder names, to play games again",
    )


def _add_export(command: argparse.ArgumentParser) -> None:
    """Write the games of a tournament in the notation that other programs read.

    Hold'em is written as poker hand histories (PHH), one file with a numbered table for every hand.

    Examples:
      python evaluate.py export runs/tournaments/holdem_v0-tournament-seed0
      python evaluate.py export runs/tournaments/holdem_v0-tournament-seed0 --deals 100 --out h.phhs
    """
    _add_trust(command)
    command.add_argument("folder", type=Path, help="what a tournament has written")
    _add_group(command, "every group")
    command.add_argument("--deals", type=COUNT, help="only the first so many deals (default: all)")
    add_out(command, "(default: games.* in there)")


def _add_leaderboard(command: argparse.ArgumentParser) -> None:
    """Play the tournament of every game and write the pages in docs/leaderboards/.

    The tournaments are those of configs/tournaments/. What the same code has played before is not
    played again.

    Examples:
      python evaluate.py leaderboard                        every game
      python evaluate.py leaderboard kuhn leduc --workers 2
      python evaluate.py leaderboard search/leduc           search players and rules
      python evaluate.py leaderboard kuhn --games 2000      fewer games, for a try
    """
    command.add_argument("names", nargs="*", metavar="GAME", help="which (default: every game)")
    command.add_argument("--games", type=COUNT, help="games of every pair, instead of the file's")
    command.add_argument("--workers", type=WORKERS, default=1, help="processes (default 1)")


def _add_exploitability(command: argparse.ArgumentParser) -> None:
    """How far agents are from an equilibrium, exactly, where the whole game tree can be built.

    Each agent's policy is answered by a best response in every seat. An agent that cannot tell its
    policy is asked many times, and the table says so. For larger games there is best-response.

    Examples:
      python evaluate.py exploitability leduc_v0 random leduc_rule cfr:runs/leduc_v0/cfr-seed0
      python evaluate.py exploitability kuhn_v0 random kuhn_rule --option num_players=3
      python evaluate.py exploitability --config configs/tournaments/leduc.yaml --out leduc.json
    """
    _add_measured(command)
    command.add_argument(
        "--samples",
        type=COUNT,
        default=1000,
        help="how often to ask, in every information set, an agent that cannot tell its policy "
        "(default 1000)",
    )
    command.add_argument(
        "--max-nodes",
        type=at_least(1, most=MAX_NODES),
        default=5_000_000,
        help="size of the game at which to give up (default 5,000,000; some 200 bytes each)",
    )
    command.add_argument(
        "--form",
        default="auto",
        help="public (tree), tree (sequence form) or auto, the quicker one; the numbers are equal",
    )


def _add_best_response(command: argparse.ArgumentParser) -> None:
    r"""How exploitable agents are at least, in games of any size: by responses that are learnt.

    A learner plays against the frozen agent; what it has learnt then wins so much from it in fresh
    games. The runs are kept below runs/best_response/, and the same command goes on with them.

    Examples:
      python evaluate.py best-response liars_dice_v0 liars_dice_rule --steps 200000
      python evaluate.py best-response leduc_v0 leduc_rule random --learner q_learning dqn --seeds 2
      python evaluate.py best-response --config configs/tournaments/liars_dice.yaml --out bounds.md
      python evaluate.py best-response holdem_v0 holdem_tight --option num_players=2 --learner lbr \
          --games 2000                          (local best response: nothing is learnt)
    """
    _add_measured(command)
    command.add_argument(
        "--learner",
        nargs="+",
        default=[],
        metavar="NAME",
        help="a file of configs/<game>/ by its name, or any file; of several the best response "
        "counts (default: configs/<game>/response.yaml)",
    )
    command.add_argument(
        "--steps",
        type=at_least(1, most=MAX_STEPS),
        help="how much each learns, in its own unit (default: as its file says)",
    )
    command.add_argument("--seeds", type=COUNT, default=1, help="runs of each learner (default 1)")
    command.add_argument(
        "--games", type=COUNT, default=20_000, help="fresh games that measure (default 20,000)"
    )
    command.add_argument(
        "--choosing-games",
        type=COUNT,
        default=4000,
        help="games that choose a player (default 4000)",
    )


def _add_behaviour(command: argparse.ArgumentParser) -> None:
    """How agents play, in tables and a picture that players of the game know (hold'em).

    The chart of starting hands for every position, how often they bet and bluff when checked to,
    and whether they answer an all-in right with a draw.

    Examples:
      python evaluate.py behaviour holdem_v0 holdem_tight holdem_loose
      python evaluate.py behaviour holdem_v0 holdem_odds --option num_players=2 --games 20000
    """
    _add_measured(command, "(in runs/behaviour/)", metavar="FOLDER")
    command.add_argument(
        "--games",
        type=at_least(2, most=MAX_GAMES),
        default=6000,
        help="played by the agent in all seats (default 6000)",
    )


def _add_advise(command: argparse.ArgumentParser) -> None:
    """What agents would do in a position, and what they expect of every move.

    The position is a saved one, or what the moves lead to in a game that is dealt by --seed. An
    adviser knows what the player to move knows, and nothing else.

    Examples:
      python evaluate.py advise no_thanks_v0 no_thanks_value max_n --moves pay pay take
      python evaluate.py advise no_thanks_v0 no_thanks_slices --option known_future=true --seed 3
      python evaluate.py advise position.json random
    """
    command.add_argument("game", help="a game's id, or a file with a position")
    command.add_argument("agents", nargs="+", help="who is asked, as in a tournament")
    command.add_argument("--moves", nargs="*", default=[], help="played before, in words")
    _add_params(command)
    command.add_argument("--seed", type=SEED, default=0, help="of the deal (default 0)")


COMMANDS: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "tournament": _add_tournament,
    "match": _add_match,
    "report": _add_report,
    "replay": _add_replay,
    "export": _add_export,
    "leaderboard": _add_leaderboard,
    "exploitability": _add_exploitability,
    "best-response": _add_best_response,
    "behaviour": _add_behaviour,
    "advise": _add_advise,
}
"""What each command takes; the docstring is its help."""


@answers_in_one_line("evaluate.py")
def main(arguments: list[str] | None = None) -> int:
    """Run a command; bad input gets one line and exit code 2."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # small networks are fastest on one thread
    parsed = parse_arguments(arguments)
    # Imported when needed: --help and --list do without numbers, this without compiled code.
    from masquerade.asked import check_arguments

    check_arguments(parsed)
    going_on = "the same command goes on"
    try:
        # Imported when needed: --help and --list do without compiled code.
        from masquerade import commands
        from training.missing import train_missing

        job = commands.COMMANDS[parsed.command](parsed)
        # What is named by its run and is not there yet is trained first.
        device, workers = (getattr(parsed, name, None) for name in ("device", "workers"))
        train_missing(next(job), device or "auto", workers or 1)
        going_on = GOING_ON.get(parsed.command, "nothing is kept of what was not printed")
        next(job, None)
    except KeyboardInterrupt:
        print(f"\nstopped; {going_on}", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
