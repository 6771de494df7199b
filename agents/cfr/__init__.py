"""Solving games: trees, linear programmes, CFR, best responses, and policies as tables.

* :mod:`~agents.cfr.variants`: the members of the CFR family, as numbers;
* :mod:`~agents.cfr.solver`: CFR for any game; :mod:`~agents.cfr.vector`: the fast way for two
  players; :mod:`~agents.cfr.sampled`: from samples, for games too large to write down;
* :mod:`~agents.cfr.forms`: how a game is written down; :mod:`~agents.cfr.passes`: the compiled
  passes over it;
* :mod:`~agents.cfr.response`: values and best responses; :mod:`~agents.cfr.evaluator`: the same for
  many policies; :mod:`~agents.cfr.lp`: equilibria by linear programming;
* :mod:`~agents.cfr.tree_policies`: policies on a tree, of any agent, and as files;
  :mod:`~agents.cfr.openspiel`: to OpenSpiel and back;
* :mod:`~agents.cfr.learner`: all of it as runs of ``train.py``;
* :mod:`~agents.games.liars_dice.cfr`: Liar's Dice, solved round by round.

A name is imported from its module when it is first asked for.

>>> from agents.cfr import VectorCFRSolver
>>> from envs import make_game
>>> solver = VectorCFRSolver.of(make_game("leduc_v0"), "discounted")
>>> solver.run(100)
>>> solver.exploitability() < 0.01
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from common.imports import load

if TYPE_CHECKING:
    from agents.cfr.evaluator import BestResponseEvaluator, BestResponseResult
    from agents.cfr.forms.layout import Layout
    from agents.cfr.forms.public import PublicTree
    from agents.cfr.forms.tree import GameTree
    from agents.cfr.lp import Solution, solve_lp
    from agents.cfr.response import (
        BestResponse,
        best_response,
        expected_values,
        exploitability,
        nash_conv,
    )
    from agents.cfr.sampled.settings import SamplingSettings
    from agents.cfr.sampled.solver import SamplingSolver
    from agents.cfr.solver import CFRSolver, Solver
    from agents.cfr.tree_policies import Tabulated, from_policy, tabulate, to_policy
    from agents.cfr.variants import VARIANTS, Variant, make_variant
    from agents.cfr.vector import VectorCFRSolver, make_solver

__all__ = [
    "VARIANTS",
    "BestResponse",
    "BestResponseEvaluator",
    "BestResponseResult",
    "CFRSolver",
    "GameTree",
    "Layout",
    "PublicTree",
    "SamplingSettings",
    "SamplingSolver",
    "Solution",
    "Solver",
    "Tabulated",
    "Variant",
    "VectorCFRSolver",
    "best_response",
    "expected_values",
    "exploitability",
    "from_policy",
    "make_solver",
    "make_variant",
    "nash_conv",
    "solve_lp",
    "tabulate",
    "to_policy",
]

_MODULES: dict[str, tuple[str, ...]] = {
    "evaluator": ("BestResponseEvaluator", "BestResponseResult"),
    "forms.layout": ("Layout",),
    "lp": ("Solution", "solve_lp"),
    "forms.public": ("PublicTree",),
    "response": (
        "BestResponse",
        "best_response",
        "expected_values",
        "exploitability",
        "nash_conv",
    ),
    "sampled.solver": ("SamplingSolver",),
    "sampled.settings": ("SamplingSettings",),
    "solver": ("CFRSolver", "Solver"),
    "tree_policies": ("Tabulated", "from_policy", "tabulate", "to_policy"),
    "forms.tree": ("GameTree",),
    "variants": ("VARIANTS", "Variant", "make_variant"),
    "vector": ("VectorCFRSolver", "make_solver"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a name when it is first asked for."""
    return load(__name__, _HOMES, name)
