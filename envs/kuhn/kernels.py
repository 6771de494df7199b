"""The compiled rules of Kuhn poker: its record and its kernels."""

from __future__ import annotations

import numpy as np

from envs.core.compiling import helper
from envs.core.kernels import CHANCE, OVER, kernel
from envs.core.records import record
from envs.core.rng import below, card_bit, nth_card_left

MAX_PLAYERS = 5
PASS, BET = 0, 1
NOBODY = -1
NO_CARD = -1

STATE = record(
    cards=(np.int8, (MAX_PLAYERS,)),  # card of each seat, NO_CARD before it is dealt
    num_dealt=np.int8,  # 0 .. num_players
    num_moves=np.int8,  # passes and bets so far
    first_bettor=np.int8,  # seat of the first bet, or NOBODY
    has_bet=(np.int8, (MAX_PLAYERS,)),  # 1 for a seat that put in the second chip
)
RULES = record(num_players=np.int32)


@helper
def winner_of(s, n):
    """The seat that takes the pot: the highest card of those who are in."""
    winner = NOBODY
    for player in range(n):
        is_in = s.first_bettor == NOBODY or s.has_bet[player]
        if is_in and (winner == NOBODY or s.cards[player] > s.cards[winner]):
            winner = player
    return winner


@kernel
def new(state, rules, opening):
    state[:] = 0
    s = state.view(STATE)[0]
    s.cards[:] = NO_CARD
    s.first_bettor = NOBODY


@kernel
def turn(state, rules):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    if s.num_dealt < n:
        return CHANCE
    # After a bet by seat b everyone else has one answer, so the game is over after b + n moves.
    last_move = n if s.first_bettor == NOBODY else s.first_bettor + n
    return OVER if s.num_moves == last_move else s.num_moves % n


@kernel
def legal(state, rules, mask):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    mask[:] = 0
    if s.num_dealt == n:
        mask[PASS] = 1
        mask[BET] = 1
        return 2
    mask[: n + 1] = 1
    for player in range(s.num_dealt):
        mask[s.cards[player]] = 0
    return n + 1 - s.num_dealt


@kernel
def sample(state, rules, rng):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    taken = 0
    for player in range(s.num_dealt):
        taken |= card_bit(s.cards[player])
    return nth_card_left(taken, below(rng, n + 1 - s.num_dealt))


@kernel
def step(state, rules, action):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    if s.num_dealt < n:
        s.cards[s.num_dealt] = action
        s.num_dealt += 1
        return
    player = s.num_moves % n
    if action == BET:
        s.has_bet[player] = 1
        if s.first_bettor == NOBODY:
            s.first_bettor = player
    s.num_moves += 1


@kernel
def seen(state, rules, action, player):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    if s.num_dealt == n:
        return 1 + action
    is_mine = s.num_dealt == player
    return 3 + action if is_mine else 1


@kernel
def returns(state, rules, out):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    if turn(state, rules) != OVER:
        out[:] = 0.0
        return
    pot = 0
    for player in range(n):
        pot += 1 + s.has_bet[player]
        out[player] = -1.0 - s.has_bet[player]
    out[winner_of(s, n)] += pot


@kernel
def observe(state, rules, player, out):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    out[:] = 0.0
    out[player] = 1.0
    at = n
    if s.cards[player] != NO_CARD:
        out[at + s.cards[player]] = 1.0
    at += n + 1
    # Every move of the game in order, two places each: the betting is the whole public history.
    for move in range(s.num_moves):
        seat = move % n
        is_answer = s.first_bettor != NOBODY and move > s.first_bettor
        made_bet = s.has_bet[seat] == 1 and (is_answer or move == s.first_bettor)
        out[at + 2 * move + (BET if made_bet else PASS)] = 1.0


@kernel
def determinize(state, rules, player, rng):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    is_over = turn(state, rules) == OVER
    winner = winner_of(s, n)
    while True:
        taken = 0
        num_taken = 0
        if s.cards[player] != NO_CARD:
            taken = card_bit(s.cards[player])
            num_taken = 1
        for other in range(s.num_dealt):
            if other != player:
                card = nth_card_left(taken, below(rng, n + 1 - num_taken))
                s.cards[other] = card
                taken |= card_bit(card)
                num_taken += 1
        # Everybody has seen who took the pot; the true cards fit, so this ends.
        if not is_over or winner_of(s, n) == winner:
            return
