"""What a person's decisions have cost, by the word of an agent; ``agents.advice`` asks it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agents.advice import Bar, advise, legal_words, views_of
from agents.base import Agent
from envs.core.position import Position
from play.table import Table

__all__ = ["Verdict", "review"]


@dataclass(frozen=True)
class Verdict:
    """One own decision, and what the adviser says of it."""

    number: int
    """Which decision of the game."""
    words: str
    share: float
    """How often the adviser chooses the same."""
    best: str
    """What it chooses most."""
    best_share: float
    cost: float | None
    """What the move is worth less than the best one, where values are known."""


def review(table: Table, seat: int, agent: Agent) -> Iterator[Verdict]:
    """What ``agent`` says of each decision of ``seat``, from the first to the last.

    The history is what was played, whoever dealt it: a game from a file has a dealer of its own.
    """
    then = Position(table.game, table.number)
    number = -1
    for action in table.history:
        number += not then.is_chance
        if then.turn != seat:
            then.apply(action)
            continue
        views = views_of(then, agent)
        then.apply(action)
        words = legal_words(views)
        if len(words) < 2:
            continue  # there was nothing to decide
        advice = advise(agent, views, words)
        own = advice.bar(action)
        best = max(advice.bars, key=_worth)
        cost = None
        if own is not None and own.value is not None and best.value is not None:
            cost = max(0.0, best.value - own.value)
        yield Verdict(
            number,
            words[action],
            0.0 if own is None else own.share,
            best.words,
            best.share,
            cost,
        )


def _worth(bar: Bar) -> tuple[float, float]:
    return (bar.value if bar.value is not None else bar.share, bar.share)
