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
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.growth import Curve, Series, curve_table, draw_curves, measure_curves
from benchmarks.report import Job, Row, machine, missed_targets, table, verdict
from benchmarks.timing import CLOCKS, Chunk, Clock, Progress, timed_rate
from common.commands import COUNT, Parser, answers_in_one_line, at_least, is_rehearsal
from common.errors import UnknownNameError, nearest
from common.files import write_json

__all__ = ["Chunk", "Curve", "Job", "Row", "compare", "main", "on_cores"]

FOLDER = Path(__file__).resolve().parents[1] / "runs" / "benchmarks"


# ---- measuring -----------------------------------------------------------------------------------


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

examples:
  python -m benchmarks.{name} --list
  python -m benchmarks.{name} --only {example} --seconds 2
  python -m benchmarks.{name} --check        # for CI: exit code 1 when a promise is broken
"""


def make_parser(name: str, description: str, example: str) -> Parser:
    """The options all benchmarks share."""
    parser = Parser(
        prog=f"python -m benchmarks.{name}",
        description=description,
        epilog=EPILOG.format(name=name, example=example),
    )
    parser.add_argument("--list", action="store_true", help="show what can be measured, and stop")
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        help="measure these jobs and curves only; the files then hold nothing else",
    )
    parser.add_argument(
        "--seconds",
        type=at_least(1e-6, most=1e6),
        default=0.5,
        metavar="S",
        help="length of one measurement (default %(default)s)",
    )
    parser.add_argument(
        "--rounds",
        type=COUNT,
        default=5,
        metavar="N",
        help="measurements of each side (default %(default)s)",
    )
    parser.add_argument(
        "--clock",
        choices=sorted(CLOCKS),
        default="wall",
        help="wall: the time that passes; cpu: the time this process computes, steadier on a "
        "machine that others use too (default %(default)s; start-up times are always wall)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="exit with 1 and name every ratio below its target on the last line",
    )
    return parser


def main(
    name: str,
    description: str,
    jobs: Sequence[Job],
    curves: Sequence[Curve] = (),
    argv: Sequence[str] | None = None,
    folder: Path = FOLDER,
    num_cores: int = 1,
) -> int:
    """Run a benchmark from the command line; returns the exit code.

    Args:
        name: of the module and of the files it writes.
        description: first lines of ``--help``.
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
    chosen = _chosen(arguments.only, list(known))
    if is_rehearsal():
        return 0
    jobs = [job for job in jobs if job.name in chosen]
    curves = [curve for curve in curves if curve.name in chosen]

    clock = CLOCKS[arguments.clock]
    num_points = sum(curve.num_points for curve in curves)
    progress = Progress((len(jobs) + num_points) * arguments.rounds)
    with on_cores(num_cores) as place:
        length = f"{arguments.rounds} rounds of {arguments.seconds:g} s, {arguments.clock} clock"
        print(f"{name}: {place}, {length}\n{machine()}", flush=True)
        rows = compare(jobs, arguments.rounds, arguments.seconds, clock, progress)
        grown = measure_curves(curves, arguments.rounds, arguments.seconds / 4, clock, progress)
    progress.close()
    if rows:
        print(f"\n{table(rows)}")
        about = {
            "clock": arguments.clock,
            "seconds": arguments.seconds,
            "machine": f"{machine()}, {place}",
        }
        write_json(folder / f"{name}.json", [row.to_dict() | about for row in rows])
    if grown:
        _report_curves(name, grown, folder)
    if arguments.check:
        print(f"\n{verdict(rows)}")
        return 1 if missed_targets(rows) else 0
    return 0


def _chosen(only: Sequence[str] | None, known: Sequence[str]) -> set[str]:
    for name in only or ():
        if name not in known:
            raise UnknownNameError(f"unknown job '{name}': {nearest(name, known)}")
    return set(only or known)


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
