"""A quick player for simulations: its equity against random hands, and the price of a call."""

from __future__ import annotations

import numpy as np

from envs.core.compiling import helper, kernel
from envs.core.kernels import ROLLOUT
from envs.core.rng import uniform
from envs.holdem.betting import amount_of, call_to, can_raise, highest_raise, lowest_raise
from envs.holdem.equity import sampled_equity
from envs.holdem.records import EXACT, IN, RULES, STATE, THESIS

__all__ = ["rollout"]

FOLD, CALL = 0, 1
NUM_SAMPLES = 4
RAISE_MARGIN = 0.2
"""Equity above an equal share of the pot with which it raises, most of the time."""


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


@kernel(ROLLOUT)
def rollout(state, rules, rng):
    """Raise when well ahead, call when the price is right; only the mover's own cards are read.

    A few samples make a rough estimate, which is as good as mixing.
    """
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    seat = np.int64(s.to_move)
    others = 0
    for other in range(r.num_players):
        others += other != seat and s.status[other] == IN
    equity = sampled_equity(
        r, s.hole[seat], s.board, s.num_board, others, np.int64(NUM_SAMPLES), rng
    )
    missing = max(call_to(s, r, seat) - s.bets[seat], np.int64(0))
    price = min(missing, np.int64(s.stacks[seat]))
    odds = price / (price + s.pot) if price else 0.0
    may_raise = r.menu == THESIS or can_raise(s, r, seat)
    if may_raise and equity > 1.0 / (1.0 + others) + RAISE_MARGIN + 0.5 * odds:
        return raise_to(s, r, seat, 0.5 + 0.5 * uniform(rng))
    return np.int64(CALL if equity >= odds else FOLD)
