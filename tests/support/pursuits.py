"""Constructed positions of a pursuit, for tests of its rules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from envs import make_game
from envs.core.position import Position
from envs.pursuit.game import Pursuit
from experiments.scotland_yard.reduced.graph import TeamGraph, team_graph
from experiments.scotland_yard.reduced.search import (
    INFINITE,
    NO_MOVE,
    AlphaBetaSettings,
    make_room,
    plan_table,
    search_node,
)


def cell(row: int, column: int, columns: int = 5) -> int:
    """The place of a cell of a grid, from 0."""
    return columns * row + column


def started(game: Pursuit, detectives: Sequence[int], fugitive: int) -> Position:
    """A game whose start cards are these places (from 0)."""
    return game.replay([*detectives, fugitive])


def play(position: Position, *moves: str | int) -> Position:
    """Play moves in words (``taxi to 4``), or to a place (from 0) by the only way there is."""
    for move in moves:
        if isinstance(move, str):
            position.apply(position.parse_action(move))
        else:
            ways = [a for a in position.legal_actions() if a % slots(position) == move]
            assert len(ways) == 1, f"{len(ways)} ways lead to place {move}"
            position.apply(ways[0])
    return position


def slots(position: Position) -> int:
    """How many numbers places can have."""
    return int(position.game.header.num_slots)  # type: ignore[attr-defined]


def targets(position: Position) -> set[int]:
    """Where the piece to move may go (from 0), by whatever ticket."""
    end = slots(position) * int(position.game.header.num_kinds)  # type: ignore[attr-defined]
    return {a % slots(position) for a in position.legal_actions() if a < end}


def record(position: Position) -> Any:
    """The fields of the state."""
    return position.game.record(position.state)


def belief(position: Position) -> dict[int, float]:
    """The weights of all places where the fugitive can be."""
    weights = record(position).belief
    return {place: float(w) for place, w in enumerate(weights) if w > 0.0}


@cache
def thesis_plans(version: str, nodes: str) -> npt.NDArray[np.int32]:
    """The plans of an evaluation on the board of the thesis, which take seconds, once."""
    graph = team_graph(make_game("scotland_yard_v0", "reduced"))
    return plan_table(graph, AlphaBetaSettings(version=version, nodes=nodes))


def principal_line(
    graph: TeamGraph, settings: AlphaBetaSettings, team: int, place: int, is_team: bool = True
) -> tuple[float, list[int], int]:
    """The value of a position, the best line from it, and how many nodes were visited.

    >>> graph = TeamGraph(make_game("scotland_yard_v0", "reduced"))
    >>> principal_line(graph, AlphaBetaSettings(plies=1), graph.team(0, 24), 5)[:2]
    (94.0, [144])
    """
    search, lines, rng, counts = make_room(settings)
    known = graph.arrays, search, int(is_team), team, place, 0, 0, -INFINITE, INFINITE
    value = search_node(*known, lines, rng, counts)
    line = [int(move) for move in lines[0] if move != NO_MOVE]
    return value / 2, line, int(counts[0])
