"""The commands that measure players of Liar's Dice, on small cases."""

from __future__ import annotations

import pytest

from agents.games.liars_dice.learners import RoundsLearner, RoundsSettings
from agents.games.liars_dice.round_tree import RoundShape
from agents.learning.learner import Task
from agents.spec import AgentSpec
from common.errors import MasqueradeError
from envs.liars_dice.game import LiarsDice
from experiments.liars_dice import rounds, tables
from experiments.runner import Settings
from training.config import RunConfig, read_yaml


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    learner = RoundsLearner(Task(LiarsDice(dice=1), total=60), RoundsSettings(threads=1))
    learner.update(60)
    path = tmp_path_factory.mktemp("policy") / "match.npz"
    learner.player().table.save(path)
    return path


def test_a_round_is_solved_between_bounds() -> None:
    for wild in rounds.WILDS:
        row = rounds.solve(wild, (1, 1), 1e-3, faces=3)
        assert row.low is not None
        assert row.high is not None
        assert row.low <= row.ours <= row.high
        assert row.high - row.low < 2e-3 + 1e-9
    assert "64 public nodes" in rounds.solve("none", (1, 1), 1e-1, faces=3).note


def test_rounds_that_do_not_fit_are_named(monkeypatch) -> None:
    with pytest.raises(MasqueradeError, match="more than any memory holds"):
        rounds.solve("none", (5, 5), 1.0)
    monkeypatch.setattr(rounds, "MOST_BYTES", 1e3)
    assert rounds.solve("none", (1, 1), 1.0).quantity.endswith("too many")


def test_learners_are_measured_and_drawn(tmp_path, policy, monkeypatch) -> None:
    against = AgentSpec.parse(f"cfr=cfr_rounds:{policy}")
    monkeypatch.setattr(tables, "make_game", lambda _: LiarsDice(dice=1))
    learners = [{"name": "table", "id": "sarsa"}]
    content = {"against": against, "games": 20, "every": 5, "seeds": 2, "learners": learners}
    monkeypatch.setattr(tables, "read", lambda _: content)
    rows = list(tables.learning(Settings(folder=tmp_path)))
    assert [row.games for row in rows] == [20, 4]
    assert rows[0].quantity == "table wins against cfr, %"
    assert (tmp_path / "liars_dice_cfr.png").stat().st_size > 10_000


def test_leaning_gains_from_who_never_lies_as_expected(policy) -> None:
    """Against itself there is nothing to gain; the plain row has the exploitability of the file."""
    game = LiarsDice(dice=1)
    from agents.policy import PolicyAgent

    other = PolicyAgent(game, policy)
    rows = list(tables.lean(f"cfr_rounds:{policy}", other, [0.2], 20, 50, seed=0))
    risks = [row.ours for row in rows if row.quantity.startswith("exploitability")]
    assert len(rows) == 5
    assert risks[0] == pytest.approx(other.table.exploitability, abs=1e-4)
    assert risks[1] >= risks[0]


def test_the_experiments_of_the_project_can_be_read() -> None:
    learners = [AgentSpec.parse(each) for each in tables.read("learning")["learners"]]
    assert {learner.id for learner in learners} == {"sarsa", "q_learning"}
    for name, num_nodes in (("two_dice", 2**24), ("two_dice_wild", 2**20)):
        config = RunConfig.parse(read_yaml(tables.CONFIGS / f"{name}.yaml"))
        game = config.build_game()
        assert RoundShape(game.options, game.options.dice_by_seat).num_nodes == num_nodes
