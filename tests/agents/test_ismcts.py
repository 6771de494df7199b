"""Searching information sets: it plays everything, counts right, and finds what is there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.ismcts.agent import ISMCTSAgent
from agents.ismcts.searcher import Budget, Root, SearchAnalysis, TreeSearcher, spend
from agents.ismcts.settings import OBSERVERS, SELECTIONS, TreeSettings
from agents.ismcts.tree import NONE
from arena.match import play_match
from common.errors import OptionError
from envs import make_game
from envs.core.batch import Batch, random_actions
from envs.core.game import Game
from envs.core.rng import new_rng
from tests.support.option_sets import every_option_set
from tests.support.tree_game import TreeGame
from tests.support.views import views_of

JACK, QUEEN, KING = 0, 1, 2
PASS, BET = 0, 1
PLAYERS = ("ismcts", "mo_ismcts", "pimc", "flat_mc")


def kuhn_views(own: int, other: int, *moves: int) -> Any:
    """Views of a hand of Kuhn poker in which ``own`` is the first player's card."""
    position = make_game("kuhn_v0").new_position()
    for action in (own, other, *moves):
        position.apply(action)
    return views_of([position])


def search_once(game: Game, settings: TreeSettings, iterations: int, seed: int = 0) -> Any:
    batch = Batch(game, 1, chance=new_rng(seed))
    batch.begin(np.arange(1), np.arange(1))
    views = batch.views(np.arange(1))
    root = Root(views.worlds()[0], int(views.seats[0]), views.keys[0], views.masks[0])
    searcher = TreeSearcher(game, settings)
    return searcher, searcher.search(root, views.rngs[0], Budget(iterations))


# ---- legal, whatever happens ---------------------------------------------------------------------


@every_option_set
@pytest.mark.parametrize("agent_id", ["ismcts", "mo_ismcts", "pimc"])
def test_whole_games_of_every_game_are_legal_with_few_simulations(
    agent_id: str, game: Game
) -> None:
    agent = make_agent(agent_id, game, iterations=3, max_nodes=64)
    batch, rows = Batch(game, 3, chance=new_rng(1)), np.arange(3)
    batch.begin(rows, rows)
    for number in range(40):
        playing = rows[batch.turns >= 0]
        if not len(playing):
            break
        views = batch.views(playing)
        player = agent if number % 4 == 0 else make_agent("random", game)
        batch.step(playing, player.act(views))  # refuses what is not legal


@pytest.mark.parametrize("agent_id", PLAYERS)
@pytest.mark.parametrize("budget", [{"iterations": 0}, {"time_per_move": 0.0}])
def test_without_simulations_or_time_any_legal_action_is_played(
    agent_id: str, budget: dict[str, Any]
) -> None:
    game = make_game("leduc_v0")
    result = play_match(game, [make_agent(agent_id, game, **budget)] * 2, num_games=20)
    assert not result.faults


@pytest.mark.parametrize("observers", OBSERVERS)
def test_a_full_pool_goes_on_with_the_nodes_it_has(observers: str) -> None:
    settings = TreeSettings(observers=observers, max_nodes=8)
    _, found = search_once(make_game("liars_dice_v0"), settings, 500)
    assert found.left_out > 0
    assert found.nodes <= 8
    assert found.simulations == 500


# ---- counts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("observers", OBSERVERS)
def test_visits_of_actions_add_up_to_those_of_their_node(observers: str, selection: str) -> None:
    settings = TreeSettings(observers=observers, selection=selection)
    searcher, found = search_once(make_game("leduc_v0"), settings, 400)
    assert found.visits.sum() == found.simulations == 400
    (pool,) = searcher._trees
    num_nodes = 0
    for node in pool.nodes[pool.nodes["stamp"] == pool.counters[5]]:
        num_nodes += 1
        visits, total, at = 0, 0.0, int(node["first"])
        while at != NONE:
            edge = pool.edges[at]
            assert edge["visits"] <= edge["available"] <= node["visits"]
            visits += int(edge["visits"])
            total += float(edge["total"])
            at = int(edge["next"])
        assert visits == node["visits"]
        assert total == pytest.approx(node["total"])
    assert num_nodes == found.nodes > 1


def test_one_tree_of_one_observer_grows_by_one_node_a_simulation() -> None:
    settings = TreeSettings(observers="single", selection="ucb", horizon="end")
    _, found = search_once(make_game("liars_dice_v0"), settings, 100)
    assert found.nodes == 100


# ---- what is found -------------------------------------------------------------------------------


