"""Chances of a hand: equity, and strength now; and the 169 kinds of starting hands.

*Equity* is the share of the pot a hand wins on average if all cards are dealt and nobody folds.
*Strength* is its equity were the hand to end now (Billings and others, "The challenge of poker",
2002). A range is a weight for each of the 1326 hands, in the order of :func:`all_hands`.

>>> from envs.core.rng import new_rng
>>> round(equity("As Ah", rng=new_rng(0), num_samples=20_000), 2)
0.85
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from numba import types

from common.errors import MasqueradeError
from envs.core.compiling import compiled, helper
from envs.core.kernels import INT, RNG, RULES
from envs.core.rng import Words, below, mix, new_rng
from envs.holdem.evaluator import (
    DECK_SIZE,
    EMPTY_KEY,
    NUM_RANKS,
    RANK_NAMES,
    TABLES,
    card_set,
    hand_strength,
    key_and_set,
    parse_card,
    tables,
)

NUM_CLASSES = 169
NUM_HANDS = 1326
MAX_OPPONENTS = 9
CARDS = types.int8[::1]
SINGLE = types.float64


# ---- compiled ------------------------------------------------------------------------------------


@helper
def draw_card(taken, rng):
    """A card that is not in the set ``taken``, by its number."""
    while True:
        card = below(rng, DECK_SIZE)
        if not taken & card_set(card):
            return card


@helper
def compared_equity(t, hole, board, num_board, num_opponents, num_samples, low, high, rng):
    """An equity by samples for one who asks only whether it is above ``low`` and above ``high``.

    It ends when the samples that are left cannot change the answers, with what was won by then as a
    share of all samples: the answers are those of all samples. With ``nan`` for both, which nothing
    is above, it is the mean share of the pot of all samples.
    """
    key, cards = key_and_set(t, board, num_board, EMPTY_KEY)
    own_key, own_cards = key_and_set(t, hole, 2, 0)
    total = 0.0
    low, high = low * num_samples, high * num_samples
    for number in range(num_samples):
        most = total + num_samples - number
        if most <= low or total > high or (total > low and most <= high):
            break
        board_key, board_cards = key, cards
        for _ in range(num_board, 5):
            card = draw_card(board_cards | own_cards, rng)
            board_key += t.card_keys[card]
            board_cards |= card_set(card)
        mine = hand_strength(t, board_key + own_key, board_cards | own_cards)
        taken = board_cards | own_cards
        num_equal = 1
        for _ in range(num_opponents):
            first = draw_card(taken, rng)
            taken |= card_set(first)
            second = draw_card(taken, rng)
            taken |= card_set(second)
            both = card_set(first) | card_set(second)
            other_key = board_key + t.card_keys[first] + t.card_keys[second]
            other = hand_strength(t, other_key, board_cards | both)
            num_equal += other == mine
            if other > mine:
                num_equal = 0
                break
        total += 1.0 / num_equal if num_equal > 0 else 0.0
    return total / num_samples


@compiled(SINGLE(RULES, CARDS, CARDS, INT, INT, RNG))
def _equity(tables, hole, board, num_opponents, num_samples, rng):
    t = tables.view(TABLES)[0]
    none = np.nan
    return compared_equity(t, hole, board, board.size, num_opponents, num_samples, none, none, rng)


@compiled(SINGLE(RULES, CARDS, CARDS, types.int8[:, ::1], types.float64[::1], INT, RNG))
def _equity_against(tables, hole, board, hands, weights, num_boards, rng):
    """Against a range, over random boards; each board is compared with every hand of the range."""
    t = tables.view(TABLES)[0]
    own_key, own_cards = key_and_set(t, hole, 2, 0)
    won, weight = 0.0, 0.0
    for _ in range(num_boards):
        key, cards = np.int64(EMPTY_KEY), np.int64(0)
        for i in range(5):
            card = board[i] if i < board.size else draw_card(cards | own_cards, rng)
            key += t.card_keys[card]
            cards |= card_set(card)
        mine = hand_strength(t, key + own_key, cards | own_cards)
        for i in range(hands.shape[0]):
            other_key, both = key_and_set(t, hands[i], 2, 0)
            if weights[i] > 0.0 and not both & (cards | own_cards):
                other = hand_strength(t, key + other_key, cards | both)
                won += weights[i] * (1.0 if mine > other else 0.5 if mine == other else 0.0)
                weight += weights[i]
    return won / weight if weight > 0.0 else -1.0


# ---- from Python ---------------------------------------------------------------------------------

Cards = str | npt.ArrayLike


def _cards(cards: Cards, counts: tuple[int, ...]) -> npt.NDArray[np.int8]:
    numbers = [parse_card(card) for card in cards.split()] if isinstance(cards, str) else cards
    array = np.ascontiguousarray(numbers, np.int8).reshape(-1)
    if len(array) not in counts or len(set(array.tolist())) < len(array):
        wanted = " or ".join(str(count) for count in counts)
        raise MasqueradeError(f"{wanted} different cards are needed, not {cards!r}")
    return array


def _hand_and_board(hole: Cards, board: Cards) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    own, common = _cards(hole, (2,)), _cards(board, (0, 3, 4, 5))
    if set(own.tolist()) & set(common.tolist()):
        raise MasqueradeError(
            f"no card can be both in the hand {hole!r} and on the board {board!r}"
        )
    return own, common


def equity(
    hole: Cards,
    board: Cards = "",
    num_opponents: int = 1,
    *,
    rng: Words,
    num_samples: int = 10_000,
) -> float:
    """The equity against random hands, by random samples."""
    if not 1 <= num_opponents <= MAX_OPPONENTS:
        raise MasqueradeError(f"num_opponents must be 1 to {MAX_OPPONENTS}, not {num_opponents}")
    own, common = _hand_and_board(hole, board)
    return float(_equity(tables(), own, common, num_opponents, num_samples, rng))


def equity_against(
    hole: Cards,
    weights: npt.ArrayLike,
    board: Cards = "",
    *,
    rng: Words,
    num_boards: int = 1000,
) -> float:
    """The equity against a range, over random boards, or exactly on a whole board.

    Args:
        hole: the two own cards.
        weights: [1326] how likely the opponent holds each of :func:`all_hands`, in any unit; or
            [169], for the kinds of starting hands (see :func:`expand_classes`).
        board: none, three, four or five common cards.
        rng: where the missing common cards come from.
        num_boards: how many boards are drawn.
    """
    own, common = _hand_and_board(hole, board)
    range_ = np.ascontiguousarray(weights, np.float64)
    if range_.shape == (NUM_CLASSES,):
        range_ = expand_classes(range_)
    if range_.shape != (NUM_HANDS,) or range_.min() < 0:
        raise MasqueradeError("a range is 1326 or 169 weights, none of them negative")
    num_boards = 1 if len(common) == 5 else num_boards
    share = float(_equity_against(tables(), own, common, all_hands(), range_, num_boards, rng))
    if share < 0:
        raise MasqueradeError("no hand of the range is possible beside these cards")
    return share


# ---- starting hands ------------------------------------------------------------------------------


def starting_class(first: int, second: int) -> int:
    """The kind of a starting hand: 13 * row + column in the usual chart, suited above pairs.

    Row and column count from the ace: 0 is a pair of aces, 1 ace-king suited, 13 ace-king offsuit.
    """
    high = 12 - (max(first, second) >> 2)
    low = 12 - (min(first, second) >> 2)
    is_suited = (first & 3) == (second & 3)
    return NUM_RANKS * high + low if is_suited else NUM_RANKS * low + high


class_of = helper(starting_class)  # for compiled code


def class_name(number: int) -> str:
    """``AA``, ``KQs`` (suited) or ``KQo`` (offsuit).

    >>> [class_name(number) for number in (0, 15, 27, 168)]
    ['AA', 'KQs', 'KQo', '22']
    """
    row, column = divmod(number, NUM_RANKS)
    names = RANK_NAMES[::-1]
    if row == column:
        return names[row] * 2
    return f"{names[row]}{names[column]}s" if row < column else f"{names[column]}{names[row]}o"


@cache
def all_hands() -> npt.NDArray[np.int8]:
    """[1326, 2] int8: every private hand, the higher card first."""
    return np.array([(b, a) for a in range(DECK_SIZE) for b in range(a + 1, DECK_SIZE)], np.int8)


@cache
def _classes() -> npt.NDArray[np.int64]:
    return np.array([starting_class(int(a), int(b)) for a, b in all_hands()])


def expand_classes(weights: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """[169] -> [1326]: every hand gets the weight of its kind."""
    return np.asarray(weights, np.float64)[_classes()]


@cache
def starting_equities(num_opponents: int = 1, num_samples: int = 20_000) -> npt.NDArray[np.float64]:
    """[169] the equity of every kind of starting hand against random hands, by fixed samples."""
    equities = np.zeros(NUM_CLASSES)
    seen: set[int] = set()
    rng = new_rng(num_opponents)
    for hand, kind in zip(all_hands(), _classes().tolist(), strict=True):
        if kind not in seen:
            seen.add(kind)
            none = np.zeros(0, np.int8)
            equities[kind] = _equity(tables(), hand.copy(), none, num_opponents, num_samples, rng)
    equities.setflags(write=False)
    return equities


# ---- as part of an observation -------------------------------------------------------------------
#
# An observation must be the same whenever it is made, so samples are drawn from a generator that
# the cards themselves seed: equal cards have equal samples.

NUM_SAMPLES = 100
"""Random ways to go on by which the equity on flop and turn is estimated."""


@helper
def strength_now(t, hole, board, num_board):
    """The share of all other hands that is beaten by the cards on the table, ties as halves."""
    key, cards = key_and_set(t, board, num_board, EMPTY_KEY)
    own_key, own_cards = key_and_set(t, hole, 2, 0)
    known = cards | own_cards
    mine = hand_strength(t, key + own_key, known)
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
    key, cards = key_and_set(t, board, num_board, EMPTY_KEY)
    own_key, own_cards = key_and_set(t, hole, 2, 0)
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
