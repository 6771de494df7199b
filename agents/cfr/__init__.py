"""Solving games: trees, linear programmes, CFR, best responses, and policies as tables.

To read it from the top to the bottom:

* :mod:`~agents.cfr.variants`: the members of the CFR family, as numbers;
* :mod:`~agents.cfr.solver`: CFR over a whole game, for any number of players, and the fast way for
  two. It goes over a :mod:`~agents.cfr.tree` (written down by :mod:`~agents.cfr.tree_walk`), either
  as :mod:`~agents.cfr.sequence_form` or, where both players see each other's moves, as
  :mod:`~agents.cfr.public_tree`, laid out by :mod:`~agents.cfr.public_vectors`. The compiled passes
  over both are in :mod:`~agents.cfr.vectors`; :mod:`~agents.cfr.threads` share them;
* :mod:`~agents.cfr.mccfr`: the same from samples, for games too large to write down. Its walks are
  :mod:`~agents.cfr.mccfr_walks`, what they do at one node :mod:`~agents.cfr.mccfr_nodes`, and what
  they fill :mod:`~agents.cfr.mccfr_tables`;
* :mod:`~agents.cfr.response`: values and best responses; :mod:`~agents.cfr.evaluation`: those of
  agents and of many policies; :mod:`~agents.cfr.lp`: equilibria by linear programming;
  :mod:`~agents.cfr.openspiel`: policies to OpenSpiel and back;
* :mod:`~agents.cfr.learner`: all of it as runs of ``train.py``.

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
    from agents.cfr.evaluation import BestResponseEvaluator as BestResponseEvaluator
    from agents.cfr.evaluation import from_policy as from_policy
    from agents.cfr.evaluation import tabulate as tabulate
    from agents.cfr.evaluation import to_policy as to_policy
    from agents.cfr.lp import solve_lp as solve_lp
    from agents.cfr.mccfr import SamplingSolver as SamplingSolver
    from agents.cfr.response import best_response as best_response
    from agents.cfr.response import expected_values as expected_values
    from agents.cfr.response import exploitability as exploitability
    from agents.cfr.response import nash_conv as nash_conv
    from agents.cfr.solver import CFRSolver as CFRSolver
    from agents.cfr.solver import Solver as Solver
    from agents.cfr.solver import VectorCFRSolver as VectorCFRSolver
    from agents.cfr.solver import make_solver as make_solver
    from agents.cfr.tree import GameTree as GameTree

_NAMES = {
    "evaluation": "BestResponseEvaluator from_policy tabulate to_policy",
    "lp": "solve_lp",
    "mccfr": "SamplingSolver",
    "response": "best_response expected_values exploitability nash_conv",
    "solver": "CFRSolver Solver VectorCFRSolver make_solver",
    "tree": "GameTree",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import a name when it is first asked for."""
    return load(__name__, _HOMES, name)
