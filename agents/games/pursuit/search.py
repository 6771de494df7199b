"""ISMCTS with a pursuit's own knowledge: capture tables, and what kind detectives are of.

**Detectives.** ``pursuit_capture`` takes the best single move by what is exact: in how many rounds
two detectives catch a fugitive whom they see. Here that is where a search begins and where it ends.
Detectives are tried first where ``pursuit_capture`` would go, and after a short rollout a position
counts by the chance to catch him that such numbers have had in games.

**Fugitive.** He takes detectives for players who know no more of his place than they do, and judges
by their moves which kind of them he has before him. Until he is sure they move by chance, so that
his tree is wide and flat, and after six rounds the game's own estimate counts. Once he is sure he
knows their answers; then his own later moves, which a rollout makes carelessly, are what is least
certain, and the estimate counts after three.

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
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from agents.base import Views
from agents.games.pursuit.belief import hunt
from agents.games.pursuit.capture_player import (
    best_pair,
    capture_move,
    expectation_at,
    tables_of,
    with_table,
)
from agents.games.pursuit.simple import PURSUITS, first_able, header_of, record_of, targets_of
from agents.ismcts.agent import MOISMCTSAgent
from agents.ismcts.searcher import GameAdvice, Root, State, TreeSearcher
from agents.ismcts.settings import TreeSettings
from agents.ismcts.tree import Pool
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import OPTIONAL_SIGNATURES, RNG, RULES, SIGNATURES, STATE
from envs.core.rng import below, new_rng
from envs.pursuit.course import has_moved, total_weight
from envs.pursuit.game import Pursuit
from envs.pursuit.kernels import ONE_RANDOM_IN, choose, legal, returns, rollout, step
from envs.pursuit.options import (
    DETECTIVE_MOVE,
    ENDED,
    FUGITIVE,
    FUGITIVE_MOVE,
    NOTHING,
    NOWHERE,
    PICK,
    distance,
    map_of,
    spare_weights,
)

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
    targets = spare_weights().view(np.int64)
    for kind in range(r.num_kinds):
        for i in range(targets_of(s, r, rules, m, piece, kind, targets)):
            target = targets[i]
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
    return capture_move(s, r, rules, m, rng)


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
    for token in tokens:
        action = (token - 1) // 4  # see ``seen`` of the game
        s, r = record_of(state), header_of(rules)
        m = map_of(rules, s.map)
        if s.phase == DETECTIVE_MOVE:
            weigh_move(s, r, rules, m, action, rng, odds)
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


@compiled(OPTIONAL_SIGNATURES["rollout"])
def as_expected(state, rules, rng):
    """The quick policy of the game, with detectives of the kind that is expected."""
    s, r = record_of(state), header_of(rules)
    m = map_of(rules, s.map)
    at = expectation_at(rules)
    kind, share = rules[at], rules[at + 1]
    if kind == MIXED or (s.phase != DETECTIVE_MOVE and s.phase != PICK):
        return choose(state, rules, rng, below(rng, CERTAIN) >= share, ONE_RANDOM_IN)
    if s.phase == PICK:
        return first_able(s, r, rules, m)
    return best_by_kind(s, r, rules, m, kind, rng)


LONGEST = 20.0
"""Rounds to a catch; more, or none at all, are no worse."""
# The logarithm of the detectives' odds, fitted to who won 800 games of rule players on 200
# stations; the constant was set by hand, and moves all positions alike.
CONSTANT, PER_ROUND, PER_LOG_PLACES, PER_ROUND_LEFT = 1.2, -0.23, -0.10, 0.21


@compiled(OPTIONAL_SIGNATURES["rollout"])
def capture_choice(state, rules, rng):
    """Detectives go by the table, in their order; the fugitive is the quick one."""
    s, r = record_of(state), header_of(rules)
    m = map_of(rules, s.map)
    if s.phase == PICK:
        return first_able(s, r, rules, m)
    if s.phase != DETECTIVE_MOVE:
        return rollout(state, rules, rng)
    return capture_move(s, r, rules, m, rng)


@compiled(SIGNATURES["legal"])
def legal_in_order(state, rules, mask):
    """Detectives move in their order where they could choose one: fewer actions to try."""
    s, r = record_of(state), header_of(rules)
    m = map_of(rules, s.map)
    if s.phase != PICK:
        return legal(state, rules, mask)
    mask[:] = 0
    mask[first_able(s, r, rules, m)] = 1
    return 1


@compiled(OPTIONAL_SIGNATURES["evaluate"])
def capture_estimate(state, rules, out):
    """What the belief, the table and the rounds that are left say of who will win."""
    s, r = record_of(state), header_of(rules)
    if s.phase == ENDED or s.place[FUGITIVE] == NOWHERE:
        returns(state, rules, out)
        return
    table, order = tables_of(r, rules)
    total, rounds, num_possible = 0.0, 0.0, 0
    for place in range(r.num_slots):
        weight = s.belief[place]
        if weight > 0.0:
            total += weight
            rounds += weight * best_pair(s, r, table, order, place, NOTHING, LONGEST)
            num_possible += 1
    rounds /= max(total, 1.0)
    if s.phase != FUGITIVE_MOVE:
        # Tables are for a fugitive to move: who has not moved yet comes nearer before that.
        for piece in range(1, 1 + r.num_detectives):
            rounds -= (1.0 - has_moved(s, piece)) / r.num_detectives
    odds = CONSTANT + PER_ROUND * rounds
    odds += PER_LOG_PLACES * math.log(max(num_possible, 1))
    odds += PER_ROUND_LEFT * (r.rounds - s.round_number)
    value = math.tanh(0.5 * odds)
    out[:] = value
    out[FUGITIVE] = -value


KERNELS_IN_ORDER = Pursuit.kernels.but(legal=legal_in_order)
QUICK = Pursuit.optional.but(rollout=capture_choice, evaluate=capture_estimate)
EXPECTED = Pursuit.optional.but(rollout=as_expected)
NUM_ROUNDS, NUM_ROUNDS_IF_SURE = 6, 3
"""That the fugitive's rollouts last."""


