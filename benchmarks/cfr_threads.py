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

from agents.cfr import CFRSolver, GameTree, SamplingSolver, VectorCFRSolver
from agents.games.liars_dice.round_tree import RoundShape
from agents.games.liars_dice.rounds import RoundSolver
from benchmarks.harness import Chunk, Job, main, times
from envs import make_game
from envs.liars_dice.game import LiarsDiceOptions

NUM_CORES = 2
ALONE = "ours, one thread"
ONE_DIE = partial(make_game, "liars_dice_v0", "openspiel")


def over_public_tree(num_threads: int) -> Chunk:
    """One-die Liar's Dice by vectors."""
    solver = VectorCFRSolver.of(ONE_DIE(), "discounted", num_threads=num_threads)
    return times(100, lambda: solver.run(100))


def over_sequences(num_threads: int) -> Chunk:
    """One-die Liar's Dice by sequences."""
    solver = CFRSolver(GameTree(ONE_DIE()), "discounted", num_threads)
    return times(20, lambda: solver.run(20))


def for_three(num_threads: int) -> Chunk:
    """Leduc poker for three players."""
    tree = GameTree(make_game("leduc_v0", num_players=3))
    solver = CFRSolver(tree, "cfr+", num_threads)
    return times(2, lambda: solver.run(2))


def over_rounds(num_threads: int) -> Chunk:
    """A round of Liar's Dice."""
    shape = RoundShape(LiarsDiceOptions(raising="count_first"), (2, 1))
    solver = RoundSolver(shape, "cfr+", num_threads)
    return times(5, lambda: solver.run(5))


def by_samples(num_threads: int) -> Chunk:
    """One-die Liar's Dice by external sampling."""
    solver = SamplingSolver(ONE_DIE(), threads=num_threads, max_infosets=30_000)
    return times(2_000, lambda: solver.run(2_000))


SOLVERS = {
    "public": ("discounted CFR over the public tree", over_public_tree),
    "sequences": ("discounted CFR over the sequence form", over_sequences),
    "three_players": ("CFR+ over the sequence form of three-player Leduc poker", for_three),
    "rounds": ("CFR+ over the tree of a round of Liar's Dice", over_rounds),
    "sampling": ("external-sampling MCCFR", by_samples),
}
JOBS = [
    Job(name, f"{what}, two threads", partial(make, NUM_CORES), partial(make, 1), ALONE, "iter/s")
    for name, (what, make) in SOLVERS.items()
]


if __name__ == "__main__":
    sys.exit(main("cfr_threads", __doc__, JOBS, num_cores=NUM_CORES))
