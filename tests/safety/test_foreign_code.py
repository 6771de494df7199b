"""A result that a stranger has made runs nothing: no module is imported, no program starts."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import evaluate
import train
from agents import make_agent
from agents.learning.files import COMPLETE, HEADER, _sum_of, players
from agents.spec import AgentSpec
from common.errors import MasqueradeError, OptionError
from common.imports import find_named, names_from_a_file
from envs import make_game
from training.config import RunConfig, read_yaml
from training.runner import begin_run, resume_run

KUHN = make_game("kuhn_v0")
RUN: dict[str, Any] = {
    "game": {"id": "kuhn_v0"},
    "agent": {"id": "q_learning"},
    "train": {"steps": 40},
    "eval": {"games": 2, "exploitability": False},
    "log": {"tensorboard": False},
}


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module that leaves a mark when it is imported; the folder it is in."""
    folder = tmp_path / "evil"
    folder.mkdir()
    mark = folder / "mark"
    source = f"import pathlib\npathlib.Path({str(mark)!r}).touch()\nencode = print\n"
    (folder / "evil_module.py").write_text(source)
    program = folder / "program.py"
    program.write_text(source)
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    sys.modules.pop("evil_module", None)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return begin_run(RunConfig.parse(RUN), tmp_path / "run", is_shown=False).folder


def forge_state(run: Path, **settings: Any) -> None:
    """Change the settings in every player of a run, with sums that fit."""
    for folder in players(run):
        header = json.loads((folder / HEADER).read_text())
        header["state"]["settings"] |= settings
        (folder / HEADER).write_text(json.dumps(header))
        (folder / COMPLETE).write_text(_sum_of(folder))


@pytest.mark.parametrize(
    "settings",
    [
        {"abstraction": "evil_module:encode"},
        {"reward": "evil_module:encode"},
        {"opponent_model": {"id": "evil_module:encode"}},
    ],
)
def test_no_module_that_a_checkpoint_names_is_imported(
    run: Path, evil: Path, settings: dict[str, Any]
) -> None:
    forge_state(run, **settings)
    with pytest.raises(MasqueradeError, match="name it to run its code"):
        make_agent("q_learning", KUHN, path=str(run))
    assert not (evil / "mark").exists()


@pytest.mark.parametrize("value", ["os:getcwd", "os", "../evil", 7, None, ["infoset"], {"id": 1}])
def test_other_values_there_are_refused_in_one_line(run: Path, value: Any) -> None:
    forge_state(run, abstraction=value)
    with pytest.raises(MasqueradeError) as refused:
        make_agent("q_learning", KUHN, path=str(run))
    assert "\n" not in str(refused.value)


def test_who_names_the_module_runs_it(run: Path) -> None:
    name = "tests.support.planted_tables:encode_card"
    forge_state(run, abstraction=name)
    assert make_agent("q_learning", KUHN, path=str(run), abstraction=name)
    with pytest.raises(MasqueradeError, match="leave out learning_rate"):
        make_agent("q_learning", KUHN, path=str(run), learning_rate=0.5)


CONFIGS: dict[str, dict[str, Any]] = {
    "a module of the learner": {
        "agent": {"id": "q_learning", "params": {"abstraction": "evil_module:encode"}}
    },
    "an opponent in training": {"train": {"opponents": ["external:PROGRAM"]}},
    "an opponent with a weight": {
        "train": {"opponents": [{"id": "evil_module:encode", "weight": 2}]}
    },
    "an opponent in evaluation": {
        "eval": {"opponents": [{"id": "external", "params": {"command": ["PROGRAM"]}}]}
    },
    "an agent within an agent": {
        "eval": {"opponents": [{"id": "kuhn_rule", "params": {"base": "external:PROGRAM"}}]}
    },
}


