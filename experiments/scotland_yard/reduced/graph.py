"""A small board for compiled code: streets, the joint moves of a team of detectives, symmetries.

A *team* is where all detectives stand, as one number: ``n * n * first + n * second + third`` for
three on ``n`` places. Its joint moves follow the rules of the game: detectives move at once, and no
two of them to one place. With the detectives as one piece on a graph of teams, algorithms need not
know how many they are. Sets of places are the bits of one word, so a board has at most 64 places.

Of all positions that can be turned into each other by a turn or a mirror image of the board, or a
swap of names, one stands for all. An *element* is one way to turn a position: a symmetry of the
board and an order of the detectives. Joint moves are turned along with the position: ``slots`` says
which move of the turned team a move becomes.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from common.errors import OptionError
from envs.core.compiling import compiled, helper
from envs.core.game import Game
from envs.core.kernels import RULES, STATE
from envs.core.rng import stream, uniform
from envs.pursuit.board import Board
from envs.pursuit.course import is_free
from envs.pursuit.game import Pursuit
from envs.pursuit.options import RULES as PURSUIT_RULES
from envs.pursuit.options import RULES_SIZE, PursuitOptions, map_of
from envs.pursuit.options import STATE as PURSUIT_STATE
from envs.pursuit.tables import distances

MOST_PLACES = 64
MOST_TEAMS = 300_000

TRY_ORDERS = ("compass", "numbers", "shuffled")
"""In which order moves are tried: up, down, right, left; by number; at random, once for a place."""


class Graph(NamedTuple):
    """What compiled code reads; places and teams are numbered from 0."""

    starts: npt.NDArray[np.int32]
    """[places + 1] where the streets of each place begin in ``targets``."""
    targets: npt.NDArray[np.int32]
    """Where streets lead, in the order in which moves are tried."""
    distances: npt.NDArray[np.int32]
    """[places, places] steps, or whatever a search measures by."""
    near: npt.NDArray[np.uint64]
    """[places] the neighbours as a set."""
    places: npt.NDArray[np.int32]
    """[teams, detectives] where each stands."""
    team_starts: npt.NDArray[np.int32]
    """[teams + 1] where the joint moves of each team begin in ``team_targets``."""
    team_targets: npt.NDArray[np.int32]
    """Teams after a joint move; the first detective's moves change slowest."""
    masks: npt.NDArray[np.uint64]
    """[teams] the places of the detectives as a set."""


_INTS, _WORDS, _TABLE = types.int32[::1], types.uint64[::1], types.int32[:, ::1]
GRAPH = types.NamedTuple([_INTS, _INTS, _TABLE, _WORDS, _TABLE, _INTS, _INTS, _WORDS], Graph)


@helper
def bit(place):
    """The set of one place."""
    return np.uint64(1) << np.uint64(place)


@helper
def holds(places, place):
    """Whether a set holds a place."""
    return (places >> np.uint64(place)) & np.uint64(1) != np.uint64(0)


@compiled(types.int64(RULES, STATE, _INTS, _INTS, types.int64, types.int64, _INTS, _INTS))
def _join_moves(rules, state, starts, targets, num_places, num_detectives, team_starts, joined):
    """List the joint moves of all teams; if ``joined`` is empty, only count them."""
    s = state.view(PURSUIT_STATE)[0]
    r = rules[:RULES_SIZE].view(PURSUIT_RULES)[0]
    m = map_of(rules, 0)
    total = 0
    for team in range(team_starts.size - 1):
        team_starts[team] = total
        rest, is_team = team, True
        for d in range(num_detectives):
            stride = num_places ** (num_detectives - 1 - d)
            s.last_from[d + 1] = rest // stride
            rest %= stride
            for other in range(1, d + 1):
                is_team &= s.last_from[other] != s.last_from[d + 1]
        if not is_team:
            continue
        for d in range(num_detectives):
            s.place[d + 1] = s.last_from[d + 1]
        # An odometer over the moves of each detective; the log of the spare state has its digits.
        d = 0
        s.log_place[0] = 0
        while d >= 0:
            here = s.last_from[d + 1]
            at = starts[here] + s.log_place[d]
            s.place[d + 1] = here
            s.moved = (1 << d) - 1
            if at >= starts[here + 1]:
                d -= 1
                if d >= 0:
                    s.log_place[d] += 1
                continue
            if not is_free(s, r, rules, m, d + 1, targets[at]):
                s.log_place[d] += 1
                continue
            s.place[d + 1] = targets[at]
            if d < num_detectives - 1:
                d += 1
                s.log_place[d] = 0
                continue
            after = 0
            for piece in range(1, num_detectives + 1):
                after = after * num_places + s.place[piece]
            if joined.size:
                joined[total] = after
            total += 1
            s.log_place[d] += 1
    team_starts[team_starts.size - 1] = total
    return total


