"""Boards made by rule: square grids, and random maps of a city with cabs, taxis and trams.

**Random maps.** On a grid of cells each cell is kept as a place with probability ``keep``. Horse
cabs stop everywhere, taxis and trams at each place with a probability of their own. Then every
place looks for the next stops of each of its transports: a breadth-first search over the whole
grid, across holes and places where the transport does not stop, but never through a stop. How far
it looks is the edge mode:

=============  ==================================================================================
``ring``       all stops at the smallest distance at which there is any
``radius``     all stops within ``radius`` steps
``unbounded``  all stops that can be reached
=============  ==================================================================================

Such a map may fall apart. Its largest part is kept if that has 90 % of the places, and drawn anew
otherwise; ``origin`` says which attempt it was and how many places were cut off. A place has the
number of its cell, so equal numbers lie at equal spots on all maps of one size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from common.errors import OptionError
from envs.core.rng import stream, uniform
from envs.pursuit.board import MAX_NODES, Board, Node, Pair, Transport, components

__all__ = ["EDGE_MODES", "MapRecipe", "grid_board", "random_board"]

EDGE_MODES = ("ring", "radius", "unbounded")
_SMALLEST_SHARE = 0.9
_MOST_ATTEMPTS = 200

STREET = Transport("street", "#8a8f98")
CAB, TAXI, TRAM = (
    Transport("cab", "#5b6068"),
    Transport("taxi", "#2e9e5b"),
    Transport("tram", "#d6453d"),
)


def grid_board(rows: int, columns: int) -> Board:
    """A grid with streets up, down, right and left, and no way round the edge.

    >>> board = grid_board(5, 5)
    >>> len(board.nodes), len(board.edges[0])
    (25, 40)
    """
    if rows * columns > MAX_NODES or min(rows, columns) < 1 or rows * columns < 2:
        raise OptionError(
            f"a grid has 2 to {MAX_NODES} cells: {rows} x {columns} are {rows * columns}"
        )
    nodes = tuple(
        Node(1 + columns * row + column, float(column), float(row))
        for row in range(rows)
        for column in range(columns)
    )
    right = [(n.number, n.number + 1) for n in nodes if n.x < columns - 1]
    down = [(n.number, n.number + columns) for n in nodes if n.y < rows - 1]
    edges = (tuple(sorted(right + down)),)
    return Board(f"grid {rows} x {columns}", (STREET,), nodes, edges, origin="a square grid")


@dataclass(frozen=True)
class MapRecipe:
    """How random maps are made; equal recipes, seeds and numbers make equal maps."""

    rows: int = 9
    columns: int = 11
    keep: float = 0.8
    taxi: float = 0.4
    tram: float = 0.2
    edge_mode: str = "radius"
    radius: int = 2

    def __str__(self) -> str:
        """The recipe as it stands in a board's origin."""
        mode = f"radius {self.radius}" if self.edge_mode == "radius" else self.edge_mode
        return (
            f"{self.rows} x {self.columns}, keep {self.keep:g}, taxi {self.taxi:g}, "
            f"tram {self.tram:g}, {mode}"
        )


def random_board(
    recipe: MapRecipe, seed: int, number: int, is_fair: Callable[[Board], bool] | None = None
) -> Board:
    """Map ``number`` of the series of a seed.

    Args:
        recipe: size, probabilities and edge mode.
        seed: which series.
        number: which map of it.
        is_fair: asked about every map that holds together; one it refuses is drawn anew.

    >>> board = random_board(MapRecipe(rows=4, columns=4), seed=0, number=0)
    >>> board == random_board(MapRecipe(rows=4, columns=4), seed=0, number=0)
    True
    """
    if recipe.rows * recipe.columns > MAX_NODES:
        size = f"{recipe.rows} x {recipe.columns}"
        raise OptionError(f"a map has at most {MAX_NODES} cells: make {size} smaller")
    num_refused = 0
    for attempt in range(_MOST_ATTEMPTS):
        words = stream(seed, "map", number, attempt)
        draws = np.array([uniform(words) for _ in range(3 * recipe.rows * recipe.columns)])
        board = _join(recipe, draws.reshape(3, -1), f"seed {seed}, map {number}, attempt {attempt}")
        if board is None:
            continue
        if is_fair is None or is_fair(board):
            return board
        num_refused += 1
    why = f"{num_refused} were unfair, the others fell apart"
    raise OptionError(
        f"no map of {recipe} was accepted in {_MOST_ATTEMPTS} attempts ({why}): "
        "keep more places, or allow a larger imbalance"
    )


def _join(recipe: MapRecipe, draws: np.ndarray, origin: str) -> Board | None:
    """Make the map of some draws, or nothing if its largest part is too small."""
    is_kept = draws[0] < recipe.keep
    stops = [is_kept, is_kept & (draws[1] < recipe.taxi), is_kept & (draws[2] < recipe.tram)]
    pairs = [_edges(recipe, set(np.flatnonzero(has_stop).tolist())) for has_stop in stops]
    joined: dict[int, set[int]] = {int(cell): set() for cell in np.flatnonzero(is_kept)}
    for a, b in (pair for some in pairs for pair in some):
        joined[a].add(b)
        joined[b].add(a)
    parts = components(joined)
    if not parts or len(parts[0]) < max(2, _SMALLEST_SHARE * len(joined)):
        return None
    part = parts[0]
    nodes = tuple(
        Node(cell + 1, float(cell % recipe.columns), float(cell // recipe.columns))
        for cell in sorted(part)
    )
    edges = tuple(tuple(sorted((a + 1, b + 1) for a, b in some if a in part)) for some in pairs)
    cut = len(joined) - len(part)
    return Board(
        f"random map {recipe.rows} x {recipe.columns}",
        (CAB, TAXI, TRAM),
        nodes,
        edges,
        origin=f"{recipe}; {origin}; {cut} places cut off",
    )


def _edges(recipe: MapRecipe, stops: set[int]) -> set[Pair]:
    limit = recipe.radius if recipe.edge_mode == "radius" else recipe.rows * recipe.columns
    pairs: set[Pair] = set()
    for start in stops:
        known, front = {start}, [start]
        for _ in range(limit):
            around = {cell for at in front for cell in _beside(recipe, at)} - known
            found = around & stops
            pairs |= {(min(start, cell), max(start, cell)) for cell in found}
            known |= around
            front = sorted(around - stops)
            if not front or (found and recipe.edge_mode == "ring"):
                break
    return pairs


def _beside(recipe: MapRecipe, cell: int) -> list[int]:
    row, column = divmod(cell, recipe.columns)
    steps = ((row - 1, column), (row + 1, column), (row, column + 1), (row, column - 1))
    return [
        recipe.columns * r + c for r, c in steps if 0 <= r < recipe.rows and 0 <= c < recipe.columns
    ]
