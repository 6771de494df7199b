"""Whole games between table learners and random players, in one compiled call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.tabular.games import Series, make_desk, play_series
from agents.tabular.values import Mind
from envs.core.rng import Words

__all__ = ["Played", "Streams", "play_together"]

Indices = npt.NDArray[np.int64]
Streams = tuple[Words, Words]
"""Roots of the generators: of dice and cards, and of the players' choices."""


class Played(NamedTuple):
    """What came of some games."""

    returns: npt.NDArray[np.float64]
    """[games, players]."""
    lengths: Indices
    """[games] decisions."""


def play_together(
    minds: Sequence[Mind],
    numbers: Indices,
    seating: Indices,
    who: Indices | None,
    streams: Streams,
) -> Played:
    """Play games in which one mind or two sit, and learn from them if they may.

    Args:
        minds: one, or two that play the same game.
        numbers: [n] numbers of the games, from which their chance follows.
        seating: [n, players] the mind in each seat, or ``RANDOM``.
        who: [n, players] as whom memories know each player; ``None``: all alike.
        streams: roots of all chance.
    """
    game = minds[0].game
    num_games, num_players = seating.shape
    needs_keys = any(mind.coding.needs_infosets for mind in minds)
    series = Series(
        np.ascontiguousarray(numbers, np.int64),
        np.ascontiguousarray(seating, np.int64),
        np.ascontiguousarray(np.zeros_like(seating) if who is None else who, np.int64),
        np.zeros((num_games, num_players)),
        np.zeros(num_games, np.int64),
        *streams,
        np.zeros(game.state_size, np.uint8),
        np.zeros(4, np.uint64),
        np.zeros((num_players, 4), np.uint64),
        np.zeros(num_players if needs_keys else 0, np.uint64),
    )
    has_trail = any(mind.has_trail for mind in minds)
    has_events = any(mind.has_events for mind in minds)
    desk = make_desk(game, 1, has_trail, has_events)
    longest = game.facts.max_length * max(mind.entries_per_turn for mind in minds)
    first = 0
    while first < num_games:
        for mind in minds:
            mind.table.make_room(longest)
        pair = minds[0].arrays, minds[-1].arrays
        first = play_series(
            game.kernels,
            game.optional,
            game.rules,
            game.facts.num_openings,
            pair,
            series,
            desk,
            first,
            longest,
        )
    return Played(series.returns, series.lengths)
