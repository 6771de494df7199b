"""Us and a peer in one run, as a ratio: what every benchmark is made of.

A benchmark is a list of :class:`Job` and a call of :func:`main`. A job names two sides that do the
same work. The harness

* puts the whole process, threads and children included, on one core, or on as many as it is about;
* prepares both sides (imports, compilations) and lets each work once untimed;
* measures in rounds: in each, every job measures both sides, one right after the other, in changing
  order, so that a machine that is busy or hot for a while is so for both;
* takes the median of each side over the rounds; the ratio is that of the medians, and its spread is
  the lowest and the highest ratio of a single round.

A peer that is not installed is named as skipped and has no ratio: it is never counted as beaten.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import MappingProxyType

from benchmarks.report import (
    Chunk,
    Curve,
    Job,
    Measurement,
    Series,
    curve_table,
    draw_curves,
    machine,
    missed_targets,
    table,
    verdict,
)
from common.commands import COUNT, Parser, answers_in_one_line, at_least, is_rehearsal
from common.errors import UnknownNameError, nearest
from common.files import write_json
from common.progress import Progress

__all__ = [
    "Chunk",
    "Curve",
    "Job",
    "Measurement",
    "compare",
    "main",
    "on_cores",
    "seconds_of",
    "times",
]

FOLDER = Path(__file__).resolve().parents[1] / "runs" / "benchmarks"
Clock = Callable[[], float]
CLOCKS: Mapping[str, Clock] = MappingProxyType(
    {"wall": time.perf_counter, "cpu": time.process_time}
)


# ---- measuring -----------------------------------------------------------------------------------


def times(count: float, work: Callable[[], object]) -> Chunk:
    """Work whose amount is known beforehand."""

    def chunk() -> float:
        work()
        return count

    return chunk


def seconds_of(work: Callable[[], object], scale: float = 1.0) -> Chunk:
    """Seconds that the process computes for some work, or another unit, ``scale`` of a second."""

    def chunk() -> float:
        started = time.process_time()
        work()
        return scale * (time.process_time() - started)

    return chunk


def timed_rate(chunk: Chunk, seconds: float, clock: Clock) -> float:
    """Work for about so many seconds: how much was done in each of them."""
    done = 0.0
    started = clock()
    while True:
        done += chunk()
        elapsed = clock() - started
        if elapsed >= seconds:
            return done / elapsed


@dataclass(frozen=True)
class Turn:
    """What is measured in one go: both sides of a job, or a point of a curve."""

    what: str
    chunks: Sequence[Chunk]
    is_duration: bool = False


def in_rounds(
    turns: Sequence[Turn], rounds: int, seconds: float, clock: Clock
) -> list[list[list[float]]]:
    """[turns][chunks][rounds] one turn after the other in every round, in changing order within."""
    values: list[list[list[float]]] = [[[] for _ in turn.chunks] for turn in turns]
    with closing(Progress(len(turns) * rounds, "measurements")) as progress:
        for done, (number, i) in enumerate(product(range(rounds), range(len(turns)))):
            turn, sides = turns[i], list(zip(turns[i].chunks, values[i], strict=True))
            progress.show(done, f"round {number + 1} of {rounds}, {turn.what}")
            for chunk, found in sides if number % 2 == 0 else reversed(sides):
                found.append(
                    float(chunk()) if turn.is_duration else timed_rate(chunk, seconds, clock)
                )
    return values


def compare(jobs: Sequence[Job], rounds: int, seconds: float, clock: Clock) -> list[Measurement]:
    """Measure every job in interleaved rounds."""
    turns, skipped = [], []
    for job in jobs:
        chunks, reason = [_warmed(job.ours)], None
        try:
            chunks.append(_warmed(job.peer))
        except ImportError as error:
            reason = f"{job.peer_name} is not installed ({error})"
        turns.append(Turn(job.name, chunks, job.is_duration))
        skipped.append(reason)
    rows = zip(jobs, in_rounds(turns, rounds, seconds, clock), skipped, strict=True)
    return [
        Measurement(job, tuple(ours), tuple(*peer), reason) for job, (ours, *peer), reason in rows
    ]


def _warmed(make: Callable[[], Chunk]) -> Chunk:
    chunk = make()
    chunk()
    return chunk


def measure_curves(
    curves: Sequence[Curve], rounds: int, seconds: float, clock: Clock
) -> dict[Curve, Series]:
    """Measure all points in interleaved rounds and take medians."""
    points = [
        (curve, line, x) for curve in curves for line, made in curve.lines.items() for x in made
    ]
    turns = [
        Turn(f"{curve.name}: {line}, {x}", [_warmed(curve.lines[line][x])])
        for curve, line, x in points
    ]
    grown: dict[Curve, Series] = {curve: {line: {} for line in curve.lines} for curve in curves}
    found = in_rounds(turns, rounds, seconds, clock)
    for (curve, line, x), (rates,) in zip(points, found, strict=True):
        grown[curve][line][x] = statistics.median(rates)
    return grown


@contextmanager
def on_cores(number: int = 1) -> Iterator[str]:
    """Keep this process, all its threads and children, on so many cores; yields where that is."""
    if not hasattr(os, "sched_setaffinity"):
        yield "not pinned to a core: this system cannot"
        return
    before = os.sched_getaffinity(0)
    cores = sorted(before)[-number:]
    # Threads that libraries have already started must come along.
    _pin(set(cores))
    try:
        names = " and ".join(map(str, cores))
        yield f"core{'s' * (len(cores) > 1)} {names} of {os.cpu_count()}"
    finally:
        _pin(before)


def _pin(cores: set[int]) -> None:
    tasks = Path("/proc/self/task")
    threads = [int(task.name) for task in tasks.iterdir()] if tasks.is_dir() else [0]
    for thread in threads:
        try:
            os.sched_setaffinity(thread, cores)
        except ProcessLookupError:
            continue  # it has ended meanwhile


# ---- the command line ----------------------------------------------------------------------------

EPILOG = """\
how to read the table:
  ratio   ours / peer, medians over all rounds (peer / ours for times): 10 is ten times as fast
  spread  the lowest and highest ratio of a single round; when they are far apart the machine was
          busy: use more --rounds, longer --seconds, or --clock cpu
  target  what the project promises; "-" for rows that only inform

