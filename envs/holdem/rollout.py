"""A quick player for simulations: its equity against random hands, and the price of a call."""

from __future__ import annotations

import numpy as np

from envs.core.compiling import helper, kernel
from envs.core.kernels import ROLLOUT
from envs.core.rng import below, uniform
from envs.holdem.betting import amount_of, call_to, can_raise, highest_raise, lowest_raise
from envs.holdem.equity import compared_equity
from envs.holdem.records import EXACT, IN, RULES, STATE, THESIS

__all__ = ["rollout", "unknown_choice"]

FOLD, CALL = 0, 1
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
    best, gap, last = np.int64(CALL), np.inf, np.int64(-1)
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
    others = 0
    for other in range(r.num_players):
        others += other != seat and s.status[other] == IN
    missing = max(call_to(s, r, seat) - s.bets[seat], np.int64(0))
    price = min(missing, np.int64(s.stacks[seat]))
    odds = price / (price + s.pot) if price else 0.0
    low, high = odds + respect, 1.0 / (1.0 + others) + RAISE_MARGIN + 0.5 * odds
    equity = compared_equity(
        *(r, s.hole[seat], s.board, s.num_board, others), *(np.int64(NUM_SAMPLES), low, high, rng)
    )
    may_raise = r.menu == THESIS or can_raise(s, r, seat)
    if may_raise and equity > high:
        return raise_to(s, r, seat, 0.5 + 0.5 * uniform(rng))
    return np.int64(CALL if price == 0 or equity > low else FOLD)


@kernel(ROLLOUT)
def rollout(state, rules, rng):
    """An action of the quick player."""
    return choose(state, rules, rng, 0.0)


@kernel(ROLLOUT)
def unknown_choice(state, rules, rng):
    """The same for opponents of whom nothing is known: every other time they give way to bets.

    Who expects callers alone never bluffs, and leaves their blinds to those who fold.
    """
    return choose(state, rules, rng, RESPECT if below(rng, 2) == 0 else 0.0)
