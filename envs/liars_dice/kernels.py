"""The compiled rules of Liar's Dice: its record and its kernels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from envs.core.compiling import compiled, helper
from envs.core.kernels import CHANCE, INT, OVER, kernel
from envs.core.kernels import RULES as RULES_ARRAY
from envs.core.records import record
from envs.core.rng import below, first_key, fold, uniform

MAX_PLAYERS = 6
MAX_DICE = 5
MAX_FACES = 6
MAX_BIDS = MAX_PLAYERS * MAX_DICE * MAX_FACES

NOBODY = -1
IN_TURN = -2
NO_BID = -1
NO_DIE = 0

# What is seen of a roll.
HIDDEN_ROLL = 1  # a die fell under some cup
FIRST_HAND = 2  # + the hand, as the sum of HAND_BASE ** (face - 1) over its dice
HAND_BASE = MAX_DICE + 1

ROLLOUT_NOISE = 0.5  # standard deviations
HIGHER = 0.3  # standard deviations: how much a face is liked for every die that is held
DICE_POWER = 2.0  # of a count of dice: how fast more dice win more often

RAISING = ("count_first", "face_first", "never_lower")
COUNT_FIRST, FACE_FIRST, NEVER_LOWER = range(3)
WILD = ("none", "ones", "ones_unbiddable", "highest")

STATE = record(
    turn=np.int8,  # seat to move, CHANCE or OVER
    starter=np.int8,  # who opens this round; NOBODY until it is drawn
    bidder=np.int8,  # who made the standing bid, or NOBODY
    loser=np.int8,  # who lost the last round, or NOBODY in the first
    bid=np.int16,  # the standing bid as an action, or NO_BID
    roll_seat=np.int8,  # whose die is rolled next
    roll_die=np.int8,  # which one
    num_rounds=np.int8,  # rounds finished
    num_in_play=np.int8,  # dice on the table
    dice_left=(np.int8, (MAX_PLAYERS,)),
    # Faces 1 .. 6, NO_DIE when lost or not rolled yet; the hand of a player who has looked
    # is sorted.
    dice=(np.int8, (MAX_PLAYERS, MAX_DICE)),
    was_bid=(np.int8, (MAX_BIDS,)),  # 1 for every bid of this round
    # The last finished round of a match, which everybody has seen; all zero before there is
    # one.
    last_starter=np.int8,
    last_bid=np.int16,
    last_bidder=np.int8,
    last_caller=np.int8,
    last_dice=(np.int8, (MAX_PLAYERS, MAX_DICE)),
    last_was_bid=(np.int8, (MAX_BIDS,)),
)
RULES = record(
    num_players=np.int32,
    dice=(np.int32, (MAX_PLAYERS,)),  # dice of each seat at the start
    num_dice=np.int32,  # all of them
    faces=np.int32,
    bid_faces=np.int32,  # faces that can be bid
    lowest_bid_face=np.int32,  # 1, or 2 when ones cannot be bid
    wild_face=np.int32,  # counts as every face; 0 when none does
    raising=np.int32,  # COUNT_FIRST, FACE_FIRST or NEVER_LOWER
    liar=np.int32,  # the last action, after all bids
    is_single_round=np.int32,
    first_player=np.int32,  # or NOBODY: chance decides; IN_TURN: the opening
    winner_opens=np.int32,  # after an elimination the winner of the challenge starts
    pays_dice=np.int32,  # lost dice are paid at once
)


# ---- bids, as pure functions over the rules ------------------------------------------------------


@helper
def bid_count(r, bid):
    """How many dice a bid claims."""
    return 1 + (bid % r.num_dice if r.raising == FACE_FIRST else bid // r.bid_faces)


@helper
def bid_face(r, bid):
    """Which face a bid claims."""
    return r.lowest_bid_face + (bid // r.num_dice if r.raising == FACE_FIRST else bid % r.bid_faces)


@compiled(types.UniTuple(INT, 2)(RULES_ARRAY, INT))
def count_and_face(rules, bid):
    """What a bid claims, for calls from Python: helpers would be compiled in every process."""
    r = rules.view(RULES)[0]
    return bid_count(r, bid), bid_face(r, bid)


@helper
def mark_raises(r, bid, num_in_play, mask):
    """Mark every bid that may follow ``bid``; return how many."""
    if r.raising == COUNT_FIRST:
        end = num_in_play * r.bid_faces
        mask[bid + 1 : end] = 1
        return end - bid - 1
    num_raises = 0
    if r.raising == FACE_FIRST:
        for face in range(r.bid_faces):
            start = max(face * r.num_dice, bid + 1)
            end = face * r.num_dice + num_in_play
            if start < end:
                mask[start:end] = 1
                num_raises += end - start
        return num_raises
    lowest_count = 0 if bid == NO_BID else bid // r.bid_faces
    lowest_face = 0 if bid == NO_BID else bid % r.bid_faces
    for count in range(lowest_count, num_in_play):
        mask[count * r.bid_faces + lowest_face : (count + 1) * r.bid_faces] = 1
        num_raises += r.bid_faces - lowest_face
    if bid != NO_BID:
        mask[bid] = 0
        num_raises -= 1
    return num_raises


@helper
def num_held(s, r, seat, face):
    """How many dice of ``seat`` count as a face."""
    num_found = 0
    for die in range(s.dice_left[seat]):
        value = s.dice[seat, die]
        num_found += value == face or value == r.wild_face
    return num_found


@helper
def bid_stands(s, r):
    """Whether the table shows at least as many dice of the standing bid's face as it claims."""
    face = bid_face(r, s.bid)
    num_found = 0
    for player in range(r.num_players):
        num_found += num_held(s, r, player, face)
    return num_found >= bid_count(r, s.bid)


