"""Table learners of Liar's Dice and their decisions."""

from __future__ import annotations

from typing import Any

from agents import make_agent
from agents.tabular.learner import TabularAgent
from agents.tabular.model import TabularModel, TabularSettings
from envs import make_game
from envs.core.game import Game
from envs.core.position import Position
from tests.support.tabular import THESIS
from tests.support.views import views_of

TWO = make_game("liars_dice_v0")
HANDS = "13356", "23346"


def new_model(rule: str = "sarsa", game: Game = TWO, **settings: Any) -> TabularModel:
    return TabularModel(game, rule, TabularSettings.parse({**THESIS, **settings}))


def roulette(model: TabularModel, position: Position) -> dict[str, float]:
    """The probabilities of a decision, in words."""
    agent = make_agent(model.rule, model.game, **model.settings.to_dict())
    assert isinstance(agent, TabularAgent)
    agent.model = model
    probs = agent.policy(views_of([position]))[0]
    return {model.game.action_text(None, a): float(p) for a, p in enumerate(probs)}