class PursuitSearch(MOISMCTSAgent):
    """MO-ISMCTS for both sides of a pursuit; any parameter of ``mo_ismcts`` goes."""

    game_ids = PURSUITS
    defaults = {
        **MOISMCTSAgent.defaults,
        "selection": "puct",
        "prior": "rule",
        "prior_draws": 1,
        "exploration": 0.15,
        "rollout_depth": 10,
    }
    fugitive_defaults: dict[str, Any] = {
        **MOISMCTSAgent.defaults,
        "selection": "ucb",
        "opponents": "rule",
        "epsilon": 0.0,
    }
    refuses_guide = "pursuit_search is led by its table"

    def __init__(self, game: Game, time_per_move: float | None = None, **params: Any) -> None:
        """Solve the board for two detectives, which takes about a second on 200 stations."""
        super().__init__(game, time_per_move=time_per_move, **params)
        self.wants_tokens = True
        self._rules = with_table(game)
        self.advice = GameAdvice(KERNELS_IN_ORDER, QUICK, self._rules)

    @cached_property
    def _unsure_fugitive(self) -> TreeSearcher:
        return self._make_fugitive(NUM_ROUNDS)

    @cached_property
    def _sure_fugitive(self) -> TreeSearcher:
        return self._make_fugitive(NUM_ROUNDS_IF_SURE)

    def _make_fugitive(self, num_rounds: int) -> TreeSearcher:
        assert isinstance(self.game, Pursuit)
        depth = {"rollout_depth": num_rounds * (1 + self.game.options.num_detectives)}
        settings = TreeSettings(**{**self.fugitive_defaults, **depth, **self.given})
        advice = GameAdvice(self.game.kernels, EXPECTED, self._rules)
        return TreeSearcher(self.game, settings, self._clock, advice)

    def _searcher_for(self, root: Root) -> TreeSearcher:
        if root.seat != FUGITIVE:
            return self.searcher
        assert root.tokens is not None
        is_sure = expect(self.game, self._rules, root.tokens)
        return self._sure_fugitive if is_sure else self._unsure_fugitive

    def _trees(self, views: Views, row: int) -> list[Pool] | None:
        """Detectives may keep theirs; what he found was for detectives as he saw them then."""
        return None if views.seats[row] == FUGITIVE else super()._trees(views, row)

    def _actions_to_try(self, world: State, mask: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        found = np.zeros_like(mask)
        legal_in_order(world, self.game.rules, found)
        return found
