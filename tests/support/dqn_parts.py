"""Small learners, replays with known contents, and tensors that should be alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from agents.dqn.agent import DQNSettings
from agents.dqn.learner import DQNLearner
from agents.dqn.replay import Replay
from agents.learning.experience import Experience, ExperienceSettings
from agents.learning.learner import Opponents, Task
from envs import make_game
from envs.core.game import Game


def fill(replay: Replay, rewards: Sequence[float]) -> None:
    """Add one finished one-move game for each reward."""
    size = replay.kept.inputs.shape[1]
    experience = Experience(replay.kept, 1, ExperienceSettings())
    slot = np.zeros(1, np.int64)
    for reward in rewards:
        inputs, masks = np.ones((1, size), np.float32), np.ones((1, 2), np.int8)
        experience.close(slot, inputs, masks, np.zeros(1))
        experience.open(slot, inputs, masks, np.zeros(1, np.int64))
        experience.close_for_good(slot, np.array([float(reward)]))


def assert_close(found: torch.Tensor, expected: torch.Tensor) -> None:
    # What torch has for this takes seconds to import.
    np.testing.assert_allclose(found.detach(), expected.detach(), rtol=1e-4, atol=1e-5)


SMALL: dict[str, Any] = {"hidden": (16,), "num_envs": 8, "batch_size": 16, "learn_start": 50}


def make_learner(
    game: Game | None = None,
    seed: int = 0,
    total: int = 1000,
    opponents: Opponents | None = None,
    **settings: Any,
) -> DQNLearner:
    game = game or make_game("kuhn_v0")
    task = Task(game, seed, opponents, total=total)
    return DQNLearner(task, DQNSettings.parse({**SMALL, **settings}))
