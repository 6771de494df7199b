"""The reduced game of Scotland Yard, searched and solved: one transport, joint moves, sightings.

=================  ==============================================================================
``graph.py``       a small board for compiled code: streets, and the joint moves of a team
``evaluation.py``  what a node of a search is worth to the detectives, in four versions
``search.py``      minimax with or without cuts, over lines of joint moves and replies
``plans.py``       what detectives do from one sighting to the next, as a table; games by it
``visible.py``     solved for a fugitive who is always seen
``certain.py``     plans that catch him for certain, wherever he goes
``response.py``    the fugitive's best response to any plans
``mixed.py``       optimal mixed play when there is little time; ``mixed_player.py`` plays it, and
                   says what best responses gain against it
``learning.py``    Q-learning of both sides, a million games in a minute
``players.py``     all of these as players
=================  ==============================================================================
"""

__all__ = ["ALPHA_BETA", "CERTAIN", "MIXED", "RESPONSE"]

_PLAYERS = "experiments.scotland_yard.reduced.players"
ALPHA_BETA = f"{_PLAYERS}:PursuitAlphaBeta"
CERTAIN = f"{_PLAYERS}:PursuitCertain"
RESPONSE = f"{_PLAYERS}:PursuitResponse"
MIXED = "experiments.scotland_yard.reduced.mixed_player:PursuitMixed"
"""The players, as agents are named."""
