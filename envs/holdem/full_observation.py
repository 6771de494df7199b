"""The full observation of hold'em: cards as planes, chips as shares of all, and latest moves."""

from __future__ import annotations

import numpy as np

from envs.core.compiling import inlined
from envs.core.kernels import OVER
from envs.holdem.betting import highest_raise, lowest_raise, next_seat
from envs.holdem.evaluator import DECK_SIZE
from envs.holdem.observation import position_of, to_pay
from envs.holdem.records import IN, MAX_LOG, NO_CARD

__all__ = ["NUM_KINDS", "NUM_STREETS", "write_full"]

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
    for back in range(min(r.num_log, s.num_moves, MAX_LOG)):
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
