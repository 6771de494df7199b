"""Search for games of many players, generic over the kernels of a game.

``preference``: what a player wants. ``frames``: the memory of a search and its nodes. ``search``:
max^n, paranoid and best-reply search, one loop. ``searcher``: searches from Python. ``agent``: the
players.
"""

from agents.max_n.searcher import Searcher, SearchResult, SearchSettings

__all__ = ["SearchResult", "SearchSettings", "Searcher"]
