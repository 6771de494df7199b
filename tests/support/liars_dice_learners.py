"""Table learners of Liar's Dice and their decisions."""

from __future__ import annotations

from typing import Any

from agents import make_agent
from agents.tabular.player import TabularAgent
from agents.tabular.settings import TabularSettings
from agents.tabular.values import Mind
from envs import make_game
from envs.core import Game, Position
from tests.support.tabular import THESIS
from tests.support.views import views_of

TWO = make_game("liars_dice_v0")
HANDS = "13356", "23346"


def new_mind(rule: str = "sarsa", game: Game = TWO, **settings: Any) -> Mind:
    return Mind(game, rule, TabularSettings.parse({**THESIS, **settings}))


def roulette(mind: Mind, position: Position) -> dict[str, float]:
    """The probabilities of a decision, in words."""
    agent = make_agent(mind.rule, mind.game, **mind.settings.to_dict())
    assert isinstance(agent, TabularAgent)
    agent.mind = mind
    probs = agent.policy(views_of([position]))[0]
    return {mind.game.action_text(None, a): float(p) for a, p in enumerate(probs)}
