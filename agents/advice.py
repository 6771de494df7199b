"""What an agent would do in somebody's place, and what it expects of every move.

An adviser is asked with the views of the seat, as if it sat there, so it knows what the person
knows. A search tells how it divided its attention and what each action is worth; an agent that
knows how likely it is to choose each action says so; whoever tells neither is asked many times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Agent, Probs, RowsFailed, Views
from common.errors import MasqueradeError
from envs.core.position import Position
from envs.core.rng import Words, fill_streams, new_rng, stream

NUM_SAMPLES = 48
"""How often an agent is asked for advice that does not tell its policy."""
ASKS = 20
"""The same in each of many positions."""
PLACES = "places above the middle"
"""The unit of values where players want places."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Analysis:
    """What an agent's ``analyse(views)`` returns for every row: this, or what has these fields."""

    actions: npt.NDArray[np.int64]
    """[k] the legal actions."""
    shares: Floats
    """[k] how the search divided its attention, or its vote, among them."""
    values: Floats
    """[k] what each is worth to the seat; NaN: not known."""
    variation: tuple[int, ...] = ()
    """The moves that are expected, from the best one on."""
    unit: str = ""
    """Of the values, if they are not returns of the game."""


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
        return _from_analysis(analyse(views)[0], words, views)
    probs = agent.policy(views)
    if probs is not None:
        return Advice("policy", _bars(np.asarray(probs[0], np.float64), None, words))
    if agent.is_deterministic:
        return Advice("choice", _bars(_shares(agent, views, 1), None, words))
    return Advice("samples", _bars(_shares(agent, views, NUM_SAMPLES), None, words))


def legal_words(views: Views) -> dict[int, str]:
    """The legal actions of the first row in words.

    They are told from a world that its seat cannot tell from the truth, and asking takes nothing
    from the generators of the rows.
    """
    asked = views.part(np.array([0]))
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
    worlds = position.determinized(position.turn, new_rng(seed + 1))[None]
    wants_tokens, num_past = (agent.wants_tokens, agent.num_past) if agent else (False, 0)
    return make_views([position], worlds, new_rng(seed)[None].copy(), wants_tokens, num_past)


def views_at(positions: Sequence[Position], num_past: int = 0, seed: int = 0) -> Views:
    """What the players to move in these positions of one game know, with their tokens.

    Args:
        positions: somebody is to move in each.
        num_past: earlier observations of the same seat that the views are to have.
        seed: of the worlds and of the generators in the views.
    """
    rng, rngs = new_rng(seed), np.empty((len(positions), 4), np.uint64)
    _seed(rngs, seed, 0)
    worlds = np.stack([position.determinized(position.turn, rng) for position in positions])
    return make_views(positions, worlds, rngs, True, num_past)


def make_views(
    positions: Sequence[Position],
    worlds: npt.NDArray[np.uint8],
    rngs: Words,
    wants_tokens: bool,
    num_past: int,
) -> Views:
    """Views of the players to move, each of whom has a world and a generator.

    Args:
        positions: of one game; somebody is to move in each.
        worlds: [n, state_size] one that the player cannot tell from the true one, for each.
        rngs: [n, 4] their generators.
        wants_tokens: whether the views are to have what the players have seen.
        num_past: how many earlier observations they are to have.
    """
    tokens = [position.tokens(position.turn) for position in positions]
    longest = max(map(len, tokens))
    padded = np.array([own + [0] * (longest - len(own)) for own in tokens], np.int64)
    return Views(
        positions[0].game,
        np.array([position.turn for position in positions], np.int64),
        np.array([position.key(position.turn) for position in positions], np.uint64),
        rngs,
        worlds,
        np.arange(len(positions)).astype(np.uint64),
        padded if wants_tokens else None,
        np.stack([past_observations(position, num_past) for position in positions]),
    )


def past_observations(position: Position, count: int) -> npt.NDArray[np.float32]:
    """[count, size] what the player to move observed at its last decisions, zeros before them."""
    then, seat, seen = position.game.new_position(position.number), position.turn, []
    for action in position.history if count else ():
        if then.turn == seat:
            seen.append(then.observation(seat))
        then.apply(action)
    past = np.zeros((count, position.game.observation_size), np.float32)
    for back, observation in enumerate(reversed(seen[-count:]), 1):
        past[-back] = observation
    return past


def _from_analysis(found: Any, words: dict[int, str], views: Views) -> Advice:
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


def policy_at(agent: Agent, positions: Sequence[Position], seed: int = 0) -> Probs:
    """[n, num_actions] how likely an agent is to choose each action.

    An agent that cannot tell is asked several times, unless it always does the same.

    >>> from agents import make_agent
    >>> from envs import make_game
    >>> game = make_game("kuhn_v0")
    >>> policy_at(make_agent("random", game), [game.replay([2, 0])]).tolist()
    [[0.5, 0.5]]
    """
    views = views_at(positions, agent.num_past, seed)
    probs = agent.policy(views)
    if probs is not None:
        return probs
    counts = np.zeros((len(positions), agent.game.facts.num_actions))
    num_asks = 1 if agent.is_deterministic else ASKS
    for number in range(num_asks):
        _seed(views.rngs, seed, number)
        counts[np.arange(len(positions)), agent.act(views)] += 1.0
    return counts / num_asks


def _seed(rngs: Words, seed: int, number: int) -> None:
    fill_streams(stream(seed, "asking", number), np.arange(len(rngs)), rngs)
