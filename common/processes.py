"""Processes that work for another: they end when it ends, however that came about."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from common.errors import MasqueradeError

Job = TypeVar("Job")
Result = TypeVar("Result")


def side_by_side(
    work: Callable[[Job], Result], jobs: Sequence[Job], workers: int
) -> Iterator[tuple[Job, Result]]:
    """Every job with its result as it is done, in so many processes if there are several.

    >>> list(side_by_side(abs, [-2, 3], workers=1))
    [(-2, 2), (3, 3)]
    """
    if workers == 1 or len(jobs) < 2:
        for job in jobs:
            yield job, work(job)
        return
    context, number = multiprocessing.get_context("spawn"), min(workers, len(jobs))
    pool = ProcessPoolExecutor(number, context, initializer=_leave_quietly)
    try:
        waiting = {pool.submit(work, job): job for job in jobs}
        for done in as_completed(waiting):
            yield waiting[done], done.result()
    except BrokenProcessPool as error:
        fix = "the same command goes on, with fewer --workers if memory was short"
        raise MasqueradeError(f"a process of this command has died: {fix}") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_quietly() -> None:
    """Let Ctrl-C end a process at once: its job is done again, and the first process tells."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    leave_with_parent()


def leave_with_parent() -> None:
    """Let this process end as soon as the one that started it has ended, even if it was killed.

    Give it to a pool as its ``initializer``: workers of a pool wait for work from each other as
    well as from their parent, so that none of them would ever notice.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_leave_after, args=(parent,), daemon=True).start()


def _leave_after(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
