"""Who sits where: every deal is played in every seating of a group, so that luck and seat cancel.

A group is a set of agents that are compared with each other and the seatings in which they play the
same deals. With two seats a group is a pair in both orders. With more there are two designs:

* ``distinct``: as many different agents as seats, in all orders of seats (or, with five and more
  seats, in rotations that put everybody everywhere and behind everybody equally often);
* ``duels``: two agents share all seats, once with one of the first among the second and once the
  other way round, the odd one out in every seat.

In a game of teams one agent plays all seats of a team. What is dealt out is then not seats but
**sides**: a side is a team, or a seat that plays for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from envs.core.errors import OptionError

__all__ = ["DESIGNS", "Group", "Sides", "make_groups", "make_sides"]

DESIGNS = ("auto", "distinct", "duels")

Sides = tuple[tuple[int, ...], ...]
"""The seats of each side."""

# With more seats than this all orders are too many.
MAX_SEATS_FOR_ALL_ORDERS = 4


@dataclass(frozen=True)
class Group:
    """Agents that are compared, by their place in the list of agents, and how they are seated."""

    agents: tuple[int, ...]
    seatings: tuple[tuple[int, ...], ...]
    """For each seating the agent in each seat."""


def make_sides(num_seats: int, teams: Sequence[Sequence[int]] = ()) -> Sides:
    """Who plays together: the teams, or every seat for itself.

    >>> make_sides(2), make_sides(4, [[0], [1, 2, 3]])
    (((0,), (1,)), ((0,), (1, 2, 3)))
    """
    if not teams:
        return tuple((seat,) for seat in range(num_seats))
    sides = tuple(tuple(team) for team in teams)
    if sorted(seat for side in sides for seat in side) != list(range(num_seats)):
        raise OptionError(
            f"teams must hold each of the seats 0 to {num_seats - 1} once, "
            f"such as [[0], {list(range(1, num_seats))}], not {[list(side) for side in sides]}"
        )
    if len(sides) < 2 or not all(sides):
        raise OptionError(f"teams must be two or more with a seat each, not {len(sides)}")
    return sides


def make_groups(
    num_agents: int,
    num_seats: int,
    design: str = "auto",
    teams: Sequence[Sequence[int]] = (),
) -> list[Group]:
    """All groups of a round robin.

    >>> for group in make_groups(3, 2):
    ...     print(group.agents, group.seatings)
    (0, 1) ((0, 1), (1, 0))
    (0, 2) ((0, 2), (2, 0))
    (1, 2) ((1, 2), (2, 1))
    >>> make_groups(2, 3, teams=[[0], [1, 2]])[0].seatings
    ((0, 1, 1), (1, 0, 0))

    Args:
        num_agents: how many agents take part.
        num_seats: how many seats the game has.
        design: one of ``DESIGNS``; "auto" is distinct if there are agents enough, else duels.
        teams: the seats of each team, which one agent plays; empty: every seat for itself.
    """
    if design not in DESIGNS:
        raise OptionError(f"design must be one of {', '.join(DESIGNS)}, not {design!r}")
    if num_agents < 2:
        raise OptionError(f"a tournament needs at least 2 agents, not {num_agents}")
    sides = make_sides(num_seats, teams)
    num_sides = len(sides)
    if design == "auto":
        design = "distinct" if num_agents >= num_sides else "duels"
    if design == "distinct":
        if num_agents < num_sides:
            raise OptionError(
                f"design 'distinct' needs at least {num_sides} agents for {num_sides} "
                f"{'teams' if teams else 'seats'}, not {num_agents}: add agents or choose 'duels'"
            )
        return [
            Group(agents, _in_seats(_all_seatings(agents), sides))
            for agents in combinations(range(num_agents), num_sides)
        ]
    return [
        Group(pair, _in_seats(_duel_seatings(*pair, num_sides), sides))
        for pair in combinations(range(num_agents), 2)
    ]


def _in_seats(seatings: tuple[tuple[int, ...], ...], sides: Sides) -> tuple[tuple[int, ...], ...]:
    """From the agent of each side to the agent in each seat."""
    side_of = {seat: number for number, side in enumerate(sides) for seat in side}
    return tuple(tuple(row[side_of[seat]] for seat in range(len(side_of))) for row in seatings)


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
