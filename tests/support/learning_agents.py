"""Learners whose learning can be counted."""

from __future__ import annotations

from typing import Any

from agents import make_agent
from agents.base import Agent, TimeStep, Views
from envs.core.game import Game


class Notebook(Agent):
    """A random player that writes down everything it is told."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.steps: list[TimeStep] = []
        self._random = make_agent("random", game)

    def begin_learning(self) -> None:
        self.is_learning = True

    def observe(self, step: TimeStep) -> None:
        self.steps.append(step)

    def games(self) -> list[int]:
        """Its games, in the order in which they were played."""
        return list(dict.fromkeys(step.game_id for step in self.steps))

    def act(self, views: Views) -> Any:
        assert len(views) == 1 or not self.is_learning
        return self._random.act(views)


class PassCounter(Notebook):
    """Kuhn poker: bets if those it has met have passed more often than they have bet."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.passes: dict[str, int] = {}
        self.bets: dict[str, int] = {}

    def observe(self, step: TimeStep) -> None:
        if step.is_over:
            s = self.game.record(step.world)
            other = 1 - step.seat
            count = self.bets if s.has_bet[other] else self.passes
            count[step.names[other]] = count.get(step.names[other], 0) + 1

    def act(self, views: Views) -> Any:
        trusts = sum(self.passes.values()) > sum(self.bets.values())
        return [int(trusts) for _ in views.seats]


class Forgetful(Notebook):
    """Fails when it is told something."""

    def observe(self, step: TimeStep) -> None:
        raise RuntimeError("what?")
