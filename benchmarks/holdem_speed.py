"""How fast hold'em is, next to other libraries: ``python -m benchmarks.holdem_speed``.

Everything runs on one core. What is compared, job by job:

``playouts``
    Hands of six players after one and the same deal, played to the end at random by compiled code
    alone, with the same five actions (fold, call, half the pot, the pot, all-in) and stacks of 100
    big blinds. OpenSpiel's side is C++.
``evaluator``
    Strengths of random hands of seven cards: ours in one call for all, phevaluator in a Python loop
    over card numbers, which is all it offers (its C function alone does about 4 to 6 million hands
    a second).
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import numpy.typing as npt

from benchmarks import peers
from benchmarks.harness import Job, main
from benchmarks.timing import Chunk
from envs import make_game
from envs.core import new_rng, random_playouts
from envs.holdem.evaluator import evaluate

__all__ = ["JOBS"]

NUM_PLAYOUTS = 5000
NUM_HANDS = 100_000
NUM_LOOPED = 5000
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


JOBS = [
    Job(
        "playouts",
        "compiled random hands of six players and OpenSpiel's C++ rollouts",
        our_playouts,
        partial(peers.openspiel_rollouts, SPEC, DEAL, NUM_PLAYOUTS),
        peer_name="OpenSpiel, C++ rollouts",
        package="open_spiel",
        unit="hands/s",
        target=3.0,
    ),
    Job(
        "evaluator",
        "strengths of seven cards: one call of ours, a loop over phevaluator",
        our_evaluator,
        their_evaluator,
        peer_name="phevaluator, Python loop",
        package="phevaluator",
        unit="hands/s",
        target=5.0,
    ),
]

DESCRIPTION = """\
Measure hold'em against OpenSpiel and its evaluator against phevaluator, both sides in this run and
on one core.

The peers come with: pip install 'masquerade[bench,dev]'
Results go to:       runs/benchmarks/holdem_speed.json
What both sides do:  the top of benchmarks/holdem_speed.py"""

if __name__ == "__main__":
    sys.exit(main("holdem_speed", DESCRIPTION, JOBS, []))
