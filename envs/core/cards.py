"""Sets of cards as bits, for games that deal from a deck; for use inside kernels."""

from __future__ import annotations

import numpy as np

from envs.core.compiling import helper

__all__ = ["card_bit", "nth_card_left"]


@helper
def card_bit(card):
    """The card as a set of one, in 64 bits (``1 << card`` would have the 8 of ``card``)."""
    return np.int64(1) << card


@helper
def nth_card_left(taken, n):
    """The ``n``-th card, counted from 0, that is not in the set ``taken``."""
    card = 0
    while True:
        if not (taken >> card) & 1:
            if n == 0:
                return card
            n -= 1
        card += 1
