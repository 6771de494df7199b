"""The course of a hand, the functions of the contract (see ``envs/core/kernels.py``), a rollout."""

from __future__ import annotations

import numpy as np
from numba import types

from envs.core.compiling import compiled, helper
from envs.core.kernels import CHANCE, OPTIONAL_SIGNATURES, OVER, kernel
from envs.core.kernels import RULES as RULES_TYPE
from envs.core.rng import below, draw_card, first_key, fold, uniform
from envs.holdem.betting import (
    amount_of,
    amount_within,
    apply_move,
    call_to,
    can_raise,
    close_hand,
    has_contest,
    highest_raise,
    is_showdown_after,
    kind_of,
    lowest_raise,
    next_actor,
    next_seat,
    pay,
)
from envs.holdem.equity import compared_equity
from envs.holdem.evaluator import DECK_SIZE
from envs.holdem.observation import (
    keep_decision,
    left_to_bet,
    num_opponents,
    pack_decision,
    to_pay,
    write_blocks,
    write_full,
)
from envs.holdem.options import (
    ABSENT,
    EXACT,
    FOLD,
    FREE_FOLD_IS_ILLEGAL,
    IN,
    NO_CARD,
    NOBODY,
    RULES,
    STATE,
    THESIS,
)

# What is seen of a chance event; a move is 1 + its action.
HIDDEN_CARD = 1  # somebody was dealt a card
FIRST_CARD = 2  # + card, or + higher card * 52 + lower card for the two of one's own


# ---- the course of a hand ------------------------------------------------------------------------


@helper
def next_present(s, r, seat):
    """The next seat to the left that is dealt in."""
    seat = next_seat(r, seat)
    while s.status[seat] == ABSENT:
        seat = next_seat(r, seat)
    return seat


@helper
def clear_table(s, r):
    """Take all cards and moves of the last hand away."""
    s.hole[:] = NO_CARD
    s.board[:] = NO_CARD
    s.num_board = 0
    s.street = 0
    s.taken = 0
    s.num_moves = 0
    s.has_acted[:] = 0
    s.moves[:] = 0
    s.num_decisions[:] = 0
    s.num_in = 0
    for seat in range(r.num_players):
        if r.fresh_stacks:
            s.stacks[seat] = r.stacks[seat]
        s.status[seat] = IN if s.stacks[seat] > 0 else ABSENT
        s.num_in += s.status[seat] == IN


@helper
def start_hand(s, r, button):
    """Post antes and blinds and let the first card be dealt."""
    clear_table(s, r)
    s.button = button if s.status[button] == IN else next_present(s, r, button)
    for seat in range(r.num_players):
        pay(s, seat, r.ante)
    # With two players the button posts the small blind.
    small = s.button if s.num_in == 2 else next_present(s, r, s.button)
    s.bets[small] = pay(s, small, r.small_blind)
    big = next_present(s, r, small)
    s.bets[big] = pay(s, big, r.big_blind)
    s.big_blind_seat = big
    s.bet_to = r.big_blind
    s.raise_by = r.big_blind
    s.short_raises = 0
    s.is_blind_short = s.bets[big] < r.big_blind
    if r.is_pokerkit:
        s.bet_to = max(s.bets[small], s.bets[big])
        s.raise_by = 0
        s.is_blind_short = 0
    s.deal_seat = 0 if s.status[0] == IN else next_present(s, r, 0)
    s.num_own = 0
    s.to_move = CHANCE


@helper
def is_dealing(s):
    """Whether private cards are still to be dealt; common cards follow."""
    return s.deal_seat != NOBODY


@helper
def end_hand(s, r):
    """Pay, and start the next hand or end the game."""
    close_hand(s, r)
    num_with_chips = 0
    for seat in range(r.num_players):
        num_with_chips += s.stacks[seat] > 0
    if s.num_hands == r.num_hands or (num_with_chips < 2 and not r.fresh_stacks):
        s.to_move = OVER
    else:
        start_hand(s, r, next_seat(r, s.button))


