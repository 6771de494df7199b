"""The betting: what may be raised, what each action of a menu puts in, who is to answer, who wins.

Everything here works on one state ``s`` and the rules ``r``, as records, inside kernels.
"""

from __future__ import annotations

import numpy as np

from envs.core.compiling import helper, inlined
from envs.holdem.evaluator import EMPTY_KEY, hand_strength, key_and_set
from envs.holdem.options import (
    AFTER_CALL,
    BET_CODES,
    CALL,
    CALL_CODE,
    CHECK,
    EXACT,
    FOLD,
    FOLD_CODE,
    FOLDED,
    FREE_FOLD_IS_CHECK,
    IN,
    MAX_LOG,
    RAISE,
    THESIS,
)

# ---- seats and chips -----------------------------------------------------------------------------


@inlined
def next_seat(r, seat):
    """The seat to the left."""
    return np.int64(seat) + 1 if seat + 1 < r.num_players else np.int64(0)


@inlined
def pay(s, seat, chips):
    """Move chips from a stack into the pot, as many as there are; returns how many."""
    chips = min(np.int64(chips), np.int64(s.stacks[seat]))
    s.stacks[seat] -= chips
    s.paid[seat] += chips
    s.pot += chips
    return chips


@inlined
def call_to(s, r, seat):
    """The bet that ``seat`` must have made to stay in.

    Behind a short big blind that is the whole big blind, but never more than somebody else could
    match.
    """
    if not s.is_blind_short:
        return np.int64(s.bet_to)
    most = np.int64(0)
    for other in range(r.num_players):
        if other != seat and s.status[other] == IN:
            most = max(most, np.int64(s.bets[other]) + s.stacks[other])
    return min(np.int64(s.bet_to), most)


# ---- raising -------------------------------------------------------------------------------------


@inlined
def can_raise(s, r, seat):
    """Whether a player to move may bet or raise at all."""
    to_call = np.int64(s.bet_to) - s.bets[seat]
    if s.stacks[seat] <= to_call:
        return False
    # A bet that was raised by less than a full raise may be raised again only by who has not acted
    # yet, or faces a full raise in all.
    if r.is_pokerkit:
        is_short = 0 < s.short_raises < s.raise_by
        if to_call < s.raise_by or (is_short and s.has_acted[seat]):
            return False
    elif s.has_acted[seat] and to_call < s.raise_by:
        return False
    for other in range(r.num_players):
        is_in = other != seat and s.status[other] == IN
        if is_in and np.int64(s.bets[other]) + s.stacks[other] > s.bet_to:
            return True
    return False


@inlined
def highest_raise(s, r, seat):
    """The most a player may raise to: the stack, or with pot limit the pot after a call."""
    most = np.int64(s.bets[seat]) + s.stacks[seat]
    if r.is_pot_limit:
        after_call = np.int64(s.pot) + s.bet_to - s.bets[seat]
        most = min(most, s.bet_to + after_call)
    return most


@inlined
def lowest_raise(s, r, seat):
    """The least a player may raise to: a full raise, or the whole stack if that is less."""
    full = np.int64(s.bet_to) + max(s.raise_by, r.big_blind)
    return min(full, highest_raise(s, r, seat))


@inlined
def fraction_of_pot(s, r, seat, thousandths):
    """What a bet of a fraction of the pot raises to, but for the limits."""
    chips = np.int64(s.pot)
    if r.raise_basis == AFTER_CALL:
        after_call = chips + s.bet_to - s.bets[seat]
        return s.bet_to + after_call * thousandths // 1000
    return s.bets[seat] + chips * thousandths // 1000


@inlined
def amount_within(s, r, seat, action, lowest, highest):
    """What an action from 2 on of a menu raises to, between these limits."""
    index = action - 2
    if r.menu != THESIS:
        if r.all_in and action == r.num_actions - 1:
            return highest
        if r.minimum:
            if index == 0:
                return lowest
            index -= 1
    amount = fraction_of_pot(s, r, seat, np.int64(r.fractions[index]))
    return min(max(amount, lowest), highest)


