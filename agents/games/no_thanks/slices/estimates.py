"""What becomes of everybody from a boundary on: two kinds of estimates for a compiled search.

**The nearest neighbour** of a position in a database, through a k-d tree (SciPy's cannot be asked
by compiled code). The rows of a database are put in order once: in the middle of a stretch of rows
lies the median by one coordinate, on its left what is smaller, on its right what is larger; the
next coordinate divides both sides, and so on. So the tree needs no pointers. A query goes down like
a binary search and then visits every other side that can hold something as near as what it has
found. Coordinates are features times the weight of their category, and distances are Euclidean. Of
rows equally far away the one that came first into the database counts.

**A model of strength**: regression, or a small network. From a player's features, those of the next
player and those of the one after, the model makes his strength. The chance that one player ends
before another is the logistic function of the difference of their strengths, and chances add up to
expected places. Each slice of the game has weights of its own. Without hidden units that is
logistic regression.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.board import EVALUATE
from agents.games.no_thanks.slices.features import (
    CATEGORIES,
    NUM_FEATURES,
    NUM_INPUTS,
    NUM_PLAYERS,
    NUM_TRAITS,
    write_features,
    write_hidden,
    write_known,
)
from envs.core.compiling import compiled, inlined

# ---- the nearest neighbour -----------------------------------------------------------------------
STORED = ("results", "gains")
"""What becomes of a neighbour's row: its final scores, or what is still gained, from now on."""
NUM_ROWS, ADDS_SCORES, FIRST_WEIGHT = 0, 1, 2
FIRST_ROW = FIRST_WEIGHT + NUM_FEATURES
NUMBER = NUM_FEATURES  # of a row in the database
VALUES = NUM_FEATURES + 1
ROW = NUM_FEATURES + 1 + NUM_PLAYERS
# A side that waits: its first row, the row behind it, its depth.
SIDE = 3


@inlined
def nearest_row(b, params):
    """Where in ``params`` the row is that lies nearest to the weighted features of the board."""
    x = b.features
    best = FIRST_ROW
    best_distance = np.inf
    num_waiting = 1
    b.stack[0] = 0
    b.stack[1] = np.int64(params[NUM_ROWS])
    b.stack[2] = 0
    while num_waiting > 0:
        num_waiting -= 1
        low = b.stack[SIDE * num_waiting]
        high = b.stack[SIDE * num_waiting + 1]
        depth = b.stack[SIDE * num_waiting + 2]
        # A side that was put off is tested when its turn comes: by then the best may be nearer.
        if depth < 0:
            depth = -depth
            middle = low - 1 if (depth & 1024) == 0 else high
            depth &= 1023
            axis = (depth - 1) % NUM_FEATURES
            gap = x[axis] - params[FIRST_ROW + ROW * middle + axis]
            if gap * gap > best_distance:
                continue
        while low < high:
            middle = (low + high) // 2
            at = FIRST_ROW + ROW * middle
            distance = 0.0
            for k in range(NUM_FEATURES):
                gap = x[k] - params[at + k]
                distance += gap * gap
            if distance < best_distance or (
                distance == best_distance and params[at + NUMBER] < params[best + NUMBER]
            ):
                best_distance = distance
                best = at
            axis = depth % NUM_FEATURES
            depth += 1
            is_left = x[axis] < params[at + axis]
            b.stack[SIDE * num_waiting] = middle + 1 if is_left else low
            b.stack[SIDE * num_waiting + 1] = high if is_left else middle
            b.stack[SIDE * num_waiting + 2] = -depth if is_left else -(depth | 1024)
            num_waiting += 1
            if is_left:
                high = middle
            else:
                low = middle + 1
    return best


@compiled(EVALUATE)
def nearest_estimate(board, params, out):
    """What becomes of the nearest neighbour, for everybody from the mover on."""
    b = board[0]
    write_features(b)
    for k in range(NUM_FEATURES):
        b.features[k] *= params[FIRST_WEIGHT + k]
    at = nearest_row(b, params) + VALUES
    for ahead in range(NUM_PLAYERS):
        player = b.to_move + ahead
        player = player if player < NUM_PLAYERS else player - NUM_PLAYERS
        score = b.chips[player] - b.leads[player]
        out[player] = params[at + ahead] + (score if params[ADDS_SCORES] else 0.0)


