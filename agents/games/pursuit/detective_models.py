"""What kind of detectives these are, judged by their moves.

A *chaser* goes to where the fugitive was last seen, and a *hunter* draws a place from the belief
and goes nearer to it (the quick policy of the game). A *coverer* takes the move that covers the
belief best, as ``pursuit_belief`` does, and a *capturer* goes by the capture table, as
``pursuit_capture`` does. Who knows which of them he has before him can hide from any, and who takes
one for another is caught.

So a fugitive plays the game again from its start and asks of every detective's move how likely each
kind was to make it. Coverers and capturers have one best move, so that he is soon sure of them:
then he knows what they will do. Until then, and with all others, he expects a mixture of chasers
and hunters by the odds that their moves give.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import types

from agents.games.pursuit.belief import hunt
from agents.games.pursuit.capture_player import capture_move, expectation_at, tables_of
from agents.games.pursuit.simple import first_able
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import RNG, ROLLOUT, RULES, STATE
from envs.core.rng import below, new_rng
from envs.pursuit.course import is_free, total_weight
from envs.pursuit.kernels import ONE_RANDOM_IN, choose, step
from envs.pursuit.options import DETECTIVE_MOVE, NOWHERE, PICK, RULES_SIZE, distance, map_of
from envs.pursuit.options import RULES as PURSUIT_RULES
from envs.pursuit.options import STATE as PURSUIT_STATE

__all__ = ["CAPTURER", "CERTAIN", "COVERER", "MIXED", "as_expected", "judge"]

MIXED, COVERER, CAPTURER = range(3)
"""What is expected: chasers and hunters, or one of the kinds that have a best move."""
CERTAIN = 1000
"""Shares of chasers are told to compiled code as so many of these."""
PRIOR = 0.5
LIMITS = 0.02, 0.98
"""Of the share of chasers: a kind that is ruled out could never come back."""
CARELESS = 0.1
"""How often any kind makes any move."""
MOST_PER_MOVE = 1.5
"""Of the logarithm of the odds: real detectives are of no kind, and no move proves one."""
DECIDED = math.log(50.0)
"""The odds of a kind with a best move, against the likelier of the others move by move."""
NUM_DRAWS = 4
"""Of a best move: equals are chosen among at random."""


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
def likelihood(share, num_moves):
    """The logarithm of how likely a move is, for a kind that makes it so often but for mistakes."""
    return math.log((1.0 - CARELESS) * share + CARELESS / max(num_moves, 1))


@helper
def best_by_kind(s, r, rules, m, kind, rng):
    """The move of a detective who has a best one."""
    if kind == COVERER:
        return hunt(s, r, rules, m, rng)
    table, order = tables_of(r, rules)
    return capture_move(s, r, rules, m, table, order, rng)


@helper
def weigh_move(s, r, rules, m, action, rng, odds):
    """Add what a detective's move says: of chasers against hunters, and of the other kinds."""
    goal = s.seen_place
    if goal == s.place[s.piece]:
        goal = NOWHERE  # a chaser on the spot moves at random
    chased, num_moves = share_of_best(s, r, rules, m, action, goal)
    hunted, total = 0.0, max(total_weight(s, r), 1.0)
    for place in range(r.num_slots):
        if s.belief[place] > 0.0:
            share, _ = share_of_best(s, r, rules, m, action, place)
            hunted += share * s.belief[place] / total
    chased, hunted = likelihood(chased, num_moves), likelihood(hunted, num_moves)
    odds[MIXED] += min(max(chased - hunted, -MOST_PER_MOVE), MOST_PER_MOVE)
    for kind in (COVERER, CAPTURER):
        num_agree = 0
        for _ in range(NUM_DRAWS):
            num_agree += best_by_kind(s, r, rules, m, kind, rng) == action
        gain = likelihood(num_agree / NUM_DRAWS, num_moves) - max(chased, hunted)
        odds[kind] += min(max(gain, -MOST_PER_MOVE), MOST_PER_MOVE)


@compiled(types.void(RULES, STATE, types.int64[::1], RNG, types.float64[::1]))
def weigh_moves(rules, state, tokens, rng, odds):
    """Play what the fugitive has seen, which is everything, and add up what it says."""
    s = state.view(PURSUIT_STATE)[0]
    r = rules[:RULES_SIZE].view(PURSUIT_RULES)[0]
    for token in tokens:
        action = (token - 1) // 4  # see ``seen`` of the game
        if s.phase == DETECTIVE_MOVE:
            weigh_move(s, r, rules, map_of(rules, s.map), action, rng, odds)
        step(state, rules, action)


def judge(
    game: Game, rules: npt.NDArray[np.int32], tokens: npt.NDArray[np.int64]
) -> tuple[int, float]:
    """The kind to expect, and the share of chasers if that is ``MIXED``.

    Args:
        game: a pursuit.
        rules: its own, with a table behind them.
        tokens: all that the fugitive has seen.

    >>> from agents.games.pursuit.capture_player import with_table
    >>> from envs import make_game
    >>> game = make_game("phantom_v0", board="map_1")
    >>> judge(game, with_table(game), np.zeros(0, np.int64))
    (0, 0.5)
    """
    odds = np.zeros(3)
    odds[MIXED] = math.log(PRIOR / (1.0 - PRIOR))
    weigh_moves(rules, game.new_position().state.copy(), tokens, new_rng(0), odds)
    low, high = LIMITS
    share = min(max(1.0 / (1.0 + math.exp(-odds[MIXED])), low), high)
    likeliest = COVERER if odds[COVERER] >= odds[CAPTURER] else CAPTURER
    return (likeliest if odds[likeliest] > DECIDED else MIXED), share


def expect(game: Game, rules: npt.NDArray[np.int32], tokens: npt.NDArray[np.int64]) -> bool:
    """Write behind the rules what detectives ``as_expected`` is to play; true if that is sure."""
    kind, share = judge(game, rules, tokens)
    at = expectation_at(rules)
    rules[at : at + 2] = kind, round(CERTAIN * share)
    return kind != MIXED


@compiled(ROLLOUT)
def as_expected(state, rules, rng):
    """The quick policy of the game, with detectives of the kind that is expected."""
    s = state.view(PURSUIT_STATE)[0]
    at = expectation_at(rules)
    kind, share = rules[at], rules[at + 1]
    if kind == MIXED or (s.phase != DETECTIVE_MOVE and s.phase != PICK):
        return choose(state, rules, rng, below(rng, CERTAIN) >= share, ONE_RANDOM_IN)
    r = rules[:RULES_SIZE].view(PURSUIT_RULES)[0]
    m = map_of(rules, s.map)
    if s.phase == PICK:
        return r.pick_action + first_able(s, r, rules, m) - 1
    return best_by_kind(s, r, rules, m, kind, rng)
