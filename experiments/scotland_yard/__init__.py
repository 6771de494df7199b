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
from experiments.scotland_yard import learning, tables

__all__ = ["GROUPS"]

GROUPS: dict[str, Group] = {
    "R1": tables.version_rows("v1"),
    "R2": tables.version_rows("v2"),
    "R3": tables.version_rows("v3"),
    "R4": tables.version_rows("v4"),
    "R5": tables.order_rows,
    "R6": tables.gain_rows,
    "R7": tables.length_rows,
    "R8": tables.response_rows("v1", "people: 90 after 20 games"),
    "R9": tables.response_rows("v2", "people: weak spots known"),
    "R10": tables.response_rows("v4", "people: no clear win"),
    "R11": tables.corner_rows,
    "R12": tables.cycle_rows,
    "R13": learning.learning_rows,
    "R14": learning.threshold_rows,
    "R15": learning.speed_rows,
    "R16": learning.symmetry_rows,
    "R17": learning.piece_rows,
    "R18": learning.sighting_rows,
    "R19": learning.degree_rows,
    "R20": learning.survival_rows,
    "S": tables.solver_rows,
    "L": tables.mixed_rows,
    "C": tables.capture_rows,
    "D": tables.city_rows,
}
"""R1 to R20: what the thesis reports. S: a solver. L: short games. C, D: capture tables."""
