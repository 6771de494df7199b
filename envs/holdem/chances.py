"""Chances of a hand as part of an observation: functions of the cards alone, without a generator.

An observation must be the same whenever it is made, so samples are drawn from a generator that the
cards themselves seed: equal cards have equal samples.
"""

from __future__ import annotations

import numpy as np

from envs.core.compiling import helper
from envs.core.rng import mix
from envs.holdem.evaluator import DECK_SIZE, EMPTY_KEY, card_set, hand_strength

__all__ = ["NUM_SAMPLES", "fixed_equity", "strength_now"]

NUM_SAMPLES = 100
"""Random ways to go on by which the equity on flop and turn is estimated."""


@helper
def strength_now(t, hole, board, num_board):
    """The share of all other hands that is beaten by the cards on the table, ties as halves."""
    key, cards = np.int64(EMPTY_KEY), np.int64(0)
    for i in range(num_board):
        key += t.card_keys[board[i]]
        cards |= card_set(board[i])
    known = cards | card_set(hole[0]) | card_set(hole[1])
    mine = hand_strength(t, key + t.card_keys[hole[0]] + t.card_keys[hole[1]], known)
    points, count = 0, 0
    for first in range(DECK_SIZE):
        if known & card_set(first):
            continue
        first_key, first_cards = key + t.card_keys[first], cards | card_set(first)
        for second in range(first):
            if known & card_set(second):
                continue
            other = hand_strength(
                t, first_key + t.card_keys[second], first_cards | card_set(second)
            )
            points += 2 * (mine > other) + (mine == other)
            count += 2
    return points / count


@helper
def next_card(word, taken):
    """A card that is not in the set ``taken``, and the generator after it."""
    while True:
        word = mix(word + np.uint64(0x9E3779B97F4A7C15))
        card = np.int64(((word >> np.uint64(32)) * np.uint64(DECK_SIZE)) >> np.uint64(32))
        if not taken & card_set(card):
            return card, word


@helper
def fixed_equity(t, hole, board, num_board):
    """The equity against one random hand, by samples that depend on the cards alone."""
    key, cards = np.int64(EMPTY_KEY), np.int64(0)
    for i in range(num_board):
        key += t.card_keys[board[i]]
        cards |= card_set(board[i])
    own_key = t.card_keys[hole[0]] + t.card_keys[hole[1]]
    own_cards = card_set(hole[0]) | card_set(hole[1])
    word = mix(np.uint64(cards)) ^ np.uint64(own_cards)
    points = 0
    for _ in range(NUM_SAMPLES):
        board_key, board_cards, taken = key, cards, cards | own_cards
        for _ in range(num_board, 5):
            card, word = next_card(word, taken)
            board_key += t.card_keys[card]
            board_cards |= card_set(card)
            taken |= card_set(card)
        first, word = next_card(word, taken)
        second, word = next_card(word, taken | card_set(first))
        mine = hand_strength(t, board_key + own_key, board_cards | own_cards)
        other_key = board_key + t.card_keys[first] + t.card_keys[second]
        other = hand_strength(t, other_key, board_cards | card_set(first) | card_set(second))
        points += 2 * (mine > other) + (mine == other)
    return points / (2 * NUM_SAMPLES)
