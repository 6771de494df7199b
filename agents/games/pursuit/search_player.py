"""ISMCTS with a pursuit's own knowledge: capture tables for detectives, a guess for the fugitive.

**Detectives.** ``pursuit_capture`` takes the best single move by what is exact: in how many rounds
two detectives catch a fugitive whom they see. Here that is where a search begins and where it ends.
Detectives are tried first where ``pursuit_capture`` would go, and after a short rollout a position
counts by the chance to catch him that such numbers have had in games.

**Fugitive.** He takes detectives for players who know no more of his place than they do, and judges
by their moves which kind of them he has before him (``chasers.py``). They move by chance, so his
tree is wide and flat, and after six rounds the game's own estimate counts.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.games.pursuit.capture_player import capture_move, pair_rounds, pair_table
from agents.games.pursuit.chasers import CERTAIN, as_guessed, chaser_share
from agents.games.pursuit.heuristic import first_able
from agents.games.pursuit.ways import PURSUITS
from agents.search.ismcts.agent import MOISMCTSAgent
from agents.search.ismcts.searcher import Advice, Root, State, TreeSearcher
from agents.search.ismcts.settings import TreeSettings
from envs.core.compiling import helper, kernel
from envs.core.errors import OptionError
from envs.core.game import Game
from envs.core.kernels import EVALUATE, LEGAL, ROLLOUT, SIGNATURES, Kernels, OptionalKernels
from envs.pursuit.kernels import KERNELS, legal, returns, settle
from envs.pursuit.moves import has_moved
from envs.pursuit.record import (
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
from envs.pursuit.rollout import evaluate, rollout

__all__ = ["PursuitSearch"]

LONGEST = 20.0
"""Rounds to a catch; more, or none at all, are no worse."""
# The logarithm of the detectives' odds, fitted to who won 800 games of rule players on 200
# stations; the constant was set by hand, and moves all positions alike.
CONSTANT, PER_ROUND, PER_LOG_PLACES, PER_ROUND_LEFT = 1.2, -0.23, -0.10, 0.21


@helper
def tables_of(r, rules):
    """The capture table and the order of its places, which lie behind the rules."""
    first = rules[rules.size - 1]
    order = rules[first : first + r.num_slots]
    num_places = np.int64(rules[rules.size - 2])
    words = rules[first + r.num_slots : rules.size - 2]
    num_pairs = num_places * (num_places - 1) // 2
    flat = words.view(np.uint8)[: num_pairs * num_places]
    return flat.reshape((num_pairs, num_places)), order


@kernel(ROLLOUT)
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


@kernel(LEGAL)
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


@kernel(EVALUATE)
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


KERNELS_IN_ORDER = Kernels(
    **{**{name: getattr(KERNELS, name) for name in SIGNATURES}, "legal": legal_in_order}
)
QUICK = OptionalKernels(settle=settle, rollout=capture_choice, evaluate=capture_estimate)
GUESSED = OptionalKernels(settle=settle, rollout=as_guessed, evaluate=evaluate)
NUM_ROUNDS = 6
"""That the fugitive's rollouts last."""


def with_table(game: Game) -> npt.NDArray[np.int32]:
    """The rules of a pursuit on one board, and its capture table behind them."""
    table, order = pair_table(game, "pursuit_search")
    flat = np.zeros(-(-table.size // 4) * 4, np.uint8)
    flat[: table.size] = table.ravel()
    tail = [
        order.astype(np.int32),
        flat.view(np.int32),
        np.array([table.shape[1], game.rules.size]),
    ]
    return np.concatenate([game.rules, *tail]).astype(np.int32)


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

    def __init__(self, game: Game, time_per_move: float | None = None, **params: Any) -> None:
        """Solve the board for two detectives, which takes about a second on 200 stations."""
        super().__init__(game, time_per_move=time_per_move, **params)
        if self.guide:
            raise OptionError("pursuit_search is led by its table: give mo_ismcts the guide")
        self.wants_tokens = True
        self._rules = with_table(game)
        # Behind the rules: how many of the detectives, of CERTAIN, are taken for chasers.
        self._guessed_rules = np.append(game.rules, 0).astype(np.int32)

    def _make_searcher(self) -> TreeSearcher:
        advice = Advice(KERNELS_IN_ORDER, QUICK, self._rules)
        return TreeSearcher(self.game, self.settings, self._clock, advice)

    @cached_property
    def _fugitive_searcher(self) -> TreeSearcher:
        num_pieces = 1 + int(self.game.rules[:RULES_SIZE].view(RULES)[0].num_detectives)
        depth = {"rollout_depth": NUM_ROUNDS * num_pieces}
        settings = TreeSettings(**{**self.fugitive_defaults, **depth, **self.given})
        advice = Advice(self.game.kernels, GUESSED, self._guessed_rules)
        return TreeSearcher(self.game, settings, self._clock, advice)

    def _searcher_for(self, root: Root) -> TreeSearcher:
        if root.seat != FUGITIVE:
            return self.searcher
        assert root.tokens is not None
        self._guessed_rules[-1] = round(CERTAIN * chaser_share(self.game, root.tokens))
        return self._fugitive_searcher

    def _actions_to_try(self, world: State, mask: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        found = np.zeros_like(mask)
        legal_in_order(world, self.game.rules, found)
        return found
