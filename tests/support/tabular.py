"""Table learners, and the settings of the published ones."""

from __future__ import annotations

from typing import Any

from agents import LEARNERS
from agents.learning.learner import Task
from agents.tabular.learner import TabularLearner
from agents.tabular.model import TabularSettings
from common.imports import look_up
from envs.core.game import Game

THESIS: dict[str, Any] = {
    "abstraction": "blind",
    "initial": "abstraction",
    "policy": "matching",
    "reward": "rounds",
    "learning_rate": 0.5,
    "discount": 0.5,
    "final_update": False,
    "snapshot": True,
}


def lies(**settings: Any) -> dict[str, Any]:
    """The settings of lie profiling, as in the code unless they say otherwise."""
    return {"opponent_model": {"id": "lies", "reading": "code", **settings}}


def learner(game: Game, rule: str, seed: int = 0, **settings: Any) -> TabularLearner:
    opponents = settings.pop("opponents", None)
    made: TabularLearner = look_up("learner", LEARNERS, rule)(
        Task(game, seed, opponents), TabularSettings.parse(settings)
    )
    return made
