"""What every room may rely on about a game: sizes, seats, teams, bounds, units.

All of it follows from the options, and from it who plays on whose side, what a side gets, and what
a forfeit costs. A *side* is a team: one seat that plays alone, or several that share their result.
Agents are compared by sides, so one agent fills all seats of a side.

>>> from envs import make_game
>>> kuhn = make_game("kuhn_v0", num_players=3).facts
>>> sides_of(kuhn)
((0,), (1,), (2,))
>>> forfeit_returns(kuhn, 1, np.zeros(3)).tolist()
[1.0, -2.0, 1.0]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

OBJECTIVES = ("return", "place", "win")
"""How standings can be ordered: by mean return, by mean place, or by games won."""


@dataclass(frozen=True)
class Seat:
    """One player's place at the table."""

    role: str
    """Seats of equal role are exchangeable: whoever can play one can play the others."""
    team: int
    """Members of a team share their result; a number of its own for a seat that plays alone."""
    low: float
    """The lowest return this seat can get."""
    high: float
    """The highest return this seat can get."""


def equal_seats(num_players: int, low: float, high: float) -> tuple[Seat, ...]:
    """Seats that are all alike, everybody alone.

    >>> [seat.team for seat in equal_seats(3, -1.0, 2.0)]
    [0, 1, 2]
    """
    return tuple(Seat("player", team, low, high) for team in range(num_players))


@dataclass(frozen=True)
class Unit:
    """The unit in which people read results.

    >>> unit = Unit("bb/100", scale=100 / 20)  # a big blind of 20 chips
    >>> unit.name, unit.scale * 3.0
    ('bb/100', 15.0)
    """

    name: str
    scale: float = 1.0
    """A mean return times this is a figure in the unit."""


POINTS = Unit("points")
CHIPS = Unit("chips")


@dataclass(frozen=True)
class Facts:
    """What an algorithm may rely on; it follows from the options."""

    num_actions: int
    num_chance_outcomes: int
    """The largest number of outcomes of one chance event; 0 when nothing is random."""
    max_length: int
    """The longest possible game, chance events included."""
    seats: tuple[Seat, ...]
    """Role, team and bounds of every player."""
    return_sum: float | None = 0.0
    """What the returns of all teams add up to at the end; ``None`` in a general-sum game. The
    return of a team is the mean of its members'."""
    unit: Unit = POINTS
    objective: str = "return"
    """One of ``OBJECTIVES``."""
    num_openings: int = 1
    """How many different beginnings take turns in a series of games, such as who starts."""

    @property
    def num_players(self) -> int:
        """How many seats there are."""
        return len(self.seats)

    @property
    def min_return(self) -> float:
        """The lowest return that any seat can get."""
        return min(seat.low for seat in self.seats)

    @property
    def max_return(self) -> float:
        """The highest return that any seat can get."""
        return max(seat.high for seat in self.seats)


@dataclass(frozen=True)
class ObservationField:
    """A named stretch of the observation vector."""

    name: str
    size: int
    meaning: str


Sides = tuple[tuple[int, ...], ...]
"""The seats of each side, in the order of their first seats."""
Floats = npt.NDArray[np.float64]


@lru_cache(maxsize=256)
def sides_of(facts: Facts) -> Sides:
    """The seats of each side."""
    teams: dict[int, list[int]] = {}
    for number, seat in enumerate(facts.seats):
        teams.setdefault(seat.team, []).append(number)
    return tuple(tuple(seats) for seats in teams.values())


@lru_cache(maxsize=256)
def side_of_seats(facts: Facts) -> tuple[int, ...]:
    """The side that each seat belongs to."""
    side_of = {seat: number for number, side in enumerate(sides_of(facts)) for seat in side}
    return tuple(side_of[seat] for seat in range(facts.num_players))


def side_returns(facts: Facts, returns: Floats) -> Floats:
    """What each side gets: [..., players] -> [..., sides], the mean of its members' returns."""
    sides = sides_of(facts)
    if len(sides) == facts.num_players:
        return returns
    means = [returns[..., list(side)].mean(axis=-1) for side in sides]
    return np.stack(means, axis=-1)


def side_bounds(facts: Facts) -> list[tuple[float, float]]:
    """The lowest and the highest return of each side."""
    return [
        (
            float(np.mean([facts.seats[seat].low for seat in side])),
            float(np.mean([facts.seats[seat].high for seat in side])),
        )
        for side in sides_of(facts)
    ]


def roles_of(facts: Facts) -> tuple[str, ...]:
    """The different roles, in the order of their first seats."""
    return tuple(dict.fromkeys(seat.role for seat in facts.seats))


def seats_of_role(facts: Facts, role: str) -> tuple[int, ...]:
    """The seats of a role."""
    return tuple(number for number, seat in enumerate(facts.seats) if seat.role == role)


def side_roles(facts: Facts) -> tuple[tuple[str, ...], ...]:
    """The roles within each side: two sides with equal ones can be exchanged."""
    return tuple(tuple(facts.seats[seat].role for seat in side) for side in sides_of(facts))


def is_symmetric(facts: Facts) -> bool:
    """Whether all sides are exchangeable, so that an agent can be put in any of them."""
    return len(set(side_roles(facts))) == 1


def is_two_sided(facts: Facts) -> bool:
    """Whether two different sides oppose each other, such as a fugitive and its pursuers."""
    return len(sides_of(facts)) == 2 and not is_symmetric(facts)


def is_zero_sum_duel(facts: Facts) -> bool:
    """Whether two seats play for a constant sum: what exact two-player solvers need."""
    return facts.num_players == len(sides_of(facts)) == 2 and facts.return_sum is not None


def forfeit_returns(facts: Facts, seat: int, totals: Floats) -> Floats:
    """Everybody's return when the player in ``seat`` breaks the game off, by fault or illegal move.

    All seats of its side get their lowest return, so that nobody gains by it and no team mate is
    rewarded. Where the returns of sides add up, the other sides share the rest equally, each at
    most its own highest return; in a general-sum game they keep what they have.

    Args:
        facts: of the game.
        seat: whose fault it is.
        totals: [players] what everybody has got so far.
    """
    sides, culprit = sides_of(facts), side_of_seats(facts)[seat]
    low = np.array([one.low for one in facts.seats])
    high = np.array([one.high for one in facts.seats])
    others = np.asarray(totals, np.float64)
    if facts.return_sum is not None and len(sides) > 1:
        rest = facts.return_sum - side_bounds(facts)[culprit][0]
        others = np.full(facts.num_players, rest / (len(sides) - 1))
    returns: Floats = np.clip(others, low, high)
    members = list(sides[culprit])
    returns[members] = low[members]
    return returns
