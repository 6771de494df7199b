"""The ten kernels of every pursuit, a quick player and a guess: see ``envs/core/kernels.py``."""

from __future__ import annotations

import math

import numpy as np

from envs.core.compiling import compiled, helper
from envs.core.kernels import CHANCE, OPTIONAL_SIGNATURES, OVER, SIGNATURES, kernel
from envs.core.rng import below
from envs.pursuit.course import (
    begin,
    draw_place,
    has_moved,
    is_free,
    mark_moves,
    may_move_now,
    play_action,
    play_chance,
    stands_there,
    total_weight,
)
from envs.pursuit.options import (
    BLOCKED,
    DETECTIVE_DRAW,
    DETECTIVE_MOVE,
    DETECTIVE_PLACING,
    ENDED,
    ESCAPED,
    FAR,
    FUGITIVE,
    FUGITIVE_DRAW,
    FUGITIVE_MOVE,
    FUGITIVE_PLACING,
    MAP_DRAW,
    NOTHING,
    NOWHERE,
    PICK,
    RULES,
    RULES_SIZE,
    STATE,
    UNLIMITED,
    distance,
    map_of,
    spare_weights,
)

# Tokens: 4 * what + how it ended + 1.
NOT_ENDED, SHOWN_CAUGHT, SHOWN_BLOCKED = range(3)
HIDDEN = 1 << 20
"""+ the kind of ticket: what is seen of a hidden move."""


# ---- chance and placing --------------------------------------------------------------------------


@helper
def card_list(s, m):
    """The places that are drawn or chosen from now: ``(where the list begins, its length)``."""
    if s.phase == DETECTIVE_DRAW:
        return m.detective_starts, m.num_detective_starts
    if s.phase == FUGITIVE_DRAW:
        return m.fugitive_starts, m.num_fugitive_starts
    return m.nodes, m.num_nodes


@helper
def mark_places(s, r, rules, m, mask):
    """Mark every place that can be drawn or chosen as a start; return how many."""
    first, count = card_list(s, m)
    may_meet = s.phase == FUGITIVE_PLACING and r.may_step_on_detective
    num_marked = 0
    for at in range(first, first + count):
        if may_meet or not stands_there(s, r, rules[at]):
            mask[rules[at]] = 1
            num_marked += 1
    return num_marked


@helper
def draw_start(s, r, rules, m, rng):
    """Draw a card, and another if a detective already stands there."""
    first, count = card_list(s, m)
    place = rules[first + below(rng, count)]
    while stands_there(s, r, place):
        place = rules[first + below(rng, count)]
    return place


# ---- the ten kernels -----------------------------------------------------------------------------


@kernel
def new(state, rules, opening):
    """See ``envs/core/kernels.py``, as for all of the following."""
    state[:] = 0
    begin(state.view(STATE)[0], rules[:RULES_SIZE].view(RULES)[0], rules)


@kernel
def turn(state, rules):
    """Seat 0 is the fugitive's."""
    return state.view(STATE)[0].turn


@kernel
def legal(state, rules, mask):
    """Moves are numbered by ticket and target; then the double move and the picks."""
    s = state.view(STATE)[0]
    r = rules[:RULES_SIZE].view(RULES)[0]
    mask[:] = 0
    if s.phase == MAP_DRAW:
        mask[: r.num_maps] = 1
        return r.num_maps
    m = map_of(rules, s.map)
    if s.phase == DETECTIVE_MOVE:
        return mark_moves(s, r, rules, m, s.piece, mask)
    if s.phase == FUGITIVE_MOVE:
        num_legal = mark_moves(s, r, rules, m, FUGITIVE, mask)
        if s.double == 0 and s.doubles_left > 0:
            mask[r.double_action] = 1
            num_legal += 1
        return num_legal
    if s.phase == PICK:
        num_legal = 0
        for piece in range(1, 1 + r.num_detectives):
            if may_move_now(s, r, rules, m, piece):
                mask[r.pick_action + piece - 1] = 1
                num_legal += 1
        return num_legal
    return mark_places(s, r, rules, m, mask)


@kernel
def sample(state, rules, rng):
    """Draw a map, or a start card."""
    s = state.view(STATE)[0]
    r = rules[:RULES_SIZE].view(RULES)[0]
    if s.phase == MAP_DRAW:
        return below(rng, r.num_maps)
    return draw_start(s, r, rules, map_of(rules, s.map), rng)


