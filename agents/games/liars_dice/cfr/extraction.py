"""From the arrays of a round to rows of a policy: only what its player can get into.

A player who never makes a bid never needs to know what comes after it. So rows are written for the
hands and bids that the player's own choices lead to, whatever the other does. Actions below a least
probability are dropped first, because averages keep a trace of everything that was ever tried; the
weights are changed accordingly, so that their exploitability is that of the rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from agents.games.liars_dice.cfr.keys import fold_hand, fold_table
from agents.games.liars_dice.cfr.passes import FRAME, NOT_BEGUN
from agents.games.liars_dice.cfr.shape import NO_BID_YET, SHAPE, RoundShape
from envs.core.compiling import compiled, inlined
from envs.core.kernels import INT
from envs.core.keys import fold
from envs.core.rng import Words

__all__ = ["FIELD", "Field", "Rows", "begin", "extract_policy", "go_on", "make_field", "make_rows"]

NUM_ROWS, NUM_ENTRIES = range(2)
ZERO = np.float32(0.0)


class Rows(NamedTuple):
    """Rows of a policy, in no order."""

    keys: Words
    sizes: npt.NDArray[np.int64]
    """Actions of each row."""
    actions: npt.NDArray[np.int32]
    probs: npt.NDArray[np.float64]


class Field(NamedTuple):
    """What the walk needs besides the shape."""

    actions: npt.NDArray[np.int32]
    """[standing] what the match calls the bid; the call comes in place 0."""
    hands: npt.NDArray[np.int64]
    """[level, hand, face] live dice of every kind of hand of the player."""
    frames: npt.NDArray[Any]
    keys: Words
    """[depth] of the bids so far."""
    has_hand: npt.NDArray[np.int8]
    """[depth, hand] whether the player can have got here with it."""


_ROWS = types.NamedTuple(
    (types.uint64[::1], types.int64[::1], types.int32[::1], types.float64[::1]), Rows
)
FIELD = types.NamedTuple(
    (
        types.int32[::1],
        types.int64[:, :, ::1],
        from_dtype(FRAME)[::1],
        types.uint64[::1],
        types.int8[:, ::1],
    ),
    Field,
)


@inlined
def drop_small(weights, place, width, num_actions, h, least):
    """Make 0 of what is improbable for one hand; returns the total that remains.

    That is added up in double precision: the probabilities of a row then add up to 1.
    """
    total = ZERO
    largest = ZERO
    for action in range(num_actions):
        weight = weights[place + action * width + h]
        total += weight
        largest = max(largest, weight)
    limit = min(least * total, largest)
    kept = np.float64(0.0)
    for action in range(num_actions):
        at = place + action * width + h
        if weights[at] < limit:
            weights[at] = ZERO
        kept += weights[at]
    return kept


@inlined
def write_row(shape, field, frame, weights, width, num_actions, h, key, total, rows, counts):
    """One hand at one node; a row without a known probability is left out."""
    entry = counts[NUM_ENTRIES]
    first = shape.first_raise[frame.standing]
    num_raises = shape.first_raise[frame.standing + 1] - first
    num_kept = 0
    for action in range(num_actions):
        weight = weights[frame.place + action * width + h]
        if weight > ZERO:
            if rows.actions.size:
                standing = NO_BID_YET if action == num_raises else shape.raises[first + action]
                rows.actions[entry + num_kept] = field.actions[standing]
                rows.probs[entry + num_kept] = weight / total
            num_kept += 1
    if num_kept == 0:
        return
    if rows.keys.size:
        level = shape.levels[frame.standing]
        rows.keys[counts[NUM_ROWS]] = fold_hand(key, field.hands[level, h])
        rows.sizes[counts[NUM_ROWS]] = num_kept
    counts[NUM_ROWS] += 1
    counts[NUM_ENTRIES] += num_kept


@inlined
def get_below(shape, player, frame, weights, width, has_hand, below):
    """Which hands the player can still have after the raise that is looked at; False if none."""
    after = shape.raises[shape.first_raise[frame.standing] + frame.child]
    before_level, after_level = shape.levels[frame.standing], shape.levels[after]
    kinds = shape.maps[player, before_level, after_level]
    for h in range(shape.widths[player, after_level]):
        below[h] = 0
    is_possible = False
    for h in range(width):
        at = frame.place + frame.child * width + h
        if has_hand[h] and (frame.mover != player or weights[at] > ZERO):
            below[kinds[h]] = 1
            is_possible = True
    return is_possible


@inlined
def begin(field):
    """Put the walk before the first bid."""
    field.frames[0].place = 0
    field.frames[0].standing = NO_BID_YET
    field.frames[0].mover = 0
    field.frames[0].child = NOT_BEGUN


@inlined
def go_on(shape, player, weights, field, depth):
    """Go to the next node that the player's choices in ``weights`` lead to; returns its depth."""
    frame = field.frames[depth]
    first = shape.first_raise[frame.standing]
    width = shape.widths[player, shape.levels[frame.standing]]
    frame.child += 1
    if frame.child >= shape.first_raise[frame.standing + 1] - first:
        return depth - 1
    has_hand, below = field.has_hand[depth], field.has_hand[depth + 1]
    if not get_below(shape, player, frame, weights, width, has_hand, below):
        return depth
    after = shape.raises[first + frame.child]
    child = field.frames[depth + 1]
    child.place = frame.place + shape.offsets[frame.mover, first + frame.child]
    child.standing = after
    child.mover = 1 - frame.mover
    child.child = NOT_BEGUN
    field.keys[depth + 1] = fold(field.keys[depth], 1 + field.actions[after])
    return depth + 1


