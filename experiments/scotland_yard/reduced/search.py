"""Minimax with or without cuts, over lines of joint moves and replies.

The detectives maximise and the fugitive minimises the value of a line. A move is better only if it
is better strictly, so of equals the first is taken; with other rules for ties, cuts spare what is
equal. The best line is kept at every depth: its value is the value of the root.

A line on which the fugitive is caught goes on, because he may not have been there: he flees from
where he stands. Where he is assumed to be stuck a line ends with a win.

A line is worth the sum over its nodes, the root left out. With ``h`` the depth of a node, ``d`` the
distances of the detectives from where the fugitive is assumed to be, ``n`` the depth of a plan and
``r`` the reward of a win, a node is worth in the four versions of the thesis:

=======  ==========================================  ==============================
version  a detective stands on him                   nobody does
=======  ==========================================  ==============================
v1       (n - h) r                                   - h (sum of all d)
v2       (n - h) r - h (sum of the others' d)        - h (least d)
v3       (n - h) r - (sum of the others' d)          - (least d)
v4       as v3                                       - (least d) - (sum of the others' d) / 2
=======  ==========================================  ==============================

A catch at the last depth is worth nothing, which is as it was published; ``corrected`` puts
``n + 1`` for ``n`` in the win term. With two detectives "the others" is one, as in the thesis.
Halves are avoided by doubling everything.

For the fugitive there is a fifth, ``danger``: his distances added up, less the cells next to him
that a detective can enter at once, each worth three steps; the detectives' value is its negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from common.errors import OptionError
from envs.core.compiling import compiled, helper
from envs.core.kernels import INT, RNG
from envs.core.options import Options, option
from envs.core.rng import below, seed_rng
from experiments.scotland_yard.reduced.graph import GRAPH, Table, TeamGraph, holds

VERSIONS = ("v1", "v2", "v3", "v4", "danger")
V1, V2, V3, V4, DANGER = range(5)
UNITS = ("rounds", "plies")
NODES = ("all", "after_detectives", "after_fugitive")
ALL_NODES, AFTER_DETECTIVES, AFTER_FUGITIVE = range(3)
TIES = ("first", "last", "random")
FIRST, LAST, RANDOM = range(3)
DANGER_WEIGHT = 3

SEARCH = np.dtype(
    (
        np.record,
        [
            ("version", np.int64),
            ("plies", np.int64),
            ("depth", np.int64),  # n, in the unit of h; one more if the win term is corrected
            ("reward", np.int64),
            ("depth_unit", np.int64),
            ("nodes", np.int64),
            ("stop_at_catch", np.int64),
            ("ties", np.int64),
            ("cuts", np.int64),
        ],
    )
)
SEARCH_TYPE = from_dtype(SEARCH)[::1]


class AlphaBetaSettings(Options):
    """Everything that the thesis leaves open, and what it fixes.

    >>> AlphaBetaSettings(version="v2", plies=6).record()["plies"].item()
    6
    """

    version: str = option("v4", choices=VERSIONS, help="the evaluation")
    plies: int = option(5, low=1, high=12, help="how deep the tree is, in moves of a side")
    depth: int = option(3, low=1, high=12, help="n of the win term")
    depth_unit: str = option("rounds", choices=UNITS, help="what h and n count")
    reward: int = option(50, low=0, high=10_000, help="r of the win term")
    corrected: bool = option(False, help="whether a catch at the last depth is worth r, not 0")
    nodes: str = option(
        "all",
        choices=NODES,
        help="which nodes of a line are summed; after_fugitive: those and catches",
    )
    stop_at_catch: bool = option(False, help="whether an assumed catch ends a line")
    ties: str = option("first", choices=TIES, help="which of equal moves is taken")
    cuts: bool = option(True, help="alpha-beta; without it plain minimax")
    try_order: str = option(
        "compass", choices=("compass", "numbers", "shuffled"), help="in which order moves are tried"
    )
    distance: str = option("manhattan", choices=("steps", "manhattan"), help="what d counts")
    seed: int = option(0, low=0, high=2**31, help="of a shuffled order and of random ties")

    def __post_init__(self) -> None:
        """Check what no single setting can."""
        super().__post_init__()
        if self.version == "danger" and self.nodes == "after_detectives":
            raise OptionError("danger is counted after the fugitive's moves: set nodes to all")

    def record(self) -> Any:
        """The settings as compiled code reads them."""
        return self.as_record(SEARCH, depth=self.depth + self.corrected)


@helper
def depth_of(settings, ply):
    """``h``: the number of the ply, or of the round; both plies of a round share it."""
    return ply if settings.depth_unit else (ply + 1) // 2


@helper
def win_value(settings, ply):
    """What a win at this depth is worth, doubled."""
    return 2 * (settings.depth - depth_of(settings, ply)) * settings.reward


@helper
def danger_value(graph, team, place):
    """The detectives' view of a fugitive who counts distances and dangerous cells, doubled."""
    total, num_dangerous = np.int64(0), 0
    for d in range(graph.places.shape[1]):
        total += np.int64(graph.distances[graph.places[team, d], place])
    for at in range(graph.starts[place], graph.starts[place + 1]):
        is_dangerous = False
        for d in range(graph.places.shape[1]):
            is_dangerous |= holds(graph.near[graph.places[team, d]], graph.targets[at])
        num_dangerous += is_dangerous
    return 2 * (DANGER_WEIGHT * num_dangerous - total)


