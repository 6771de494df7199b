"""The compiled functions of No Thanks!; the rules in words are in ``game.py``.

A card is numbered from 0; its value is ``lowest + step * card``. Cards whose values differ by one
are neighbours, so with a step of 2 there are none.
"""

from __future__ import annotations

import numpy as np

from envs.core.compiling import helper, inlined
from envs.core.kernels import CHANCE, OVER, kernel
from envs.core.records import record
from envs.core.rng import below, card_bit, draw_card, random_legal

MAX_PLAYERS = 7
MAX_CARDS = 40
PAY, TAKE = 0, 1
NUM_ACTIONS = 2
NOBODY = -1
NO_CARD = -1
BY_SCORE, BY_PLACE, BY_WIN = 0, 1, 2

# What is seen of an event; its place in the sequence tells a payment from a shuffled card.
HIDDEN_CARD = 1
FIRST_CARD = 2  # + card
PAID = 1
TOOK = 2  # + 1 + the card that is turned up, if any

STATE = record(
    dealt=np.int64,  # the cards of the deck as a set
    chips=(np.int16, (MAX_PLAYERS,)),  # of each seat; below 0 only if unlimited
    leads=(np.int16, (MAX_PLAYERS,)),  # sum of the lead cards of each seat
    pot=np.int16,  # chips on the card that is face up
    deck=(np.int8, (MAX_CARDS,)),  # cards in the order they come, then NO_CARD
    owner=(np.int8, (MAX_CARDS,)),  # seat that took each card, or NOBODY
    num_dealt=np.int8,  # cards that have a place in the deck, 0 .. deck_size
    num_taken=np.int8,  # cards taken; deck[num_taken] is face up
    to_move=np.int8,  # seat to move, CHANCE or OVER
    starter=np.int8,  # seat that begins, NOBODY until it is drawn
)
RULES = record(
    num_players=np.int32,
    num_cards=np.int32,  # before any are removed
    deck_size=np.int32,  # cards that come into the game
    lowest=np.int32,  # value of card 0
    step=np.int32,  # from one card's value to the next
    chips=np.int32,  # of every seat at the start
    is_unlimited=np.int32,  # 1: who has no chips may pay all the same
    has_cap=np.int32,  # 1: a card with as many chips as its value must be taken
    is_open=np.int32,  # 1: everybody knows the order of the deck
    hides_chips=np.int32,  # 1: observations show nobody else's chips
    first_player=np.int32,  # seat that begins, NOBODY if it is drawn
    alternates=np.int32,  # 1: opening 0 begins with seat 0, opening 1 with seat 1 ...
    returns=np.int32,  # BY_SCORE, BY_PLACE or BY_WIN
    chips_low=np.int32,  # fewest and most chips a seat can have,
    chips_high=np.int32,  # for the scale of observations
    pot_high=np.int32,  # most chips a card can carry
)


# ---- cards, chips, scores ------------------------------------------------------------------------


@helper
def card_value(r, card):
    """The number printed on a card."""
    return r.lowest + r.step * card


@helper
def cost_of(s, r, player, card):
    """By how much the lead cards of ``player`` grow with ``card``; it may be negative.

    A card above a run costs nothing; one below a run takes over from its lead card; one that joins
    two runs saves the higher lead card.
    """
    value = card_value(r, card)
    if r.step != 1:
        return value
    cost = value
    if card > 0 and s.owner[card - 1] == player:
        cost = 0
    if card + 1 < r.num_cards and s.owner[card + 1] == player:
        cost -= value + 1
    return cost


@helper
def can_pay(s, r):
    """Whether the player to move may pay for the card that is face up."""
    if not r.is_unlimited and s.chips[s.to_move] <= 0:
        return False
    return not r.has_cap or s.pot < card_value(r, s.deck[s.num_taken])


@helper
def score_of(s, player):
    """Chips minus lead cards."""
    return s.chips[player] - s.leads[player]


@helper
def result_of(s, r, player):
    """The return of ``player`` if the game ended now."""
    own = score_of(s, player)
    if r.returns == BY_SCORE:
        return np.float64(own)
    num_better = 0
    num_equal = 0  # with the player
    for other in range(r.num_players):
        score = score_of(s, other)
        num_better += score > own
        num_equal += score == own
    if r.returns == BY_WIN:
        return 1.0 / num_equal if num_better == 0 else 0.0
    # Half of the others below minus half of the others above: places from the middle.
    num_worse = r.num_players - num_better - num_equal
    return (num_worse - num_better) / 2.0


# ---- the ten kernels -----------------------------------------------------------------------------


@kernel
def new(state, rules, opening):
    state[:] = 0
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    s.chips[: r.num_players] = r.chips
    s.deck[:] = NO_CARD
    s.owner[:] = NOBODY
    s.to_move = CHANCE
    s.starter = opening if r.alternates else r.first_player


@kernel
def turn(state, rules):
    return state.view(STATE)[0].to_move


