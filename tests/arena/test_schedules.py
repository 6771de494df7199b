"""Seatings: everybody in every seat equally often, and impossible wishes refused."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from arena.schedules.schedule import make_groups
from envs.core import OptionError


def test_two_seats_give_every_pair_in_both_orders() -> None:
    groups = make_groups(5, 2)
    assert len(groups) == 10
    assert all(set(g.seatings) == {g.agents, g.agents[::-1]} for g in groups)


@pytest.mark.parametrize("num_seats", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("design", ["distinct", "duels"])
def test_everybody_sits_in_every_seat_equally_often(num_seats: int, design: str) -> None:
    for group in make_groups(num_seats, num_seats, design):
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
    (group,) = make_groups(num_seats, num_seats, "distinct")
    neighbours = Counter(pair for seating in group.seatings for pair in pairwise(seating))
    assert len(neighbours) == num_seats * (num_seats - 1)
    assert len(set(neighbours.values())) == 1


def test_a_duel_at_three_seats_is_one_against_two_and_two_against_one() -> None:
    (group,) = make_groups(2, 3)
    shares = Counter(seating.count(0) for seating in group.seatings)
    assert shares == {1: 3, 2: 3}


def test_one_agent_plays_all_seats_of_a_team() -> None:
    groups = make_groups(3, 4, teams=[[0], [1, 2, 3]])
    assert [group.agents for group in groups] == [(0, 1), (0, 2), (1, 2)]
    assert groups[1].seatings == ((0, 2, 2, 2), (2, 0, 0, 0))
    # Three teams of two are three sides: distinct agents in all orders, or a duel.
    pairs = [[0, 3], [1, 4], [2, 5]]
    (distinct,) = make_groups(3, 6, teams=pairs)
    assert len(distinct.seatings) == 6
    assert all(seating[:3] == seating[3:] for seating in distinct.seatings)
    (duel,) = make_groups(2, 6, teams=pairs)
    assert len(duel.seatings) == 6
    assert duel.seatings[0] == (0, 1, 1, 0, 1, 1)


@pytest.mark.parametrize(
    ("teams", "message"),
    [
        ([[0], [1]], "seats 0 to 2 once"),
        ([[0, 1], [1, 2]], "seats 0 to 2 once"),
        ([[0], [1, 3]], "seats 0 to 2 once"),
        ([[0, 1, 2]], "two or more"),
        ([[0, 1, 2], []], "two or more"),
    ],
)
def test_impossible_teams_are_refused(teams: list[list[int]], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make_groups(2, 3, teams=teams)


def test_too_few_agents_or_an_unknown_design_are_refused() -> None:
    with pytest.raises(OptionError, match="at least 3 agents for 3 seats"):
        make_groups(2, 3, "distinct")
    with pytest.raises(OptionError, match="at least 3 agents for 3 teams"):
        make_groups(2, 4, "distinct", teams=[[0], [1, 2], [3]])
    with pytest.raises(OptionError, match="auto, distinct, duels"):
        make_groups(2, 2, "swiss")
    with pytest.raises(OptionError, match="at least 2 agents"):
        make_groups(1, 2)