@helper
def amount_of(s, r, seat, action):
    """What an action from 2 on raises to."""
    if r.menu == EXACT:
        return np.int64(action) - 1
    lowest, highest = lowest_raise(s, r, seat), highest_raise(s, r, seat)
    return amount_within(s, r, seat, action, lowest, highest)


@inlined
def kind_of(s, r, action):
    """What an action of the player to move is: FOLD, CHECK, CALL or RAISE."""
    seat = s.to_move
    is_free = call_to(s, r, seat) <= s.bets[seat]
    if action == 0 and not (is_free and r.fold_when_free == FREE_FOLD_IS_CHECK):
        return FOLD
    if action < 2 or (r.menu == THESIS and not can_raise(s, r, seat)):
        return CHECK if is_free else CALL
    return RAISE


# ---- moving --------------------------------------------------------------------------------------


@helper
def code_of_raise(s, r, seat, action, amount):
    """The code of a bet: that of its action, or of the nearest of 50, 75 and 100 % of the pot."""
    if r.menu == THESIS:
        return BET_CODES + action - 2
    after_call = np.int64(s.pot) + s.bet_to - s.bets[seat]
    sixteenths = 16 * (amount - s.bet_to)  # of the pot: 10 and 14 lie between 8, 12 and 16
    if sixteenths < 10 * after_call:
        return BET_CODES
    return BET_CODES + 1 if sixteenths < 14 * after_call else BET_CODES + 2


@inlined
def log_move(s, seat, kind, chips):
    """Remember a move."""
    at = s.num_moves % MAX_LOG
    s.log_seats[at] = seat
    s.log_kinds[at] = kind
    s.log_streets[at] = s.street
    s.log_shares[at] = chips / s.pot
    s.num_moves += 1


@helper
def raise_to(s, r, seat, amount):
    """Put in a bet or raise and note what it means for the next one."""
    by = amount - s.bet_to
    chips = pay(s, seat, amount - s.bets[seat])
    s.bets[seat] = amount
    s.bet_to = amount
    s.is_blind_short = 0
    if r.is_pokerkit:
        if by >= s.raise_by:
            s.has_acted[:] = 0
            s.raise_by = by
        s.short_raises = s.short_raises + by if s.stacks[seat] == 0 else 0
        if s.short_raises >= s.raise_by:
            s.short_raises = 0
    elif by > s.raise_by:
        s.raise_by = by
    return chips


@helper
def apply_move(s, r, action):
    """Play an action of the player to move; who comes next is not decided here."""
    seat = s.to_move
    kind = kind_of(s, r, action)
    chips = np.int64(0)
    if kind == FOLD:
        s.status[seat] = FOLDED
        s.num_in -= 1
        s.moves[seat] = FOLD_CODE
    elif kind == RAISE:
        amount = amount_of(s, r, seat, action)
        s.moves[seat] = code_of_raise(s, r, seat, action, amount)
        chips = raise_to(s, r, seat, amount)
    else:
        chips = pay(s, seat, max(call_to(s, r, seat) - s.bets[seat], np.int64(0)))
        s.bets[seat] += chips
        s.moves[seat] = CALL_CODE
    s.has_acted[seat] = 1
    log_move(s, seat, kind, chips)


# ---- who is next ---------------------------------------------------------------------------------


@inlined
def has_contest(s, r):
    """Whether two players at least can still bet."""
    num_able = 0
    for seat in range(r.num_players):
        if s.status[seat] == IN and s.stacks[seat] > 0:
            num_able += 1
            if num_able == 2:
                return True
    return False


@inlined
def must_act(s, r, seat):
    """Whether a player has a decision to make in this round."""
    if s.status[seat] != IN or s.stacks[seat] == 0:
        return False
    return s.bets[seat] < call_to(s, r, seat) or (not s.has_acted[seat] and has_contest(s, r))


