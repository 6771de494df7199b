"""The reduced game of Scotland Yard, searched and solved: one transport, joint moves, sightings.

===============  ================================================================================
``graph.py``     a small board for compiled code: streets, joint moves of a team, and symmetries
``plans.py``     what detectives do from one sighting to the next, as a table; games by it, and the
                 fugitive's best response to it
``search.py``    alpha-beta over lines of joint moves and replies, with four evaluations
``certain.py``   plans that catch him for certain, wherever he goes; and if he is always seen
``mixed.py``     optimal mixed play when there is little time, and what best responses gain
``learning.py``  Q-learning of both sides, a million games in a minute
``players.py``   search, certain wins and mixed play as players
===============  ================================================================================
"""

__all__ = ["ALPHA_BETA", "CERTAIN", "MIXED"]

_PLAYERS = "experiments.scotland_yard.reduced.players"
ALPHA_BETA = f"{_PLAYERS}:PursuitAlphaBeta"
CERTAIN = f"{_PLAYERS}:PursuitCertain"
MIXED = f"{_PLAYERS}:PursuitMixed"
"""The players, as agents are named."""
