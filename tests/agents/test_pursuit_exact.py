"""The reduced game solved: always seen, certain wins, and best responses to known plans."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents import make_agent
from arena.match import play_match
from common.errors import MasqueradeError
from envs import make_game
from envs.core.rng import below, new_rng
from envs.pursuit.game import Pursuit
from experiments.scotland_yard.reduced import ALPHA_BETA, CERTAIN
from experiments.scotland_yard.reduced.certain import NOT_CERTAIN, certain_wins, solve_seen
from experiments.scotland_yard.reduced.graph import TeamGraph, team_graph
from experiments.scotland_yard.reduced.plans import (
    PER_ROUND,
    BestFugitive,
    fugitive_anywhere,
    play_plans,
)
from experiments.scotland_yard.reduced.players import last_sighting
from experiments.scotland_yard.reduced.search import AlphaBetaSettings, fugitive_table, plan_table
from tests.support.asked_plans import RESPONSE, plans_of, tables_of
from tests.support.pursuits import record


def reduced(**options: Any) -> Pursuit:
    found = make_game("scotland_yard_v0", "reduced", **options)
    assert isinstance(found, Pursuit)
    return found


@pytest.fixture(scope="module")
def graph() -> TeamGraph:
    return team_graph(reduced())


@pytest.fixture(scope="module")
def small() -> TeamGraph:
    return team_graph(reduced(rows=3, columns=3))


# ---- always seen ---------------------------------------------------------------------------------


def test_detectives_win_every_start_within_seven_rounds(graph: TeamGraph) -> None:
    rounds = solve_seen(graph)[0][graph.is_start]
    assert len(rounds) == 13_800
    assert np.bincount(rounds)[1:].tolist() == [3516, 712, 1576, 2680, 2760, 1784, 772]
    assert rounds.mean() == pytest.approx(3.645, abs=0.001)


def test_detectives_who_follow_the_table_win_in_time_by_the_rules_of_the_game() -> None:
    game = reduced(reveals=1)
    graph, rng = TeamGraph(game), new_rng(2)
    rounds, moves = solve_seen(graph)
    for _ in range(60):
        position = game.new_position()
        position.play_chance(rng)
        start = graph.root(*(record(position).place[piece] for piece in (1, 2, 0)))
        while not position.is_over:
            if position.turn == 1:
                root = graph.root(*(record(position).place[piece] for piece in (1, 2, 0)))
                for target in graph.arrays.places[moves[root]]:
                    if not position.is_over:
                        position.apply(int(target))
            else:
                legal = position.legal_actions()
                position.apply(legal[int(below(rng, len(legal)))])
        assert position.returns()[1] == 1.0
        assert record(position).round_number <= rounds[start]


def test_one_detective_alone_never_forces_a_catch_on_a_large_grid() -> None:
    graph = TeamGraph(reduced(num_detectives=1))
    rounds = solve_seen(graph)[0][graph.is_start]
    assert (rounds == 0).any()
    assert TeamGraph(reduced(num_detectives=3, rows=3, columns=3)).num_teams == 9**3


# ---- certain wins --------------------------------------------------------------------------------


def test_every_start_is_a_certain_catch_within_twelve_rounds(graph: TeamGraph) -> None:
    rounds = certain_wins(graph).rounds[graph.is_start]
    counts = dict(zip(*np.unique(rounds, return_counts=True), strict=True))
    assert counts == {
        1: 3516, 2: 208, 3: 544, 4: 1064, 5: 1024, 6: 1816, 7: 2000, 8: 1608, 9: 1088,
        11: 596, 12: 336,
    }  # fmt: skip
    assert rounds.mean() == pytest.approx(5.296, abs=0.001)


def test_the_plans_keep_their_promise_against_every_fugitive(graph: TeamGraph) -> None:
    wins = certain_wins(graph)
    promised = wins.rounds[graph.is_start]
    for replies in (
        fugitive_anywhere(graph),
        fugitive_table(graph, AlphaBetaSettings(plies=3)),
        fugitive_table(graph, AlphaBetaSettings(plies=4, version="danger")),
    ):
        games = play_plans(graph, wins.plans, replies)
        assert games.is_won.all()
        assert (games.rounds <= promised).all()
        assert games.mean_length < 5.296
    worst = BestFugitive(graph, wins.plans[None])
    assert worst.survival == 0.0
    # Whoever knows the plans lasts as long as was promised, and no longer.
    survived = np.round((worst.values % 1.0) / PER_ROUND)
    assert (survived == promised - 1).all()


def test_sightings_at_every_second_move_make_it_quicker() -> None:
    graph = TeamGraph(reduced(reveals=2))
    assert certain_wins(graph).rounds[graph.is_start].max() == 11


def test_always_seen_is_never_slower_than_certain(small: TeamGraph) -> None:
    is_start = small.is_start
    certain, seen = certain_wins(small).rounds[is_start], solve_seen(small)[0][is_start]
    assert (seen <= certain).all()
    every = TeamGraph(reduced(rows=3, columns=3, reveals=1))
    assert (certain_wins(every).rounds[is_start] == seen).all()


def test_where_no_catch_is_certain_plans_are_legal_all_the_same() -> None:
    graph = TeamGraph(reduced(rows=4, columns=4, num_detectives=1))
    wins = certain_wins(graph)
    a = graph.arrays
    doubtful = [r for r in np.flatnonzero(graph.is_start) if wins.rounds[r] == NOT_CERTAIN]
    assert doubtful
    for root in doubtful:
        team = int(root) // graph.num_places
        for target in wins.plans[root]:
            assert target in a.team_targets[a.team_starts[team] : a.team_starts[team + 1]]
            team = int(target)


# ---- best responses ------------------------------------------------------------------------------


def survives(graph: TeamGraph, plans: Any, root: int, limit: int) -> bool:
    """Whether he can escape, by trying everything."""

    def after(root: int, step: int, place: int, left: int) -> bool:
        if left == 0:
            return True
        if step == graph.period:
            return False
        team = int(plans[root, step])
        taken = graph.arrays.places[team]
        if place in taken:
            return False
        a = graph.arrays
        for target in a.targets[a.starts[place] : a.starts[place + 1]]:
            if target in taken:
                continue
            if left > 1 and step + 1 == graph.period:
                if after(graph.root(*taken, target), 0, int(target), left - 1):
                    return True
            elif left == 1 or after(root, step + 1, int(target), left - 1):
                return True
        return False

    return after(root, 0, root % graph.num_places, limit)


def test_the_best_response_finds_what_trying_everything_finds(small: TeamGraph) -> None:
    plans = plan_table(small, AlphaBetaSettings(version="v2", plies=3))
    for limit in (1, 3, 4, 7):
        response = BestFugitive(small, plans[None], rounds=limit)
        found = [
            survives(small, plans, int(root), limit) for root in np.flatnonzero(small.is_start)
        ]
        assert (np.floor(response.values) == found).all()


def test_not_knowing_which_plan_is_followed_never_helps_him(small: TeamGraph) -> None:
    settings = AlphaBetaSettings(version="v2", plies=3, ties="random")
    tables = np.stack([plan_table(small, settings, seed=k) for k in range(4)])
    alone = [BestFugitive(small, table[None], rounds=4).survival for table in tables]
    together = BestFugitive(small, tables, rounds=4).survival
    assert together <= np.mean(alone) + 1e-4
    assert BestFugitive(small, tables[[0, 0]], rounds=4).survival == pytest.approx(
        alone[0], abs=1e-4
    )


# ---- players -------------------------------------------------------------------------------------


def test_plans_are_made_at_sightings_and_depend_on_nothing_that_is_hidden() -> None:
    """Between sightings two worlds that differ in his place alone get the same moves."""
    game = reduced()
    agent: Any = make_agent(ALPHA_BETA, game, plies=3)
    asked: list[int] = []
    plan = agent.plan
    agent.plan = lambda root: asked.append(root) or plan(root)
    graph = agent.graph
    position = game.replay([0, 24, 12])
    for number in range(7):
        for piece in (1, 2):
            tokens = position.tokens(1)
            sighting = last_sighting(graph, tokens)
            assert len(sighting.teams) == number % 3
            assert len(sighting.moved) == piece - 1
            assert sighting.rounds_left == 20 - number
            seen = graph.num_places * graph.team(0, 24) + 12 if number < 3 else sighting.root
            assert sighting.root == seen
            places = [int(place) for place in record(position).place]
            legal = [a for a in position.legal_actions() if a != places[0]]
            position.apply(legal[0])
        legal = position.legal_actions()
        position.apply(legal[-1])
        if position.is_over:
            break
    assert number >= 3, "the game must go beyond a sighting to say anything"


@pytest.mark.parametrize(
    "agent_id",
    [
        ALPHA_BETA,
        CERTAIN,
    ],
)
def test_players_do_in_real_games_what_their_tables_say(agent_id: str) -> None:
    game = reduced(rows=3, columns=4)
    params = {"plies": 3} if agent_id == ALPHA_BETA else {}
    agent: Any = make_agent(agent_id, game, **params)
    graph = agent.graph
    table = tables_of(agent)[0]
    assert BestFugitive(graph, plans_of(agent, graph)[None]).survival == pytest.approx(
        BestFugitive(graph, table[None]).survival
    )
    fugitive = make_agent(ALPHA_BETA, game, plies=3)
    result = play_match(game, [fugitive, agent], 400, seed=3)
    replies = fugitive_table(graph, AlphaBetaSettings(plies=3))
    exact = play_plans(graph, table, replies).win_rate
    rate = (result.returns[:, 1] > 0).mean()
    assert abs(rate - exact) < 4 * np.sqrt(0.25 / 400)
    if agent_id == CERTAIN:
        assert rate == 1.0


def test_the_responder_escapes_as_often_as_was_worked_out() -> None:
    game = reduced(rows=4, columns=4, rounds=12)
    against = {
        "id": ALPHA_BETA,
        "params": {"version": "v2", "plies": 3},
    }
    responder: Any = make_agent(RESPONSE, game, against=against)
    detectives = make_agent(ALPHA_BETA, game, version="v2", plies=3)
    result = play_match(game, [responder, detectives], 400, seed=4)
    rate = (result.returns[:, 0] > 0).mean()
    exact = responder.response.survival
    assert 0.2 < exact < 0.95
    assert abs(rate - exact) < 4 * np.sqrt(0.25 / 400)


def test_a_response_to_any_detectives_who_draw_no_lots() -> None:
    game = reduced(rows=3, columns=3, rounds=8)
    greedy = make_agent("pursuit_greedy", game)
    graph = team_graph(game)
    assert plans_of(greedy, graph)[graph.is_start].min() >= 0
    with pytest.raises(MasqueradeError, match="draws lots"):
        make_agent(RESPONSE, game, against="random")


def test_other_games_are_refused_by_name() -> None:
    for agent_id in (
        ALPHA_BETA,
        CERTAIN,
        RESPONSE,
    ):
        with pytest.raises(MasqueradeError, match="reduced"):
            make_agent(agent_id, make_game("phantom_v0", "map_1"))
        with pytest.raises(MasqueradeError, match="kuhn_v0"):
            make_agent(agent_id, make_game("kuhn_v0"))
