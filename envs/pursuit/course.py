"""The rules: who may go where, where the fugitive can be, and how one thing follows from another.

**The belief** says for every place how many histories lead there. What detectives see of the
fugitive (tickets, reveals, that he was not caught, that he could move) is public, so this is part
of the public state. It is exact: a history counts if it follows the rules and shows the detectives
just what they have seen. When he shows himself, counting begins anew from there. ``determinize``
draws by these weights, so every history is as likely as any other.
"""

from __future__ import annotations

from envs.core.compiling import helper
from envs.core.kernels import CHANCE, OVER
from envs.core.rng import uniform
from envs.pursuit.options import (
    ALL_OUT,
    ANY_ORDER,
    AT_ONCE,
    BLOCKED,
    CAUGHT,
    DETECTIVE_DRAW,
    DETECTIVE_MOVE,
    DETECTIVE_PLACING,
    ENDED,
    ESCAPED,
    FUGITIVE,
    FUGITIVE_DRAW,
    FUGITIVE_MOVE,
    FUGITIVE_PLACING,
    IN_ORDER,
    MAP_DRAW,
    NOWHERE,
    PICK,
    START,
    UNLIMITED,
    map_of,
    spare_weights,
)

# ---- who may go where: edges, tickets, and who stands in the way ---------------------------------


@helper
def stands_there(s, r, place):
    """Whether any detective stands on ``place``."""
    found = False
    for piece in range(1, 1 + r.num_detectives):
        found |= s.place[piece] == place
    return found


@helper
def has_moved(s, piece):
    """Whether a detective has had its move of this round."""
    return (s.moved >> (piece - 1)) & 1


@helper
def num_exits(s, r, rules, m, piece):
    """Ways out for a detective whose place is about to be entered, now that some have moved."""
    num_free = 0
    for kind in range(r.num_tickets):
        if s.tickets[piece, kind] == 0:
            continue
        way = m.ways[kind] + s.place[piece]
        for at in range(rules[way], rules[way + 1]):
            is_open = True
            for other in range(1, 1 + r.num_detectives):
                if has_moved(s, other) and s.place[other] == rules[at]:
                    is_open = False
            num_free += is_open
    return num_free


@helper
def makes_way(s, r, rules, m, piece, other):
    """Whether ``other``, who moves later in the same joint move, is sure to leave its place.

    Each detective between the two may take one of its exits.
    """
    if has_moved(s, other):
        return False
    num_between = 0
    for between in range(piece + 1, other):
        num_between += not has_moved(s, between)
    # Two tickets to one target count twice, so twice as many must be left.
    needed = num_between * r.num_tickets
    return num_exits(s, r, rules, m, other) > needed


@helper
def is_free(s, r, rules, m, piece, target):
    """Whether no detective keeps ``piece`` from entering ``target``."""
    if piece == FUGITIVE:
        return r.may_step_on_detective or not stands_there(s, r, target)
    if r.may_share:
        return True
    for other in range(1, 1 + r.num_detectives):
        is_there = other != piece and s.place[other] == target
        if is_there and not (r.moving == AT_ONCE and makes_way(s, r, rules, m, piece, other)):
            return False
    return True


@helper
def has_move(s, r, rules, m, piece, place):
    """Whether ``piece`` could move if it stood on ``place``."""
    for kind in range(r.num_kinds):
        if s.tickets[piece, kind] == 0:
            continue
        way = m.ways[kind] + place
        for at in range(rules[way], rules[way + 1]):
            if is_free(s, r, rules, m, piece, rules[at]):
                return True
    return False


@helper
def can_leave(s, r, rules, m, piece):
    """Whether a detective has a ticket for any way out, free or not."""
    for kind in range(r.num_tickets):
        way = m.ways[kind] + s.place[piece]
        if s.tickets[piece, kind] != 0 and rules[way] < rules[way + 1]:
            return True
    return False


@helper
def mark_moves(s, r, rules, m, piece, mask):
    """Mark every move of a piece; return how many there are."""
    num_moves = 0
    place = s.place[piece]
    for kind in range(r.num_kinds):
        if s.tickets[piece, kind] == 0:
            continue
        way = m.ways[kind] + place
        for at in range(rules[way], rules[way + 1]):
            if is_free(s, r, rules, m, piece, rules[at]):
                mask[r.num_slots * kind + rules[at]] = 1
                num_moves += 1
    return num_moves


