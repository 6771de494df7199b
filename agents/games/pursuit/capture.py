"""Capture tables: in how many rounds detectives catch a fugitive whom they always see, exactly.

For any board and one to three detectives, by the original order of play (he moves, then each of
them, in whatever order they like) with tickets for every move. Retrograde analysis: first all
positions in which he is caught in one round whatever he does, then in two, and so on until nothing
is added. What is left he escapes from for ever.

The sets of places from which he is lost are words of bits, one set for every team, and a round is
taken apart into the moves of single detectives: so many have moved, so many have not. That is what
makes three detectives on 200 stations, 263 million positions, a matter of a minute; a joint move at
once would multiply the branches of three.

A table is a bound for the real game, where tickets run out and he is hidden most of the time: who
gets away here gets away there, if he plays well.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from common.errors import OptionError
from envs.core.compiling import compiled, helper
from envs.core.records import Grid, Row, tuple_type
from envs.pursuit.board import Board
from envs.pursuit.tables import ways

ESCAPES = 0
"""In a table: he is never caught."""
MOST_DETECTIVES = 3
MOST_ROUNDS = 255

Sets = npt.NDArray[np.uint64]


class Streets(NamedTuple):
    """What compiled code reads; places are numbered from 0."""

    starts: Row[np.int32]
    """[places + 1] where the detectives' ways from each place begin in ``targets``."""
    targets: Row[np.int32]
    near: Grid[np.uint64]
    """[places, words] where the fugitive can go, by any transport."""
    everywhere: Row[np.uint64]
    """[words] the places of the board."""


STREETS, _SETS, _TEAMS = tuple_type(Streets), types.uint64[:, ::1], types.int16[:, ::1]


