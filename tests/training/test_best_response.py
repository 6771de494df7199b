"""Learnt best responses: bounds that hold, runs that go on, choices that do not flatter."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evaluate
from agents.cfr.evaluation import BestResponseEvaluator, tabulate
from agents.learning.files import checkpoints, players
from agents.spec import AgentSpec
from arena import match
from envs import make_game
from envs.core.facts import Facts
from envs.kuhn.game import Kuhn
from training import best_response as module
from training.best_response import Bound, Search, bound, find_learner

QUICK = Search(learners=("response",), steps=3000, games=2000, choosing_games=400)


def quick(game_id: str, agent: str, runs: Path, search: Search = QUICK, **options: Any) -> Bound:
    game = make_game(game_id, **options)
    return bound(game, AgentSpec.parse(agent), search, runs, is_shown=False)


def exact(game_id: str, agent: str, **options: Any) -> float:
    evaluator = BestResponseEvaluator(make_game(game_id, **options))
    table = tabulate(AgentSpec.parse(agent).build(evaluator.tree.game), evaluator.tree)
    return evaluator(table.probs).exploitability


# ---- bounds hold ---------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["leduc_rule", "random"])
def test_a_bound_reaches_most_of_the_truth_and_not_more(agent: str, tmp_path: Path) -> None:
    search = QUICK.replace(steps=60_000, games=20_000)
    found, truth = quick("leduc_v0", agent, tmp_path, search), exact("leduc_v0", agent)
    assert found.gain.low <= truth
    assert found.at_least > 0.7 * truth
    for seat in found.seats:
        assert seat.learner == "response"
        assert Path(seat.player).is_dir()


def test_nothing_is_won_from_an_equilibrium(tmp_path: Path) -> None:
    found = quick("kuhn_v0", "kuhn_rule", tmp_path)
    assert exact("kuhn_v0", "kuhn_rule") == pytest.approx(0.0, abs=1e-12)
    assert found.gain.low <= 0.0
    assert found.at_least == 0.0


def test_three_players_are_answered_in_every_seat(tmp_path: Path) -> None:
    found = quick("kuhn_v0", "random", tmp_path, num_players=3)
    truth = exact("kuhn_v0", "random", num_players=3)
    assert len(found.seats) == 3
    assert found.games == 2001
    assert 0.7 * truth < found.gain.mean
    assert found.gain.low <= truth
    mean = np.mean([seat.value.mean for seat in found.seats])
    assert found.gain.mean == pytest.approx(float(mean))


def test_where_returns_do_not_add_up_the_agents_own_play_is_subtracted(tmp_path: Path) -> None:
    before = quick("kuhn_v0", "random", tmp_path)

    class GeneralSum(Kuhn):
        def make_facts(self) -> Facts:
            return dataclasses.replace(super().make_facts(), return_sum=None)

    game = GeneralSum()
    after = bound(game, AgentSpec.parse("random"), QUICK, tmp_path, is_shown=False)
    assert after.gain.mean == pytest.approx(before.gain.mean)


def test_choosing_and_measuring_share_no_deals(tmp_path: Path, monkeypatch: Any) -> None:
    quick("kuhn_v0", "random", tmp_path)  # the runs
    calls: list[tuple[int, int]] = []

    def noted(*arguments: Any, seed: int, **rest: Any) -> Any:
        calls.append((seed, arguments[2]))
        return match.play_match(*arguments, seed=seed, **rest)

    monkeypatch.setattr(module, "play_shown", noted)
    search = QUICK.replace(games=600)
    quick("kuhn_v0", "random", tmp_path, search)
    measuring = {seed for seed, deals in calls if deals == 300}
    choosing = {seed for seed, deals in calls if deals == 200}
    assert len(measuring) == len(choosing) == 1
    assert not measuring & choosing
    assert not (measuring | choosing) & set(range(100))  # seeds of runs


def test_the_better_of_two_learners_is_taken(tmp_path: Path) -> None:
    blank = tmp_path / "blank.yaml"
    settings = "{learning_rate: 0.0, exploration: 1.0}"
    blank.write_text(f"agent: {{id: q_learning, params: {settings}}}\n")
    search = QUICK.replace(learners=(str(blank), "response"))
    found = quick("kuhn_v0", "random", tmp_path / "runs", search)
    assert {seat.learner for seat in found.seats} == {"response"}
    alone = search.replace(learners=(str(blank),))
    assert quick("kuhn_v0", "random", tmp_path / "runs", alone).gain.mean < found.gain.mean


# ---- runs ----------------------------------------------------------------------------------------


def test_what_was_learnt_is_used_again_and_what_was_stopped_goes_on(tmp_path: Path) -> None:
    first = quick("kuhn_v0", "random", tmp_path)
    (run,) = (tmp_path / "kuhn_v0" / "random").glob("response-seed0-*")
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*") if path.is_file()}
    assert quick("kuhn_v0", "random", tmp_path) == first
    assert {path: path.stat().st_mtime_ns for path in before} == before
    shutil.rmtree(checkpoints(run)[-1])  # as if it had been killed before the last checkpoint
    shutil.rmtree(players(run)[-1])
    assert quick("kuhn_v0", "random", tmp_path) == first
    noted = json.loads((tmp_path / "kuhn_v0" / "random" / "bound.json").read_text())
    assert noted["exploitability_at_least"] == first.at_least


def test_other_settings_and_another_agent_of_the_same_name_get_other_runs(tmp_path: Path) -> None:
    quick("kuhn_v0", "a=random", tmp_path)
    quick("kuhn_v0", "a=kuhn_rule", tmp_path)
    quick("kuhn_v0", "a=random", tmp_path, QUICK.replace(steps=2000))
    quick("kuhn_v0", "a=random", tmp_path, num_players=3)
    assert len(list((tmp_path / "kuhn_v0" / "a").glob("response-*"))) == 4


def test_an_agent_that_was_trained_anew_is_answered_anew(tmp_path: Path) -> None:
    game = make_game("kuhn_v0")
    from agents.cfr import VectorCFRSolver, to_policy

    path, solver = tmp_path / "policy.npz", VectorCFRSolver.of(game, "cfr+")
    for _ in range(2):
        solver.run(1)
        to_policy(solver.tree, solver.average_policy()).save(path)
        quick("kuhn_v0", f"solved=cfr:{path}", tmp_path / "runs")
    assert len(list((tmp_path / "runs" / "kuhn_v0" / "solved").glob("response-*"))) == 2


# ---- the command ---------------------------------------------------------------------------------


def test_the_command_prints_and_writes_bounds(
    tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.setattr(module, "CONFIGS", Path("configs").resolve())
    monkeypatch.chdir(tmp_path)
    words = ["best-response", "kuhn_v0", "random", "kuhn_rule", "--steps=2000", "--games=1000"]
    assert evaluate.main([*words, "--choosing-games=200", "--seeds=2", "--out=b.json"]) == 0
    text = capsys.readouterr().out
    names = [line.split()[0] for line in text.splitlines()[3:5]]
    assert names == ["kuhn_rule", "random"]
    assert "A lower bound: responses learnt by response for 2,000, 2 seeds" in text
    agents = json.loads(Path("b.json").read_text())["agents"]
    assert agents[1]["exploitability_at_least"] > 0.3 > agents[0]["exploitability_at_least"]
    assert len(list(Path("runs/best_response/kuhn_v0/random").glob("response-seed*"))) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kuhn_v0"], "name a game and at least one agent"),
        (["kuhn_v0", "random", "--learner", "q_lerning"], "did you mean 'q_learning'"),
        (["kuhn_v0", "random", "--learner", "cfr"], "'cfr' learns from no opponent"),
        (["kuhn_v0", "random", "--learner", "no.yaml"], "no.yaml cannot be read"),
        (
            ["kuhn_v0", "random", "--seeds=0"],
            "--seeds: must be from 1 to 1000000000, not 0",
        ),
        (
            ["kuhn_v0", "random", "--steps=0"],
            "--steps: must be from 1 to",
        ),
        (["kuhn_v0", "random", "--out=b.txt"], "--out must end in .json or .md"),
        (["kuhn_v0", "cfr:nowhere.npz"], "no policy at nowhere.npz"),
    ],
)
def test_bad_input_gets_one_line(arguments: list[str], message: str, capsys: Any) -> None:
    assert evaluate.main(["best-response", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_learner_without_a_file_has_its_defaults() -> None:
    assert find_learner(make_game("kuhn_v0"), "sb3") == {"agent": {"id": "sb3"}}
