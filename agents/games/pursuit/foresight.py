"""A fugitive who expects detectives to cover the belief, and looks some rounds ahead.

Everything but his own place is public, so he can work out what detectives who reason as
``pursuit_belief`` does will do after each of his moves. He tries every line of his own moves for a
few rounds, lets such detectives answer, and takes the line whose moves are worth most by the
measure of ``pursuit_belief``, and that does not end in their hands. As detectives and in choosing a
start it plays like ``pursuit_belief``.
"""

from __future__ import annotations

import numpy as np
from numba import types

from agents.base import Actions, Views
from agents.games.pursuit.belief import PursuitBelief, believe, choose, hunt, weigh
from agents.games.pursuit.heuristic import first_able
from common.errors import OptionError
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import INT, OVER, RNG, RULES
from envs.core.rng import uniform
from envs.pursuit.course import is_free
from envs.pursuit.kernels import step
from envs.pursuit.options import (
    ESCAPED,
    FUGITIVE,
    FUGITIVE_MOVE,
    NOTHING,
    PICK,
    RULES_SIZE,
    STATE,
    map_of,
    spare_weights,
)
from envs.pursuit.options import RULES as PURSUIT_RULES

__all__ = ["PursuitForesight"]

MOST_ROUNDS = 4
CAUGHT = 10.0
"""What it costs to be caught by the detectives he expects; moves are worth what ``hide`` says."""
DISCOUNT = 0.9
_STACK, _REALS = types.uint8[:, ::1], types.float64[::1]


@helper
def answer(state, rules, r, m, rng):
    """Play for the detectives until the fugitive is to move, or the game is over."""
    s = state.view(STATE)[0]
    while s.turn != OVER and s.phase != FUGITIVE_MOVE:
        if s.phase == PICK:
            step(state, rules, r.pick_action + first_able(s, r, rules, m) - 1)
        else:
            step(state, rules, hunt(s, r, rules, m, rng))


@compiled(types.float64(RULES, _STACK, RNG, INT, INT, _REALS, types.int64[::1]))
def foresee(rules, stack, rng, level, last, weights, chosen):
    """The best that he can come to from ``stack[level]``; at level 0 ``chosen`` gets the move."""
    s = stack[level].view(STATE)[0]
    r = rules[:RULES_SIZE].view(PURSUIT_RULES)[0]
    m = map_of(rules, s.map)
    if s.turn == OVER:
        return 0.0 if s.reason >= ESCAPED else -CAUGHT
    if level == last:
        return 0.0
    after = spare_weights()
    most = -1e18
    for kind in range(r.num_kinds):
        if s.tickets[FUGITIVE, kind] == 0:
            continue
        total, num_places = believe(s, r, rules, m, kind, after)
        way = m.ways[kind] + s.place[FUGITIVE]
        for at in range(rules[way], rules[way + 1]):
            target = rules[at]
            if not is_free(s, r, rules, m, FUGITIVE, target):
                continue
            value, _ = weigh(s, r, rules, m, kind, target, after, total, num_places, weights)
            for byte in range(stack.shape[1]):
                stack[level + 1, byte] = stack[level, byte]
            step(stack[level + 1], rules, r.num_slots * kind + target)
            answer(stack[level + 1], rules, r, m, rng)
            later = foresee(rules, stack, rng, level + 1, last, weights, chosen)
            value += DISCOUNT * later + 0.01 * uniform(rng)
            if value > most:
                most = value
                if level == 0:
                    chosen[0] = r.num_slots * kind + target
    return most


@compiled(
    types.void(
        RULES, _STACK, types.uint64[:, ::1], _STACK, INT, _REALS, types.int64[::1], types.int64[::1]
    )
)
def _flee(rules, worlds, rngs, stack, num_rounds, weights, chosen, actions):
    """Overwrite the actions of a fugitive who is to move."""
    r = rules[:RULES_SIZE].view(PURSUIT_RULES)[0]
    for i in range(actions.size):
        s = worlds[i].view(STATE)[0]
        if s.phase != FUGITIVE_MOVE:
            continue
        for byte in range(stack.shape[1]):
            stack[0, byte] = worlds[i, byte]
        chosen[0] = NOTHING
        value = foresee(rules, stack, rngs[i], 0, num_rounds, weights, chosen)
        is_lost = value < -0.8 * CAUGHT
        if is_lost and s.double == 0 and s.doubles_left > 0:
            chosen[0] = r.double_action
        actions[i] = chosen[0]


class PursuitForesight(PursuitBelief):
    """Expects detectives who cover the belief, and looks ahead.

    Args:
        game: a pursuit.
        num_rounds: how many of his own moves the fugitive looks ahead; each takes some six times as
            long as the one before.
    """

    def __init__(self, game: Game, num_rounds: int = 3) -> None:
        """Make room for the lines that are tried."""
        super().__init__(game)
        if not 1 <= int(num_rounds) <= MOST_ROUNDS:
            raise OptionError(f"num_rounds must be from 1 to {MOST_ROUNDS}, not {num_rounds}")
        self.num_rounds = int(num_rounds)
        self._stack = np.zeros((self.num_rounds + 1, game.state_size), np.uint8)

    def act(self, views: Views) -> Actions:
        """Detectives and starts as ``pursuit_belief``."""
        actions, chosen = np.empty(len(views), np.int64), np.empty(1, np.int64)
        worlds, known = views.worlds(), (self.num_rounds, self._weights)
        choose(self.game.rules, worlds, views.rngs, self._weights, actions)
        _flee(self.game.rules, worlds, views.rngs, self._stack, *known, chosen, actions)
        return actions
