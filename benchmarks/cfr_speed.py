"""How fast games are solved, next to OpenSpiel: ``python -m benchmarks.cfr_speed``.

Everything runs on one core; seconds are those that the process computes, whatever ``--clock`` says.
Exploitability is NashConv per player, on both sides.

``*_solve``
    Seconds from nothing to a policy of exploitability 1e-3. Ours: writing down the game tree,
    finding the public tree, and discounted CFR, stopped when a check every 10 iterations says so;
    the checks are paid for. OpenSpiel's: its C++ ``CFRPlusSolver``, made and iterated as often as
    it takes; that number is found beforehand, so its checks are not paid for. Of its C++ solvers
    this one gets there first: ``CFRSolver`` takes as long for an iteration and needs ten times as
    many, and sampling takes longer still (``leduc_sampling``).
``*_iterate``
    The same runs, but only the iterations count, on either side; our checks still do.
``*_liteefg``
    Our ``*_solve``, from nothing and with its checks, next to the iterations alone of the quickest
    of LiteEFG's solvers, if that is installed (below it says how, and why NoRegret is not there).
    In one-die Liar's Dice an iteration takes it twice as long as we take for the
    whole solution, so it is stopped after 40 that do not get there: the ratio is a lower bound.
``*_plus``, ``*_plain``
    Iterations in a second of the same algorithm, CFR+ or plain CFR: our ``VectorCFRSolver`` and
    OpenSpiel's ``CFRPlusSolver`` or ``CFRSolver``.
``*_tree``
    Iterations of CFR+ in a second: our ``CFRSolver``, which goes over the sequence form and takes
    any game, and OpenSpiel's ``CFRPlusSolver``.
``*_external``, ``*_outcome``
    Iterations of MCCFR in a second, by external or outcome sampling: our ``SamplingSolver``, plain
    CFR with simple averaging, and OpenSpiel's ``ExternalSamplingMCCFRSolver`` or
    ``OutcomeSamplingMCCFRSolver``. An iteration is one walk for either player, on both sides. Both
    have run for a while before they are measured, so that their tables are filled.
``liars_dice_rounds``
    As ``liars_dice_solve``, but over the public tree that is made for rounds of Liar's Dice and
    never written down (``agents/games/liars_dice/rounds.py``).
``leduc_sampling``
    Seconds to exploitability 0.1 of Leduc poker, and OpenSpiel's external-sampling MCCFR, which is
    checked every 5,000 iterations, and only the iterations count. From there on sampling needs four
    times as long for half the exploitability.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any
from unittest import mock

from agents.cfr import CFRSolver, GameTree, SamplingSolver, Solver, VectorCFRSolver
from agents.games.liars_dice.round_tree import RoundShape
from agents.games.liars_dice.rounds import RoundSolver
from benchmarks.harness import Chunk, Job, main, seconds_of, times
from envs import make_game
from envs.core.game import Game
from envs.liars_dice.game import LiarsDice

GOAL = 1e-3
SAMPLING_GOAL = 0.1
CHECK_EVERY = 10
SAMPLING_CHECK_EVERY = 5_000
MAX_ITERATIONS = 100_000
ITERATIONS_PER_CHUNK = 5
SAMPLING_TARGET = 5.0
LITEEFG_TARGET = 20.0
LITEEFG_ITERATIONS = {"leduc": 20_000, "liars_dice": 40}
SAMPLES_PER_CHUNK = 500
SAMPLES_BEFORE = 5_000
SAMPLING_ROOM = 30_000
"""Information sets that our table has room for: one-die Liar's Dice has 24,576."""

LEDUC = partial(make_game, "leduc_v0")
ONE_DIE = partial(make_game, "liars_dice_v0", "openspiel")
GAMES: dict[str, tuple[Callable[[], Game], str, float]] = {
    "leduc": (LEDUC, "leduc_poker", 40.0),
    "liars_dice": (ONE_DIE, "liars_dice", 100.0),
}


# ---- our side ------------------------------------------------------------------------------------