@inlined
def num_actions_at(shape, player, frame):
    """How many actions the player has at a node that the walk comes to; 0 elsewhere."""
    num_raises = shape.first_raise[frame.standing + 1] - shape.first_raise[frame.standing]
    if frame.child != NOT_BEGUN or frame.mover != player or num_raises == 0:
        return 0
    return num_raises + (frame.standing != NO_BID_YET)


@compiled(types.void(SHAPE, INT, types.float32[::1], types.float32, FIELD, _ROWS, types.int64[::1]))
def extract_side(shape, player, weights, least, field, rows, counts):
    """Write, or with empty arrays just count, the rows of one player."""
    begin(field)
    depth = 0
    while depth >= 0:
        frame = field.frames[depth]
        num_actions = num_actions_at(shape, player, frame)
        if num_actions:
            width = shape.widths[player, shape.levels[frame.standing]]
            key = field.keys[depth]
            for h in range(width):
                if field.has_hand[depth, h]:
                    total = drop_small(weights, frame.place, width, num_actions, h, least)
                    write_row(
                        shape,
                        field,
                        frame,
                        weights,
                        width,
                        num_actions,
                        h,
                        key,
                        total,
                        rows,
                        counts,
                    )
        depth = go_on(shape, player, weights, field, depth)


def make_rows(num_rows: int, num_entries: int) -> Rows:
    """Room for so many rows."""
    return Rows(
        np.zeros(num_rows, np.uint64),
        np.zeros(num_rows, np.int64),
        np.zeros(num_entries, np.int32),
        np.zeros(num_entries),
    )


def make_field(shape: RoundShape, player: int, actions: npt.NDArray[np.int32]) -> Field:
    """What a walk of one player needs; ``actions`` as for :func:`extract_policy`."""
    depth, width = shape.longest_bidding + 2, int(shape.arrays.widths.max())
    hands = np.zeros((len(shape.alive), width, shape.options.faces), np.int64)
    for level, kinds in enumerate(shape.hands[player]):
        for h, hand in enumerate(kinds):
            for face in hand:
                if face:
                    hands[level, h, face - 1] += 1
    field = Field(
        actions,
        hands,
        np.zeros(depth, FRAME),
        np.zeros(depth, np.uint64),
        np.zeros((depth, width), np.int8),
    )
    field.keys[0] = fold_table(shape.dice[player], np.array([shape.dice[1 - player]], np.int64))
    field.has_hand[0, : len(shape.hands[player][shape.levels[0]])] = 1
    return field


def extract_policy(
    shape: RoundShape,
    player: int,
    weights: npt.NDArray[np.float32],
    least: float,
    actions: npt.NDArray[np.int32],
) -> Rows:
    """The rows of one player of a round.

    Args:
        shape: the round.
        player: 0 for the opener.
        weights: of the average policy; small ones are made 0.
        least: the least probability that is kept.
        actions: what the match calls each bid, with the call in place 0.
    """
    field = make_field(shape, player, actions)
    counts = np.zeros(2, np.int64)
    extract_side(shape.arrays, player, weights, least, field, make_rows(0, 0), counts)
    rows = make_rows(*counts.tolist())
    counts[:] = 0
    extract_side(shape.arrays, player, weights, least, field, rows, counts)
    return rows
