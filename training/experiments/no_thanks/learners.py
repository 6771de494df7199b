"""Learners trained for places, over several seeds, against players known and new to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agents.games.no_thanks.slices.matches import Strategy
from agents.spec import AgentSpec
from envs.core.statistics import mean_interval
from envs.no_thanks import NoThanks
from training.experiments.no_thanks.making import BEST_HIDDEN, compare
from training.experiments.no_thanks.strength import POOL
from training.missing import train_missing
from training.reproduce import Row, Settings

__all__ = ["learners"]

NUM_SEEDS = 3
MET = {
    "dqn": frozenset({"threshold 12", "threshold 0"}),
    "sarsa_lambda": frozenset({"threshold 12"}),
}
"""Whom they were trained against, next to themselves, by their files in configs/no_thanks/."""
OTHERS = {
    **{name: other for name, other in POOL.items() if other.agent != "ismcts"},
    "ISMCTS, 60 simulations": Strategy("ismcts", {"iterations": 60}),
    "sequence": Strategy("no_thanks_sequence"),
    "learnt values": BEST_HIDDEN,
}


def learners(settings: Settings) -> Iterator[Row]:
    """L: mean places of learners with hidden decks; runs that are missing are trained first."""
    game = NoThanks()
    for learner, met in MET.items():
        runs = [Path("runs/no_thanks_v0") / f"{learner}-seed{seed}" for seed in range(NUM_SEEDS)]
        train_missing(
            [AgentSpec.parse(f"{learner}:{run}") for run in runs], workers=settings.workers
        )
        for name, other in OTHERS.items():
            number = 300 if other.agent == "ismcts" else 900
            found = [
                compare(
                    settings, Strategy(learner, {"path": str(run)}), other, number, game, True
                ).mean_place()
                for run in runs
            ]
            yield Row.of(
                "L",
                f"{learner} against {name}, {'met' if name in met else 'never met'} in training: "
                f"mean place over {NUM_SEEDS} seeds",
                mean_interval([place.mean for place in found]),
                games=NUM_SEEDS * settings.games(number),
                note="seeds " + ", ".join(f"{place.mean:.2f}" for place in found),
            )
