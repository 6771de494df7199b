"""What rule players share: random starts and moves, and shortest ways that tickets pay for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from envs.core.compiling import helper
from envs.core.game import Game
from envs.core.rng import below
from envs.pursuit.course import is_free, stands_there
from envs.pursuit.game import Pursuit
from envs.pursuit.options import (
    DETECTIVE_PLACING,
    FAR,
    MAX_KINDS,
    NOTHING,
    UNLIMITED,
    distance,
)

__all__ = ["PURSUITS", "WayFinder", "has_way", "paid_distance", "random_move", "random_place"]

PURSUITS = ("scotland_yard_v0", "phantom_v0")


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
    for kind in range(r.num_kinds):
        if s.tickets[s.piece, kind] == 0:
            continue
        way = m.ways[kind] + s.place[s.piece]
        for at in range(rules[way], rules[way + 1]):
            if is_free(s, r, rules, m, s.piece, rules[at]):
                num_moves += 1
                if below(rng, num_moves) == 0:
                    chosen = r.num_slots * kind + rules[at]
    return chosen


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
def paid_distance(s, r, rules, m, piece, spent, start, goal, finder):
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
        finder: the arrays of a ``WayFinder``.

    Returns:
        The number of steps, or ``FAR``.
    """
    plain = distance(rules, m, r.num_slots, start, goal)
    if plain == FAR or is_paid_anyway(s, r, piece, spent, plain):
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
            if held != UNLIMITED and (
                used >= held - (kind == spent) or (sizes[kind] > 1 and used + 1 >= sizes[kind])
            ):
                continue
            step = strides[kind] if sizes[kind] > 1 else 0
            way = m.ways[kind] + place
            for at in range(rules[way], rules[way + 1]):
                after = code - place + rules[at] + step
                if stamps[after] != stamp:
                    stamps[after] = stamp
                    queue[tail], depths[tail] = after, depth + 1
                    tail += 1
    return FAR


@helper
def simple_distance(s, r, rules, m, piece, start, goal, finder):
    """The same with a check of each edge alone: any ticket that is held is never used up."""
    _, _, stamps, queue, depths, counter = finder
    counter[0] += 1
    stamp = counter[0]
    queue[0], depths[0] = start, 0
    stamps[start] = stamp
    head, tail = 0, 1
    while head < tail:
        place, depth = queue[head], depths[head]
        head += 1
        if place == goal:
            return depth
        for kind in range(r.num_tickets):
            if s.tickets[piece, kind] == 0:
                continue
            way = m.ways[kind] + place
            for at in range(rules[way], rules[way + 1]):
                if stamps[rules[at]] != stamp:
                    stamps[rules[at]] = stamp
                    queue[tail], depths[tail] = rules[at], depth + 1
                    tail += 1
    return FAR


class WayFinder:
    """Memory for searches over places and tickets used, made once for a game."""

    def __init__(self, game: Game) -> None:
        """Count no more tickets than there are rounds: no way in a game is longer."""
        assert isinstance(game, Pursuit)
        r = game.header
        sizes = np.ones(MAX_KINDS, np.int64)
        for kind in range(int(r.num_tickets)):
            most = int(r.detective_tickets[kind])
            sizes[kind] = 1 if most == UNLIMITED else 1 + min(most, int(r.rounds))
        strides = int(r.num_slots) * np.cumprod([1, *sizes[:-1]])
        num_codes = int(r.num_slots * sizes.prod())
        self.arrays: tuple[npt.NDArray[Any], ...] = (
            sizes,
            strides.astype(np.int64),
            np.zeros(num_codes, np.int32),
            np.zeros(num_codes, np.int32),
            np.zeros(num_codes, np.int32),
            np.zeros(1, np.int64),
        )