def solve(solver: Solver | RoundSolver, goal: float) -> None:
    """Iterate until the average is good enough."""
    while solver.iteration < MAX_ITERATIONS:
        solver.run(CHECK_EVERY)
        if solver.exploitability() <= goal:
            return
    raise RuntimeError(f"no exploitability of {goal} within {MAX_ITERATIONS} iterations")


def our_solve(make: Callable[[], Game], goal: float = GOAL) -> Chunk:
    """Seconds to solve a game from nothing."""
    return seconds_of(lambda: solve(VectorCFRSolver.of(make(), "discounted"), goal))


def our_iterations(make: Callable[[], Game]) -> Chunk:
    """Seconds to solve a game once its public tree is there."""

    def chunk() -> float:
        solver = VectorCFRSolver.of(make(), "discounted")
        return seconds_of(lambda: solve(solver, GOAL))()

    return chunk


def our_rounds(make: Callable[[], Game]) -> Chunk:
    """Seconds to solve a round of Liar's Dice from nothing, over its own tree."""

    def work() -> None:
        game = make()
        assert isinstance(game, LiarsDice)
        first, second = game.options.dice_by_seat
        shape = RoundShape(game.options, (first, second))
        solve(RoundSolver(shape, "cfr+", averaging=4.0), GOAL)

    return seconds_of(work)


def our_rate(make: Callable[[], Game], variant: str, is_vector: bool) -> Chunk:
    """Iterations, some at a time."""
    tree = GameTree(make(), has_keys=True)
    solver = (VectorCFRSolver if is_vector else CFRSolver)(tree, variant)
    return times(ITERATIONS_PER_CHUNK, lambda: solver.run(ITERATIONS_PER_CHUNK))


def our_samples(make: Callable[[], Game], sampling: str) -> Chunk:
    """Iterations of MCCFR, some at a time."""
    solver = SamplingSolver(make(), sampling=sampling, variant="cfr", max_infosets=SAMPLING_ROOM)
    solver.run(SAMPLES_BEFORE)
    return times(SAMPLES_PER_CHUNK, lambda: solver.run(SAMPLES_PER_CHUNK))


@cache
def our_count(make: Callable[[], Game]) -> int:
    """How many iterations our CFR+ needs."""
    solver = VectorCFRSolver.of(make(), "cfr+")
    while solver.exploitability() > GOAL:
        solver.run(1)
    return solver.iteration


# ---- OpenSpiel's side ----------------------------------------------------------------------------


