"""The compiled rules of Leduc poker: its record and its kernels."""

from __future__ import annotations

import numpy as np

from envs.core.compiling import helper
from envs.core.kernels import CHANCE, OVER, kernel
from envs.core.records import record
from envs.core.rng import below, card_bit, nth_card_left

MAX_PLAYERS = 5
FOLD, CALL, RAISE = 0, 1, 2
NUM_ACTIONS = 3
NUM_ROUNDS = 2
FIRST_RAISE, SECOND_RAISE = 2, 4
MAX_RAISES = 2
MAX_CHIPS = 1 + MAX_RAISES * (FIRST_RAISE + SECOND_RAISE)
LONGEST_ROUND = 3 * MAX_PLAYERS - 2
NO_CARD = -1
NO_MOVE = -1

# What is seen of a chance event or a move.
HIDDEN_CARD = 1  # somebody else was dealt a private card
FIRST_MOVE = 2  # + action
FIRST_CARD = 5  # + card

STATE = record(
    # Private card of each seat, NO_CARD before it is dealt.
    cards=(np.int8, (MAX_PLAYERS,)),
    public=np.int8,  # public card, NO_CARD before it is turned up
    num_dealt=np.int8,  # private cards dealt, 0 .. num_players
    to_move=np.int8,  # seat to move, CHANCE or OVER
    # 0 until the public card is turned up, then 1 (records have a "round").
    round_index=np.int8,
    stakes=np.int8,  # chips a player must have put in to stay, 1 .. MAX_CHIPS
    num_raises=np.int8,  # in this round, 0 .. MAX_RAISES
    num_in=np.int8,  # players who have not folded
    # Players yet to speak since the round began or the last raise.
    num_to_answer=np.int8,
    num_moves=np.int8,  # in this round
    chips=(np.int8, (MAX_PLAYERS,)),  # put in by each seat, 1 .. MAX_CHIPS
    has_folded=(np.int8, (MAX_PLAYERS,)),  # 1 for a seat that is out
    # Actions of each round in order, then NO_MOVE.
    moves=(np.int8, (NUM_ROUNDS, LONGEST_ROUND)),
)
RULES = record(
    num_players=np.int32,
    deck_size=np.int32,  # two suits of num_players + 1 ranks
    longest_round=np.int32,  # the most moves one round can have
)


@helper
def first_seat_in(s, n, seat):
    """The first player from ``seat`` on, round the table, who has not folded."""
    if seat == n:
        seat = 0
    while s.has_folded[seat]:
        seat = seat + 1 if seat + 1 < n else 0
    return seat


@helper
def hand_strength(card, public):
    """A pair beats every single card; otherwise the private rank decides."""
    return card // 2 + (MAX_PLAYERS + 1 if card // 2 == public // 2 else 0)


@helper
def winners_of(s, n):
    """Who shares the pot: a bit for each seat with the strongest hand of those who are in."""
    best = -1
    winners = 0
    for player in range(n):
        strength = hand_strength(s.cards[player], s.public)
        if s.has_folded[player] or strength < best:
            continue
        winners = winners | 1 << player if strength == best else 1 << player
        best = strength
    return winners


@kernel
def new(state, rules, opening):
    state[:] = 0
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    s.cards[:] = NO_CARD
    s.public = NO_CARD
    s.moves[:] = NO_MOVE
    s.chips[:n] = 1
    s.stakes = 1
    s.num_in = n
    s.num_to_answer = n
    s.to_move = CHANCE


@kernel
def turn(state, rules):
    return state.view(STATE)[0].to_move


@kernel
def legal(state, rules, mask):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    mask[:] = 0
    if s.to_move == CHANCE:
        mask[: r.deck_size] = 1
        for player in range(s.num_dealt):
            mask[s.cards[player]] = 0
        return r.deck_size - s.num_dealt
    is_facing_bet = s.chips[s.to_move] < s.stakes
    can_raise = s.num_raises < MAX_RAISES
    mask[FOLD] = is_facing_bet
    mask[CALL] = 1
    mask[RAISE] = can_raise
    return 1 + is_facing_bet + can_raise


