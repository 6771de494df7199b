"""Options and boards as the one array that kernels read, and the boards of a game.

**Balance.** How fair a map is shows when simple players meet on it many times, detectives who head
for where the fugitive was last seen and a fugitive who keeps away from the nearest: the balance
score is the share of games that the detectives win. With ``max_imbalance`` maps whose score is too
far from one half are drawn anew.
"""

from __future__ import annotations

import os
from collections import deque
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from common.errors import OptionError, one_line
from envs.core import kernels
from envs.core.compiling import compiled
from envs.core.kernels import CHANCE, INT, OVER, RNG
from envs.core.rng import stream
from envs.pursuit.board import Board, BoardError, load_board
from envs.pursuit.generators import grid_board, random_board
from envs.pursuit.kernels import new, plain_choice, sample, step, turn
from envs.pursuit.options import (
    ESCAPED,
    FAR,
    MAP,
    MAP_SIZE,
    MAX_LOG,
    NOTHING,
    RULES,
    RULES_SIZE,
    SHIPPED,
    STATE,
    UNLIMITED,
    PursuitOptions,
)

Table = npt.NDArray[np.int32]


def pack_rules(options: PursuitOptions, boards: tuple[Board, ...]) -> Table:
    """The rules record, a record for every map, and the tables these point to."""
    header = _header(options, boards)
    num_slots, black = int(header.num_slots), int(header.black)
    parts: list[Table] = []
    end = RULES_SIZE + MAP_SIZE * len(boards)

    def put(values: Any) -> int:
        nonlocal end
        part = np.asarray(values, np.int32).ravel()
        parts.append(part)
        end += len(part)
        return end - len(part)

    maps = np.zeros(len(boards), MAP)
    for m, board in zip(maps, boards, strict=True):
        numbers = np.array([node.number - 1 for node in board.nodes])
        m["num_nodes"], m["nodes"] = len(numbers), put(numbers)
        for role, cards in (
            ("detective", board.detective_starts),
            ("fugitive", board.fugitive_starts),
        ):
            starts = np.array(cards) - 1 if cards else numbers
            m[f"num_{role}_starts"], m[f"{role}_starts"] = len(starts), put(starts)
        _check_starts(options, board)
        all_ways = ways(board, num_slots, has_black=black != NOTHING)
        m["universal"] = NOTHING
        for kind, kind_ways in enumerate(all_ways):
            first = end + num_slots + 1
            counts = [len(targets) for targets in kind_ways]
            m["ways"][kind] = put(first + np.cumsum([0, *counts]))
            put([target for targets in kind_ways for target in targets])
            if kind != black and m["universal"] == NOTHING and all(kind_ways[i] for i in numbers):
                m["universal"] = kind
        stops = [[len(targets) > 0 for targets in kind_ways] for kind_ways in all_ways]
        m["stops"] = put(stops[: header.num_tickets])
        m["distances"] = put(_packed(distances(board, num_slots)))
    return np.concatenate(
        [np.frombuffer(header.tobytes(), np.int32), np.frombuffer(maps.tobytes(), np.int32), *parts]
    )


def ticket_numbers(tickets: int | tuple[int, ...] | str, board: Board, name: str) -> list[int]:
    """Tickets of each kind at the start, or one line about why they do not fit the board."""
    num_kinds = len(board.tickets)
    if isinstance(tickets, str):
        return [UNLIMITED] * num_kinds
    if isinstance(tickets, int):
        return [tickets] * num_kinds
    if len(tickets) != num_kinds:
        names = ", ".join(transport.name for transport in board.tickets)
        raise OptionError(
            f"{name} lists {len(tickets)} numbers, but '{board.name}' has {num_kinds}: {names}"
        )
    return list(tickets)


def _header(o: PursuitOptions, boards: tuple[Board, ...]) -> Any:
    board = boards[0]
    num_tickets = len(board.tickets)
    num_slots = o.rows * o.columns if o.board == "random" else board.num_slots
    num_kinds = num_tickets + (o.black_tickets > 0)
    r = o.as_record(
        RULES,
        has_seat_each=o.seats == "each",
        num_players=1 + o.num_detectives if o.seats == "each" else 2,
        num_slots=num_slots,
        num_tickets=num_tickets,
        black=num_tickets if o.black_tickets else NOTHING,
        num_kinds=num_kinds,
        double_action=num_kinds * num_slots if o.double_moves else NOTHING,
        pick_action=num_kinds * num_slots + (o.double_moves > 0),
        are_detectives_first=o.first == "detectives",
        are_starts_chosen=o.starts == "chosen",
        does_fugitive_place_first=o.placement_order == "fugitive_first",
        do_stuck_leave=o.stuck_detectives == "leave",
        do_tickets_pass=o.spent_tickets == "fugitive",
        pays_survival=o.rewards == "survival",
        detective_tickets=0,
        fugitive_tickets=0,
        is_reveal=np.isin(np.arange(MAX_LOG), list(o.reveal_moves())),
        num_maps=len(boards),
        shows_map=o.board == "random",
    )[0]
    for name in ("detective_tickets", "fugitive_tickets"):
        r[name][:num_tickets] = ticket_numbers(getattr(o, name), board, name)
    r.fugitive_tickets[num_tickets] = o.black_tickets
    return r