# ---- the course of a round -----------------------------------------------------------------------


@helper
def next_with_dice(s, r, seat):
    """The next seat after ``seat`` that still has dice."""
    while True:
        seat += 1
        if seat == r.num_players:
            seat = 0
        if s.dice_left[seat] > 0:
            return seat


@helper
def start_round(s, r, starter):
    """Clear the table and let the first die roll."""
    s.turn = CHANCE
    s.starter = starter
    s.bidder = NOBODY
    s.bid = NO_BID
    s.dice[:] = NO_DIE
    s.was_bid[: r.liar] = 0
    s.roll_die = 0
    s.roll_seat = 0
    if s.dice_left[0] == 0:
        s.roll_seat = next_with_dice(s, r, 0)


def has_hand(s: Any, seat: int) -> bool:
    """Whether all dice of ``seat`` have been rolled, so that the owner has looked at them."""
    # Dice are rolled in seat order.
    return bool(s.turn != CHANCE or seat < s.roll_seat)


has_rolled = helper(has_hand)  # for compiled code


@helper
def sort_hand(s, seat):
    """Put the dice of ``seat`` in rising order."""
    # Neighbours change places in as many rounds as there are dice. Which ones do is random, so the
    # usual "if" would be guessed wrong half of the time; taking the smaller and the larger is not.
    num_dice = s.dice_left[seat]
    for start in range(num_dice):
        for i in range(start % 2, num_dice - 1, 2):
            left, right = s.dice[seat, i], s.dice[seat, i + 1]
            s.dice[seat, i] = min(left, right)
            s.dice[seat, i + 1] = max(left, right)


@helper
def roll(s, r, outcome):
    """Put one die on the table; after the last one the starter is to bid."""
    s.dice[s.roll_seat, s.roll_die] = outcome + 1
    s.roll_die += 1
    if s.roll_die < s.dice_left[s.roll_seat]:
        return
    sort_hand(s, s.roll_seat)
    seat = next_with_dice(s, r, s.roll_seat)
    if seat <= s.roll_seat:
        s.turn = s.starter
    s.roll_die = 0
    s.roll_seat = seat


@helper
def remember_round(s, r):
    """Keep the round that is being resolved: its dice are public, and worth remembering."""
    s.last_starter = s.starter
    s.last_bid = s.bid
    s.last_bidder = s.bidder
    s.last_caller = s.turn
    for seat in range(r.num_players):
        for die in range(MAX_DICE):
            s.last_dice[seat, die] = s.dice[seat, die]
    for bid in range(r.liar):
        s.last_was_bid[bid] = s.was_bid[bid]


