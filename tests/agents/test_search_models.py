"""Models of opponents in a search, worlds weighed by them, budgets, and solving while playing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from agents import AGENTS, SEARCHES, agent_class, make_agent
from agents.cfr.evaluation import tabulate
from agents.cfr.response import exploitability
from agents.cfr.tree import GameTree
from agents.ismcts.searcher import Budget, Root, TreeSearcher, likely_worlds, plain_models, spend
from agents.ismcts.settings import TreeSettings
from agents.ismcts.worlds import _EPSILON
from agents.spec import AgentSpec
from arena.match import play_match
from arena.replay import record_game, show
from common.errors import OptionError
from envs import make_game
from envs.core.batch import Batch
from envs.core.game import Game
from envs.core.rng import new_rng
from envs.liars_dice.kernels import STATE
from tests.support.option_sets import every_option_set


def root_of(batch: Batch) -> Root:
    views = batch.views(np.arange(1))
    tokens = np.array(views.tokens(0), np.int64)
    return Root(views.worlds()[0], int(views.seats[0]), views.keys[0], views.masks[0], tokens)


def begun(game: Game, seed: int = 0) -> Batch:
    batch = Batch(game, 1, chance=new_rng(seed), has_tokens=True)
    batch.begin(np.arange(1), np.arange(1))
    return batch


# ---- worlds by what was played -------------------------------------------------------------------


def test_worlds_are_as_likely_as_their_bids() -> None:
    game = make_game("liars_dice_v0", preset="openspiel")
    bid = 2  # a three
    batch = begun(game)
    batch.step(np.arange(1), np.array([bid]))
    root, rng = root_of(batch), new_rng(1)
    worlds = likely_worlds(root, game, 20_000, rng, plain_models(game))
    assert worlds is not None
    found = np.bincount(worlds.view(STATE)["dice"][:, 0, 0, 0], minlength=7)[1:] / len(worlds)
    likely = np.zeros(6)
    position = game.new_position()
    for face in range(6):
        position = game.replay([face, 0])
        draws = [game.optional.rollout(position.state, game.rules, rng) for _ in range(4000)]
        num_legal = len(position.legal_actions())
        likely[face] = _EPSILON / num_legal + (1 - _EPSILON) * np.mean(np.array(draws) == bid)
    expected = likely / likely.sum()
    assert abs(expected - 1 / 6).max() > 0.1, "a bid that says nothing tests nothing"
    assert abs(found - expected).max() < 0.03


def test_worlds_of_later_rounds_fit_what_was_seen() -> None:
    game = make_game("liars_dice_v0", dice=3)
    batch, row, num_checked = begun(game, 3), np.arange(1), 0
    player = make_agent("liars_dice_rule", game)
    while batch.turns[0] >= 0:
        root = root_of(batch)
        worlds = likely_worlds(root, game, 32, new_rng(2), plain_models(game))
        assert worlds is not None
        true = np.zeros((2, game.observation_size), np.float32)
        game.kernels.observe(root.world, game.rules, root.seat, true[0])
        for world in worlds:
            game.kernels.observe(world, game.rules, root.seat, true[1])
            assert (true[0] == true[1]).all()
        num_checked += int(root.world.view(STATE)["num_rounds"][0] > 0)
        batch.step(row, player.act(batch.views(row)))
    assert num_checked > 3


@pytest.mark.parametrize(
    ("game_id", "options"),
    [
        ("holdem_v0", {"num_players": 2}),
        ("holdem_v0", {"num_players": 4}),
        ("liars_dice_v0", {"dice": 2, "first_player": "alternate"}),
        ("no_thanks_v0", {"first_player": "alternate"}),
    ],
)
def test_worlds_begin_with_the_opening_of_the_root(game_id: str, options: dict[str, Any]) -> None:
    """Whoever moves first has seen no move, by which openings could be told apart."""
    game = make_game(game_id, **options)
    assert game.facts.num_openings > 1
    rows = np.arange(game.facts.num_openings)
    batch = Batch(game, len(rows), chance=new_rng(4), has_tokens=True)
    batch.begin(rows, rows)
    views = batch.views(rows)
    for row in rows.tolist():
        tokens = np.array(views.tokens(row), np.int64)
        seat = int(views.seats[row])
        root = Root(views.worlds()[row], seat, views.keys[row], views.masks[row], tokens)
        worlds = likely_worlds(root, game, 8, new_rng(row), plain_models(game))
        assert worlds is not None
        assert [game.kernels.turn(world, game.rules) for world in worlds] == [seat] * 8


def test_what_nobody_can_have_seen_leaves_the_worlds_of_the_game() -> None:
    game = make_game("liars_dice_v0", dice=1)
    root = root_of(begun(game))
    wrong = Root(root.world, root.seat, root.key, root.mask, np.array([99, 99], np.int64))
    assert likely_worlds(wrong, game, 16, new_rng(0), plain_models(game)) is None
    searcher = TreeSearcher(game, TreeSettings(belief="policy"))
    assert searcher.search(wrong, new_rng(0), Budget(50)).simulations == 50


@every_option_set
def test_models_of_opponents_play_every_game(game: Game) -> None:
    settings: dict[str, Any] = {"belief": "policy", "num_worlds": 8, "max_nodes": 64}
    if game.optional.has_rollout:
        settings |= {"opponents": "rule", "observers": "own"}
    agent = make_agent("mo_ismcts", game, iterations=3, **settings)
    batch, rows = Batch(game, 2, chance=new_rng(1), has_tokens=True), np.arange(2)
    batch.begin(rows, rows)
    for _ in range(4):
        rows = rows[batch.turns[rows] >= 0]
        batch.step(rows, agent.act(batch.views(rows)))  # refuses what is not legal


def test_opponents_by_the_quick_policy_have_no_nodes() -> None:
    game = make_game("liars_dice_v0", dice=1, single_round=True)
    root, nodes = root_of(begun(game)), {}
    for opponents in ("search", "rule"):
        searcher = TreeSearcher(game, TreeSettings(opponents=opponents, selection="ucb"))
        found = searcher.search(root, new_rng(0), Budget(2000))
        assert found.visits.sum() == 2000
        nodes[opponents] = found.nodes
    assert 1 < nodes["rule"] < 0.7 * nodes["search"]
    with pytest.raises(OptionError, match="has no quick policy: set opponents"):
        TreeSearcher(make_game("kuhn_v0"), TreeSettings(opponents="rule"))


# ---- budgets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("each", [1e-6, 3e-4, 5e-3])
def test_a_budget_of_time_is_kept(each: float) -> None:
    now = [0.0]

    def run(count: int) -> None:
        now[0] += each * count

    spend(Budget(None, 0.5), 0.0, lambda: now[0], run)
    assert 0.5 <= now[0] <= 0.5 + each + 0.001


@pytest.mark.parametrize("agent_id", ["oos", "online_cfr"])
@pytest.mark.parametrize("budget", [{"iterations": 0}, {"time_per_move": 0.0}])
def test_without_time_any_legal_action_is_played(agent_id: str, budget: dict[str, Any]) -> None:
    game = make_game("leduc_v0")
    result = play_match(game, [make_agent(agent_id, game, **budget)] * 2, num_games=20)
    assert not result.faults


def test_opponents_are_modelled_by_what_the_game_has_for_that() -> None:
    """The Phantom expects simple detectives at times; what they play is legal, as they search."""
    game = make_game("phantom_v0", map_seed=5)
    searchers = {who: TreeSearcher(game, TreeSettings(opponents=who)) for who in ("search", "rule")}
    assert searchers["search"].optional is game.optional
    assert searchers["rule"].optional is game.modelled
    draw, rng, num_moves = searchers["rule"].optional.rollout, new_rng(3), 0
    for _ in range(20):
        position = game.new_position()
        position.play_chance(rng)
        while not position.is_over:
            action = int(draw(position.state, game.rules, rng))
            assert position.mask()[action]
            position.apply(action)
            num_moves += 1
    assert num_moves > 500


# ---- solving while playing -----------------------------------------------------------------------


def test_small_games_are_solved_and_large_ones_sampled() -> None:
    game = make_game("kuhn_v0")
    tree = GameTree(game)
    solving = make_agent("online_cfr", game, iterations=2000)
    answer = tabulate(solving, tree)
    assert answer.is_exact
    assert exploitability(tree, answer.probs) < 1e-3
    sampling: Any = make_agent("online_cfr", game, iterations=50, max_tree_nodes=10)
    assert sampling.solved is None
    (found,) = sampling.analyse(begun(game).views(np.arange(1)))
    assert found.simulations == 50
    with pytest.raises(OptionError, match="max_tree_nodes"):
        make_agent("online_cfr", game, max_tree_nodes=-1)


# ---- what replays tell ---------------------------------------------------------------------------


def test_replays_tell_how_much_was_searched_and_only_to_who_searched() -> None:
    game = make_game("leduc_v0")
    agents = [make_agent("ismcts", game, iterations=70), make_agent("leduc_rule", game)]
    recording = record_game(game, agents, ["a", "b"], deal=1)
    position, own = game.new_position(1), []
    for place, action in enumerate(recording.history):
        own += [place] * (position.turn == 0)
        position.apply(action)
    assert sorted(recording.thoughts) == own
    assert "70 simulations" in show(recording)
    assert "simulations" not in show(recording, viewer=1)
    assert agents[0].log is None


def test_every_search_player_is_in_a_tournament_of_each_of_its_games() -> None:
    found: dict[str, set[str]] = {}
    for path in Path("configs/tournaments").rglob("*.yaml"):
        config = yaml.safe_load(path.read_text())
        ids = {AgentSpec.parse(agent).id for agent in config["agents"]}
        found.setdefault(config["game"]["id"], set()).update(ids)
    searches = [id for id, place in AGENTS.items() if place.startswith(SEARCHES)]
    assert len(found) == 7
    assert len(searches) >= 9
    # Or the tournament would ask a search for its policy, in every infoset a thousand times.
    assert [id for id in searches if not agent_class(id).thinks_long] == []
    for game_id, ids in found.items():
        missing = {id for id in searches if agent_class(id).plays(game_id)} - ids
        assert not missing, f"{game_id}: {missing}"
