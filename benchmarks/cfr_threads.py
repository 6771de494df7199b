"""What a second thread is worth to the solvers: ``python -m benchmarks.cfr_threads``.

Iterations in a second with two threads on two cores, next to the same solver with one thread, in
turns. The numbers that come out are the same to the last bit, except for sampling, where two
threads fill one table. The ratio is 2 at best, and about 1 while something else uses the other
core.

``public``, ``sequences``
    Discounted CFR on one-die Liar's Dice, over its public tree or its sequence form.
``three_players``
    CFR+ on Leduc poker for three players, which has a sequence form only.
``rounds``
    CFR+ on a round of Liar's Dice with two dice against one, over the tree that is made for rounds.
``sampling``
    External-sampling MCCFR on one-die Liar's Dice.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Protocol

from agents.cfr import CFRSolver, GameTree, SamplingSolver, VectorCFRSolver
from agents.games.liars_dice.round_tree import RoundShape
from agents.games.liars_dice.rounds import RoundSolver
from benchmarks.harness import Job, main
from benchmarks.timing import Chunk
from envs import make_game
from envs.liars_dice.game import LiarsDiceOptions

__all__ = ["JOBS"]

NUM_CORES = 2


class Runs(Protocol):
    """Any solver."""

    def run(self, num_iterations: int) -> None:
        """Iterate."""


def iterations(solver: Runs, number: int) -> Chunk:
    """So many at a time."""

    def chunk() -> float:
        solver.run(number)
        return number

    return chunk


def over_public_tree(num_threads: int) -> Chunk:
    """One-die Liar's Dice by vectors."""
    game = make_game("liars_dice_v0", "openspiel")
    return iterations(VectorCFRSolver.of(game, "discounted", num_threads=num_threads), 100)


def over_sequences(num_threads: int) -> Chunk:
    """One-die Liar's Dice by sequences."""
    tree = GameTree(make_game("liars_dice_v0", "openspiel"))
    return iterations(CFRSolver(tree, "discounted", num_threads), 20)


def for_three(num_threads: int) -> Chunk:
    """Leduc poker for three players."""
    tree = GameTree(make_game("leduc_v0", num_players=3))
    return iterations(CFRSolver(tree, "cfr+", num_threads), 2)


def over_rounds(num_threads: int) -> Chunk:
    """A round of Liar's Dice."""
    shape = RoundShape(LiarsDiceOptions(raising="count_first"), (2, 1))
    return iterations(RoundSolver(shape, "cfr+", num_threads), 5)


def by_samples(num_threads: int) -> Chunk:
    """One-die Liar's Dice by external sampling."""
    game = make_game("liars_dice_v0", "openspiel")
    return iterations(SamplingSolver(game, threads=num_threads, max_infosets=30_000), 2_000)


SOLVERS = {
    "public": ("discounted CFR over the public tree", over_public_tree),
    "sequences": ("discounted CFR over the sequence form", over_sequences),
    "three_players": ("CFR+ over the sequence form of three-player Leduc poker", for_three),
    "rounds": ("CFR+ over the tree of a round of Liar's Dice", over_rounds),
    "sampling": ("external-sampling MCCFR", by_samples),
}
JOBS = [
    Job(
        name,
        f"{what}, two threads and one",
        partial(make, NUM_CORES),
        partial(make, 1),
        peer_name="ours, one thread",
        unit="iter/s",
    )
    for name, (what, make) in SOLVERS.items()
]

DESCRIPTION = """\
Measure how much faster the solvers are with two threads on two cores than with one.

Results go to:        runs/benchmarks/cfr_threads.json
What both sides do:   the top of benchmarks/cfr_threads.py"""

if __name__ == "__main__":
    sys.exit(main("cfr_threads", DESCRIPTION, JOBS, num_cores=NUM_CORES))
