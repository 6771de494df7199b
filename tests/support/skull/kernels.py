"""The compiled rules of Skull for two: its record and its kernels."""

from __future__ import annotations

import numpy as np

from envs.core.compiling import helper
from envs.core.kernels import CHANCE, OVER, kernel
from envs.core.rng import below

NUM_PLAYERS = 2
ROSE, SKULL, BID_ONE, BID_TWO, PASS = range(5)
NOTHING = -1

STATE = np.dtype(
    (
        np.record,
        [
            ("starter", np.int8),  # NOTHING before it is drawn
            ("num_moves", np.int8),
            ("cards", np.int8, (NUM_PLAYERS,)),  # ROSE or SKULL of each seat, or NOTHING
            ("bid", np.int8),  # cards that the bidder has to turn, 0 before the first bid
            ("bidder", np.int8),
            ("is_over", np.int8),
        ],
    )
)


@helper
def mover_of(s):
    return (s.starter + s.num_moves) % NUM_PLAYERS


@helper
def is_turned(s, seat):
    """Whether everybody has seen a card: the bidder turns its own first, and stops at a skull."""
    if not s.is_over:
        return False
    return seat == s.bidder or (s.bid == 2 and s.cards[s.bidder] == ROSE)


@kernel
def new(state, rules, opening):
    s = state.view(STATE)[0]
    s.starter = s.cards[0] = s.cards[1] = s.bidder = NOTHING
    s.num_moves = s.bid = s.is_over = 0


@kernel
def turn(state, rules):
    s = state.view(STATE)[0]
    if s.starter == NOTHING:
        return CHANCE
    return OVER if s.is_over else mover_of(s)


@kernel
def legal(state, rules, mask):
    s = state.view(STATE)[0]
    mask[:] = 0
    if s.num_moves < NUM_PLAYERS:  # who starts, or which card to lay down
        mask[0] = mask[1] = 1
        return 2
    mask[BID_TWO] = 1
    mask[PASS if s.bid else BID_ONE] = 1
    return 2


@kernel
def sample(state, rules, rng):
    return below(rng, NUM_PLAYERS)


@kernel
def step(state, rules, action):
    s = state.view(STATE)[0]
    if s.starter == NOTHING:
        s.starter = action
        return
    mover = mover_of(s)
    if action <= SKULL:
        s.cards[mover] = action
    elif action != PASS:
        s.bid = action - BID_ONE + 1
        s.bidder = mover
    s.is_over = action in (BID_TWO, PASS)
    s.num_moves += 1


@kernel
def seen(state, rules, action, player):
    s = state.view(STATE)[0]
    if s.starter == NOTHING:
        return 1 + action
    if action <= SKULL:
        return 3 + action if player == mover_of(s) else 5
    # A pass or a bid of two ends the game, and everybody sees the cards that are turned.
    bidder = s.bidder if action == PASS else mover_of(s)
    token = 10 * action
    if action in (BID_TWO, PASS):
        token += 1 + s.cards[bidder]
        if action == BID_TWO and s.cards[bidder] == ROSE:
            token += 2 + s.cards[1 - bidder]
    return token


@kernel
def returns(state, rules, out):
    s = state.view(STATE)[0]
    out[:] = 0.0
    if s.is_over:
        has_skull = s.cards[s.bidder] == SKULL or (s.bid == 2 and s.cards[1 - s.bidder] == SKULL)
        out[s.bidder] = -1.0 if has_skull else float(s.bid)
        out[1 - s.bidder] = -out[s.bidder]


@kernel
def observe(state, rules, player, out):
    s = state.view(STATE)[0]
    out[:] = 0.0
    out[player] = 1.0
    if s.starter != NOTHING:
        out[2 + s.starter] = 1.0
    for seat in range(NUM_PLAYERS):
        if s.cards[seat] != NOTHING and (seat == player or is_turned(s, seat)):
            out[4 + 2 * seat + s.cards[seat]] = 1.0
    out[8] = s.num_moves / 4.0
    out[9] = s.bid / 2.0


@kernel
def determinize(state, rules, player, rng):
    s = state.view(STATE)[0]
    other = 1 - player
    if s.cards[other] != NOTHING and not is_turned(s, other):
        s.cards[other] = below(rng, 2)