@helper
def may_move_now(s, r, rules, m, piece):
    """Whether a detective is still to move in this round and can."""
    if (s.is_out >> (piece - 1)) & 1 or has_moved(s, piece) or s.place[piece] == NOWHERE:
        return False
    return has_move(s, r, rules, m, piece, s.place[piece])


@helper
def next_to_move(s, r, rules, m):
    """The detective who moves next: ``(piece, how many there are to pick from)``."""
    first, num_able = 0, 0
    for piece in range(1, 1 + r.num_detectives):
        if may_move_now(s, r, rules, m, piece):
            num_able += 1
            if first == 0:
                first = piece
            if r.moving != ANY_ORDER:
                break
        elif r.moving == IN_ORDER or r.moving == AT_ONCE:
            s.moved |= 1 << (piece - 1)
    return first, num_able


# ---- where the fugitive can be -------------------------------------------------------------------


@helper
def know(s, place):
    """He was seen: one place is left."""
    s.belief[:] = 0.0
    if place != NOWHERE:
        s.belief[place] = 1.0


@helper
def show(s):
    """Everybody sees him where he is, and it is noted in the log."""
    s.seen_place = s.place[FUGITIVE]
    s.seen_move = s.num_moves
    s.log_place[s.num_moves] = s.place[FUGITIVE]
    know(s, s.place[FUGITIVE])


@helper
def start_anywhere(s, r, rules, first, count):
    """He has started on one of the places listed in the rules from ``first`` on."""
    know(s, NOWHERE)
    for at in range(first, first + count):
        s.belief[rules[at]] = 1.0
    forget_detectives(s, r)


@helper
def forget_detectives(s, r):
    """He is where no detective stands, or the game would be over."""
    for piece in range(1, 1 + r.num_detectives):
        if s.place[piece] != NOWHERE:
            s.belief[s.place[piece]] = 0.0


@helper
def spread(s, r, rules, m, kind):
    """He has moved with a ticket of some kind: every place takes over from its neighbours."""
    before, belief = spare_weights(), s.belief
    for place in range(r.num_slots):
        before[place] = belief[place]
    begin = rules[m.ways[kind]]
    for place in range(r.num_slots):
        end = rules[m.ways[kind] + place + 1]
        weight = 0.0
        for at in range(begin, end):
            weight += before[rules[at]]
        belief[place] = weight
        begin = end
    forget_detectives(s, r)


@helper
def keep_able(s, r, rules, m, is_able):
    """He is to move: rule out where he could not (or, if he cannot, where he could)."""
    kind = m.universal
    belief = s.belief
    if is_able and kind >= 0 and s.tickets[FUGITIVE, kind] != 0:
        # Only beside a detective can the ways out be closed.
        if r.may_step_on_detective:
            return
        for piece in range(1, 1 + r.num_detectives):
            if s.place[piece] == NOWHERE:
                continue
            way = m.ways[kind] + s.place[piece]
            for at in range(rules[way], rules[way + 1]):
                place = rules[at]
                if belief[place] > 0.0 and not has_move(s, r, rules, m, FUGITIVE, place):
                    belief[place] = 0.0
        return
    for place in range(r.num_slots):
        if belief[place] > 0.0 and has_move(s, r, rules, m, FUGITIVE, place) != is_able:
            belief[place] = 0.0


@helper
def total_weight(s, r):
    """All histories that are possible."""
    belief = s.belief
    total = 0.0
    for place in range(r.num_slots):
        total += belief[place]
    return total


@helper
def draw_place(s, r, rng):
    """A place where he can be, as often as histories lead there."""
    belief = s.belief
    left = uniform(rng) * total_weight(s, r)
    chosen = NOWHERE
    for place in range(r.num_slots):
        if belief[place] > 0.0:
            chosen = place  # rounding may leave a rest after the last one
            left -= belief[place]
            if left < 0.0:
                break
    return chosen


# ---- set-up --------------------------------------------------------------------------------------