@helper
def resolve_call(s, r):
    """Lift the cups: somebody loses a die, and the next round or the end follows."""
    caller = s.turn
    is_true = bid_stands(s, r)
    s.loser = caller if is_true else s.bidder
    winner = s.bidder if is_true else caller
    s.num_rounds += 1
    if r.is_single_round:
        s.turn = OVER
        return
    remember_round(s, r)
    s.dice_left[s.loser] -= 1
    s.num_in_play -= 1
    if next_with_dice(s, r, winner) == winner:
        s.turn = OVER
    elif s.dice_left[s.loser] > 0:
        start_round(s, r, s.loser)
    else:
        start_round(s, r, winner if r.winner_opens else next_with_dice(s, r, s.loser))


# ---- the ten kernels -----------------------------------------------------------------------------


@kernel
def new(state, rules, opening):
    state[:] = 0
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    for player in range(r.num_players):
        s.dice_left[player] = r.dice[player]
    s.num_in_play = r.num_dice
    s.loser = NOBODY
    start_round(s, r, opening if r.first_player == IN_TURN else r.first_player)


@kernel
def turn(state, rules):
    return state.view(STATE)[0].turn


@kernel
def legal(state, rules, mask):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    mask[:] = 0
    if s.turn == CHANCE:
        num_outcomes = r.num_players if s.starter == NOBODY else r.faces
        mask[:num_outcomes] = 1
        return num_outcomes
    num_raises = mark_raises(r, s.bid, s.num_in_play, mask)
    if s.bid == NO_BID:
        return num_raises
    mask[r.liar] = 1
    return num_raises + 1


@kernel
def sample(state, rules, rng):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    return below(rng, r.num_players if s.starter == NOBODY else r.faces)


@kernel
def step(state, rules, action):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    if s.turn == CHANCE:
        if s.starter == NOBODY:
            s.starter = action
        else:
            roll(s, r, action)
    elif action == r.liar:
        resolve_call(s, r)
    else:
        s.was_bid[action] = 1
        s.bid = action
        s.bidder = s.turn
        s.turn = next_with_dice(s, r, s.turn)


@kernel
def seen(state, rules, action, player):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    # Starter, rolls and bids share small numbers: their place in the sequence tells them apart.
    if s.turn == CHANCE:
        if s.starter == NOBODY:
            return 1 + action
        if s.roll_seat != player or s.roll_die < s.dice_left[player] - 1:
            return HIDDEN_ROLL
        hand = HAND_BASE**action
        for die in range(s.roll_die):
            hand += HAND_BASE ** np.int64(s.dice[player, die] - 1)
        return FIRST_HAND + hand
    if action != r.liar:
        return 1 + action
    # A call shows the whole table.
    shown = first_key(action)
    for seat in range(r.num_players):
        for die in range(s.dice_left[seat]):
            shown = fold(shown, s.dice[seat, die])
    return np.int64(shown | np.uint64(1))


@kernel
def returns(state, rules, out):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    share = 1.0 / (r.num_players - 1)
    for player in range(r.num_players):
        out[player] = 0.0
        if r.is_single_round:
            if s.turn == OVER:
                out[player] = -1.0 if player == s.loser else share
        elif r.pays_dice:
            num_lost = r.dice[player] - s.dice_left[player]
            out[player] = (s.num_rounds - num_lost) / (r.num_players - 1) - num_lost
        elif s.turn == OVER:
            out[player] = 1.0 if s.dice_left[player] > 0 else -share


@kernel
def observe(state, rules, player, out):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    n = r.num_players
    out[:] = 0.0
    out[player] = 1.0
    at = n
    hand = out[at : at + r.faces]
    if has_rolled(s, player):
        for die in range(s.dice_left[player]):
            hand[s.dice[player, die] - 1] += 1.0
        share = 1.0 / r.dice[player]
        for face in range(r.faces):
            hand[face] *= share
    at += r.faces
    left, starter, bidder = out[at : at + n], out[at + n : at + 2 * n], out[at + 2 * n : at + 3 * n]
    for seat in range(n):
        ahead = seat - player if seat >= player else seat - player + n  # 0 is the viewer
        left[ahead] = s.dice_left[seat] / r.dice[seat]
        starter[ahead] = s.starter == seat
        bidder[ahead] = s.bidder == seat
    at += 3 * n
    bids = out[at : at + r.liar]
    for bid in range(r.liar):
        bids[bid] = s.was_bid[bid]
    if s.bid != NO_BID:
        out[at + r.liar + s.bid] = 1.0


