"""The exact evaluator of a game: over its whole tree or, where that is too large, one of its own.

>>> from envs import make_game
>>> make_evaluator(make_game("kuhn_v0")).size_text
'over 58 nodes and 12 information sets (sequence form)'
>>> make_evaluator(make_game("liars_dice_v0")).size_text
'round by round over 25 rounds'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol

from agents.base import Agent
from agents.cfr.evaluator import BestResponseEvaluator, BestResponseResult
from agents.cfr.forms.tree import DEFAULT_MAX_NODES, TooLargeError
from common.errors import MasqueradeError
from common.imports import look_up
from envs.core.game import Game

__all__ = ["EVALUATORS", "ExactEvaluator", "make_evaluator"]

EVALUATORS: Mapping[str, str] = MappingProxyType(
    {"liars_dice_v0": "agents.games.liars_dice.cfr.best_response:RoundEvaluator"}
)
"""Evaluators of single games, by the game's id; they are made with the game, or refuse it."""


class ExactEvaluator(Protocol):
    """Works out best responses to agents of one game."""

    game: Game
    form: str

    @property
    def size_text(self) -> str:
        """What it goes over, in words."""

    def evaluate(
        self,
        agent: Agent,
        num_samples: int,
        seed: int = 0,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> tuple[BestResponseResult, int]:
        """Values and best responses, and how often the agent was asked; 0: it told its policy."""


def make_evaluator(
    game: Game, max_nodes: int = DEFAULT_MAX_NODES, form: str = "auto", num_policies: int = 1
) -> ExactEvaluator:
    """The evaluator of a game; arguments as for :class:`BestResponseEvaluator`.

    Raises:
        TooLargeError: when the tree is too large and the game has no evaluator of its own.
    """
    try:
        return BestResponseEvaluator(game, max_nodes, form, num_policies)
    except TooLargeError as error:
        if game.id not in EVALUATORS or form != "auto":
            raise
        try:
            own: ExactEvaluator = look_up("evaluator", EVALUATORS, game.id)(game)
        except MasqueradeError:  # not for these options
            raise error from None
        return own
