"""How fast No Thanks! is played and solved: ``python -m benchmarks.no_thanks_speed``.

``random_games``
    Whole games of three players who move at random, deal included: our compiled loop and the
    shortest Python class that knows the rules (below). Both shuffle, ask for the legal moves at
    every decision, and score at the end.
``random_steps``
    Moves with the observation and the legal moves of whoever is next, games begun again at once:
    1024 games in one ``VectorEnv``, and the same class with the same observation.
``same_source``
    Microseconds for one random game by the very same functions, compiled and not
    (``NUMBA_DISABLE_JIT=1``).
``solve_*``
    Known decks of the small game (eight cards of 3 to 14, six chips), searched to the end with the
    cap assumed: our search in two versions. ``solve_pruned`` sets placement pruning with taking
    first against no pruning; ``solve_table`` sets pruning and a transposition table against no
    pruning. Six cards keep a round short.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.search import Searcher, SearchSettings
from benchmarks.harness import Job, main
from benchmarks.timing import Chunk
from envs.adapters.vector import VectorEnv
from envs.core import fill_streams, new_rng, random_playouts, stream
from envs.core.batch import random_actions
from envs.no_thanks import NoThanks

__all__ = ["JOBS", "PlainNoThanks"]

NUM_GAMES = 5000
NUM_PLAIN_GAMES = 20
NUM_ROWS = 1024
NUM_STEPS = 4096
NUM_PLAIN_STEPS = 500
PAY, TAKE = 0, 1


class PlainNoThanks:
    """The rules as one would first write them: sets of cards, lists of chips."""

    def __init__(self, rng: random.Random, num_players: int = 3) -> None:
        """Shuffle and turn up the first card."""
        cards = list(range(3, 36))
        rng.shuffle(cards)
        self.deck = cards[9:]
        self.chips = [11] * num_players
        self.cards: list[set[int]] = [set() for _ in range(num_players)]
        self.pot = 0
        self.turn = 0
        self.card = self.deck.pop()
        self.is_over = False

    def legal_actions(self) -> list[int]:
        """Pay, if there is a chip, or take."""
        return [PAY, TAKE] if self.chips[self.turn] > 0 else [TAKE]

    def step(self, action: int) -> None:
        """Pay for the card or take it."""
        if action not in self.legal_actions():
            raise ValueError(f"{action} is not legal")
        if action == PAY:
            self.chips[self.turn] -= 1
            self.pot += 1
            self.turn = (self.turn + 1) % len(self.chips)
            return
        self.cards[self.turn].add(self.card)
        self.chips[self.turn] += self.pot
        self.pot = 0
        if self.deck:
            self.card = self.deck.pop()
        else:
            self.is_over = True

    def observation(self) -> npt.NDArray[np.float32]:
        """Seat, card, chips and everybody's cards from the player to move on, as in our game."""
        n = len(self.chips)
        seats = [(self.turn + ahead) % n for ahead in range(n)]
        parts = [
            [float(seat == self.turn) for seat in range(n)],
            [float(card == self.card) for card in range(3, 36)],
            [self.pot / 33, (len(self.deck) + 1) / 24],
            [self.chips[seat] / 33 for seat in seats],
            [float(ahead == 0) for ahead in range(n)],
            *([float(card in self.cards[seat]) for card in range(3, 36)] for seat in seats),
        ]
        return np.array([number for part in parts for number in part], np.float32)

    def scores(self) -> list[int]:
        """Chips minus lead cards."""
        return [
            chips - sum(card for card in cards if card - 1 not in cards)
            for chips, cards in zip(self.chips, self.cards, strict=True)
        ]


def plain_games() -> Chunk:
    """Random games of the class above."""
    rng = random.Random(0)  # noqa: S311, the quickest generator that plain Python has

    def chunk() -> int:
        totals = [0, 0, 0]
        for _ in range(NUM_PLAIN_GAMES):
            game = PlainNoThanks(rng)
            while not game.is_over:
                game.step(rng.choice(game.legal_actions()))
            totals = [a + b for a, b in zip(totals, game.scores(), strict=True)]
        return NUM_PLAIN_GAMES

    return chunk


