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
    of LiteEFG's solvers, if that is installed (``benchmarks/liteefg.py`` says how, and why NoRegret
    is not there). In one-die Liar's Dice an iteration takes it twice as long as we take for the
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
    never written down (``agents/cfr/liars_dice``).
``leduc_sampling``
    Seconds to exploitability 0.1 of Leduc poker, and OpenSpiel's external-sampling MCCFR, which is
    checked every 5,000 iterations, and only the iterations count. From there on sampling needs four
    times as long for half the exploitability.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from agents.cfr import CFRSolver, GameTree, SamplingSolver, Solver, VectorCFRSolver
from agents.games.liars_dice.round_tree import RoundShape
from agents.games.liars_dice.rounds import RoundSolver
from benchmarks.growth import Curve
from benchmarks.harness import Job, main
from benchmarks.liteefg import PEER, liteefg_solve
from benchmarks.timing import Chunk
from envs import make_game
from envs.core.game import Game
from envs.liars_dice.game import LiarsDice

__all__ = ["CURVES", "JOBS"]

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


def our_solve(make: Callable[[], Game], goal: float = GOAL, has_building: bool = True) -> Chunk:
    """Seconds to solve a game from nothing, or once its public tree is there."""

    def chunk() -> float:
        started = time.process_time()
        solver = VectorCFRSolver.of(make(), "discounted")
        if not has_building:
            started = time.process_time()
        solve(solver, goal)
        return time.process_time() - started

    return chunk


def our_rounds(make: Callable[[], Game]) -> Chunk:
    """Seconds to solve a round of Liar's Dice from nothing, over its own tree."""

    def chunk() -> float:
        started = time.process_time()
        game = make()
        assert isinstance(game, LiarsDice)
        first, second = game.options.dice_by_seat
        shape = RoundShape(game.options, (first, second))
        solver = RoundSolver(shape, "cfr+", averaging=4.0)
        solve(solver, GOAL)
        return time.process_time() - started

    return chunk


def our_rate(make: Callable[[], Game], variant: str, is_vector: bool) -> Chunk:
    """Iterations, some at a time."""
    tree = GameTree(make(), has_keys=True)
    solver = (VectorCFRSolver if is_vector else CFRSolver)(tree, variant)

    def chunk() -> float:
        solver.run(ITERATIONS_PER_CHUNK)
        return ITERATIONS_PER_CHUNK

    return chunk


def our_samples(make: Callable[[], Game], sampling: str) -> Chunk:
    """Iterations of MCCFR, some at a time."""
    solver = SamplingSolver(make(), sampling=sampling, variant="cfr", max_infosets=SAMPLING_ROOM)
    solver.run(SAMPLES_BEFORE)

    def chunk() -> float:
        solver.run(SAMPLES_PER_CHUNK)
        return SAMPLES_PER_CHUNK

    return chunk


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

    def chunk() -> float:
        solver.evaluate_and_update_policy()
        return 1.0

    return chunk


def their_samples(solver_name: str, spec: str) -> Chunk:
    """Iterations of MCCFR, some at a time."""
    import pyspiel

    solver = getattr(pyspiel, solver_name)(pyspiel.load_game(spec))
    for _ in range(SAMPLES_BEFORE):
        solver.run_iteration()

    def chunk() -> float:
        for _ in range(SAMPLES_PER_CHUNK):
            solver.run_iteration()
        return SAMPLES_PER_CHUNK

    return chunk


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


# ---- the tables ----------------------------------------------------------------------------------


