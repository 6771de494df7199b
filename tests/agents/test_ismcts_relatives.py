"""The thesis's search over joint actions, and online outcome sampling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.base import Agent
from agents.cfr import exploitability
from agents.cfr.evaluation import views_at
from agents.cfr.tree import GameTree
from agents.ismcts.tree import NONE
from arena.match import play_match
from common.errors import OptionError
from envs import make_game
from envs.core.batch import Batch
from envs.core.game import Game
from envs.core.rng import fill_streams, new_rng, stream
from experiments.phantom import JOINT_SEARCH
from experiments.phantom.joint import ROOT, find
from tests.support.option_sets import every_option_set
from tests.support.pursuits import started
from tests.support.views import views_of

SMALL = {
    "board": "grid",
    "rows": 3,
    "columns": 3,
    "rounds": 4,
    "reveals": (1, 2, 3, 4),
    "detective_tickets": "unlimited",
    "black_tickets": 0,
    "double_moves": 0,
}


def detectives_views(game: Game, num_moves: int = 6) -> Any:
    """The first decision of the detectives of a Phantom game, and the batch it is in."""
    batch, row = Batch(game, 1, chance=new_rng(3)), np.arange(1)
    batch.begin(row, row)
    while num_moves or batch.turns[0] != 1:
        legal = np.flatnonzero(batch.views(row).masks[0])
        batch.step(row, legal[-1:] if batch.turns[0] == 0 else legal[:1])
        num_moves = max(num_moves - 1, 0)
    return batch, row


# ---- the thesis's search -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "agent_id",
    [JOINT_SEARCH, "ismcts", "mo_ismcts", "pimc", "flat_mc"],
)
def test_a_certain_catch_in_one_is_taken(agent_id: str) -> None:
    game = make_game("scotland_yard_v0", num_detectives=1, **SMALL)
    position = started(game, [0], fugitive=2)  # type: ignore[arg-type]
    (to_the_middle,) = [a for a in position.legal_actions() if a % 9 == 1]
    position.apply(to_the_middle)
    agent = make_agent(agent_id, game, iterations=200)
    (chosen,) = agent.act(views_of([position]))
    position.apply(int(chosen))
    assert position.is_over
    assert position.returns()[1] == 1.0


def test_visits_of_joint_actions_add_up_to_the_simulations() -> None:
    agent: Any = make_agent(JOINT_SEARCH, make_game("phantom_v0"), iterations=300)
    batch, row = detectives_views(agent.game)
    agent.act(batch.views(row))
    trees = agent._trees
    visits, at = 0, int(trees.nodes[find(trees, ROOT)]["first"])
    while at != NONE:
        visits += int(trees.nodes[at]["visits"])
        at = int(trees.nodes[at]["next"])
    assert visits == agent.last[0].simulations == 300


def test_the_moves_of_all_detectives_come_from_one_search() -> None:
    game = make_game("phantom_v0", num_detectives=3)
    agent: Any = make_agent(JOINT_SEARCH, game, iterations=100)
    batch, row = detectives_views(game, num_moves=4)
    planned: tuple[int, ...] = ()
    while batch.turns[0] == 1:
        (chosen,) = agent.act(batch.views(row))
        if agent.last:
            planned = agent.last[0].variation
        else:
            assert planned, "a move without a search follows a plan"
        assert chosen == planned[0]
        planned = planned[1:]
        batch.step(row, np.array([chosen]))
    assert not planned


def test_joint_search_plays_the_games_it_played_when_tables_were_made() -> None:
    """Recorded before known joint actions were left unplayed: quicker must not mean other moves."""
    game = make_game("phantom_v0", board="map_1")
    result = play_match(
        game,
        [make_agent(JOINT_SEARCH, game, iterations=50)] * 2,
        6,
        seed=3,
    )
    assert result.lengths.tolist() == [111, 115, 118, 112, 97, 100]


@pytest.mark.parametrize("settings", [{"iterations": 0}, {"iterations": 50, "max_nodes": 4}])
def test_joint_search_without_room_or_time_plays_on(settings: dict[str, int]) -> None:
    game = make_game("phantom_v0", rows=4, columns=4, num_detectives=2, num_maps=1)
    result = play_match(
        game,
        [make_agent(JOINT_SEARCH, game, **settings)] * 2,
        num_games=3,
    )
    assert not result.faults


# ---- online outcome sampling ---------------------------------------------------------------------


def distance(agent: Agent, tree: GameTree) -> float:
    """The exact exploitability of what an agent finds in every infoset."""
    some = np.arange(tree.num_infosets)
    views = views_at(tree, some, agent.wants_tokens)
    fill_streams(stream(0, "test"), some, views.rngs)
    dense = np.zeros(views.masks.shape)
    for i, found in enumerate(agent.analyse(views)):  # type: ignore[attr-defined]
        dense[i, found.actions] = found.policy
    return exploitability(tree, dense[tree.sequence_infosets, tree.sequence_actions])


def test_more_time_makes_outcome_sampling_less_exploitable_and_ismcts_not() -> None:
    game = make_game("kuhn_v0")
    tree = GameTree(game)
    little, much = (distance(make_agent("oos", game, iterations=n), tree) for n in (50, 30_000))
    assert much < 0.08 < little
    assert distance(make_agent("mo_ismcts", game, iterations=3_000), tree) > 0.15


def test_the_table_of_outcome_sampling_converges_where_chance_comes_in_between() -> None:
    """In Leduc poker a card is dealt after the first bets: what follows it may not count double."""
    tree = GameTree(make_game("leduc_v0"))
    agent: Any = make_agent("oos", tree.game, iterations=300_000, delta=0.0)
    some = np.flatnonzero(tree.infosets["parent_sequence"] == tree.num_sequences)[:1]
    views = views_at(tree, some, has_tokens=True)
    fill_streams(stream(0, "test"), some, views.rngs)
    probs = tree.uniform()
    assert agent.learnt(tree.infosets[0]["key"], 0) == {}, "nothing was searched yet"
    agent.analyse(views)
    for infoset in tree.infosets:
        learnt = agent.learnt(infoset["key"], int(infoset["player"]))
        if learnt:
            assert sum(learnt.values()) == pytest.approx(1.0)
            own = slice(*(infoset["first_sequence"] + np.array([0, infoset["num_actions"]])))
            probs[own] = [learnt[action] for action in tree.sequence_actions[own].tolist()]
    assert exploitability(tree, probs) < 0.4


@pytest.mark.parametrize("game_id", ["kuhn_v0", "leduc_v0"])
def test_simulations_are_led_to_the_present_decision(game_id: str) -> None:
    game = make_game(game_id)
    batch, row = Batch(game, 1, chance=new_rng(0), has_tokens=True), np.arange(1)
    batch.begin(row, row)
    for _ in range(2):
        batch.step(row, np.array([np.flatnonzero(batch.views(row).masks[0])[0]]))
        if batch.turns[0] < 0:
            batch.begin(row, row)
    counts = {}
    for delta in (0.0, 0.9):
        agent: Any = make_agent("oos", game, iterations=2000, delta=delta)
        (found,) = agent.analyse(batch.views(row))
        counts[delta] = int(found.visits.sum())
    assert counts[0.9] > 0.6 * 2000  # some deals cannot be led there
    assert counts[0.0] < 0.5 * 2000


@every_option_set
def test_outcome_sampling_plays_every_game(game: Game) -> None:
    agent = make_agent("oos", game, iterations=3, max_nodes=64)
    batch, rows = Batch(game, 2, chance=new_rng(1), has_tokens=True), np.arange(2)
    batch.begin(rows, rows)
    for _ in range(4):
        rows = rows[batch.turns[rows] >= 0]
        batch.step(rows, agent.act(batch.views(rows)))  # refuses what is not legal


@pytest.mark.parametrize(
    ("agent_id", "settings", "message"),
    [
        ("oos", {"delta": 1.0}, "delta must be"),
        ("oos", {"iterations": -1}, "at least 0"),
        (JOINT_SEARCH, {"time_per_move": -1}, "at least 0"),
    ],
)
def test_bad_settings_are_refused_in_one_line(
    agent_id: str, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        make_agent(agent_id, make_game("phantom_v0"), **settings)
