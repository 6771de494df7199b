"""Optimal mixed play of short reduced games: by hand, and against best responses."""

from __future__ import annotations

import numpy as np
import pytest

from agents.games.pursuit.reduced.certain import certain_wins
from agents.games.pursuit.reduced.graph import TeamGraph, team_graph
from agents.games.pursuit.reduced.mixed import mixed_values, solve_stretch
from agents.games.pursuit.reduced.response import BestResponse
from envs import make_game


@pytest.fixture(scope="module")
def small() -> TeamGraph:
    return team_graph(make_game("scotland_yard_v0", "reduced", rows=3, columns=3))


def test_one_round_is_won_where_a_detective_is_next_to_him(small: TeamGraph) -> None:
    found = mixed_values(small, 1)[0]
    certain = certain_wins(small).rounds
    for root in np.flatnonzero(small.is_start):
        assert found.values[root] == pytest.approx(float(certain[root] > 1))


def test_more_rounds_are_never_better_for_him(small: TeamGraph) -> None:
    rates = [found.win_rate(small) for found in mixed_values(small, 6)]
    assert rates == sorted(rates)
    assert mixed_values(small, 5)[-1].win_rate(small) == pytest.approx(1.0)


def test_a_guess_between_two_places_is_worth_one_half() -> None:
    """On a line of five places he goes left or right unseen, and the one detective must guess."""
    game = make_game("scotland_yard_v0", "reduced", rows=1, columns=5, num_detectives=1, rounds=2)
    graph = TeamGraph(game)
    found = solve_stretch(graph, graph.root(2, 3), 1)
    assert found.value == 0.0
    # From the end of the line he comes to the middle or stays away by parity: one place is sure.
    assert solve_stretch(graph, graph.root(0, 4), 2).value == 1.0


def test_the_drawn_plans_allow_him_no_more_than_the_value(small: TeamGraph) -> None:
    """The best response to the mixture that was found gets what the programme promises."""
    values = mixed_values(small, 2)[0].values
    roots = np.flatnonzero(small.is_start & (values > 0.0) & (values < 1.0))
    assert len(roots) > 0
    for root in roots[:: max(1, len(roots) // 5)]:
        stretch = solve_stretch(small, int(root), 2)
        assert stretch.value == pytest.approx(values[root])
        assert stretch.probs.sum() == pytest.approx(1.0)
        # Tables weigh the same, so a plan enters as often as it is likely.
        number = np.maximum(np.round(stretch.probs * 24).astype(int), 1)
        tables = np.zeros((int(number.sum()), small.num_roots, small.period), np.int32)
        plans = np.repeat(stretch.plans, number, axis=0)
        tables[:, root, :2] = plans
        response = BestResponse(small, tables, rounds=2)
        at = int(np.flatnonzero(np.flatnonzero(small.is_start) == root)[0])
        exact = np.allclose(number / number.sum(), stretch.probs, atol=1e-6)
        assert response.values[at] >= stretch.value - 1e-4
        if exact:
            assert response.values[at] == pytest.approx(stretch.value, abs=1e-4)
