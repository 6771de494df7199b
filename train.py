"""Train a player from a YAML file.

python train.py --config configs/leduc/q_learning.yaml
python train.py --config configs/leduc/dqn.yaml --set train.steps=50_000 --seed 1
python train.py --resume runs/leduc_v0/dqn-seed1
python train.py --list

Curves appear in TensorBoard while it runs: make tensorboard. A run that is stopped or killed is
continued by --resume and ends with the same curves.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from agents.learning.device import DEVICES, check_device
from common.commands import (
    MAX_SEED,
    MAX_WORKERS,
    Parser,
    answers_in_one_line,
    as_called,
    at_least,
)
from common.errors import MasqueradeError
from training.asked import check_run, list_everything, read_yaml

if TYPE_CHECKING:
    from training.runner import Outcome

RUNS = Path("runs")
BEGINNING = ("command.txt", "versions.json")
"""What a run writes before its configuration."""


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = Parser(prog="train.py", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--config", type=Path, metavar="FILE", help="the run to begin")
    what.add_argument("--resume", type=Path, metavar="RUN", help="the run to continue")
    what.add_argument(
        "--schema", action="store_true", help="the JSON Schema of a file, for editors"
    )
    what.add_argument("--list", action="store_true", help="games, learners and configs there are")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SECTION.KEY=VALUE",
        help="change one value, such as agent.params.learning_rate=1e-3; may be repeated",
    )
    parser.add_argument(
        "--seed", type=at_least(0, MAX_SEED), help="the same as --set train.seed=SEED"
    )
    parser.add_argument("--out", type=Path, help=f"the run's folder (below {RUNS}/ by default)")
    parser.add_argument("--device", default="auto", help=f"{', '.join(DEVICES)} (default: auto)")
    parser.add_argument(
        "--threads",
        type=at_least(1, most=MAX_WORKERS),
        default=1,
        help="threads of a network; small ones are fastest, and repeatable, on one (default: 1)",
    )
    parser.add_argument(
        "--trust",
        action="store_true",
        help="with --resume: run programs and modules that the run's files name",
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would be done")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    return parser.parse_args(arguments)


def run(arguments: argparse.Namespace, command: str) -> Outcome | None:
    """Do what the command line asks for."""
    if arguments.list:
        print(as_called(list_everything()))
        return None
    if arguments.schema:
        if "envs.core.compiling" not in sys.modules:  # fields and ranges run nothing compiled
            os.environ["NUMBA_DISABLE_JIT"] = "1"
        # Imported when needed: --help and --list do without compiled code.
        from training.config import run_schema

        print(json.dumps(run_schema(), indent=1))
        return None
    is_shown, device = not arguments.quiet, check_device(arguments.device)
    if arguments.resume:
        if arguments.set or arguments.seed is not None or arguments.out:
            raise MasqueradeError(
                "--resume continues a run as it is: leave out --set, --seed and --out"
            )
        if not (arguments.resume / "config.yaml").exists():
            raise MasqueradeError(
                f"{arguments.resume} is not a run: give a folder made by train.py"
            )
        # Imported when needed, once names are known to be right: this may compile for minutes.
        from training.runner import resume_run

        trusted = None if arguments.trust else ()
        return resume_run(arguments.resume, device, command, is_shown, trusted)
    seed = [] if arguments.seed is None else [f"train.seed={arguments.seed}"]
    # Imported when needed: --help and --list do without numbers, this without compiled code.
    from common.files import check_folder

    content = read_yaml(arguments.config, [*arguments.set, *seed])
    check_run(content)
    if arguments.out is not None:
        check_folder(arguments.out, "config.yaml", BEGINNING)
    # Imported when needed, once names are known to be right: this may compile for minutes.
    from training.config import RunConfig
    from training.runner import begin_run, plan

    config = RunConfig.parse(content)
    name = f"{arguments.config.stem}-seed{config.train.seed}"
    folder = arguments.out or RUNS / config.game.id / name
    if arguments.dry_run:
        print(plan(config, folder, device))
        return None
    return begin_run(config, folder, device, command, is_shown)


@answers_in_one_line("train.py", "stopped at once; continue from the last checkpoint with --resume")
def main(arguments: list[str] | None = None) -> int:
    """Run a command; bad input gets one line and exit code 2."""
    words = shlex.join(sys.argv[1:] if arguments is None else arguments)
    command = as_called(f"python train.py {words}")
    parsed = parse_arguments(arguments)
    # Read by torch when it is first imported, which only some learners do.
    os.environ.setdefault("OMP_NUM_THREADS", str(parsed.threads))
    outcome = run(parsed, command)
    if outcome is None:
        return 0
    for score in outcome.scores:
        print(
            f"against {score.opponent}: return {score.mean_return}, "
            f"wins {100 * score.win_rate.mean:.1f} % of {score.games:,} games"
        )
    if outcome.was_finished:
        print(
            f"{outcome.folder} is finished: nothing is left to do after {outcome.num_steps:,} steps"
        )
    if not outcome.is_finished:
        print(as_called(f"stopped; continue with: python train.py --resume {outcome.folder}"))
        return 130
    print(f"run in {outcome.folder}\n\nnext:")
    game, options = outcome.game_id, outcome.options
    agent, folder = shlex.quote(outcome.agent), shlex.quote(str(outcome.folder))
    if ":" in outcome.agent.removesuffix(f":{outcome.folder}"):  # a player of somebody's own module
        own = f"own={outcome.agent.removesuffix(f':{outcome.folder}')} random --param own.path="
        print(as_called(f"  python evaluate.py match {game} {own}{folder}{options}  # measure it"))
        return 0
    for command, what in (
        (f"python play.py {game} --against {agent}{options}", "play against it"),
        (f"python play.py {game} --watch {agent} random{options}", "watch it"),
        (f"python evaluate.py match {game} {agent} random{options}", "measure it"),
        (f"tensorboard --logdir {folder}", "see its curves"),
    ):
        print(as_called(f"  {command}  # {what}"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