@pytest.mark.parametrize("selection", [name for name in SELECTIONS if name != "uniform"])
@pytest.mark.parametrize("observers", OBSERVERS)
def test_a_king_calls_a_bet_and_a_jack_folds(observers: str, selection: str) -> None:
    settings = {"observers": observers, "selection": selection, "iterations": 600}
    agent = ISMCTSAgent(make_game("kuhn_v0"), **settings)
    assert agent.act(kuhn_views(JACK, KING, BET)) == [BET]
    assert agent.act(kuhn_views(KING, JACK, BET)) == [PASS]


def test_values_are_those_of_the_game() -> None:
    """After a bet a jack loses one by folding and two by calling."""
    (found,) = ISMCTSAgent(make_game("kuhn_v0"), iterations=500).analyse(
        kuhn_views(KING, JACK, BET)
    )
    assert found.values.tolist() == [-1.0, -2.0]


@pytest.mark.parametrize("observers", OBSERVERS)
def test_in_perfect_information_everybody_plays_for_themselves(observers: str) -> None:
    """Three players: the second would rather have his 5 than the 9 that would suit the first."""
    tree = [0, [1, (9, 1, 0), [2, (0, 5, 5), (8, 6, 0)]], [1, (4, 2, 2), (5, 1, 8)]]
    game = TreeGame(tree, low=0)
    mask = np.zeros(game.facts.num_actions, np.int8)
    game.kernels.legal(game.root, game.rules, mask)
    searcher = TreeSearcher(game, TreeSettings(observers=observers, preference="return"))
    found = searcher.search(Root(game.root, 0, np.uint64(3), mask), new_rng(0), Budget(3000))
    assert found.best == 1
    assert found.values[1] == pytest.approx(4.0, abs=0.2)


@pytest.mark.parametrize(("observers", "num_nodes"), [("single", 4), ("many", 6), ("perfect", 8)])
def test_trees_tell_apart_what_their_observers_can(observers: str, num_nodes: int) -> None:
    """A jack to begin with, in Kuhn poker, where the other has a queen or a king.

    Two decisions are ours and two the other's, who knows its card if decisions are looked up by
    what their own player has seen; where everything is seen there is a tree for each card.
    """
    agent = ISMCTSAgent(make_game("kuhn_v0"), observers=observers)
    (found,) = agent.analyse(kuhn_views(JACK, QUEEN))
    assert found.nodes == num_nodes


def test_flat_search_tries_every_action_equally_often() -> None:
    game = make_game("liars_dice_v0")
    agent = make_agent("flat_mc", game, iterations=6000)
    batch = Batch(game, 1, chance=new_rng(0))
    batch.begin(np.arange(1), np.arange(1))
    (found,) = agent.analyse(batch.views(np.arange(1)))
    assert found.visits.max() - found.visits.min() <= 1
    assert found.depth == 1


# ---- repeatable ----------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_seed_and_threads_give_the_same_search(threads: int) -> None:
    settings = TreeSettings(threads=threads)
    game = make_game("leduc_v0")
    first, second = (search_once(game, settings, 301)[1] for _ in range(2))
    assert (first.visits == second.visits).all()
    assert first.simulations == 301


def test_a_row_is_answered_alike_whatever_rows_share_its_batch() -> None:
    game = make_game("leduc_v0")
    batch, rows = Batch(game, 4, chance=new_rng(0)), np.arange(4)
    batch.begin(rows, rows)
    agent = make_agent("ismcts", game, iterations=50)
    together = agent.act(batch.views(rows))
    alone = [int(agent.act(batch.views(rows[i : i + 1]))[0]) for i in range(4)]
    assert together.tolist() == alone


def play_two_moves(agent: Any) -> tuple[SearchAnalysis, SearchAnalysis]:
    """The first player's first two searches of a game of No Thanks!, in which others pay."""
    game = agent.game
    batch, row = Batch(game, 1, chance=new_rng(5)), np.arange(1)
    batch.begin(row, row)
    found = []
    for _ in range(2):
        found += agent.analyse(batch.views(row))
        for _ in range(game.facts.num_players):
            batch.step(row, np.array([0]))
    return found[0], found[1]


def test_a_kept_tree_goes_on_where_it_was() -> None:
    game = make_game("no_thanks_v0")
    _, fresh = play_two_moves(make_agent("ismcts", game, iterations=500))
    first, kept = play_two_moves(make_agent("ismcts", game, iterations=500, keep_tree=True))
    assert fresh.visits.sum() == first.visits.sum() == 500
    assert kept.visits.sum() > 500
    assert kept.simulations == 500


def test_memory_of_games_that_are_over_is_used_again() -> None:
    game = make_game("leduc_v0")
    agent = make_agent("ismcts", game, iterations=20, keep_tree=True, max_nodes=100)
    play_match(game, [agent, make_agent("random", game)], num_games=200, batch_size=4)
    assert not agent._kept
    assert len(agent._free) <= 4


