"""Information-set Monte Carlo tree search, generic over the kernels of a game.

==================  =============================================================================
``settings.py``     what can be chosen, by name, and the same as a record for compiled code
``memory.py``       nodes, edges and scratch memory: made once, never grown
``nodes.py``        finding, making and extending nodes
``selection.py``    which action of a node to try next: UCB1, UCB-tuned, PUCT, regret matching
``playouts.py``     what follows the tree: random or quick play, to the end or to an estimate
``simulations.py``  one simulation after the other, compiled
``searcher.py``     searches from Python, by iterations or by the clock, on several threads
``analysis.py``     what a search has found: shares, values, principal variation
``agent.py``        the players
``guided.py``       the same led by a trained player: priors and values of leaves
``joint.py``        the thesis's search: a tree for each world, joint actions of all pieces
``joint_agent.py``  its player
``outcome_sampling.py``  regrets for all players from the start of the game, led to the present
``oos_agent.py``    its player
==================  =============================================================================
"""

from agents.ismcts.searcher import Analysis, TreeSearcher
from agents.ismcts.settings import TreeSettings

__all__ = ["Analysis", "TreeSearcher", "TreeSettings"]
