"""Players of both roles who reason about where the fugitive can be.

The belief is public: for every place the number of histories that lead there. Both sides use it.

**Detectives.** Each takes the move after which the possible places, weighted by the belief, lie
nearest to the nearest detective; a place that he enters costs nothing more. As each counts what the
others already cover, they share the places out among themselves. Nearness of his own breaks ties,
and so does a ticket of which plenty are left. Starts are spread in the same way.

**Fugitive.** For every ticket he works out what detectives will believe after it. A move is bad if
a detective can enter its target at once, the more so the likelier detectives hold that place to be;
it is good if it leaves many places possible, keeps a distance, and leads to ways out. He doubles
when every single move is dangerous. If he sees the detectives' starts he begins far from them.

**Foresight.** Everything but his own place is public, so a fugitive can work out what detectives
who reason like this will do after each of his moves. ``pursuit_foresight`` tries every line of his
own moves for a few rounds, lets such detectives answer, and takes the line whose moves are worth
most by the same measure, and that does not end in their hands. Otherwise it plays like this.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from agents.base import Actions, Views
from agents.games.pursuit.simple import (
    ACTIONS,
    RNGS,
    WORLDS,
    PursuitGreedy,
    choose_each,
    first_able,
    has_way,
    header_of,
    random_place,
    record_of,
    targets_of,
)
from common.errors import OptionError
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import INT, OPTIONAL_SIGNATURES, OVER, RNG, RULES, OptionalKernels
from envs.core.rng import below, uniform
from envs.pursuit.course import stands_there
from envs.pursuit.kernels import nearest_detective, step
from envs.pursuit.options import (
    DETECTIVE_PLACING,
    ESCAPED,
    FAR,
    FUGITIVE,
    FUGITIVE_MOVE,
    FUGITIVE_PLACING,
    NOTHING,
    NOWHERE,
    PICK,
    UNLIMITED,
    distance,
    map_of,
    spare_weights,
)

# Detectives: in steps.
OWN_SHARE = 0.15  # of a step nearer to the possible places by himself
SCARCE = 0.3  # divided by the tickets left
TO_COME = 0.5  # how much nearer a detective counts who is still to move in this round
NUM_STARTS = 12  # random places among which a start is chosen

DOUBLE_FROM = 0.35  # the fugitive doubles if his best move is more dangerous
# What moves are worth to the fugitive; only proportions count. Found by a random search against
# greedy and belief detectives on five boards.
DANGER = 4.7  # that a detective enters his place at once
GAP = 0.06  # a step more to the nearest detective, if detectives know where he is
HIDDEN_GAP = 0.23  # and in any case
SPREAD = 0.19  # twice as many possible places
EXITS = 0.53  # twice as many ways out
BLACK = -0.06  # a black ticket spent


# ---- detectives ----------------------------------------------------------------------------------


@helper
def cover(s, r, rules, m, piece, near):
    """For every place the steps from the nearest of the other detectives: [places] float64."""
    for place in range(r.num_slots):
        near[place] = FAR
    for other in range(1, 1 + r.num_detectives):
        if other == piece or s.place[other] == NOWHERE:
            continue
        is_to_come = s.phase != DETECTIVE_PLACING and not (s.moved >> (other - 1)) & 1
        start = r.num_slots * s.place[other]
        for place in range(r.num_slots):
            index = start + place
            steps = (rules[m.distances + (index >> 2)] >> (8 * (index & 3))) & 255
            near[place] = min(near[place], steps - TO_COME * is_to_come)


@helper
def uncovered(s, r, rules, m, target, near):
    """How far, by the belief, the possible places would be from a detective on ``target``."""
    belief = s.belief
    cost, own, total = 0.0, 0.0, 0.0
    for place in range(r.num_slots):
        weight = belief[place]
        if weight > 0.0:
            total += weight
            if place != target:
                steps = distance(rules, m, r.num_slots, target, place)
                cost += weight * min(near[place], steps)
                own += weight * steps
    return (cost + OWN_SHARE * own) / max(total, 1.0)


@helper
def ticket_fee(s, kind):
    """What a detective's ticket costs: the more, the fewer are left."""
    held = s.tickets[s.piece, kind]
    return 0.0 if held == UNLIMITED else SCARCE / held


