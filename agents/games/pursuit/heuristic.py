"""Simple players of both roles, as a thesis about the Phantom of Old Prague describes them.

**Fugitive.** Goes where the nearest detective is farthest away, counted in steps by any transport.
He looks one move ahead and cares neither for what detectives know nor for tickets.

**Detectives.** Each heads for the place where the fugitive was last seen, by the shortest way that
his tickets pay for. Before the first sighting, and on that place, they move at random; where no way
is paid for they go as near as they can.

Starts are random. Equals are chosen among at random: places first, then tickets to that place.
"""

from __future__ import annotations

import numpy as np
from numba import types

from agents.base import Actions, Agent, Views
from agents.games.pursuit.ways import (
    PURSUITS,
    WayFinder,
    has_way,
    paid_distance,
    random_move,
    random_place,
    simple_distance,
)
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import RULES
from envs.core.rng import below
from envs.pursuit.course import is_free, may_move_now
from envs.pursuit.kernels import nearest_detective
from envs.pursuit.options import (
    DETECTIVE_PLACING,
    FAR,
    FUGITIVE,
    FUGITIVE_MOVE,
    FUGITIVE_PLACING,
    NOTHING,
    NOWHERE,
    PICK,
    RULES_SIZE,
    STATE,
    distance,
    map_of,
)
from envs.pursuit.options import RULES as PURSUIT_RULES

__all__ = ["PursuitHeuristic"]

FINDER = types.Tuple(
    (
        types.int64[::1],
        types.int64[::1],
        types.int32[::1],
        types.int32[::1],
        types.int32[::1],
        types.int64[::1],
    )
)
UNPAID = 2 * FAR
"""Added to the plain distance where no way is paid for."""


@helper
def first_able(s, r, rules, m):
    """The first detective who can move, where one is to be picked."""
    for piece in range(1, 1 + r.num_detectives):
        if may_move_now(s, r, rules, m, piece):
            return piece
    return 1


@helper
def ticket_to(s, r, rules, m, rng, target):
    """A random one of the tickets that take the piece to move to ``target``, as an action."""
    chosen, num_ways = NOTHING, 0
    for kind in range(r.num_kinds):
        if has_way(s, rules, m, s.piece, kind, target):
            num_ways += 1
            if below(rng, num_ways) == 0:
                chosen = r.num_slots * kind + target
    return chosen


@helper
def flee(s, r, rules, m, rng):
    """The fugitive's move."""
    best, best_gap, num_equal = NOWHERE, -1, 0
    for kind in range(r.num_kinds):
        if s.tickets[FUGITIVE, kind] == 0:
            continue
        way = m.ways[kind] + s.place[FUGITIVE]
        for at in range(rules[way], rules[way + 1]):
            target = rules[at]
            is_known = False  # by an earlier ticket
            for other in range(kind):
                is_known |= has_way(s, rules, m, FUGITIVE, other, target)
            if is_known or not is_free(s, r, rules, m, FUGITIVE, target):
                continue
            gap = nearest_detective(s, r, rules, m, target)
            if gap < best_gap:
                continue
            num_equal = 1 if gap > best_gap else num_equal + 1
            best_gap = gap
            if below(rng, num_equal) == 0:
                best = target
    return ticket_to(s, r, rules, m, rng, best)


@helper
def chase(s, r, rules, m, rng, is_exact, finder):
    """A detective's move."""
    goal, piece = s.seen_place, s.piece
    if goal == NOWHERE or goal == s.place[piece]:
        return random_move(s, r, rules, m, rng)
    best, least, num_equal = NOTHING, 4 * FAR, 0
    for kind in range(r.num_tickets):
        if s.tickets[piece, kind] == 0:
            continue
        way = m.ways[kind] + s.place[piece]
        for at in range(rules[way], rules[way + 1]):
            target = rules[at]
            if not is_free(s, r, rules, m, piece, target):
                continue
            if is_exact:
                steps = paid_distance(s, r, rules, m, piece, kind, target, goal, finder)
            else:
                steps = simple_distance(s, r, rules, m, piece, target, goal, finder)
            if steps == FAR:
                steps = UNPAID + distance(rules, m, r.num_slots, target, goal)
            if steps > least:
                continue
            num_equal = 1 if steps < least else num_equal + 1
            least = steps
            if below(rng, num_equal) == 0:
                best = r.num_slots * kind + target
    return best


@compiled(
    types.void(
        RULES, types.uint8[:, ::1], types.uint64[:, ::1], types.int64, FINDER, types.int64[::1]
    )
)
def _choose(rules, worlds, rngs, is_exact, finder, actions):
    r = rules[:RULES_SIZE].view(PURSUIT_RULES)[0]
    for i in range(actions.size):
        s = worlds[i].view(STATE)[0]
        m = map_of(rules, s.map)
        if s.phase == FUGITIVE_PLACING or s.phase == DETECTIVE_PLACING:
            actions[i] = random_place(s, r, rules, m, rngs[i])
        elif s.phase == PICK:
            actions[i] = r.pick_action + first_able(s, r, rules, m) - 1
        elif s.phase == FUGITIVE_MOVE:
            actions[i] = flee(s, r, rules, m, rngs[i])
        else:
            actions[i] = chase(s, r, rules, m, rngs[i], is_exact, finder)


class PursuitHeuristic(Agent):
    """Flees from the nearest detective, or heads for where the fugitive was last seen.

    Args:
        game: a pursuit.
        exact: whether detectives count the tickets of a whole way; otherwise each edge is checked
            alone, as if tickets were never used up.
    """

    game_ids = PURSUITS

    def __init__(self, game: Game, exact: bool = True) -> None:
        """Make room for searches."""
        super().__init__(game)
        self.exact = bool(exact)
        self._finder = WayFinder(game)

    def act(self, views: Views) -> Actions:
        """Of the worlds only what is public is read, and the fugitive's place for himself."""
        actions = np.empty(len(views), np.int64)
        worlds = views.worlds()
        _choose(self.game.rules, worlds, views.rngs, int(self.exact), self._finder.arrays, actions)
        return actions
