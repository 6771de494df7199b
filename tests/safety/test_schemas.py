"""Every field of every schema, with what it must not be: made, or refused in one line."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import pytest

from agents import LEARNERS
from envs import GAMES, make_game
from envs.core.errors import MasqueradeError
from envs.core.files import read_yaml
from envs.core.options import Options
from envs.pursuit import boards
from tests.safety.test_disks import POPULATION
from training import population, reproduce, selection
from training.best_response import Search
from training.config import (
    AgentSettings,
    EvalSettings,
    GameSettings,
    LogSettings,
    RunConfig,
    TrainSettings,
    learner_class,
)

SCHEMAS: dict[str, type[Options]] = {
    **{game_id: make_game(game_id).Options for game_id in GAMES},
    **{f"learner {name}": learner_class(name).settings_class for name in LEARNERS},
    "train": TrainSettings,
    "eval": EvalSettings,
    "log": LogSettings,
    "run": RunConfig,
    "game": GameSettings,
    "agent": AgentSettings,
    "population": population.PopulationSettings,
    "group": population.GroupSettings,
    "selection": selection.SelectionSettings,
    "a population's file": population.PopulationConfig,
    "a selection's file": selection.SelectionConfig,
    "best response": Search,
}
WRONG: list[Any] = [
    *(math.nan, math.inf, -math.inf, 10**40, -(10**40), -1, 1.5, True, None, "", "x", "1e400"),
    *(
        "\x1b[31m",
        "a\nb",
        "nan",
        "9" * 5000,
        b"bytes",
        [],
        [[]],
        [math.nan],
        {},
        {"a": [1]},
        object,
    ),
]


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_field_refuses_in_one_line_that_names_it(name: str) -> None:
    schema = SCHEMAS[name]
    num_refused = 0
    for field in schema.model_fields:
        for value in WRONG:
            try:
                made = schema(**{field: value})
            except MasqueradeError as error:
                num_refused += 1
                text = str(error)
                assert "\n" not in text, (field, value)
                assert len(text) < 1500, (field, value)
            else:
                got = getattr(made, field)
                assert not (isinstance(got, float) and math.isnan(got)), (field, value)
                assert type(made)(**dict(made)) == made
    assert num_refused > len(schema.model_fields)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_misspelt_field_is_answered_with_the_right_word(name: str) -> None:
    schema = SCHEMAS[name]
    field = max(schema.model_fields, key=len)
    with pytest.raises(MasqueradeError, match=f"did you mean '{field}'"):
        schema(**{field[:-1]: 1})


def test_a_few_lines_do_not_stand_for_billions_of_values(tmp_path: Path) -> None:
    names = "abcdefghij"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for before, name in itertools.pairwise(names):
        lines.append(f"{name}: &{name} [{', '.join(['*' + before] * 9)}]")
    path = tmp_path / "bomb.yaml"
    path.write_text("\n".join(lines))
    with pytest.raises(MasqueradeError, match="stands for more than"):
        read_yaml(path, "a game")


# ---- what is kept -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["check", "no_such_board"],
        ["make", "random", "--seed", "-1"],
        ["make", "random", "--number", "-1"],
        ["make", "city", "--seed", str(2**70)],
        ["make", "grid", "--rows", "0"],
        ["make", "random", "--keep", "nan"],
        ["make", "grid", "--out", ""],
        ["draw", "no_such_board"],
    ],
)
def test_a_bad_board_exits_with_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert boards.main(words) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "content", ["", "[1]", "[" * 50_000, '{"R1": 7}', '{"R1": {"rows": [{}]}}']
)
def test_kept_rows_of_an_experiment_are_not_believed(tmp_path: Path, content: str) -> None:
    path = tmp_path / "kept.json"
    path.write_text(content)
    with pytest.raises(MasqueradeError, match="begin again with --fresh") as refused:
        reproduce.reproduce({}, reproduce.Settings(), path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"members": 7}, "does not hold a population"),
        ({"num_done": -5}, "num_done must be"),
        ({"num_done": 1, "log": []}, "does not hold a population"),
        ({"spec": "os:getcwd"}, "not ours"),
        ({"spec": "external:/tmp/x"}, "not ours"),
    ],
)
def test_a_kept_population_is_not_believed(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    from envs.core.files import write_json

    config = population.PopulationConfig.parse(POPULATION)
    member = {"spec": change.get("spec", "random"), "num_sessions": 0, "num_accepted": 0}
    kept = {"config": config.to_dict(), "num_done": 0, "members": [member, member], "log": []}
    write_json(tmp_path / "population.json", {**kept, **change})
    with pytest.raises(MasqueradeError, match=said):
        population.Population(config, tmp_path, is_shown=False)
