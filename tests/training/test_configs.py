"""Every configuration trains, goes on after a stop to the same curves, and its player plays."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import train
from agents import LEARNERS, make_agent
from agents.learning.files import checkpoints
from arena.match import play_match
from envs import GAMES
from tests.support.sampling import sample
from tests.support.tiny_runs import CONFIGS, agent_of, tiny
from training.asked import check_run, config_files
from training.config import RunConfig, read_yaml

# Every learner once; every file by make test-all.
SAMPLE = sample(CONFIGS, agent_of)


def test_every_game_and_every_learner_has_a_configuration() -> None:
    parsed = [RunConfig.parse(read_yaml(path)) for path in config_files()]
    assert {config.game.id for config in parsed} == set(GAMES)
    assert {config.agent.id for config in parsed} == set(LEARNERS)
    assert {path.parent.name for path in config_files()} == {
        game_id.removesuffix("_v0") for game_id in GAMES
    }


@pytest.mark.parametrize("path", CONFIGS, ids=str)
def test_every_file_can_be_read(path: Path) -> None:
    content = read_yaml(path)
    check_run(content)
    config = RunConfig.parse(content)
    assert RunConfig.parse(config.to_dict()) == config
    assert config.foreign_code() == []  # or it could not be resumed without --trust


@pytest.mark.parametrize("path", SAMPLE, ids=str)
def test_a_run_resumes_to_the_same_curves(path: Path, tmp_path: Path) -> None:
    arguments, agent = tiny(path)
    arguments = ["--config", str(path), "--quiet", *arguments]
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert train.main([*arguments, "--out", str(whole)]) == 0
    shutil.copytree(whole, stopped)
    shutil.rmtree(checkpoints(stopped)[-1])  # as if it had been killed before the last checkpoint
    assert train.main(["--resume", str(stopped), "--quiet"]) == 0
    assert (stopped / "metrics.csv").read_bytes() == (whole / "metrics.csv").read_bytes()
    game = RunConfig.parse(read_yaml(whole / "config.yaml")).build_game()
    player = make_agent(f"{agent}:{whole}", game)
    assert play_match(game, [player] * game.facts.num_players, 4).num_games == 4
