"""How fast pursuits are: ``python -m benchmarks.pursuit_speed``.

``random_play``
    Random games of Scotland Yard by the original rules on the board with 200 stations and five
    detectives in the order of their numbers, from the start cards to the end, belief included.
    Both sides count moves. The peer is ``pursuit_networkx``: the same rules in plain Python over a
    networkx graph, which the tests hold to agree with ours move by move.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np

from benchmarks.growth import Curve
from benchmarks.harness import main
from benchmarks.pursuit_networkx import PlainPursuit, random_game
from benchmarks.report import Job
from benchmarks.timing import Chunk
from envs import make_game
from envs.core.playouts import random_playouts
from envs.core.rng import new_rng
from envs.pursuit.game import Pursuit
from envs.pursuit.tables import named_board

__all__ = ["CURVES", "JOBS"]

NUM_GAMES = 20


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
    rng = new_rng(0)
    num_starts = 1 + game.options.num_detectives

    def chunk() -> int:
        return random_playouts(game, NUM_GAMES, rng).num_steps - num_starts * NUM_GAMES

    return chunk


def plain_games() -> Chunk:
    """One random game of the peer."""
    board, rng = named_board("city"), np.random.default_rng(0)

    def chunk() -> int:
        return num_moves(random_game(board, 5, rng))

    return chunk


def num_moves(game: PlainPursuit) -> int:
    """Moves of a finished game: the fugitive's, double moves called, and the detectives'."""
    spent = sum(23 - sum(held.values()) for held in game.tickets)
    return game.num_moves + (2 - game.doubles) + spent


PEER = "plain Python over networkx"
JOBS = [
    Job(
        "random_play",
        "random games on 200 stations with five detectives, belief included",
        lambda: our_games(city()),
        plain_games,
        peer_name=PEER,
        package="networkx",
        unit="moves/s",
        target=200.0,
    ),
]
CURVES = [
    Curve(
        "detectives",
        "detectives on 200 stations",
        "detectives",
        {"Scotland Yard": {n: partial(lambda n: our_games(city(n)), n) for n in range(1, 7)}},
        unit="moves/s",
    ),
    Curve(
        "places",
        "rows and columns of a random map",
        "rows",
        {
            "Phantom": {
                rows: partial(lambda rows: our_games(phantom(rows)), rows)
                for rows in (5, 8, 11, 14, 16)
            }
        },
        unit="moves/s",
    ),
]

DESCRIPTION = """\
Measure pursuits against plain Python over networkx, both sides in this run and on one core, and
show how our cost grows with detectives and with the size of the map.

The peer comes with: pip install 'masquerade[bench]'
Results go to:       runs/benchmarks/pursuit_speed.json
What both sides do:  the top of benchmarks/pursuit_speed.py"""

if __name__ == "__main__":
    sys.exit(main("pursuit_speed", DESCRIPTION, JOBS, CURVES))
