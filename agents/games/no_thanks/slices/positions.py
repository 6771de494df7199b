"""Positions with a given number of cards left, to fill databases with."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import types

from agents.games.no_thanks.rules import takes_below
from envs.core.compiling import compiled
from envs.core.kernels import INT, KERNELS, RULES, STATE, TOTALS
from envs.no_thanks import NoThanks
from envs.no_thanks.kernels import PAY, TAKE, can_pay
from envs.no_thanks.kernels import RULES as RULES_RECORD
from envs.no_thanks.kernels import STATE as STATE_RECORD

__all__ = ["SOURCES", "make_position", "played_position", "random_position"]

SOURCES = ("random", "played")
HIGHEST_THRESHOLD = 20
State = npt.NDArray[np.uint8]


def make_position(game: NoThanks, cards_left: int, source: str, rng: np.random.Generator) -> State:
    """A position from one of the ``SOURCES``."""
    make = random_position if source == "random" else played_position
    return make(game, cards_left, rng)


def random_position(game: NoThanks, cards_left: int, rng: np.random.Generator) -> State:
    """Owners, chips and mover at random; the mover has a chip, as play would have it."""
    o = game.options
    position = game.deal(rng.permutation(o.values).tolist())
    s = game.record(position.state)
    for _ in range(o.deck_size - cards_left):
        s.to_move = rng.integers(o.num_players)
        game.kernels.step(position.state, game.rules, TAKE)
    total = o.num_players * o.starting_chips
    while True:
        cuts = np.sort(rng.integers(0, total + 1, o.num_players - 1))
        chips = np.diff([0, *cuts, total])
        mover = int(rng.integers(o.num_players))
        if chips[mover] > 0:
            break
    s.chips[: o.num_players] = chips
    s.to_move = mover
    return position.state


@compiled(types.void(KERNELS, RULES, STATE, TOTALS, INT))
def _play_on(kernels, rules, state, thresholds, num_taken):
    s = state.view(STATE_RECORD)[0]
    r = rules.view(RULES_RECORD)[0]
    while s.num_taken < num_taken:
        takes = takes_below(s, r, thresholds[s.to_move]) or not can_pay(s, r)
        kernels.step(state, rules, TAKE if takes else PAY)


def played_position(game: NoThanks, cards_left: int, rng: np.random.Generator) -> State:
    """From a game of players who take at thresholds of their own."""
    o = game.options
    state = game.deal(rng.permutation(o.values).tolist()).state
    thresholds = rng.integers(0, HIGHEST_THRESHOLD, o.num_players).astype(np.float64)
    _play_on(game.kernels, game.rules, state, thresholds, o.deck_size - cards_left)
    return state
