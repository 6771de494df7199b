"""Decisions of Liar's Dice by what matters: dice on the table, bids of this round, own hand.

What happened in earlier rounds tells nothing about the dice of this one, so it is left out, and
faces that can be bid no more are all one. With all bids of the round this loses nothing, if the
others do not let earlier rounds tell them anything either. A shorter *memory* keeps the last bids
only, which makes many decisions look alike: an abstraction. ``odds`` has a coarser one.
"""

from __future__ import annotations

import numpy as np
from numba import types

from common.errors import MasqueradeError
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import INT
from envs.core.kernels import RULES as RULES_TYPE
from envs.core.keys import first_key, fold
from envs.core.rng import Words
from envs.core.views import Views
from envs.liars_dice.kernels import (
    COUNT_FIRST,
    HAND_BASE,
    NO_BID,
    RULES,
    STATE,
    bid_count,
    bid_face,
)

__all__ = [
    "ALL_BIDS",
    "SCRATCH_SIZE",
    "RoundAbstraction",
    "fold_hand",
    "fold_table",
    "lowest_alive",
    "round_key",
]

ALL_BIDS = 10_000
"""A memory that no round fills."""
_SALT = 77
SCRATCH_SIZE = 16


@helper
def lowest_alive(r, num_in_play, bid):
    """The lowest face that can still be bid when ``bid`` stands; those below it are dead."""
    if bid == NO_BID or (r.raising == COUNT_FIRST and bid_count(r, bid) < num_in_play):
        return 1
    return bid_face(r, bid)


@helper
def fold_table(num_own, others):
    """The key of a round before the first bid: own dice, then the others' in seat order.

    Empty seats leave it as it is: without them the game is the same. The number of the others tells
    where their dice end and bids begin.
    """
    num_players = 0
    for i in range(others.size):
        num_players += others[i] > 0
    key = fold(first_key(_SALT + num_players - 1), num_own)
    for i in range(others.size):
        key = fold(key, others[i])
    return key


@helper
def fold_hand(key, hand):
    """The key of a decision, from that of the bids and the number of live dice of each face."""
    code = 0
    power = 1
    for face in range(hand.size):
        code += hand[face] * power
        power *= HAND_BASE
    return fold(key, 1 + code)


@helper
def fold_bids(key, s, memory):
    """Add the last ``memory`` bids of the round to a key."""
    # Bids have rising numbers: the last is the highest.
    first, num_found, bid = s.bid + 1, 0, s.bid
    while bid >= 0 and num_found < memory:
        if s.was_bid[bid]:
            num_found += 1
            first = bid
        bid -= 1
    for bid in range(first, s.bid + 1):
        if s.was_bid[bid]:
            key = fold(key, 1 + bid)
    return key


@compiled(types.uint64(types.uint8[::1], RULES_TYPE, INT, INT, types.int64[::1]))
def round_key(state, rules, player, memory, scratch):
    """The key of a decision, with the last ``memory`` bids of the round.

    ``scratch`` has room for the dice of every other player and for every face.
    """
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    others, hand = scratch[: r.num_players - 1], scratch[r.num_players - 1 :][: r.faces]
    seat = player
    for i in range(others.size):
        seat = seat + 1 if seat + 1 < r.num_players else 0
        others[i] = s.dice_left[seat]
    key = fold_bids(fold_table(s.dice_left[player], others), s, memory)
    for face in range(r.faces):
        hand[face] = 0
    lowest = lowest_alive(r, s.num_in_play, s.bid)
    for die in range(s.dice_left[player]):
        face = s.dice[player, die]
        if face >= lowest or face == r.wild_face:
            hand[face - 1] += 1
    return fold_hand(key, hand)


@compiled(
    types.void(
        types.uint8[:, ::1],
        RULES_TYPE,
        types.int64[::1],
        INT,
        types.int64[::1],
        types.uint64[::1],
    )
)
def round_keys(worlds, rules, seats, memory, scratch, keys):
    """The keys of many decisions."""
    for i in range(keys.size):
        keys[i] = round_key(worlds[i], rules, seats[i], memory, scratch)


class RoundAbstraction:
    """Views of Liar's Dice to keys, with the last ``memory`` bids; all of them by default."""

    def __init__(self, game: Game, memory: int = ALL_BIDS) -> None:
        """Only Liar's Dice has rounds of this kind."""
        if game.id != "liars_dice_v0":
            raise MasqueradeError(f"abstraction 'round' is for liars_dice_v0, not for {game.id}")
        self.memory = memory

    def __repr__(self) -> str:
        """As it was made."""
        return f"{type(self).__name__}(memory={self.memory})"

    def __call__(self, views: Views) -> Words:
        """The key of every row; of the worlds, only what the mover knows is read."""
        keys = np.empty(len(views), np.uint64)
        scratch = np.zeros(SCRATCH_SIZE, np.int64)
        round_keys(views.worlds(), views.game.rules, views.seats, self.memory, scratch, keys)
        return keys
