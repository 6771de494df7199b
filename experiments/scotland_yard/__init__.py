"""The reduced game of Scotland Yard: what a thesis reports, over all 13,800 starts, and beyond.

Both sides of a pairing are tables (``reduced/``), so every start is played once
and rates are exact: no interval is given where nothing was sampled. The reading of the thesis that
all rows use unless they say otherwise is ``READING``: trees of five plies, nodes after the
fugitive's moves and catches summed, moves tried up, down, right, left, and a fugitive who looks at
his own next move with version 4.

===============  ==================================================================================
``tables.py``    R1 to R12: alpha-beta, and what can be learnt of it by heart
                 S, L, C, D: solvers, short games, capture tables
``learning.py``  R13 to R20: Q-learning
===============  ==================================================================================
"""

from __future__ import annotations

from experiments.runner import Group
from experiments.scotland_yard.learning import (
    degree_rows,
    learning_rows,
    piece_rows,
    sighting_rows,
    speed_rows,
    survival_rows,
    symmetry_rows,
    threshold_rows,
)
from experiments.scotland_yard.tables import (
    capture_rows,
    city_rows,
    corner_rows,
    cycle_rows,
    gain_rows,
    length_rows,
    mixed_rows,
    order_rows,
    response_rows,
    solver_rows,
    version_rows,
)

__all__ = ["GROUPS"]

GROUPS: dict[str, Group] = {
    "R1": version_rows("v1"),
    "R2": version_rows("v2"),
    "R3": version_rows("v3"),
    "R4": version_rows("v4"),
    "R5": order_rows,
    "R6": gain_rows,
    "R7": length_rows,
    "R8": response_rows("v1", "people: 90 after 20 games"),
    "R9": response_rows("v2", "people: weak spots known"),
    "R10": response_rows("v4", "people: no clear win"),
    "R11": corner_rows,
    "R12": cycle_rows,
    "R13": learning_rows,
    "R14": threshold_rows,
    "R15": speed_rows,
    "R16": symmetry_rows,
    "R17": piece_rows,
    "R18": sighting_rows,
    "R19": degree_rows,
    "R20": survival_rows,
    "S": solver_rows,
    "L": mixed_rows,
    "C": capture_rows,
    "D": city_rows,
}
"""R1 to R20: what the thesis reports. S: a solver. L: short games. C, D: capture tables."""
