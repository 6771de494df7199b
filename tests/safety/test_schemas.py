"""Every field of every schema, with what it must not be: made, or refused in one line."""

from __future__ import annotations

import itertools
import math
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

import evaluate
import train
from agents import LEARNERS
from agents.games.no_thanks.slices import database, tuning
from benchmarks.harness import main as measure
from benchmarks.report import Job
from envs import GAMES, describe, make_game
from envs.core.errors import MasqueradeError
from envs.core.files import read_yaml
from envs.core.options import Options
from envs.pursuit import boards
from training import population, reproduce, reproduce_liars_dice, selection
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


# ---- places that cannot be written ---------------------------------------------------------------

RUN = {
    "game": {"id": "kuhn_v0"},
    "agent": {"id": "q_learning"},
    "train": {"steps": 10},
    "eval": {"games": 2, "exploitability": False},
    "log": {"tensorboard": False},
}
POPULATION = {
    "game": {"id": "kuhn_v0"},
    "population": {
        "groups": [{"name": "a", "size": 2, "agent": {"id": "q_learning"}, "steps": 10}],
        "sessions": 1,
        "measure_games": 4,
        "final_games": 4,
        "checkpoints": 1,
    },
}
SELECTION = {
    "game": {"id": "kuhn_v0"},
    "selection": {
        "candidates": {"a": ["*"], "b": ["*"]},
        "agent": {"id": "dqn", "params": {"hidden": 8, "learn_start": 8, "num_envs": 2}},
        **{"rounds": 1, "networks": 1, "steps": 20, "measure_games": 20},
    },
}
EXPERIMENT = {
    "title": "tiny",
    "seeds": 2,
    "game": {"dice": 1},
    "defaults": {"abstraction": "blind", "initial": "abstraction"},
    "matches": [{"name": "m", "agents": ["q_learning", "random"], "blocks": [4]}],
}
FILES = {
    "experiment.yaml": EXPERIMENT,
    "run.yaml": RUN,
    "population.yaml": POPULATION,
    "selection.yaml": SELECTION,
}
FEW_GAMES = ["--learner", "run.yaml", "--steps", "9", "--games", "20", "--choosing-games", "20"]
COMMANDS: dict[str, tuple[Any, list[str]]] = {
    "match": (evaluate.main, ["match", "kuhn_v0", "random", "kuhn_rule", "--games", "4"]),
    "exploitability": (evaluate.main, ["exploitability", "kuhn_v0", "random"]),
    "train": (train.main, ["--config", "run.yaml", "--quiet"]),
    "best response": (evaluate.main, ["best-response", "kuhn_v0", "random", *FEW_GAMES]),
    "behaviour": (evaluate.main, ["behaviour", "holdem_v0", "random", "--games", "20"]),
    "population": (population.main, ["--config", "population.yaml"]),
    "selection": (selection.main, ["--config", "selection.yaml"]),
    "boards make": (boards.main, ["make", "grid"]),
    "boards draw": (boards.main, ["draw", "city"]),
}


JOB = Job("a", "b", lambda: lambda: 1.0, lambda: lambda: 1.0, "c", is_duration=True)
OF_THEIR_OWN: dict[str, tuple[Any, list[str]]] = {
    "reproduce": (reproduce.main, ["tiny"]),
    "reproduce liars_dice": (reproduce_liars_dice.main, ["--config", "experiment.yaml"]),
    "database": (database.main, ["out.npz", "--size", "1"]),
    "tuning": (tuning.main, ["--generations", "1", "--size", "1", "--games", "2"]),
    "describe": (lambda _: describe.main(), []),
    "a benchmark": (lambda words: measure("tiny", "", [JOB], argv=words), ["--rounds", "1"]),
}
"""Commands that choose the place themselves."""


def tiny(_settings: reproduce.Settings) -> list[reproduce.Row]:
    return [reproduce.Row("A", "one", 1.0)]


TINY = {"A": tiny}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With the files that commands are given."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(reproduce.EXPERIMENTS, "tiny", f"{__name__}:TINY")
    for name, content in FILES.items():
        (tmp_path / name).write_text(yaml.safe_dump(content))
    return tmp_path


@pytest.mark.parametrize("place", ["/proc/nowhere/out.md", "x" * 5000 + "/out.md"])
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("folder")
def test_a_place_that_cannot_be_written_gets_one_line(
    name: str, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main, words = COMMANDS[name]
    assert main([*words, "--out", place]) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert said.splitlines()[-1].count(":") > 1


FULL, READ_ONLY = OSError(28, "No space left on device"), OSError(30, "Read-only file system")


@pytest.mark.parametrize("fault", [FULL, READ_ONLY], ids=["full", "read-only"])
@pytest.mark.parametrize("name", [*COMMANDS, *OF_THEIR_OWN])
def test_a_disk_that_takes_nothing_gets_one_line(
    name: str,
    fault: OSError,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = sorted(folder.iterdir())
    opened = os.open

    def fail(*_: Any, **__: Any) -> None:
        raise fault

    def open_to_read(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if flags & os.O_CREAT:
            raise fault
        return opened(path, flags, *rest, **more)

    monkeypatch.setattr(os, "fsync", fail)
    if fault is READ_ONLY:
        monkeypatch.setattr(os, "open", open_to_read)
        monkeypatch.setattr(os, "mkdir", fail)
    main, words = {**COMMANDS, **OF_THEIR_OWN}[name]
    assert main([*words, *(["--out", "out.md"] if name in COMMANDS else [])]) == 2
    assert fault.strerror in capsys.readouterr().err.splitlines()[-1]
    assert [path for path in sorted(folder.iterdir()) if path.is_file()] == before


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
