"""Learners trained for places, over several seeds, against players known and new to them."""

from __future__ import annotations

from collections.abc import Iterator

from agents.spec import AgentSpec
from common.statistics import mean_interval
from envs.no_thanks import NoThanks
from experiments.no_thanks.making import BEST_HIDDEN
from experiments.no_thanks.matches import Strategy
from experiments.no_thanks.strength import POOL
from experiments.runner import Row, Settings
from training.config import EvalSettings
from training.evaluation import evaluate
from training.missing import train_missing

__all__ = ["learners"]

NUM_SEEDS = 3
MET = {
    "dqn": frozenset({"threshold 12", "threshold 0"}),
    "sarsa_lambda": frozenset({"threshold 12"}),
}
"""Whom they were trained against, next to themselves, by their files in configs/no_thanks/."""
OTHERS = {
    **{name: other for name, other in POOL.items() if other.agent != "ismcts"},
    "sequence": Strategy("no_thanks_sequence"),
    "learnt values": BEST_HIDDEN,
    "ISMCTS, 60 simulations": Strategy("ismcts", {"iterations": 60}),
}


def learners(settings: Settings) -> Iterator[Row]:
    """L: one learner against two others with hidden decks; missing runs are trained first."""
    game = NoThanks(returns="place", first_player="alternate")
    for learner, met in MET.items():
        runs = [
            AgentSpec.parse(f"{learner}:runs/no_thanks_v0/{learner}-seed{seed}")
            for seed in range(NUM_SEEDS)
        ]
        train_missing(runs, workers=settings.workers)
        players = [run.build(game) for run in runs]
        for name, other in OTHERS.items():
            number = EvalSettings(games=settings.games(300 if other.agent == "ismcts" else 1500))
            scores = [
                evaluate(game, player, other.build(game), number, settings.seed)
                for player in players
            ]
            means = [score.mean_return.mean for score in scores]
            yield Row.of(
                "L",
                f"{learner} against two of {name}, {'met' if name in met else 'never met'} in "
                "training: places above the middle",
                mean_interval(means),
                games=sum(score.games for score in scores),
                note="seeds " + ", ".join(f"{mean:.2f}" for mean in means),
            )
