"""What an agent would do in a person's place, and what a person's decisions have cost.

An adviser is asked with the views of the seat, as if it sat there: it knows what the person knows.
Agents that say how likely each action is are believed; a search tells its shares and values;
whoever tells neither is asked many times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agents.base import Agent, RowsFailed, Views
from envs.core.errors import MasqueradeError
from envs.core.game import Game
from envs.core.rng import new_rng
from play.table import Table

__all__ = ["Advice", "Bar", "Verdict", "advise", "review"]

# How often an agent is asked that does not tell its policy.
NUM_SAMPLES = 48


@dataclass(frozen=True)
class Bar:
    """An action with how likely it is and, if known, what it is worth."""

    action: int
    words: str
    share: float
    value: float | None = None


@dataclass(frozen=True)
class Advice:
    """What an agent would do."""

    source: str
    """``policy``: how likely it is to choose each; ``search``: shares of its visits; ``samples``:
    how often it chose each when it was asked many times; ``choice``: what it chooses."""
    bars: list[Bar]
    """The likeliest first; what is never chosen and has no value is left out."""
    unit: str = ""
    """Of the values."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)

    def bar(self, action: int) -> Bar | None:
        """What is said of an action."""
        return next((bar for bar in self.bars if bar.action == action), None)


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


def advise(agent: Agent, views: Views, words: dict[int, str]) -> Advice:
    """Ask an agent about the only row of ``views``; ``words`` are the legal actions."""
    analyse = getattr(agent, "analyse", None)
    if analyse is not None:
        found = analyse(views)
        if found is not None:
            return _from_analysis(found, words, agent.game)
    probs = agent.policy(views)
    if probs is not None:
        return Advice("policy", _bars(np.asarray(probs[0], float), None, words))
    if agent.is_deterministic:
        shares = _shares(agent, views, 1)
        return Advice("choice", _bars(shares, None, words))
    return Advice("samples", _bars(_shares(agent, views, NUM_SAMPLES), None, words))


def _from_analysis(found: Any, words: dict[int, str], game: Game) -> Advice:
    """Shares of visits and values that a search tells."""
    unit = game.facts.unit
    shares = np.asarray(found.shares[0], float)
    values = None if found.values is None else np.asarray(found.values[0], float) * unit.scale
    return Advice("search", _bars(shares, values, words), unit.name)


def _shares(agent: Agent, views: Views, count: int) -> Any:
    """How often an agent chooses each action, asked with other generators each time."""
    asked = views.part(np.zeros(count, np.int64))
    for row in range(count):
        asked.rngs[row] = new_rng(row)
    try:
        actions = np.asarray(agent.act(asked))
    except RowsFailed as failure:
        raise MasqueradeError(str(next(iter(failure.reasons.values())))) from failure
    return np.bincount(actions, minlength=views.game.facts.num_actions) / count


def _bars(shares: Any, values: Any, words: dict[int, str]) -> list[Bar]:
    bars = []
    for action, text in words.items():
        value = None if values is None or np.isnan(values[action]) else float(values[action])
        if shares[action] > 0 or value is not None:
            bars.append(Bar(action, text, float(shares[action]), value))
    return sorted(bars, key=lambda bar: (-bar.share, -(bar.value or 0.0), bar.action))


# ---- reviews -------------------------------------------------------------------------------------


def review(table: Table, seat: int, agent: Agent) -> Iterator[Verdict]:
    """What ``agent`` says of each decision of ``seat``, from the first to the last."""
    for number, decision in enumerate(table.decisions):
        if decision.seat != seat:
            continue
        then = table.at(number)
        views = then.views()
        words = legal_words(then)
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


def legal_words(table: Table) -> dict[int, str]:
    """The legal actions of the seat to move in words, from a world of its own."""
    game, seat = table.game, table.turn
    world = table.world(seat)
    mask = np.zeros(game.mask_size, np.int8)
    game.kernels.legal(world, game.rules, mask)
    return {int(a): game.action_text(world, int(a)) for a in np.flatnonzero(mask)}
