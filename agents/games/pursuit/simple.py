"""Simple players of both roles, and what all players of a pursuit share: moves, starts, ways.

``pursuit_heuristic``, as a thesis about the Phantom of Old Prague describes it. The fugitive goes
where the nearest detective is farthest away, counted in steps by any transport. He looks one move
ahead and cares neither for what detectives know nor for tickets. Each detective heads for the place
where the fugitive was last seen, by the shortest way that his tickets pay for. Before the first
sighting, and on that place, they move at random; where no way is paid for they go as near as they
can. Equals are chosen among at random: places first, then tickets to that place.

``pursuit_greedy``: distance and nothing else. The fugitive takes the move after which his distances
from all detectives add up to most, each detective the one that brings him nearest to where the
fugitive was last seen, and before that any move. Of equals the first is taken, so he can be learned
by heart: a yardstick, not an opponent.

Starts of both are random.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from agents.base import Actions, Agent, Views
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import OPTIONAL_KERNELS, OPTIONAL_SIGNATURES, RULES, OptionalKernels
from envs.core.rng import below
from envs.pursuit.course import is_free, may_move_now, stands_there
from envs.pursuit.game import Pursuit
from envs.pursuit.kernels import nearest_detective
from envs.pursuit.options import (
    DETECTIVE_PLACING,
    FAR,
    FUGITIVE,
    FUGITIVE_MOVE,
    FUGITIVE_PLACING,
    MAX_DETECTIVES,
    MAX_KINDS,
    NOTHING,
    NOWHERE,
    PICK,
    RULES_SIZE,
    STATE,
    UNLIMITED,
    distance,
    map_of,
    spare_weights,
)
from envs.pursuit.options import RULES as PURSUIT_RULES

PURSUITS = ("scotland_yard_v0", "phantom_v0")


@helper
def record_of(state):
    """The record that a state is."""
    return state.view(STATE)[0]


@helper
def header_of(rules):
    """The record that the rules begin with."""
    return rules[:RULES_SIZE].view(PURSUIT_RULES)[0]


@helper
def targets_of(s, r, rules, m, piece, kind, targets):
    """Write where a ticket takes a piece to ``targets``, [places] int64; how many they are."""
    count = 0
    if s.tickets[piece, kind] != 0:
        way = m.ways[kind] + s.place[piece]
        for at in range(rules[way], rules[way + 1]):
            if is_free(s, r, rules, m, piece, rules[at]):
                targets[count] = rules[at]
                count += 1
    return count


@helper
def has_way(s, rules, m, piece, kind, target):
    """Whether a ticket that ``piece`` holds takes it to ``target``."""
    way = m.ways[kind] + s.place[piece]
    leads_there = False
    for at in range(rules[way], rules[way + 1]):
        leads_there |= rules[at] == target
    return leads_there and s.tickets[piece, kind] != 0


@helper
def random_place(s, r, rules, m, rng):
    """A random start, on which no other detective stands if it is a detective's."""
    place = rules[m.nodes + below(rng, m.num_nodes)]
    is_bound = s.phase == DETECTIVE_PLACING or not r.may_step_on_detective
    while is_bound and stands_there(s, r, place):
        place = rules[m.nodes + below(rng, m.num_nodes)]
    return place


@helper
def random_move(s, r, rules, m, rng):
    """A random move of the piece to move, every ticket and target as likely as any."""
    chosen, num_moves = NOTHING, 0
    targets = spare_weights().view(np.int64)
    for kind in range(r.num_kinds):
        for i in range(targets_of(s, r, rules, m, s.piece, kind, targets)):
            target = targets[i]
            num_moves += 1
            if below(rng, num_moves) == 0:
                chosen = r.num_slots * kind + target
    return chosen


@helper
def first_able(s, r, rules, m):
    """The first detective who can move, where one is to be picked, as an action."""
    for piece in range(1, 1 + r.num_detectives):
        if may_move_now(s, r, rules, m, piece):
            return r.pick_action + piece - 1
    return r.pick_action


