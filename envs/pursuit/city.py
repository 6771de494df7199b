"""A large board of our own making: a city of 200 stations on both banks of a river.

Stations lie on a shaken hexagonal grid. The river and a canal cut the city into four districts that
are joined by a few bridges. Taxis run between close neighbours, buses over longer hops between
every third station, the underground between a few. Neighbours are those of the Gabriel graph (no
third station lies in the circle over the edge), which is planar, so lines of one kind never cross.
Three ferry lines join four landings on the river; they take black tickets only.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from envs.core.rng import Words, stream, uniform
from envs.pursuit.board import Board, Node, Pair, Transport

__all__ = ["city_board"]

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
        tuple(Node(i + 1, round(x, 2), round(y, 2)) for i, (x, y) in enumerate(points.tolist())),
        tuple(_numbered(pairs) for pairs in (taxi, bus, tube, ferry)),
        detective_starts=tuple(sorted(i + 1 for i in cards[0::2][:16])),
        fugitive_starts=tuple(sorted(i + 1 for i in cards[1::2])),
        origin=f"envs.pursuit.city, seed {seed}",
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
    dry, wet = [], []
    for pair in pairs:
        crossing = _crossing(points[pair[0]], points[pair[1]])
        if crossing is None:
            dry.append(pair)
        else:
            wet.append((crossing, pair))
    bridges = [(x, river(x)) for x in RIVER_BRIDGES] + [(canal(y), y) for y in CANAL_BRIDGES]
    kept: set[Pair] = set()
    for bridge in bridges:
        near = sorted((math.dist(crossing, bridge), pair) for crossing, pair in wet)
        kept |= {pair for gap, pair in near[:per_bridge] if gap <= reach}
    return sorted({*dry, *kept})


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