@cache
def their_count(make: Callable[[], Game], spec: str) -> int:
    """How many iterations OpenSpiel's CFR+ needs, by its own exploitability.

    Its iterations equal ours, but rounding grows from one to the next: after some hundred of them
    the two have parted by a few per cent of the exploitability. So it is checked itself, from a
    little before our number on, because a check of one-die Liar's Dice takes seconds.
    """
    import pyspiel

    game = pyspiel.load_game(spec)
    solver = pyspiel.CFRPlusSolver(game)
    ours = our_count(make)
    for _ in range(int(0.95 * ours)):
        solver.evaluate_and_update_policy()
    count = int(0.95 * ours)
    while pyspiel.exploitability(game, solver.average_policy()) > GOAL:
        for _ in range(max(ours // 100, 1)):
            solver.evaluate_and_update_policy()
            count += 1
    return count


class TheirRuns:
    """Whole runs of OpenSpiel's CFR+; one run is measured with and without its beginning."""

    def __init__(self, make: Callable[[], Game], spec: str) -> None:
        """Nothing is run before it is asked for."""
        self._make = make
        self._spec = spec
        self._left_over: list[float] = []

    def whole(self) -> Chunk:
        """Seconds of a run from nothing; the seconds of its iterations alone are kept."""
        import pyspiel

        num_iterations = their_count(self._make, self._spec)

        def chunk() -> float:
            started = time.process_time()
            solver = pyspiel.CFRPlusSolver(pyspiel.load_game(self._spec))
            is_made = time.process_time()
            for _ in range(num_iterations):
                solver.evaluate_and_update_policy()
            ended = time.process_time()
            self._left_over.append(ended - is_made)
            return ended - started

        return chunk

    def iterations(self) -> Chunk:
        """Seconds of the iterations alone, of the last run if nobody has asked for them."""
        whole = self.whole()

        def chunk() -> float:
            if not self._left_over:
                whole()
            return self._left_over.pop()

        return chunk


def their_rate(solver_name: str, spec: str) -> Chunk:
    """Iterations, one at a time."""
    import pyspiel

    solver = getattr(pyspiel, solver_name)(pyspiel.load_game(spec))
    return times(1, solver.evaluate_and_update_policy)


def their_samples(solver_name: str, spec: str) -> Chunk:
    """Iterations of MCCFR, some at a time."""
    import pyspiel

    solver = getattr(pyspiel, solver_name)(pyspiel.load_game(spec))

    def run(number: int) -> None:
        for _ in range(number):
            solver.run_iteration()

    run(SAMPLES_BEFORE)
    return times(SAMPLES_PER_CHUNK, lambda: run(SAMPLES_PER_CHUNK))


def their_sampling(spec: str) -> Chunk:
    """Seconds of external sampling until the average is good enough."""
    import pyspiel

    game = pyspiel.load_game(spec)

    def chunk() -> float:
        solver: Any = pyspiel.ExternalSamplingMCCFRSolver(
            game, avg_type=pyspiel.MCCFRAverageType.SIMPLE
        )
        seconds = 0.0
        while True:
            started = time.process_time()
            for _ in range(SAMPLING_CHECK_EVERY):
                solver.run_iteration()
            seconds += time.process_time() - started
            if pyspiel.exploitability(game, solver.average_policy()) <= SAMPLING_GOAL:
                return seconds

    return chunk


# ---- LiteEFG, where somebody has installed it ----------------------------------------------------
#
# It cannot be one of our extras: LiteEFG 1.0.0 demands versions of jax, flax and optax that exclude
# those of our other packages, for a part of it that is not used here. By hand::
#
#     pip install --no-deps LiteEFG==1.0.0
#     pip install pandas
#
# (it is built from C++, for some minutes). NoRegret, the other quick solver of the field, takes
# Python 3.12 or later, and all its releases are called development ones: it cannot be had beside a
# project that is measured on 3.11.

SOLVERS = ("CFRplus", "PCFR", "DCFR")
"""Those of its solvers that may be the quickest; whichever is, is measured."""
AVERAGE = "linear-avg-iterate"


def _liteefg(solver: str, spec: str) -> tuple[Any, Any]:
    """Its environment and solver of a game of OpenSpiel; it says much, and keeps a file at home."""
    import LiteEFG
    import pyspiel

    with (
        contextlib.redirect_stdout(io.StringIO()),
        tempfile.TemporaryDirectory() as home,
        mock.patch.dict(os.environ, HOME=home),
    ):
        environment = LiteEFG.OpenSpielEnv(pyspiel.load_game(spec), traverse_type="Enumerate")
        graph = importlib.import_module(f"LiteEFG.baselines.{solver}").graph()
        environment.set_graph(graph)
    return environment, graph


def _iterate(environment: Any, graph: Any, num_iterations: int) -> None:
    for _ in range(num_iterations):
        graph.update_graph(environment)
        environment.update_strategy(graph.current_strategy(), update_best=False)


@cache
def _quickest(spec: str, goal: float, most: int) -> tuple[str, int]:
    """The solver that needs the least time, and how many iterations, by its own exploitability.

    If none is there after ``most`` iterations, the one that makes so many in the least time.
    """
    found, unfinished = [], []
    for solver in SOLVERS:
        environment, graph = _liteefg(solver, spec)
        seconds, count = 0.0, 0
        while count < most:
            started = time.process_time()
            _iterate(environment, graph, CHECK_EVERY)
            seconds += time.process_time() - started
            count += CHECK_EVERY
            gains = environment.exploitability(graph.current_strategy(), AVERAGE)
            if sum(gains) / 2 <= goal:
                found.append((seconds, solver, count))
                break
            if found and seconds > found[0][0]:
                break
        else:
            unfinished.append((seconds, solver, count))
        found.sort()
    _, solver, count = found[0] if found else min(unfinished)
    return solver, count


def liteefg_solve(spec: str, goal: float, most: int) -> Chunk:
    """Seconds of the iterations that its quickest solver needs; neither its checks nor its tree.

    Args:
        spec: the game, as OpenSpiel calls it.
        goal: exploitability.
        most: iterations after which it is stopped; the seconds are then fewer than it needs.
    """
    solver, num_iterations = _quickest(spec, goal, most)

    def chunk() -> float:
        environment, graph = _liteefg(solver, spec)
        started = time.process_time()
        _iterate(environment, graph, num_iterations)
        return time.process_time() - started

    return chunk


# ---- the tables ----------------------------------------------------------------------------------

PLUS, PLAIN = "OpenSpiel CFRPlusSolver", "OpenSpiel CFRSolver"


def _jobs(name: str) -> list[Job]:
    make, spec, target = GAMES[name]
    runs, most = TheirRuns(make, spec), LITEEFG_ITERATIONS[name]
    solved, lite = partial(our_solve, make), partial(liteefg_solve, spec, GOAL, most)
    tree, public = (partial(our_rate, make, is_vector=is_vector) for is_vector in (False, True))
    plus, plain = (partial(their_rate, each, spec) for each in ("CFRPlusSolver", "CFRSolver"))
    rows: list[tuple[Any, ...]] = [
        ("solve", f"to exploitability {GOAL:g}: {spec}", solved, runs.whole, PLUS, "s", target),
        (
            "iterate",
            "the iterations alone",
            partial(our_iterations, make),
            runs.iterations,
            PLUS,
            "s",
        ),
        ("liteefg", f"at most {most:,} iterations", solved, lite, "LiteEFG", "s", LITEEFG_TARGET),
        ("plus", "CFR+ over the public tree", partial(public, "cfr+"), plus, PLUS, "iter/s"),
        ("plain", "CFR over the public tree", partial(public, "cfr"), plain, PLAIN, "iter/s"),
        ("tree", "CFR+ over the sequence form", partial(tree, "cfr+"), plus, PLUS, "iter/s"),
    ]
    return [Job(f"{name}_{row[0]}", *row[1:]) for row in rows]


def _rounds_job(name: str) -> Job:
    make, spec, _ = GAMES[name]
    what = f"as {name}_solve, over the tree that is made for rounds of Liar's Dice"
    return Job(
        f"{name}_rounds", what, partial(our_rounds, make), TheirRuns(make, spec).whole, PLUS, "s"
    )


def _sampling_job(name: str, sampling: str, target: float | None) -> Job:
    make, spec, _ = GAMES[name]
    solver = f"{sampling.capitalize()}SamplingMCCFRSolver"
    ours, theirs = partial(our_samples, make, sampling), partial(their_samples, solver, spec)
    what = f"iterations of MCCFR by {sampling} sampling: {spec}"
    return Job(f"{name}_{sampling}", what, ours, theirs, f"OpenSpiel {solver}", "iter/s", target)


JOBS = [
    *_jobs("leduc"),
    *_jobs("liars_dice"),
    _rounds_job("liars_dice"),
    *(_sampling_job(name, "external", SAMPLING_TARGET) for name in GAMES),
    *(_sampling_job(name, "outcome", None) for name in GAMES),
    Job(
        "leduc_sampling",
        f"from nothing to exploitability {SAMPLING_GOAL:g}: leduc_poker",
        partial(our_solve, LEDUC, SAMPLING_GOAL),
        partial(their_sampling, "leduc_poker"),
        "OpenSpiel ExternalSamplingMCCFRSolver",
        "s",
    ),
]

if __name__ == "__main__":
    sys.exit(main("cfr_speed", __doc__, JOBS))
