"""Pieces of a tournament that can be played anywhere, in any order, and kept one by one.

A work unit is one seating of one group over a block of deals. Its result depends on the tournament
and on nothing else, so units may be spread over processes, lost and played again (``executors``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count, pairwise

from arena.schedules.schedule import Group

__all__ = ["DEALS_PER_UNIT", "WorkUnit", "make_units", "whole_units"]

# A batch of 2000 games is played 1.5 times as fast as four of 500, so a unit of a large tournament
# has as many. The first ones are smaller, so that slow agents too keep many workers busy. None of
# this may depend on the number of workers: a network rounds differently in batches of another size.
DEALS_PER_UNIT = 2000
FIRST_DEALS = (0, 100, 200, 500, 1000)


@dataclass(frozen=True)
class WorkUnit:
    """Block of deals ``first_deal ..`` of one seating of one group."""

    group: int
    seating: int
    first_deal: int
    num_deals: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"group{self.group:04d}_seating{self.seating:02d}_deal{self.first_deal:09d}"


def make_units(groups: list[Group], deals: int) -> list[WorkUnit]:
    """All units of ``deals`` deals, those of the first deals first.

    >>> [unit.num_deals for unit in make_units([Group((0, 1), ((0, 1),))], 7000)]
    [100, 100, 300, 500, 1000, 2000, 2000, 1000]
    """
    return [
        WorkUnit(g, s, start, min(end, deals) - start)
        for start, end in pairwise(_starts(deals))
        for g, group in enumerate(groups)
        for s in range(len(group.seatings))
    ]


def whole_units(deals: int) -> int:
    """The first number of deals, from ``deals`` on, at which a unit ends.

    >>> whole_units(1000), whole_units(1001)
    (1000, 2000)
    """
    *_, end = _starts(deals)
    return end


def _starts(deals: int) -> Iterator[int]:
    """Where units begin, up to the first number that is not below ``deals``."""
    for start in chain(FIRST_DEALS, count(DEALS_PER_UNIT, DEALS_PER_UNIT)):
        yield start
        if start >= deals:
            return
