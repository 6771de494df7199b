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
    Known decks of the small game (eight cards of 3 to 14, six chips), searched to the end:
    ``solve_rounds`` sets the solver against no pruning without the cap, ``solve_capped`` with it.
    (What pruning alone is worth: ``python -m experiments no_thanks --only E1``.)
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from itertools import cycle
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agents.games.no_thanks.solver import NoThanksSolver, SolverSettings
from agents.max_n import Searcher, SearchSettings
from benchmarks import ours
from benchmarks.harness import Chunk, Job, main, times
from envs.core.engine import random_playouts
from envs.core.rng import new_rng
from envs.no_thanks import NoThanks

NUM_GAMES = 5000
NUM_PLAIN_GAMES = 20
NUM_STATEFUL_GAMES = 4
NUM_DECKS = 8
NUM_PLAIN_STEPS = 500
SMALL_TREE = 59_907_794
"""Nodes of the small game without pruning, whatever the cards."""


# ---- No Thanks! in plain Python, as one would first write it -------------------------------------

PAY, TAKE = 0, 1


class PlainNoThanks:
    """The rules as one would first write them: sets of cards, lists of chips."""

    def __init__(self, deck: list[int], num_chips: int = 11) -> None:
        """Three players; the last card of the deck is turned up."""
        self.deck = deck
        self.chips = [num_chips] * 3
        self.cards: list[set[int]] = [set(), set(), set()]
        self.pot = 0
        self.turn = 0
        self.card = self.deck.pop()
        self.is_over = False

    @classmethod
    def shuffled(cls, rng: random.Random) -> PlainNoThanks:
        """A game with a deck of its own."""
        cards = list(range(3, 36))
        rng.shuffle(cards)
        return cls(cards[9:])

    def copy(self) -> PlainNoThanks:
        """The same position once more."""
        other = object.__new__(PlainNoThanks)
        other.deck, other.chips = self.deck[:], self.chips[:]
        other.cards = [set(cards) for cards in self.cards]
        other.pot, other.turn, other.card = self.pot, self.turn, self.card
        other.is_over = self.is_over
        return other

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