def order_rows(points: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The order of points in which every stretch has the median of its coordinate in the middle.

    >>> order_rows(np.array([[5.0], [1.0], [3.0]])).tolist()
    [1, 2, 0]
    """
    order = np.arange(len(points))
    waiting = [(0, len(points), 0)]
    while waiting:
        low, high, depth = waiting.pop()
        if high - low < 2:
            continue
        part = order[low:high]
        axis = depth % points.shape[1]
        part[:] = part[np.argsort(points[part, axis], kind="stable")]
        middle = (low + high) // 2
        waiting += [(low, middle, depth + 1), (middle + 1, high, depth + 1)]
    return order


def nearest_params(
    rows: npt.NDArray[np.int32], weights: Sequence[float], stored: str
) -> npt.NDArray[np.float64]:
    """A database as the numbers that ``nearest_estimate`` reads.

    Args:
        rows: [N, 18]: features, gains and final scores.
        weights: of the five categories.
        stored: which of the ``STORED`` is the value of a row.
    """
    scale = np.asarray(weights, np.float64)[list(CATEGORIES)]
    points = rows[:, :NUM_FEATURES] * scale
    order = order_rows(points)
    first = NUM_FEATURES + (0 if stored == "gains" else NUM_PLAYERS)
    values = rows[:, first : first + NUM_PLAYERS]
    table = np.concatenate([points, np.arange(len(rows))[:, None], values], axis=1)[order]
    head = [len(rows), stored == "gains", *scale]
    params = np.concatenate([np.array(head, np.float64), table.ravel()])
    params.flags.writeable = False
    return params


# ---- a model of strength -------------------------------------------------------------------------
CARDS_PER_SLICE = 3
# The head of the parameters: hidden units, slices, and where the first slice begins.
NUM_HIDDEN, NUM_SLICES, HEAD = 0, 1, 2


class Weights(NamedTuple):
    """Of the model in one slice."""

    direct: npt.NDArray[np.float64]
    """[inputs]: from the features to the strength."""
    hidden: npt.NDArray[np.float64]
    """[units, inputs + 1]: from the features, and a constant, to the hidden units."""
    out: npt.NDArray[np.float64]
    """[units]: from there to the strength."""


@inlined
def strength(b, params, at, num_hidden, ahead):
    """The strength of the player so many seats after the mover."""
    x = b.features
    first = NUM_TRAITS * ahead
    total = 0.0
    for i in range(NUM_INPUTS):
        place = first + i if first + i < NUM_INPUTS else first + i - NUM_INPUTS
        total += params[at + i] * x[place]
    at += NUM_INPUTS
    for _ in range(num_hidden):
        unit = params[at + NUM_INPUTS]
        for i in range(NUM_INPUTS):
            place = first + i if first + i < NUM_INPUTS else first + i - NUM_INPUTS
            unit += params[at + i] * x[place]
        if unit > 0.0:
            total += unit * params[at + NUM_INPUTS + 1]
        at += NUM_INPUTS + 2
    return total


@inlined
def expected_places(b, params, out):
    """Places from the middle, of which the features on the board speak."""
    n = NUM_PLAYERS
    num_hidden = np.int64(params[NUM_HIDDEN])
    index = (b.deck_size - b.num_taken) // CARDS_PER_SLICE
    index = min(index, np.int64(params[NUM_SLICES]) - 1)
    at = HEAD + index * (NUM_INPUTS + num_hidden * (NUM_INPUTS + 2))
    a = strength(b, params, at, num_hidden, 0)
    c = strength(b, params, at, num_hidden, 1)
    d = strength(b, params, at, num_hidden, 2)
    a_c = 1.0 / (1.0 + np.exp(c - a)) - 0.5
    a_d = 1.0 / (1.0 + np.exp(d - a)) - 0.5
    c_d = 1.0 / (1.0 + np.exp(d - c)) - 0.5
    following = b.to_move + 1 if b.to_move + 1 < n else 0
    last = following + 1 if following + 1 < n else 0
    out[b.to_move] = a_c + a_d
    out[following] = c_d - a_c
    out[last] = -a_d - c_d


@compiled(EVALUATE)
def known_estimate(board, params, out):
    """Expected places with the deck as it lies."""
    write_known(board[0])
    expected_places(board[0], params, out)


@compiled(EVALUATE)
def hidden_estimate(board, params, out):
    """Expected places with an unknown deck."""
    write_hidden(board[0])
    expected_places(board[0], params, out)


ESTIMATES = {"known": known_estimate, "hidden": hidden_estimate}
"""By the name of the set of features that they go by."""


def strength_params(slices: list[Weights]) -> npt.NDArray[np.float64]:
    """Weights of all slices as the numbers that the estimates read."""
    num_hidden = len(slices[0].out)
    parts: list[npt.NDArray[np.float64]] = [np.array([num_hidden, len(slices)], np.float64)]
    for weights in slices:
        units = np.concatenate([weights.hidden, weights.out[:, None]], axis=1)
        parts += [weights.direct, units.ravel()]
    params = np.concatenate(parts)
    params.flags.writeable = False
    return params