class TeamGraph:
    """A small pursuit as graphs of places and teams.

    Args:
        game: a pursuit by the rules of the reduced game.
        try_order: one of ``TRY_ORDERS``.
        distance: ``steps`` between places, or ``manhattan``, by their coordinates.
        seed: of a shuffled order.
    """

    def __init__(
        self, game: Game, try_order: str = "compass", distance: str = "steps", seed: int = 0
    ) -> None:
        """Check the rules and build the tables."""
        assert isinstance(game, Pursuit)
        check_reduced(game)
        o, board = game.options, game.boards[0]
        self.board = board
        self.num_places = board.num_slots
        self.num_detectives = o.num_detectives
        self.num_teams: int = self.num_places**o.num_detectives
        self.period = int(o.reveals) if isinstance(o.reveals, int) else 0
        self.rounds = o.rounds
        ways = _ordered(board, try_order, seed)
        starts = np.cumsum([0, *(len(way) for way in ways)]).astype(np.int32)
        targets = np.array([place for way in ways for place in way], np.int32)
        near = np.array([sum(1 << place for place in way) for way in ways], np.uint64)
        places = np.array(np.unravel_index(np.arange(self.num_teams), self.shape), np.int32).T
        team_starts = np.zeros(self.num_teams + 1, np.int32)
        state = np.zeros(game.state_size, np.uint8)
        record = state.view(PURSUIT_STATE)[0]
        record.tickets[:] = -1
        known = game.rules, state, starts, targets, self.num_places, self.num_detectives
        num_moves = _join_moves(*known, team_starts, np.zeros(0, np.int32))
        joined = np.zeros(num_moves, np.int32)
        if num_moves:
            _join_moves(*known, team_starts, joined)
        masks = np.bitwise_or.reduce(np.uint64(1) << places.astype(np.uint64), axis=1)
        self.arrays = Graph(
            starts,
            targets,
            np.ascontiguousarray(_distances(board, ways, distance), np.int32),
            near,
            np.ascontiguousarray(places),
            team_starts,
            joined,
            masks,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Of a table with a place for every team."""
        return (self.num_places,) * self.num_detectives

    @property
    def num_roots(self) -> int:
        """Positions with the fugitive: ``places * team + place``."""
        return self.num_teams * self.num_places

    @property
    def is_start(self) -> npt.NDArray[np.bool_]:
        """[roots] whether all pieces stand on different places of the board."""
        here = self.arrays.places
        is_node = np.zeros(self.num_places, bool)
        is_node[[node.number - 1 for node in self.board.nodes]] = True
        is_team = np.asarray(is_node[here].all(axis=1))
        is_team &= (np.diff(np.sort(here, axis=1)) > 0).all(axis=1)
        fugitives = np.arange(self.num_places)
        found = is_team[:, None] & is_node & (here[:, :, None] != fugitives).all(axis=1)
        starts: npt.NDArray[np.bool_] = found.ravel()
        return starts

    def team(self, *places: int) -> int:
        """The number of a team."""
        number = 0
        for place in places:
            number = number * self.num_places + int(place)
        return number

    def root(self, *places: int) -> int:
        """The number of a position: the detectives' places, then the fugitive's."""
        return self.team(*places[:-1]) * self.num_places + int(places[-1])


@lru_cache(maxsize=16)
def team_graph(
    game: Game, try_order: str = "compass", distance: str = "steps", seed: int = 0
) -> TeamGraph:
    """The graph of a game, built once."""
    return TeamGraph(game, try_order, distance, seed)


def check_reduced(game: Pursuit) -> None:
    """Refuse, in one line, a game that is not by the rules of the reduced one."""
    o: PursuitOptions = game.options
    wanted: dict[str, Any] = {
        "first": "detectives",
        "moving": "at_once",
        "starts": "drawn",
        "start_is_known": True,
        "detective_tickets": "unlimited",
        "fugitive_tickets": "unlimited",
        "black_tickets": 0,
        "double_moves": 0,
        "may_share": False,
        "may_step_on_detective": False,
    }
    for name, value in wanted.items():
        if getattr(o, name) != value:
            raise OptionError(
                f"this player needs the rules of the reduced game: set {name}={value!r}, "
                "or take preset='reduced'"
            )
    board = game.boards[0]
    if len(game.boards) > 1 or len(board.transports) > 1:
        raise OptionError("this player needs one board with one transport, such as board='grid'")
    if not isinstance(o.reveals, int) or o.reveals < 1:
        raise OptionError("this player needs sightings at equal intervals: set reveals to a number")
    num_teams = math.prod([board.num_slots] * o.num_detectives)
    if board.num_slots > MOST_PLACES or num_teams > MOST_TEAMS:
        raise OptionError(
            f"{o.num_detectives} detectives on {board.num_slots} places are too many for this "
            f"player: at most {MOST_PLACES} places and {MOST_TEAMS} ways to place the detectives"
        )


def _ordered(board: Board, try_order: str, seed: int) -> list[list[int]]:
    """By place, from 0: where streets lead, in the order of trying."""
    if try_order not in TRY_ORDERS:
        raise OptionError(f"try_order must be {', '.join(TRY_ORDERS)}, not '{try_order}'")
    rng = stream(seed, "try order")
    found: list[list[int]] = [[] for _ in range(board.num_slots)]
    for node in board.nodes:
        others = [board.places[number] for number in board.neighbours(node.number)]
        if try_order == "compass":
            others.sort(key=lambda other: _direction(other.x - node.x, other.y - node.y))
        elif try_order == "shuffled":
            draws = {other.number: uniform(rng) for other in others}
            others.sort(key=lambda other: draws[other.number])
        found[node.number - 1] = [other.number - 1 for other in others]
    return found


def _direction(dx: float, dy: float) -> int:
    """Up, down, right, left: whichever an edge mostly goes; ``y`` grows downwards."""
    if abs(dy) >= abs(dx):
        return 0 if dy < 0 else 1
    return 2 if dx > 0 else 3


def _distances(board: Board, ways: list[list[int]], distance: str) -> npt.NDArray[np.int64]:
    size = len(ways)
    if distance == "manhattan":
        at = np.zeros((size, 2))
        for node in board.nodes:
            at[node.number - 1] = node.x, node.y
        steps: npt.NDArray[np.int64] = np.abs(at[:, None] - at).sum(axis=2).round().astype(np.int64)
        return steps
    if distance != "steps":
        raise OptionError(f"distance must be steps or manhattan, not '{distance}'")
    return distances(board, size)


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
        teams = np.ravel_multi_index(tuple(image[places][:, order].T), graph.shape)
        roots = (teams[:, None] * graph.num_places + image[fugitives]).ravel()
        elements[roots < best] = number
        best = np.minimum(best, roots)
        slots[number] = _turned_slots(graph, teams)
    return Symmetry(best.astype(np.int32), elements.astype(np.int32), slots)


def num_classes(graph: TeamGraph, symmetry: Symmetry) -> int:
    """How many positions stand for all."""
    return len(np.unique(symmetry.roots[graph.is_start]))


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
