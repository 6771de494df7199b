"""The nearest neighbour of a position in a database, through a k-d tree.

The rows of a database are put in order once: in the middle of a stretch of rows lies the median by
one coordinate, on its left what is smaller, on its right what is larger; the next coordinate
divides both sides, and so on. So the tree needs no pointers. A query goes down like a binary search
and then visits every other side that can hold something as near as what it has found.

Coordinates are features times the weight of their category, and distances are Euclidean. Of rows
equally far away the one that came first into the database counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.slices.features import (
    CATEGORIES,
    NUM_FEATURES,
    NUM_PLAYERS,
    write_features,
)
from agents.games.no_thanks.solving.board import BOARDS, EVALUATE, PARAMS, make_board
from envs.core.compiling import compiled, inlined
from envs.core.kernels import INT

__all__ = [
    "STORED",
    "find_nearest",
    "nearest_estimate",
    "nearest_params",
    "order_rows",
]

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


@compiled(INT(BOARDS, PARAMS))
def _number_of_nearest(board, params):
    return np.int64(params[nearest_row(board[0], params) + NUMBER])


def find_nearest(params: npt.NDArray[np.float64], query: Sequence[float]) -> int:
    """The number of the row that is nearest to a query, from Python."""
    board = make_board()
    weights = params[FIRST_WEIGHT : FIRST_WEIGHT + NUM_FEATURES]
    board[0]["features"][:NUM_FEATURES] = np.asarray(query) * weights
    return int(_number_of_nearest(board, params))


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
