"""How far search is from exact play on generated boards so small that they can be solved.

Both sides of a board are solved by CFR, and search then plays one side against the solution: what
it gets less than the value of the board is its distance. One search is made in every infoset.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import numpy.typing as npt

from agents import make_agent
from agents.cfr.evaluation import views_at
from agents.cfr.response import expected_values
from agents.cfr.solver import make_solver
from agents.cfr.tree import GameTree, Probs
from agents.ismcts.searcher import Analysis
from common.progress import LOG_EVERY, Progress
from envs import make_game
from envs.core.rng import fill_streams, stream
from experiments.runner import Row, Settings

__all__ = ["analysed", "distances", "searched"]

# One detective; boards on which neither side wins for certain.
BOARDS: dict[str, dict[str, Any]] = {
    "3x3, 3 rounds": {"rows": 3, "columns": 3, "rounds": 3, "map_seed": 1},
    "3x4, 3 rounds": {"rows": 3, "columns": 4, "rounds": 3, "map_seed": 6},
    "2x4, 4 rounds": {"rows": 2, "columns": 4, "rounds": 4, "map_seed": 2},
}
SIMULATIONS = 1000
NEAR = 0.02
MODELS: dict[str, Any] = {"opponents": "rule", "epsilon": 0.0, "rollout_depth": 36}
PLAYERS: dict[str, dict[str, Any]] = {
    "mo_ismcts": {"selection": "ucb"},
    "mo_ismcts with models": {"selection": "ucb", **MODELS},
}


def analysed(agent: Any, tree: GameTree, seed: int, some: npt.NDArray[np.int64]) -> list[Analysis]:
    """What a search finds in some infosets, each with a generator of its own."""
    found: list[Analysis] = []
    with closing(Progress(len(some), "infosets", after=LOG_EVERY)) as progress:
        for infoset in some:
            views = views_at(tree, infoset[None], agent.wants_tokens)
            fill_streams(stream(seed, "exact"), infoset[None], views.rngs)
            found += agent.analyse(views)
            progress.add(1)
    return found


def searched(
    agent: Any, tree: GameTree, seed: int, some: npt.NDArray[np.int64] | None = None
) -> Probs:
    """What a search plays in every infoset, or in some, and anything in the others."""
    some = np.arange(tree.num_infosets) if some is None else some
    played = tree.uniform()
    everything = analysed(agent, tree, seed, some)
    for infoset, found in zip(tree.infosets[some], everything, strict=True):
        first = int(infoset["first_sequence"])
        played[first : first + int(infoset["num_actions"])] = found.policy
    return played


def distances(settings: Settings) -> Iterator[Row]:
    """A row for each board, player and side."""
    for board, options in BOARDS.items():
        game = make_game("phantom_v0", num_detectives=1, reveals=(3,), **options)
        solver = make_solver(game, "discounted")
        solver.run(2000)
        tree, exact = solver.tree, solver.average_policy()
        value = float(expected_values(tree, exact)[0])
        owner = tree.infosets["player"][tree.sequence_infosets]
        for name, params in PLAYERS.items():
            agent = make_agent("mo_ismcts", game, iterations=SIMULATIONS, **params)
            own = searched(agent, tree, settings.seed)
            for side, who in enumerate(("Phantom", "detective")):
                mixed = np.where(owner == side, own, exact)
                lost = value - float(expected_values(tree, mixed)[0])
                what = f"{board} (value {value:.3f}): {name} as {who} loses to exact play"
                yield Row("X", what, lost * (1 - 2 * side), wanted=(None, NEAR))
