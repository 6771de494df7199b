"""Who sits where: every deal is played in every seating of a group, so that chance and seat cancel.

A group is a set of agents that are compared with each other and the seatings in which they play.
Where nobody could remember a deal, all seatings play the same ones. With two places a group is a
pair in both orders. With more there are three schedules:

* ``distinct``: as many different agents as places, every set of them, in all orders (or, from five
  places on, in rotations that put everybody everywhere and behind everybody equally often);
* ``balanced``: the same for a sample of these sets in which all agents play equally often and meet
  each other equally often, as far as the numbers divide;
* ``duels``: two agents share the table, once with one of the first among the second and once the
  other way round, the odd one out in every place.

What is dealt out are **places**. Where all sides are alike (``envs.core.facts``), each is a place:
a seat, or a team that one agent plays. Where they are not, one agent takes all sides of the same
roles: a fugitive is one place, its pursuers are another. Agents sit only where they can play, so
agents for one role meet those for the other.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, combinations, count, pairwise, permutations
from math import comb, gcd
from typing import Any

from common.errors import OptionError
from envs.core.facts import Facts, is_symmetric, side_roles, sides_of

SCHEDULES = ("auto", "distinct", "balanced", "duels")

Places = tuple[tuple[int, ...], ...]
"""The seats of each place; one agent takes them all."""
Row = tuple[int, ...]

# With more places than this all orders are too many.
MAX_PLACES_FOR_ALL_ORDERS = 4
# Seatings of a whole tournament up to which, with three places and more, everybody meets everybody.
MAX_SEATINGS = 2000
# How often two agents meet in a sample of tables, unless the number of tables is given.
MEETINGS = 2
MAX_SWAPS = 200_000
HEAT = 0.5


@dataclass(frozen=True)
class Group:
    """Agents that are compared, by their place in the list of agents, and how they are seated."""

    agents: Row
    seatings: tuple[Row, ...]
    """For each seating the agent in each seat."""
    is_paired: bool = True
    """Whether all seatings play the same deals; otherwise each has deals of its own."""


@lru_cache(maxsize=256)
def places_of(facts: Facts) -> Places:
    """What is dealt out to agents.

    >>> from envs import make_game
    >>> places_of(make_game("kuhn_v0", num_players=3).facts)
    ((0,), (1,), (2,))
    """
    sides = sides_of(facts)
    if is_symmetric(facts):
        return sides
    places: dict[tuple[str, ...], list[int]] = {}
    for side, roles in zip(sides, side_roles(facts), strict=True):
        places.setdefault(roles, []).extend(side)
    return tuple(tuple(sorted(seats)) for seats in places.values())


def make_groups(
    agents: Sequence[Collection[str]],
    facts: Facts,
    schedule: str = "auto",
    num_tables: int | None = None,
    seed: int = 0,
) -> list[Group]:
    """All groups of a tournament.

    >>> from envs import make_game
    >>> for group in make_groups([(), (), ()], make_game("kuhn_v0").facts):
    ...     print(group.agents, group.seatings)
    (0, 1) ((0, 1), (1, 0))
    (0, 2) ((0, 2), (2, 0))
    (1, 2) ((1, 2), (2, 1))

    Args:
        agents: for each agent the roles it can play; empty: all of them.
        facts: of the game.
        schedule: one of ``SCHEDULES``; "auto" is duels if there are fewer agents than places, else
            distinct if that is not too much, else balanced.
        num_tables: sets of agents in a balanced schedule; by default so many that two agents meet
            twice.
        seed: of the sample.
    """
    if schedule not in SCHEDULES:
        raise OptionError(f"schedule must be one of {', '.join(SCHEDULES)}, not {schedule!r}")
    if len(agents) < 2:
        raise OptionError(f"a tournament needs at least 2 agents, not {len(agents)}")
    places = places_of(facts)
    n, size = len(agents), len(places)
    if schedule in ("distinct", "balanced") and n < size:
        kind = "seats" if size == facts.num_players else "sides"
        raise OptionError(
            f"schedule '{schedule}' needs at least {size} agents for {size} {kind}, not {n}: "
            "add agents or choose 'duels'"
        )
    if schedule == "auto":
        is_small = size == 2 or comb(n, size) * len(_orders(tuple(range(size)))) <= MAX_SEATINGS
        schedule = "duels" if n < size else "distinct" if is_small else "balanced"
    rows: list[tuple[Row, list[Row]]]
    if schedule == "duels":
        rows = [(pair, _duel_rows(*pair, size)) for pair in combinations(range(n), 2)]
    elif schedule == "distinct":
        rows = [(table, _orders(table)) for table in combinations(range(n), size)]
    else:
        tables = balanced_tables(n, size, num_tables or _default_tables(n, size), seed)
        rows = [(table, _orders(table)) for table in tables]
    needed = [{facts.seats[seat].role for seat in place} for place in places]
    can_sit = [[not roles or place <= set(roles) for place in needed] for roles in agents]
    groups = []
    for members, seatings in rows:
        allowed = [row for row in seatings if all(can_sit[agent][i] for i, agent in enumerate(row))]
        if allowed:
            groups.append(Group(members, tuple(_in_seats(row, places) for row in allowed)))
    return groups


def _in_seats(row: Row, places: Places) -> Row:
    """From the agent of each place to the agent in each seat."""
    agent_of = {seat: agent for agent, place in zip(row, places, strict=True) for seat in place}
    return tuple(agent_of[seat] for seat in range(len(agent_of)))


def _orders(agents: Row) -> list[Row]:
    n = len(agents)
    if n <= MAX_PLACES_FOR_ALL_ORDERS:
        return list(permutations(agents))
    # Williams' row-complete Latin square: everybody sits in every seat, and behind everybody. With
    # an odd number of seats it takes the mirrored square too.
    first = [n - (step + 1) // 2 if step % 2 else step // 2 for step in range(n)]
    rows = [first] if n % 2 == 0 else [first, first[::-1]]
    return [
        tuple(agents[(place + shift) % n] for place in row) for row in rows for shift in range(n)
    ]


def _duel_rows(a: int, b: int, num_places: int) -> list[Row]:
    rows = []
    for odd, rest in ((a, b), (b, a)):
        for place in range(num_places):
            row = [rest] * num_places
            row[place] = odd
            rows.append(tuple(row))
    return list(dict.fromkeys(rows))


# ---- a balanced sample of tables -----------------------------------------------------------------


def _default_tables(num_agents: int, size: int) -> int:
    """So many that everybody plays equally often and two agents meet ``MEETINGS`` times or more."""
    wanted = -(-MEETINGS * num_agents * (num_agents - 1) // (size * (size - 1)))
    step = num_agents // gcd(num_agents, size)
    return -(-wanted // step) * step


@lru_cache(maxsize=32)
def balanced_tables(num_agents: int, size: int, num_tables: int, seed: int = 0) -> tuple[Row, ...]:
    """A sample of tables: agents play equally often, give or take one, and meet equally often.

    Tables are filled one by one with whoever has played least and met the others least. Then agents
    of two tables are exchanged as long as that evens out who meets whom.

    >>> balanced_tables(6, 3, 4)
    ((1, 2, 3), (0, 3, 5), (1, 4, 5), (0, 2, 4))
    """
    rng = random.Random(seed)  # noqa: S311, a schedule is no secret
    met = [[0] * num_agents for _ in range(num_agents)]
    played = [0] * num_agents
    tables: list[list[int]] = []
    for _ in range(num_tables):
        table: list[int] = []
        for _ in range(size):
            free = [agent for agent in range(num_agents) if agent not in table]
            cost = {a: (played[a], sum(met[a][b] for b in table), rng.random()) for a in free}
            chosen = min(free, key=cost.__getitem__)
            for other in table:
                met[chosen][other] += 1
                met[other][chosen] += 1
            table.append(chosen)
            played[chosen] += 1
        tables.append(table)
    _even_out(tables, met, rng)
    return tuple(tuple(sorted(table)) for table in tables)


def _even_out(tables: list[list[int]], met: list[list[int]], rng: random.Random) -> None:
    """Exchange agents of two tables so that the squares of the numbers of meetings fall.

    By simulated annealing: a small rise is allowed at first, and ever less likely.
    """
    num_agents, size = len(met), len(tables[0])
    num_pairs = num_agents * (num_agents - 1) // 2
    each, more = divmod(len(tables) * size * (size - 1) // 2, num_pairs)
    best = num_pairs * each**2 + more * (2 * each + 1)
    total = sum(count**2 for i, row in enumerate(met) for count in row[:i])
    for step in range(MAX_SWAPS):
        if total == best or len(tables) < 2:
            return
        first, second = rng.sample(tables, 2)
        i, j = rng.randrange(size), rng.randrange(size)
        a, b = first[i], second[j]
        if a in second or b in first:
            continue
        left = [other for other in first if other != a and other not in second]
        right = [other for other in second if other != b and other not in first]
        rise = 2 * (len(left) + len(right))
        rise += 2 * sum(met[b][other] - met[a][other] for other in left)
        rise += 2 * sum(met[a][other] - met[b][other] for other in right)
        if rise > HEAT * (1 - step / MAX_SWAPS) * rng.expovariate(1.0):
            continue
        total += rise
        first[i], second[j] = b, a
        for others, gone, come in ((left, a, b), (right, b, a)):
            for other in others:
                for who, change in ((gone, -1), (come, 1)):
                    met[who][other] += change
                    met[other][who] += change


# ---- work units ----------------------------------------------------------------------------------
#
# A work unit is one seating of one group over a block of deals. Its result depends on the
# tournament and on nothing else, so units may be spread over processes, lost and played again
# (``workers``).


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
    is_pilot: bool = False
    """Whether it is played to learn from; ``num_deals`` of every seating of the group."""
    values: Any = field(default=None, compare=False, repr=False)
    """What states are worth to its players, if its returns are to be corrected."""

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
