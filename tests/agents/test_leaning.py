"""The equilibrium player that leans: what moves, by how much, and what it costs."""

from __future__ import annotations

import numpy as np
import pytest

from agents import make_agent
from agents.cfr.evaluation import tabulate
from agents.cfr.response import exploitability
from agents.cfr.tree import GameTree
from agents.games.liars_dice.best_response import evaluate_match
from agents.games.liars_dice.learners import RoundsLearner, RoundsSettings
from agents.games.liars_dice.lies import CATEGORIES
from agents.games.liars_dice.wary import Leaning, LeaningAgent, expected_lies, lean
from agents.learning.learner import Task
from agents.policy import PolicyAgent
from common.errors import OptionError
from envs.core.batch import Batch
from envs.core.rng import new_rng
from envs.liars_dice.game import LiarsDice


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    game = LiarsDice(dice=(2, 1), faces=2)
    learner = RoundsLearner(Task(game, total=60), RoundsSettings(threads=1))
    learner.update(60)
    path = tmp_path_factory.mktemp("policy") / "match.npz"
    learner.player().table.save(path)
    return game, path


def test_lean_keeps_what_is_sure_and_the_bound() -> None:
    for gap in (-1.0, -0.1, 0.0, 0.1, 1.0):
        assert lean(0.0, gap, 20.0, 0.3) == 0.0
        assert lean(1.0, gap, 20.0, 0.3) == pytest.approx(1.0)
        assert abs(lean(0.4, gap, 20.0, 0.3) - 0.4) <= 0.3 + 1e-12
    assert lean(0.4, 0.0, 20.0, 0.3) == pytest.approx(0.4)
    assert lean(0.5, 0.05, 20.0, 1.0) == pytest.approx(np.e / (1 + np.e))
    assert lean(0.5, -0.05, 20.0, 1.0) == pytest.approx(1 / (1 + np.e))


def put_profile(agent: LeaningAgent, lies: int, bids: int) -> None:
    agent.profiles.records["num_bids"] = bids
    agent.profiles.records["num_lies"] = lies


def test_moves_calls_both_ways_within_the_bound(solved) -> None:
    game, path = solved
    base = PolicyAgent(game, path)
    agent = LeaningAgent(game, f"cfr_rounds:{path}", bound=0.2, expected=[0.4, 0.4, 0.4])
    rows = np.arange(64)
    batch = Batch(game, 64, chance=new_rng(1))
    batch.begin(rows, rows)
    batch.step(rows, base.act(batch.views(rows)))
    views = batch.views(np.flatnonzero(batch.turns >= 0))
    before = base.policy(views)
    is_mixed = (before[:, -1] > 0.0) & (before[:, -1] < 1.0)
    assert is_mixed.any()
    np.testing.assert_allclose(agent.policy(views), before)
    for lies, sign in ((1000, 1), (0, -1)):
        put_profile(agent, lies, 1000)
        moved = agent.policy(views)[:, -1] - before[:, -1]
        assert (sign * moved[is_mixed] > 0).all()
        assert (moved[~is_mixed] == 0).all()
        assert np.abs(moved).max() <= 0.2 + 1e-12
        np.testing.assert_allclose(agent.policy(views).sum(axis=1), 1.0)


@pytest.mark.parametrize("lies", [0, 700])
def test_price_of_leaning_is_exact(solved, lies) -> None:
    """Judged by rounds, and by the whole tree of the match."""
    game, path = solved
    expected = [0.4, 0.3, 0.2]
    agent = LeaningAgent(game, f"cfr_rounds:{path}", expected=expected, imagined=1e-9)
    put_profile(agent, lies, 1000)
    tree = GameTree(game)
    gaps = tuple(lies / 1000 - share for share in expected)
    judged = evaluate_match(
        PolicyAgent(game, path).table, Leaning(gaps, agent.strength, agent.bound)
    )
    exact = exploitability(tree, tabulate(agent, tree).probs)
    assert judged.exploitability == pytest.approx(exact, abs=1e-6)
    assert exact > exploitability(tree, tabulate(PolicyAgent(game, path), tree).probs) + 1e-3


def test_expected_lies_are_those_of_self_play() -> None:
    agent = make_agent("liars_dice_rule", LiarsDice())
    shares = dict(zip(CATEGORIES, expected_lies(agent, 300), strict=True))
    assert shares["low"] < shares["mid"] < shares["high"] < 0.3  # it bids what is likely


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"bound": 1.5}, "bound must be from 0 to 1"),
        ({"imagined": 0}, "imagined above 0"),
        ({"expected": [0.5]}, "lists 3 shares"),
    ],
)
def test_bad_settings_are_refused(params, told) -> None:
    with pytest.raises(OptionError, match=told):
        LeaningAgent(LiarsDice(), "random", **params)
