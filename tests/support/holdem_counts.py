"""Counting all hands by their category, with the compiled evaluator."""

from __future__ import annotations

import numpy as np
from numba import types

from envs.core.compiling import compiled
from envs.core.kernels import INT, RULES
from envs.holdem.evaluator import (
    BEST_STRENGTH,
    CATEGORIES,
    DECK_SIZE,
    EMPTY_KEY,
    MOST_CARDS,
    TABLES,
    card_set,
    hand_strength,
    strength_name,
    tables,
)

__all__ = ["count_categories"]


@compiled(types.void(RULES, INT, types.int64[::1], types.int64[:, ::1]))
def _count_strengths(tables, num_cards, counts, stack):
    """Count the strength of every hand of so many cards; ``stack`` is room for card, key, set."""
    t = tables.view(TABLES)[0]
    depth = 0
    stack[0, 0], stack[0, 1], stack[0, 2] = -1, EMPTY_KEY, 0
    while depth >= 0:
        stack[depth, 0] += 1
        card = stack[depth, 0]
        if card > DECK_SIZE - num_cards + depth:
            depth -= 1
            continue
        key = stack[depth, 1] + t.card_keys[card]
        cards = stack[depth, 2] | card_set(card)
        if depth == num_cards - 1:
            counts[hand_strength(t, key, cards)] += 1
        else:
            depth += 1
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = card, key, cards


def count_categories(num_cards: int) -> dict[str, int]:
    """How many hands of so many cards there are of each category, royal flushes apart.

    >>> count_categories(5)["full house"]
    3744
    """
    counts = np.zeros(BEST_STRENGTH + 1, np.int64)
    _count_strengths(tables(), num_cards, counts, np.zeros((MOST_CARDS, 3), np.int64))
    found = dict.fromkeys((*CATEGORIES, "royal flush"), 0)
    for strength in np.flatnonzero(counts).tolist():
        found[strength_name(strength)] += int(counts[strength])
    return found