class StatefulNoThanks(PlainNoThanks):
    """The same with the interface of our games, as a reader of OpenSpiel would write it."""

    CHANCE = -1

    def __init__(self) -> None:
        """Nothing is dealt yet."""
        super().__init__([0])
        self.left = list(range(3, 36))
        self.turn = self.CHANCE

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The cards that may come next into the deck, all equally likely."""
        return [(card, 1 / len(self.left)) for card in self.left]

    def apply_action(self, action: int) -> None:
        """Deal a card, pay for the one that is face up, or take it."""
        if self.turn != self.CHANCE:
            self.step(action)
            return
        if action not in self.left:
            raise ValueError(f"{action} is not legal")
        self.left.remove(action)
        self.deck.append(action)
        if len(self.deck) == 24:
            self.turn, self.card = 0, self.deck.pop()

    def returns(self) -> list[float]:
        """Chips minus lead cards; 0 until the end."""
        return [float(score) for score in self.scores()] if self.is_over else [0.0] * 3


Values = list[int]


def _place(values: Values, player: int) -> float:
    own = values[player]
    better = sum(value > own for value in values)
    return 1 + better + (sum(value == own for value in values) - 1) / 2


def _prefers(player: int, one: Values, other: Values) -> bool:
    """Whether ``one`` is at least as good: place first, then the sum of differences."""
    mine = (-_place(one, player), 3 * one[player] - sum(one))
    return mine >= (-_place(other, player), 3 * other[player] - sum(other))


def alpha_n(
    game: PlainNoThanks,
    above: tuple[int, Values] | None,
    own: Values | None,
    counts: list[int],
    copied: Callable[[PlainNoThanks], PlainNoThanks],
) -> Values:
    """Max^n with pruning by placement for players who move several times in a row."""
    counts[0] += 1
    if game.is_over:
        return game.scores()
    player = game.turn
    taken = copied(game)
    taken.step(TAKE)
    if game.chips[player] == 0 or game.pot >= game.card:
        return alpha_n(taken, above, own, counts, copied)
    first = alpha_n(taken, above, own, counts, copied)
    if above is not None:
        his, mine = _place(above[1], above[0]), _place(first, player)
        if (his == 1 and mine <= 1.5) or (his <= 1.5 and mine == 1):
            return first
    best = first if own is None or _prefers(player, first, own) else own
    paid = copied(game)
    paid.step(PAY)
    second = alpha_n(paid, (player, best), None, counts, copied)
    return first if _prefers(player, first, second) else second


# ---- random play ---------------------------------------------------------------------------------


def plain_rng() -> random.Random:
    """The quickest generator that plain Python has."""
    return random.Random(0)  # noqa: S311


def stateful_games() -> Chunk:
    """Random games of the class with our interface, chance outcome by chance outcome."""
    rng = plain_rng()

    def work() -> None:
        totals = [0.0, 0.0, 0.0]
        for _ in range(NUM_STATEFUL_GAMES):
            game = StatefulNoThanks()
            while not game.is_over:
                if game.turn == game.CHANCE:
                    outcomes, probs = zip(*game.chance_outcomes(), strict=True)
                    action = rng.choices(outcomes, probs)[0]
                else:
                    action = rng.choice(game.legal_actions())
                game.apply_action(action)
            totals = [a + b for a, b in zip(totals, game.returns(), strict=True)]

    return times(NUM_STATEFUL_GAMES, work)


def plain_games() -> Chunk:
    """Random games of the shortest class."""
    rng = plain_rng()

    def work() -> None:
        totals = [0, 0, 0]
        for _ in range(NUM_PLAIN_GAMES):
            game = PlainNoThanks.shuffled(rng)
            while not game.is_over:
                game.step(rng.choice(game.legal_actions()))
            totals = [a + b for a, b in zip(totals, game.scores(), strict=True)]

    return times(NUM_PLAIN_GAMES, work)


def plain_steps() -> Chunk:
    """Moves of the shortest class, with observations."""
    moves = _plain_moves(plain_rng())

    def work() -> None:
        for _ in range(NUM_PLAIN_STEPS):
            next(moves)

    return times(NUM_PLAIN_STEPS, work)


def _plain_moves(rng: random.Random) -> Iterator[tuple[npt.NDArray[np.float32], list[int]]]:
    while True:
        game = PlainNoThanks.shuffled(rng)
        while not game.is_over:
            legal = game.legal_actions()
            yield game.observation(), legal
            game.step(rng.choice(legal))


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


# ---- known decks ---------------------------------------------------------------------------------


def decks_of(game: NoThanks, number: int = NUM_DECKS) -> list[npt.NDArray[np.uint8]]:
    """A few decks, the same for everybody."""
    rng = np.random.default_rng(0)
    decks = [rng.permutation(game.options.values).tolist() for _ in range(number)]
    return [game.deal(deck[: game.options.deck_size]).state for deck in decks]


def solved_rounds(cap: bool = False, removed: int = 4) -> Chunk:
    """The small game by the solver, one deck after the other."""
    game = NoThanks("small", removed=removed)
    solver = NoThanksSolver(game, SolverSettings(cap=cap, table_bits=16))
    states = cycle(decks_of(game))

    def work() -> None:
        solver.forget()
        solver.solve(next(states))

    return times(1, work)


def unpruned_small(cap: bool = False) -> Chunk:
    """The small game by plain max^n: decks a second, from nodes a second and the size of its tree.

    A whole search of 60 million nodes would be one measurement of several seconds. With the cap the
    size is another for every deck; the mean of them is counted beforehand.
    """
    game = NoThanks("small")
    chosen = SearchSettings(pruning="none", table_bits=0, assumed={"cap": cap})
    states, tree = decks_of(game), float(SMALL_TREE)
    if cap:
        whole = Searcher(game, chosen)
        tree = float(np.mean([whole.search(state).counters["nodes"] for state in states]))
    searcher = Searcher(game, chosen.replace(max_nodes=500_000))
    turns = cycle(states)
    return lambda: searcher.search(next(turns)).counters["nodes"] / tree


def our_alpha_n() -> Chunk:
    """Nodes of our search with placement pruning."""
    game = NoThanks("small", removed=6)
    searcher = Searcher(game, SearchSettings(table_bits=0, assumed={"cap": True}))
    states = cycle(decks_of(game))
    return lambda: searcher.search(next(states)).counters["nodes"]


def plain_alpha_n(
    copied: Callable[[PlainNoThanks], PlainNoThanks] = deepcopy, counts_decks: bool = False
) -> Chunk:
    """Nodes, or decks, of the same search in Python, over copies of the game."""
    game = NoThanks("small", removed=6)
    records = [game.record(state).deck[: game.options.deck_size] for state in decks_of(game)]
    decks = cycle([[game.value(int(card)) for card in cards] for cards in records])

    def chunk() -> int:
        counts = [0]
        alpha_n(PlainNoThanks(next(decks)[::-1], 6), None, None, counts, copied)
        return 1 if counts_decks else counts[0]

    return chunk


# ---- the table -----------------------------------------------------------------------------------

PLAIN, UNPRUNED = "plain Python", "no pruning"
GAMES, NODES, DECKS = "games/s", "nodes/s", "decks/s"
PLAYED, MOVED = partial(ours.playouts, NoThanks, NUM_GAMES), partial(ours.vector_moves, NoThanks)
COPIED = partial(plain_alpha_n, PlainNoThanks.copy)
SOLVED_SIX, COPIED_SIX = (partial(solved_rounds, True, 6), partial(COPIED, counts_decks=True))
CAPPED, FULL_CAPPED = (partial(side, cap=True) for side in (solved_rounds, unpruned_small))
OWN_SOURCE = partial(microseconds_per_game, NUM_GAMES)
JOBS = [
    Job("random_games", "whole games, full interface", PLAYED, stateful_games, PLAIN, GAMES, 200.0),
    Job("shortest_games", "whole games, shortest class", PLAYED, plain_games, PLAIN, GAMES, 30.0),
    Job("random_steps", "moves, observations, legal moves", MOVED, plain_steps, PLAIN, target=50.0),
    Job(
        "same_source",
        "a game by the same functions, compiled and not",
        lambda: OWN_SOURCE,
        same_source_plain,
        "not compiled",
        "us",
        target=200.0,
    ),
    Job("alpha_n", "max^n with pruning", our_alpha_n, plain_alpha_n, PLAIN, NODES, 200.0),
    Job("alpha_n_copied", "the same, copies by hand", our_alpha_n, COPIED, PLAIN, NODES),
    Job("alpha_n_solved", "the same, our solver", SOLVED_SIX, COPIED_SIX, PLAIN, DECKS, 200.0),
    Job("solve_rounds", "the small game", solved_rounds, unpruned_small, UNPRUNED, DECKS, 100.0),
    Job("solve_capped", "the same with the cap", CAPPED, FULL_CAPPED, UNPRUNED, DECKS, 100.0),
]


if __name__ == "__main__":
    sys.exit(main("no_thanks_speed", __doc__, JOBS))
