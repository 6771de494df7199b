"""Who is better, and how sure are we: tournaments between agents.

python evaluate.py tournament --config configs/tournaments/liars_dice.yaml
python evaluate.py tournament leduc_v0 random leduc_rule --games 20000 --workers 2
python evaluate.py match kuhn_v0 kuhn_rule random --games 5000
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from arena.spec import AgentSpec, TournamentSpec
from arena.tournament import run_tournament
from envs.core.errors import MasqueradeError

RUNS = Path("runs") / "tournaments"


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="evaluate.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("tournament", "everybody against everybody, each deal in every seating"),
        ("match", "one group of agents, each deal in every seating"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("game", nargs="?", help="a game's id, such as leduc_v0")
        command.add_argument("agents", nargs="*", help="agents' ids; 'zero=random' renames one")
        if name == "tournament":
            command.add_argument(
                "--config", type=Path, help="a YAML file instead of game and agents"
            )
        command.add_argument(
            "--option",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="an option of the game, such as --option num_players=3; may be repeated",
        )
        command.add_argument("--games", type=int, help="games of every group (default 2000)")
        command.add_argument("--seed", type=int, help="root of all chance (default 0)")
        command.add_argument("--design", help="auto, distinct or duels (more than two seats)")
        command.add_argument("--workers", type=int, default=1, help="processes (default 1)")
        command.add_argument("--until", type=float, help="play on to this half width")
        command.add_argument("--out", type=Path, help=f"folder of the results (in {RUNS}/)")
        command.add_argument("--resume", action="store_true", help="go on in that folder")
    return parser.parse_args(arguments)


def make_spec(arguments: argparse.Namespace) -> TournamentSpec:
    """The tournament that the command line or its file describes."""
    if getattr(arguments, "config", None):
        if arguments.game:
            raise MasqueradeError("give either --config or a game with its agents, not both")
        spec = TournamentSpec.parse(_read_yaml(arguments.config))
    elif not arguments.game or len(arguments.agents) < 2:
        raise MasqueradeError(
            "name a game and at least two agents, such as: kuhn_v0 random kuhn_rule"
        )
    else:
        options = dict(_option(text) for text in arguments.option)
        agents = tuple(AgentSpec.parse(agent) for agent in arguments.agents)
        spec = TournamentSpec(arguments.game, agents, options)
    for name in ("seed", "design"):
        if getattr(arguments, name) is not None:
            spec = replace(spec, **{name: getattr(arguments, name)})
    if arguments.games is not None:
        seatings = len(spec.groups(spec.build_game())[0].seatings)
        spec = replace(spec, deals=-(-arguments.games // seatings))
    return spec


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MasqueradeError(f"{path} cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise MasqueradeError(f"{path} is no valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise MasqueradeError(f"{path} must be a mapping with game and agents")
    return content


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise MasqueradeError(f"--option takes NAME=VALUE, not {text!r}")
    return name, yaml.safe_load(value)


def main(arguments: list[str] | None = None) -> int:
    """Run a command; bad input gets one line and exit code 2."""
    parsed = parse_arguments(arguments)
    try:
        spec = make_spec(parsed)
        name = f"{spec.game_id}-{parsed.command}-seed{spec.seed}"
        folder = parsed.out or RUNS / name
        summary = run_tournament(
            spec, folder, parsed.workers, has_resume=parsed.resume, until=parsed.until
        )
    except MasqueradeError as error:
        print(f"evaluate.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped; go on with the same command and --resume", file=sys.stderr)
        return 130
    print(summary.to_text())
    print(f"\nresults in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
