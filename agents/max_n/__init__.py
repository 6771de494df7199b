"""Search for games of many players, generic over the kernels of a game.

==================  =============================================================================
``preference.py``   what a player wants: return, or place first and then score differences
``stack.py``        the memory of a search and its transposition table
``nodes.py``        what both searches do with a node
``vectors.py``      max^n with Korf's shallow pruning and with pruning by placement
``scalars.py``      paranoid search and best-reply search, by alpha-beta
``frames.py``       the loop of both
``searcher.py``     searches from Python: to the end, to a depth, or deeper and deeper
``agent.py``        the players
==================  =============================================================================
"""

from agents.max_n.searcher import Searcher, SearchResult, SearchSettings

__all__ = ["SearchResult", "SearchSettings", "Searcher"]