@helper
def begin(s, r, rules):
    """Hand out tickets and see what is to be drawn first."""
    s.place[:] = NOWHERE
    s.last_from[:] = NOWHERE
    s.log_place[:] = NOWHERE
    for piece in range(1 + r.num_detectives):
        for kind in range(r.num_kinds):
            given = r.fugitive_tickets[kind] if piece == FUGITIVE else r.detective_tickets[kind]
            s.tickets[piece, kind] = given
    s.doubles_left = r.double_moves
    s.seen_place = NOWHERE
    s.piece = 1
    if r.num_maps > 1:
        s.turn, s.phase = CHANCE, MAP_DRAW
    else:
        begin_starts(s, r)


@helper
def begin_starts(s, r):
    """Start cards are drawn, or places chosen."""
    s.piece = 1
    if not r.are_starts_chosen:
        s.turn, s.phase = CHANCE, DETECTIVE_DRAW
    elif r.does_fugitive_place_first:
        s.turn, s.phase = FUGITIVE, FUGITIVE_PLACING
    else:
        ask_detective(s, r, 1, DETECTIVE_PLACING)


@helper
def ask_detective(s, r, piece, phase):
    """Hand the turn to whoever moves this detective."""
    s.piece = piece
    s.phase = phase
    s.turn = piece if r.has_seat_each else 1


@helper
def play_chance(s, r, rules, outcome):
    """A map, or a start card."""
    if s.phase == MAP_DRAW:
        s.map = outcome
        begin_starts(s, r)
        return
    m = map_of(rules, s.map)
    if s.phase == DETECTIVE_DRAW:
        s.place[s.piece] = outcome
        s.piece += 1
        if s.piece > r.num_detectives:
            s.phase = FUGITIVE_DRAW
        return
    s.place[FUGITIVE] = outcome
    if r.start_is_known:
        s.seen_place = outcome
        know(s, outcome)
    else:
        start_anywhere(s, r, rules, m.fugitive_starts, m.num_fugitive_starts)
    begin_round(s, r, rules, m)


@helper
def place_fugitive(s, r, rules, m, place):
    """He chooses where to start, and nobody sees it."""
    s.place[FUGITIVE] = place
    if r.placement_is_round:
        s.num_moves += 1
        s.log_kind[s.num_moves] = START
        s.log_round[s.num_moves] = 1
    if r.start_is_known:
        show(s)
    else:
        start_anywhere(s, r, rules, m.nodes, m.num_nodes)
    if stands_there(s, r, place):
        end_caught(s)
    elif r.does_fugitive_place_first:
        ask_detective(s, r, 1, DETECTIVE_PLACING)
    else:
        end_placing(s, r, rules, m)


@helper
def place_detective(s, r, rules, m, place):
    """A detective chooses where to start; that may be where the fugitive hides."""
    piece = s.piece
    s.place[piece] = place
    if place == s.place[FUGITIVE]:
        end_caught(s)
        return
    s.belief[place] = 0.0
    if piece < r.num_detectives:
        ask_detective(s, r, piece + 1, DETECTIVE_PLACING)
    elif r.does_fugitive_place_first:
        end_placing(s, r, rules, m)
    else:
        s.turn, s.phase = FUGITIVE, FUGITIVE_PLACING


@helper
def end_placing(s, r, rules, m):
    """The placement is the first round, or comes before it."""
    s.round_number = 1 if r.placement_is_round else 0
    end_round(s, r, rules, m)


# ---- rounds --------------------------------------------------------------------------------------


@helper
def end(s, reason):
    """Nobody moves any more."""
    s.turn, s.phase, s.reason = OVER, ENDED, reason


@helper
def end_caught(s):
    """A detective and the fugitive stand on one place, and everybody sees it."""
    show(s)
    end(s, CAUGHT)


@helper
def begin_round(s, r, rules, m):
    """The side that opens a round is to move."""
    s.round_number += 1
    if r.are_detectives_first:
        s.moved = 0
        if chase(s, r, rules, m):
            return
    ask_fugitive(s, r, rules, m)


@helper
def end_round(s, r, rules, m):
    """The next round, or the fugitive has escaped."""
    if s.round_number >= r.rounds:
        end(s, ESCAPED)
        return
    begin_round(s, r, rules, m)


