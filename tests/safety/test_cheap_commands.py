"""A mistyped name is answered at once: no command compiles anything to refuse one.

The commands run with a cache folder that is empty, and leave it empty.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agents import AGENTS, LEARNERS, RESPONDERS, agent_class, without_learner
from agents.naming import check_agent
from envs import GAMES, game_class
from envs.core.errors import MasqueradeError, UnknownNameError
from envs.core.outline import class_at, constant_of, fields_of, parameters_of
from tests.support.sampling import IS_FULL
from tests.support.tournaments import PROJECT
from training.config import learner_class

DQN = ["train.py", "--config", "configs/leduc/dqn.yaml"]
# Every line: what is run, and a part of the one line that answers it.
WRONG: list[tuple[list[str], str]] = [
    (["evaluate.py", "match", "kuhn_v0", "randm", "kuhn_rule"], "did you mean 'random'"),
    (["evaluate.py", "match", "kuhn_v0", "random", "leduc_rule"], "plays leduc_v0, not kuhn_v0"),
    (["evaluate.py", "match", "kuhn", "random", "kuhn_rule"], "did you mean 'kuhn_v0'"),
    (["evaluate.py", "match", "kuhn_v0", "random", "=random"], "no name before the sign"),
    (["evaluate.py", "match", "kuhn_v0", "random", "no.such:Agent"], "cannot be found"),
    (["evaluate.py", "match"], "name a game and at least two agents"),
    (["evaluate.py", "match", "kuhn_v0", "random", "b=random", "--option", "x=1"], "option 'x'"),
    (["evaluate.py", "match", "kuhn_v0", "random", "b=random", "--param", "c.x=1"], "no agent 'c'"),
    (["evaluate.py", "match", "kuhn_v0", "random", "ismcts", "--param", "ismcts.iteration=5"],
     "mean 'iterations'"),
    (["evaluate.py", "match", "kuhn_v0", "random", "b=random", "--schedule", "x"], "schedule 'x'"),
    (["evaluate.py", "match", "kuhn_v0", "random", "b=random", "--executor", "x"], "executor 'x'"),
    (["evaluate.py", "match", "kuhn_v0", "random", "b=random", "--device", "x"], "device 'x'"),
    (["evaluate.py", "match", "kuhn_v0", "random", "b=random", "--out", "docs"], "other files"),
    (["evaluate.py", "match", "kuhn_v0", "random", "random"], "two agents are called ['random']"),
    (["evaluate.py", "match", "kuhn_v0", "random", "a="], "has no id"),
    (["evaluate.py", "match", "kuhn_v0", "ismcts", "random", "--param", "iterations=5"],
     "such as ismcts.iterations=..., not iterations"),
    (["evaluate.py", "tournament", "--config", "nowhere.yaml"], "cannot be read"),
    (["evaluate.py", "exploitability", "kuhn_v0", "random", "--out", "a.txt"], ".json or .md"),
    (["evaluate.py", "exploitability", "kuhn_v0", "random", "--out", "x.json", "--form", "x"],
     "form 'x'"),
    (["evaluate.py", "best-response", "kuhn_v0", "random", "--learner", "dqm"], "mean 'dqn'"),
    (["evaluate.py", "report", "nowhere"], "is no folder"),
    (["evaluate.py", "export", "docs"], "give the folder of a tournament"),
    (["evaluate.py", "replay", "nowhere"], "neither a folder nor a file"),
    (["evaluate.py", "replay"], "name a tournament's folder"),
    (["evaluate.py", "replay", "--game", "kuhn_v0", "--param", "random.x=1"], "no agent 'random'"),
    (["evaluate.py", "leaderboard", "kunh"], "did you mean 'kuhn'"),
    (["evaluate.py", "advise", "kuhn_v0", "randm"], "did you mean 'random'"),
    ([*DQN, "--set", "agent.id=ismcts"], "'ismcts' needs no training"),
    ([*DQN, "--set", "agent.id=dqm"], "did you mean 'dqn'"),
    ([*DQN, "--set", "agent.id=cfr_rounds"], "learns liars_dice_v0, not leduc_v0: cfr, "),
    ([*DQN, "--set", "agent.params.learning_rat=1"], "did you mean 'learning_rate'"),
    ([*DQN, "--set", "game.id=leduc"], "did you mean 'leduc_v0'"),
    ([*DQN, "--set", "game.params.num_player=2"], "did you mean 'num_players'"),
    ([*DQN, "--set", "train.opponents=[self, randm]"], "train.opponents.1: unknown agent"),
    ([*DQN, "--set", "eval.opponents=[kuhn_rule]"], "plays kuhn_v0, not leduc_v0"),
    ([*DQN, "--set", "train.opponents=[{id: random, weigth: 2}]"], "unknown agent key 'weigth'"),
    ([*DQN, "--set", "train.stepz=1"], "did you mean 'steps'"),
    ([*DQN, "--device", "x"], "device 'x'"),
    (["train.py", "--resume", "nowhere"], "is not a run"),
    (["play.py", "kuhn"], "did you mean 'kuhn_v0'"),
    (["play.py", "--load", "nowhere.json"], "cannot be read"),
    (["play.py", "kuhn_v0", "--against", "nobody"], "unknown agent 'nobody'"),
    (["play.py", "kuhn_v0", "--option", "num_player=2"], "did you mean 'num_players'"),
    (["play.py", "--terminal", "kuhn_v0", "--against", "nobody"], "unknown agent 'nobody'"),
    (["-m", "training.reproduce", "no_thanx"], "did you mean 'no_thanks'"),
    (["-m", "training.reproduce", "phantom_parts", "--only", "B"], "unknown group 'B'"),
    (["-m", "benchmarks.arena_speed", "--only", "nothing"], "unknown job 'nothing'"),
    (["-m", "benchmarks.coverage", "--only", "nothing"], "no case has 'nothing'"),
]  # fmt: skip
RIGHT = [
    (["play.py", "leduc_v0", "--list"], "leduc_rule: "),
    (["-m", "benchmarks.arena_speed", "--list"], "random_rlcard"),
]
# A start takes a second or two: some of every kind here, all of them by ``make test-all``.
EVERY = 1 if IS_FULL else 6


def run(words: list[str], cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_DISABLE_JIT"}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=PROJECT,
        env={**environment, "MASQUERADE_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not cache.exists(), f"{words} compiled {[path.name for path in cache.iterdir()]}"
    return done


@pytest.mark.parametrize(("words", "said"), WRONG[::EVERY])
def test_a_wrong_name_is_refused_before_anything_is_compiled(
    words: list[str], said: str, tmp_path: Path
) -> None:
    done = run(words, tmp_path / "cache")
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("agents: [random, {id: ismcts, parms: {}}]", "did you mean 'params'"),
        ("agents: [random, {id: kuhn_rule, name: random}]", "two agents are called ['random']"),
        ("agents: [random, {name: other}]", "has no id"),
        ("agents: [random, kuhn_rule]\ngaems: 3", "unknown key 'gaems'"),
        ("agents: [random, kuhn_rule]\nschedule: x", "schedule 'x'"),
    ],
)
def test_a_wrong_name_in_a_file_is_refused_before_anything_is_compiled(
    line: str, said: str, tmp_path: Path
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(f"game: {{id: kuhn_v0}}\n{line}\n")
    done = run(["evaluate.py", "tournament", "--config", str(config)], tmp_path / "cache")
    assert done.returncode == 2, done
    assert done.stderr.startswith(f"evaluate.py: {config}: ")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


@pytest.mark.parametrize(("words", "said"), RIGHT)
def test_a_list_is_printed_before_anything_is_compiled(
    words: list[str], said: str, tmp_path: Path
) -> None:
    done = run(words, tmp_path / "cache")
    assert done.returncode == 0, done
    assert said in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("game_id", GAMES)
def test_the_sources_tell_the_options_of_every_game(game_id: str) -> None:
    place = class_at(GAMES[game_id], "Options")
    assert place is not None
    assert set(fields_of(place) or ()) == set(game_class(game_id).Options.model_fields)


@pytest.mark.parametrize("learner_id", LEARNERS)
def test_the_sources_tell_the_settings_of_every_learner(learner_id: str) -> None:
    place = class_at(LEARNERS[learner_id], "settings_class")
    assert place is not None
    told = set(fields_of(place) or ())
    assert told == set(learner_class(learner_id).settings_class.model_fields)


def test_the_sources_tell_which_games_an_agent_plays_or_nothing() -> None:
    for agent_id, place in AGENTS.items():
        told = constant_of(place, "game_ids")
        assert told is None or tuple(told) == agent_class(agent_id).game_ids, agent_id
    with pytest.raises(MasqueradeError, match="plays phantom_v0 and scotland_yard_v0"):
        check_agent("joint_mcts", "kuhn_v0")


@pytest.mark.parametrize("agent_id", AGENTS)
def test_the_sources_tell_the_parameters_of_every_agent(agent_id: str) -> None:
    parameters = inspect.signature(agent_class(agent_id)).parameters.values()
    known = {each.name for each in parameters if each.kind is not each.VAR_KEYWORD}
    told = set(parameters_of(AGENTS[agent_id]) or ())
    assert known <= told
    assert (known == told) == (len(known) == len(parameters)), "the rest are settings"


@pytest.mark.parametrize("agent_id", sorted({*AGENTS, *RESPONDERS} - {*LEARNERS}))
def test_who_has_no_learner_is_known_and_says_what_it_needs(agent_id: str) -> None:
    with pytest.raises(UnknownNameError) as refused:
        learner_class(agent_id)
    told = str(refused.value)
    assert told.startswith(without_learner(agent_id))
    assert "unknown" not in told
    assert f"'{agent_id}'" in told
    assert "learners are cfr, " in told
