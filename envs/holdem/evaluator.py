"""How strong a hand of five, six or seven cards is: two look-ups, or one for a flush.

A card is ``4 * rank + suit``: ranks 0 (deuce) to 12 (ace), suits spade, heart, club, diamond. A
hand is two numbers that cards are added to one by one:

* ``key``, a sum of three parts: 16 bits tell apart the cards up to the eight, 16 bits those above
  it (no two hands have the same sum of ``PART_KEYS``), and above them every suit counts its
  cards, from 3, so that the highest of its four bits is set from the fifth card on;
* ``cards``, a set of bits, 16 for each suit, which is read for a flush only.

The strength is 1 (seven-five high) to 7462 (royal flush); equal strengths share the pot. A flush is
looked up by the ranks of its suit. For the others the low cards have a number and the high cards
have a row: low hands are numbered by how many cards they have, so the low hands that make five to
seven cards with given high cards are neighbours, rows have no gaps, and the whole table of 73,775
hands takes 148 kB. All tables are made by :func:`tables` in a fraction of a second.

>>> hands = parse_hands(["As Ks Qs Js Ts 2h 2c", "Ah 2c 3d 4s 5h Kc Kd", "Kh 2c 3d 4s 5h 7c 8d"])
>>> [strength_name(int(strength)) for strength in evaluate(hands)]
['royal flush', 'straight', 'high card']
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from common.errors import MasqueradeError
from envs.core.compiling import compiled, helper
from envs.core.kernels import INT, RULES
from envs.core.records import record

NUM_RANKS, NUM_SUITS, DECK_SIZE = 13, 4, 52
RANK_NAMES, SUIT_NAMES = "23456789TJQKA", "shcd"
FEWEST_CARDS, MOST_CARDS = 5, 7

# Found by taking, again and again, the smallest number that keeps all sums apart.
PART_KEYS = (1, 5, 24, 112, 521, 2247, 9244)
NUM_LOW = len(PART_KEYS)  # ranks of the low part; the high part has one fewer
HIGH_SHIFT = 16
PART_BITS = (1 << HIGH_SHIFT) - 1
RANK_KEYS = (*PART_KEYS, *(key << HIGH_SHIFT for key in PART_KEYS[: NUM_RANKS - NUM_LOW]))
SUIT_SHIFT = 32  # where the four counts of suits begin, four bits each
EMPTY_KEY = 0x3333 << SUIT_SHIFT
FLUSH_BITS = 0x8888 << SUIT_SHIFT
NUM_LOW_SUMS = 4 * PART_KEYS[6] + 3 * PART_KEYS[5] + 1
NUM_HIGH_SUMS = 4 * PART_KEYS[5] + 3 * PART_KEYS[4] + 1
MOST_HANDS = 76155  # of up to seven cards, by their ranks
NUM_HANDS = 73775  # those of five to seven
NUM_RANK_SETS = 1 << NUM_RANKS

TABLE_FIELDS: dict[str, Any] = {
    "card_keys": (np.int64, (DECK_SIZE,)),
    "high_starts": (np.int32, (NUM_HIGH_SUMS,)),
    "low_numbers": (np.int16, (NUM_LOW_SUMS + NUM_LOW_SUMS % 2,)),
    "rank_strengths": (np.int16, (NUM_HANDS + NUM_HANDS % 2,)),
    "flush_strengths": (np.int16, (NUM_RANK_SETS,)),
}
"""Fields that :func:`hand_strength` reads; a game that deals cards has them in its rules."""
TABLES = record(**TABLE_FIELDS)

CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
HIGH_CARD, PAIR, TWO_PAIR, THREE, STRAIGHT, FLUSH, FULL_HOUSE, FOUR, STRAIGHT_FLUSH = range(9)
# How many of the 7462 strengths each category has.
CATEGORY_SIZES = (1277, 2860, 858, 858, 10, 1277, 156, 156, 10)
CATEGORY_ENDS = tuple(int(end) for end in np.cumsum(CATEGORY_SIZES))
BEST_STRENGTH = CATEGORY_ENDS[-1]

# ---- looking up ----------------------------------------------------------------------------------


@helper
def card_set(card):
    """The card as a set of one: bit ``16 * suit + rank``."""
    return np.int64(1) << ((np.int64(card) & 3) * 16 + (np.int64(card) >> 2))


@helper
def key_and_set(t, cards, count, key):
    """The key, counted on from ``key``, and the set of the first ``count`` cards."""
    found = np.int64(0)
    for i in range(count):
        key += t.card_keys[cards[i]]
        found |= card_set(cards[i])
    return key, found


@helper
def hand_strength(t, key, cards):
    """The strength of a hand, 1 to 7462; ``t`` is any record with ``TABLE_FIELDS``."""
    if key & FLUSH_BITS:
        for suit in range(NUM_SUITS):
            if key & (np.int64(8) << (SUIT_SHIFT + 4 * suit)):
                return np.int64(t.flush_strengths[(cards >> (16 * suit)) & (NUM_RANK_SETS - 1)])
    row = t.high_starts[(key >> HIGH_SHIFT) & PART_BITS]
    return np.int64(t.rank_strengths[row + t.low_numbers[key & PART_BITS]])


@compiled(types.void(RULES, types.int8[:, ::1], types.int16[::1]))
def _evaluate(tables, hands, out):
    t = tables.view(TABLES)[0]
    for i in range(hands.shape[0]):
        key, cards = np.int64(EMPTY_KEY), np.int64(0)
        for j in range(hands.shape[1]):
            key += t.card_keys[np.uint8(hands[i, j])]  # no index from the end, so no test for one
        if key & FLUSH_BITS:  # else nobody asks which cards they are
            for j in range(hands.shape[1]):
                cards |= card_set(hands[i, j])
        out[i] = hand_strength(t, key, cards)


def evaluate(hands: npt.ArrayLike) -> npt.NDArray[np.int16]:
    """The strength of every row of cards: [n, 5 to 7] -> [n] int16, higher is better."""
    rows = np.ascontiguousarray(hands, np.int8)
    if rows.ndim != 2 or not FEWEST_CARDS <= rows.shape[1] <= MOST_CARDS:
        raise MasqueradeError(f"hands must be [n, 5 to 7] card numbers, not {rows.shape}")
    if rows.size and not (rows.min() >= 0 and rows.max() < DECK_SIZE):
        raise MasqueradeError(f"cards are numbers from 0 to {DECK_SIZE - 1}: see parse_card")
    out = np.empty(len(rows), np.int16)
    _evaluate(tables(), rows, out)
    return out


# ---- making the tables ---------------------------------------------------------------------------


@helper
def straight_top(ranks):
    """The highest rank of the best straight in a set of ranks, or -1; the ace is low as well."""
    with_low_ace = (ranks << 1) | ((ranks >> 12) & 1)
    for top in range(NUM_RANKS - 1, 2, -1):
        if (with_low_ace >> (top - 3)) & 31 == 31:
            return top
    return -1


@helper
def top_ranks(ranks, count):
    """The highest ``count`` ranks of a set, as digits to base 13, the highest first."""
    value = 0
    for rank in range(NUM_RANKS - 1, -1, -1):
        if count > 0 and (ranks >> rank) & 1:
            value = value * NUM_RANKS + rank
            count -= 1
    return value


@helper
def worth(category, high, num_kickers, kickers):
    """One number by which hands are ordered: category, then main ranks, then kickers."""
    return (category * NUM_RANKS**2 + high) * NUM_RANKS**5 + kickers * NUM_RANKS ** (
        5 - num_kickers
    )


@helper
def worth_of_ranks(counts):
    """The worth of so many cards of each rank, were there no flush."""
    ones = twos = threes = fours = 0  # ranks of which there are at least so many
    for rank in range(counts.size):
        ones |= (counts[rank] >= 1) << rank
        twos |= (counts[rank] >= 2) << rank
        threes |= (counts[rank] >= 3) << rank
        fours |= (counts[rank] >= 4) << rank
    if fours:
        four = top_ranks(fours, 1)
        return worth(FOUR, four, 1, top_ranks(ones & ~(1 << four), 1))
    three = top_ranks(threes, 1) if threes else -1
    if three >= 0 and twos & ~(1 << three):
        pair = top_ranks(twos & ~(1 << three), 1)
        return worth(FULL_HOUSE, three * NUM_RANKS + pair, 0, 0)
    top = straight_top(ones)
    if top >= 0:
        return worth(STRAIGHT, top, 0, 0)
    if three >= 0:
        return worth(THREE, three, 2, top_ranks(ones & ~(1 << three), 2))
    if twos:
        first = top_ranks(twos, 1)
        if twos & ~(1 << first):
            second = top_ranks(twos & ~(1 << first), 1)
            rest = ones & ~(1 << first) & ~(1 << second)
            return worth(TWO_PAIR, first * NUM_RANKS + second, 1, top_ranks(rest, 1))
        return worth(PAIR, first, 3, top_ranks(ones & ~(1 << first), 3))
    return worth(HIGH_CARD, 0, 5, top_ranks(ones, 5))


@helper
def next_counts(counts):
    """Go on to the next way to have up to seven cards, four of a rank; -1 after the last."""
    total = 0
    for rank in range(counts.size):
        total += counts[rank]
    for rank in range(counts.size):
        if counts[rank] < NUM_SUITS and total < MOST_CARDS:
            counts[rank] += 1
            return total + 1
        total -= counts[rank]
        counts[rank] = 0
    return -1


@compiled(INT(types.int64[::1], types.int64[:, ::1]))
def _list_hands(counts, hands):
    """Write size, key and worth of all hands without a flush that have so many ranks."""
    num_hands, size = 0, 0
    while size >= 0:
        hands[num_hands, 0] = size
        hands[num_hands, 1] = 0
        for rank in range(counts.size):
            hands[num_hands, 1] += counts[rank] * RANK_KEYS[rank]
        hands[num_hands, 2] = worth_of_ranks(counts)
        num_hands += 1
        size = next_counts(counts)
    return num_hands


@compiled(types.void(types.int64[::1], types.int64[::1]))
def _list_flushes(sizes, worths):
    """Write size and worth of every set of ranks of one suit; 0 for fewer than five."""
    for ranks in range(NUM_RANK_SETS):
        size = 0
        for rank in range(NUM_RANKS):
            size += (ranks >> rank) & 1
        sizes[ranks] = size
        if size >= FEWEST_CARDS:
            top = straight_top(ranks)
            worths[ranks] = (
                worth(STRAIGHT_FLUSH, top, 0, 0)
                if top >= 0
                else worth(FLUSH, 0, 5, top_ranks(ranks, 5))
            )


def _hands(num_ranks: int) -> npt.NDArray[np.int64]:
    """[n, 3] size, key and worth of all hands of the lowest ranks, the smallest sizes first."""
    hands = np.zeros((MOST_HANDS, 3), np.int64)
    hands = hands[: _list_hands(np.zeros(num_ranks, np.int64), hands)]
    return hands[np.argsort(hands[:, 0], kind="stable")]


@cache
def tables() -> npt.NDArray[np.int32]:
    """What :func:`hand_strength` looks up, as ``int32`` to be viewed as ``TABLES``; read-only."""
    whole = np.zeros(1, TABLES)
    t = whole[0]
    suits = np.int64(1) << (SUIT_SHIFT + 4 * np.arange(NUM_SUITS))
    t.card_keys[:] = (np.array(RANK_KEYS)[:, None] + suits[None, :]).reshape(-1)
    low, high = _hands(NUM_LOW), _hands(NUM_RANKS - NUM_LOW)
    t.low_numbers[low[:, 1]] = np.arange(len(low))
    # The low hands that go with so many high cards: from ``firsts`` up to ``ends``.
    sizes = np.arange(MOST_CARDS + 1)
    firsts = np.searchsorted(low[:, 0], FEWEST_CARDS - sizes)
    ends = np.searchsorted(low[:, 0], MOST_CARDS - sizes, side="right")
    lengths = (ends - firsts)[high[:, 0]]
    t.high_starts[high[:, 1]] = np.cumsum(lengths) - lengths - firsts[high[:, 0]]
    size, keys, worths = _hands(NUM_RANKS)[-NUM_HANDS:].T
    flush_sizes, flush_worths = np.zeros((2, NUM_RANK_SETS), np.int64)
    _list_flushes(flush_sizes, flush_worths)
    # Five cards show every strength there is; the best five of more are among them.
    of_five = [worths[size == FEWEST_CARDS], flush_worths[flush_sizes == FEWEST_CARDS]]
    in_order = np.unique(np.concatenate(of_five))
    cells = t.high_starts[keys >> HIGH_SHIFT] + t.low_numbers[keys & PART_BITS]
    t.rank_strengths[cells] = 1 + np.searchsorted(in_order, worths)
    is_flush = flush_sizes >= FEWEST_CARDS
    t.flush_strengths[is_flush] = 1 + np.searchsorted(in_order, flush_worths[is_flush])
    made = np.frombuffer(whole.tobytes(), np.int32)
    made.setflags(write=False)
    return made


# ---- words ---------------------------------------------------------------------------------------


def category(strength: int) -> int:
    """The category of a strength: 0 (high card) to 8 (straight flush)."""
    return int(np.searchsorted(CATEGORY_ENDS, strength))


def strength_name(strength: int) -> str:
    """The category in words; the best straight flush has a name of its own."""
    return "royal flush" if strength == BEST_STRENGTH else CATEGORIES[category(strength)]


def card_name(card: int) -> str:
    """``As`` for the ace of spades, ``?`` for a card that is not known.

    >>> [card_name(card) for card in (0, 51, -1)]
    ['2s', 'Ad', '?']
    """
    return RANK_NAMES[card >> 2] + SUIT_NAMES[card & 3] if card >= 0 else "?"


def parse_card(text: str) -> int:
    """Read ``As`` or ``10h``.

    >>> parse_card("Th") == parse_card("10h") == 4 * 8 + 1
    True
    """
    plain = text.strip().replace("10", "T")
    if len(plain) == 2 and plain[0].upper() in RANK_NAMES and plain[1].lower() in SUIT_NAMES:
        return 4 * RANK_NAMES.index(plain[0].upper()) + SUIT_NAMES.index(plain[1].lower())
    raise MasqueradeError(f"'{text}' is no card: write a rank of {RANK_NAMES} and a suit of shcd")


def parse_hands(hands: Iterable[str]) -> npt.NDArray[np.int8]:
    """Read hands of equally many cards, with spaces between the cards."""
    return np.array([[parse_card(card) for card in hand.split()] for hand in hands], np.int8)
