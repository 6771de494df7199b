"""Runs: configuration, folders, checkpoints, resuming."""

from __future__ import annotations

import csv
import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

import agents
import train
from agents.learning.files import (
    CheckpointError,
    checkpoint_folder,
    checkpoints,
    load_state,
    players,
    save_state,
)
from agents.learning.learner import Opponents
from agents.spec import AgentSpec
from common.commands import parse_option
from common.errors import MasqueradeError, OptionError
from common.progress import Progress
from envs import make_game
from training import demo
from training.config import RunConfig, read_yaml
from training.missing import train_missing
from training.runner import begin_run, is_finished, resume_run

CONFIG: dict[str, Any] = {
    "game": {"id": "kuhn_v0"},
    "agent": {"id": "planted", "params": {"rate": "2.5e-1"}},
    "train": {"steps": 1000, "opponents": ["self", "past", "random"], "seed": 3},
    "eval": {"games": 20, "opponents": ["random", "kuhn_rule"]},
}


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agents.LEARNERS, "planted", "tests.support.planted_learner:PlantedLearner")
    monkeypatch.setitem(agents.AGENTS, "planted", "tests.support.planted_learner:PlantedPlayer")


def config(**changes: Any) -> RunConfig:
    values = json.loads(json.dumps(CONFIG))
    for place, value in changes.items():
        section, _, key = place.partition("__")
        values[section][key] = value
    return RunConfig.parse(values)


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "metrics.csv").open() as file:
        return list(csv.DictReader(file))


# ---- configuration -------------------------------------------------------------------------------


def test_every_value_is_in_the_saved_configuration(tmp_path: Path) -> None:
    outcome = begin_run(config(), tmp_path / "run", is_shown=False)
    saved = yaml.safe_load((outcome.folder / "config.yaml").read_text())
    assert saved["agent"]["params"] == {"rate": 0.25, "fails_at": None}
    assert saved["game"]["params"] == {"num_players": 2}
    assert saved["eval"]["confidence"] == 0.95
    assert RunConfig.parse(saved).to_dict() == saved


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("agent__id", "planned", "did you mean 'planted'"),
        ("agent__params", {"rat": 1}, r"agent.params: unknown option 'rat': did you mean 'rate'"),
        ("agent__params", {"rate": 3}, "rate must be a number from 0.0 to 1.0, not 3"),
        ("train__stepps", 3, "train: unknown option 'stepps': did you mean 'steps'"),
        ("train__amount", 3, "train: unknown option 'amount'"),
        ("train__opponents", "self", "train: opponents must be a list, not 'self'"),
        ("train__opponents", [{"id": "random", "weight": 0}], "weight must be a number from"),
        ("eval__opponents", ["rndom"], "did you mean 'random'"),
        ("game__id", "kuhn", "did you mean 'kuhn_v0'"),
        ("game__parms", {}, "game: unknown option 'parms': did you mean 'params'"),
    ],
)
def test_a_wrong_value_is_refused_with_the_fix(
    place: str, value: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(MasqueradeError, match=message):
        begin_run(config(**{place: value}), tmp_path / "run", is_shown=False)
    assert not (tmp_path / "run").exists()


def test_values_are_set_from_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(CONFIG))
    values = read_yaml(path, ["train.steps=5_000", "agent.params.rate=1e-3"])
    assert RunConfig.parse(values).train.steps == 5000
    assert RunConfig.parse(values).agent.params.to_dict()["rate"] == 0.001
    with pytest.raises(OptionError, match=r"--set takes SECTION.KEY=VALUE"):
        read_yaml(path, ["steps"])


