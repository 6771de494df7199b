"""No-Limit Hold'em: what a bachelor thesis on Q-learning for six players published, repeated.

The thesis does not say who its opponents were, nor how many hands a measurement had, and has one
run for each setting. Here learners meet the rule players of ``OPPONENTS``, every setting has the
same number of decisions, and every figure an interval. With ``--scale 1`` a run has 20,000
decisions, which is a try; the thesis had about two million (``--scale 100``).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agents import make_agent
from envs.core.errors import MasqueradeError
from training.config import EvalSettings, RunConfig, read_yaml
from training.evaluation import evaluate
from training.reproduce import Group, Row, Settings

__all__ = ["GROUPS"]

YARDSTICKS = (
    "random",
    "holdem_call",
    "holdem_fold",
    "holdem_raise",
    "holdem_tight",
    "holdem_loose",
    "holdem_odds",
)
CONFIGS = Path("configs/holdem")
RUNS = Path("runs/holdem_v0")


# ---- the best player against every yardstick -----------------------------------------------------


def _against_yardsticks(name: str, number: str) -> Group:
    """The player of a run, in every seat, against a table full of one rule player."""

    def rows(settings: Settings) -> Iterator[Row]:
        run = RUNS / f"{name}-seed0"
        if not run.exists():
            raise MasqueradeError(
                f"{run} is missing: python train.py --config {CONFIGS / name}.yaml"
            )
        config = RunConfig.parse(read_yaml(CONFIGS / f"{name}.yaml"))
        game = config.build_game()
        player = make_agent(f"{config.agent.id}:{run}", game)
        games = settings.games(100_000)
        for yardstick in YARDSTICKS:
            opponent = make_agent(yardstick, game)
            opponent.name = yardstick
            plan = EvalSettings(games=games)
            (score,) = evaluate(game, player, [opponent], plan, settings.seed + 1_000_003)
            yield Row.of(
                number,
                f"{name} against {game.facts.num_players - 1} x {yardstick}, bb/100",
                score.mean_return.times(game.facts.unit.scale),
                games=score.games,
                wanted=(0.0, None),
            )

    return rows


GROUPS: dict[str, Group] = {
    "Y2": _against_yardsticks("heads_up_dqn", "Y2"),
    "Y6": _against_yardsticks("dqn", "Y6"),
}
