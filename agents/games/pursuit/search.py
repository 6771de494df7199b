"""ISMCTS with a pursuit's own knowledge: capture tables, and what kind detectives are of.

**Detectives.** ``pursuit_capture`` takes the best single move by what is exact: in how many rounds
two detectives catch a fugitive whom they see. Here that is where a search begins and where it ends.
Detectives are tried first where ``pursuit_capture`` would go, and after a short rollout a position
counts by the chance to catch him that such numbers have had in games.

**Fugitive.** He takes detectives for players who know no more of his place than they do, and judges
by their moves which kind of them he has before him (``kinds.py``). Until he is sure they move by
chance, so that his tree is wide and flat, and after six rounds the game's own estimate counts. Once
he is sure he knows their answers; then his own later moves, which a rollout makes carelessly, are
what is least certain, and the estimate counts after three.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Views
from agents.games.pursuit.capture_player import capture_move, pair_rounds, tables_of, with_table
from agents.games.pursuit.detective_models import as_expected, expect
from agents.games.pursuit.simple import PURSUITS, first_able
from agents.ismcts.agent import MOISMCTSAgent
from agents.ismcts.searcher import Advice, Root, State, TreeSearcher
from agents.ismcts.settings import TreeSettings
from agents.ismcts.tree import Pool
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import EVALUATE, LEGAL, ROLLOUT
from envs.pursuit.course import has_moved
from envs.pursuit.game import Pursuit
from envs.pursuit.kernels import legal, returns, rollout
from envs.pursuit.options import (
    DETECTIVE_MOVE,
    ENDED,
    FUGITIVE,
    FUGITIVE_MOVE,
    NOWHERE,
    PICK,
    RULES,
    RULES_SIZE,
    STATE,
    map_of,
)

__all__ = ["PursuitSearch"]

LONGEST = 20.0
"""Rounds to a catch; more, or none at all, are no worse."""
# The logarithm of the detectives' odds, fitted to who won 800 games of rule players on 200
# stations; the constant was set by hand, and moves all positions alike.
CONSTANT, PER_ROUND, PER_LOG_PLACES, PER_ROUND_LEFT = 1.2, -0.23, -0.10, 0.21


@compiled(ROLLOUT)
def capture_choice(state, rules, rng):
    """Detectives go by the table, in their order; the fugitive is the quick one."""
    s = state.view(STATE)[0]
    r = rules[:RULES_SIZE].view(RULES)[0]
    if s.phase == PICK:
        return r.pick_action + first_able(s, r, rules, map_of(rules, s.map)) - 1
    if s.phase != DETECTIVE_MOVE:
        return rollout(state, rules, rng)
    table, order = tables_of(r, rules)
    return capture_move(s, r, rules, map_of(rules, s.map), table, order, rng)


@compiled(LEGAL)
def legal_in_order(state, rules, mask):
    """Detectives move in their order where they could choose one: fewer actions to try."""
    s = state.view(STATE)[0]
    r = rules[:RULES_SIZE].view(RULES)[0]
    if s.phase != PICK:
        return legal(state, rules, mask)
    mask[:] = 0
    mask[r.pick_action + first_able(s, r, rules, map_of(rules, s.map)) - 1] = 1
    return 1


@helper
def rounds_to_catch(s, r, table, order, place):
    """For the best pair of detectives, if he is seen on ``place``."""
    least = LONGEST
    for a in range(1, 1 + r.num_detectives):
        for b in range(1, a):
            if s.place[a] != NOWHERE and s.place[b] != NOWHERE:
                least = min(least, pair_rounds(table, order, s.place[a], s.place[b], place))
    return least


@compiled(EVALUATE)
def capture_estimate(state, rules, out):
    """What the belief, the table and the rounds that are left say of who will win."""
    s = state.view(STATE)[0]
    r = rules[:RULES_SIZE].view(RULES)[0]
    if s.phase == ENDED or s.place[FUGITIVE] == NOWHERE:
        returns(state, rules, out)
        return
    table, order = tables_of(r, rules)
    total, rounds, num_possible = 0.0, 0.0, 0
    for place in range(r.num_slots):
        weight = s.belief[place]
        if weight > 0.0:
            total += weight
            rounds += weight * rounds_to_catch(s, r, table, order, place)
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

    def _make_searcher(self) -> TreeSearcher:
        advice = Advice(KERNELS_IN_ORDER, QUICK, self._rules)
        return TreeSearcher(self.game, self.settings, self._clock, advice)

    @cached_property
    def _unsure_fugitive(self) -> TreeSearcher:
        return self._make_fugitive(NUM_ROUNDS)

    @cached_property
    def _sure_fugitive(self) -> TreeSearcher:
        return self._make_fugitive(NUM_ROUNDS_IF_SURE)

    def _make_fugitive(self, num_rounds: int) -> TreeSearcher:
        num_pieces = 1 + int(self.game.rules[:RULES_SIZE].view(RULES)[0].num_detectives)
        depth = {"rollout_depth": num_rounds * num_pieces}
        settings = TreeSettings(**{**self.fugitive_defaults, **depth, **self.given})
        advice = Advice(self.game.kernels, EXPECTED, self._rules)
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
