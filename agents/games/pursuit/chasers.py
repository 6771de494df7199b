"""What kind of detectives these are, judged by their moves: simple chasers, or hunters by belief.

A *chaser* goes to where the fugitive was last seen, a *hunter* draws a place from the belief and
goes nearer to it (the quick policy of the game). Who knows which of the two he has before him can
hide from either, and who takes one for the other is caught. So a fugitive plays the game again from
its start, asks of every detective's move how likely each kind was to make it, and adds up the
logarithms of the odds.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import types

from envs.core.compiling import compiled, helper, kernel
from envs.core.game import Game
from envs.core.kernels import ROLLOUT, RULES, STATE
from envs.core.rng import below
from envs.pursuit.belief import total_weight
from envs.pursuit.kernels import step
from envs.pursuit.moves import is_free
from envs.pursuit.record import DETECTIVE_MOVE, NOWHERE, RULES_SIZE, distance, map_of
from envs.pursuit.record import RULES as PURSUIT_RULES
from envs.pursuit.record import STATE as PURSUIT_STATE
from envs.pursuit.rollout import ONE_RANDOM_IN, choose

__all__ = ["CERTAIN", "as_guessed", "chaser_share"]

CERTAIN = 1000
"""Shares are told to compiled code as so many of these, in the last word of the rules."""
PRIOR = 0.5
LIMITS = 0.02, 0.98
"""Of what is believed of them: a kind that is ruled out could never come back."""
CARELESS = 0.1
"""How often either kind makes any move."""
MOST_PER_MOVE = 1.5
"""Of the logarithm of the odds: real detectives are of neither kind, and no move proves one."""


@helper
def share_of_best(s, r, rules, m, action, goal):
    """How likely somebody who comes as near to a goal as he can makes this move, and all moves.

    Equally good ones are equally likely; where there is no goal, all of them are.
    """
    piece, least, num_best, num_moves, is_best = s.piece, 1 << 30, 0, 0, False
    for kind in range(r.num_kinds):
        if s.tickets[piece, kind] == 0:
            continue
        way = m.ways[kind] + s.place[piece]
        for at in range(rules[way], rules[way + 1]):
            target = rules[at]
            if not is_free(s, r, rules, m, piece, target):
                continue
            num_moves += 1
            steps = 0 if goal == NOWHERE else distance(rules, m, r.num_slots, target, goal)
            if steps < least:
                least, num_best, is_best = steps, 0, False
            if steps == least:
                num_best += 1
                is_best |= r.num_slots * kind + target == action
    return (1.0 / num_best if is_best else 0.0), num_moves


@helper
def log_odds(s, r, rules, m, action):
    """How much a detective's move speaks for a chaser."""
    goal = s.seen_place
    if goal == s.place[s.piece]:
        goal = NOWHERE  # a chaser on the spot moves at random
    chased, num_moves = share_of_best(s, r, rules, m, action, goal)
    hunted, total = 0.0, max(total_weight(s, r), 1.0)
    for place in range(r.num_slots):
        if s.belief[place] > 0.0:
            share, _ = share_of_best(s, r, rules, m, action, place)
            hunted += share * s.belief[place] / total
    any_move = CARELESS / max(num_moves, 1)
    found = math.log((1.0 - CARELESS) * chased + any_move)
    found -= math.log((1.0 - CARELESS) * hunted + any_move)
    return min(max(found, -MOST_PER_MOVE), MOST_PER_MOVE)


@compiled(types.float64(RULES, STATE, types.int64[::1]))
def total_log_odds(rules, state, tokens):
    """Play what the fugitive has seen, which is everything, and add up what it says."""
    s = state.view(PURSUIT_STATE)[0]
    r = rules[:RULES_SIZE].view(PURSUIT_RULES)[0]
    total = 0.0
    for token in tokens:
        action = (token - 1) // 4  # see ``seen`` of the game
        if s.phase == DETECTIVE_MOVE:
            total += log_odds(s, r, rules, map_of(rules, s.map), action)
        step(state, rules, action)
    return total


def chaser_share(game: Game, tokens: npt.NDArray[np.int64]) -> float:
    """How likely detectives are chasers, by what the fugitive has seen of them.

    >>> from envs import make_game
    >>> chaser_share(make_game("phantom_v0", board="map_1"), np.zeros(0, np.int64))
    0.5
    """
    odds = math.log(PRIOR / (1.0 - PRIOR))
    odds += total_log_odds(game.rules, game.new_position().state.copy(), tokens)
    low, high = LIMITS
    return min(max(1.0 / (1.0 + math.exp(-odds)), low), high)


@kernel(ROLLOUT)
def as_guessed(state, rules, rng):
    """The quick policy of the game, whose detectives are chasers as often as the rules end with."""
    is_hunter = below(rng, CERTAIN) >= rules[rules.size - 1]
    return choose(state, rules, rng, is_hunter, ONE_RANDOM_IN)
