"""A command run once as plain Python, up to where it knows its names, before it compiles.

Some names stand in modules that compile when they are imported, such as the jobs of a benchmark. A
command that is given one of them runs itself first without the compiler: what is refused there has
taken seconds instead of minutes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

__all__ = ["is_rehearsal", "rehearse"]

MARK, PLAIN = "MASQUERADE_REHEARSAL", "NUMBA_DISABLE_JIT"


def is_rehearsal() -> bool:
    """Whether this process ends as soon as names are known to be right."""
    return MARK in os.environ


def rehearse(words: Sequence[str]) -> None:
    """Run a command of ours without the compiler; if it refuses, so does this process.

    Args:
        words: what follows the interpreter, such as ``["-m", "benchmarks.coverage"]``.
    """
    if is_rehearsal() or PLAIN in os.environ or "envs.core.compiling" in sys.modules:
        return
    environment = {**os.environ, MARK: "1", PLAIN: "1"}
    code = subprocess.run([sys.executable, *words], env=environment, check=False).returncode
    if code:
        sys.exit(code)
