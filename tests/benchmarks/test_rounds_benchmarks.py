"""The commands that measure players of Liar's Dice, on small cases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.games.liars_dice.learners import RoundsLearner, RoundsSettings
from agents.games.liars_dice.round_tree import RoundShape
from agents.learning.learner import Task
from common.errors import OptionError
from envs.liars_dice.game import LiarsDice
from experiments.liars_dice import leaning, learning_match, rounds
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


def test_learning_match(tmp_path, policy, capsys) -> None:
    config = tmp_path / "small.yaml"
    config.write_text(
        f"""
game: {{id: liars_dice_v0, params: {{dice: 1}}}}
against: cfr=cfr_rounds:{policy}
games: 20
every: 5
seeds: 2
learners: [{{name: table, id: sarsa}}]
"""
    )
    assert learning_match.main(["--config", str(config), "--out", str(tmp_path)]) == 0
    won = json.loads((tmp_path / "small.json").read_text())["table"]
    assert [len(games) for games in won] == [20, 20]
    assert (tmp_path / "small.png").stat().st_size > 10_000
    assert "table: wins" in capsys.readouterr().out


MATCH = {"game": {"id": "liars_dice_v0"}, "against": "random"}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({**MATCH, "learner": []}, "did you mean 'learners'"),
        (MATCH, "'learners' is missing"),
        ({**MATCH, "learners": ["sarsa"], "games": 3}, "games must be even"),
        ({**MATCH, "learners": ["sarsa"], "games": "many"}, "games must be a whole number"),
        ({**MATCH, "learners": ["sarsa"], "every": 0}, "every must be a whole number from 1"),
        ({**MATCH, "learners": ["sarsa"], "seeds": 1.5}, "seeds must be a whole number"),
        ({**MATCH, "learners": [1]}, "learners"),
        ({**MATCH, "learners": {"id": "sarsa"}}, "learners must be a list"),
        ({**MATCH, "learners": []}, "at least one"),
        ({"game": 7, "against": "random", "learners": ["sarsa"]}, "game must be a mapping"),
    ],
)
def test_learning_match_refuses(values, told) -> None:
    with pytest.raises(OptionError, match=told):
        learning_match.LearningMatch.parse(values)


def test_leaning_gains_from_who_never_lies_as_expected(policy) -> None:
    """Against itself there is nothing to gain; the plain row has the exploitability of the file."""
    game = LiarsDice(dice=1)
    from agents.policy import PolicyAgent

    other = PolicyAgent(game, policy)
    rows = leaning.study(
        f"cfr_rounds:{policy}", other, bounds=[0.2], num_pilot=20, num_deals=50, seed=0
    )
    assert [row[2] for row in rows] == ["0", "0.2"]
    assert float(rows[0][-1]) == pytest.approx(other.table.exploitability, abs=1e-4)
    assert float(rows[1][-1]) >= float(rows[0][-1])


def test_rounds_beyond_any_memory_leave_the_others_alone(capsys) -> None:
    told = ["--pairs", "5:5", "1:1", "--wild", "none", "--threads", "1"]
    assert rounds.main(told) == 0
    printed = capsys.readouterr()
    assert "1 against 1" in printed.out
    assert "more than any memory holds" in printed.err


def test_the_experiments_of_the_project_can_be_read() -> None:
    folder = Path(__file__).parents[2] / "experiments" / "liars_dice" / "configs"
    match = learning_match.LearningMatch.parse(read_yaml(folder / "cfr.yaml"))
    assert {learner.id for learner in match.learners} == {"sarsa", "q_learning"}
    for name, num_nodes in (("two_dice", 2**24), ("two_dice_wild", 2**20)):
        config = RunConfig.parse(read_yaml(folder / f"{name}.yaml"))
        game = config.build_game()
        assert RoundShape(game.options, game.options.dice_by_seat).num_nodes == num_nodes