@helper
def node_value(graph, settings, team, place, ply):
    """``f`` of one node, doubled."""
    total, least, is_caught = np.int64(0), np.int64(1 << 30), False
    for d in range(graph.places.shape[1]):
        steps = np.int64(graph.distances[graph.places[team, d], place])
        total += steps
        least = min(least, steps)
        is_caught |= graph.places[team, d] == place
    h = depth_of(settings, ply)
    version = settings.version
    if is_caught:
        # The one who caught him is at distance 0: the sum is the others'.
        if version in (V1, DANGER):
            return win_value(settings, ply)
        return win_value(settings, ply) - 2 * total * (h if version == V2 else 1)
    if version == V1:
        return -2 * total * h
    if version == V2:
        return -2 * least * h
    if version == V3:
        return -2 * least
    if version == V4:
        return -2 * least - (total - least)
    return danger_value(graph, team, place)


NO_MOVE = -1
"""In lines and tables: the line has ended, or there is no such position."""
INFINITE = 1 << 40

_LINES = types.int32[:, ::1]
_INTS = types.int64[::1]


@helper
def is_taken(settings, value, best, sign, num_equal, rng):
    """Whether a move replaces the best so far: ``(taken, equals so far)``."""
    gain = sign * (value - best)
    if gain > 0:
        return True, 1
    if gain < 0 or settings.ties == FIRST:
        return False, num_equal
    if settings.ties == RANDOM:
        return below(rng, num_equal + 1) == 0, num_equal + 1
    return True, num_equal + 1


@compiled(INT(GRAPH, SEARCH_TYPE, INT, INT, INT, INT, INT, INT, INT, _LINES, RNG, _INTS))
def search_node(graph, search, is_team, team, place, ply, total, low, high, lines, rng, counts):
    """The value of a node, doubled; its best line is written to ``lines[ply]``.

    Args:
        graph: the board.
        search: the settings, one record.
        is_team: whether the detectives are to move.
        team: where they stand.
        place: where the fugitive is assumed to be.
        ply: depth of the node.
        total: value of the line so far.
        low: the most that the detectives can have elsewhere.
        high: the least that the fugitive can have elsewhere.
        lines: [plies + 1, plies + 1] best lines by depth: teams and places in turn.
        rng: for random ties.
        counts: [1] how many nodes were visited.
    """
    settings = search[0]
    counts[0] += 1
    lines[ply, ply:] = NO_MOVE
    if ply == settings.plies:
        return total
    first, last = graph.starts[place], graph.starts[place + 1]
    if is_team:
        first, last = graph.team_starts[team], graph.team_starts[team + 1]
    sign = 1 if is_team else -1
    best, num_equal = -sign * INFINITE, 0
    for at in range(first, last):
        target = np.int64(graph.team_targets[at] if is_team else graph.targets[at])
        if not is_team and holds(graph.masks[team], target):
            continue
        new_team = target if is_team else team
        new_place = place if is_team else target
        is_caught = holds(graph.masks[new_team], new_place)
        value = total
        is_counted = True
        if settings.nodes == AFTER_DETECTIVES:
            is_counted = is_team
        elif settings.nodes == AFTER_FUGITIVE:
            is_counted = is_caught or not is_team
        if is_counted:
            value += node_value(graph, settings, new_team, new_place, ply + 1)
        if is_caught and settings.stop_at_catch:
            lines[ply + 1, ply + 1 :] = NO_MOVE
            counts[0] += 1
        else:
            turn, at = 1 - is_team, ply + 1
            value = search_node(
                graph, search, turn, new_team, new_place, at, value, low, high, lines, rng, counts
            )
        taken, num_equal = is_taken(settings, value, best, sign, num_equal, rng)
        if taken:
            best = value
            lines[ply, ply] = target
            for later in range(ply + 1, lines.shape[1]):
                lines[ply, later] = lines[ply + 1, later]
        if is_team:
            low = max(low, best)
        else:
            high = min(high, best)
        # Equals must be known exactly where they matter.
        spare = 0 if settings.ties == FIRST else 1
        if settings.cuts and low >= high + spare:
            break
    if num_equal == 0:
        return total + win_value(settings, ply + 1)  # the fugitive is stuck
    return best


