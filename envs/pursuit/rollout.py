"""A quick player for both sides, as a kernel: for playouts of a search and to weigh up maps.

The fugitive goes where the nearest detective is farthest. Each detective draws a place from the
belief and goes nearer to it, so together they cover what is likely. Nobody uses what he may not
know. One move in ten is random.
"""

from __future__ import annotations

import math

from envs.core.compiling import helper, kernel
from envs.core.kernels import EVALUATE, ROLLOUT, SAMPLE
from envs.core.rng import below
from envs.pursuit.belief import draw_place
from envs.pursuit.kernels import card_list, returns
from envs.pursuit.moves import is_free, may_move_now, stands_there
from envs.pursuit.record import (
    DETECTIVE_PLACING,
    ENDED,
    FAR,
    FUGITIVE,
    FUGITIVE_MOVE,
    FUGITIVE_PLACING,
    NOTHING,
    NOWHERE,
    PICK,
    RULES,
    RULES_SIZE,
    STATE,
    distance,
    map_of,
)

__all__ = ["evaluate", "nearest_detective", "plain_choice", "rollout", "unknown_choice"]

ONE_RANDOM_IN = 10
ONE_LAST_SEEN_IN = 4
NUM_STARTS = 4
"""Places among which a fugitive who sees the detectives picks his start."""


@helper
def nearest_detective(s, r, rules, m, place):
    """Steps from ``place`` to the nearest detective, by any transport that detectives can use."""
    least = FAR
    for piece in range(1, 1 + r.num_detectives):
        if s.place[piece] != NOWHERE:
            least = min(least, distance(rules, m, r.num_slots, s.place[piece], place))
    return least


@helper
def rate(s, r, rules, m, piece, target, goal):
    """How good a target is: more is better."""
    if goal == NOWHERE:
        return 0
    if piece == FUGITIVE:
        return nearest_detective(s, r, rules, m, target)
    return -distance(rules, m, r.num_slots, target, goal)


@helper
def best_move(s, r, rules, m, rng, goal, skipped):
    """The best rated move of the piece to move, a random one among equals; none: ``NOTHING``."""
    best, best_rate, num_equal = NOTHING, -10 * FAR, 0
    piece = s.piece
    for kind in range(r.num_kinds):
        if s.tickets[piece, kind] == 0 or kind == skipped:
            continue
        way = m.ways[kind] + s.place[piece]
        for at in range(rules[way], rules[way + 1]):
            target = rules[at]
            if not is_free(s, r, rules, m, piece, target):
                continue
            rated = rate(s, r, rules, m, piece, target, goal)
            if rated < best_rate:
                continue
            num_equal = 1 if rated > best_rate else num_equal + 1
            best_rate = rated
            if below(rng, num_equal) == 0:
                best = r.num_slots * kind + target
    return best


@helper
def random_start(s, r, rules, m, rng):
    """A place for the piece that is to be put on the board."""
    first, count = card_list(s, m)
    if s.phase == DETECTIVE_PLACING:
        place = rules[first + below(rng, count)]
        while stands_there(s, r, place):
            place = rules[first + below(rng, count)]
        return place
    best, best_gap = 0, -1
    num_tries = 0
    while num_tries < NUM_STARTS or best_gap <= 0:
        place = rules[first + below(rng, count)]
        gap = nearest_detective(s, r, rules, m, place)
        if gap > best_gap:
            best, best_gap = place, gap
        num_tries += 1
    return best


@helper
def choose(state, rules, rng, has_belief, one_random_in):
    """Choose an action of the player to move.

    Detectives chase a place drawn from the belief, or where the fugitive was last seen.
    """
    s = state.view(STATE)[0]
    r = rules[:RULES_SIZE].view(RULES)[0]
    m = map_of(rules, s.map)
    if s.phase == FUGITIVE_PLACING or s.phase == DETECTIVE_PLACING:
        return random_start(s, r, rules, m, rng)
    if s.phase == PICK:
        piece = 1 + below(rng, r.num_detectives)
        while not may_move_now(s, r, rules, m, piece):
            piece = 1 + below(rng, r.num_detectives)
        return r.pick_action + piece - 1
    skipped = NOTHING
    if s.phase == FUGITIVE_MOVE:
        goal = s.place[FUGITIVE]
        is_close = nearest_detective(s, r, rules, m, goal) <= 1
        if is_close and s.double == 0 and s.doubles_left > 0 and below(rng, 2) == 0:
            return r.double_action
        # A black ticket is worth most when there is something to hide.
        if not is_close and below(rng, 4) > 0:
            skipped = r.black
    else:
        goal = draw_place(s, r, rng) if has_belief else s.seen_place
    if one_random_in > 0 and below(rng, one_random_in) == 0:
        goal = NOWHERE
    action = best_move(s, r, rules, m, rng, goal, skipped)
    if action == NOTHING:
        action = best_move(s, r, rules, m, rng, goal, NOTHING)
    return action


@kernel(ROLLOUT)
def rollout(state, rules, rng):
    """An action of the quick player."""
    return choose(state, rules, rng, True, ONE_RANDOM_IN)


@kernel(ROLLOUT)
def unknown_choice(state, rules, rng):
    """The same for detectives of whom nothing is known: one time in four they are simple ones.

    Who is ready for both loses nothing against clever ones, and much less against the others.
    """
    return choose(state, rules, rng, below(rng, ONE_LAST_SEEN_IN) > 0, ONE_RANDOM_IN)


@kernel(SAMPLE)
def plain_choice(state, rules, rng):
    """The same without belief and random moves: the measure of a map."""
    return choose(state, rules, rng, False, 0)


@kernel(EVALUATE)
def evaluate(state, rules, out):
    """A guess at the returns from how near detectives are to where he can be, and the rounds left.

    Worth as much as its order: nearer detectives, fewer possible places and more rounds to go are
    worse for the fugitive.
    """
    s = state.view(STATE)[0]
    r = rules[:RULES_SIZE].view(RULES)[0]
    if s.phase == ENDED or s.place[FUGITIVE] == NOWHERE:
        returns(state, rules, out)
        return
    m = map_of(rules, s.map)
    total, steps, num_possible = 0.0, 0.0, 0
    for place in range(r.num_slots):
        if s.belief[place] > 0.0:
            total += s.belief[place]
            steps += s.belief[place] * nearest_detective(s, r, rules, m, place)
            num_possible += 1
    hope = 0.35 * steps / max(total, 1.0) + 0.25 * math.log(num_possible + 1.0)
    rounds_left = (r.rounds - s.round_number) / r.rounds
    value = math.tanh(hope - 0.4 - 1.2 * rounds_left)
    out[:] = -value
    out[FUGITIVE] = value