@helper
def ask_fugitive(s, r, rules, m):
    """He is to move; if he cannot, he has lost."""
    is_able = has_move(s, r, rules, m, FUGITIVE, s.place[FUGITIVE])
    keep_able(s, r, rules, m, is_able)
    if is_able:
        s.piece = FUGITIVE
        s.turn, s.phase = FUGITIVE, FUGITIVE_MOVE
    else:
        end(s, BLOCKED)


@helper
def chase(s, r, rules, m):
    """Ask the detective who moves next in this round; ``False`` if all who could have moved."""
    if r.do_stuck_leave:
        for piece in range(1, 1 + r.num_detectives):
            is_waiting = not ((s.moved | s.is_out) >> (piece - 1)) & 1
            if is_waiting and not can_leave(s, r, rules, m, piece):
                s.is_out |= 1 << (piece - 1)
                s.place[piece] = NOWHERE
    piece, num_able = next_to_move(s, r, rules, m)
    if s.is_out == (1 << r.num_detectives) - 1:
        end(s, ALL_OUT)
    elif num_able == 0:
        return False
    elif num_able > 1 and r.moving == ANY_ORDER:
        s.piece = 0
        s.phase = PICK
        s.turn = 1
    else:
        ask_detective(s, r, piece, DETECTIVE_MOVE)
    return True


# ---- moves ---------------------------------------------------------------------------------------


@helper
def move_fugitive(s, r, rules, m, action):
    """Spend a ticket, write the log, show himself if it is time, and hand over the turn."""
    kind, place = action // r.num_slots, action % r.num_slots
    s.place[FUGITIVE] = place
    if s.tickets[FUGITIVE, kind] != UNLIMITED:
        s.tickets[FUGITIVE, kind] -= 1
    s.used[kind] += 1
    s.num_moves += 1
    s.log_kind[s.num_moves] = kind
    s.log_round[s.num_moves] = s.round_number
    if stands_there(s, r, place):
        end_caught(s)
        return
    if r.is_reveal[s.num_moves]:
        show(s)
    else:
        spread(s, r, rules, m, kind)
    if s.double > 0:
        s.double -= 1
    if s.double > 0:
        ask_fugitive(s, r, rules, m)
    elif r.are_detectives_first:
        end_round(s, r, rules, m)
    else:
        s.moved = 0
        go_on(s, r, rules, m)


@helper
def go_on(s, r, rules, m):
    """The next detective, the fugitive, or the next round."""
    if chase(s, r, rules, m):
        return
    if r.are_detectives_first:
        ask_fugitive(s, r, rules, m)
    else:
        end_round(s, r, rules, m)


@helper
def move_detective(s, r, rules, m, action):
    """Spend a ticket and move; a catch ends the game at once."""
    kind, place = action // r.num_slots, action % r.num_slots
    piece = s.piece
    s.last_from[piece] = s.place[piece]
    s.last_kind[piece] = kind
    s.place[piece] = place
    if s.tickets[piece, kind] != UNLIMITED:
        s.tickets[piece, kind] -= 1
    s.given[kind] += 1
    if r.do_tickets_pass and s.tickets[FUGITIVE, kind] != UNLIMITED:
        s.tickets[FUGITIVE, kind] += 1
    s.moved |= 1 << (piece - 1)
    if place == s.place[FUGITIVE]:
        end_caught(s)
        return
    s.belief[place] = 0.0
    go_on(s, r, rules, m)


@helper
def play_action(s, r, rules, action):
    """Play what a player has chosen."""
    m = map_of(rules, s.map)
    if s.phase == FUGITIVE_MOVE:
        if action == r.double_action:
            s.double = 2
            s.doubles_left -= 1
        else:
            move_fugitive(s, r, rules, m, action)
    elif s.phase == DETECTIVE_MOVE:
        move_detective(s, r, rules, m, action)
    elif s.phase == PICK:
        ask_detective(s, r, action - r.pick_action + 1, DETECTIVE_MOVE)
    elif s.phase == FUGITIVE_PLACING:
        place_fugitive(s, r, rules, m, action)
    else:
        place_detective(s, r, rules, m, action)