def make_room(settings: AlphaBetaSettings) -> tuple[Any, Any, Any, Any]:
    """What a search works with: the settings, lines, a generator, and the count of nodes."""
    lines = np.full((settings.plies + 1, settings.plies + 1), NO_MOVE, np.int32)
    return settings.record(), lines, np.zeros(4, np.uint64), np.zeros(1, np.int64)


@compiled(types.void(GRAPH, SEARCH_TYPE, INT, types.uint64, _INTS, _LINES, RNG, _INTS, _LINES))
def _fill_plans(graph, search, period, seed, roots, lines, rng, counts, plans):
    num_places = graph.near.size
    for i in range(roots.size):
        team, place = roots[i] // num_places, roots[i] % num_places
        seed_rng(rng, seed + np.uint64(roots[i]))
        step = 0
        while step < period:
            search_node(
                graph, search, 1, team, place, 0, 0, -INFINITE, INFINITE, lines, rng, counts
            )
            ply = 0
            while step < period and ply < search[0].plies and lines[0, ply] != NO_MOVE:
                team = np.int64(lines[0, ply])
                plans[i, step] = team
                step += 1
                # Where the line ends he is assumed to stay, and a new search goes on from there.
                if ply + 1 < search[0].plies and lines[0, ply + 1] != NO_MOVE:
                    place = np.int64(lines[0, ply + 1])
                ply += 2


@compiled(types.void(GRAPH, SEARCH_TYPE, types.uint64, _INTS, _LINES, RNG, _INTS, types.int32[::1]))
def _fill_replies(graph, search, seed, roots, lines, rng, counts, replies):
    num_places = graph.near.size
    for i in range(roots.size):
        team, place = roots[i] // num_places, roots[i] % num_places
        seed_rng(rng, seed + np.uint64(roots[i]))
        search_node(graph, search, 0, team, place, 0, 0, -INFINITE, INFINITE, lines, rng, counts)
        replies[i] = lines[0, 0]


def plan_table(
    graph: TeamGraph,
    settings: AlphaBetaSettings,
    roots: npt.NDArray[np.int64] | None = None,
    seed: int | None = None,
) -> Table:
    """Plan from sightings: the teams after each joint move until the next, [roots, period].

    Args:
        graph: the board.
        settings: of the search.
        roots: positions as ``TeamGraph.root`` numbers them; ``None``: all of them, and
            ``NO_MOVE`` for those that are no positions.
        seed: of random ties; ``None``: that of the settings.
    """
    return _table(graph, settings, roots, seed, (graph.period,))


def fugitive_table(
    graph: TeamGraph,
    settings: AlphaBetaSettings,
    roots: npt.NDArray[np.int64] | None = None,
) -> Table:
    """Where a fugitive goes who searches anew at every move: [roots], ``NO_MOVE`` if he cannot.

    He sees everything, so his move depends on where the pieces stand and on nothing else.
    """
    return _table(graph, settings, roots, None, ())


def _table(
    graph: TeamGraph,
    settings: AlphaBetaSettings,
    roots: npt.NDArray[np.int64] | None,
    seed: int | None,
    period: tuple[int, ...],
) -> Table:
    """Lines of plans, or single replies."""
    search, *room = make_room(settings)
    number = np.uint64(settings.seed if seed is None else seed) << np.uint64(32)
    chosen = (
        np.flatnonzero(graph.is_start) if roots is None else np.ascontiguousarray(roots, np.int64)
    )
    found = np.full((len(chosen), *period), NO_MOVE, np.int32)
    fill: Any = _fill_plans if period else _fill_replies
    fill(graph.arrays, search, *period, number, chosen, *room, found)
    if roots is not None:
        return found
    table = np.full((graph.num_roots, *period), NO_MOVE, np.int32)
    table[chosen] = found
    return table
