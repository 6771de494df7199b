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
import time
from functools import partial
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from benchmarks import peers
from benchmarks.harness import Job, main
from benchmarks.policy import numbers, pick
from benchmarks.timing import Chunk
from envs import make_game
from envs.adapters.vector import VectorEnv
from envs.core.batch import random_actions
from envs.core.playouts import random_playouts
from envs.core.rng import fill_streams, new_rng, stream
from envs.holdem.evaluator import evaluate

__all__ = ["JOBS"]

NUM_PLAYOUTS = 5000
NUM_ROWS = 1024
NUM_HANDS = 100_000
NUM_LOOPED = 5000
NUM_MATCHES = 20_000
PUBLISHED = 62_560
CALLERS = ("holdem_call", "holdem_fold", "holdem_raise") * 2
THINKERS = (*CALLERS[:3], "holdem_tight", "holdem_loose", "holdem_odds")
DEAL = list(range(0, 48, 4))
STACKS = " ".join(["10000"] * 6)
SPEC = (
    "universal_poker(betting=nolimit,bettingAbstraction=fchpa,blind=50 100 0 0 0 0,"
    "firstPlayer=3 1 1 1,numBoardCards=0 3 1 1,numHoleCards=2,numPlayers=6,numRanks=13,"
    f"numRounds=4,numSuits=4,stack={STACKS})"
)


def our_playouts() -> Chunk:
    """Random hands after the deal."""
    game, rng = make_game("holdem_v0", minimum=False), new_rng(0)
    root = game.replay(DEAL).state

    def chunk() -> int:
        return random_playouts(game, NUM_PLAYOUTS, rng, root).num_games

    return chunk


def random_hands(count: int) -> npt.NDArray[np.int8]:
    """Seven different cards in every row."""
    rng = np.random.default_rng(0)
    return np.argsort(rng.random((count, 52)), axis=1)[:, :7].astype(np.int8)


def our_evaluator() -> Chunk:
    """All hands in one call."""
    hands = random_hands(NUM_HANDS)

    def chunk() -> int:
        return len(evaluate(hands))

    return chunk


def their_evaluator() -> Chunk:
    """A loop over phevaluator, whose card numbers are as good as ours for speed."""
    import phevaluator

    hands = random_hands(NUM_LOOPED).tolist()
    judge = phevaluator.evaluate_cards

    def chunk() -> int:
        for hand in hands:
            judge(*hand)
        return NUM_LOOPED

    return chunk


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

    def chunk() -> int:
        judge_all(hands, out)  # type: ignore[call-arg, type-var]
        return len(out)

    return chunk


# ---- environments --------------------------------------------------------------------------------


def our_vector() -> Chunk:
    """Random moves in all rows of a ``VectorEnv``."""
    env = VectorEnv(make_game("holdem_v0", minimum=False), NUM_ROWS)
    shown = env.reset(seed=0)
    rngs = np.empty((NUM_ROWS, 4), np.uint64)
    fill_streams(stream(0, "choice"), np.arange(NUM_ROWS), rngs)

    def chunk() -> int:
        nonlocal shown
        for _ in range(4):
            shown = env.step(random_actions(shown.masks, rngs))
        return 4 * NUM_ROWS

    return chunk


def rlcard_loop() -> Chunk:
    """RLCard's no-limit hold'em: the loop of its ``Env.run`` without the trajectories."""
    import rlcard

    env = rlcard.make("no-limit-holdem", config={"seed": 0, "game_num_players": 6})
    draws = numbers()

    def chunk() -> int:
        num_moves = 0
        for _ in range(10):
            state, _player = env.reset()
            while not env.is_over():
                state, _player = env.step(pick(list(state["legal_actions"]), draws))
                num_moves += 1
        return num_moves

    return chunk


def our_aec() -> Chunk:
    """Our hold'em of two players as an AEC environment."""
    from envs import holdem_v0

    env = holdem_v0.env(num_players=2, minimum=False)
    env.reset(seed=0)
    return peers.aec_chunk(env)