def test_a_file_changes_single_values_of_its_base(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(yaml.safe_dump(CONFIG))
    path = tmp_path / "three.yaml"
    path.write_text(
        "base: base.yaml\ngame: {params: {num_players: 3}}\ntrain: {opponents: [past]}\n"
    )
    found = RunConfig.parse(read_yaml(path, ["train.seed=5"]))
    assert found.game.id == "kuhn_v0"
    assert found.build_game().facts.num_players == 3
    assert [opponent.name for opponent in found.train.opponents] == ["past"]
    assert (found.train.steps, found.train.seed) == (1000, 5)
    (tmp_path / "four.yaml").write_text("base: three.yaml\n")
    with pytest.raises(MasqueradeError, match=r"its base three.yaml has a base itself"):
        read_yaml(tmp_path / "four.yaml")
    (tmp_path / "lost.yaml").write_text("base: nowhere.yaml\n")
    with pytest.raises(MasqueradeError, match=r"nowhere.yaml cannot be read"):
        read_yaml(tmp_path / "lost.yaml")


def test_a_player_is_evaluated_on_options_that_are_not_structural(tmp_path: Path) -> None:
    game = {"id": "liars_dice_v0", "params": {"dice": 1, "faces": 3}}
    values = {
        "game": game,
        "agent": {"id": "q_learning"},
        "train": {"steps": 60, "eval_every": 60},
        "eval": {"games": 20, "game_params": {"rewards": "dice", "single_round": True}},
        "log": {"tensorboard": False},
    }
    found = RunConfig.parse(values)
    assert found.build_eval_game() == make_game(
        "liars_dice_v0", dice=1, faces=3, rewards="dice", single_round=True
    )
    folder = begin_run(found, tmp_path / "run", is_shown=False).folder
    assert "eval/exploitability" in rows(folder)[-1]
    player = agents.make_agent(f"q_learning:{folder}", found.build_eval_game())
    assert player.game == found.build_eval_game()
    with pytest.raises(CheckpointError, match="was trained with faces=3: play it with"):
        agents.make_agent(f"q_learning:{folder}", make_game("liars_dice_v0", dice=1))
    values["eval"] = {"game_params": {"dice": 2}}
    with pytest.raises(OptionError, match=r"eval.game_params: a player trained with dice=1 cannot"):
        RunConfig.parse(values)


def test_commands_say_when_they_are_run_outside_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert demo.main() == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert (
        told.err == "demo: there is no configs/demo/ here: run it from the folder of the project\n"
    )
    assert train.main(["--list"]) == 0
    assert "there is no configs/ here" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


# ---- a run ---------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_metrics_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        begin_run(config(), tmp_path / name, is_shown=False)
    begin_run(config(train__seed=4), tmp_path / "other", is_shown=False)
    files = [(tmp_path / name / "metrics.csv").read_bytes() for name in ("one", "two", "other")]
    assert files[0] == files[1]
    assert files[0] != files[2]


def test_a_run_leaves_curves_players_and_evaluations(tmp_path: Path) -> None:
    folder = begin_run(config(), tmp_path / "run", is_shown=False).folder
    table = rows(folder)
    assert [int(row["step"]) for row in table] == list(range(10, 1001, 10))
    measured = [row for row in table if row["eval/kuhn_rule/win_rate"]]
    assert [int(row["step"]) for row in measured] == list(range(100, 1001, 100))
    assert len(players(folder)) == 10
    assert len(checkpoints(folder)) == 2
    assert len(list((folder / "eval").glob("*.json"))) == 10
    best = json.loads((folder / "best.json").read_text())
    scores = {
        int(row["step"]): (float(row["eval/random/return"]) + float(row["eval/kuhn_rule/return"]))
        / 2
        for row in measured
    }
    assert best["score"] == pytest.approx(max(scores.values()))
    assert scores[best["step"]] == max(scores.values())


def test_a_run_gives_its_best_player_or_its_last(tmp_path: Path) -> None:
    # Evaluations of two games are luck: with this seed the best is not the last.
    found = {}
    for player in ("best", "last"):
        wanted = config(train__player=player, eval__games=2)
        folder = begin_run(wanted, tmp_path / player, is_shown=False).folder
        found[player] = checkpoint_folder(folder).name
    assert found["last"] == "step_000000001000" != found["best"]


def test_tensorboard_has_every_curve(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    folder = begin_run(config(), tmp_path / "run", is_shown=False).folder
    events = EventAccumulator(str(folder))  # so the run has the name of its folder
    events.Reload()
    tags = events.Tags()
    columns = set(rows(folder)[0]) - {"step"}
    assert set(tags["scalars"]) == columns | {"charts/steps_per_second"}
    assert tags["histograms"] == ["histograms/drawn"]
    assert tags["tensors"] == ["config", "_hparams_/session_start_info"]
    settings = events.summary_metadata["_hparams_/session_start_info"].plugin_data
    assert settings.plugin_name == "hparams"
    assert b"train.steps" in settings.content
    assert [event.step for event in events.Scalars("charts/total")] == list(range(10, 1001, 10))


@pytest.mark.parametrize("fails_at", [95, 350, 1000])
def test_a_killed_run_goes_on_to_the_same_curves(tmp_path: Path, fails_at: int) -> None:
    whole = begin_run(config(), tmp_path / "whole", is_shown=False).folder
    killed = tmp_path / "killed"
    with pytest.raises(KeyboardInterrupt):
        begin_run(
            config(agent__params={"rate": 0.25, "fails_at": fails_at}), killed, is_shown=False
        )
    text = (killed / "config.yaml").read_text()
    (killed / "config.yaml").write_text(text.replace(f"fails_at: {fails_at}", "fails_at: null"))
    outcome = resume_run(killed, is_shown=False)
    assert outcome.is_finished
    assert (killed / "metrics.csv").read_bytes() == (whole / "metrics.csv").read_bytes()
    assert (killed / "best.json").read_bytes() == (whole / "best.json").read_bytes()
    for one, other in zip(players(whole), players(killed), strict=True):
        assert str(load_state(one)) == str(load_state(other))


def test_a_half_written_checkpoint_is_ignored(tmp_path: Path) -> None:
    whole = begin_run(config(), tmp_path / "whole", is_shown=False).folder
    last = checkpoints(whole)[-1]
    (last / "COMPLETE").unlink()
    expected = (whole / "metrics.csv").read_bytes()
    resume_run(whole, is_shown=False)
    assert (whole / "metrics.csv").read_bytes() == expected


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    folder = begin_run(config(), tmp_path / "run", is_shown=False).folder
    arrays = checkpoints(folder)[-1] / "state.npz"
    content = bytearray(arrays.read_bytes())
    content[len(content) // 2] ^= 1
    arrays.write_bytes(content)
    with pytest.raises(CheckpointError, match="is damaged: take an earlier checkpoint"):
        load_state(arrays.parent)


def test_a_folder_in_use_is_not_overwritten(tmp_path: Path) -> None:
    begin_run(config(), tmp_path / "run", is_shown=False)
    with pytest.raises(MasqueradeError, match="is not empty: continue it with --resume"):
        begin_run(config(), tmp_path / "run", is_shown=False)


def test_a_full_disk_leaves_earlier_checkpoints_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import agents.learning.files

    real, calls = agents.learning.files.np.savez, []

    def full(file: Any, **arrays: Any) -> None:
        calls.append(1)
        if len(calls) > 7:
            raise OSError(28, "No space left on device")
        real(file, **arrays)

    monkeypatch.setattr(agents.learning.files.np, "savez", full)
    with pytest.raises(MasqueradeError, match=r"No space left on device.*continue with --resume"):
        begin_run(config(), tmp_path / "run", is_shown=False)
    monkeypatch.undo()
    found = checkpoints(tmp_path / "run")
    assert found
    for folder in found:
        load_state(folder)
    assert not list((tmp_path / "run").rglob(".step*"))


def test_past_selves_and_leagues_are_met(tmp_path: Path) -> None:
    first = begin_run(config(), tmp_path / "first", is_shown=False).folder
    second = config(train__opponents=[{"id": f"league:{first}", "weight": 3}, "self"])
    begin_run(second, tmp_path / "second", is_shown=False)
    with pytest.raises(MasqueradeError, match="is not a run"):
        begin_run(config(train__opponents=["league:nowhere"]), tmp_path / "third", is_shown=False)


def test_opponents_are_drawn_by_weight_and_number() -> None:
    import numpy as np

    game = make_game("kuhn_v0")
    player = agents.make_agent("random", game)
    opponents = Opponents([player, "self"], seed=1, weights=[3, 1])
    drawn = opponents.draw(np.arange(4000), num_players=3)
    assert (drawn == drawn[:, :1]).all()  # one for all other seats
    drawn = drawn[:, 0]
    assert set(drawn.tolist()) == {-1, 0}
    assert abs((drawn == 0).mean() - 0.75) < 0.04
    assert opponents.draw(np.array([17, 5]))[:, 0].tolist() == [drawn[17], drawn[5]]
    mixed = Opponents([player, "self"], seed=1, is_mixed=True).draw(np.arange(100), num_players=3)
    assert (mixed != mixed[:, :1]).any()


def test_a_run_may_learn_one_role_alone(tmp_path: Path, capsys: Any) -> None:
    options = ["game.id=phantom_v0", "game.params={preset: map_1}", "agent.id=dqn"]
    options += ["agent.params={hidden: [8], num_envs: 4, learn_start: 16}", "train.steps=64"]
    options += ["train.role=detective", "train.opponents=[random]", "eval.games=4"]
    config = tmp_path / "run.yaml"
    config.write_text("game: {id: kuhn_v0}\nagent: {id: dqn}\n")
    settings = [part for text in options for part in ("--set", text)]
    assert train.main(["--config", str(config), "--out", str(tmp_path / "run"), *settings]) == 0
    game = make_game("phantom_v0", preset="map_1")
    player = agents.make_agent("dqn", game, path=str(tmp_path / "run"))
    assert player.roles == ("detective",)
    assert [player.can_sit(seat) for seat in (0, 1)] == [False, True]
    wrong = [*settings, "--set", "train.role=detectiv"]
    assert train.main(["--config", str(config), "--out", str(tmp_path / "no"), *wrong]) == 2
    assert "is no role of phantom_v0: did you mean 'detective'" in capsys.readouterr().err


# ---- files ---------------------------------------------------------------------------------------


def test_a_state_of_another_game_is_refused(tmp_path: Path) -> None:
    save_state(tmp_path / "state", make_game("kuhn_v0", num_players=3), {"a": 1})
    assert load_state(tmp_path / "state", make_game("kuhn_v0", num_players=3)) == {"a": 1}
    with pytest.raises(CheckpointError, match="num_players=3: play it with these options"):
        load_state(tmp_path / "state", make_game("kuhn_v0"))
    with pytest.raises(CheckpointError, match="was trained on kuhn_v0, not on leduc_v0"):
        load_state(tmp_path / "state", make_game("leduc_v0"))
    with pytest.raises(CheckpointError, match="holds no checkpoint"):
        load_state(tmp_path)


def test_a_state_of_another_version_is_refused(tmp_path: Path) -> None:
    save_state(tmp_path / "state", make_game("kuhn_v0"), {"a": 1})
    header = tmp_path / "state" / "state.json"
    header.write_text(header.read_text().replace('"version": 2', '"version": 7'))
    with pytest.raises(CheckpointError, match="is of version 7 and this program reads 2"):
        load_state(tmp_path / "state")


# ---- the door ------------------------------------------------------------------------------------


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    path = tmp_path / "planted.yaml"
    path.write_text(yaml.safe_dump(CONFIG))
    return path


def test_the_command_trains_and_resumes(
    config_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert train.main(["--config", str(config_file), "--out", str(out), "--quiet"]) == 0
    assert "against kuhn_rule: return" in capsys.readouterr().out
    shutil.rmtree(checkpoints(out)[-1])
    assert train.main(["--resume", str(out), "--quiet"]) == 0
    commands = (out / "command.txt").read_text().splitlines()
    assert commands[0].startswith("python train.py --config")
    assert commands[1] == f"python train.py --resume {out} --quiet"


def test_a_dry_run_shows_all_and_writes_nothing(
    config_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--config", str(config_file), "--out", str(tmp_path / "run"), "--dry-run"]
    assert train.main([*arguments, "--seed", "7"]) == 0
    shown = capsys.readouterr().out
    assert "seed: 7" in shown
    assert "plan: 1,000 draws of kuhn_v0() against self, past, random" in shown
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--config", "nowhere.yaml"], "nowhere.yaml cannot be read"),
        (["--resume", "nowhere"], "nowhere is not a run"),
        (["--resume", "x", "--seed", "1"], "leave out --set, --seed and --out"),
    ],
)
def test_bad_input_gets_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_everything_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert train.main(["--list"]) == 0
    shown = capsys.readouterr().out
    assert "kuhn_v0" in shown
    assert "planted: Draws numbers and adds them up. Counts draws." in shown


# ---- runs that a tournament wants ----------------------------------------------------------------


def test_a_missing_run_is_trained_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs" / "kuhn").mkdir(parents=True)
    (tmp_path / "configs" / "kuhn" / "mine.yaml").write_text(yaml.safe_dump(CONFIG))
    run = Path("runs/kuhn_v0/mine-seed5")
    named = [AgentSpec.parse("random"), AgentSpec.parse(f"mine=planted:{run}")]
    train_missing(named)
    assert f"training {run} from configs/kuhn/mine.yaml" in capsys.readouterr().err
    assert yaml.safe_load((run / "config.yaml").read_text())["train"]["seed"] == 5
    train_missing(named)
    assert capsys.readouterr().err == ""
    expected = (run / "metrics.csv").read_bytes()
    for folder in (players(run)[-1], checkpoints(run)[-1]):  # as if it had been stopped
        shutil.rmtree(folder)
    train_missing(named)
    assert (run / "metrics.csv").read_bytes() == expected
    assert len(players(run)) == 10


def test_several_missing_runs_are_trained_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs" / "kuhn").mkdir(parents=True)
    small = {
        "game": {"id": "kuhn_v0"},
        "agent": {"id": "q_learning"},
        "train": {"steps": 50},
        "eval": {"games": 10, "exploitability": False},
        "log": {"tensorboard": False},
    }
    (tmp_path / "configs" / "kuhn" / "mine.yaml").write_text(yaml.safe_dump(small))
    runs = [Path(f"runs/kuhn_v0/mine-seed{seed}") for seed in (0, 1)]
    named = [AgentSpec.parse(f"a{i}=q_learning:{run}") for i, run in enumerate(runs)]
    others = [AgentSpec.parse("random"), AgentSpec.parse("kuhn_rule")]
    train_missing([*others, *named], workers=2)
    told = capsys.readouterr().err
    assert "to be trained first, 2 runs, up to 2 at a time: mine-seed0, mine-seed1" in told
    assert "python evaluate.py tournament kuhn_v0 random kuhn_rule" in told
    assert all(is_finished(run) for run in runs)
    small["train"] = {"steps": 0}
    (tmp_path / "configs" / "kuhn" / "bad.yaml").write_text(yaml.safe_dump(small))
    bad = AgentSpec.parse("bad=q_learning:runs/kuhn_v0/bad-seed0")
    with pytest.raises(MasqueradeError, match="steps"):
        train_missing([bad, AgentSpec.parse("q_learning:runs/kuhn_v0/mine-seed3")], workers=2)


# ---- what a person is told -----------------------------------------------------------------------


def test_a_run_that_was_stopped_early_goes_on_from_its_first_checkpoint(tmp_path: Path) -> None:
    """Long before the first checkpoint of the file there is one: 1/64 of the first chunk."""
    settings = {"train__log_every": 640, "train__steps": 1280, "train__checkpoint_every": 1280}
    settings["train__eval_every"] = 640
    killed = tmp_path / "killed"
    with pytest.raises(KeyboardInterrupt):
        begin_run(config(agent__params={"fails_at": 500}, **settings), killed, is_shown=False)
    assert [folder.name for folder in checkpoints(killed)] == ["step_000000000010"]


def test_a_finished_run_says_so_and_what_to_do_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(CONFIG))
    folder = tmp_path / "run"
    assert train.main(["--config", str(path), "--out", str(folder), "--quiet"]) == 0
    told = capsys.readouterr().out
    assert f"python evaluate.py match kuhn_v0 planted:{folder} random" in told
    assert f"python play.py kuhn_v0 --against planted:{folder}" in told
    assert "is finished" not in told
    assert train.main(["--resume", str(folder), "--quiet"]) == 0
    assert f"{folder} is finished" in capsys.readouterr().out


def test_a_line_of_progress_fits_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    Progress(1_000_000, "games").show(10, "a long headline that would wrap")
    line = capsys.readouterr().err.removeprefix("\r")
    assert len(line) == 39
    assert line.endswith("…")


def test_what_to_do_next_can_be_typed_as_it_stands(tmp_path: Path) -> None:
    options = {"stacks": (500, 1500), "num_players": 2, "observation": "blocks", "blocks": (1, 2)}
    outcome = begin_run(
        config(game__id="holdem_v0", game__params=options, eval__opponents=["random"]),
        tmp_path / "run",
        is_shown=False,
    )
    words = shlex.split(outcome.options)
    assert words[::2] == ["--option"] * 4  # no default is told
    typed = dict(parse_option(word) for word in words[1::2])
    assert make_game("holdem_v0", **typed) == make_game("holdem_v0", **options)


def test_a_run_without_a_configuration_is_left_to_its_agent(tmp_path: Path) -> None:
    train_missing([AgentSpec.parse(f"planted:{tmp_path}/runs/kuhn_v0/mine-seed0")])
    train_missing([AgentSpec.parse("planted:runs/kuhn_v0/nothing-seed0")])
    assert not Path("runs/kuhn_v0/nothing-seed0").exists()