@inlined
def next_actor(s, r, seat):
    """The first player from ``seat`` on who is to act, or -1 when the round is over."""
    for _ in range(r.num_players):
        if must_act(s, r, seat):
            return seat
        seat = next_seat(r, seat)
    return -1


@helper
def is_showdown_after(s, r, action):
    """Whether an action of the player to move ends the last round with two players in at least."""
    kind = kind_of(s, r, action)
    num_left = s.num_in - (kind == FOLD)
    if s.num_board < 5 or kind == RAISE or num_left < 2:
        return False
    to_call = s.bet_to - s.bets[s.to_move]
    num_able = np.int64(kind != FOLD and s.stacks[s.to_move] > to_call)
    is_waiting = False
    for seat in range(r.num_players):
        if seat != s.to_move and s.status[seat] == IN and s.stacks[seat] > 0:
            num_able += 1
            is_waiting |= not s.has_acted[seat]
            if s.bets[seat] < s.bet_to:
                return False
    return num_able < 2 or not is_waiting


# ---- winning -------------------------------------------------------------------------------------


@helper
def share_out(s, r, chips, level, best, strengths):
    """Give a pot to the best hands of those who have paid ``level`` for it."""
    num_winners = 0
    for seat in range(r.num_players):
        num_winners += s.status[seat] == IN and s.paid[seat] >= level and strengths[seat] == best
    share, odd = chips // num_winners, chips % num_winners
    # Odd chips go to the left of the button.
    seat = next_seat(r, s.button)
    for _ in range(r.num_players):
        if s.status[seat] == IN and s.paid[seat] >= level and strengths[seat] == best:
            extra = min(odd, np.int64(1))
            s.stacks[seat] += share + extra
            odd -= extra
        seat = next_seat(r, seat)


@helper
def show_down(s, r):
    """Compare hands and pay every pot; what nobody matched goes back as a pot of its own."""
    key, cards = key_and_set(r, s.board, 5, EMPTY_KEY)
    strengths = s.bets  # which have no more use in this hand
    top = np.int64(0)
    for seat in range(r.num_players):
        strengths[seat] = 0
        if s.status[seat] == IN:
            own_key, own_cards = key_and_set(r, s.hole[seat], 2, 0)
            strengths[seat] = hand_strength(r, key + own_key, cards | own_cards)
            top = max(top, np.int64(s.paid[seat]))
    below = np.int64(0)
    while below < top:
        level, best = top, np.int64(0)
        for seat in range(r.num_players):
            if s.status[seat] == IN and s.paid[seat] > below:
                level = min(level, np.int64(s.paid[seat]))
                best = max(best, np.int64(strengths[seat]))
        chips = np.int64(0)
        for seat in range(r.num_players):
            upper = np.int64(s.paid[seat]) if level == top else min(np.int64(s.paid[seat]), level)
            chips += max(upper - below, np.int64(0))
        share_out(s, r, chips, level, best, strengths)
        below = level


@helper
def close_hand(s, r):
    """Pay the pots, note what everybody has won and what was shown, and clear the bets."""
    is_shown = s.num_in > 1
    for seat in range(r.num_players):
        s.last_profits[seat] = -s.stacks[seat] - s.paid[seat]
    if is_shown:
        show_down(s, r)
    else:
        for seat in range(r.num_players):
            if s.status[seat] == IN:
                s.stacks[seat] += s.pot
    s.pot = 0
    for seat in range(r.num_players):
        s.last_profits[seat] += s.stacks[seat]
        s.profits[seat] += s.last_profits[seat]
        s.paid[seat] = 0
        s.bets[seat] = 0
        is_open = is_shown and s.status[seat] == IN
        for i in range(2):
            s.last_hole[seat, i] = s.hole[seat, i] if is_open else -1
    for i in range(5):
        s.last_board[i] = s.board[i]
    s.bet_to = 0
    s.num_hands += 1
