"""Who sits where: every deal is played in every seating of a group, so that luck and seat cancel.

A group is a set of agents that are compared with each other and the seatings in which they play the
same deals. With two seats a group is a pair in both orders. With more there are two designs:

* ``distinct``: as many different agents as seats, in all orders of seats (or, with five and more
  seats, in rotations that put everybody everywhere and behind everybody equally often);
* ``duels``: two agents share all seats, once with one of the first among the second and once the
  other way round, the odd one out in every seat.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations

from envs.core.errors import OptionError

__all__ = ["DESIGNS", "Group", "make_groups"]

DESIGNS = ("auto", "distinct", "duels")

# With more seats than this all orders are too many.
MAX_SEATS_FOR_ALL_ORDERS = 4


@dataclass(frozen=True)
class Group:
    """Agents that are compared, by their place in the list of agents, and how they are seated."""

    agents: tuple[int, ...]
    seatings: tuple[tuple[int, ...], ...]
    """For each seating the agent in each seat."""


def make_groups(num_agents: int, num_seats: int, design: str = "auto") -> list[Group]:
    """All groups of a round robin.

    >>> for group in make_groups(3, 2):
    ...     print(group.agents, group.seatings)
    (0, 1) ((0, 1), (1, 0))
    (0, 2) ((0, 2), (2, 0))
    (1, 2) ((1, 2), (2, 1))
    """
    if design not in DESIGNS:
        raise OptionError(f"design must be one of {', '.join(DESIGNS)}, not {design!r}")
    if num_agents < 2:
        raise OptionError(f"a tournament needs at least 2 agents, not {num_agents}")
    if design == "auto":
        design = "distinct" if num_agents >= num_seats else "duels"
    if design == "distinct":
        if num_agents < num_seats:
            raise OptionError(
                f"design 'distinct' needs at least {num_seats} agents for {num_seats} seats, "
                f"not {num_agents}: add agents or choose 'duels'"
            )
        return [
            Group(agents, _all_seatings(agents))
            for agents in combinations(range(num_agents), num_seats)
        ]
    return [
        Group(pair, _duel_seatings(*pair, num_seats)) for pair in combinations(range(num_agents), 2)
    ]


def _all_seatings(agents: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    n = len(agents)
    if n <= MAX_SEATS_FOR_ALL_ORDERS:
        return tuple(permutations(agents))
    # Williams' row-complete Latin square: everybody sits in every seat, and behind everybody. With
    # an odd number of seats it takes the mirrored square too.
    first = [n - (step + 1) // 2 if step % 2 else step // 2 for step in range(n)]
    rows = [first] if n % 2 == 0 else [first, first[::-1]]
    return tuple(
        tuple(agents[(place + shift) % n] for place in row) for row in rows for shift in range(n)
    )


def _duel_seatings(a: int, b: int, num_seats: int) -> tuple[tuple[int, ...], ...]:
    seatings = []
    for odd, rest in ((a, b), (b, a)):
        for seat in range(num_seats):
            seating = [rest] * num_seats
            seating[seat] = odd
            seatings.append(tuple(seating))
    return tuple(dict.fromkeys(seatings))
