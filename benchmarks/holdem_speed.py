"""How fast hold'em is, next to other libraries: ``python -m benchmarks.holdem_speed``.

Everything runs on one core, and these jobs are part of ``benchmarks.env_speed``. What is compared,
job by job; tables have six players with 100 big blinds and five actions (fold, call, half the pot,
the pot, all-in) where nothing else is said:

``holdem_playouts``
    Hands after one and the same deal, played to the end at random by compiled code alone.
    OpenSpiel's side is C++.
``holdem_vector``, ``holdem_rlcard``
    Random moves with observations and masks: 1024 games in one ``VectorEnv``, and a Python loop
    over one game at a time of OpenSpiel or RLCard.
``holdem_aec``
    Turns of ``agent_iter`` of two players, ours and PettingZoo's ``texas_holdem_no_limit_v6``, each
    with its own wrappers.
``holdem_table``, ``holdem_thinkers``
    Microseconds for a hand of a match between rule players, next to a published figure: 62,560
    hands a second with eight threads. At the first table sit two callers, two folders and two
    raisers: that is the table we want to be faster. At the second three of six estimate their
    chances by a hundred samples at every decision after the flop, which a network of the published
    kind, some 30,000 multiplications, does not; it stands here to show what thinking costs.
``holdem_evaluator``, ``holdem_evaluator_c``
    Strengths of random hands of seven cards: ours in one call for all; phevaluator in a Python loop
    over card numbers, which is all it offers there, and its C function in a compiled loop.
"""

from __future__ import annotations

import ctypes
import sys
from functools import partial
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from benchmarks import ours, peers
from benchmarks.harness import Chunk, Job, main, seconds_of, times
from envs import make_game
from envs.holdem.evaluator import evaluate

NUM_PLAYOUTS = 5000
NUM_ROWS = 1024
NUM_HANDS = 100_000
NUM_LOOPED = 5000
NUM_MATCHES = 20_000
PUBLISHED = 62_560
CALLERS = ("holdem_call", "holdem_fold", "holdem_raise") * 2
THINKERS = (*CALLERS[:3], "holdem_tight", "holdem_loose", "holdem_odds")
SIX = partial(make_game, "holdem_v0", minimum=False)
DEAL = list(range(0, 48, 4))
STACKS = " ".join(["10000"] * 6)
SPEC = (
    "universal_poker(betting=nolimit,bettingAbstraction=fchpa,blind=50 100 0 0 0 0,"
    "firstPlayer=3 1 1 1,numBoardCards=0 3 1 1,numHoleCards=2,numPlayers=6,numRanks=13,"
    f"numRounds=4,numSuits=4,stack={STACKS})"
)


# ---- the evaluator -------------------------------------------------------------------------------


def random_hands(count: int) -> npt.NDArray[np.int8]:
    """Seven different cards in every row."""
    rng = np.random.default_rng(0)
    return np.argsort(rng.random((count, 52)), axis=1)[:, :7].astype(np.int8)


def our_evaluator() -> Chunk:
    """All hands in one call."""
    hands = random_hands(NUM_HANDS)
    return times(NUM_HANDS, lambda: evaluate(hands))


def their_evaluator() -> Chunk:
    """A loop over phevaluator, whose card numbers are as good as ours for speed."""
    import phevaluator

    hands = random_hands(NUM_LOOPED).tolist()
    judge = phevaluator.evaluate_cards

    def work() -> None:
        for hand in hands:
            judge(*hand)

    return times(NUM_LOOPED, work)


def their_c_evaluator() -> Chunk:
    """The C function of phevaluator, called in a compiled loop."""
    from phevaluator import _pheval

    judge = ctypes.CDLL(_pheval.__file__).evaluate_7cards
    judge.argtypes, judge.restype = (ctypes.c_int,) * 7, ctypes.c_int
    hands = random_hands(NUM_HANDS).astype(np.int32)
    out = np.zeros(len(hands), np.int32)

    def judge_in_turn(hands: npt.NDArray[np.int32], out: npt.NDArray[np.int32]) -> None:
        for i in range(len(hands)):
            h = hands[i]
            out[i] = judge(h[0], h[1], h[2], h[3], h[4], h[5], h[6])

    judge_all: Any = numba.njit(judge_in_turn)

    return times(len(out), lambda: judge_all(hands, out))


# ---- environments and tables ---------------------------------------------------------------------


def our_aec() -> Chunk:
    """Our hold'em of two players as an AEC environment."""
    from envs import holdem_v0

    return peers.aec_chunk(holdem_v0.env(num_players=2, minimum=False))


def their_aec() -> Chunk:
    """PettingZoo's no-limit hold'em."""
    from pettingzoo.classic import texas_holdem_no_limit_v6  # type: ignore[import-untyped]

    return peers.aec_chunk(texas_holdem_no_limit_v6.env())


def our_match(names: tuple[str, ...]) -> Chunk:
    """Microseconds for one hand of a match."""
    from agents import make_agent
    from arena.match import play_match

    game = make_game("holdem_v0", "thesis")
    made = {name: make_agent(name, game) for name in names}
    players = [made[name] for name in names]
    return seconds_of(lambda: play_match(game, players, NUM_MATCHES), 1e6 / NUM_MATCHES)


def published() -> Chunk:
    """Microseconds for one hand, as published for eight threads."""
    return lambda: 1e6 / PUBLISHED


OUR_HANDS = partial(ours.playouts, SIX, NUM_PLAYOUTS, DEAL)
OUR_MOVES = partial(ours.vector_moves, SIX, NUM_ROWS)
CALLING, THINKING = (partial(our_match, names) for names in (CALLERS, THINKERS))
ROLLOUTS = partial(peers.openspiel_rollouts, SPEC, DEAL, NUM_PLAYOUTS)
LOOP = partial(peers.openspiel_loop, SPEC)
RLCARD = partial(peers.rlcard_loop, "no-limit-holdem", game_num_players=6)
CPP, PYTHON = "OpenSpiel, C++ rollouts", "OpenSpiel universal_poker, Python loop"
PETTINGZOO = "PettingZoo texas_holdem_no_limit_v6"
THREADS = f"published, eight threads: {PUBLISHED:,} hands/s"
BY_LOOP, BY_C = "phevaluator, Python loop", "phevaluator, C function"
HANDS, EACH = "hands/s", "us/hand"
JOBS = [
    Job("holdem_playouts", "random hands of six", OUR_HANDS, ROLLOUTS, CPP, HANDS, 3.0),
    Job("holdem_vector", "moves at 1024 tables of six", OUR_MOVES, LOOP, PYTHON, target=30.0),
    Job(
        "holdem_rlcard",
        "1024 tables, and one",
        OUR_MOVES,
        RLCARD,
        "RLCard no-limit-holdem",
        target=100.0,
    ),
    Job("holdem_aec", "two players as an AEC env", our_aec, their_aec, PETTINGZOO, target=15.0),
    Job("holdem_table", "a match of simple players", CALLING, published, THREADS, EACH, 1.0),
    Job("holdem_thinkers", "three of them sample", THINKING, published, THREADS, EACH, 1.0),
    Job("holdem_evaluator", "seven cards", our_evaluator, their_evaluator, BY_LOOP, HANDS, 5.0),
    Job("holdem_evaluator_c", "seven cards", our_evaluator, their_c_evaluator, BY_C, HANDS, 2.0),
]

if __name__ == "__main__":
    sys.exit(main("holdem_speed", __doc__, JOBS))