@kernel
def sample(state, rules, rng):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    taken = 0
    for player in range(s.num_dealt):
        taken |= card_bit(s.cards[player])
    return nth_card_left(taken, below(rng, r.deck_size - s.num_dealt))


@helper
def deal(s, n, card):
    """Deal the next private card or turn up the public one, which opens the second round."""
    if s.num_dealt < n:
        s.cards[s.num_dealt] = card
        s.num_dealt += 1
        if s.num_dealt == n:
            s.to_move = 0
        return
    s.public = card
    s.round_index = 1
    s.num_raises = 0
    s.num_to_answer = s.num_in
    s.num_moves = 0
    s.to_move = first_seat_in(s, n, 0)


@kernel
def step(state, rules, action):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    if s.to_move == CHANCE:
        deal(s, n, action)
        return
    player = s.to_move
    s.moves[s.round_index, s.num_moves] = action
    s.num_moves += 1
    s.num_to_answer -= 1
    if action == FOLD:
        s.has_folded[player] = 1
        s.num_in -= 1
    else:
        if action == RAISE:
            s.stakes += FIRST_RAISE if s.round_index == 0 else SECOND_RAISE
            s.num_raises += 1
            s.num_to_answer = s.num_in - 1
        s.chips[player] = s.stakes
    if s.num_in > 1 and s.num_to_answer > 0:
        s.to_move = first_seat_in(s, n, player + 1)
    elif s.num_in > 1 and s.round_index == 0:
        s.to_move = CHANCE
    else:
        s.to_move = OVER


@kernel
def seen(state, rules, action, player):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    if s.to_move != CHANCE:
        return FIRST_MOVE + action
    is_visible = s.num_dealt == player or s.num_dealt == n
    return FIRST_CARD + action if is_visible else HIDDEN_CARD


@kernel
def returns(state, rules, out):
    s = state.view(STATE)[0]
    n = rules.view(RULES)[0].num_players
    out[:] = 0.0
    if s.to_move != OVER:
        return
    winners = winners_of(s, n)
    pot = 0
    num_winners = 0
    for player in range(n):
        pot += s.chips[player]
        num_winners += winners >> player & 1
    for player in range(n):
        out[player] = -s.chips[player]
        if winners >> player & 1:
            out[player] += pot / num_winners


@kernel
def observe(state, rules, player, out):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    out[:] = 0.0
    out[player] = 1.0
    at = r.num_players
    if s.cards[player] != NO_CARD:
        out[at + s.cards[player]] = 1.0
    at += r.deck_size
    if s.public != NO_CARD:
        out[at + s.public] = 1.0
    at += r.deck_size
    for seat in range(r.num_players):
        out[at + seat] = s.chips[seat] / MAX_CHIPS
    at += r.num_players
    for betting_round in range(NUM_ROUNDS):
        for move in range(r.longest_round):
            action = s.moves[betting_round, move]
            if action != NO_MOVE:
                out[at + action] = 1.0
            at += NUM_ACTIONS


@kernel
def determinize(state, rules, player, rng):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    winners = winners_of(s, r.num_players)
    while True:
        taken = 0
        num_left = r.deck_size
        if s.cards[player] != NO_CARD:
            taken |= card_bit(s.cards[player])
            num_left -= 1
        if s.public != NO_CARD:
            taken |= card_bit(s.public)
            num_left -= 1
        for other in range(s.num_dealt):
            if other != player:
                card = nth_card_left(taken, below(rng, num_left))
                s.cards[other] = card
                taken |= card_bit(card)
                num_left -= 1
        # Everybody has seen who took the pot; the true cards fit, so this ends.
        if s.to_move != OVER or winners_of(s, r.num_players) == winners:
            return