@helper
def hunt(s, r, rules, m, rng):
    """A detective's move."""
    near = spare_weights()
    cover(s, r, rules, m, s.piece, near)
    best, least = NOTHING, 1e18
    targets = spare_weights().view(np.int64)
    for kind in range(r.num_kinds):
        for i in range(targets_of(s, r, rules, m, s.piece, kind, targets)):
            target = targets[i]
            cost = ticket_fee(s, kind) + uncovered(s, r, rules, m, target, near)
            cost += 1e-6 * uniform(rng)  # equals are chosen among at random
            if cost < least:
                best, least = r.num_slots * kind + target, cost
    return best


@helper
def spread_out(s, r, rules, m, rng):
    """A detective's start: of some random places the one that covers most."""
    near = spare_weights()
    cover(s, r, rules, m, s.piece, near)
    best, least = NOWHERE, 1e18
    for _ in range(NUM_STARTS):
        start = random_place(s, r, rules, m, rng)
        cost = 0.0
        for at in range(m.nodes, m.nodes + m.num_nodes):
            cost += min(near[rules[at]], distance(rules, m, r.num_slots, start, rules[at]))
        if cost < least:
            best, least = start, cost
    return best


# ---- the fugitive --------------------------------------------------------------------------------


@helper
def believe(s, r, rules, m, kind, after):
    """What detectives will believe after a hidden move by a ticket: ``(total, places)``."""
    belief = s.belief
    total, num_places = 0.0, 0
    for place in range(r.num_slots):
        weight = 0.0
        way = m.ways[kind] + place
        for at in range(rules[way], rules[way + 1]):
            weight += belief[rules[at]]
        after[place] = 0.0 if stands_there(s, r, place) else weight
        total += after[place]
        num_places += after[place] > 0.0
    return total, num_places


@helper
def num_hunters(s, r, rules, m, target):
    """How many detectives have a ticket that takes them to ``target`` at once."""
    num = 0
    for piece in range(1, 1 + r.num_detectives):
        if s.place[piece] == NOWHERE:
            continue
        for kind in range(r.num_tickets):
            if has_way(s, rules, m, piece, kind, target):
                num += 1
                break
    return num


@helper
def num_exits(s, r, rules, m, place):
    """Ways out of a place that no detective closes."""
    num = 0
    for kind in range(r.num_tickets):
        if s.tickets[FUGITIVE, kind] != 0:
            way = m.ways[kind] + place
            for at in range(rules[way], rules[way + 1]):
                num += not stands_there(s, r, rules[at])
    return num


@helper
def weigh(s, r, rules, m, kind, target, after, total, num_places):
    """What a move is worth to him, and how dangerous it is; ``after`` as ``believe`` left it."""
    is_reveal = r.is_reveal[s.num_moves + 1]
    share = 1.0 if is_reveal else after[target] / max(total, 1.0)
    num_possible = 1 if is_reveal else num_places
    danger = 1.0 - (1.0 - share) ** (2.0 * num_hunters(s, r, rules, m, target))
    gap = nearest_detective(s, r, rules, m, target)
    if gap == 0:
        danger = 2.0
    value = (
        -DANGER * danger
        + min(gap, 6) * (GAP * share + HIDDEN_GAP)
        + SPREAD * math.log2(max(num_possible, 1))
        + EXITS * math.log2(1.0 + num_exits(s, r, rules, m, target))
        + BLACK * (kind == r.black)
    )
    return value, danger


@helper
def hide(s, r, rules, m, rng):
    """The fugitive's move."""
    after = spare_weights()
    best, most, danger_of_best = NOTHING, -1e18, 0.0
    total, num_places = 0.0, 0
    targets = spare_weights().view(np.int64)
    for kind in range(r.num_kinds):
        num_targets = targets_of(s, r, rules, m, FUGITIVE, kind, targets)
        if num_targets > 0:
            total, num_places = believe(s, r, rules, m, kind, after)
        for i in range(num_targets):
            target = targets[i]
            value, danger = weigh(s, r, rules, m, kind, target, after, total, num_places)
            value += 0.01 * uniform(rng)
            if value > most:
                best, most, danger_of_best = r.num_slots * kind + target, value, danger
    if danger_of_best > DOUBLE_FROM and s.double == 0 and s.doubles_left > 0:
        return r.double_action
    return best


