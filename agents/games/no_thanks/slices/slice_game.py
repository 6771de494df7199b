"""A segment of the game as a game of its own: it ends at a boundary and pays what is expected.

The database of the boundary lies behind the options in ``rules``, so that search needs to know
nothing about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.slices.features import (
    CATEGORIES,
    NUM_CATEGORIES,
    NUM_FEATURES,
    features_of,
)
from envs.core.compiling import helper, kernel
from envs.core.kernels import OVER, RETURNS, TURN, Kernels
from envs.no_thanks import NoThanks
from envs.no_thanks import kernels as base
from envs.no_thanks.kernels import RULES, STATE, score_of

__all__ = ["SliceGame", "nearest"]

HEAD = len(RULES.names or ())
STOP, NUM_ROWS, FIRST_WEIGHT = HEAD, HEAD + 1, HEAD + 2
FIRST_ROW = FIRST_WEIGHT + NUM_CATEGORIES
ROW = NUM_FEATURES + 3
"""A row is the features of a position and what each player will still gain, from the mover on."""
WEIGHT_SCALE = 1000
CATEGORY_OF = np.array(CATEGORIES, np.int64)


@helper
def nearest(rules, found):
    """The row whose weighted features are nearest to ``found``; the first of equals."""
    best = 0
    best_distance = np.inf
    for row in range(rules[NUM_ROWS]):
        at = FIRST_ROW + ROW * row
        distance = 0.0
        for k in range(NUM_FEATURES):
            weight = rules[FIRST_WEIGHT + CATEGORY_OF[k]] / WEIGHT_SCALE
            distance += (weight * (rules[at + k] - found[k])) ** 2
            if distance >= best_distance:
                break
        if distance < best_distance:
            best_distance = distance
            best = row
    return best


@kernel(TURN)
def turn(state, rules):
    s = state.view(STATE)[0]
    return OVER if s.num_taken >= rules[STOP] else s.to_move


@kernel(RETURNS)
def returns(state, rules, out):
    s = state.view(STATE)[0]
    r = rules[:HEAD].view(RULES)[0]
    for player in range(3):
        out[player] = 0.0
    if s.num_taken < rules[STOP]:
        return
    row = nearest(rules, features_of(s, r))
    at = FIRST_ROW + ROW * row + NUM_FEATURES
    for ahead in range(3):
        player = s.to_move + ahead if s.to_move + ahead < 3 else s.to_move + ahead - 3
        out[player] = score_of(s, player) + rules[at + ahead]


class SliceGame(NoThanks):
    """No Thanks! until so many cards are left."""

    kernels = Kernels(
        new=base.new,
        turn=turn,
        legal=base.legal,
        chance=base.chance,
        sample=base.sample,
        step=base.step,
        seen=base.seen,
        returns=returns,
        observe=base.observe,
        determinize=base.determinize,
    )

    def __init__(
        self,
        game: NoThanks,
        cards_left: int,
        rows: npt.NDArray[np.int32],
        weights: Sequence[float],
    ) -> None:
        """End ``game`` when ``cards_left`` cards are left, with ``rows`` [N, 15] to be paid."""
        super().__init__(**game.options.to_dict())
        stop = self.options.deck_size - cards_left
        head = [stop, len(rows), *(round(WEIGHT_SCALE * weight) for weight in weights)]
        tail = np.concatenate([np.array(head, np.int32), rows.ravel()])
        # Kernels read the rules as records: whole ones.
        padding = np.zeros(-(len(self.rules) + len(tail)) % HEAD, np.int32)
        rules: Any = np.concatenate([self.rules, tail, padding]).astype(np.int32)
        rules.setflags(write=False)
        self.rules = rules
