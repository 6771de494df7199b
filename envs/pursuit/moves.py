"""Who may go where: edges, tickets, and who stands in the way."""

from __future__ import annotations

from envs.core.compiling import helper
from envs.pursuit.record import ANY_ORDER, AT_ONCE, FUGITIVE, IN_ORDER, NOWHERE

__all__ = ["can_leave", "has_move", "is_free", "mark_moves", "stands_there"]


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
