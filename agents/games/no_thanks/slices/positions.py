"""Positions with a given number of cards left, to fill databases with."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from envs.no_thanks import NoThanks
from envs.no_thanks.kernels import PAY, TAKE

__all__ = ["SOURCES", "make_position", "played_position", "random_position"]

SOURCES = ("random", "played")
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


def played_position(game: NoThanks, cards_left: int, rng: np.random.Generator) -> State:
    """From a game of players who take at thresholds of their own."""
    o = game.options
    position = game.deal(rng.permutation(o.values).tolist())
    s = game.record(position.state)
    thresholds = rng.integers(0, 20, o.num_players)
    while o.deck_size - s.num_taken > cards_left:
        player, card = int(s.to_move), int(s.deck[s.num_taken])
        runs = {game.value(int(c)) for c in np.flatnonzero(s.owner == player)}
        value = game.value(card)
        cost = (0 if value - 1 in runs else value) - (value + 1 if value + 1 in runs else 0)
        wants = cost - int(s.pot) <= thresholds[player]
        can_pay = PAY in position.legal_actions()
        position.apply(TAKE if wants or not can_pay else PAY)
    return position.state
