"""What a network sees of a hand: everything, or blocks of a few summary values.

The blocks, numbered as in the option ``blocks``, are

===  ============================================================================================
1    own cards: higher rank, lower rank, same suit or not
2    common cards: five ranks (or "not dealt yet"), most cards of one suit on the table, and with
     one's own
3    position: 0 is the first to act after the flop, the last is the dealer
4    opponents who have not folded
5    players who are still to act in this round if nobody raises
6    pot odds, rounded up to tenths: 0 only where nothing is to be paid
7    the last move of every opponent in this round, from the left neighbour on
8    chances against one random hand, in twentieths: at the end, and were the hand to end now
9    chips: the pot and the price of a call in big blinds, and in pots what can still be bet: one's
     stack, as far as another player can match it; each rises by one when the amount grows by a
     factor of 1.41
===  ============================================================================================

Every value is written in one of three ways. ``one_hot`` has one entry for each possible value,
``normalised`` one entry from 0 (the smallest) to 1 (the largest), ``basic`` the plain number,
divided by 16 because observations lie between 0 and 1. With ``history`` the same blocks follow as
they were at the player's latest decisions of this hand, the latest first; zeros where there was
none. Blocks 8 and 9 are shown for the present only.
"""

from __future__ import annotations

import math

import numpy as np

from envs.core.compiling import helper, inlined
from envs.core.kernels import OVER
from envs.holdem.betting import (
    call_to,
    highest_raise,
    lowest_raise,
    must_act,
    next_seat,
)
from envs.holdem.equity import class_of, fixed_equity, strength_now
from envs.holdem.evaluator import DECK_SIZE, NUM_RANKS, NUM_SUITS
from envs.holdem.options import IN, MAX_HISTORY, MAX_LOG, NO_CARD, NORMALISED, ONE_HOT

NUM_CODES = 6  # no move, fold, check or call, three sizes of bets
NUM_ODDS = 6
NUM_LEVELS = 21
BASIC_SCALE = 16.0

# A decision in one number: where each value begins.
OPPONENTS_AT, TO_ACT_AT, ODDS_AT, CODE_AT, MOVES_AT = 3, 7, 11, 14, 17


def block_sizes(num_players: int) -> dict[int, tuple[int, ...]]:
    """How many values each variable of each block can have."""
    return {
        1: (NUM_RANKS, NUM_RANKS, 2),
        2: (*(NUM_RANKS + 1,) * 5, 6, 8),
        3: (num_players,),
        4: (num_players - 1,),
        5: (num_players,),
        6: (NUM_ODDS,),
        7: (NUM_CODES,) * (num_players - 1),
        8: (NUM_LEVELS,) * 2,
        9: (NUM_LEVELS,) * 3,
    }


# ---- summary values ------------------------------------------------------------------------------


@helper
def num_opponents(s, r, player):
    """Other players who have not folded."""
    count = 0
    for seat in range(r.num_players):
        count += seat != player and s.status[seat] == IN
    return count


@helper
def num_to_act(s, r, player):
    """Other players who will be asked in this round if nobody raises."""
    count = 0
    for seat in range(r.num_players):
        count += seat != player and must_act(s, r, seat)
    return count


@inlined
def to_pay(s, r, player):
    """What a call costs."""
    missing = max(call_to(s, r, player) - s.bets[player], np.int64(0))
    return min(missing, np.int64(s.stacks[player]))


@helper
def left_to_bet(s, r, player):
    """One's stack, or the largest of those who are in, if that is smaller."""
    most = np.int64(0)
    for seat in range(r.num_players):
        if seat != player and s.status[seat] == IN:
            most = max(most, np.int64(s.stacks[seat]))
    return min(most, np.int64(s.stacks[player]))


