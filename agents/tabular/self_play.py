"""Self-play: whole games between table learners and random players, in one compiled call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.tabular.games import Series, make_workspace, play_games
from agents.tabular.model import TabularModel
from envs.core.rng import Words

__all__ = ["GameResults", "Streams", "play_series"]

Indices = npt.NDArray[np.int64]
Streams = tuple[Words, Words]
"""Roots of the generators: of dice and cards, and of the players' choices."""


class GameResults(NamedTuple):
    """Returns and lengths of some games."""

    returns: npt.NDArray[np.float64]
    """[games, players]."""
    lengths: Indices
    """[games] decisions."""


def play_series(
    models: Sequence[TabularModel],
    numbers: Indices,
    seating: Indices,
    opponent_ids: Indices | None,
    streams: Streams,
) -> GameResults:
    """Play games in which one model or two sit, and learn from them if they may.

    Args:
        models: one, or two that play the same game.
        numbers: [n] numbers of the games, from which their chance follows.
        seating: [n, players] the model in each seat, or ``RANDOM``.
        opponent_ids: [n, players] the row of an opponent model that belongs to each player;
            ``None``: all share one.
        streams: roots of all chance.
    """
    game = models[0].game
    num_games, num_players = seating.shape
    needs_keys = any(model.abstraction.needs_infosets for model in models)
    ids = np.zeros_like(seating) if opponent_ids is None else opponent_ids
    series = Series(
        np.ascontiguousarray(numbers, np.int64),
        np.ascontiguousarray(seating, np.int64),
        np.ascontiguousarray(ids, np.int64),
        np.zeros((num_games, num_players)),
        np.zeros(num_games, np.int64),
        *streams,
        np.zeros(game.state_size, np.uint8),
        np.zeros(4, np.uint64),
        np.zeros((num_players, 4), np.uint64),
        np.zeros(num_players if needs_keys else 0, np.uint64),
    )
    has_episode = any(model.has_episode for model in models)
    has_events = any(model.has_events for model in models)
    work = make_workspace(game, 1, has_episode, has_events)
    longest = game.facts.max_length * max(model.entries_per_turn for model in models)
    first = 0
    while first < num_games:
        for model in models:
            model.table.make_room(longest)
        pair = models[0].arrays, models[-1].arrays
        rules = game.kernels, game.optional, game.rules, game.facts.num_openings
        first = play_games(*rules, pair, series, work, first, longest)
    return GameResults(series.returns, series.lengths)
