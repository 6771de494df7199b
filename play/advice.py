"""What a person's decisions have cost, by the word of an agent; ``agents.advice`` asks it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from agents.advice import Bar, advise
from agents.base import Agent
from envs.core.game import Game
from play.seeing import State
from play.table import Table

__all__ = ["Verdict", "legal_words", "review"]


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
    """What ``agent`` says of each decision of ``seat``, from the first to the last."""
    for number, decision in enumerate(table.decisions):
        if decision.seat != seat:
            continue
        then = table.at(number)
        views = then.views()
        words = legal_words(then.game, then.world(seat))
        if len(words) < 2:
            continue  # there was nothing to decide
        advice = advise(agent, views, words)
        own = advice.bar(decision.action)
        best = max(advice.bars, key=_worth)
        cost = None
        if own is not None and own.value is not None and best.value is not None:
            cost = max(0.0, best.value - own.value)
        yield Verdict(
            number,
            words[decision.action],
            0.0 if own is None else own.share,
            best.words,
            best.share,
            cost,
        )


def _worth(bar: Bar) -> tuple[float, float]:
    return (bar.value if bar.value is not None else bar.share, bar.share)


def legal_words(game: Game, world: State) -> dict[int, str]:
    """The legal actions of the seat to move in words, from a world of its own."""
    mask = np.zeros(game.mask_size, np.int8)
    game.kernels.legal(world, game.rules, mask)
    return {int(a): game.action_text(world, int(a)) for a in np.flatnonzero(mask)}