@kernel
def step(state, rules, action):
    """Play a card or a choice."""
    s = state.view(STATE)[0]
    r = rules[:RULES_SIZE].view(RULES)[0]
    if s.turn == CHANCE:
        play_chance(s, r, rules, action)
    else:
        play_action(s, r, rules, action)


@helper
def may_block(s, r, rules, m, action):
    """Whether an action could leave the fugitive without a move; rarely wrong, never missed."""
    place, closed, spent = s.place[FUGITIVE], NOWHERE, -1
    target = action % r.num_slots
    if s.phase == DETECTIVE_MOVE or s.phase == DETECTIVE_PLACING:
        closed = target
    elif s.phase != PICK and action != r.double_action:
        place = target
        spent = action // r.num_slots if s.phase == FUGITIVE_MOVE else -1
    if place == NOWHERE:
        return False
    for kind in range(r.num_kinds):
        num_left = s.tickets[FUGITIVE, kind]
        if num_left == 0 or (kind == spent and num_left == 1):
            continue
        way = m.ways[kind] + place
        for at in range(rules[way], rules[way + 1]):
            is_closed = rules[at] == closed and not r.may_step_on_detective
            if not is_closed and is_free(s, r, rules, m, FUGITIVE, rules[at]):
                return False
    return True


@helper
def ending(state, rules, action):
    """What everybody sees of how an action ends the game."""
    s = state.view(STATE)[0]
    r = rules[:RULES_SIZE].view(RULES)[0]
    if s.phase == MAP_DRAW or s.phase == DETECTIVE_DRAW or s.phase == PICK:
        return NOT_ENDED
    target = action % r.num_slots
    if s.phase == DETECTIVE_MOVE or s.phase == DETECTIVE_PLACING:
        if target == s.place[FUGITIVE]:
            return SHOWN_CAUGHT
    elif action != r.double_action and stands_there(s, r, target):
        return SHOWN_CAUGHT
    if not may_block(s, r, rules, map_of(rules, s.map), action):
        return NOT_ENDED
    after = spare_weights().view(np.uint8)[: state.size]
    for i in range(state.size):
        after[i] = state[i]
    step(after, rules, action)
    return SHOWN_BLOCKED if after.view(STATE)[0].reason == BLOCKED else NOT_ENDED


@kernel
def seen(state, rules, action, player):
    """Everything is public but where the fugitive goes, unless he shows himself there."""
    s = state.view(STATE)[0]
    r = rules[:RULES_SIZE].view(RULES)[0]
    shown = ending(state, rules, action)
    what = action
    if player != FUGITIVE and shown != SHOWN_CAUGHT:
        is_start = s.phase == FUGITIVE_DRAW or s.phase == FUGITIVE_PLACING
        is_move = s.phase == FUGITIVE_MOVE and action != r.double_action
        if is_start and not r.start_is_known:
            what = HIDDEN
        elif is_move and not r.is_reveal[s.num_moves + 1]:
            what = HIDDEN + action // r.num_slots
    return 4 * what + shown + 1


@kernel
def returns(state, rules, out):
    """What the fugitive gains the detectives lose, each of them."""
    s = state.view(STATE)[0]
    r = rules[:RULES_SIZE].view(RULES)[0]
    gain = 0.0
    if s.turn == OVER:
        gain = 1.0 if s.reason >= ESCAPED else -1.0
        if r.pays_survival and gain < 0.0:
            gain = 2.0 * max(s.round_number - 1, 0) / r.rounds - 1.0
    out[:] = -gain
    out[FUGITIVE] = gain


