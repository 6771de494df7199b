"""Compile everything now, on all cores, instead of bit by bit when it is first used.

python -m envs.core.warming

Processes that start at the same time would all compile the same functions; this shares the files
among them, small ones first, because the others are made of those.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, redirect_stderr
from io import StringIO
from multiprocessing import get_context
from pathlib import Path

from common.commands import WORKERS, Parser, answers_in_one_line
from common.progress import Progress
from envs import GAMES
from envs.core.compiling import JIT_DISABLED, ROOMS, cache_folders, sources_of

PROJECT = Path(__file__).resolve().parents[2]
MARKS = ("\n@compiled(", "\n@kernel\n")
OPTIONAL = {"benchmarks"}
"""Rooms that need packages which not everybody has."""


def compiled_files(more: Sequence[str] = ()) -> list[Path]:
    """Every file of the project with compiled functions, those that need the fewest others first.

    Args:
        more: further folders of the project to look into.

    >>> "kernels.py" in [path.name for path in compiled_files()]
    True
    """
    found: list[Path] = []
    for room in (*(room for room in ROOMS if room not in OPTIONAL), *more):
        found += [path for path in (PROJECT / room).rglob("*.py") if has_compiled_code(path)]
    return sorted(found, key=lambda path: (len(sources_of(path)), path))


def has_compiled_code(path: Path) -> bool:
    """Whether a file has functions that are compiled when it is imported."""
    text = path.read_text(encoding="utf-8")
    return any(mark in text for mark in MARKS)


def is_compiled(path: Path) -> bool:
    """Whether compiled code of a file is where it should be."""
    return any(cache_folders(path)[0].rglob("*.nbc"))


def warm_up(num_processes: int | None = None, more: Sequence[str] = ()) -> int:
    """Compile every file that is not compiled yet; returns how many there were."""
    waiting = [path for path in compiled_files(more) if not is_compiled(path)]
    if JIT_DISABLED or not waiting:
        return 0
    # Kernels that a game leaves out are compiled where its table is made.
    modules = [*map(_module, waiting), *(place.partition(":")[0] for place in GAMES.values())]
    processes = min(num_processes or os.cpu_count() or 1, len(waiting))
    with (
        get_context("spawn").Pool(processes) as pool,
        closing(Progress(len(modules), "files compiled")) as progress,
    ):
        done: Iterator[str] = pool.imap_unordered(_import, modules)
        for _ in done:
            progress.add(1)
    return len(waiting)


def _module(path: Path) -> str:
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts)


def _import(module: str) -> str:
    with redirect_stderr(StringIO()):  # what is compiled is shown by the bar
        importlib.import_module(module)
    return module


@answers_in_one_line("warming")
def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    parser = Parser(
        prog="python -m envs.core.warming",
        description=__doc__,
    )
    parser.add_argument("--processes", type=WORKERS, help="how many (one for each core)")
    parser.add_argument("more", nargs="*", help="further folders, such as tests/support")
    parsed = parser.parse_args(arguments)
    print(f"{warm_up(parsed.processes, parsed.more)} files compiled")
    return 0


if __name__ == "__main__":
    sys.exit(main())