@pytest.mark.parametrize("case", CONFIGS)
def test_resuming_a_strangers_run_starts_nothing(
    run: Path, evil: Path, case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    content = read_yaml(run / "config.yaml")
    for section, values in CONFIGS[case].items():
        content[section] |= values
    text = yaml.safe_dump(content).replace("PROGRAM", str(evil / "program.py"))
    (run / "config.yaml").write_text(text)
    assert train.main(["--resume", str(run), "--quiet"]) == 2
    assert "names code that is not ours" in capsys.readouterr().err.splitlines()[-1]
    assert not (evil / "mark").exists()


def test_resuming_a_run_of_a_strangers_learner_imports_nothing(
    run: Path, evil: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = read_yaml(run / "config.yaml")
    content["agent"] = {"id": "evil_module:Learner", "params": {}}
    (run / "config.yaml").write_text(yaml.safe_dump(content))
    assert train.main(["--resume", str(run), "--quiet"]) == 2
    assert "its learner is 'evil_module:Learner', which is not ours" in capsys.readouterr().err
    assert not (evil / "mark").exists()


def test_a_learner_of_ones_own_trains_goes_on_and_plays(tmp_path: Path) -> None:
    name = "tests.support.planted_learner:PlantedLearner"
    config = RunConfig.parse({**RUN, "agent": {"id": name, "params": {"rate": 0.25}}})
    assert config.foreign_code() == [name]
    folder = begin_run(config, tmp_path / "run", is_shown=False).folder
    with pytest.raises(MasqueradeError, match="--trust"):
        resume_run(folder, is_shown=False)
    assert resume_run(folder, is_shown=False, trusted=[name]).is_finished
    player = make_agent(name, config.build_game(), path=str(folder))
    assert type(player).__name__ == "PlantedPlayer"


def test_an_own_run_with_own_code_goes_on_when_it_is_trusted(tmp_path: Path) -> None:
    name = "tests.support.planted_tables:encode_card"
    config = RunConfig.parse(
        {**RUN, "agent": {"id": "q_learning", "params": {"abstraction": name}}}
    )
    folder = begin_run(config, tmp_path / "run", is_shown=False).folder
    with pytest.raises(MasqueradeError, match="--trust"):
        resume_run(folder, is_shown=False)
    assert resume_run(folder, is_shown=False, trusted=[name]).is_finished
    assert train.main(["--resume", str(folder), "--quiet", "--trust"]) == 0


# ---- tournaments ---------------------------------------------------------------------------------


@pytest.fixture
def played(tmp_path: Path) -> Path:
    folder = tmp_path / "played"
    words = ["match", "kuhn_v0", "random", "kuhn_rule", "--games", "20", "--out", str(folder)]
    assert evaluate.main(words) == 0
    return folder


def forge_agent(folder: Path, **changes: Any) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    summary["spec"]["agents"][0] |= changes
    (folder / "summary.json").write_text(json.dumps(summary))


@pytest.mark.parametrize("key", ["path", "command"])
def test_a_report_starts_no_program_that_the_folder_names(
    played: Path, evil: Path, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program = str(evil / "program.py")
    forge_agent(played, id="external", params={key: program if key == "path" else [program]})
    assert evaluate.main(["report", str(played)]) == 0
    assert evaluate.main(["replay", str(played)]) == 2
    assert "--trust" in capsys.readouterr().err
    assert not (evil / "mark").exists()
    assert "not ours" in (played / "report.html").read_text()


def test_a_report_imports_no_module_that_the_folder_names(played: Path, evil: Path) -> None:
    forge_agent(played, id="evil_module:encode", params={})
    assert evaluate.main(["report", str(played)]) == 0
    assert evaluate.main(["replay", str(played)]) == 2
    assert not (evil / "mark").exists()


def test_a_program_that_is_trusted_plays_again(tmp_path: Path) -> None:
    folder, program = tmp_path / "played", os.path.join("examples", "external_player.py")
    words = ["match", "kuhn_v0", "random", f"external:{program}", "--games", "4"]
    assert evaluate.main([*words, "--out", str(folder)]) == 0
    assert evaluate.main(["replay", str(folder), "--trust"]) == 0


def test_what_is_ours_is_not_foreign() -> None:
    for text in ("random", "cfr:runs/leduc", "dqn:runs/x:y"):
        assert AgentSpec.parse(text).foreign_code() == []
    for text in ("external:x.py", "openspiel:os:getcwd", "my.module:Player"):
        assert AgentSpec.parse(text).foreign_code()


def test_what_our_experiments_name_is_ours_even_from_a_file() -> None:
    """Their runs go on without ``--trust``; what only looks like it is refused as before."""
    with names_from_a_file():
        found = find_named("learner", {}, "experiments.holdem.timed:TimedDQN")
        assert found.__name__ == "TimedDQN"
        for name in ("experiments.mine:Player", "experiments:os", "experiments./tmp/evil:Player"):
            with pytest.raises(OptionError, match="which is not ours"):
                find_named("learner", {}, name)
