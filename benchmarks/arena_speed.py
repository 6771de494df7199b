"""How fast tournaments are, next to other libraries: ``python -m benchmarks.arena_speed``.

Two-player Leduc on one core, in games per second. Our side is what ``evaluate.py tournament`` does
on one worker: every deal in both seatings, agents that may fail without stopping it, and the result
of every game (``play_units``). The others play one game at a time and keep averages (RLCard) or
nothing (OpenSpiel).

``random_*``
    Random players: ours, and those that each library brings along. ``random_rlcard`` is RLCard's
    ``tournament``; ``random_openspiel`` and ``random_cpp_bots`` are the loop over bots of
    OpenSpiel's Python library (``open_spiel.python.algorithms.evaluate_bots``), with its random bot
    in Python, which is the promise, and in C++; ``random_cpp_loop`` has the loop in C++ too
    (``pyspiel.evaluate_bots``), so that Python only begins games. The last two inform.
``network_*``
    Everybody has a network of the same size and asks it at every move, then draws by softmax (see
    ``peers``): we for all games that wait, the others for one. Observations have 40 (ours), 36
    (RLCard) and 30 (OpenSpiel) numbers. ``network_rlcard`` and ``network_openspiel`` are the loops
    in Python, ``network_cpp_loop`` is that of ``pyspiel.evaluate_bots``.

Games of ours and of OpenSpiel follow the same rules and have 4.1 moves on average. In RLCard one
may fold without facing a bet, and its games have 2.6: in moves our lead would be larger.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from agents import AGENTS
from agents.spec import AgentSpec
from arena.schedule import make_units
from arena.spec import TournamentSpec
from arena.workers import WorkerContext, play_units
from benchmarks import peers
from benchmarks.harness import Chunk, Job, main

DEALS = 20_000
LEDUC = "leduc_poker"  # in OpenSpiel's words

RANDOM = "random"
NETWORK = "network"
# It counts as one of ours, as every network of the suite does: what comes from outside could
# remember deals, and each of its seatings would be played in a process of its own.
AGENTS[NETWORK] = "benchmarks.peers:NetworkAgent"


# ---- our side ------------------------------------------------------------------------------------


def _agents(agent_id: str) -> tuple[AgentSpec, ...]:
    """Two players that are alike, but for the weights of their networks."""
    params: list[dict[str, Any]] = [
        {"seed": seed} if agent_id == NETWORK else {} for seed in range(2)
    ]
    return tuple(AgentSpec(agent_id, made, f"player {i}") for i, made in enumerate(params))


def our_tournament(agent_id: str) -> Chunk:
    """A whole tournament of two agents, in this process."""
    spec = TournamentSpec("leduc_v0", _agents(agent_id), deals=DEALS, seed=0)
    units = make_units(spec.groups(spec.build_game()), DEALS)

    def chunk() -> int:
        context = WorkerContext(spec)
        return sum(result.num_games for _, result in play_units(context, units))

    return chunk


# ---- the tables ----------------------------------------------------------------------------------


def _openspiel_job(
    name: str, kind: str, is_loop_compiled: bool = False, target: float | None = None
) -> Job:
    loop, ours = "C++" if is_loop_compiled else "Python", NETWORK if kind == "network" else RANDOM
    return Job(
        name,
        f"{ours} players and OpenSpiel's {loop} loop over its bots",
        partial(our_tournament, ours),
        partial(peers.openspiel_bots, LEDUC, kind, is_loop_compiled),
        f"OpenSpiel, {loop} loop, {kind} bots",
        "games/s",
        target,
    )


def _rlcard_job(name: str, ours: str, target: float) -> Job:
    what = f"{ours} players and the same in RLCard's tournament"
    theirs = partial(peers.rlcard_tournament, ours == NETWORK)
    return Job(
        name, what, partial(our_tournament, ours), theirs, "RLCard, tournament()", "games/s", target
    )


JOBS = [
    _rlcard_job("random_rlcard", RANDOM, 30.0),
    _openspiel_job("random_openspiel", "python", target=30.0),
    _openspiel_job("random_cpp_bots", "c++"),
    _openspiel_job("random_cpp_loop", "c++", is_loop_compiled=True),
    _rlcard_job("network_rlcard", NETWORK, 10.0),
    _openspiel_job("network_openspiel", "network", target=10.0),
    _openspiel_job("network_cpp_loop", "network", is_loop_compiled=True, target=10.0),
]

if __name__ == "__main__":
    sys.exit(main("arena_speed", __doc__, JOBS))
