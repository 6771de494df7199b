"""LiteEFG's solvers as a peer of ``cfr_speed``, where somebody has installed it.

It cannot be one of our extras: LiteEFG 1.0.0 demands versions of jax, flax and optax that exclude
those of our other packages, for a part of it that is not used here. By hand::

    pip install --no-deps LiteEFG==1.0.0
    pip install pandas

(it is built from C++, for some minutes). NoRegret, the other quick solver of the field, takes
Python 3.12 or later, and all its releases are called development ones: it cannot be had beside a
project that is measured on 3.11.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import tempfile
import time
from functools import cache
from typing import Any
from unittest import mock

from benchmarks.timing import Chunk

__all__ = ["PEER", "liteefg_solve"]

PEER = "LiteEFG"
SOLVERS = ("CFRplus", "PCFR", "DCFR")
"""Those of its solvers that may be the quickest; whichever is, is measured."""
AVERAGE = "linear-avg-iterate"
CHECK_EVERY = 10


def _make(solver: str, spec: str) -> tuple[Any, Any]:
    """Its environment and solver of a game of OpenSpiel; it says much, and keeps a file at home."""
    import LiteEFG
    import pyspiel

    with (
        contextlib.redirect_stdout(io.StringIO()),
        tempfile.TemporaryDirectory() as home,
        mock.patch.dict(os.environ, HOME=home),
    ):
        environment = LiteEFG.OpenSpielEnv(pyspiel.load_game(spec), traverse_type="Enumerate")
        graph = importlib.import_module(f"LiteEFG.baselines.{solver}").graph()
        environment.set_graph(graph)
    return environment, graph


def _run(environment: Any, graph: Any, num_iterations: int) -> None:
    for _ in range(num_iterations):
        graph.update_graph(environment)
        environment.update_strategy(graph.current_strategy(), update_best=False)


@cache
def _quickest(spec: str, goal: float, most: int) -> tuple[str, int]:
    """The solver that needs the least time, and how many iterations, by its own exploitability.

    If none is there after ``most`` iterations, the one that makes so many in the least time.
    """
    found, unfinished = [], []
    for solver in SOLVERS:
        environment, graph = _make(solver, spec)
        seconds, count = 0.0, 0
        while count < most:
            started = time.process_time()
            _run(environment, graph, CHECK_EVERY)
            seconds += time.process_time() - started
            count += CHECK_EVERY
            gains = environment.exploitability(graph.current_strategy(), AVERAGE)
            if sum(gains) / 2 <= goal:
                found.append((seconds, solver, count))
                break
            if found and seconds > found[0][0]:
                break
        else:
            unfinished.append((seconds, solver, count))
        found.sort()
    _, solver, count = found[0] if found else min(unfinished)
    return solver, count


def liteefg_solve(spec: str, goal: float, most: int) -> Chunk:
    """Seconds of the iterations that its quickest solver needs; neither its checks nor its tree.

    Args:
        spec: the game, as OpenSpiel calls it.
        goal: exploitability.
        most: iterations after which it is stopped; the seconds are then fewer than it needs.
    """
    solver, num_iterations = _quickest(spec, goal, most)

    def chunk() -> float:
        environment, graph = _make(solver, spec)
        started = time.process_time()
        _run(environment, graph, num_iterations)
        return time.process_time() - started

    return chunk
