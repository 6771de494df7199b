"""No Thanks! with a known deck, solved to the end or to a boundary.

A card goes round until somebody takes it. What the search goes by is therefore not the single
payment but the whole round: every player in turn could take now, and from the last one back
everybody compares taking with what becomes of paying. Positions with an empty card are the only
ones that need to be remembered, and cards are sets of bits.

==================  =============================================================================
``board.py``        a position as bit sets, and what an evaluator is handed
``memory.py``       what the compiled search works with
``rounds.py``       the search itself
``solver.py``       searches from Python
==================  =============================================================================
"""

from agents.games.no_thanks.solving.solver import Solution, Solver, SolverSettings

__all__ = ["Solution", "Solver", "SolverSettings"]
