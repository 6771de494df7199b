"""How fast pursuits are: ``python -m benchmarks.pursuit_speed``.

``random_play``
    Random games of Scotland Yard by the original rules on the board with 200 stations and five
    detectives in the order of their numbers, from the start cards to the end, belief included.
    Both sides count moves. The peer has the same rules as one would write them first, with a
    networkx graph, dictionaries and a Counter; the tests hold it to agree with ours move by move.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import partial
from typing import Any

import networkx as nx
import numpy as np

from benchmarks.harness import Chunk, Curve, Job, main
from envs import make_game
from envs.core.engine import random_playouts
from envs.core.rng import new_rng
from envs.pursuit.board import Board
from envs.pursuit.game import Pursuit
from envs.pursuit.tables import named_board

NUM_GAMES = 20


# ---- the peer ------------------------------------------------------------------------------------


class PlainPursuit:
    """One game: ``legal()`` lists moves as ``(ticket, station)``, ``move`` plays one."""

    def __init__(
        self,
        board: Board,
        detectives: list[int],
        fugitive: int,
        rounds: int = 22,
        reveals: tuple[int, ...] = (3, 8, 13, 18, 24),
        tickets: tuple[int, ...] = (11, 8, 4),
    ) -> None:
        """Put the pieces on their start cards."""
        self.graph = nx.MultiGraph()
        for transport, pairs in zip(board.transports, board.edges, strict=True):
            self.graph.add_edges_from(pairs, transport=transport.name)
        names = [transport.name for transport in board.tickets]
        self.secret = {t.name for t in board.transports if t.needs_black}
        self.places: list[int | None] = list(detectives)
        self.tickets = [dict(zip(names, tickets, strict=True)) for _ in detectives]
        self.fugitive = fugitive
        self.black, self.doubles = 5, 2
        self.rounds, self.reveals = rounds, reveals
        self.round, self.num_moves, self.double = 0, 0, 0
        self.winner: str | None = None
        cards = set(board.fugitive_starts) or set(self.graph.nodes)
        self.belief: Counter[int] = Counter(cards - set(detectives))
        self._begin_round()

    def exits(self, place: int) -> list[tuple[str, int]]:
        """All moves of the fugitive from a station."""
        found = set()
        for _, target, transport in self.graph.edges(place, data="transport"):
            if target not in self.places:
                if transport not in self.secret:
                    found.add((transport, target))
                if self.black:
                    found.add(("black", target))
        return sorted(found)

    def detective_moves(self, piece: int) -> list[tuple[str, int]]:
        """All moves of a detective."""
        place, held = self.places[piece], self.tickets[piece]
        return [
            (transport, target)
            for _, target, transport in self.graph.edges(place, data="transport")
            if held.get(transport, 0) and target not in self.places
        ]

    def legal(self) -> list[tuple[str, int]]:
        """What the piece to move may do."""
        if self.piece is not None:
            return self.detective_moves(self.piece)
        moves = self.exits(self.fugitive)
        return [*moves, ("double", 0)] if self.doubles and not self.double else moves

    def move(self, ticket: str, target: int) -> None:
        """Play a move of the piece to move."""
        if self.piece is not None:
            self._move_detective(ticket, target)
        elif ticket == "double":
            self.double, self.doubles = 2, self.doubles - 1
        else:
            self._move_fugitive(ticket, target)

    def _begin_round(self) -> None:
        if self.round == self.rounds:
            self.winner = "fugitive"
            return
        self.round += 1
        self._ask_fugitive()

    def _ask_fugitive(self) -> None:
        self.piece: int | None = None
        if self.exits(self.fugitive):
            self.belief = Counter({at: n for at, n in self.belief.items() if self.exits(at)})
        else:
            self.winner = "detectives"

    def _move_fugitive(self, ticket: str, target: int) -> None:
        before = {at: [move for move in self.exits(at) if move[0] == ticket] for at in self.belief}
        self.black -= ticket == "black"
        self.fugitive = target
        self.num_moves += 1
        after: Counter[int] = Counter()
        for at, moves in before.items():
            for _, place in moves:
                after[place] += self.belief[at]
        self.belief = Counter({target: 1}) if self.num_moves in self.reveals else after
        self.double = max(self.double - 1, 0)
        if self.double:
            self._ask_fugitive()
        else:
            self._next_detective(0)

    def _next_detective(self, first: int) -> None:
        for piece in range(first, len(self.places)):
            place = self.places[piece]
            if place is None:
                continue
            around = {transport for *_, transport in self.graph.edges(place, data="transport")}
            if not any(self.tickets[piece].get(transport, 0) for transport in around):
                self.places[piece] = None
        for piece in range(first, len(self.places)):
            if self.places[piece] is not None and self.detective_moves(piece):
                self.piece = piece
                return
        if all(place is None for place in self.places):
            self.winner = "fugitive"
        else:
            self._begin_round()

    def _move_detective(self, ticket: str, target: int) -> None:
        assert self.piece is not None
        self.places[self.piece] = target
        self.tickets[self.piece][ticket] -= 1
        if target == self.fugitive:
            self.winner = "detectives"
            return
        del self.belief[target]
        self._next_detective(self.piece + 1)


def random_game(board: Board, num_detectives: int, rng: np.random.Generator) -> PlainPursuit:
    """Play one game at random."""
    detectives: Any = rng.choice(board.detective_starts, num_detectives, replace=False).tolist()
    game = PlainPursuit(board, detectives, int(rng.choice(board.fugitive_starts)))
    while game.winner is None:
        moves = game.legal()
        game.move(*moves[int(rng.integers(len(moves)))])
    return game


# ---- both sides ----------------------------------------------------------------------------------


def city(num_detectives: int = 5) -> Pursuit:
    """Scotland Yard on the large board."""
    game = make_game("scotland_yard_v0", moving="in_order", num_detectives=num_detectives)
    assert isinstance(game, Pursuit)
    return game


def phantom(rows: int) -> Pursuit:
    """The Phantom on a square map of so many rows."""
    game = make_game("phantom_v0", rows=rows, columns=rows)
    assert isinstance(game, Pursuit)
    return game


def our_games(game: Pursuit) -> Chunk:
    """Random games; moves are counted without the start cards."""
    rng, starts = new_rng(0), NUM_GAMES * (1 + game.options.num_detectives)
    return lambda: random_playouts(game, NUM_GAMES, rng).num_steps - starts


def our_city_games() -> Chunk:
    """Those that the peer plays, too."""
    return our_games(city())


def plain_games() -> Chunk:
    """One random game of the peer."""
    board, rng = named_board("city"), np.random.default_rng(0)
    return lambda: num_moves(random_game(board, 5, rng))


def num_moves(game: PlainPursuit) -> int:
    """Moves of a finished game: the fugitive's, double moves called, and the detectives'."""
    spent = sum(23 - sum(held.values()) for held in game.tickets)
    return game.num_moves + (2 - game.doubles) + spent


def _growing(make: Any, *numbers: int) -> dict[int, Any]:
    return {n: partial(lambda n: our_games(make(n)), n) for n in numbers}


WHAT = "random games on 200 stations with five detectives, belief included"
PLAIN = "plain Python over networkx"
JOBS = [Job("random_play", WHAT, our_city_games, plain_games, PLAIN, "moves/s", target=200.0)]
BY_DETECTIVES = {"Scotland Yard": _growing(city, *range(1, 7))}
BY_PLACES = {"Phantom": _growing(phantom, 5, 8, 11, 14, 16)}
CURVES = [
    Curve("detectives", "detectives on 200 stations", "detectives", BY_DETECTIVES, "moves/s"),
    Curve("places", "rows and columns of a random map", "rows", BY_PLACES, "moves/s"),
]

if __name__ == "__main__":
    sys.exit(main("pursuit_speed", __doc__, JOBS, CURVES))
