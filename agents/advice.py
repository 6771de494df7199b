"""What an agent would do in somebody's place, and what it expects of every move.

An adviser is asked with the views of the seat, as if it sat there, so it knows what the person
knows. A search tells how it divided its attention and what each action is worth; an agent that
knows how likely it is to choose each action says so; whoever tells neither is asked many times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from agents.base import Agent, RowsFailed, Views
from common.errors import MasqueradeError
from envs.core.position import Position
from envs.core.rng import new_rng

__all__ = ["PLACES", "Advice", "Analysis", "Bar", "advise", "legal_words", "views_of"]

NUM_SAMPLES = 48
"""How often an agent is asked that does not tell its policy."""
PLACES = "places above the middle"
"""The unit of values where players want places."""
Floats = npt.NDArray[np.float64]


class AnyAnalysis(Protocol):
    """What an agent's ``analyse(views)`` returns for every row."""

    @property
    def actions(self) -> npt.NDArray[np.int64]:
        """[k] the legal actions."""

    @property
    def shares(self) -> Floats:
        """[k] how the search divided its attention, or its vote, among them."""

    @property
    def values(self) -> Floats:
        """[k] what each is worth to the seat; NaN: not known.

        In returns of the game, or in what an attribute ``unit`` names.
        """

    @property
    def variation(self) -> Sequence[int]:
        """The moves that are expected, from the best one on."""


@dataclass(frozen=True)
class Analysis:
    """One decision, searched."""

    actions: npt.NDArray[np.int64]
    shares: Floats
    values: Floats
    variation: tuple[int, ...] = ()
    unit: str = ""
    """Of the values, if they are no returns of the game."""


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
    """``search``: how it divided its attention; ``policy``: how likely it is to choose each;
    ``samples``: how often it chose each when it was asked many times; ``choice``: what it
    chooses."""
    bars: list[Bar]
    """The likeliest first; what is never chosen and has no value is left out."""
    unit: str = ""
    """Of the values."""
    variation: tuple[int, ...] = ()
    """The moves that a search expects, from the best one on."""

    def to_dict(self) -> dict[str, Any]:
        """Plain types."""
        return asdict(self)

    def bar(self, action: int) -> Bar | None:
        """What is said of an action."""
        return next((bar for bar in self.bars if bar.action == action), None)


def advise(agent: Agent, views: Views, words: dict[int, str] | None = None) -> Advice:
    """Ask an agent about the only row of ``views``; ``words`` are the legal actions.

    >>> from agents import make_agent
    >>> from envs import make_game
    >>> game = make_game("no_thanks_v0", highest=6, removed=1, chips=3, known_future=True)
    >>> agent = make_agent("max_n", game)
    >>> found = advise(agent, views_of(game.deal([3, 6, 4]), agent))
    >>> found.source, found.bars[0].words
    ('search', 'take')
    """
    words = legal_words(views) if words is None else words
    analyse = getattr(agent, "analyse", None)
    if analyse is not None:
        found: AnyAnalysis = analyse(views)[0]
        return _from_analysis(found, words, views)
    probs = agent.policy(views)
    if probs is not None:
        return Advice("policy", _bars(np.asarray(probs[0], np.float64), None, words))
    if agent.is_deterministic:
        return Advice("choice", _bars(_shares(agent, views, 1), None, words))
    return Advice("samples", _bars(_shares(agent, views, NUM_SAMPLES), None, words))


def legal_words(views: Views, row: int = 0) -> dict[int, str]:
    """The legal actions of a row in words, from a world that its seat cannot tell from the truth.

    Asking takes nothing from the generators of the rows.
    """
    asked = views.part(np.array([row]))
    world = asked.worlds()[0]
    legal = np.flatnonzero(asked.masks[0])
    return {int(action): views.game.action_text(world, int(action)) for action in legal}


def views_of(position: Position, agent: Agent | None = None, seed: int = 0) -> Views:
    """What the player to move in a position may know; ``agent`` says if it wants more than usual.

    >>> from envs import make_game
    >>> len(views_of(make_game("no_thanks_v0").deal([20, 21])))
    1
    """
    if position.turn < 0:
        raise MasqueradeError("nobody is to move in this position: there is nothing to advise")
    seat, game = position.turn, position.game
    past = None
    if agent is not None and agent.num_past:
        past = _past_observations(position, agent.num_past)
    tokens = np.array([position.tokens(seat)], np.int64)
    return Views(
        game,
        seats=np.array([seat]),
        keys=np.array([position.key(seat)], np.uint64),
        rngs=new_rng(seed)[None].copy(),
        worlds=position.determinized(seat, new_rng(seed + 1))[None],
        game_ids=np.zeros(1, np.uint64),
        tokens=tokens if agent is not None and agent.wants_tokens else None,
        past=past,
    )


def _past_observations(position: Position, count: int) -> npt.NDArray[np.float32]:
    """[1, count, size]: what the player to move observed at earlier decisions, zeros before."""
    game, seat = position.game, position.turn
    found = np.zeros((1, count, game.observation_size), np.float32)
    then = game.new_position(position.number)
    seen = []
    for action in position.history:
        if then.turn == seat:
            seen.append(then.observation(seat))
        then.apply(action)
    for back, observation in enumerate(seen[::-1][:count], start=1):
        found[0, count - back] = observation
    return found


def _from_analysis(found: AnyAnalysis, words: dict[int, str], views: Views) -> Advice:
    facts = views.game.facts
    shares, values = np.zeros(facts.num_actions), np.full(facts.num_actions, np.nan)
    shares[found.actions] = found.shares
    unit = getattr(found, "unit", "")
    values[found.actions] = np.asarray(found.values) * (1.0 if unit else facts.unit.scale)
    bars = _bars(shares, values, words)
    return Advice("search", bars, unit or facts.unit.name, tuple(int(a) for a in found.variation))


def _shares(agent: Agent, views: Views, count: int) -> Floats:
    """How often an agent chooses each action, asked with other generators each time."""
    asked = views.part(np.zeros(count, np.int64))
    for row in range(count):
        asked.rngs[row] = new_rng(row)
    try:
        actions = np.asarray(agent.act(asked))
    except RowsFailed as failure:
        raise MasqueradeError(str(next(iter(failure.reasons.values())))) from failure
    return np.bincount(actions, minlength=views.game.facts.num_actions) / count


def _bars(shares: Floats, values: Floats | None, words: dict[int, str]) -> list[Bar]:
    bars = []
    for action, text in words.items():
        value = None if values is None or np.isnan(values[action]) else float(values[action])
        if shares[action] > 0 or value is not None:
            bars.append(Bar(action, text, float(shares[action]), value))
    return sorted(bars, key=lambda bar: (-bar.share, -(bar.value or 0.0), bar.action))
