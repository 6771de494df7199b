"""What Liar's Dice adds to Monte Carlo CFR: abstractions, positions between rounds, the rule.

A position between two rounds is the dice of every player and who opens. Players see it from their
own seat, and empty seats are passed over: without them the game is the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.cfr.sampled.hooks import EXPLORE, IS_ACTIVE, KEY, NONE, OPPONENT, POSITION, Hooks
from agents.games.liars_dice.cfr.keys import SCRATCH_SIZE, round_key
from agents.games.liars_dice.cfr.odds import (
    CALL,
    LIKELIEST,
    SPOT,
    find_actions,
    look,
    odd_raise,
    odds_key,
    rule_action,
)
from envs.core.compiling import helper, kernel
from envs.core.kernels import CHANCE
from envs.core.rng import below
from envs.liars_dice.game import LiarsDice
from envs.liars_dice.kernels import HAND_BASE, NO_BID, RULES, STATE, next_with_dice, start_round

__all__ = ["HOOKS", "first_values", "make_numbers", "position_number"]

# Places in ``numbers``; what players look at comes after the scratch memory of keys.
MEMORY, SCRATCH = 0, 1
LOOK = SCRATCH + SCRATCH_SIZE
_LOOK_SIZE = SPOT.itemsize // 8


def make_numbers(memory: int) -> npt.NDArray[np.int64]:
    """What the hooks of one thread work with, if players remember so many bids."""
    numbers = np.zeros(LOOK + _LOOK_SIZE, np.int64)
    numbers[MEMORY] = memory
    return numbers


@helper
def spot_of(numbers):
    """Where to write what a player looks at."""
    return numbers[LOOK : LOOK + _LOOK_SIZE].view(SPOT)[0]


# ---- abstractions --------------------------------------------------------------------------------


@kernel(KEY)
def key_by_round(state, rules, player, numbers, tables, abstract):
    """Dice of everybody, last bids and own hand; actions as they are."""
    scratch = numbers[SCRATCH : SCRATCH + SCRATCH_SIZE]
    return round_key(state, rules, player, numbers[MEMORY], scratch)


@kernel(KEY)
def key_by_odds(state, rules, player, numbers, tables, abstract):
    """How likely bids are; a few raises, and the call."""
    r = rules.view(RULES)[0]
    spot = spot_of(numbers)
    look(state.view(STATE)[0], r, player, numbers[MEMORY], spot)
    find_actions(r, spot, tables, abstract)
    key = odds_key(r, spot, tables, abstract)
    if spot.bid == NO_BID:
        abstract[CALL] = NONE
    elif abstract[LIKELIEST] == r.liar:  # no raise is left
        for action in range(abstract.size):
            abstract[action] = r.liar if action == CALL else NONE
    return key


# ---- positions -----------------------------------------------------------------------------------


@helper
def position_number(dice, num_players, starter, player):
    """The number of a position: own dice, the others' in seat order, starter."""
    code, power, rank, start = np.int64(dice[player]), HAND_BASE, 0, 0
    for i in range(1, num_players):
        seat = player + i if player + i < num_players else player + i - num_players
        if dice[seat] > 0:
            rank += 1
            code += np.int64(dice[seat]) * power
            power *= HAND_BASE
        if seat == starter:
            start = rank
    return code * num_players + start


@kernel(POSITION)
def position(state, rules, player):
    """A round is over when dice are to be rolled."""
    s = state.view(STATE)[0]
    if s.turn != CHANCE:
        return NONE
    num_players = np.int64(rules.view(RULES)[0].num_players)
    return position_number(s.dice_left, num_players, s.starter, player)


@kernel(IS_ACTIVE)
def is_active(state, rules, player):
    """Whoever has dice plays."""
    return state.view(STATE)[0].dice_left[player] > 0


@kernel(EXPLORE)
def explore(state, rules, rng):
    """Any dice for at least two players, and any of them to open; a single round stays as it is."""
    s = state.view(STATE)[0]
    r = rules.view(RULES)[0]
    if r.is_single_round:
        return
    num_players = 0
    while num_players < 2:
        num_players = 0
        s.num_in_play = 0
        for seat in range(r.num_players):
            s.dice_left[seat] = below(rng, r.dice[seat] + 1)
            s.num_in_play += s.dice_left[seat]
            num_players += s.dice_left[seat] > 0
    starter = below(rng, r.num_players)
    start_round(s, r, starter if s.dice_left[starter] > 0 else next_with_dice(s, r, starter))


def first_values(game: LiarsDice) -> npt.NDArray[np.float64]:
    """Continuation values at first: everybody wins as often as there are dice to show for it.

    Positions with a single player left have exactly that value, and are never learnt.
    """
    n = game.facts.num_players
    dice = np.indices((HAND_BASE,) * n, np.float64).reshape(n, -1)[::-1]  # the first digit is last
    shares = dice / np.maximum(dice.sum(axis=0), 1.0)
    if game.options.rewards == "dice":
        lost = dice * (1.0 - shares)
        values = (lost[1:].sum(axis=0) / (n - 1)) - lost[0]
    else:
        values = shares[0] - (1.0 - shares[0]) / (n - 1)
    return np.repeat(values, n)


# ---- opponents -----------------------------------------------------------------------------------


@kernel(OPPONENT)
def follow_rule(state, rules, rng, numbers, tables):
    """What ``liars_dice_rule`` does."""
    s, r, spot = state.view(STATE)[0], rules.view(RULES)[0], spot_of(numbers)
    look(s, r, s.turn, 0, spot)
    return rule_action(r, spot, tables)


@kernel(OPPONENT)
def deviate(state, rules, rng, numbers, tables):
    """A raise that nobody expects, if there is one."""
    s, r, spot = state.view(STATE)[0], rules.view(RULES)[0], spot_of(numbers)
    look(s, r, s.turn, 0, spot)
    bid = odd_raise(r, spot, rng)
    return np.int64(r.liar) if bid == NO_BID else np.int64(bid)


_SHARED: dict[str, Any] = {
    "position": position,
    "is_active": is_active,
    "explore": explore,
    "opponent": follow_rule,
    "deviation": deviate,
}
HOOKS = {
    "round": Hooks(key=key_by_round, **_SHARED),
    "odds": Hooks(key=key_by_odds, **_SHARED),
}
"""By the name of the abstraction."""
