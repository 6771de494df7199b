"""A learner that learns nothing, and would show at once if a run lost or repeated anything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from agents.base import Actions, Agent, Views
from agents.learning.files import load_state
from agents.learning.learner import Learner, State, Task
from envs.core.batch import random_actions
from envs.core.game import Game
from envs.core.options import Options, option
from envs.core.rng import below, stream


class PlantedSettings(Options):
    rate: float = option(0.5, low=0.0, high=1.0, help="how fast")
    fails_at: int | None = option(None, low=0, high=10**9, help="where it raises an error")


class PlantedLearner(Learner):
    """Draws numbers and adds them up."""

    settings_class = PlantedSettings
    unit = "draws"
    player_id = "tests.support.planted_learner:PlantedPlayer"

    def __init__(self, task: Task, settings: Options) -> None:
        super().__init__(task, settings)
        self.rng = stream(task.seed, "learner")
        self.total = 0

    def update(self, num_steps: int) -> Mapping[str, float]:
        drawn = 0
        for _ in range(num_steps):
            drawn += int(below(self.rng, 1000))
            self.num_steps += 1
        assert isinstance(self.settings, PlantedSettings)
        if self.settings.fails_at is not None and self.num_steps >= self.settings.fails_at:
            raise KeyboardInterrupt
        opponents = self.task.opponents
        assert opponents is not None
        met = opponents.draw(np.arange(self.num_steps, self.num_steps + 50))
        self.total += drawn
        return {
            "charts/return": drawn / num_steps,
            "charts/total": float(self.total),
            "charts/met": float(met.sum()),
            "histograms/drawn": np.arange(3.0),  # type: ignore[dict-item]
        }

    def player(self) -> PlantedPlayer:
        return PlantedPlayer(self.game, total=self.total)

    def state_dict(self) -> State:
        return {"rng": self.rng.copy(), "total": self.total, "num_steps": self.num_steps}

    def load_state_dict(self, state: State) -> None:
        self.rng = state["rng"].copy()
        self.total, self.num_steps = state["total"], state["num_steps"]


class PlantedPlayer(Agent):
    """Plays at random."""

    def __init__(self, game: Game, path: str = "", total: int = 0) -> None:
        super().__init__(game)
        state: dict[str, Any] = load_state(Path(path), game) if path else {"total": total}
        self.total = state["total"]

    def act(self, views: Views) -> Actions:
        return random_actions(views.masks, views.rngs)