def _jobs(name: str) -> list[Job]:
    make, spec, target = GAMES[name]
    runs = TheirRuns(make, spec)
    peer: dict[str, Any] = {"peer_name": "OpenSpiel CFRPlusSolver", "package": "open_spiel"}
    duration: dict[str, Any] = {**peer, "unit": "s", "is_duration": True}
    rate: dict[str, Any] = {**peer, "unit": "iter/s"}
    jobs = [
        Job(
            f"{name}_solve",
            f"from nothing to exploitability {GOAL:g}: {spec}",
            partial(our_solve, make),
            runs.whole,
            target=target,
            **duration,
        ),
        Job(
            f"{name}_iterate",
            f"as {name}_solve, the iterations alone",
            partial(our_solve, make, has_building=False),
            runs.iterations,
            **duration,
        ),
        Job(
            f"{name}_liteefg",
            f"as {name}_solve, the peer's iterations alone, {LITEEFG_ITERATIONS[name]:,} at most",
            partial(our_solve, make),
            partial(liteefg_solve, spec, GOAL, LITEEFG_ITERATIONS[name]),
            target=LITEEFG_TARGET,
            **{**duration, "peer_name": PEER, "package": "LiteEFG"},
        ),
        Job(
            f"{name}_plus",
            f"iterations of CFR+ over the public tree: {spec}",
            partial(our_rate, make, "cfr+", is_vector=True),
            partial(their_rate, "CFRPlusSolver", spec),
            **rate,
        ),
        Job(
            f"{name}_plain",
            f"iterations of plain CFR over the public tree: {spec}",
            partial(our_rate, make, "cfr", is_vector=True),
            partial(their_rate, "CFRSolver", spec),
            **{**rate, "peer_name": "OpenSpiel CFRSolver"},
        ),
        Job(
            f"{name}_tree",
            f"iterations of CFR+ over the sequence form: {spec}",
            partial(our_rate, make, "cfr+", is_vector=False),
            partial(their_rate, "CFRPlusSolver", spec),
            **rate,
        ),
    ]
    if name == "liars_dice":
        what = f"as {name}_solve, over the tree that is made for rounds of Liar's Dice"
        jobs.append(Job(f"{name}_rounds", what, partial(our_rounds, make), runs.whole, **duration))
    return jobs


def _sampling_job(name: str, sampling: str, target: float | None) -> Job:
    make, spec, _ = GAMES[name]
    solver_name = f"{sampling.capitalize()}SamplingMCCFRSolver"
    return Job(
        f"{name}_{sampling}",
        f"iterations of MCCFR by {sampling} sampling: {spec}",
        partial(our_samples, make, sampling),
        partial(their_samples, solver_name, spec),
        target=target,
        peer_name=f"OpenSpiel {solver_name}",
        package="open_spiel",
        unit="iter/s",
    )


JOBS = [
    *_jobs("leduc"),
    *_jobs("liars_dice"),
    *(_sampling_job(name, "external", SAMPLING_TARGET) for name in GAMES),
    *(_sampling_job(name, "outcome", None) for name in GAMES),
    Job(
        "leduc_sampling",
        f"from nothing to exploitability {SAMPLING_GOAL:g}: leduc_poker",
        partial(our_solve, LEDUC, SAMPLING_GOAL),
        partial(their_sampling, "leduc_poker"),
        peer_name="OpenSpiel ExternalSamplingMCCFRSolver",
        package="open_spiel",
        unit="s",
        is_duration=True,
    ),
]


def _one_die(faces: int, is_vector: bool) -> Callable[[], Chunk]:
    make = partial(make_game, "liars_dice_v0", "openspiel", faces=faces)
    return partial(our_rate, make, "cfr+", is_vector)


CURVES = [
    Curve(
        "faces",
        "iterations of CFR+ on one-die Liar's Dice",
        "faces of a die",
        {
            label: {faces: _one_die(faces, is_vector) for faces in range(2, 7)}
            for label, is_vector in (("public tree", True), ("sequence form", False))
        },
        unit="iter/s",
    )
]

DESCRIPTION = """\
Measure how long games take to solve, with OpenSpiel's C++ solvers in the same run and on one core.

OpenSpiel comes with: pip install 'masquerade[bench]'
It needs two minutes to solve one-die Liar's Dice once, so use few --rounds for those jobs.
Results go to:        runs/benchmarks/cfr_speed.json, cfr_speed_scaling.json, cfr_speed_scaling.png
What both sides do:   the top of benchmarks/cfr_speed.py"""

if __name__ == "__main__":
    sys.exit(main("cfr_speed", DESCRIPTION, JOBS, CURVES))
