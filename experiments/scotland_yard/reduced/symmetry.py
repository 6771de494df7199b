"""Positions that are the same but for a turn or a mirror image of the board, or a swap of names.

Of all positions that can be turned into each other one stands for all. An *element* is one way to
turn a position: a symmetry of the board and an order of the detectives. Joint moves are turned
along with the position: ``slots`` says which move of the turned team a move becomes.
"""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from common.errors import OptionError
from envs.pursuit.board import Board
from experiments.scotland_yard.reduced.graph import TeamGraph

__all__ = [
    "SYMMETRIES",
    "SYMMETRY",
    "Symmetry",
    "board_symmetries",
    "elements_of",
    "find_symmetry",
    "num_classes",
]

SYMMETRIES = ("none", "rotations", "reflections", "exchange")
"""Each with all that stand before it: turns; mirror images too; detectives are alike as well."""

Table = npt.NDArray[np.int32]
Element = tuple[npt.NDArray[np.int64], list[int]]


class Symmetry(NamedTuple):
    """Which position stands for which, for compiled code."""

    roots: Table
    """[roots] the position that stands for each."""
    elements: Table
    """[roots] the element that turns it into that one."""
    slots: Table
    """[elements, joint moves] the number of the turned move among those of the turned team."""


_INTS, _TABLE = types.int32[::1], types.int32[:, ::1]
SYMMETRY = types.NamedTuple([_INTS, _INTS, _TABLE], Symmetry)


def board_symmetries(board: Board, has_reflections: bool) -> list[npt.NDArray[np.int64]]:
    """The turns (and mirror images) of a board that keep all its edges, as places from 0.

    >>> from envs.pursuit.generators import grid_board
    >>> [len(board_symmetries(grid_board(5, 5), has)) for has in (False, True)]
    [4, 8]
    """
    at = np.array([(node.x, node.y) for node in board.nodes])
    centred = np.round(2 * at - at.min(axis=0) - at.max(axis=0)).astype(np.int64)
    place_of = {
        tuple(spot): node.number - 1 for spot, node in zip(centred, board.nodes, strict=True)
    }
    edges = {pair for pairs in board.edges for pair in pairs}
    found = []
    turn = np.array([[0, -1], [1, 0]])
    for mirror in (1, -1) if has_reflections else (1,):
        matrix = np.diag([mirror, 1])
        for _ in range(4):
            matrix = turn @ matrix
            spots = [tuple(spot) for spot in centred @ matrix.T]
            if any(spot not in place_of for spot in spots):
                continue
            image = np.arange(board.num_slots)
            for node, spot in zip(board.nodes, spots, strict=True):
                image[node.number - 1] = place_of[spot]
            turned = {(int(image[a - 1]) + 1, int(image[b - 1]) + 1) for a, b in edges}
            if {(min(pair), max(pair)) for pair in turned} == edges:
                found.append(image)
    return found


def elements_of(graph: TeamGraph, kind: str) -> list[Element]:
    """All elements, in the order of their numbers: where places go, and the order of detectives."""
    if kind not in SYMMETRIES:
        raise OptionError(f"symmetry must be {', '.join(SYMMETRIES)}, not '{kind}'")
    images = [np.arange(graph.num_places)]
    if kind != "none":
        images = board_symmetries(graph.board, has_reflections=kind != "rotations")
    names = list(range(graph.num_detectives))
    orders = [list(order) for order in permutations(names)] if kind == "exchange" else [names]
    return [(image, order) for image in images for order in orders]


def find_symmetry(graph: TeamGraph, kind: str = "none") -> Symmetry:
    """Which position stands for which.

    >>> from envs import make_game
    >>> graph = TeamGraph(make_game("scotland_yard_v0", "reduced"))
    >>> [num_classes(graph, find_symmetry(graph, kind)) for kind in SYMMETRIES]
    [13800, 3450, 1755, 904]
    """
    turns = elements_of(graph, kind)
    places, a = graph.arrays.places, graph.arrays
    fugitives = np.arange(graph.num_places)
    best = np.full(graph.num_roots, graph.num_roots, np.int64)
    elements = np.zeros(graph.num_roots, np.int64)
    slots = np.zeros((len(turns), len(a.team_targets)), np.int32)
    for number, (image, order) in enumerate(turns):
        teams = _teams(graph, image[places][:, order])
        roots = (teams[:, None] * graph.num_places + image[fugitives]).ravel()
        elements[roots < best] = number
        best = np.minimum(best, roots)
        slots[number] = _turned_slots(graph, teams)
    return Symmetry(best.astype(np.int32), elements.astype(np.int32), slots)


def num_classes(graph: TeamGraph, symmetry: Symmetry) -> int:
    """How many positions stand for all."""
    return len(np.unique(symmetry.roots[graph.is_start]))


def _teams(graph: TeamGraph, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    numbers = np.zeros(len(places), np.int64)
    for column in places.T:
        numbers = numbers * graph.num_places + column
    return numbers


def _turned_slots(graph: TeamGraph, teams: npt.NDArray[np.int64]) -> Table:
    """For every joint move, the number of its image among the moves of the team's image."""
    a = graph.arrays
    sources = np.repeat(np.arange(graph.num_teams), np.diff(a.team_starts))
    keys = sources.astype(np.int64) * graph.num_teams + a.team_targets
    order = np.argsort(keys)
    images = teams[sources] * graph.num_teams + teams[a.team_targets]
    edges = order[np.searchsorted(keys[order], images)]
    found: Table = (edges - a.team_starts[teams[sources]]).astype(np.int32)
    return found
