"""Where the fugitive can be: for every place the number of histories that lead there.

What detectives see of him (tickets, reveals, that he was not caught, that he could move) is public,
so this is part of the public state. It is exact: a history counts if it follows the rules and shows
the detectives just what they have seen. When he shows himself, counting begins anew from there.
``determinize`` draws by these weights, so every history is as likely as any other.
"""

from __future__ import annotations

from envs.core.compiling import helper
from envs.core.rng import uniform
from envs.pursuit.moves import has_move
from envs.pursuit.record import FUGITIVE, NOWHERE, spare_weights

__all__ = ["draw_place", "keep_able", "know", "spread", "start_anywhere", "total_weight"]


@helper
def know(s, place):
    """He was seen: one place is left."""
    belief = s.belief
    for i in range(belief.size):
        belief[i] = 0.0
    if place != NOWHERE:
        belief[place] = 1.0


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