def their_aec() -> Chunk:
    """PettingZoo's no-limit hold'em."""
    from pettingzoo.classic import texas_holdem_no_limit_v6  # type: ignore[import-untyped]

    env = texas_holdem_no_limit_v6.env()
    env.reset(seed=0)
    return peers.aec_chunk(env)


# ---- tables --------------------------------------------------------------------------------------


def our_match(names: tuple[str, ...]) -> Chunk:
    """Microseconds for one hand of a match."""
    from agents import make_agent
    from arena.match import play_match

    game = make_game("holdem_v0", "thesis")
    made = {name: make_agent(name, game) for name in names}

    def chunk() -> float:
        started = time.process_time()
        play_match(game, [made[name] for name in names], NUM_MATCHES)
        return 1e6 * (time.process_time() - started) / NUM_MATCHES

    return chunk


def published() -> Chunk:
    """Microseconds for one hand, as published for eight threads."""
    return lambda: 1e6 / PUBLISHED


def _table_job(name: str, who: str, names: tuple[str, ...]) -> Job:
    return Job(
        name,
        f"a hand of a match between {who} on one core, and a published figure",
        partial(our_match, names),
        published,
        peer_name=f"published, eight threads: {PUBLISHED:,} hands/s",
        unit="us/hand",
        target=1.0,
        is_duration=True,
    )


JOBS = [
    Job(
        "holdem_playouts",
        "compiled random hands of six players and OpenSpiel's C++ rollouts",
        our_playouts,
        partial(peers.openspiel_rollouts, SPEC, DEAL, NUM_PLAYOUTS),
        peer_name="OpenSpiel, C++ rollouts",
        package="open_spiel",
        unit="hands/s",
        target=3.0,
    ),
    Job(
        "holdem_vector",
        f"{NUM_ROWS} games and a loop over OpenSpiel's: moves with observations and masks",
        our_vector,
        partial(peers.openspiel_loop, SPEC),
        peer_name="OpenSpiel universal_poker, Python loop",
        package="open_spiel",
        target=30.0,
    ),
    Job(
        "holdem_rlcard",
        f"{NUM_ROWS} games and RLCard's no-limit hold'em, move by move",
        our_vector,
        rlcard_loop,
        peer_name="RLCard no-limit-holdem",
        package="rlcard",
        target=100.0,
    ),
    Job(
        "holdem_aec",
        "two players as an AEC env, and PettingZoo's",
        our_aec,
        their_aec,
        peer_name="PettingZoo texas_holdem_no_limit_v6",
        package="pettingzoo",
        target=15.0,
    ),
    _table_job("holdem_table", "callers, folders and raisers", CALLERS),
    _table_job("holdem_thinkers", "rule players, three of whom sample", THINKERS),
    Job(
        "holdem_evaluator",
        "strengths of seven cards: one call of ours, a loop over phevaluator",
        our_evaluator,
        their_evaluator,
        peer_name="phevaluator, Python loop",
        package="phevaluator",
        unit="hands/s",
        target=5.0,
    ),
    Job(
        "holdem_evaluator_c",
        "strengths of seven cards: one call of ours, a compiled loop over phevaluator's C function",
        our_evaluator,
        their_c_evaluator,
        peer_name="phevaluator, C function",
        package="phevaluator",
        unit="hands/s",
        target=2.0,
    ),
]

DESCRIPTION = """\
Measure hold'em against OpenSpiel, RLCard and PettingZoo and its evaluator against phevaluator, both
sides in this run and on one core.

The peers come with: pip install 'masquerade[bench,dev]'
Results go to:       runs/benchmarks/holdem_speed.json
What both sides do:  the top of benchmarks/holdem_speed.py"""

if __name__ == "__main__":
    sys.exit(main("holdem_speed", DESCRIPTION, JOBS, []))
