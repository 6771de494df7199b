"""Boards made by rule: square grids, random maps with cabs, taxis and trams, and a large city.

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

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from common.errors import OptionError
from envs.core.rng import Words, stream, uniform
from envs.pursuit.board import MAX_NODES, Board, BoardNode, Pair, Transport, components

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
        BoardNode(1 + columns * row + column, float(column), float(row))
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

    @classmethod
    def of(cls, settings: Any) -> MapRecipe:
        """The recipe that options or arguments of these names make."""
        return cls(*(getattr(settings, field.name) for field in fields(cls)))

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
        BoardNode(cell + 1, float(cell % recipe.columns), float(cell // recipe.columns))
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


# ---- a large board of our own making -------------------------------------------------------------
#
# A city of 200 stations on both banks of a river. Stations lie on a shaken hexagonal grid. The
# river and a canal cut the city into four districts that are joined by a few bridges. Taxis run
# between close neighbours, buses over longer hops between every third station, the underground
# between a few. Neighbours are those of the Gabriel graph (no third station lies in the circle over
# the edge), which is planar, so lines of one kind never cross. Three ferry lines join four landings
# on the river; they take black tickets only.

Points = npt.NDArray[np.float64]

WIDTH, HEIGHT = 34.0, 24.0
NUM_STATIONS, NUM_BUS, NUM_UNDERGROUND = 200, 68, 15
RIVER_BRIDGES = (4.0, 11.5, 20.0, 29.5)  # by x
CANAL_BRIDGES = (3.5, 8.0, 17.5, 21.5)  # by y
BANK = 0.75
"""No station is nearer to the middle of the water."""
LANDINGS = (1.5, 13.0, 23.5, 32.5)  # by x

TRANSPORTS = (
    Transport("taxi", "#e0ac00"),
    Transport("bus", "#1f9ea8"),
    Transport("underground", "#d23c5a"),
    Transport("ferry", "#3c4a5c", needs_black=True),
)


def river(x: float) -> float:
    """Where the river flows: y for every x."""
    return 0.54 * HEIGHT + 2.1 * math.sin(0.23 * x + 0.4)


def canal(y: float) -> float:
    """Where the canal runs: x for every y."""
    return 0.47 * WIDTH + 1.6 * math.sin(0.31 * y + 1.0)


def city_board(seed: int = 0, name: str = "city") -> Board:
    """Draw the city of a seed.

    >>> board = city_board()
    >>> len(board.nodes), [transport.name for transport in board.transports]
    (200, ['taxi', 'bus', 'underground', 'ferry'])
    """
    points = _stations(stream(seed, "city"))
    everywhere = list(range(len(points)))
    taxi = _crossing_at_bridges(points, _gabriel(points, everywhere, 4.2), 1, 1.6)
    spread = _spread(points, everywhere, NUM_BUS)
    bus = _crossing_at_bridges(points, _gabriel(points, spread, 8.5), 1, 4.0)
    tube = _gabriel(points, spread[:NUM_UNDERGROUND], 17.0)
    landings = [_nearest(points, x, river(x)) for x in LANDINGS]
    ferry = [(min(pair), max(pair)) for pair in pairwise(landings)]
    quiet = [i for i in everywhere if i not in set(spread[:NUM_UNDERGROUND]) | set(landings)]
    cards = _spread(points, quiet, 31)
    return Board(
        name,
        TRANSPORTS,
        tuple(
            BoardNode(i + 1, round(x, 2), round(y, 2)) for i, (x, y) in enumerate(points.tolist())
        ),
        tuple(_numbered(pairs) for pairs in (taxi, bus, tube, ferry)),
        detective_starts=tuple(sorted(i + 1 for i in cards[0::2][:16])),
        fugitive_starts=tuple(sorted(i + 1 for i in cards[1::2])),
        origin=f"envs.pursuit.generators, seed {seed}",
        water=(
            tuple((float(x), round(river(x), 2)) for x in range(-1, int(WIDTH) + 2)),
            tuple((round(canal(y), 2), float(y)) for y in range(-1, int(HEIGHT) + 2)),
        ),
    )


def _stations(words: Words) -> Points:
    """Shake a hexagonal grid, keep off the water, and number the rest as one reads a page."""
    columns, rows = 17, 14
    found = []
    for row in range(rows):
        for column in range(columns):
            x = (column + 0.25 + 0.5 * (row % 2)) * WIDTH / columns + 0.95 * (uniform(words) - 0.5)
            y = (row + 0.5) * HEIGHT / rows + 0.75 * (uniform(words) - 0.5)
            if abs(y - river(x)) > BANK and abs(x - canal(y)) > BANK:
                found.append((round(x, 2), round(y, 2)))
    while len(found) > NUM_STATIONS:
        del found[int(uniform(words) * len(found))]
    return np.array(found)


def _gabriel(points: Points, chosen: list[int], longest: float) -> list[Pair]:
    """Pairs with no third point in the circle over them, up to a length."""
    own = points[chosen]
    squares = ((own[:, None] - own[None]) ** 2).sum(axis=2)
    pairs = []
    for i in range(len(chosen)):
        for j in range(i):
            if squares[i, j] <= longest**2:
                through = squares[i] + squares[j]
                through[[i, j]] = math.inf
                if through.min() >= squares[i, j]:
                    pairs.append((min(chosen[i], chosen[j]), max(chosen[i], chosen[j])))
    return pairs


def _spread(points: Points, among: list[int], count: int) -> list[int]:
    """Points far from each other: each next one is the farthest from all before."""
    chosen = [min(among, key=lambda i: float(np.abs(points[i] - (WIDTH / 2, HEIGHT / 2)).sum()))]
    while len(chosen) < count:
        gaps = ((points[among][:, None] - points[chosen][None]) ** 2).sum(axis=2).min(axis=1)
        chosen.append(among[int(gaps.argmax())])
    return chosen


def _crossing_at_bridges(
    points: Points, pairs: list[Pair], per_bridge: int, reach: float
) -> list[Pair]:
    """Leave out what crosses the water, but for the edges nearest to each bridge."""
    crossings = {(a, b): _crossing(points[a], points[b]) for a, b in pairs}
    wet = [(crossing, pair) for pair, crossing in crossings.items() if crossing is not None]
    bridges = [(x, river(x)) for x in RIVER_BRIDGES] + [(canal(y), y) for y in CANAL_BRIDGES]
    kept = {pair for pair, crossing in crossings.items() if crossing is None}
    for bridge in bridges:
        near = sorted((math.dist(crossing, bridge), pair) for crossing, pair in wet)
        kept |= {pair for gap, pair in near[:per_bridge] if gap <= reach}
    return sorted(kept)


def _crossing(a: Points, b: Points) -> tuple[float, float] | None:
    """Where a straight edge first crosses the river or the canal."""
    steps = np.linspace(0.0, 1.0, 41)
    line = [tuple((a + t * (b - a)).tolist()) for t in steps]
    for (x, y), (next_x, next_y) in pairwise(line):
        is_over_river = (y > river(x)) != (next_y > river(next_x))
        is_over_canal = (x > canal(y)) != (next_x > canal(next_y))
        if is_over_river or is_over_canal:
            return x, y
    return None


def _nearest(points: Points, x: float, y: float) -> int:
    return int(((points - (x, y)) ** 2).sum(axis=1).argmin())


def _numbered(pairs: list[Pair]) -> tuple[Pair, ...]:
    return tuple(sorted({(a + 1, b + 1) for a, b in pairs}))
