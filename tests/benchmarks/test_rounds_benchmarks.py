"""The commands that measure players of Liar's Dice, on small cases."""

from __future__ import annotations

import pytest

from agents.games.liars_dice.learners import RoundsLearner, RoundsSettings
from agents.games.liars_dice.round_tree import RoundShape
from agents.learning.learner import Task
from agents.spec import AgentSpec
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


def test_rounds_table(capsys, tmp_path) -> None:
    out = tmp_path / "rounds.md"
    told = ["--max-dice", "1", "--faces", "3", "--threads", "1", "--out", str(out)]
    assert rounds.main(told) == 0
    mark, head, _, plain, wild = out.read_text().splitlines()
    assert "liars_dice_rounds" in mark
    assert "value to the opener" in head
    assert "| 1 against 1 | 64 |" in plain
    assert "ones_unbiddable" in wild
    assert plain in capsys.readouterr().out


def test_rounds_that_do_not_fit_are_named(capsys) -> None:
    assert rounds.main(["--max-dice", "1", "--max-gb", "1e-6"]) == 0
    assert "too large" in capsys.readouterr().out


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


def test_rounds_beyond_any_memory_leave_the_others_alone(capsys) -> None:
    told = ["--pairs", "5:5", "1:1", "--wild", "none", "--threads", "1"]
    assert rounds.main(told) == 0
    printed = capsys.readouterr()
    assert "1 against 1" in printed.out
    assert "more than any memory holds" in printed.err


def test_the_experiments_of_the_project_can_be_read() -> None:
    learners = [AgentSpec.parse(each) for each in tables.read("learning")["learners"]]
    assert {learner.id for learner in learners} == {"sarsa", "q_learning"}
    for name, num_nodes in (("two_dice", 2**24), ("two_dice_wild", 2**20)):
        config = RunConfig.parse(read_yaml(tables.CONFIGS / f"{name}.yaml"))
        game = config.build_game()
        assert RoundShape(game.options, game.options.dice_by_seat).num_nodes == num_nodes
