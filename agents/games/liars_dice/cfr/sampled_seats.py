"""The table at which sampled rounds of Liar's Dice are played, and what happens between rounds.

A position between two rounds is the dice of every player and who opens. What it is *worth* to a
player is kept in a table, by the position as that player sees it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.games.liars_dice.cfr.odds import NUM_CHOICES, SPOT, make_chances
from envs.core.compiling import compiled, inlined
from envs.core.kernels import INT
from envs.core.kernels import RULES as RULES_TYPE
from envs.core.rng import Words, below, uniform
from envs.liars_dice import HAND_BASE, NOBODY, RULES, LiarsDice

__all__ = [
    "BY_BID",
    "BY_CALL",
    "ROUND_PLAN",
    "SEATS",
    "Seats",
    "begin_match",
    "draw_seat",
    "find_position",
    "learn_worth",
    "lose_die",
    "next_seat",
    "payoff",
    "position",
    "start_match",
]

ROUND_PLAN = np.dtype(
    (
        np.record,
        [
            ("memory", np.int64),  # bids of the round that players remember
            ("goes_by_odds", np.int64),  # players do, instead of by bids and everybody's dice
            ("first_player", np.int64),  # of a match, NOBODY: anybody
            ("exploration", np.float64),  # how often a match begins with any dice
            ("pruning", np.float64),  # how often a walk passes hopeless bids over
            ("rule_share", np.float64),  # how often all others play like liars_dice_rule
            ("surprises", np.float64),  # how often one of the others bids anything
        ],
    )
)
FRAME = np.dtype(
    (
        np.record,
        [
            ("player", np.int64),  # to move
            ("first", np.int64),  # entry, NONE when the table has no room for the information set
            ("num_actions", np.int64),
            ("has_choices", np.int64),  # the entries are choices, not actions
            ("at", np.int64),  # the action that is tried, by its rank; NONE when the node is new
            ("stop", np.int64),  # the rank before which to stop
        ],
    )
)

# How worth follows the results of rounds: later ones count more, as in linear averages, and the
# first guess counts like some twenty results.
GUESS_WEIGHT = 20.0

# Dice are lost by a call, or by a bid that was called.
BY_CALL, BY_BID = range(2)


class Seats(NamedTuple):
    """The table at which rounds are played, and room to walk through one of them.

    Row ``d`` of frames, bids, actions, policies, values and choices belongs to the decision after
    ``d`` bids.
    """

    dice: npt.NDArray[np.int64]
    """[players]: how many each has."""
    starter: npt.NDArray[np.int64]
    """[1]"""
    hands: npt.NDArray[np.int64]
    """[players, faces]: dice that show each face."""
    keys: Words
    """[players]: of the round before the first bid, as each player sees it."""
    nexts: npt.NDArray[np.int64]
    """[players]: who is to move after each."""
    is_true: npt.NDArray[np.int8]
    """[bids]"""
    payoffs: npt.NDArray[np.float64]
    """[players, 2]: what it is worth to the traverser that each player loses a die."""
    scratch: npt.NDArray[np.int64]
    """[players + faces]"""
    frames: npt.NDArray[Any]
    bids: npt.NDArray[np.int64]
    actions: npt.NDArray[np.int32]
    policies: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    mask: npt.NDArray[np.int8]
    worth: npt.NDArray[np.float64]
    """What the rest of a match brings, by ``position``."""
    visits: npt.NDArray[np.int64]
    """How often worth has been learnt from."""
    rng: Words
    is_rule: npt.NDArray[np.int8]
    """[players]: who plays like ``liars_dice_rule``."""
    spot: npt.NDArray[Any]
    """[1]: what a player looks at who goes by odds."""
    chances: npt.NDArray[np.float64]
    choices: npt.NDArray[np.int32]

    @classmethod
    def of(cls, game: LiarsDice, worth: npt.NDArray[np.float64], rng: Words) -> Seats:
        """Room for the longest round."""
        n, num_actions, faces = game.facts.num_players, game.facts.num_actions, game.options.faces
        rows = game.longest_bidding(sum(game.options.dice_by_seat)) + 2
        width = max(num_actions, NUM_CHOICES)
        return cls(
            np.zeros(n, np.int64),
            np.zeros(1, np.int64),
            np.zeros((n, faces), np.int64),
            np.zeros(n, np.uint64),
            np.zeros(n, np.int64),
            np.zeros(num_actions, np.int8),
            np.zeros((n, 2)),
            np.zeros(n + faces, np.int64),
            np.zeros(rows, FRAME),
            np.zeros(rows, np.int64),
            np.zeros((rows, width), np.int32),
            np.zeros((rows, width)),
            np.zeros((rows, width)),
            np.zeros(width, np.int8),
            worth,
            np.zeros(worth.size, np.int64),
            rng,
            np.zeros(n, np.int8),
            np.zeros(1, SPOT),
            make_chances(game),
            np.zeros((rows, NUM_CHOICES), np.int32),
        )


SEATS = types.NamedTuple(
    (
        types.int64[::1],
        types.int64[::1],
        types.int64[:, ::1],
        types.uint64[::1],
        types.int64[::1],
        types.int8[::1],
        types.float64[:, ::1],
        types.int64[::1],
        from_dtype(FRAME)[::1],
        types.int64[::1],
        types.int32[:, ::1],
        types.float64[:, ::1],
        types.float64[:, ::1],
        types.int8[::1],
        types.float64[::1],
        types.int64[::1],
        types.uint64[::1],
        types.int8[::1],
        from_dtype(SPOT)[::1],
        types.float64[:, :, :, ::1],
        types.int32[:, ::1],
    ),
    Seats,
)


# ---- positions between rounds --------------------------------------------------------------------


@inlined
def position(dice, starter, player):
    """The number of a position as ``player`` sees it: own dice, the others' in seat order, starter.

    Empty seats are passed over: without them the game is the same.
    """
    code, power, rank, start = dice[player], HAND_BASE, 0, 0
    for i in range(1, dice.size):
        seat = (player + i) % dice.size
        if dice[seat] > 0:
            rank += 1
            code += dice[seat] * power
            power *= HAND_BASE
        if seat == starter:
            start = rank
    return code * dice.size + start


@compiled(INT(types.int64[::1], INT, INT))
def find_position(dice, starter, player):
    """The same, for Python."""
    return position(dice, starter, player)


@inlined
def next_seat(dice, seat):
    """The next seat after ``seat`` that has dice."""
    seat = (seat + 1) % dice.size
    while dice[seat] == 0:
        seat = (seat + 1) % dice.size
    return seat


@inlined
def draw_seat(seats):
    """Any seat that has dice."""
    seat = below(seats.rng, seats.dice.size)
    return seat if seats.dice[seat] > 0 else next_seat(seats.dice, seat)


@inlined
def lose_die(r, seats, loser, winner):
    """Take a die away, and say who opens the next round."""
    seats.dice[loser] -= 1
    if seats.dice[loser] > 0:
        return loser
    return winner if r.winner_opens else next_seat(seats.dice, loser)


@inlined
def payoff(r, seats, player, loser, winner):
    """What it is worth to ``player`` that ``loser`` loses a die against ``winner``."""
    value = 0.0
    if r.is_single_round or r.pays_dice:
        value = -1.0 if player == loser else 1.0 / (r.num_players - 1)
    if not r.is_single_round:
        starter = lose_die(r, seats, loser, winner)
        value += seats.worth[position(seats.dice, starter, player)]
        seats.dice[loser] += 1
    return value


@inlined
def learn_worth(seats, player, value):
    """Let the worth of the present position follow a result."""
    at = position(seats.dice, seats.starter[0], player)
    rate = 2.0 / (seats.visits[at] + GUESS_WEIGHT)
    seats.worth[at] += rate * (value - seats.worth[at])
    seats.visits[at] += 1


@inlined
def draw_dice(r, seats):
    """Any dice for at least two players, and any of them to open."""
    num_players = 0
    while num_players < 2:
        num_players = 0
        for seat in range(seats.dice.size):
            seats.dice[seat] = below(seats.rng, r.dice[seat] + 1)
            num_players += seats.dice[seat] > 0
    seats.starter[0] = draw_seat(seats)


@inlined
def begin_match(r, seats, plan):
    """Hand out dice: those of a match, or now and then any."""
    if not r.is_single_round and uniform(seats.rng) < plan.exploration:
        draw_dice(r, seats)
        return
    for seat in range(seats.dice.size):
        seats.dice[seat] = r.dice[seat]
    seats.starter[0] = plan.first_player
    if plan.first_player == NOBODY:
        seats.starter[0] = below(seats.rng, seats.dice.size)


@compiled(types.void(RULES_TYPE, SEATS, from_dtype(ROUND_PLAN)[::1]))
def start_match(rules, seats, plans):
    """The same, for Python."""
    begin_match(rules.view(RULES)[0], seats, plans[0])