@kernel
def legal(state, rules, mask):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    mask[:] = 0
    if s.to_move != CHANCE:
        pays = can_pay(s, r)
        mask[PAY] = pays
        mask[TAKE] = 1
        return 1 + pays
    if s.starter == NOBODY:
        mask[: r.num_players] = 1
        return r.num_players
    mask[: r.num_cards] = 1
    for place in range(s.num_dealt):
        mask[s.deck[place]] = 0
    return r.num_cards - s.num_dealt


@kernel
def sample(state, rules, rng):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    return (
        below(rng, r.num_players) if s.starter == NOBODY else draw_card(s.dealt, r.num_cards, rng)
    )


@helper
def deal(s, r, card):
    """Put the next card of the deck in its place; with the last one the game begins."""
    s.deck[s.num_dealt] = card
    s.dealt |= card_bit(card)
    s.num_dealt += 1
    if s.num_dealt == r.deck_size:
        s.to_move = s.starter


@inlined
def play(s, r, action):
    """The player to move pays for the card that is face up, or takes it."""
    player = s.to_move
    if action == PAY:
        s.chips[player] -= 1
        s.pot += 1
        s.to_move = player + 1 if player + 1 < r.num_players else 0
    else:
        card = s.deck[s.num_taken]
        s.leads[player] += cost_of(s, r, player, card)
        s.owner[card] = player
        s.chips[player] += s.pot
        s.pot = 0
        s.num_taken += 1
        if s.num_taken == r.deck_size:
            s.to_move = OVER


@kernel
def step(state, rules, action):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    if s.to_move != CHANCE:
        play(s, r, action)
    elif s.starter == NOBODY:
        s.starter = action
    else:
        deal(s, r, action)


@kernel
def seen(state, rules, action, player):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    if s.to_move == CHANCE:
        is_visible = s.starter == NOBODY or s.num_dealt == 0 or r.is_open
        return FIRST_CARD + action if is_visible else HIDDEN_CARD
    if action == PAY:
        return PAID
    is_last = s.num_taken + 1 >= r.deck_size
    return TOOK if is_last else TOOK + 1 + s.deck[s.num_taken + 1]


@kernel
def returns(state, rules, out):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    for player in range(r.num_players):
        out[player] = result_of(s, r, player) if s.to_move == OVER else 0.0


@kernel
def evaluate(state, rules, out):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    for player in range(r.num_players):
        out[player] = result_of(s, r, player)


@kernel
def observe(state, rules, player, out):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    n = r.num_players
    out[:] = 0.0
    out[player] = 1.0
    at = n
    if s.num_dealt > 0 and s.num_taken < r.deck_size:
        out[at + s.deck[s.num_taken]] = 1.0
    at += r.num_cards
    out[at] = s.pot / r.pot_high
    out[at + 1] = (r.deck_size - s.num_taken) / r.deck_size
    at += 2
    for ahead in range(n):  # 0 is the viewer
        seat = player + ahead if player + ahead < n else player + ahead - n
        if ahead == 0 or not r.hides_chips:
            out[at + ahead] = (s.chips[seat] - r.chips_low) / (r.chips_high - r.chips_low)
    at += 1 if r.hides_chips else n
    for ahead in range(n):
        seat = player + ahead if player + ahead < n else player + ahead - n
        out[at + ahead] = s.to_move == seat
    at += n
    for place in range(s.num_taken):
        card = s.deck[place]
        ahead = s.owner[card] - player
        out[at + (ahead if ahead >= 0 else ahead + n) * r.num_cards + card] = 1.0
    at += n * r.num_cards
    if r.is_open:
        for place in range(s.num_taken + 1, s.num_dealt):
            out[at + s.deck[place]] = 1.0 - (place - s.num_taken - 1) / r.deck_size


@kernel
def determinize(state, rules, player, rng):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    if r.is_open:
        return
    num_seen = s.num_taken + 1
    if num_seen >= s.num_dealt:
        return
    s.dealt = 0
    for place in range(num_seen):
        s.dealt |= card_bit(s.deck[place])
    for place in range(num_seen, s.num_dealt):
        s.deck[place] = draw_card(s.dealt, r.num_cards, rng)
        s.dealt |= card_bit(s.deck[place])


@kernel
def settle(state, rules, rng):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    if s.to_move != CHANCE:
        return s.to_move
    if s.starter == NOBODY:
        s.starter = below(rng, r.num_players)
    while s.to_move == CHANCE:
        deal(s, r, draw_card(s.dealt, r.num_cards, rng))
    return s.to_move


@kernel
def playout(state, rules, rng, mask):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    num_steps = r.deck_size - s.num_dealt + (s.starter == NOBODY)
    settle(state, rules, rng)
    mask[PAY], mask[TAKE] = 0, 1
    while s.to_move != OVER:
        play(s, r, below(rng, NUM_ACTIONS) if can_pay(s, r) else random_legal(mask, rng))
        num_steps += 1
    return num_steps


@kernel
def rollout(state, rules, rng):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    if not can_pay(s, r):
        return TAKE
    # The threshold against which another one gains least with the cards 3 to 35; see
    # experiments/no_thanks/thresholds.py. Other cards have one in proportion.
    threshold = 12 * card_value(r, r.num_cards - 1) // 35
    cost = cost_of(s, r, s.to_move, s.deck[s.num_taken])
    return TAKE if cost - s.pot <= threshold else PAY