@helper
def start_far(s, r, rules, m, rng):
    """The fugitive's start: far from detectives if he sees them, random if not."""
    best, most, num_equal = NOWHERE, -1, 0
    for at in range(m.nodes, m.nodes + m.num_nodes):
        gap = nearest_detective(s, r, rules, m, rules[at])
        if gap >= most:
            num_equal = 1 if gap > most else num_equal + 1
            most = gap
            if below(rng, num_equal) == 0:
                best = rules[at]
    return best


@compiled(OPTIONAL_SIGNATURES["rollout"])
def choose_by_belief(state, rules, rng):
    """An action of whoever is to move."""
    s, r = record_of(state), header_of(rules)
    m = map_of(rules, s.map)
    if s.phase == FUGITIVE_PLACING:
        return start_far(s, r, rules, m, rng)
    if s.phase == DETECTIVE_PLACING:
        return spread_out(s, r, rules, m, rng)
    if s.phase == PICK:
        return first_able(s, r, rules, m)
    if s.phase == FUGITIVE_MOVE:
        return hide(s, r, rules, m, rng)
    return hunt(s, r, rules, m, rng)


class PursuitBelief(PursuitGreedy):
    """Hides among many possible places, or covers them."""

    choice = OptionalKernels(rollout=choose_by_belief)


# ---- a fugitive who looks ahead ------------------------------------------------------------------

MOST_ROUNDS = 4
CAUGHT = 10.0
"""What it costs to be caught by the detectives he expects; moves are worth what ``hide`` says."""
DISCOUNT = 0.9


@helper
def answer(state, rules, r, m, rng):
    """Play for the detectives until the fugitive is to move, or the game is over."""
    s = record_of(state)
    while s.turn != OVER and s.phase != FUGITIVE_MOVE:
        if s.phase == PICK:
            step(state, rules, first_able(s, r, rules, m))
        else:
            step(state, rules, hunt(s, r, rules, m, rng))


@compiled(types.float64(RULES, WORLDS, RNG, INT, INT, ACTIONS))
def foresee(rules, stack, rng, level, last, chosen):
    """The best that he can come to from ``stack[level]``; at level 0 ``chosen`` gets the move."""
    s, r = record_of(stack[level]), header_of(rules)
    m = map_of(rules, s.map)
    if s.turn == OVER:
        return 0.0 if s.reason >= ESCAPED else -CAUGHT
    if level == last:
        return 0.0
    after = spare_weights()
    most = -1e18
    total, num_places = 0.0, 0
    targets = spare_weights().view(np.int64)
    for kind in range(r.num_kinds):
        num_targets = targets_of(s, r, rules, m, FUGITIVE, kind, targets)
        if num_targets > 0:
            total, num_places = believe(s, r, rules, m, kind, after)
        for i in range(num_targets):
            target = targets[i]
            value, _ = weigh(s, r, rules, m, kind, target, after, total, num_places)
            for byte in range(stack.shape[1]):
                stack[level + 1, byte] = stack[level, byte]
            step(stack[level + 1], rules, r.num_slots * kind + target)
            answer(stack[level + 1], rules, r, m, rng)
            later = foresee(rules, stack, rng, level + 1, last, chosen)
            value += DISCOUNT * later + 0.01 * uniform(rng)
            if value > most:
                most = value
                if level == 0:
                    chosen[0] = r.num_slots * kind + target
    return most


@compiled(types.void(RULES, WORLDS, RNGS, WORLDS, INT, ACTIONS))
def _flee(rules, worlds, rngs, stack, num_rounds, actions):
    """Overwrite the actions of a fugitive who is to move."""
    for i in range(actions.size):
        s, r = record_of(worlds[i]), header_of(rules)
        if s.phase != FUGITIVE_MOVE:
            continue
        for byte in range(stack.shape[1]):
            stack[0, byte] = worlds[i, byte]
        actions[i] = NOTHING
        value = foresee(rules, stack, rngs[i], 0, num_rounds, actions[i : i + 1])
        is_lost = value < -0.8 * CAUGHT
        if is_lost and s.double == 0 and s.doubles_left > 0:
            actions[i] = r.double_action


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
        actions, known = np.empty(len(views), np.int64), (views.worlds(), views.rngs)
        choose_each(self.choice, self.game.rules, *known, actions)
        _flee(self.game.rules, *known, self._stack, self.num_rounds, actions)
        return actions
