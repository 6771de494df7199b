"""``make demo``: train three small players of Liar's Dice, and let everybody meet.

A table that plays blind but keeps a profile of its opponent's lies, a table that knows its own
dice, and a network. Then a tournament with the random player and the rule player says who is
better.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from agents.spec import AgentSpec
from arena.report import write_report
from arena.report.tables import to_text
from arena.spec import TournamentSpec
from arena.tournament import run_tournament
from common.commands import answers_in_one_line
from common.errors import MasqueradeError
from training.config import RunConfig, learner_class, read_yaml
from training.runner import begin_run

CONFIGS = Path("configs") / "demo"
RUNS = Path("runs") / "demo"
DEALS = 1000


@answers_in_one_line("demo")
def main() -> int:
    """Train, play and print; an earlier demo is replaced."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read by torch when it is first imported
    configs = sorted(CONFIGS.glob("*.yaml"))
    if not configs:
        raise MasqueradeError(f"there is no {CONFIGS}/ here: run it from the folder of the project")
    shutil.rmtree(RUNS, ignore_errors=True)
    agents = [AgentSpec.parse("random"), AgentSpec.parse("liars_dice_rule")]
    agents += [train(path) for path in configs]
    print("everybody against everybody, every deal in both seatings\n", flush=True)
    spec = TournamentSpec("liars_dice_v0", tuple(agents), deals=DEALS)
    summary = run_tournament(spec, RUNS / "tournament")
    print(to_text(summary))
    page = write_report(RUNS / "tournament", summary=summary)
    print(f"\nthe report with games to step through: {page}")
    print("the curves: make tensorboard")
    return 0


def train(path: Path) -> AgentSpec:
    """Train what a file describes; its player, by the name of the file."""
    config = RunConfig.parse(read_yaml(path))
    unit = learner_class(config.agent.id).unit
    print(f"training {path.stem}: {config.train.steps:,} {unit}", flush=True)
    outcome = begin_run(config, RUNS / path.stem, command="make demo")
    for score in outcome.scores:
        print(f"  against {score.opponent}: wins {100 * score.win_rate.mean:.1f} % of its games")
    return AgentSpec.parse(f"{path.stem}={config.agent.id}:{outcome.folder}")


if __name__ == "__main__":
    sys.exit(main())
