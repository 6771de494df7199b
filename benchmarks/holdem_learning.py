"""How many hands a DQN learns from in a second: ``python -m benchmarks.holdem_learning``.

The network is that of a bachelor thesis, 330 inputs, 100 hidden units and five outputs, and an
update takes 64 transitions. The learner has one seat of six, the others play by the same network.
One core; times are those of the processor.

``learning_hands``
    ``configs/holdem/fast_dqn.yaml``, 1024 games at once and an update for every 25 decisions, next
    to the most that was published: 1,268 hands a second with four threads, with an unstated number
    of updates.
``learning_updates``
    The same next to ``configs/holdem/thesis_dqn.yaml``, an update for every decision.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness import Chunk, Job, main
from training.config import RunConfig, read_yaml
from training.runner import make_learner

__all__ = ["JOBS"]

PUBLISHED = 1268
CONFIGS = Path(__file__).resolve().parents[1] / "configs" / "holdem"
MEASURED = 16_384


def learning(name: str) -> Chunk:
    """Microseconds for a hand, while a learner plays and learns."""
    import torch

    torch.set_num_threads(1)
    content = read_yaml(CONFIGS / f"{name}.yaml", ["train.opponents=[self]"])
    config = RunConfig.parse(content)
    learner: Any = make_learner(config, config.build_game())
    learner.update(MEASURED)  # until there are updates

    def chunk() -> float:
        before, started = learner.num_games, time.process_time()
        learner.update(MEASURED)
        return 1e6 * (time.process_time() - started) / float(learner.num_games - before)

    return chunk


def published() -> Chunk:
    """Microseconds for a hand, as published for four threads."""
    return lambda: 1e6 / PUBLISHED


JOBS = [
    Job(
        "learning_hands",
        "a hand that is learnt from: ours on one core, and a published figure",
        partial(learning, "fast_dqn"),
        published,
        peer_name=f"published, four threads: {PUBLISHED:,} hands/s",
        unit="us/hand",
        target=10.0,
        is_duration=True,
    ),
    Job(
        "learning_updates",
        "a hand that is learnt from: an update for every 25 decisions, and for every one",
        partial(learning, "fast_dqn"),
        partial(learning, "thesis_dqn"),
        peer_name="ours, an update for every decision",
        unit="us/hand",
        is_duration=True,
    ),
]


if __name__ == "__main__":
    sys.exit(main("holdem_learning", __doc__, JOBS))
