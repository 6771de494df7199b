"""A position of No Thanks! as bit sets: what the solver plays on and what estimates read."""

from __future__ import annotations

import numba
import numpy as np
from numba import types

from envs.core.addresses import Addresses, AddressesType
from envs.core.compiling import compiled, inlined
from envs.core.kernels import INT, RULES, STATE, TOTALS
from envs.core.records import record
from envs.core.rng import mix
from envs.no_thanks.kernels import MAX_CARDS, MAX_PLAYERS
from envs.no_thanks.kernels import RULES as RULES_RECORD
from envs.no_thanks.kernels import STATE as STATE_RECORD

MAX_FEATURES = 64
MAX_STACK = 64

BOARD = record(
    owned=(np.int64, (MAX_PLAYERS,)),  # the cards of each seat as a set
    trial_owned=(np.int64, (MAX_PLAYERS,)),  # of a rollout
    trial_chips=(np.int64, (MAX_PLAYERS,)),
    trial_leads=(np.int64, (MAX_PLAYERS,)),
    rest=(np.int64, (MAX_CARDS + 1,)),  # cards from each place of the deck on, as sets
    features=(np.float64, (MAX_FEATURES,)),  # room for estimates
    stack=(np.int64, (MAX_STACK,)),  # likewise
    salt=np.uint64,  # of the deck and of where the search stops
    chips=(np.int32, (MAX_PLAYERS,)),
    leads=(np.int32, (MAX_PLAYERS,)),  # sum of the lead cards of each seat
    deck=(np.int32, (MAX_CARDS,)),
    pot=np.int32,
    num_taken=np.int32,
    to_move=np.int32,
    num_players=np.int32,
    num_cards=np.int32,
    deck_size=np.int32,
    lowest=np.int32,
    step=np.int32,
    is_unlimited=np.int32,
    has_cap=np.int32,
)
BOARDS = types.Array(numba.from_dtype(BOARD), 1, "C")
PARAMS = types.Array(types.float64, 1, "C", readonly=True)
EVALUATE = types.void(BOARDS, PARAMS, TOTALS)
ESTIMATE = AddressesType("masquerade.no_thanks.Estimate", {"evaluate": EVALUATE})


class Estimate(Addresses):
    """The function that says what a position at a boundary is worth to everybody."""

    numba_type = ESTIMATE


@inlined
def cost_of_card(b, owned, card):
    """By how much the lead cards grow with ``card`` of who has ``owned``; it may be negative."""
    value = b.lowest + b.step * card
    if b.step != 1:
        return value
    cost = 0 if card > 0 and (owned >> (card - 1)) & 1 else value
    if (owned >> (card + 1)) & 1:
        cost -= value + 1
    return cost


@compiled(types.void(BOARDS, STATE, RULES, INT))
def load_board(board, state, rules, stop):
    """Write a position, whose deck is known, as bit sets, for a search that ends at ``stop``."""
    b = board[0]
    s = state.view(STATE_RECORD)[0]
    r = rules.view(RULES_RECORD)[0]
    b.num_players = r.num_players
    b.num_cards = r.num_cards
    b.deck_size = r.deck_size
    b.lowest = r.lowest
    b.step = r.step
    b.is_unlimited = r.is_unlimited
    b.has_cap = r.has_cap
    b.pot = s.pot
    b.num_taken = s.num_taken
    b.to_move = s.to_move
    for player in range(MAX_PLAYERS):
        b.owned[player] = 0
        b.chips[player] = s.chips[player]
        b.leads[player] = s.leads[player]
    b.rest[r.deck_size] = 0
    b.salt = np.uint64(stop + 1)
    for place in range(r.deck_size - 1, -1, -1):
        card = np.int64(s.deck[place])
        b.deck[place] = card
        b.salt = mix(b.salt * np.uint64(64) + np.uint64(card + 1))
        b.rest[place] = b.rest[place + 1] | (np.int64(1) << card)
        if place < s.num_taken:
            b.owned[s.owner[card]] |= np.int64(1) << card


def make_board() -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """Memory for one position."""
    return np.zeros(1, BOARD)
