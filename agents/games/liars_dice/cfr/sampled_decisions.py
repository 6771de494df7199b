"""What a player goes by in a sampled round of Liar's Dice, compiled: rows of the table, moves."""

from __future__ import annotations

import numpy as np

from agents.cfr.sampled.nodes import NONE, action_at, enter_row, find_row
from agents.games.liars_dice.cfr.keys import fold_hand, is_alive
from agents.games.liars_dice.cfr.odds import (
    CALL,
    LIKELIEST,
    NUM_CHOICES,
    find_choices,
    odd_raise,
    odds_key,
    rule_action,
)
from envs.core.compiling import inlined
from envs.core.keys import fold
from envs.liars_dice import NO_BID, bid_face, mark_raises

__all__ = ["follow_rule", "look_up", "move_at", "rank_of_same", "surprise"]


@inlined
def standing_bid(seats, depth):
    """The last of ``depth`` bids."""
    return seats.bids[depth - 1] if depth > 0 else NO_BID


@inlined
def key_at(r, seats, depth, player, num_in_play, memory):
    """The key of the decision after ``depth`` bids, as ``keys.round_key`` has it."""
    key = seats.keys[player]
    for i in range(max(0, depth - memory), depth):
        key = fold(key, 1 + seats.bids[i])
    bid = standing_bid(seats, depth)
    hand = seats.scratch[: r.faces]
    for face in range(r.faces):
        is_live = is_alive(r, num_in_play, bid, face + 1)
        hand[face] = seats.hands[player, face] if is_live else 0
    return fold_hand(key, hand)


@inlined
def look(r, seats, depth, player, num_in_play, memory):
    """Write what a player goes by after ``depth`` bids, as ``odds.look`` has it."""
    spot = seats.spot[0]
    for face in range(r.faces):
        spot.hand[face] = seats.hands[player, face]
    spot.num_own = seats.dice[player]
    spot.num_in_play = num_in_play
    spot.num_players = 0
    for seat in range(seats.dice.size):
        spot.num_players += seats.dice[seat] > 0
    spot.bid = standing_bid(seats, depth)
    spot.num_on_face = 0
    for i in range(min(depth, memory)):
        if bid_face(r, seats.bids[depth - 1 - i]) != bid_face(r, spot.bid):
            break
        spot.num_on_face += 1


@inlined
def mark_actions(r, seats, depth, num_in_play):
    """Mark the legal actions after ``depth`` bids; how many there are."""
    mask = seats.mask
    for action in range(mask.size):
        mask[action] = 0
    size = mark_raises(r, standing_bid(seats, depth), num_in_play, mask)
    if depth > 0:
        mask[r.liar] = 1
        size += 1
    return size


@inlined
def mark_choices(r, seats, depth):
    """Mark the choices: no call before the first bid, nothing else after the highest."""
    mask, size = seats.mask, 0
    has_raise = seats.choices[depth, LIKELIEST] != r.liar
    for action in range(mask.size):
        mask[action] = action < NUM_CHOICES and (depth > 0 if action == CALL else has_raise)
        size += mask[action]
    return size


@inlined
def look_up(r, seats, depth, table, plan, num_in_play):
    """Find the row of the decision at ``depth``, or enter it."""
    frame = seats.frames[depth]
    frame.has_choices = plan.goes_by_odds
    if plan.goes_by_odds:
        look(r, seats, depth, frame.player, num_in_play, plan.memory)
        find_choices(r, seats.spot[0], seats.chances, seats.choices[depth])
        key = odds_key(r, seats.spot[0], seats.chances, seats.choices[depth])
    else:
        key = key_at(r, seats, depth, frame.player, num_in_play, plan.memory)
    if not find_row(frame, table, key):
        if plan.goes_by_odds:
            size = mark_choices(r, seats, depth)
        else:
            size = mark_actions(r, seats, depth, num_in_play)
        enter_row(frame, table, key, seats.mask, size, seats.actions[depth])


@inlined
def settle_on(seats, depth, action):
    """Leave one action at ``depth``, which is in no table."""
    frame = seats.frames[depth]
    seats.actions[depth, 0] = action
    frame.first = NONE
    frame.num_actions = 1
    frame.has_choices = 0


@inlined
def follow_rule(r, seats, depth, num_in_play):
    """Leave nothing to decide at ``depth``: it is what ``liars_dice_rule`` does."""
    look(r, seats, depth, seats.frames[depth].player, num_in_play, 0)
    settle_on(seats, depth, rule_action(r, seats.spot[0], seats.chances))


@inlined
def surprise(r, seats, depth, num_in_play):
    """Leave nothing to decide at ``depth``: it is a raise that nobody expects, if there is one."""
    look(r, seats, depth, seats.frames[depth].player, num_in_play, 0)
    bid = odd_raise(r, seats.spot[0], seats.rng)
    settle_on(seats, depth, np.int64(r.liar) if bid == NO_BID else np.int64(bid))


@inlined
def move_at(frame, seats, depth, table):
    """The bid or call that is tried at ``depth``."""
    action = action_at(frame, seats, depth, table)
    return np.int64(seats.choices[depth, action]) if frame.has_choices else action


@inlined
def rank_of_same(frame, seats, depth, table):
    """The rank of an earlier choice that comes to the same move, or NONE."""
    if frame.has_choices and frame.first != NONE:
        move = move_at(frame, seats, depth, table)
        for rank in range(frame.at):
            if seats.choices[depth, table.actions[frame.first + rank]] == move:
                return rank
    return NONE
