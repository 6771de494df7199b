"""The plainest players of a pursuit: distance and nothing else.

The fugitive takes the move after which his distances from all detectives add up to most, each
detective the one that brings him nearest to where the fugitive was last seen, and before that any
move. Of equals the first is taken, so he can be learned by heart: a yardstick, not an opponent.
"""

from __future__ import annotations

import numpy as np
from numba import types

from agents.base import Actions, Agent, Views
from agents.games.pursuit.heuristic import first_able
from agents.games.pursuit.ways import PURSUITS, random_move, random_place
from envs.core.compiling import compiled, helper
from envs.core.kernels import RULES
from envs.pursuit.course import is_free
from envs.pursuit.options import (
    DETECTIVE_PLACING,
    FAR,
    FUGITIVE,
    FUGITIVE_PLACING,
    MAX_DETECTIVES,
    NOTHING,
    NOWHERE,
    PICK,
    RULES_SIZE,
    STATE,
    distance,
    map_of,
)
from envs.pursuit.options import RULES as PURSUIT_RULES

__all__ = ["PursuitGreedy"]


@helper
def worth(s, r, rules, m, piece, target):
    """More is better."""
    if piece != FUGITIVE:
        return -distance(rules, m, r.num_slots, target, s.seen_place)
    total = 0
    for other in range(1, 1 + r.num_detectives):
        if s.place[other] != NOWHERE:
            gap = distance(rules, m, r.num_slots, s.place[other], target)
            # Whoever walks into a detective has lost.
            total += gap if gap > 0 else -MAX_DETECTIVES * FAR
    return total


@helper
def best_by_distance(s, r, rules, m):
    """The first of the best moves of the piece to move."""
    best, most = NOTHING, -((MAX_DETECTIVES + 1) ** 2) * FAR
    for kind in range(r.num_kinds):
        if s.tickets[s.piece, kind] == 0:
            continue
        way = m.ways[kind] + s.place[s.piece]
        for at in range(rules[way], rules[way + 1]):
            if is_free(s, r, rules, m, s.piece, rules[at]):
                value = worth(s, r, rules, m, s.piece, rules[at])
                if value > most:
                    best, most = r.num_slots * kind + rules[at], value
    return best


@compiled(types.void(RULES, types.uint8[:, ::1], types.uint64[:, ::1], types.int64[::1]))
def _choose(rules, worlds, rngs, actions):
    r = rules[:RULES_SIZE].view(PURSUIT_RULES)[0]
    for i in range(actions.size):
        s = worlds[i].view(STATE)[0]
        m = map_of(rules, s.map)
        if s.phase == FUGITIVE_PLACING or s.phase == DETECTIVE_PLACING:
            actions[i] = random_place(s, r, rules, m, rngs[i])
        elif s.phase == PICK:
            actions[i] = r.pick_action + first_able(s, r, rules, m) - 1
        elif s.piece != FUGITIVE and s.seen_place == NOWHERE:
            actions[i] = random_move(s, r, rules, m, rngs[i])
        else:
            actions[i] = best_by_distance(s, r, rules, m)


class PursuitGreedy(Agent):
    """Largest distance as the fugitive, smallest as a detective."""

    game_ids = PURSUITS

    def act(self, views: Views) -> Actions:
        """Of the worlds only what is public is read, and the fugitive's place for himself."""
        actions = np.empty(len(views), np.int64)
        _choose(self.game.rules, views.worlds(), views.rngs, actions)
        return actions
