"""Equilibria of single rounds of Liar's Dice: ``python -m experiments.liars_dice.rounds``.

For each rule and each pair of dice, as far as the memory allows: how large the round is, how long
it takes to a wanted exploitability, and what it is worth to the opener, as bounds by best
responses.
Times are of one core (both threads added up), for the growth from row to row; the numbers
themselves do not depend on the machine.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agents.cfr.tree import TooLargeError
from agents.games.liars_dice.round_tree import RoundShape
from agents.games.liars_dice.rounds import RoundSolver
from arena.report.columns import markdown
from benchmarks.report import Progress
from common.commands import (
    AMOUNT,
    COUNT,
    WORKERS,
    Parser,
    add_out,
    answers_in_one_line,
    at_least,
)
from common.files import check_out, signed, write_text
from envs.liars_dice.game import LiarsDiceOptions
from envs.liars_dice.kernels import MAX_DICE, RAISING, WILD

COMMAND = "python -m experiments.liars_dice.rounds"

HEAD = ["rule", "wild", "dice", "public nodes", "information sets", "tables", "bytes each"]
HEAD += ["iterations", "seconds", "value to the opener", "exploitability"]
AVERAGING = 4.0
STEP = 20


class Size(NamedTuple):
    """What is to be solved."""

    raising: str
    wild: str
    faces: int
    dice: tuple[int, int]

    def shape(self) -> RoundShape:
        """The tree of the round."""
        options = LiarsDiceOptions(raising=self.raising, wild=self.wild, faces=self.faces)
        return RoundShape(options, self.dice)


def sizes(arguments: argparse.Namespace) -> Iterator[Size]:
    """All rounds that are asked for and whose tables fit, the small ones first."""
    most = range(1, min(arguments.max_dice, MAX_DICE) + 1)
    pairs = arguments.pairs or [(a, b) for a in most for b in most]
    for raising in arguments.raising:
        for wild in arguments.wild:
            for faces in arguments.faces:
                for dice in sorted(pairs, key=lambda pair: (sum(pair), pair)):
                    yield Size(raising, wild, faces, dice)


def _pair(text: str) -> tuple[int, int]:
    """Read ``3:2``, three dice of the opener against two."""
    first, _, second = text.partition(":")
    if not (first.isdigit() and second.isdigit() and min(int(first), int(second)) >= 1):
        raise argparse.ArgumentTypeError(f"'{text}' is no pair: write it as 3:2")
    return int(first), int(second)


def solve(size: Size, target: float, max_iterations: int, num_threads: int) -> list[str]:
    """Solve one round: its row of the table."""
    shape = size.shape()
    solver = RoundSolver(shape, "cfr+", num_threads, averaging=AVERAGING)
    seconds = 0.0
    while True:
        started = time.process_time()
        solver.run(min(max(STEP, solver.iteration // 4), max_iterations - solver.iteration))
        seconds += time.process_time() - started
        best, worst = solver.best_values()
        exploitability = (best + worst) / 2
        if exploitability < target or solver.iteration >= max_iterations:
            break
    return [
        *_names(size, shape),
        f"{solver.iteration:,}",
        f"{seconds:.1f}",
        f"{solver.value():+.5f} ({-worst:+.5f} to {best:+.5f})",
        f"{max(exploitability, 0.0):.1e}",
    ]


def _names(size: Size, shape: RoundShape) -> list[str]:
    num_bytes = shape.nbytes
    return [
        size.raising + (f", {size.faces} faces" if size.faces != 6 else ""),
        size.wild,
        f"{size.dice[0]} against {size.dice[1]}",
        f"{shape.num_nodes:,}",
        f"{shape.num_infosets:,}",
        f"{num_bytes / 1e6:,.1f} MB",
        f"{num_bytes / shape.num_infosets:.0f}",
    ]


@answers_in_one_line("liars_dice_rounds")
def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = Parser(
        prog=COMMAND,
        description=__doc__,
    )
    add = parser.add_argument
    add("--raising", nargs="+", choices=RAISING, default=["count_first"], help="rules of raising")
    add("--wild", nargs="+", choices=WILD, default=["none", "ones_unbiddable"], help="wild faces")
    add("--faces", nargs="+", type=at_least(1, most=20), default=[6], help="faces of a die")
    add(
        "--max-dice",
        type=at_least(1, most=20),
        default=2,
        help="dice of a player (default %(default)s)",
    )
    add("--pairs", nargs="+", type=_pair, help="only these, such as 3:2 for three against two")
    add("--max-gb", type=AMOUNT, default=1.0, help="largest tables that are made (default 1)")
    add(
        "--target",
        type=at_least(1e-12, most=1.0),
        default=1e-3,
        help="exploitability (default %(default)s)",
    )
    add("--max-iterations", type=COUNT, default=5000, help="when to give up (default 5000)")
    add("--threads", type=WORKERS, default=2, help="threads (default 2)")
    add_out(parser, "also write the table to a file")
    arguments = parser.parse_args(argv)
    check_out(arguments.out, COMMAND, arguments.force)
    rows = [HEAD, *_rows(arguments)]
    text = markdown(rows)
    print(text)
    if arguments.out is not None:
        write_text(arguments.out, signed(text + "\n", arguments.out.suffix, COMMAND))
    return 0


def _rows(arguments: argparse.Namespace) -> Iterator[list[str]]:
    wanted = list(sizes(arguments))
    progress = Progress(len(wanted))
    for size in wanted:
        progress.advance(f"{size.raising}, {size.wild}, {size.dice[0]} against {size.dice[1]}")
        try:
            shape = size.shape()
        except TooLargeError as error:
            print(error, file=sys.stderr)
            continue
        if shape.nbytes > arguments.max_gb * 1e9:
            yield [*_names(size, shape), "-", "-", "too large", "-"]
            continue
        yield solve(size, arguments.target, arguments.max_iterations, arguments.threads)
    progress.close()


if __name__ == "__main__":
    sys.exit(main())
