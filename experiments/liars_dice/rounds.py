"""Equilibria of single rounds of Liar's Dice in which any higher bid may follow.

For each rule of wild faces and each pair of dice whose tables fit: how large the round is, how long
it takes to a wanted exploitability, and what it is worth to the opener, as bounds by best
responses. Times are of one core (all threads added up), for the growth from row to row; the numbers
themselves do not depend on the machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from agents.games.liars_dice.round_tree import RoundShape
from agents.games.liars_dice.rounds import RoundSolver
from envs.liars_dice.game import LiarsDiceOptions
from experiments.runner import Row, Settings

AVERAGING = 4.0
STEP = 20
MOST_ITERATIONS = 5000
MOST_BYTES = 4e9
WILDS = ("none", "ones_unbiddable")
PAIRS = {(1, 1): 1e-4, (1, 2): 1e-4, (2, 1): 1e-4, (2, 2): 1e-4, (1, 3): 1e-3, (3, 1): 1e-3}
"""Dice of the opener and of the other, and the exploitability that is wanted."""


def solve(
    wild: str, dice: tuple[int, int], target: float, num_threads: int = 1, faces: int = 6
) -> Row:
    """Solve one round, if its tables fit."""
    words = f"{dice[0]} against {dice[1]}, wild {wild}"
    options = LiarsDiceOptions(raising="count_first", wild=wild, faces=faces)
    shape = RoundShape(options, dice)
    size = f"{shape.num_nodes:,} public nodes, {shape.num_infosets:,} information sets, "
    size += f"{shape.nbytes / 1e6:,.1f} MB ({shape.nbytes / shape.num_infosets:.0f} bytes each)"
    if shape.nbytes > MOST_BYTES:
        return Row(f"{words}: bytes of its tables, too many", shape.nbytes, note=size)
    solver = RoundSolver(shape, "cfr+", num_threads, averaging=AVERAGING)
    seconds, exploitability = 0.0, 1.0
    while exploitability >= target and solver.iteration < MOST_ITERATIONS:
        started = time.process_time()
        solver.run(min(max(STEP, solver.iteration // 4), MOST_ITERATIONS - solver.iteration))
        seconds += time.process_time() - started
        best, worst = solver.best_values()
        exploitability = (best + worst) / 2
    note = f"{size}; {solver.iteration:,} iterations in {seconds:.1f} s, "
    note += f"exploitability {max(exploitability, 0.0):.1e}"
    return Row(f"{words}: value to the opener", solver.value(), -worst, best, note=note)


def rounds(settings: Settings) -> Iterator[Row]:
    """The small ones first."""
    for wild in WILDS:
        for dice, target in PAIRS.items():
            yield solve(wild, dice, target, settings.workers)
