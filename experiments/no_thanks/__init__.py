"""What a thesis on No Thanks! for three players has published, repeated, and what it left open.

==================  =============================================================================
``searching.py``    E1, E3, E13: orders of search, the order of the cards, how far one can solve
``databases.py``    E4 to E7, E9, E10: nearest neighbours, sizes, weights, time of a move; A:
                    predicted places against true ones, which nobody had measured
``strength.py``     E2, E8, E11, E12: matches; L: DQN and SARSA(lambda) over several seeds, against
                    known and unknown players
``thresholds.py``   T, TM: the equilibrium of threshold rules
==================  =============================================================================

``python -m experiments.no_thanks.makers`` makes files of slices by hand.
"""

from __future__ import annotations

from experiments.no_thanks import databases, searching, strength, thresholds
from experiments.runner import Group

__all__ = ["GROUPS"]

GROUPS: dict[str, Group] = {
    "E1": searching.search_orders,
    "E2": strength.third_player,
    "E3": searching.card_order,
    "E4": databases.neighbour_distance,
    "E5": databases.database_size,
    "E6": databases.one_weight_raised,
    "E7": databases.weights,
    "E8": strength.final_against_base,
    "E9": databases.small_databases,
    "E10": databases.time_of_a_move,
    "E11": strength.against_rules,
    "E12": strength.hidden_deck,
    "E13": searching.exact_segment,
    "A": databases.predicted_places,
    "L": strength.learners,
    "T": thresholds.pure,
    "TM": thresholds.mixed,
}