@kernel
def determinize(state, rules, player, rng):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    if s.turn == OVER:
        return  # the last call has shown every die
    for seat in range(r.num_players):
        is_full = has_rolled(s, seat)
        if seat == player and is_full:
            continue
        for die in range(s.dice_left[seat]):
            if s.dice[seat, die] != NO_DIE:
                s.dice[seat, die] = 1 + below(rng, r.faces)
        if is_full:
            sort_hand(s, seat)


@kernel
def settle(state, rules, rng):
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    while s.turn == CHANCE:
        if s.starter == NOBODY:
            s.starter = below(rng, r.num_players)
        else:
            roll(s, r, below(rng, r.faces))
    return s.turn


# ---- for searches --------------------------------------------------------------------------------


@helper
def lowest_raise(s, r, face):
    """The lowest bid on a face that may be made now, or NO_BID."""
    count = 1
    if s.bid != NO_BID:
        standing = bid_face(r, s.bid)
        if face < standing and r.raising != COUNT_FIRST:
            return NO_BID
        if face <= standing or r.raising != FACE_FIRST:
            count = bid_count(r, s.bid) + (face <= standing)
    return NO_BID if count > s.num_in_play else bid_of(r, face, count)


@helper
def bid_of(r, face, count):
    """The bid that claims so many dice of a face."""
    if r.raising == FACE_FIRST:
        return (face - r.lowest_bid_face) * r.num_dice + count - 1
    return (count - 1) * r.bid_faces + face - r.lowest_bid_face


@helper
def surplus(s, r, seat, bid):
    """How many dice more than a bid claims are expected by ``seat``, in standard deviations."""
    face = bid_face(r, bid)
    num_found = num_held(s, r, seat, face)
    prob = (1.0 if r.wild_face == 0 or r.wild_face == face else 2.0) / r.faces
    num_hidden = s.num_in_play - s.dice_left[seat]
    spread = math.sqrt(num_hidden * prob * (1.0 - prob)) + 0.1
    return (num_found + num_hidden * prob - bid_count(r, bid) + 0.5) / spread


@kernel
def rollout(state, rules, rng):
    """Raise to the likeliest of the lowest bids, or call if the standing bid is unlikelier.

    What is held is claimed at once, as most people do. Only the mover's own dice are looked at.
    Some noise keeps it from being predictable.
    """
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    best, likeliest = np.int64(r.liar), -np.inf
    if s.bid != NO_BID:
        likeliest = -surplus(s, r, s.turn, s.bid) + ROLLOUT_NOISE * (uniform(rng) - 0.5)
    for face in range(r.lowest_bid_face, r.lowest_bid_face + r.bid_faces):
        bid = lowest_raise(s, r, face)
        if bid != NO_BID:
            num_own = num_held(s, r, s.turn, face)
            if bid_count(r, bid) < num_own:
                bid = bid_of(r, face, num_own)
            likely = surplus(s, r, s.turn, bid) + HIGHER * num_own
            likely += ROLLOUT_NOISE * (uniform(rng) - 0.5)
            if likely > likeliest:
                best, likeliest = np.int64(bid), likely
    return best


@kernel
def evaluate(state, rules, out):
    """A guess at the returns: who has more dice wins more often."""
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    returns(state, rules, out)
    if s.turn == OVER or r.is_single_round or r.pays_dice:
        return
    total = 0.0
    for player in range(r.num_players):
        total += np.float64(s.dice_left[player]) ** DICE_POWER
    share = 1.0 / (r.num_players - 1)
    for player in range(r.num_players):
        prob = np.float64(s.dice_left[player]) ** DICE_POWER / total
        out[player] = prob - (1.0 - prob) * share