@helper
def end_round(s, r):
    """Nobody has anything to say any more: the next card, or the end of the hand."""
    if s.num_in == 1 or s.num_board == 5:
        end_hand(s, r)
        return
    s.bets[:] = 0
    s.has_acted[:] = 0
    s.moves[:] = 0
    s.bet_to = 0
    s.raise_by = 0 if r.is_pokerkit else r.big_blind
    s.short_raises = 0
    s.is_blind_short = 0
    s.to_move = CHANCE


@helper
def ask_from(s, r, seat):
    """Give the turn to the first player from ``seat`` on who has a decision, or end the round."""
    actor = next_actor(s, r, seat) if s.num_in > 1 else -1
    if actor >= 0:
        s.to_move = actor
    else:
        end_round(s, r)


@helper
def deal_private(s, r, card):
    """Deal a private card; after the last one the betting begins left of the big blind."""
    seat = s.deal_seat
    s.hole[seat, s.num_own] = card
    s.num_own += 1
    if s.num_own < 2:
        return
    sort_hole(s, seat)
    s.num_own = 0
    s.deal_seat = next_present(s, r, seat)
    if s.deal_seat <= seat:
        s.deal_seat = NOBODY
        ask_from(s, r, next_seat(r, s.big_blind_seat))


@helper
def deal_common(s, r, card):
    """Turn up a common card; after the third, fourth and fifth there is betting."""
    s.board[s.num_board] = card
    s.num_board += 1
    if s.num_board >= 3:
        s.street += 1
        ask_from(s, r, next_seat(r, s.button))


@helper
def deal(s, r, outcome):
    """Play the chance event that is due."""
    if s.button == NOBODY:
        start_hand(s, r, outcome)
        return
    s.taken |= np.int64(1) << outcome
    if is_dealing(s):
        deal_private(s, r, outcome)
    else:
        deal_common(s, r, outcome)


@helper
def sort_hole(s, seat):
    """Put the higher card first."""
    first, second = s.hole[seat, 0], s.hole[seat, 1]
    s.hole[seat, 0] = max(first, second)
    s.hole[seat, 1] = min(first, second)


@helper
def shorten(s, r, number):
    """Give one player or everybody a short stack, in turn; of two, one is as good as both."""
    is_everybody = False
    if r.num_players > 2:
        is_everybody = number % 2 == 1
        number //= 2
    short = r.short_stacks[number % r.num_short]
    only = number // r.num_short % r.num_players
    for seat in range(r.num_players):
        if is_everybody or seat == only:
            s.stacks[seat] = min(s.stacks[seat], short)


# ---- the kernels ---------------------------------------------------------------------------------