The peers come with pip install 'masquerade[bench,dev]'. Results go to runs/benchmarks/{name}.json,
and how our cost grows to {name}_scaling.json and {name}_scaling.png there.

examples:
  python -m benchmarks.{name} --list
  python -m benchmarks.{name} --only {example} --seconds 2
  python -m benchmarks.{name} --check        # for CI: exit code 1 when a promise is broken
"""


def make_parser(name: str, description: str | None, example: str) -> Parser:
    """The options all benchmarks share."""
    parser = Parser(
        prog=f"python -m benchmarks.{name}",
        description=description,
        epilog=EPILOG.format(name=name, example=example),
    )
    add = parser.add_argument
    add("--list", action="store_true", help="show what can be measured, and stop")
    only = "measure these jobs and curves only; the files then hold nothing else"
    add("--only", nargs="+", metavar="NAME", help=only)
    length = "length of one measurement (default %(default)s)"
    add("--seconds", type=at_least(1e-6, most=1e6), default=0.5, metavar="S", help=length)
    number = "measurements of each side (default %(default)s)"
    add("--rounds", type=COUNT, default=5, metavar="N", help=number)
    clock = (
        "wall: the time that passes; cpu: the time this process computes, steadier on a "
        "machine that others use too (default %(default)s; start-up times are always wall)"
    )
    add("--clock", choices=sorted(CLOCKS), default="wall", help=clock)
    check = "exit with 1 and name every ratio below its target on the last line"
    add("--check", action="store_true", help=check)
    return parser


def main(
    name: str,
    description: str | None,
    jobs: Sequence[Job],
    curves: Sequence[Curve] = (),
    argv: Sequence[str] | None = None,
    folder: Path = FOLDER,
    num_cores: int = 1,
) -> int:
    """Run a benchmark from the command line; returns the exit code.

    Args:
        name: of the module and of the files it writes.
        description: what both sides of every job do, for ``--help``.
        jobs: what is compared.
        curves: how our cost grows.
        argv: arguments, those of the process by default.
        folder: where ``<name>.json``, ``<name>_scaling.json`` and ``<name>_scaling.png`` go.
        num_cores: that the process may use.
    """
    parser = make_parser(name, description, example=jobs[0].name)

    @answers_in_one_line(name)
    def run() -> int:
        arguments = parser.parse_args(argv)
        known = {job.name: job.what for job in jobs} | {curve.name: curve.what for curve in curves}
        if arguments.list:
            for entry, what in known.items():
                print(f"{entry:<22}{what}")
            return 0
        chosen = arguments.only or list(known)
        for entry in chosen:
            if entry not in known:
                raise UnknownNameError(f"unknown job '{entry}': {nearest(entry, known)}")
        if is_rehearsal():
            return 0
        rounds, seconds, clock = arguments.rounds, arguments.seconds, CLOCKS[arguments.clock]
        with on_cores(num_cores) as place:
            length = f"{rounds} rounds of {seconds:g} s, {arguments.clock} clock"
            print(f"{name}: {place}, {length}\n{machine()}", flush=True)
            measured = [job for job in jobs if job.name in chosen]
            rows = compare(measured, rounds, seconds, clock)
            growing = [curve for curve in curves if curve.name in chosen]
            grown = measure_curves(growing, rounds, seconds / 4, clock)
        if rows:
            print(f"\n{table(rows)}")
            where = f"{machine()}, {place}"
            about = {"clock": arguments.clock, "seconds": seconds, "machine": where}
            write_json(folder / f"{name}.json", [row.to_dict() | about for row in rows])
        if grown:
            _report_curves(name, grown, folder)
        if arguments.check:
            print(f"\n{verdict(rows)}")
        return int(arguments.check and bool(missed_targets(rows)))

    return run()


def _report_curves(name: str, grown: dict[Curve, Series], folder: Path) -> None:
    print("\nhow our cost grows")
    for curve, series in grown.items():
        print(f"\n{curve_table(curve, series)}")
    content = [
        {"curve": curve.name, "x": curve.x_label, "unit": curve.unit, "series": series}
        for curve, series in grown.items()
    ]
    write_json(folder / f"{name}_scaling.json", content)
    path = folder / f"{name}_scaling.png"
    try:
        draw_curves(grown, path)
    except ImportError as error:
        print(f"\nno plot: matplotlib is not installed ({error})", file=sys.stderr)
    else:
        print(f"\nplot: {path}")
