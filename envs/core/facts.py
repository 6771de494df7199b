"""What every room may rely on about a game: sizes, seats, teams, bounds, units.

All of it follows from the options. What in turn follows from the facts (who plays on whose side,
what a forfeit costs) is in ``sides.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "CHIPS",
    "OBJECTIVES",
    "POINTS",
    "Facts",
    "ObservationField",
    "Seat",
    "Unit",
    "equal_seats",
]

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
