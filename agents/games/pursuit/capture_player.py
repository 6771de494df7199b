"""Detectives who judge positions by capture tables, weighted by the belief.

Two detectives who see the fugitive catch him in a number of rounds that is known exactly
(``capture.py``). Each detective takes the move after which that number is least, for the best pair
of the team, on average over the places where he can be; places that it enters cost nothing. A
little of his own distance to them breaks ties, and so does a ticket of which plenty are left. As
the fugitive, and for starts, it plays like ``pursuit_belief``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.base import Actions, Views
from agents.games.pursuit.belief import PursuitBelief, ticket_fee
from agents.games.pursuit.capture import capture_table
from agents.games.pursuit.simple import choose_each, header_of, record_of, targets_of
from common.errors import OptionError
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import OPTIONAL_SIGNATURES, OptionalKernels
from envs.core.rng import uniform
from envs.pursuit.game import Pursuit
from envs.pursuit.options import (
    DETECTIVE_MOVE,
    NOTHING,
    NOWHERE,
    distance,
    map_of,
    spare_weights,
)

_OWN_SHARE = 0.15  # of a step nearer by himself, next to a round of the best pair
_NOBODY = 60.0  # rounds where no pair catches him


# ---- tables behind the rules, for functions that a search hands to compiled code -----------------

_NUM_WORDS = 2
"""Of an expectation: a kind, and a share of chasers."""


def with_table(game: Game, who: str = "pursuit_search") -> npt.NDArray[np.int32]:
    """The rules of a pursuit on one board, room for an expectation, and its capture table.

    The table says in how many rounds two detectives catch him: [pairs, places]. Before it stands
    where in that order every place is: [slots].
    """
    assert isinstance(game, Pursuit)
    if len(game.boards) > 1:
        raise OptionError(f"{who} needs one board, not a pool of maps: set num_maps=1")
    found = capture_table(game.boards[0], 2, has_ferry=game.options.black_tickets > 0)
    table, order = found.table, np.zeros(int(game.header.num_slots), np.int32)
    order[list(found.places)] = np.arange(len(found.places))
    flat = np.zeros(-(-table.size // 4) * 4, np.uint8)
    flat[: table.size] = table.ravel()
    tail = [
        np.zeros(_NUM_WORDS, np.int32),
        order,
        flat.view(np.int32),
        np.array([table.shape[1], game.rules.size]),
    ]
    return np.concatenate([game.rules, *tail]).astype(np.int32)


@helper
def expectation_at(rules):
    """Where the two words of an expectation stand; who writes there tells the next simulation."""
    return rules[rules.size - 1]


@helper
def tables_of(r, rules):
    """The capture table and the order of its places."""
    first = rules[rules.size - 1] + _NUM_WORDS
    order = rules[first : first + r.num_slots]
    num_places = np.int64(rules[rules.size - 2])
    words = rules[first + r.num_slots : rules.size - 2]
    num_pairs = num_places * (num_places - 1) // 2
    flat = words.view(np.uint8)[: num_pairs * num_places]
    return flat.reshape((num_pairs, num_places)), order


# ---- detectives ----------------------------------------------------------------------------------


@helper
def pair_rounds(table, order, a, b, place):
    """Rounds in which two detectives catch him, 0 if one stands there."""
    i, j, x = order[a], order[b], order[place]
    if i in (j, x) or j == x:
        return 0.0 if x in (i, j) else _NOBODY
    low, high = min(i, j), max(i, j)
    rounds = table[high * (high - 1) // 2 + low, x]
    return float(rounds) if rounds > 0 else _NOBODY


@helper
def best_pair(s, r, table, order, place, without, most):
    """Rounds in which the best two detectives catch him on ``place``, ``most`` if that is less."""
    least = most
    for a in range(1, 1 + r.num_detectives):
        for b in range(1, a):
            is_there = a != without and b != without
            if is_there and s.place[a] != NOWHERE and s.place[b] != NOWHERE:
                least = min(least, pair_rounds(table, order, s.place[a], s.place[b], place))
    return least


@helper
def cost_of(s, r, rules, m, table, order, target, near):
    """Rounds to a catch on average over the belief, if the piece to move goes to ``target``."""
    cost, total = 0.0, 0.0
    for place in range(r.num_slots):
        weight = s.belief[place]
        if weight <= 0.0:
            continue
        total += weight
        if place == target:
            continue
        rounds = near[place]
        for other in range(1, 1 + r.num_detectives):
            if other != s.piece and s.place[other] != NOWHERE:
                pair = pair_rounds(table, order, target, s.place[other], place)
                rounds = min(rounds, pair)
        cost += weight * (rounds + _OWN_SHARE * distance(rules, m, r.num_slots, target, place))
    return cost / max(total, 1.0)


@helper
def capture_move(s, r, rules, m, rng):
    """A detective's move by the table behind the rules."""
    near = spare_weights()
    table, order = tables_of(r, rules)
    for place in range(r.num_slots):
        if s.belief[place] > 0.0:
            near[place] = best_pair(s, r, table, order, place, s.piece, _NOBODY)
    best, least = NOTHING, 1e18
    targets = spare_weights().view(np.int64)
    for kind in range(r.num_kinds):
        for i in range(targets_of(s, r, rules, m, s.piece, kind, targets)):
            target = targets[i]
            cost = ticket_fee(s, kind) + cost_of(s, r, rules, m, table, order, target, near)
            cost += 1e-6 * uniform(rng)  # equals are chosen among at random
            if cost < least:
                best, least = r.num_slots * kind + target, cost
    return best


@compiled(OPTIONAL_SIGNATURES["rollout"])
def hunt_by_table(state, rules, rng):
    """The move of a detective who is to move, else ``NOTHING``."""
    s, r = record_of(state), header_of(rules)
    m = map_of(rules, s.map)
    return capture_move(s, r, rules, m, rng) if s.phase == DETECTIVE_MOVE else np.int64(NOTHING)


class PursuitCapture(PursuitBelief):
    """Detectives who hunt by capture tables.

    Args:
        game: a pursuit on one board; its table for two detectives takes about a second.
    """

    hunt = OptionalKernels(rollout=hunt_by_table)

    def __init__(self, game: Game) -> None:
        """Solve the board for two detectives."""
        super().__init__(game)
        self._rules = with_table(game, "pursuit_capture")

    def act(self, views: Views) -> Actions:
        """Of the worlds only what is public is read, and the fugitive's place for himself."""
        actions, hunted = super().act(views), np.empty(len(views), np.int64)
        choose_each(self.hunt, self._rules, views.worlds(), views.rngs, hunted)
        return np.where(hunted == NOTHING, actions, hunted)