@kernel
def new(state, rules, opening):
    state[:] = 0
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    s.last_hole[:] = NO_CARD
    s.last_board[:] = NO_CARD
    for seat in range(r.num_players):
        s.stacks[seat] = r.stacks[seat]
    round_number = opening // r.num_players
    if r.num_short > 0 and round_number % 2 == 1:
        shorten(s, r, round_number // 2)
    if r.is_button_random:
        clear_table(s, r)
        s.button = NOBODY
        s.to_move = CHANCE
    else:
        button = opening % r.num_players if r.first_button == NOBODY else np.int64(r.first_button)
        start_hand(s, r, button)


@kernel
def turn(state, rules):
    return state.view(STATE)[0].to_move


@helper
def mark_raises(s, r, seat, mask):
    """Mark every raise of the menu, one of each amount; return how many."""
    lowest, highest = lowest_raise(s, r, seat), highest_raise(s, r, seat)
    if r.menu == EXACT:
        mask[lowest + 1 : highest + 2] = 1
        return highest - lowest + 1
    num_raises, last = 0, np.int64(-1)
    for action in range(2, r.num_actions):
        amount = amount_within(s, r, seat, action, lowest, highest)
        mask[action] = amount != last  # amounts never fall from one action to the next
        num_raises += amount != last
        last = amount
    return num_raises


@kernel
def legal(state, rules, mask):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    if s.to_move == CHANCE:
        mask[:] = 0
        if s.button == NOBODY:
            mask[: r.num_players] = 1
            return r.num_players
        num_left = 0
        for card in range(DECK_SIZE):
            mask[card] = 1 - ((s.taken >> card) & 1)
            num_left += mask[card]
        return num_left
    seat = s.to_move
    mask[:] = 0
    mask[1] = 1
    is_free = call_to(s, r, seat) <= s.bets[seat]
    can_fold = not (is_free and r.fold_when_free == FREE_FOLD_IS_ILLEGAL)
    mask[0] = can_fold
    num_legal = 1 + can_fold
    if r.menu == THESIS:
        mask[2 : r.num_actions] = 1
        return num_legal + r.num_actions - 2
    if can_raise(s, r, seat):
        num_legal += mark_raises(s, r, seat, mask)
    return num_legal


@kernel
def sample(state, rules, rng):
    s = state.view(STATE)[0]
    if s.button == NOBODY:
        return below(rng, rules.view(RULES)[0].num_players)
    return draw_card(s.taken, DECK_SIZE, rng)


@kernel
def step(state, rules, action):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    if s.to_move == CHANCE:
        deal(s, r, action)
        return
    seat = np.int64(s.to_move)
    if r.history > 0:
        packed = pack_decision(s, r, seat)
        apply_move(s, r, action)
        keep_decision(s, seat, packed)
    else:
        apply_move(s, r, action)
    ask_from(s, r, next_seat(r, seat))


@helper
def shown_hands(s, r, token, folding):
    """A token that holds ``token`` and the cards of all who are in, but for ``folding``."""
    shown = first_key(token)
    for seat in range(r.num_players):
        if s.status[seat] == IN and seat != folding:
            shown = fold(shown, 1 + np.int64(s.hole[seat, 0]) * DECK_SIZE + s.hole[seat, 1])
    return np.int64(shown | np.uint64(1))


@kernel
def seen(state, rules, action, player):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    if s.to_move != CHANCE:
        if is_showdown_after(s, r, action):
            folding = s.to_move if kind_of(s, r, action) == FOLD else NOBODY
            return shown_hands(s, r, action, folding)
        return 1 + action
    if s.button == NOBODY:
        return 1 + action
    if is_dealing(s):
        if s.deal_seat != player or s.num_own == 0:
            return HIDDEN_CARD
        first = np.int64(s.hole[player, 0])
        return FIRST_CARD + max(first, action) * DECK_SIZE + min(first, action)
    if s.num_board == 4 and not has_contest(s, r):
        return shown_hands(s, r, action, NOBODY)
    return FIRST_CARD + action


@kernel
def returns(state, rules, out):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    for player in range(r.num_players):
        out[player] = s.profits[player] - s.paid[player] * r.pays_at_once
    if r.reward_unit != 1:  # divisions take longer than all the rest
        for player in range(r.num_players):
            out[player] /= r.reward_unit


@kernel
def observe(state, rules, player, out):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    out[:] = 0.0
    if r.has_blocks:
        write_blocks(s, r, player, out)
    else:
        write_full(s, r, player, out)


@helper
def has_looked(s, seat):
    """Whether both private cards of a seat are dealt, so that the owner has looked at them."""
    return s.hole[seat, 1] != NO_CARD


@kernel
def determinize(state, rules, player, rng):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    if s.button == NOBODY:
        return
    # After a showdown all hands that took part in it are known.
    is_shown = s.to_move == OVER and s.num_in > 1
    known = np.int64(0)
    for i in range(s.num_board):
        known |= np.int64(1) << s.board[i]
    for seat in range(r.num_players):
        if has_looked(s, seat) and (seat == player or (is_shown and s.status[seat] == IN)):
            known |= (np.int64(1) << s.hole[seat, 0]) | (np.int64(1) << s.hole[seat, 1])
    for seat in range(r.num_players):
        if has_looked(s, seat) and (seat == player or (is_shown and s.status[seat] == IN)):
            continue
        for i in range(2):
            if s.hole[seat, i] != NO_CARD:
                s.hole[seat, i] = draw_card(known, DECK_SIZE, rng)
                known |= np.int64(1) << s.hole[seat, i]
        if has_looked(s, seat):
            sort_hole(s, seat)
    s.taken = known


@kernel
def settle(state, rules, rng):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    while s.to_move == CHANCE:
        if s.button == NOBODY:
            deal(s, r, below(rng, r.num_players))
        else:
            deal(s, r, draw_card(s.taken, DECK_SIZE, rng))
    return s.to_move


@compiled(types.void(types.uint8[:, ::1], RULES_TYPE, types.float64[::1]))
def write_stakes(states, rules, out):
    """The pot and what can still be bet, for the player to move in each state."""
    r = rules.view(RULES)[0]
    for i in range(out.size):
        s = states[i].view(STATE)[0]
        left = left_to_bet(s, r, np.int64(s.to_move)) if s.to_move >= 0 else np.int64(0)
        out[i] = max(s.pot + left, np.int64(1)) / r.reward_unit


# ---- a quick player for simulations: equity against random hands, and the price of a call --------

TO_FOLD, TO_CALL = 0, 1
NUM_SAMPLES = 16
RAISE_MARGIN = 0.2
"""Equity above an equal share of the pot with which it raises, most of the time."""
RESPECT = 0.3
"""Equity that a bet costs those who give way."""


@helper
def raise_to(s, r, seat, fraction):
    """The raise nearest to a fraction of the pot."""
    after_call = s.pot + s.bet_to - s.bets[seat]
    wanted = s.bet_to + fraction * after_call
    if r.menu == EXACT:
        amount = max(np.int64(wanted), lowest_raise(s, r, seat))
        return min(amount, highest_raise(s, r, seat)) + 1
    best, gap, last = np.int64(TO_CALL), np.inf, np.int64(-1)
    for action in range(2, r.num_actions):
        amount = amount_of(s, r, seat, action)
        # Of raises of one amount the first is legal.
        if amount != last and abs(amount - wanted) < gap:
            best, gap = np.int64(action), abs(amount - wanted)
        last = amount
    return best


@helper
def choose(state, rules, rng, respect):
    """Raise when well ahead, call when the price is right; only the mover's own cards are read.

    A few samples make a rough estimate, which is as good as mixing. ``respect`` is the equity that
    a bet of others costs: their hands are better than random ones.
    """
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    seat = np.int64(s.to_move)
    others, price = num_opponents(s, r, seat), to_pay(s, r, seat)
    odds = price / (price + s.pot) if price else 0.0
    low, high = odds + respect, 1.0 / (1.0 + others) + RAISE_MARGIN + 0.5 * odds
    equity = compared_equity(
        *(r, s.hole[seat], s.board, s.num_board, others), *(np.int64(NUM_SAMPLES), low, high, rng)
    )
    may_raise = r.menu == THESIS or can_raise(s, r, seat)
    if may_raise and equity > high:
        return raise_to(s, r, seat, 0.5 + 0.5 * uniform(rng))
    return np.int64(TO_CALL if price == 0 or equity > low else TO_FOLD)


@kernel
def rollout(state, rules, rng):
    """An action of the quick player."""
    return choose(state, rules, rng, 0.0)


@compiled(OPTIONAL_SIGNATURES["rollout"])
def unknown_choice(state, rules, rng):
    """The same for opponents of whom nothing is known: every other time they give way to bets.

    Who expects callers alone never bluffs, and leaves their blinds to those who fold.
    """
    return choose(state, rules, rng, RESPECT if below(rng, 2) == 0 else 0.0)