def plain_steps() -> Chunk:
    """Moves of the class above, with observations."""
    rng = random.Random(0)  # noqa: S311, the quickest generator that plain Python has
    moves = _plain_moves(rng)

    def chunk() -> int:
        for _ in range(NUM_PLAIN_STEPS):
            next(moves)
        return NUM_PLAIN_STEPS

    return chunk


def _plain_moves(rng: random.Random) -> Iterator[tuple[npt.NDArray[np.float32], list[int]]]:
    while True:
        game = PlainNoThanks(rng)
        while not game.is_over:
            legal = game.legal_actions()
            yield game.observation(), legal
            game.step(rng.choice(legal))


def our_steps() -> Chunk:
    """Random moves in all rows of a ``VectorEnv``."""
    env = VectorEnv(NoThanks(), NUM_ROWS)
    shown = env.reset(seed=0)
    rngs = np.empty((NUM_ROWS, 4), np.uint64)
    fill_streams(stream(0, "choice"), np.arange(NUM_ROWS), rngs)

    def chunk() -> int:
        nonlocal shown
        for _ in range(NUM_STEPS // NUM_ROWS):
            shown = env.step(random_actions(shown.masks, rngs))
        return NUM_STEPS

    return chunk


SAME_SOURCE = """
from benchmarks.no_thanks_speed import microseconds_per_game
print(microseconds_per_game(5))
"""


def microseconds_per_game(num_games: int) -> float:
    """Of random games, the first few not counted."""
    game, rng = NoThanks(), new_rng(0)
    random_playouts(game, 2, rng)
    start = time.perf_counter()
    random_playouts(game, num_games, rng)
    return 1e6 * (time.perf_counter() - start) / num_games


def same_source_compiled() -> Chunk:
    """In this process."""
    return lambda: microseconds_per_game(NUM_GAMES)


def same_source_plain() -> Chunk:
    """In a process of its own, in which nothing is compiled."""

    def chunk() -> float:
        finished = subprocess.run(
            [sys.executable, "-c", SAME_SOURCE],
            env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
            cwd=Path(__file__).resolve().parents[1],
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
        return float(finished.stdout)

    return chunk


def our_games() -> Chunk:
    """Random games in one compiled call."""
    game, rng = NoThanks(), new_rng(0)

    def chunk() -> int:
        return random_playouts(game, NUM_GAMES, rng).num_games

    return chunk


def solved_decks(**settings: Any) -> Chunk:
    """Search decks of six cards to the end, one after the other."""
    game = NoThanks("small", removed=6)
    chosen = SearchSettings(**{"table_bits": 0, "assumed": {"cap": True}, **settings})
    searcher, rng = Searcher(game, chosen), np.random.default_rng(0)
    decks = [rng.permutation(game.options.values).tolist() for _ in range(16)]
    states = [game.deal(deck[: game.options.deck_size]).state for deck in decks]
    at = 0

    def chunk() -> int:
        nonlocal at
        searcher.forget()
        searcher.search(states[at % len(states)])
        at += 1
        return 1

    return chunk


NO_PRUNING = partial(solved_decks, pruning="none")
JOBS = [
    Job(
        "random_games",
        "whole games at random: compiled, and a straightforward Python class",
        our_games,
        plain_games,
        peer_name="plain Python",
        unit="games/s",
        target=12.0,
    ),
    Job(
        "random_steps",
        "moves with observations and legal moves: 1024 games at once, and the Python class",
        our_steps,
        plain_steps,
        peer_name="plain Python",
        target=50.0,
    ),
    Job(
        "same_source",
        "one random game by the same functions, compiled and as plain Python",
        same_source_compiled,
        same_source_plain,
        peer_name="not compiled",
        unit="us",
        target=200.0,
        is_duration=True,
    ),
    Job(
        "solve_pruned",
        "known decks of six cards to the end: placement pruning, taking first",
        solved_decks,
        NO_PRUNING,
        peer_name="no pruning",
        unit="decks/s",
    ),
    Job(
        "solve_table",
        "known decks of six cards to the end: pruning and a transposition table",
        partial(solved_decks, table_bits=17),
        NO_PRUNING,
        peer_name="no pruning",
        unit="decks/s",
    ),
]


if __name__ == "__main__":
    raise SystemExit(main("no_thanks_speed", __doc__.splitlines()[0], JOBS))