@helper
def write_pieces(s, r, out):
    """Write who moves next, tickets and places; return how many entries."""
    num_pieces, num_kinds = 1 + r.num_detectives, r.num_kinds
    if s.phase == PICK:
        for piece in range(1, num_pieces):
            out[piece] = 1.0 - has_moved(s, piece)
    elif s.turn != OVER:
        out[s.piece] = 1.0
    at = num_pieces
    for piece in range(num_pieces):
        for kind in range(num_kinds):
            num_left = s.tickets[piece, kind]
            # Tickets that pass on can pile up with the fugitive.
            most = r.detective_tickets[kind]
            if piece == FUGITIVE:
                most = r.fugitive_tickets[kind]
                if r.do_tickets_pass:
                    most += max(r.detective_tickets[kind], 0) * r.num_detectives
            out[at] = 1.0 if num_left == UNLIMITED else num_left / max(most, 1)
            at += 1
    for piece in range(1, num_pieces):
        if s.place[piece] != NOWHERE:
            out[at + s.place[piece]] = 1.0
        at += r.num_slots
    return at


@helper
def write_clock(s, r, out):
    """Write how far the game is and what is known of the fugitive's timing; [6 + kinds]."""
    out[0] = s.round_number / r.rounds
    out[1] = min(s.num_moves - s.seen_move, 8) / 8.0
    next_move = s.num_moves + 1
    out[2] = r.is_reveal[next_move] if next_move < r.is_reveal.size else 0.0
    out[3] = s.doubles_left / max(r.double_moves, 1)
    out[4] = s.double / 2.0
    out[5] = s.phase == FUGITIVE_PLACING or s.phase == DETECTIVE_PLACING
    if s.num_moves > 0 and s.log_kind[s.num_moves] >= 0:
        out[6 + s.log_kind[s.num_moves]] = 1.0
    return 6 + r.num_kinds


@helper
def write_belief(s, r, out):
    """Write the share of histories that lead to each place, and which are possible at all."""
    total = max(total_weight(s, r), 1.0)
    belief = s.belief
    for place in range(r.num_slots):
        out[place] = belief[place] / total
        out[r.num_slots + place] = belief[place] > 0.0
    return 2 * r.num_slots


@kernel
def observe(state, rules, player, out):
    """The place of the fugitive is for himself, and for all when he has just been seen."""
    s = state.view(STATE)[0]
    r = rules[:RULES_SIZE].view(RULES)[0]
    out[:] = 0.0
    out[player] = 1.0
    at = r.num_players
    at += write_clock(s, r, out[at:])
    at += write_pieces(s, r, out[at:])
    is_shown = s.seen_place != NOWHERE and s.seen_move == s.num_moves
    if s.place[FUGITIVE] != NOWHERE and (player == FUGITIVE or is_shown):
        out[at + s.place[FUGITIVE]] = 1.0
    at += r.num_slots
    if s.seen_place != NOWHERE:
        out[at + s.seen_place] = 1.0
    at += r.num_slots
    at += write_belief(s, r, out[at:])
    if r.shows_map and s.phase != MAP_DRAW:
        stops = map_of(rules, s.map).stops
        for i in range(r.num_tickets * r.num_slots):
            out[at + i] = rules[stops + i]


@kernel
def determinize(state, rules, player, rng):
    """Only where the fugitive is can be unknown, and the belief says where that may be."""
    s = state.view(STATE)[0]
    r = rules[:RULES_SIZE].view(RULES)[0]
    if player != FUGITIVE and s.place[FUGITIVE] != NOWHERE:
        s.place[FUGITIVE] = draw_place(s, r, rng)


# ---- a quick player for both sides, for playouts of a search and to weigh up maps ----------------
#
# The fugitive goes where the nearest detective is farthest. Each detective draws a place from the
# belief and goes nearer to it, so together they cover what is likely. Nobody uses what he may not
# know. One move in ten is random.

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
    if s.phase == DETECTIVE_PLACING:
        return draw_start(s, r, rules, m, rng)
    first, count = card_list(s, m)
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


@kernel
def rollout(state, rules, rng):
    """An action of the quick player."""
    return choose(state, rules, rng, True, ONE_RANDOM_IN)


@compiled(OPTIONAL_SIGNATURES["rollout"])
def unknown_choice(state, rules, rng):
    """The same for detectives of whom nothing is known: one time in four they are simple ones.

    Who is ready for both loses nothing against clever ones, and much less against the others.
    """
    return choose(state, rules, rng, below(rng, ONE_LAST_SEEN_IN) > 0, ONE_RANDOM_IN)


@compiled(SIGNATURES["sample"])
def plain_choice(state, rules, rng):
    """The same without belief and random moves: the measure of a map."""
    return choose(state, rules, rng, False, 0)


@kernel
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
