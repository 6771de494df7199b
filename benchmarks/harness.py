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
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from benchmarks.report import (
    Chunk,
    Curve,
    Job,
    Progress,
    Row,
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

__all__ = ["Chunk", "Curve", "Job", "Row", "compare", "main", "on_cores", "seconds_of", "times"]

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


def compare(
    jobs: Sequence[Job], rounds: int, seconds: float, clock: Clock, progress: Progress
) -> list[Row]:
    """Measure every job in interleaved rounds."""
    sides: list[tuple[Chunk, Chunk | None, str | None]] = []
    for job in jobs:
        progress.say(f"preparing {job.name}")
        ours = job.ours()
        ours()
        peer, skipped = _prepared_peer(job)
        sides.append((ours, peer, skipped))
    our_values: list[list[float]] = [[] for _ in jobs]
    peer_values: list[list[float]] = [[] for _ in jobs]
    for number in range(rounds):
        for i, job in enumerate(jobs):
            progress.advance(f"round {number + 1} of {rounds}, {job.name}")
            ours, peer, _ = sides[i]
            both = [(ours, our_values[i])] + ([(peer, peer_values[i])] if peer else [])
            for chunk, values in both if number % 2 == 0 else reversed(both):
                values.append(
                    float(chunk()) if job.is_duration else timed_rate(chunk, seconds, clock)
                )
    return [
        Row(job, tuple(our_values[i]), tuple(peer_values[i]), sides[i][2])
        for i, job in enumerate(jobs)
    ]


def _prepared_peer(job: Job) -> tuple[Chunk | None, str | None]:
    try:
        peer = job.peer()
    except ImportError as error:
        return None, f"{job.peer_name} is not installed ({error})"
    peer()
    return peer, None


def measure_curves(
    curves: Sequence[Curve], rounds: int, seconds: float, clock: Clock, progress: Progress
) -> dict[Curve, Series]:
    """Measure all points in interleaved rounds and take medians."""
    points = [
        (curve, line, x) for curve in curves for line, made in curve.lines.items() for x in made
    ]
    chunks = []
    for curve, line, x in points:
        progress.say(f"preparing {curve.name}: {line}, {x}")
        chunk = curve.lines[line][x]()
        chunk()
        chunks.append(chunk)
    values: list[list[float]] = [[] for _ in points]
    for number in range(rounds):
        for i, (curve, line, x) in enumerate(points):
            progress.advance(f"round {number + 1} of {rounds}, {curve.name}: {line}, {x}")
            values[i].append(timed_rate(chunks[i], seconds, clock))
    grown: dict[Curve, Series] = {curve: {line: {} for line in curve.lines} for curve in curves}
    for (curve, line, x), rates in zip(points, values, strict=True):
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
    run = answers_in_one_line(name)(_run)
    return run(name, parser, argv, jobs, curves, folder, num_cores)


def _run(
    name: str,
    parser: Parser,
    argv: Sequence[str] | None,
    jobs: Sequence[Job],
    curves: Sequence[Curve],
    folder: Path,
    num_cores: int,
) -> int:
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
    jobs = [job for job in jobs if job.name in chosen]
    curves = [curve for curve in curves if curve.name in chosen]

    rounds, seconds, clock = arguments.rounds, arguments.seconds, CLOCKS[arguments.clock]
    num_points = sum(curve.num_points for curve in curves)
    progress = Progress((len(jobs) + num_points) * rounds)
    with on_cores(num_cores) as place:
        length = f"{rounds} rounds of {seconds:g} s, {arguments.clock} clock"
        print(f"{name}: {place}, {length}\n{machine()}", flush=True)
        rows = compare(jobs, rounds, seconds, clock, progress)
        grown = measure_curves(curves, rounds, seconds / 4, clock, progress)
    progress.close()
    if rows:
        print(f"\n{table(rows)}")
        where = f"{machine()}, {place}"
        about = {"clock": arguments.clock, "seconds": seconds, "machine": where}
        write_json(folder / f"{name}.json", [row.to_dict() | about for row in rows])
    if grown:
        _report_curves(name, grown, folder)
    if arguments.check:
        print(f"\n{verdict(rows)}")
        return 1 if missed_targets(rows) else 0
    return 0


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