@helper
def begin_or_pick(s, r, rules, m, rng):
    """A random start, or who moves next; ``NOTHING`` where a piece is to move."""
    if s.phase == FUGITIVE_PLACING or s.phase == DETECTIVE_PLACING:
        return np.int64(random_place(s, r, rules, m, rng))
    return np.int64(first_able(s, r, rules, m)) if s.phase == PICK else np.int64(NOTHING)


# ---- shortest ways -------------------------------------------------------------------------------


@helper
def is_paid_anyway(s, r, piece, spent, steps):
    """Whether every kind of ticket is enough for a way of so many steps."""
    for kind in range(r.num_tickets):
        held = s.tickets[piece, kind]
        if held != UNLIMITED and held - (kind == spent) < steps:
            return False
    return True


@helper
def paid_distance(s, r, rules, m, piece, spent, start, goal, is_exact, finder):
    """Steps of the shortest way from ``start`` to ``goal`` that the tickets of a piece pay for.

    Breadth-first over places and tickets used: a way that saves a scarce ticket counts as another.

    Args:
        s: the state.
        r: the rules.
        rules: the rules as an array.
        m: the map.
        piece: whose tickets.
        spent: a kind of ticket of which one fewer is there, or ``NOTHING``.
        start: from where.
        goal: to where.
        is_exact: false: each edge is checked alone, as if tickets were never used up.
        finder: what ``way_finder`` makes.

    Returns:
        The number of steps, or ``FAR``.
    """
    plain = distance(rules, m, r.num_slots, start, goal)
    if is_exact and (plain == FAR or is_paid_anyway(s, r, piece, spent, plain)):
        return plain
    sizes, strides, stamps, queue, depths, counter = finder
    counter[0] += 1
    stamp = counter[0]
    queue[0], depths[0] = start, 0
    stamps[start] = stamp
    head, tail = 0, 1
    while head < tail:
        code, depth = queue[head], depths[head]
        head += 1
        place = code % r.num_slots
        if place == goal:
            return depth
        for kind in range(r.num_tickets):
            held = s.tickets[piece, kind]
            used = (code // strides[kind]) % sizes[kind]
            is_counted = is_exact and held != UNLIMITED
            if held == 0 or (
                is_counted
                and (
                    used >= held - (kind == spent) or (sizes[kind] > 1 and used + 1 >= sizes[kind])
                )
            ):
                continue
            step = strides[kind] if is_exact and sizes[kind] > 1 else 0
            way = m.ways[kind] + place
            for at in range(rules[way], rules[way + 1]):
                after = code - place + rules[at] + step
                if stamps[after] != stamp:
                    stamps[after] = stamp
                    queue[tail], depths[tail] = after, depth + 1
                    tail += 1
    return FAR


def way_finder(game: Game) -> tuple[npt.NDArray[Any], ...]:
    """Memory for searches over places and tickets used, made once for a game.

    It counts no more tickets than there are rounds: no way in a game is longer.
    """
    assert isinstance(game, Pursuit)
    r = game.header
    sizes = np.ones(MAX_KINDS, np.int64)
    for kind in range(int(r.num_tickets)):
        most = int(r.detective_tickets[kind])
        sizes[kind] = 1 if most == UNLIMITED else 1 + min(most, int(r.rounds))
    strides = np.array(int(r.num_slots) * np.cumprod([1, *sizes[:-1]]), np.int64)
    num_codes = int(r.num_slots * sizes.prod())
    codes = [np.zeros(num_codes, np.int32) for _ in range(3)]
    return (sizes, strides, *codes, np.zeros(1, np.int64))


WORLDS, RNGS, ACTIONS = types.uint8[:, ::1], types.uint64[:, ::1], types.int64[::1]
FINDER = types.Tuple((*[types.int64[::1]] * 2, *[types.int32[::1]] * 3, types.int64[::1]))
UNPAID = 2 * FAR
"""Added to the plain distance where no way is paid for."""


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
    targets = spare_weights().view(np.int64)
    for kind in range(r.num_kinds):
        for i in range(targets_of(s, r, rules, m, FUGITIVE, kind, targets)):
            target = targets[i]
            is_known = False  # by an earlier ticket
            for other in range(kind):
                is_known |= has_way(s, rules, m, FUGITIVE, other, target)
            if is_known:
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
    targets = spare_weights().view(np.int64)
    for kind in range(r.num_kinds):
        for i in range(targets_of(s, r, rules, m, piece, kind, targets)):
            target = targets[i]
            steps = paid_distance(s, r, rules, m, piece, kind, target, goal, is_exact, finder)
            if steps == FAR:
                steps = UNPAID + distance(rules, m, r.num_slots, target, goal)
            if steps > least:
                continue
            num_equal = 1 if steps < least else num_equal + 1
            least = steps
            if below(rng, num_equal) == 0:
                best = r.num_slots * kind + target
    return best


@compiled(types.void(RULES, WORLDS, RNGS, types.int64, FINDER, ACTIONS))
def _choose_simply(rules, worlds, rngs, is_exact, finder, actions):
    for i in range(actions.size):
        s, r = record_of(worlds[i]), header_of(rules)
        m = map_of(rules, s.map)
        actions[i] = begin_or_pick(s, r, rules, m, rngs[i])
        if actions[i] == NOTHING and s.phase == FUGITIVE_MOVE:
            actions[i] = flee(s, r, rules, m, rngs[i])
        elif actions[i] == NOTHING:
            actions[i] = chase(s, r, rules, m, rngs[i], is_exact, finder)


class PursuitHeuristic(Agent):
    """Flees from the nearest detective, or heads for where the fugitive was last seen.

    Args:
        game: a pursuit.
        exact: whether detectives count the tickets of a whole way; otherwise each edge is checked
            alone, as if tickets were never used up.
    """

    is_usual = True
    game_ids = PURSUITS

    def __init__(self, game: Game, exact: bool = True) -> None:
        """Make room for searches."""
        super().__init__(game)
        self.exact = bool(exact)
        self._finder = way_finder(game)

    def act(self, views: Views) -> Actions:
        """Of the worlds only what is public is read, and the fugitive's place for himself."""
        actions, known = np.empty(len(views), np.int64), (int(self.exact), self._finder)
        _choose_simply(self.game.rules, views.worlds(), views.rngs, *known, actions)
        return actions


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
    targets = spare_weights().view(np.int64)
    for kind in range(r.num_kinds):
        for i in range(targets_of(s, r, rules, m, s.piece, kind, targets)):
            target = targets[i]
            value = worth(s, r, rules, m, s.piece, target)
            if value > most:
                best, most = r.num_slots * kind + target, value
    return best


@compiled(OPTIONAL_SIGNATURES["rollout"])
def greedy_choice(state, rules, rng):
    """By distance alone; at random where there is nothing to go by."""
    s, r = record_of(state), header_of(rules)
    m = map_of(rules, s.map)
    action = begin_or_pick(s, r, rules, m, rng)
    if action != NOTHING:
        return action
    if s.piece != FUGITIVE and s.seen_place == NOWHERE:
        return random_move(s, r, rules, m, rng)
    return best_by_distance(s, r, rules, m)


@compiled(types.void(OPTIONAL_KERNELS, RULES, WORLDS, RNGS, ACTIONS))
def choose_each(player, rules, worlds, rngs, actions):
    """What a compiled choice does in every world, for whoever is to move there."""
    for i in range(actions.size):
        actions[i] = player.rollout(worlds[i], rules, rngs[i])


class PursuitGreedy(Agent):
    """Largest distance as the fugitive, smallest as a detective."""

    game_ids = PURSUITS
    choice = OptionalKernels(rollout=greedy_choice)

    def act(self, views: Views) -> Actions:
        """Of the worlds only what is public is read, and the fugitive's place for himself."""
        actions = np.empty(len(views), np.int64)
        choose_each(self.choice, self.game.rules, views.worlds(), views.rngs, actions)
        return actions
