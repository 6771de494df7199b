"""The reading of the thesis, and plans and replies by it, each worked out once."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from envs import make_game
from experiments.scotland_yard.reduced.certain import CertainWins, certain_wins
from experiments.scotland_yard.reduced.evaluation import AlphaBetaSettings
from experiments.scotland_yard.reduced.graph import TeamGraph, team_graph
from experiments.scotland_yard.reduced.plans import Games, play_plans
from experiments.scotland_yard.reduced.search import fugitive_table, plan_table

__all__ = ["EXACT", "READING", "VERSIONS", "WANTED", "plans_of", "play", "reduced", "replies_of"]

VERSIONS = ("v1", "v2", "v3", "v4")
READING = {"plies": 5, "nodes": "after_fugitive", "try_order": "compass"}
FUGITIVE = {"version": "v4", "plies": 1, "try_order": "compass"}
PUBLISHED = {"v1": (92.0, 5.8), "v2": (65.0, 6.4), "v3": (74.0, 6.3), "v4": (89.0, 6.7)}
WANTED = {"v1": (85.0, 95.9), "v2": (55.3, 73.6), "v3": (64.6, 81.6), "v4": (81.4, 93.7)}
"""Wilson intervals of what was published, from 100 games each."""
EXACT = "exact, all 13,800 starts"

Plans = npt.NDArray[np.int32]


def reduced(**options: int) -> TeamGraph:
    """The board of the thesis."""
    return team_graph(make_game("scotland_yard_v0", "reduced", **options))


@lru_cache(maxsize=64)
def plans_of(version: str, try_order: str = "compass", seed: int = 0, nodes: str = "") -> Plans:
    """The plans of a version."""
    game = make_game("scotland_yard_v0", "reduced")
    reading = {**READING, "try_order": try_order} | ({"nodes": nodes} if nodes else {})
    graph = team_graph(game, try_order, "steps", seed)
    return plan_table(graph, AlphaBetaSettings.parse({**reading, "version": version, "seed": seed}))


@lru_cache(maxsize=64)
def replies_of(
    version: str = "v4", plies: int = 1, try_order: str = "compass", seed: int = 0
) -> Plans:
    """The moves of a fugitive."""
    game = make_game("scotland_yard_v0", "reduced")
    graph = team_graph(game, try_order, "steps", seed)
    own = {**FUGITIVE, "version": version, "plies": plies, "try_order": try_order, "seed": seed}
    return fugitive_table(graph, AlphaBetaSettings.parse(own))


def solved() -> CertainWins:
    """The certain wins of the board."""
    return certain_wins(reduced())


def play(plans: Plans, replies: Plans) -> Games:
    """All starts."""
    return play_plans(reduced(), plans, replies)
