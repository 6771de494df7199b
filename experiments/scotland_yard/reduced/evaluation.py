"""What a node of a search is worth to the detectives, in the four versions of the thesis.

With ``h`` the depth of a node, ``d`` the distances of the detectives from where the fugitive is
assumed to be, ``n`` the depth of a plan and ``r`` the reward of a win:

=======  ==========================================  ==============================
version  a detective stands on him                   nobody does
=======  ==========================================  ==============================
v1       (n - h) r                                   - h (sum of all d)
v2       (n - h) r - h (sum of the others' d)        - h (least d)
v3       (n - h) r - (sum of the others' d)          - (least d)
v4       as v3                                       - (least d) - (sum of the others' d) / 2
=======  ==========================================  ==============================

A line is worth the sum over its nodes, the root left out. A catch at the last depth is worth
nothing, which is as it was published; ``corrected`` puts ``n + 1`` for ``n`` in the win term. With
two detectives "the others" is one, as in the thesis. Halves are avoided by doubling everything.

For the fugitive there is a fifth, ``danger``: his distances added up, less the cells next to him
that a detective can enter at once, each worth three steps; the detectives' value is its negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import from_dtype

from common.errors import OptionError
from envs.core.compiling import helper
from envs.core.options import Options, option
from experiments.scotland_yard.reduced.graph import holds

__all__ = ["SEARCH", "SEARCH_TYPE", "VERSIONS", "AlphaBetaSettings", "node_value", "win_value"]

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
            ("is_by_plies", np.int64),
            ("nodes", np.int64),
            ("stops_at_catch", np.int64),
            ("ties", np.int64),
            ("has_cuts", np.int64),
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
        found = np.zeros(1, SEARCH)
        s = found[0]
        s.version = VERSIONS.index(self.version)
        s.plies, s.reward = self.plies, self.reward
        s.depth = self.depth + self.corrected
        s.is_by_plies = self.depth_unit == "plies"
        s.nodes = NODES.index(self.nodes)
        s.stops_at_catch, s.has_cuts = self.stop_at_catch, self.cuts
        s.ties = TIES.index(self.ties)
        return found


@helper
def depth_of(settings, ply):
    """``h``: the number of the ply, or of the round; both plies of a round share it."""
    return ply if settings.is_by_plies else (ply + 1) // 2


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
