"""The course of a game: set-up, rounds, moves, and how it ends."""

from __future__ import annotations

from envs.core.compiling import helper
from envs.core.kernels import CHANCE, OVER
from envs.pursuit.belief import keep_able, know, spread, start_anywhere
from envs.pursuit.moves import can_leave, has_move, next_to_move, stands_there
from envs.pursuit.record import (
    ALL_OUT,
    ANY_ORDER,
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
    MAP_DRAW,
    NOWHERE,
    PICK,
    START,
    UNLIMITED,
    map_of,
)

__all__ = ["begin", "play_action", "play_chance"]


# ---- set-up --------------------------------------------------------------------------------------


@helper
def begin(s, r, rules):
    """Hand out tickets and see what is to be drawn first."""
    for piece in range(s.place.size):
        s.place[piece] = NOWHERE
        s.last_from[piece] = NOWHERE
    for piece in range(1 + r.num_detectives):
        for kind in range(r.num_kinds):
            given = r.fugitive_tickets[kind] if piece == FUGITIVE else r.detective_tickets[kind]
            s.tickets[piece, kind] = given
    for field in range(s.log_place.size):
        s.log_place[field] = NOWHERE
    s.doubles_left = r.doubles
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
    if r.is_start_known:
        s.seen_place = outcome
        know(s, outcome)
    else:
        start_anywhere(s, r, rules, m.fugitive_starts, m.num_fugitive_starts)
    begin_round(s, r, rules, m)


@helper
def place_fugitive(s, r, rules, m, place):
    """He chooses where to start, and nobody sees it."""
    s.place[FUGITIVE] = place
    if r.is_placement_a_round:
        s.num_moves += 1
        s.log_kind[s.num_moves] = START
        s.log_round[s.num_moves] = 1
    if r.is_start_known:
        s.seen_place = place
        s.seen_move = s.num_moves
        s.log_place[s.num_moves] = place
        know(s, place)
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
    s.round_number = 1 if r.is_placement_a_round else 0
    end_round(s, r, rules, m)


# ---- rounds --------------------------------------------------------------------------------------


@helper
def end(s, reason):
    """Nobody moves any more."""
    s.turn, s.phase, s.reason = OVER, ENDED, reason


@helper
def end_caught(s):
    """A detective and the fugitive stand on one place, and everybody sees it."""
    s.seen_place = s.place[FUGITIVE]
    s.seen_move = s.num_moves
    s.log_place[s.num_moves] = s.place[FUGITIVE]
    know(s, s.place[FUGITIVE])
    end(s, CAUGHT)


@helper
def are_all_out(s, r):
    """Whether every detective has left the game."""
    return s.is_out == (1 << r.num_detectives) - 1


@helper
def begin_round(s, r, rules, m):
    """The side that opens a round is to move."""
    s.round_number += 1
    if r.are_detectives_first:
        s.moved = 0
        if not ask_next_detective(s, r, rules, m):
            if are_all_out(s, r):
                end(s, ALL_OUT)
            else:
                ask_fugitive(s, r, rules, m)
    else:
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
def ask_next_detective(s, r, rules, m):
    """Find the detective who moves next in this round; ``False`` if there is none."""
    if r.do_stuck_leave:
        for piece in range(1, 1 + r.num_detectives):
            is_waiting = not ((s.moved | s.is_out) >> (piece - 1)) & 1
            if is_waiting and not can_leave(s, r, rules, m, piece):
                s.is_out |= 1 << (piece - 1)
                s.place[piece] = NOWHERE
    piece, num_able = next_to_move(s, r, rules, m)
    if num_able == 0:
        return False
    if num_able > 1 and r.moving == ANY_ORDER:
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
        s.seen_place = place
        s.seen_move = s.num_moves
        s.log_place[s.num_moves] = place
        know(s, place)
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
    if ask_next_detective(s, r, rules, m):
        return
    if are_all_out(s, r):
        end(s, ALL_OUT)
    elif r.are_detectives_first:
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
