"""How fast No Thanks! is played and solved: ``python -m benchmarks.no_thanks_speed``.

``random_games``
    Whole games of three players who move at random, deal included: our compiled loop, and a class
    with the same interface as our games (chance outcomes with probabilities, legal actions, a step
    that refuses what is illegal, returns) played as OpenSpiel's examples play a game. This is the
    straightforward Python version of the promise, because it is all that ours can do and no more:
    any search or solver could use it. Its generator is Python's own: NumPy's takes three times as
    long for single draws and would flatter us.
``shortest_games``
    The same against the shortest class that knows the rules, as programs that only simulate have
    it: a shuffled list for a deck, nothing between two deals. A game of it takes 39 us; two hundred
    times as fast would be 0.2 us for 72 draws, moves and cards, which no compiled loop can do.
``random_steps``
    Moves with the observation and the legal moves of whoever is next, games begun again at once:
    1024 games in one ``VectorEnv``, and the shortest class with the same observation.
``same_source``
    Microseconds for one random game by the very same functions, compiled and not
    (``NUMBA_DISABLE_JIT=1``).
``alpha_n``
    Nodes a second of max^n with placement pruning, taking first, cap assumed: our search, and a
    recursion in Python over copies of the shortest class. Both search the same trees to the end.
    ``deepcopy`` is what a straightforward version has, one that leaves the game's class as it is.
    ``alpha_n_copied`` has a copy that is written by hand, field by field: six times as fast, and
    more than 200 times is then out of reach for a search that serves every game by its kernels.
    ``alpha_n_solved`` sets the answer against that better version, decks a second by the solver.
``solve_*``
    Known decks of the small game (eight cards of 3 to 14, six chips), searched to the end.
    ``solve_pruned`` sets placement pruning with taking first against no pruning, ``solve_table``
    pruning and a transposition table, both on six cards with the cap assumed; ``solve_rounds`` sets
    the solver against no pruning on the small game itself, without the cap, and ``solve_capped``
    with it.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.solver import Solver, SolverSettings
from agents.max_n import Searcher, SearchSettings
from benchmarks.harness import Job, main
from benchmarks.no_thanks_peers import PlainNoThanks, StatefulNoThanks, alpha_n
from benchmarks.timing import Chunk
from envs.adapters.vector import VectorEnv
from envs.core.batch import random_actions
from envs.core.playouts import random_playouts
from envs.core.rng import fill_streams, new_rng, stream
from envs.no_thanks import NoThanks

__all__ = ["JOBS"]

NUM_GAMES = 5000
NUM_PLAIN_GAMES = 20
NUM_STATEFUL_GAMES = 4
NUM_ROWS = 1024
NUM_STEPS = 4096
NUM_DECKS = 8
NUM_PLAIN_STEPS = 500
SMALL_TREE = 59_907_794
"""Nodes of the small game without pruning, whatever the cards."""


def stateful_games() -> Chunk:
    """Random games of the class above, chance outcome by chance outcome."""
    rng = random.Random(0)  # noqa: S311, the quickest generator that plain Python has

    def chunk() -> int:
        totals = [0.0, 0.0, 0.0]
        for _ in range(NUM_STATEFUL_GAMES):
            game = StatefulNoThanks()
            while game.turn != game.OVER:
                if game.turn == game.CHANCE:
                    outcomes, probs = zip(*game.chance_outcomes(), strict=True)
                    action = rng.choices(outcomes, probs)[0]
                else:
                    action = rng.choice(game.legal_actions())
                game.apply_action(action)
            totals = [a + b for a, b in zip(totals, game.returns(), strict=True)]
        return NUM_STATEFUL_GAMES

    return chunk


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


def solved_rounds(cap: bool = False, removed: int = 4) -> Chunk:
    """The small game by the solver, one deck after the other."""
    game = NoThanks("small", removed=removed)
    solver, states = Solver(game, SolverSettings(cap=cap, table_bits=16)), small_decks(game)
    at = 0

    def chunk() -> int:
        nonlocal at
        solver.forget()
        solver.solve(states[at % len(states)])
        at += 1
        return 1

    return chunk


def unpruned_small(cap: bool = False) -> Chunk:
    """The small game by plain max^n: decks a second, from nodes a second and the size of its tree.

    A whole search of 60 million nodes would be one measurement of several seconds. With the cap the
    size is another for every deck; the mean of them is counted beforehand.
    """
    game = NoThanks("small")
    chosen = SearchSettings(pruning="none", table_bits=0, assumed={"cap": cap})
    states, tree = small_decks(game), float(SMALL_TREE)
    if cap:
        whole = Searcher(game, chosen)
        tree = float(np.mean([whole.search(state).counters["nodes"] for state in states]))
    searcher = Searcher(game, replace(chosen, max_nodes=500_000))
    at = 0

    def chunk() -> float:
        nonlocal at
        nodes = searcher.search(states[at % len(states)]).counters["nodes"]
        at += 1
        return nodes / tree

    return chunk


def small_decks(game: NoThanks) -> list[npt.NDArray[np.uint8]]:
    """A few decks, the same for everybody."""
    rng = np.random.default_rng(0)
    decks = [rng.permutation(game.options.values).tolist() for _ in range(NUM_DECKS)]
    return [game.deal(deck[: game.options.deck_size]).state for deck in decks]


def our_alpha_n() -> Chunk:
    """Nodes of our search with placement pruning."""
    game = NoThanks("small", removed=6)
    chosen = SearchSettings(table_bits=0, assumed={"cap": True})
    searcher, states = Searcher(game, chosen), small_decks(game)
    at = 0

    def chunk() -> int:
        nonlocal at
        at += 1
        return searcher.search(states[at % len(states)]).counters["nodes"]

    return chunk


def plain_alpha_n(
    copied: Callable[[PlainNoThanks], PlainNoThanks] = deepcopy, counts_decks: bool = False
) -> Chunk:
    """Nodes, or decks, of the same search in Python, over copies of the game."""
    game = NoThanks("small", removed=6)
    decks = [
        [game.value(int(card)) for card in game.record(state).deck[: game.options.deck_size]]
        for state in small_decks(game)
    ]
    at = 0

    def chunk() -> int:
        nonlocal at
        at += 1
        root = PlainNoThanks(random.Random(0))  # noqa: S311, the deck is replaced
        deck = decks[at % len(decks)]
        root.deck, root.card, root.chips = deck[:0:-1], deck[0], [6, 6, 6]
        counts = [0]
        alpha_n(root, None, None, counts, copied)
        return 1 if counts_decks else counts[0]

    return chunk


NO_PRUNING = partial(solved_decks, pruning="none")
JOBS = [
    Job(
        "random_games",
        "whole games at random: compiled, and a Python class with the same interface",
        our_games,
        stateful_games,
        peer_name="plain Python",
        unit="games/s",
        target=200.0,
    ),
    Job(
        "shortest_games",
        "whole games at random: compiled, and the shortest Python class",
        our_games,
        plain_games,
        peer_name="shortest Python",
        unit="games/s",
        target=30.0,
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
        "alpha_n",
        "nodes of max^n with placement pruning: compiled, and a recursion over copies in Python",
        our_alpha_n,
        plain_alpha_n,
        peer_name="plain Python",
        unit="nodes/s",
        target=200.0,
    ),
    Job(
        "alpha_n_copied",
        "the same, and a recursion in Python over copies that are written by hand",
        our_alpha_n,
        partial(plain_alpha_n, PlainNoThanks.copy),
        peer_name="plain Python",
        unit="nodes/s",
    ),
    Job(
        "alpha_n_solved",
        "decks of six cards, cap assumed: our solver, and that recursion over copies by hand",
        partial(solved_rounds, cap=True, removed=6),
        partial(plain_alpha_n, PlainNoThanks.copy, counts_decks=True),
        peer_name="plain Python",
        unit="decks/s",
        target=200.0,
    ),
    Job(
        "solve_rounds",
        "known decks of the small game: the solver, and max^n without pruning",
        solved_rounds,
        unpruned_small,
        peer_name="no pruning",
        unit="decks/s",
        target=100.0,
    ),
    Job(
        "solve_capped",
        "the same, both with the cap assumed, which makes the trees a third as large",
        partial(solved_rounds, cap=True),
        partial(unpruned_small, cap=True),
        peer_name="no pruning",
        unit="decks/s",
        target=100.0,
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