@helper
def lowest(places):
    """The lowest place of a set that is not empty: the ones below its lowest bit, counted."""
    below = (places & (~places + np.uint64(1))) - np.uint64(1)
    below -= (below >> np.uint64(1)) & np.uint64(0x5555555555555555)
    below = (below & np.uint64(0x3333333333333333)) + (
        (below >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    below = (below + (below >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((below * np.uint64(0x0101010101010101)) >> np.uint64(56))


@helper
def num_sets(n, k):
    """How many sets of ``k`` of ``n`` there are."""
    if k == 0:
        return 1
    if k == 1:
        return n
    if k == 2:
        return n * (n - 1) // 2
    return n * (n - 1) * (n - 2) // 6


@helper
def rank(places, size):
    """The number of a set of up to three places, given in rising order."""
    number = np.int64(0)
    for i in range(size):
        number += num_sets(np.int64(places[i]), i + 1)
    return number


@helper
def put_in(places, size, place, out):
    """Write a set with one place more, in rising order."""
    at = size
    while at > 0 and places[at - 1] > place:
        out[at] = places[at - 1]
        at -= 1
    out[at] = place
    for i in range(at):
        out[i] = places[i]


@helper
def is_in(places, size, place):
    """Whether a set holds a place."""
    found = False
    for i in range(size):
        found |= places[i] == place
    return found


@compiled(
    types.void(
        STREETS, types.int64, types.int64, _TEAMS, _TEAMS, _SETS, _SETS, types.int64[:, ::1], _SETS
    )
)
def _move_one(streets, num_moved, num_waiting, moved_teams, waiting_teams, later, done, room, out):
    """Where he is lost before one more detective moves, from where he is lost after.

    Args:
        streets: the board.
        num_moved: detectives who have moved in this round.
        num_waiting: those who have not.
        moved_teams: [sets, num_moved] all sets of places of the former.
        waiting_teams: [sets, num_waiting] and of the latter.
        later: [.., words] after the move: by those who have moved, then by those who have not.
        done: [teams, words] when everybody has moved.
        room: [4, 4] memory.
        out: [.., words] before the move.
    """
    num_words = out.shape[1]
    moved, waiting, team = room[0], room[1], room[2]
    num_rests = num_sets(streets.near.shape[0], num_waiting - 1)
    for i in range(moved_teams.shape[0]):
        for j in range(waiting_teams.shape[0]):
            at = i * waiting_teams.shape[0] + j
            for word in range(num_words):
                out[at, word] = np.uint64(0)
            is_team = True
            for k in range(num_waiting):
                is_team &= not is_in(moved_teams[i], num_moved, waiting_teams[j, k])
            if not is_team:
                continue
            has_moved = False
            for k in range(num_waiting):
                place = waiting_teams[j, k]
                num_rest = 0
                for other in range(num_waiting):
                    if other != k:
                        waiting[num_rest] = waiting_teams[j, other]
                        num_rest += 1
                base = rank(waiting, num_rest)
                for way in range(streets.starts[place], streets.starts[place + 1]):
                    target = streets.targets[way]
                    if is_in(moved_teams[i], num_moved, target):
                        continue
                    if is_in(waiting, num_rest, target):
                        continue
                    has_moved = True
                    put_in(moved_teams[i], num_moved, target, moved)
                    index = rank(moved, num_moved + 1) * num_rests + base
                    for word in range(num_words):
                        out[at, word] |= later[index, word]
            if not has_moved:
                # Nobody of the others can move: they stay.
                for k in range(num_moved):
                    team[k] = moved_teams[i, k]
                size = num_moved
                for k in range(num_waiting):
                    put_in(team, size, waiting_teams[j, k], moved)
                    size += 1
                    for word in range(size):
                        team[word] = moved[word]
                index = rank(team, size)
                for word in range(num_words):
                    out[at, word] = done[index, word]


@compiled(types.int64(STREETS, _TEAMS, types.int64, _SETS, _SETS, _SETS, types.uint8[:, ::1]))
def _move_fugitive(streets, teams, number, before_team, lost, done, rounds):
    """Add the positions that are lost in ``number`` rounds; how many there are."""
    num_words, num_new = lost.shape[1], 0
    for i in range(teams.shape[0]):
        for word in range(num_words):
            lost[i, word] = streets.everywhere[word]
        for k in range(teams.shape[1]):
            place = teams[i, k]
            lost[i, place >> 6] &= ~(np.uint64(1) << np.uint64(place & 63))
        # Whoever is next to a place that is safe is not lost.
        for word in range(num_words):
            safe = streets.everywhere[word] & ~before_team[i, word]
            for k in range(teams.shape[1]):
                place = teams[i, k]
                if place >> 6 == word:
                    safe &= ~(np.uint64(1) << np.uint64(place & 63))
            while safe != np.uint64(0):
                place = 64 * word + lowest(safe)
                safe &= safe - np.uint64(1)
                for other in range(num_words):
                    lost[i, other] &= ~streets.near[place, other]
        for word in range(num_words):
            fresh = lost[i, word] & ~done[i, word]
            done[i, word] |= fresh
            while fresh != np.uint64(0):
                num_new += 1
                rounds[i, 64 * word + lowest(fresh)] = number
                fresh &= fresh - np.uint64(1)
    return num_new


@dataclass(frozen=True)
class CaptureTable:
    """Rounds to a catch, with the fugitive to move and everybody seen."""

    places: tuple[int, ...]
    """The places of the board, from 0; tables are by their order."""
    table: npt.NDArray[np.uint8]
    """[teams, places] by team the rounds until he is caught, or ``ESCAPES``."""
    num_positions: int
    """With all pieces on different places."""
    counts: tuple[int, ...]
    """How many of them are lost in 1, 2, ... rounds."""
    num_bytes: int
    """The most memory that tables took while it was made."""

    @property
    def share_lost(self) -> float:
        """Share of all positions from which he cannot get away."""
        return sum(self.counts) / self.num_positions


def capture_table(board: Board, num_detectives: int, has_ferry: bool = True) -> CaptureTable:
    """Solve a board for so many detectives.

    >>> from envs.pursuit.generators import grid_board
    >>> capture_table(grid_board(3, 3), 2).share_lost
    1.0

    Args:
        board: any board.
        num_detectives: from one to three.
        has_ferry: whether the fugitive can use transports that need a black ticket.
    """
    if not 1 <= num_detectives <= MOST_DETECTIVES:
        raise OptionError(f"capture tables are for 1 to {MOST_DETECTIVES} detectives")
    streets = _streets(board, has_ferry)
    size, num_words = streets.near.shape
    teams = [_teams(size, k) for k in range(num_detectives + 1)]
    done = _own_places(teams[num_detectives], num_words)
    rounds = np.zeros((len(done), size), np.uint8)
    stages = [
        np.zeros((len(teams[k]) * len(teams[num_detectives - k]), num_words), np.uint64)
        for k in range(num_detectives)
    ]
    lost, room = np.zeros_like(done), np.zeros((4, 4), np.int64)
    counts: list[int] = []
    for number in range(1, MOST_ROUNDS):
        later = done
        for k in range(num_detectives - 1, -1, -1):
            waiting = num_detectives - k
            known = streets, k, waiting, teams[k], teams[waiting]
            _move_one(*known, later, done, room, stages[k])
            later = stages[k]
        found = _move_fugitive(streets, teams[-1], number, stages[0], lost, done, rounds)
        if found == 0:
            break
        counts.append(int(found))
    tables: list[npt.NDArray[Any]] = [done, lost, rounds, *stages, *teams]
    return CaptureTable(
        tuple(node.number - 1 for node in board.nodes),
        rounds,
        comb(size, num_detectives) * (size - num_detectives),
        tuple(counts),
        sum(table.nbytes for table in tables),
    )


def _streets(board: Board, has_ferry: bool) -> Streets:
    index = {node.number - 1: i for i, node in enumerate(board.nodes)}
    size = len(index)
    own: list[set[int]] = [set() for _ in range(size)]
    his: list[set[int]] = [set() for _ in range(size)]
    all_ways = ways(board, board.num_slots, has_black=True)
    for kind, kind_ways in enumerate(all_ways):
        is_black = kind == len(all_ways) - 1
        for place, i in index.items():
            targets = {index[target] for target in kind_ways[place]}
            if not is_black:
                own[i] |= targets
            if has_ferry or not is_black:
                his[i] |= targets
    num_words = -(-size // 64)
    near = np.zeros((size, num_words), np.uint64)
    for i, reached in enumerate(his):
        for target in reached:
            near[i, target >> 6] |= np.uint64(1 << (target & 63))
    everywhere = np.zeros(num_words, np.uint64)
    for i in range(size):
        everywhere[i >> 6] |= np.uint64(1 << (i & 63))
    return Streets(
        np.cumsum([0, *(len(some) for some in own)]).astype(np.int32),
        np.array([target for some in own for target in sorted(some)], np.int32),
        near,
        everywhere,
    )


def _teams(size: int, count: int) -> npt.NDArray[np.int16]:
    """All sets of so many places, each in rising order, in the order of their ranks."""
    if count == 0:
        return np.zeros((1, 0), np.int16)
    places = chain.from_iterable(combinations(range(size), count))
    teams = np.fromiter(places, np.int16).reshape(-1, count)
    # Ranks grow with the last place first.
    return np.ascontiguousarray(teams[np.lexsort(teams.T)])


def _own_places(teams: npt.NDArray[np.int16], num_words: int) -> Sets:
    found = np.zeros((len(teams), num_words), np.uint64)
    rows = np.arange(len(teams))
    for k in range(teams.shape[1]):
        place = teams[:, k].astype(np.int64)
        found[rows, place >> 6] |= np.uint64(1) << (place & 63).astype(np.uint64)
    return found