@helper
def odds_in_tenths(s, r, player):
    """Pot odds, the price of a call as a share of the pot with it, rounded up to tenths."""
    price = to_pay(s, r, player)
    if price == 0:
        return np.int64(0)
    whole = price + s.pot
    return min((10 * price + whole - 1) // whole, np.int64(NUM_ODDS - 1))


@inlined
def position_of(r, seat, button):
    """How many seats behind the first to act after the flop; the dealer is last."""
    if button < 0:
        return np.int64(0)
    behind = np.int64(seat) - button - 1
    return behind if behind >= 0 else behind + r.num_players


@helper
def pack_decision(s, r, player):
    """What the blocks 2 and 4 to 7 say to the player to move, as one number."""
    packed = np.int64(s.num_board)
    packed |= np.int64(num_opponents(s, r, player)) << OPPONENTS_AT
    packed |= np.int64(num_to_act(s, r, player)) << TO_ACT_AT
    packed |= np.int64(odds_in_tenths(s, r, player)) << ODDS_AT
    seat = next_seat(r, player)
    for i in range(r.num_players - 1):
        packed |= np.int64(s.moves[seat]) << (MOVES_AT + 3 * i)
        seat = next_seat(r, seat)
    return packed


@helper
def keep_decision(s, player, packed):
    """Remember a decision, with the move that was made."""
    packed |= np.int64(s.moves[player]) << CODE_AT
    s.past[player, s.num_decisions[player] % MAX_HISTORY] = packed
    s.num_decisions[player] += 1


# ---- blocks --------------------------------------------------------------------------------------


@helper
def put(r, out, at, value, size):
    """Write one variable; returns where the next one begins."""
    if r.encoding == ONE_HOT:
        out[at + value] = 1.0
        return at + size
    out[at] = value / (size - 1) if r.encoding == NORMALISED else value / BASIC_SCALE
    return at + 1


@helper
def width(r, size):
    """How many entries a variable of so many values takes."""
    return size if r.encoding == ONE_HOT else 1


@helper
def most_of_a_suit(s, player, num_board, num_own):
    """The largest number of cards of one suit among the board and so many own cards."""
    most = 0
    for suit in range(NUM_SUITS):
        count = 0
        for i in range(num_board):
            count += (s.board[i] & 3) == suit
        for i in range(num_own):
            count += (s.hole[player, i] & 3) == suit
        most = max(most, count)
    return most


@helper
def flop_rank(s, i):
    """The rank of a common card, with the three of the flop in falling order."""
    a, b, c = s.board[0] >> 2, s.board[1] >> 2, s.board[2] >> 2
    if i == 0:
        return max(a, b, c)
    if i == 2:
        return min(a, b, c)
    return max(min(a, b), min(max(a, b), c))


@helper
def put_own_cards(s, r, player, out, at):
    """Block 1."""
    high, low = s.hole[player, 0], s.hole[player, 1]
    if low == NO_CARD:
        return at + 2 * width(r, NUM_RANKS) + width(r, 2)
    at = put(r, out, at, high >> 2, NUM_RANKS)
    at = put(r, out, at, low >> 2, NUM_RANKS)
    return put(r, out, at, np.int64((high & 3) == (low & 3)), 2)


@helper
def put_common_cards(s, r, player, num_board, out, at):
    """Block 2, with so many of the common cards."""
    for i in range(5):
        rank = np.int64(NUM_RANKS)
        if i < num_board:
            rank = np.int64(flop_rank(s, i) if i < 3 else s.board[i] >> 2)
        at = put(r, out, at, rank, NUM_RANKS + 1)
    num_own = 2 if s.hole[player, 1] != NO_CARD else 0
    at = put(r, out, at, most_of_a_suit(s, player, num_board, 0), 6)
    return put(r, out, at, most_of_a_suit(s, player, num_board, num_own), 8)


@helper
def put_decision(s, r, player, packed, out, at):
    """All blocks that are asked for, as they were at a decision."""
    n = r.num_players
    if r.blocks[1]:
        at = put_own_cards(s, r, player, out, at)
    if r.blocks[2]:
        at = put_common_cards(s, r, player, packed & 7, out, at)
    if r.blocks[3]:
        at = put(r, out, at, position_of(r, player, np.int64(s.button)), n)
    if r.blocks[4]:
        opponents = max((packed >> OPPONENTS_AT) & 15, np.int64(1)) - 1
        # With two players there is always one opponent, and nothing to scale by.
        if n > 2:
            at = put(r, out, at, opponents, n - 1)
        else:
            out[at] = 1.0
            at += 1
    if r.blocks[5]:
        at = put(r, out, at, (packed >> TO_ACT_AT) & 15, n)
    if r.blocks[6]:
        at = put(r, out, at, (packed >> ODDS_AT) & 7, NUM_ODDS)
    if r.blocks[7]:
        for i in range(n - 1):
            at = put(r, out, at, (packed >> (MOVES_AT + 3 * i)) & 7, NUM_CODES)
    return at


@helper
def past_decision(s, player, back):
    """A decision of this hand, ``back`` before the present one; -1 if there was none."""
    index = s.num_decisions[player] - back
    return s.past[player, index % MAX_HISTORY] if index >= 0 else np.int64(-1)


@helper
def block_values(s, r, player, packed):
    """What the blocks 1 to 7 that are shown say at a decision, as two numbers."""
    num_board = packed & 7
    cards = np.int64(0)
    if r.blocks[1]:
        high, low = np.int64(s.hole[player, 0]), np.int64(s.hole[player, 1])
        cards |= (high >> 2) | (low >> 2) << 4 | np.int64((high & 3) == (low & 3)) << 8
    if r.blocks[2]:
        for i in range(num_board):
            rank = np.int64(flop_rank(s, i) if i < 3 else s.board[i] >> 2)
            cards |= (rank + 1) << (9 + 4 * i)
        cards |= np.int64(most_of_a_suit(s, player, num_board, 0)) << 29
        cards |= np.int64(most_of_a_suit(s, player, num_board, 2)) << 32
    rest = np.int64(0)
    if r.blocks[3]:
        rest |= np.int64(position_of(r, player, np.int64(s.button)))
    if r.blocks[4]:
        rest |= ((packed >> OPPONENTS_AT) & 15) << 4
    if r.blocks[5]:
        rest |= ((packed >> TO_ACT_AT) & 15) << 8
    if r.blocks[6]:
        rest |= ((packed >> ODDS_AT) & 7) << 12
    if r.blocks[7]:
        rest |= (packed >> MOVES_AT) << 15
    return cards, rest


@helper
def put_chances(s, r, player, out, at):
    """Block 8."""
    if s.hole[player, 1] == NO_CARD:
        return at + 2 * width(r, NUM_LEVELS)
    if s.num_board < 3:
        kind = class_of(s.hole[player, 0], s.hole[player, 1])
        later = now = r.start_equities[kind] / 1e6
    else:
        later = now = strength_now(r, s.hole[player], s.board, s.num_board)
        if s.num_board < 5:
            later = fixed_equity(r, s.hole[player], s.board, s.num_board)
    at = put(r, out, at, np.int64((NUM_LEVELS - 1) * later + 0.5), NUM_LEVELS)
    return put(r, out, at, np.int64((NUM_LEVELS - 1) * now + 0.5), NUM_LEVELS)


@helper
def level_of(chips, unit):
    """0 for nothing, 1 up to a unit, and two more whenever the amount doubles."""
    if chips <= 0 or unit <= 0.0:
        return np.int64(0)
    level = 1 + np.int64(math.ceil(max(2.0 * math.log2(chips / unit), 0.0)))
    return min(level, np.int64(NUM_LEVELS - 1))


@helper
def put_chips(s, r, player, out, at):
    """Block 9."""
    in_pot = np.int64(s.pot)
    at = put(r, out, at, level_of(in_pot, np.float64(r.big_blind)), NUM_LEVELS)
    at = put(r, out, at, level_of(to_pay(s, r, player), 0.5 * r.big_blind), NUM_LEVELS)
    return put(r, out, at, level_of(left_to_bet(s, r, player), 0.25 * in_pot), NUM_LEVELS)


@helper
def write_blocks(s, r, player, out):
    """The blocks now and at earlier decisions."""
    now = pack_decision(s, r, player)
    if s.num_board < 3:
        now &= ~np.int64(7)  # the flop is looked at when all three cards lie there
    size = put_decision(s, r, player, now, out, 0)
    at = size
    if r.blocks[8]:
        at = put_chances(s, r, player, out, at)
    if r.blocks[9]:
        at = put_chips(s, r, player, out, at)
    for back in range(1, r.history + 1):
        packed = past_decision(s, player, back)
        if packed >= 0:
            put_decision(s, r, player, packed, out, at)
            if r.history_actions:
                put(r, out, at + size, ((packed >> CODE_AT) & 7) - 1, NUM_CODES - 1)
        at += size + (width(r, NUM_CODES - 1) if r.history_actions else 0)


# ---- the full observation: cards as planes, chips as shares of all, and latest moves -------------

NUM_STREETS = 4
NUM_KINDS = 4


@inlined
def put_cards(s, player, out, at):
    """Planes of the own cards, the flop, the turn and the river."""
    for i in range(2):
        if s.hole[player, 1] != NO_CARD:
            out[at + s.hole[player, i]] = 1.0
    at += DECK_SIZE
    for i in range(s.num_board):
        out[at + max(i - 2, 0) * DECK_SIZE + s.board[i]] = 1.0
    return at + 3 * DECK_SIZE


@inlined
def put_seats(s, r, player, share, out, at):
    """For every player from the viewer on: chips, and who is in, all-in, to move and has moved."""
    n = r.num_players
    seat = np.int64(player)
    for i in range(n):
        is_in = s.status[seat] == IN
        out[at + i] = s.stacks[seat] * share
        out[at + n + i] = s.bets[seat] * share
        out[at + 2 * n + i] = s.paid[seat] * share
        out[at + 3 * n + i] = is_in
        out[at + 4 * n + i] = is_in & (s.stacks[seat] == 0)  # no jump, which would be a guess
        out[at + 5 * n + i] = s.to_move == seat
        out[at + 6 * n + i] = s.has_acted[seat]
        seat = next_seat(r, seat)
    return at + 7 * n


@inlined
def put_prices(s, r, player, share, out, at):
    """The pot, the price of a call and the limits of a raise."""
    price, chips = to_pay(s, r, player), np.int64(s.pot)
    out[at] = chips * share
    out[at + 1] = price * share
    if price > 0:
        out[at + 2] = price / (price + chips)
    out[at + 3] = lowest_raise(s, r, player) * share
    out[at + 4] = highest_raise(s, r, player) * share
    return at + 5


@inlined
def put_log(s, r, player, out, at):
    """The latest moves, the last one first: who, what, when and how much."""
    n = r.num_players
    size = n + NUM_KINDS + NUM_STREETS + 1
    for back in range(min(r.moves_shown, s.num_moves, MAX_LOG)):
        i = (s.num_moves - 1 - back) % MAX_LOG
        ahead = np.int64(s.log_seats[i]) - player
        out[at + (ahead if ahead >= 0 else ahead + n)] = 1.0
        out[at + n + s.log_kinds[i]] = 1.0
        out[at + n + NUM_KINDS + s.log_streets[i]] = 1.0
        out[at + size - 1] = s.log_shares[i]
        at += size


@inlined
def write_full(s, r, player, out):
    """Position, street, cards, seats, prices and the latest moves."""
    n = r.num_players
    if s.button >= 0:
        out[position_of(r, player, np.int64(s.button))] = 1.0
    if s.to_move != OVER:
        out[n + s.street] = 1.0
    at = put_cards(s, player, out, n + NUM_STREETS)
    share = 1.0 / r.total_chips
    at = put_seats(s, r, player, share, out, at)
    at = put_prices(s, r, player, share, out, at)
    if s.num_hands > 0:
        out[at] = s.num_hands / r.num_hands
    put_log(s, r, player, out, at + 1)
