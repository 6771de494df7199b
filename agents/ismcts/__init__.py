"""Information-set Monte Carlo tree search, generic over the kernels of a game.

==================  =============================================================================
``settings.py``     what can be chosen, by name, and the same as a record for compiled code
``tree.py``         the memory of a search, made once, and finding and extending nodes in it
``simulations.py``  one simulation after the other, compiled: what is tried next, how it goes on
``worlds.py``       worlds by what opponents would have done in them
``searcher.py``     searches from Python, by iterations or by the clock, and what they have found
``agent.py``        the players
``guided.py``       the same led by a trained player: priors and values of leaves
==================  =============================================================================
"""

from agents.ismcts.searcher import SearchAnalysis, TreeSearcher
from agents.ismcts.settings import TreeSettings

__all__ = ["SearchAnalysis", "TreeSearcher", "TreeSettings"]
