"""Workers of a pool do not outlive the process they work for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.alone

PARENT = """
import multiprocessing, os, sys, time
from concurrent.futures import ProcessPoolExecutor
from envs.core.pools import leave_with_parent

def work(number):
    os.write(1, f"{os.getpid()}\\n".encode())  # in one piece
    time.sleep(600)

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, context, initializer=leave_with_parent) as pool:
        list(pool.map(work, range(4)))
"""


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert parent.stdout is not None
    assert len({int(parent.stdout.readline()) for _ in range(2)}) == 2, "both are at work"
    parent.kill()
    parent.wait()
    # The workers hold the other end of the pipe: it closes when the last of them is gone.
    rest, _ = parent.communicate()
    assert rest == ""
