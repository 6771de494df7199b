"""Our speed against the peers, measured in one run, as a ratio: ``python -m benchmarks.<name>``.

``harness`` measures jobs, and how our own cost grows; ``report`` makes of them a table, a JSON
file, a plot and a verdict.
"""

from __future__ import annotations

import os
import sys

from common.commands import rehearse


def _look_at_names() -> None:
    """Jobs stand in modules that compile: lists and names are answered without the compiler."""
    words = sys.orig_argv[1:]
    if not any(word.startswith(f"{__name__}.") for word in words):
        return
    if {"--list", "--help", "-h"} & {*words} and "envs.core.compiling" not in sys.modules:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
    elif any(word.partition("=")[0] == "--only" for word in words):
        rehearse(words)


_look_at_names()
