"""``check_game``: does a game keep the contract that every algorithm here relies on?

Each law is a small function whose name is the law and whose docstring states it; a broken one is
reported by both. They are grouped by what they look at:

==================  =============================================================================
``probe.py``        one call of a kernel: it writes what it should and nothing else
``positions.py``    one position: turn, legal actions, chance, returns, conserved amounts
``information.py``  what players see, and two histories that a player cannot tell apart
``worlds.py``       the worlds that ``determinize`` makes, without knowing the game tree
``trees.py``        the same on the whole tree of a small game, where everything can be known
==================  =============================================================================
"""

from envs.core.checking.check import CheckReport, check_game

__all__ = ["CheckReport", "check_game"]
