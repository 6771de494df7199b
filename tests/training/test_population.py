"""Populations and the selection of inputs: who learns, what is accepted, and going on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.learning.files import checkpoint_folder
from agents.spec import AgentSpec
from common.errors import MasqueradeError
from envs import make_game
from experiments.holdem import population as populations
from experiments.holdem import selection as selections
from experiments.holdem.population import (
    Population,
    PopulationConfig,
    draw_tables,
    intervals,
    play_tables,
)
from experiments.holdem.selection import Selection, SelectionConfig
from training.config import read_yaml
from training.runner import make_learner

SMALL = {"hidden": 8, "learn_start": 32, "num_envs": 8, "batch_size": 16}
GROUPS = [
    {"name": "net", "size": 2, "steps": 200, "agent": {"id": "dqn", "params": SMALL}},
    {"name": "table", "size": 1, "steps": 300, "agent": {"id": "q_learning"}},
]


def config(**settings: Any) -> PopulationConfig:
    few = {"sessions": 3, "measure_games": 300, "final_games": 300, "checkpoints": 2}
    return PopulationConfig.parse(
        {"game": {"id": "kuhn_v0"}, "population": {"groups": GROUPS, **few, **settings}}
    )


def test_members_sit_at_most_once_at_a_table_and_everybody_meets_everybody() -> None:
    seating = draw_tables(9, 6, 4000, seed=1)
    assert all(len(set(row)) == 6 for row in seating.tolist())
    counts = np.bincount(seating.ravel(), minlength=9)
    assert abs(counts - 4000 * 6 / 9).max() < 150
    assert (draw_tables(9, 6, 500, seed=1, member=3) == 3).sum() == 500


def test_results_at_tables_add_up_to_nothing() -> None:
    game = make_game("holdem_v0", num_players=3)
    agents = [make_agent(name, game) for name in ("random", "holdem_call", "holdem_fold", "random")]
    seating = draw_tables(4, 3, 3000, seed=0)
    returns = play_tables(game, agents, seating, seed=0)
    assert abs(returns.sum()) < 1e-6
    found = intervals(seating, returns, 4)
    assert found[2].mean < 0 < found[1].mean + 200


def test_those_who_have_not_learnt_come_first_and_only_gains_are_accepted(tmp_path: Path) -> None:
    population = Population(config(), tmp_path, is_shown=False)
    population.run()
    assert [member.num_sessions for member in population.members] == [1, 1, 1]
    for noted in population.log:
        assert noted["is_accepted"] == (noted["after"] > noted["before"])
    for member in population.members:
        assert (member.spec.id == "random") == (member.num_accepted == 0)


def test_a_population_goes_on_as_if_it_had_not_been_stopped(tmp_path: Path) -> None:
    whole = Population(config(choice="random"), tmp_path / "whole", is_shown=False)
    whole.run()
    Population(config(choice="random", sessions=1), tmp_path / "parts", is_shown=False).run()
    parts = Population(config(choice="random"), tmp_path / "parts", is_shown=False)
    parts.run()
    assert [each["after"] for each in parts.log] == [each["after"] for each in whole.log]
    with pytest.raises(MasqueradeError, match="of another population"):
        Population(config(seed=3), tmp_path / "parts", is_shown=False)


def test_a_member_goes_on_learning_from_its_own_weights(tmp_path: Path) -> None:
    population = Population(config(), tmp_path, is_shown=False)
    population.run()
    member = population.members[0]
    path = str(checkpoint_folder(tmp_path / member.name / "session_0000"))
    member.spec = AgentSpec("dqn", {"path": path})
    begun = population._config_of(member.number)
    learner: Any = make_learner(begun, begun.build_game())
    assert (learner.network.weights == learner.average).all()
    player: Any = member.spec.build(population.game)
    assert (learner.network.weights == player.network.weights).all()


def choosing(**settings: Any) -> SelectionConfig:
    fields = [field.name for field in make_game("leduc_v0").fields]
    few = {"rounds": 1, "networks": 2, "steps": 200, "measure_games": 400}
    candidates = {name: [name] for name in fields[:3]}
    agent = {"id": "dqn", "params": SMALL}
    content = {"candidates": candidates, "agent": agent, **few, **settings}
    return SelectionConfig.parse({"game": {"id": "leduc_v0"}, "selection": content})


def test_the_input_of_the_best_group_is_chosen_and_kept(tmp_path: Path) -> None:
    selection = Selection(choosing(), tmp_path)
    (found,) = selection.run()
    assert len(found["groups"]) == 3
    assert found["best"] == max(found["groups"], key=lambda name: found["groups"][name][0])
    again = Selection(choosing(rounds=2), tmp_path)
    assert again.chosen == [found["best"]]
    assert len(again.run()[1]["groups"]) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rounds": 9}, "fewer candidates than rounds"),
        ({"chosen": ["nothing"]}, "is no candidate"),
        ({"agent": {"id": "q_learning"}}, "choose a learner with inputs"),
    ],
)
def test_impossible_selections_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(MasqueradeError, match=message):
        choosing(**change)


def test_the_files_that_are_shipped_can_be_read() -> None:
    folder = Path("experiments/holdem/configs")
    PopulationConfig.parse(read_yaml(folder / "holdem_thesis.yaml"))
    SelectionConfig.parse(read_yaml(folder / "holdem_inputs.yaml"))


def test_bad_input_gets_one_line(tmp_path: Path, capsys: Any) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(json.dumps({"game": {"id": "kuhn_v0"}, "population": {"groups": GROUPS[1:]}}))
    for main in (populations.main, selections.main):
        assert main(["--config", str(wrong)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