def test_the_clock_ends_a_search() -> None:
    ticks = iter(np.arange(0.0, 1000.0, 0.25))
    searcher = TreeSearcher(make_game("leduc_v0"), clock=lambda: float(next(ticks)))
    views = first_views("leduc_v0")
    root = Root(views.worlds()[0], int(views.seats[0]), views.keys[0], views.masks[0])
    found = searcher.search(root, new_rng(0), Budget(None, seconds=2.0))
    assert 0 < found.simulations < 1000


@pytest.mark.parametrize("game_id", ["leduc_v0", "no_thanks_v0", "phantom_v0", "holdem_v0"])
def test_who_stops_early_plays_the_same_moves_in_fewer_simulations(game_id: str) -> None:
    game, moves, simulations = make_game(game_id), [], []
    for stops_early in (False, True):
        agent = make_agent("mo_ismcts", game, iterations=300, stops_early=stops_early)
        agent.log = []
        record = play_match(game, [agent] * game.facts.num_players, 2, seed=4)
        moves.append((record.returns.tolist(), record.lengths.tolist()))
        simulations.append([int(line.split()[0]) for line in agent.log])
    assert moves[0] == moves[1]
    full, fewer = simulations
    assert len(full) == len(fewer)
    assert all(few <= many for few, many in zip(fewer, full, strict=True))
    assert sum(fewer) < 0.9 * sum(full)


def test_by_the_clock_a_search_stops_when_the_rest_of_its_time_can_change_nothing() -> None:
    """A hundredth of a second a simulation: 100 in all, and 60 of 60 are enough."""
    now, visits = [0.0], [0]

    def run(count: int) -> None:
        now[0] += 0.01 * count
        visits[0] += count

    spend(Budget(None, 1.0, stops_early=True), 0.0, lambda: now[0], run, lambda: visits[0])
    assert 50 < visits[0] < 60


def test_only_a_choice_by_visits_of_one_tree_can_stop_early() -> None:
    for other in ({"final": "value"}, {"threads": 2}):
        with pytest.raises(OptionError, match="stops_early needs final 'visits' and one thread"):
            make_agent("ismcts", make_game("kuhn_v0"), stops_early=True, **other)


def first_views(game_id: str) -> Any:
    batch = Batch(make_game(game_id), 1, chance=new_rng(0))
    batch.begin(np.arange(1), np.arange(1))
    return batch.views(np.arange(1))


# ---- what it tells -------------------------------------------------------------------------------


@pytest.mark.parametrize("agent_id", PLAYERS)
def test_an_analysis_tells_shares_values_and_a_line_that_can_be_played(agent_id: str) -> None:
    game = make_game("liars_dice_v0", dice=2)
    batch, row = Batch(game, 1, chance=new_rng(0)), np.arange(1)
    batch.begin(row, row)
    views = batch.views(row)
    agent = make_agent(agent_id, game, iterations=400)
    (chosen,) = agent.act(views)
    (found,) = agent.last
    assert found.shares.sum() == pytest.approx(1.0)
    assert found.policy.sum() == pytest.approx(1.0)
    assert found.actions.tolist() == np.flatnonzero(views.masks[0]).tolist()
    assert found.variation[0] == found.best == chosen
    told = found.to_dict()
    assert told["simulations"] == 400
    assert told["depth"] >= 1
    assert len(told["values"]) == len(found.actions)


# ---- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"iterations": -1}, "iterations must be at least 0"),
        ({"selection": "ucb3"}, "selection must be 'ucb' or"),
        ({"explorations": 1}, "did you mean 'exploration'"),
        ({"level": 9}, "level must be from 1 to 5"),
        ({"rollout": "rule"}, "has no quick policy"),
        ({"threads": 0}, "threads must be a whole number from 1 to 256"),
    ],
)
def test_bad_settings_are_refused_in_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make_agent("ismcts", make_game("kuhn_v0"), **settings).act(kuhn_views(JACK, KING, BET))


def test_levels_think_longer_and_blunder_less() -> None:
    game = make_game("kuhn_v0")
    agents = [make_agent("ismcts", game, level=level) for level in (1, 2, 3, 4, 5)]
    iterations = [agent.budget.iterations for agent in agents]
    blunders = [agent.blunders for agent in agents]
    assert iterations == sorted(set(iterations))
    assert blunders == sorted(blunders, reverse=True)


def test_a_player_that_always_blunders_plays_any_legal_action() -> None:
    game = make_game("kuhn_v0")
    agent = make_agent("ismcts", game, blunders=1.0)
    batch, rows = Batch(game, 64, chance=new_rng(0)), np.arange(64)
    batch.begin(rows, rows)
    assert set(agent.act(batch.views(rows)).tolist()) == {PASS, BET}
    assert set(random_actions(batch.views(rows).masks, batch.views(rows).rngs)) == {PASS, BET}
