"""Optimal mixed play of short reduced games: by hand, and against best responses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agents import make_agent
from agents.cfr.evaluation import BestResponseEvaluator
from arena.match import play_match
from common.errors import MasqueradeError
from envs import make_game
from experiments.scotland_yard.reduced import CERTAIN, MIXED
from experiments.scotland_yard.reduced.certain import certain_wins
from experiments.scotland_yard.reduced.graph import TeamGraph, team_graph
from experiments.scotland_yard.reduced.mixed import (
    MixedPlay,
    exploitability,
    solve_stretch,
)
from tests.support.asked_plans import RESPONSE


@pytest.fixture(scope="module")
def small() -> TeamGraph:
    return team_graph(make_game("scotland_yard_v0", "reduced", rows=3, columns=3))


def test_one_round_is_won_where_a_detective_is_next_to_him(small: TeamGraph) -> None:
    found = MixedPlay(small).values(1)
    certain = certain_wins(small).rounds
    for root in np.flatnonzero(small.is_start):
        assert found.values[root] == pytest.approx(float(certain[root] > 1))


def test_more_rounds_are_never_better_for_him(small: TeamGraph) -> None:
    rates = [found.win_rate(small) for found in map(MixedPlay(small).values, (3, 6))]
    assert rates == sorted(rates)
    assert MixedPlay(small).values(5).win_rate(small) == pytest.approx(1.0)


def test_a_guess_between_two_places_is_worth_one_half() -> None:
    """On a line of five places he goes left or right unseen, and the one detective must guess."""
    game = make_game("scotland_yard_v0", "reduced", rows=1, columns=5, num_detectives=1, rounds=2)
    graph = TeamGraph(game)
    found = solve_stretch(graph, graph.root(2, 3), 1)
    assert found.value == 0.0
    # From the end of the line he comes to the middle or stays away by parity: one place is sure.
    assert solve_stretch(graph, graph.root(0, 4), 2).value == 1.0


@pytest.mark.parametrize("rounds", [2, 3, 4])
def test_nobody_gains_anything_against_mixed_play(small: TeamGraph, rounds: int) -> None:
    """Of four rounds the first three lie before a sighting and the last after it."""
    escape, hunt = exploitability(MixedPlay(small), rounds)
    assert escape == pytest.approx(0.0, abs=1e-7)
    assert hunt == pytest.approx(0.0, abs=1e-7)


def test_whoever_mixes_otherwise_can_be_exploited(small: TeamGraph) -> None:
    play = MixedPlay(small)
    play.values(2)
    solved = dict(play._stretches)
    for key, stretch in solved.items():  # always the first plan
        play._stretches[key] = replace(stretch, probs=np.eye(len(stretch.probs))[0])
    assert exploitability(play, 2)[0] > 0.01
    for key, stretch in solved.items():  # any street
        play._stretches[key] = replace(stretch, flows={})
    assert exploitability(play, 2)[1] > 0.01


def test_the_player_is_an_equilibrium_by_the_rules_of_the_game() -> None:
    """The suite's own best responses, over the whole tree of the real game."""
    game = make_game("scotland_yard_v0", "reduced", rows=2, columns=4, rounds=2)
    evaluator = BestResponseEvaluator(game)
    result, _ = evaluator.evaluate(make_agent(MIXED, game))
    assert result.exploitability == pytest.approx(0.0, abs=1e-6)
    graph = team_graph(game)
    rate = MixedPlay(graph).values(2).win_rate(graph)
    assert 0.5 < rate < 1.0
    assert result.values[1] == pytest.approx(2 * rate - 1)
    certain, _ = evaluator.evaluate(make_agent(CERTAIN, game))
    assert certain.exploitability > 0.01


def test_mixed_players_meet_with_the_value_of_the_game() -> None:
    game = make_game("scotland_yard_v0", "reduced", rows=3, columns=3, rounds=2)
    agent = make_agent(MIXED, game)
    rate = (play_match(game, [agent, agent], 400, seed=1).returns[:, 1] > 0).mean()
    exact = MixedPlay(team_graph(game)).values(2).win_rate(team_graph(game))
    assert abs(rate - exact) < 4 * np.sqrt(exact * (1 - exact) / 400)
    with pytest.raises(MasqueradeError, match="draws lots"):
        make_agent(
            RESPONSE,
            game,
            against=MIXED,
        )