def _check_starts(options: PursuitOptions, board: Board) -> None:
    everywhere = {node.number for node in board.nodes}
    detective = set(board.detective_starts) or everywhere
    fugitive = set(board.fugitive_starts) or everywhere
    if options.starts == "chosen":
        detective = fugitive = everywhere
    most = min(len(detective), len(fugitive | detective) - 1)
    if most < options.num_detectives or (
        fugitive <= detective and len(fugitive) <= options.num_detectives
    ):
        raise OptionError(
            f"{options.num_detectives} detectives and a fugitive are too many for the starts of "
            f"'{board.name}'"
        )


def ways(board: Board, num_slots: int, has_black: bool) -> list[list[list[int]]]:
    """By kind of ticket and place (from 0): where it leads, in rising order."""
    found: list[list[list[int]]] = []
    every: list[set[int]] = [set() for _ in range(num_slots)]
    for transport, pairs in zip(board.transports, board.edges, strict=True):
        targets: list[list[int]] = [[] for _ in range(num_slots)]
        for a, b in pairs:
            targets[a - 1].append(b - 1)
            targets[b - 1].append(a - 1)
            every[a - 1].add(b - 1)
            every[b - 1].add(a - 1)
        if not transport.needs_black:
            found.append([sorted(some) for some in targets])
    if has_black:
        found.append([sorted(some) for some in every])
    return found


def distances(board: Board, num_slots: int) -> npt.NDArray[np.int64]:
    """Steps between all places by the transports that detectives can use: [slots, slots].

    ``FAR`` where there is no way.
    """
    joined: list[set[int]] = [set() for _ in range(num_slots)]
    for kind_ways in ways(board, num_slots, has_black=False):
        for place, targets in enumerate(kind_ways):
            joined[place].update(targets)
    found = np.full((num_slots, num_slots), FAR, np.int64)
    for node in board.nodes:
        start = node.number - 1
        steps, queue = found[start], deque([start])
        steps[start] = 0
        while queue:
            place = queue.popleft()
            for target in joined[place]:
                if steps[target] == FAR:
                    steps[target] = steps[place] + 1
                    queue.append(target)
    return found


def _packed(steps: npt.NDArray[np.int64]) -> Table:
    flat = np.zeros(-(-steps.size // 4) * 4, np.uint8)
    flat[: steps.size] = np.minimum(steps, FAR).ravel()
    return flat.view("<i4")


FOLDER = Path(__file__).resolve().parent / "maps"
NUM_TRIAL_GAMES = 400


def named_board(name: str, rows: int = 5, columns: int = 5) -> Board:
    """A shipped board by its name, or any board file by its path.

    >>> len(named_board("city").nodes)
    200
    """
    if name == "grid":
        return grid_board(rows, columns)
    if name in SHIPPED:
        return load_board(FOLDER / f"{name}.json")
    if not os.path.exists(name):  # which says no to names that no file can have, too
        listing = ", ".join(SHIPPED)
        words = one_line(name, 80)
        raise BoardError(f"there is no board '{words}': name one of {listing}, or a file")
    return load_board(name)


@lru_cache(maxsize=64)
def boards_of(options: PursuitOptions) -> tuple[Board, ...]:
    """The boards that a game with these options is played on."""
    if options.board != "random":
        return (named_board(options.board, options.rows, options.columns),)
    limit = options.max_imbalance

    def is_fair(board: Board) -> bool:
        return limit is None or abs(balance(board, options) - 0.5) <= limit

    numbers = range(options.first_map, options.first_map + options.num_maps)
    return tuple(
        random_board(options.recipe, options.map_seed, number, is_fair) for number in numbers
    )


@lru_cache(maxsize=64)
def rules_of(options: PursuitOptions) -> Table:
    """The rules array of a game with these options, made once."""
    rules = pack_rules(options, boards_of(options))
    rules.setflags(write=False)
    return rules


@compiled(INT(kernels.RULES, kernels.STATE, RNG, INT))
def _count_wins(rules, state, rng, num_games):
    """Let simple players meet; how often detectives win."""
    num_wins = 0
    s = state.view(STATE)[0]
    for _ in range(num_games):
        new(state, rules, 0)
        while turn(state, rules) != OVER:
            if turn(state, rules) == CHANCE:
                step(state, rules, sample(state, rules, rng))
            else:
                step(state, rules, plain_choice(state, rules, rng))
        num_wins += s.reason < ESCAPED
    return num_wins


def balance(
    board: Board, options: PursuitOptions, num_games: int = NUM_TRIAL_GAMES, seed: int = 0
) -> float:
    """The share of games that detectives win on a board when simple players meet.

    >>> 0.0 <= balance(grid_board(5, 5), PursuitOptions(detective_tickets=99), 10) <= 1.0
    True
    """
    rules = pack_rules(options, (board,))
    rules.setflags(write=False)
    state: Any = np.zeros(STATE.itemsize, np.uint8)
    return int(_count_wins(rules, state, stream(seed, "balance"), num_games)) / num_games
