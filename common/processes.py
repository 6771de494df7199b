"""Processes that work for another: they end when it ends, however that came about."""

from __future__ import annotations

import multiprocessing
import os
import threading

__all__ = ["leave_with_parent"]


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
