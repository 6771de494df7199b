"""What would an agent do: its policy in positions that nobody has to play up to first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt

from agents.base import Agent, Probs, Views
from envs.core.keys import first_key, fold
from envs.core.position import Position
from envs.core.rng import Words, fill_streams, new_rng, stream

__all__ = ["policy_at", "views_at"]

ASKS = 20


def views_at(positions: Sequence[Position], num_past: int = 0, seed: int = 0) -> Views:
    """What the players to move in these positions of one game know.

    Args:
        positions: somebody is to move in each.
        num_past: earlier observations of the same seat that the views are to have.
        seed: of the worlds and of the generators in the views.
    """
    game, rng = positions[0].game, new_rng(seed)
    seats = np.array([position.turn for position in positions], np.int64)
    rngs = np.empty((len(positions), 4), np.uint64)
    _seed(rngs, seed, 0)
    tokens = [position.tokens(position.turn) for position in positions]
    longest = max(len(seen) for seen in tokens)
    return Views(
        game,
        seats,
        np.array([_fold(*each) for each in zip(seats.tolist(), tokens, strict=True)], np.uint64),
        rngs,
        np.stack([position.determinized(position.turn, rng) for position in positions]),
        np.arange(len(positions)).astype(np.uint64),
        np.array([seen + [0] * (longest - len(seen)) for seen in tokens], np.int64),
        np.stack([_past(position, num_past) for position in positions]),
    )


def _fold(seat: int, tokens: Sequence[int]) -> int:
    """The key of an information set, from what its player has seen."""
    return int(reduce(fold, tokens, first_key(seat)))


def _past(position: Position, count: int) -> npt.NDArray[np.float32]:
    """What the player to move has observed at its last decisions; zeros before the first."""
    seen = np.zeros((count, position.game.observation_size), np.float32)
    if count:
        walk, shown = position.game.new_position(position.number), []
        for action in position.history:
            if walk.turn == position.turn:
                shown.append(walk.observation(position.turn))
            walk.apply(action)
        for back, observation in enumerate(reversed(shown[-count:])):
            seen[count - 1 - back] = observation
    return seen


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
