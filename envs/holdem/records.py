"""The state and the rules of hold'em as records, and the codes in their fields."""

from __future__ import annotations

import numpy as np

from envs.holdem.evaluator import TABLE_FIELDS

__all__ = [
    "ABSENT",
    "BASES",
    "BET_CODES",
    "CALL",
    "CALL_CODE",
    "CHECK",
    "ENCODINGS",
    "EXACT",
    "FOLD",
    "FOLDED",
    "FOLD_CODE",
    "FREE_FOLDS",
    "IN",
    "MAX_FRACTIONS",
    "MAX_HISTORY",
    "MAX_LOG",
    "MAX_PLAYERS",
    "MAX_SHORT",
    "MENU_LIST",
    "NOBODY",
    "NO_CARD",
    "NUM_BLOCKS",
    "RAISE",
    "RULES",
    "STATE",
    "THESIS",
]

MAX_PLAYERS = 10
MAX_FRACTIONS = 16
MAX_HISTORY = 8  # earlier decisions of a player that blocks of the observation can go back
MAX_SHORT = 16  # sizes of short stacks
MAX_LOG = 32  # latest moves of a hand that are remembered
NUM_BLOCKS = 9  # of the observation
NOBODY = -1
NO_CARD = -1

IN, FOLDED, ABSENT = range(3)
"""``status``: in the hand, out of it, or without chips when it began."""
FOLD, CHECK, CALL, RAISE = range(4)
"""Kinds of moves; a bet is a raise from nothing."""
FOLD_CODE, CALL_CODE, BET_CODES = 1, 2, 3
"""``moves``: folded, checked or called, bet about 50 %, 75 %, 100 % of the pot; 0 for no move."""
THESIS, MENU_LIST, EXACT = range(3)
BASES = ("after_call", "literal_clamped")
FREE_FOLDS = ("illegal", "fold", "check")
ENCODINGS = ("one_hot", "normalised", "basic")

STATE = np.dtype(
    (
        np.record,
        [
            ("to_move", np.int8),  # seat to move, CHANCE or OVER
            ("button", np.int8),  # seat of the dealer; NOBODY until it is drawn
            ("big_blind_seat", np.int8),
            ("num_in", np.int8),  # players who have not folded
            ("deal_seat", np.int8),  # who gets the next private card
            ("num_own", np.int8),  # private cards of that seat so far, 0 or 1
            ("num_board", np.int8),  # common cards, 0 .. 5
            ("street", np.int8),  # 0 before the flop, 1 flop, 2 turn, 3 river
            # 1 when the big blind is short, so that nobody may have bet what is to be called.
            ("is_blind_short", np.int8),
            # Once all private cards are dealt every hand is sorted, higher card first.
            ("hole", np.int8, (MAX_PLAYERS, 2)),
            ("board", np.int8, (5,)),
            ("status", np.int8, (MAX_PLAYERS,)),  # IN, FOLDED or ABSENT
            ("has_acted", np.int8, (MAX_PLAYERS,)),  # in this round of betting
            ("moves", np.int8, (MAX_PLAYERS,)),  # last move in this round, by its code
            ("stacks", np.int32, (MAX_PLAYERS,)),  # chips a player can still bet
            ("bets", np.int32, (MAX_PLAYERS,)),  # chips put in during this round
            ("paid", np.int32, (MAX_PLAYERS,)),  # chips put in during this hand, 0 when it is over
            ("profits", np.int32, (MAX_PLAYERS,)),  # chips won or lost in all finished hands
            ("pot", np.int32),  # all chips in the middle, the bets of this round included
            ("bet_to", np.int32),  # what must be matched in this round
            ("raise_by", np.int32),  # the least by which it may be raised
            ("short_raises", np.int32),  # sum of all-in raises in a row that were too small
            ("num_hands", np.int32),  # finished hands
            ("taken", np.int64),  # cards dealt in this hand, as a set
            ("num_moves", np.int32),  # in this hand
            ("log_seats", np.int8, (MAX_LOG,)),  # the latest moves of this hand: move i at i % 32
            ("log_kinds", np.int8, (MAX_LOG,)),
            ("log_streets", np.int8, (MAX_LOG,)),
            ("log_shares", np.float32, (MAX_LOG,)),  # chips of the move, of the pot with them
            ("num_decisions", np.int16, (MAX_PLAYERS,)),  # of each player in this hand
            ("past", np.int64, (MAX_PLAYERS, MAX_HISTORY)),  # packed blocks of the latest ones
            # The last finished hand, as everybody has seen it.
            ("last_hole", np.int8, (MAX_PLAYERS, 2)),  # NO_CARD when not shown
            ("last_board", np.int8, (5,)),
            ("last_profits", np.int32, (MAX_PLAYERS,)),
        ],
    )
)

_OPTION_FIELDS = [
    ("num_players", np.int32),
    ("small_blind", np.int32),
    ("big_blind", np.int32),
    ("ante", np.int32),
    ("stacks", np.int32, (MAX_PLAYERS,)),
    ("total_chips", np.int32),  # on the table
    ("num_short", np.int32),  # of the next
    ("short_stacks", np.int32, (MAX_SHORT,)),  # of one or all in every other round
    ("num_hands", np.int32),
    ("has_fresh_stacks", np.int32),  # every hand begins with the same stacks
    ("is_button_random", np.int32),
    ("first_button", np.int32),  # NOBODY: the seat with the number of the opening
    ("menu", np.int32),  # THESIS, MENU_LIST or EXACT
    ("num_actions", np.int32),
    ("num_fractions", np.int32),
    ("fractions", np.int32, (MAX_FRACTIONS,)),  # of the pot, in thousandths
    ("has_minimum", np.int32),  # a list menu begins with the smallest raise
    ("has_all_in", np.int32),  # and ends with everything
    ("basis", np.int32),  # index in BASES
    ("free_fold", np.int32),  # index in FREE_FOLDS
    ("is_pot_limit", np.int32),
    ("is_pokerkit", np.int32),  # PokerKit's reading of short blinds and short raises
    ("reward_unit", np.int32),  # chips that count as 1
    ("has_blocks", np.int32),  # observation in blocks, otherwise the full one
    ("blocks", np.int32, (NUM_BLOCKS + 1,)),  # 1 for each that is shown; entry 0 is not used
    ("encoding", np.int32),  # index in ENCODINGS
    ("history", np.int32),  # earlier decisions in the observation
    ("has_own_actions", np.int32),  # with the action chosen there
    ("num_log", np.int32),  # latest moves in the full observation
    ("pays_at_once", np.int32),  # chips count as lost when they are put in, not when they are
    # Millionths that each of the 169 kinds of starting hands wins; filled in for block 8 only.
    ("start_equities", np.int32, (169,)),
    ("padding", np.int32),
]
RULES = np.dtype((np.record, [*_OPTION_FIELDS, *TABLE_FIELDS]))
