"""What a player wants, as one number that grows with it.

``return``
    The player's own return, whatever the others get.
``place``
    The place first, where equal results share the mean of their places (two winners have 1.5 each,
    three equals 2); then the sum of the differences to the others. What one has alone is no
    part of it: three ones are better than a two against two fours.

Places are steps of one half, so a place multiplied by more than twice the range of the differences
makes one number of the two.
"""

from __future__ import annotations

from envs.core.compiling import helper

BY_RETURN, BY_PLACE = 0, 1
PREFERENCES = ("return", "place")
EPSILON = 1e-9
"""Results that differ by less are the same: means of means are not exact."""


@helper
def place_of(values, num_players, player):
    """The place of ``player``, 1 being the best; equal values share the mean of their places."""
    own = values[player]
    # Who is better counts twice and who is equal once, the player himself included: no branches.
    halves = 0
    for other in range(num_players):
        halves += values[other] >= own - EPSILON
        halves += values[other] > own + EPSILON
    return 0.5 + 0.5 * halves


@helper
def utility_of(values, num_players, player, preference, weight):
    """How much ``player`` likes ``values``; ``weight`` is that of a place."""
    own = values[player]
    if preference == BY_RETURN:
        return own
    halves = 0
    total = 0.0
    for other in range(num_players):
        value = values[other]
        total += value
        halves += value >= own - EPSILON
        halves += value > own + EPSILON
    return num_players * own - total - weight * (0.5 + 0.5 * halves)


def place_weight(num_players: int, low: float, high: float) -> float:
    """What a place must weigh when values lie between ``low`` and ``high``."""
    return 4.0 * num_players * (high - low) + 1.0
