"""Seatings: everybody in every seat equally often, and agents of one role only there."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import pytest

from arena.schedule import Group, balanced_tables, make_groups, places_of
from common.errors import OptionError
from tests.support.seats import facts_of


def groups_of(num_agents: int, num_seats: int, schedule: str = "auto", **more: int) -> list[Group]:
    return make_groups([()] * num_agents, facts_of(["player"] * num_seats), schedule, **more)


def test_two_seats_give_every_pair_in_both_orders() -> None:
    groups = groups_of(5, 2)
    assert len(groups) == 10
    assert all(set(g.seatings) == {g.agents, g.agents[::-1]} for g in groups)


@pytest.mark.parametrize("num_seats", [2, 3, 4, 5, 6, 10])
@pytest.mark.parametrize("schedule", ["distinct", "duels"])
def test_everybody_sits_in_every_seat_equally_often(num_seats: int, schedule: str) -> None:
    for group in groups_of(num_seats, num_seats, schedule):
        for agent in group.agents:
            places = Counter(
                seat
                for seating in group.seatings
                for seat, who in enumerate(seating)
                if who == agent
            )
            assert len(places) == num_seats
            assert len(set(places.values())) == 1


@pytest.mark.parametrize("num_seats", [3, 4, 5, 6])
def test_everybody_sits_behind_everybody_equally_often(num_seats: int) -> None:
    (group,) = groups_of(num_seats, num_seats, "distinct")
    neighbours = Counter(pair for seating in group.seatings for pair in pairwise(seating))
    assert len(neighbours) == num_seats * (num_seats - 1)
    assert len(set(neighbours.values())) == 1


def test_a_duel_at_three_seats_is_one_against_two_and_two_against_one() -> None:
    (group,) = groups_of(2, 3)
    shares = Counter(seating.count(0) for seating in group.seatings)
    assert shares == {1: 3, 2: 3}


# ---- many agents at large tables -----------------------------------------------------------------


@pytest.mark.parametrize(("num_agents", "num_seats"), [(30, 6), (20, 10), (30, 3), (12, 5)])
def test_many_agents_get_a_balanced_sample_of_tables(num_agents: int, num_seats: int) -> None:
    groups = groups_of(num_agents, num_seats)
    assert sum(len(group.seatings) for group in groups) < 3000
    seats: Counter[tuple[int, int]] = Counter()
    met: Counter[tuple[int, int]] = Counter()
    for group in groups:
        met.update(combinations(group.agents, 2))
        for seating in group.seatings:
            seats.update(enumerate(seating))
    # Everybody sits in every seat exactly as often as everybody else.
    assert len(seats) == num_agents * num_seats
    assert len(set(seats.values())) == 1
    # And meets everybody about as often: twice on average, by default.
    counts = [met[pair] for pair in combinations(range(num_agents), 2)]
    assert 2 <= sum(counts) / len(counts) < 4
    assert min(counts) >= 1
    assert max(counts) - min(counts) <= 3
    spread = sum((count - sum(counts) / len(counts)) ** 2 for count in counts) / len(counts)
    assert spread < 0.6


def test_a_perfectly_balanced_sample_is_found_where_there_is_one() -> None:
    tables = balanced_tables(9, 3, 12)
    met = Counter(pair for table in tables for pair in combinations(table, 2))
    assert set(met.values()) == {1}
    assert len(met) == 36


def test_the_number_of_tables_can_be_chosen_and_the_seed_chooses_them() -> None:
    groups = groups_of(30, 6, "balanced", num_tables=17)
    assert len(groups) == 17
    played = Counter(agent for group in groups for agent in group.agents)
    assert {*played.values()} == {3, 4}
    assert groups == groups_of(30, 6, "balanced", num_tables=17)
    assert groups != groups_of(30, 6, "balanced", num_tables=17, seed=1)


def test_few_agents_all_meet() -> None:
    assert len(groups_of(8, 3)) == 56
    assert len(groups_of(100, 2)) == 4950


# ---- teams and roles -----------------------------------------------------------------------------

PURSUIT = facts_of(["fugitive", "pursuer", "pursuer", "pursuer"], [0, 1, 1, 1])


def test_one_agent_plays_all_seats_of_a_team() -> None:
    groups = make_groups([()] * 3, PURSUIT)
    assert [group.agents for group in groups] == [(0, 1), (0, 2), (1, 2)]
    assert groups[1].seatings == ((0, 2, 2, 2), (2, 0, 0, 0))
    # Three teams of two are three sides: distinct agents in all orders, or a duel.
    pairs = facts_of(["player"] * 6, [0, 1, 2, 0, 1, 2])
    (distinct,) = make_groups([()] * 3, pairs)
    assert len(distinct.seatings) == 6
    assert all(seating[:3] == seating[3:] for seating in distinct.seatings)
    (duel,) = make_groups([()] * 2, pairs)
    assert len(duel.seatings) == 6
    assert duel.seatings[0] == (0, 1, 1, 0, 1, 1)


def test_an_agent_for_one_role_enters_in_that_role_alone() -> None:
    agents = [(), ("fugitive",), ("pursuer",), ("pursuer",)]
    groups = {group.agents: group.seatings for group in make_groups(agents, PURSUIT)}
    assert groups == {
        (0, 1): ((1, 0, 0, 0),),
        (0, 2): ((0, 2, 2, 2),),
        (0, 3): ((0, 3, 3, 3),),
        (1, 2): ((1, 2, 2, 2),),
        (1, 3): ((1, 3, 3, 3),),
    }


def test_pursuers_who_play_alone_are_one_place_for_one_agent() -> None:
    alone = facts_of(["fugitive", "pursuer", "pursuer"])
    assert places_of(alone) == ((0,), (1, 2))
    (group,) = make_groups([(), ()], alone)
    assert group.seatings == ((0, 1, 1), (1, 0, 0))


def test_too_few_agents_or_an_unknown_schedule_are_refused() -> None:
    with pytest.raises(OptionError, match="at least 3 agents for 3 seats"):
        groups_of(2, 3, "distinct")
    with pytest.raises(OptionError, match="at least 3 agents for 3 sides"):
        make_groups([(), ()], facts_of(["player"] * 6, [0, 1, 2, 0, 1, 2]), "balanced")
    with pytest.raises(OptionError, match="auto, distinct, balanced, duels"):
        groups_of(2, 2, "swiss")
    with pytest.raises(OptionError, match="at least 2 agents"):
        groups_of(1, 2)
