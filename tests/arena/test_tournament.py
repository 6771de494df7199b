"""Tournaments: planted truths, any number of workers, taken up again, one bad agent among good."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import evaluate
from arena.running.tournament import Progress, run_tournament
from arena.running.work_units import Unit, UnitStore
from arena.schedules.config import read_config
from arena.schedules.spec import AgentSpec, TournamentSpec
from arena.statistics.intervals import SequentialStop
from envs.core import MasqueradeError, OptionError
from training.config import RunConfig, read_yaml
from training.missing import source_of

KUHN = TournamentSpec(
    "kuhn_v0",
    tuple(AgentSpec.parse(agent) for agent in ("random", "kuhn_rule", "other=random")),
    deals=1200,
)


def planted(passes: float) -> AgentSpec:
    params = {"passes": passes}
    return AgentSpec("tests.support.planted_agents:Folder", params, f"passes {passes}")


def quiet(total: int) -> Progress:
    return Progress(total, is_shown=False)


def play(spec: TournamentSpec, folder: Path, **arguments: Any) -> dict[str, Any]:
    return run_tournament(spec, folder, on_start=quiet, **arguments).to_dict()


def test_two_workers_give_the_table_of_one(tmp_path: Path) -> None:
    assert play(KUHN, tmp_path / "one") == play(KUHN, tmp_path / "two", workers=2)


def kill_after(num_units: int, spec: TournamentSpec, folder: Path, **arguments: Any) -> None:
    """Play, and stop as by Ctrl-C when so many units are kept."""
    played: list[Unit] = []
    save = UnitStore.save

    def save_some(store: UnitStore, unit: Unit, result: Any) -> None:
        if len(played) == num_units:
            raise KeyboardInterrupt
        played.append(unit)
        save(store, unit, result)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(UnitStore, "save", save_some)
        with pytest.raises(KeyboardInterrupt):
            play(spec, folder, **arguments)
    assert len(list((folder / "units").glob("*.npz"))) == num_units


def test_a_killed_tournament_goes_on_to_the_same_table(tmp_path: Path) -> None:
    whole = play(KUHN, tmp_path / "whole")
    kill_after(3, KUHN, tmp_path / "cut")
    with pytest.raises(MasqueradeError, match="--resume"):
        play(KUHN, tmp_path / "cut")
    assert play(KUHN, tmp_path / "cut", has_resume=True) == whole


def test_more_deals_continue_a_shorter_tournament(tmp_path: Path) -> None:
    play(KUHN, tmp_path / "grown")
    longer = replace(KUHN, deals=1700)
    assert play(longer, tmp_path / "grown", has_resume=True) == play(longer, tmp_path / "anew")


def test_another_tournament_in_the_folder_is_refused(tmp_path: Path) -> None:
    spec = replace(KUHN, deals=2)
    play(spec, tmp_path)
    with pytest.raises(MasqueradeError, match="seed differ"):
        play(replace(spec, seed=1), tmp_path, has_resume=True)


def test_the_same_games_can_be_told_in_another_way(tmp_path: Path) -> None:
    spec = replace(KUHN, deals=50)
    play(spec, tmp_path)
    other = replace(spec, big_blind=2.0, roles=("first", "second"), confidence=0.9)
    assert play(other, tmp_path, has_resume=True) == play(other, tmp_path / "anew")
    assert json.loads((tmp_path / "tournament.json").read_text())["spec"]["big_blind"] == 2


def test_a_planted_ladder_is_recovered(tmp_path: Path) -> None:
    levels = (0.0, 0.25, 0.5, 1.0)
    spec = TournamentSpec("kuhn_v0", tuple(planted(p) for p in levels), deals=3000)
    summary = run_tournament(spec, tmp_path, on_start=quiet)
    for comparison in summary.comparisons:
        p, q = (float(name.split()[1]) for name in (comparison.first, comparison.second))
        assert not comparison.lead.excludes(_kuhn_lead(p, q)), comparison
    for standing in summary.standings:
        p = float(standing.name.split()[1])
        truth = sum(_kuhn_lead(p, q) for q in levels if q != p) / 3
        assert not standing.mean_return.excludes(truth), standing
    assert [standing.name.split()[1] for standing in summary.standings] == [str(p) for p in levels]
    assert summary.metagame.cycles == ()
    assert summary.standings[0].nash == pytest.approx(1)


def _kuhn_lead(p: float, q: float) -> float:
    """Exact value of passing with probability p against q, averaged over both seats.

    Cards do not matter to either, so a showdown is worth nothing on average and only folds pay.
    """

    def first_seat(mine: float, theirs: float) -> float:
        bet_and_fold = (1 - mine) * theirs
        passed_and_bet = mine * (1 - theirs)
        return bet_and_fold - passed_and_bet * mine

    return (first_seat(p, q) - first_seat(q, p)) / 2


def test_who_is_right_more_often_stands_higher(tmp_path: Path) -> None:
    rights = (0.0, 0.6, 0.85, 1.0)
    agents = [
        AgentSpec("tests.support.planted_agents:Blunderer", {"right": right}, str(right))
        for right in rights
    ]
    spec = TournamentSpec("liars_dice_v0", tuple(agents), {"dice": 1}, deals=1000)
    summary = run_tournament(spec, tmp_path, on_start=quiet)
    order = [str(right) for right in rights[::-1]]
    assert [standing.name for standing in summary.standings] == order
    for better, worse in pairwise(summary.standings):
        assert better.elo.low > worse.elo.high
        assert better.win_rate.low > worse.win_rate.high
    assert summary.metagame.cycles == ()
    assert summary.metagame.nash[3] == pytest.approx(1)


def test_one_bad_agent_does_not_spoil_the_rest(tmp_path: Path) -> None:
    bad = AgentSpec("tests.support.planted_agents:Broken", name="bad")
    good = run_tournament(KUHN, tmp_path / "good", on_start=quiet)
    mixed = run_tournament(
        replace(KUHN, agents=(*KUHN.agents, bad)), tmp_path / "mixed", on_start=quiet
    )
    before = {(c.first, c.second): c for c in good.comparisons}
    after = {(c.first, c.second): c for c in mixed.comparisons}
    assert all(after[pair] == comparison for pair, comparison in before.items())
    assert mixed.standings[-1].name == "bad"
    assert mixed.standings[-1].faults == mixed.standings[-1].seats
    assert any("bad lost 7,200 games by RuntimeError: always" in line for line in mixed.faults)


UNTIL = replace(KUHN, deals=300, agents=(*KUHN.agents[:2], planted(0.7)))


def test_playing_on_until_the_wanted_precision(tmp_path: Path) -> None:
    summary = run_tournament(UNTIL, tmp_path, until=0.035, on_start=quiet)
    stopping = summary.stopping
    assert stopping is not None
    assert stopping.is_reached
    assert stopping.reached == summary.worst_half_width <= 0.035
    assert stopping.looks[:2] == (500, 1000)
    assert summary.spec.deals == stopping.looks[-1] > 300
    assert all(group.games == 2 * summary.spec.deals for group in summary.groups)
    # One look less would have been too early, so the end is no matter of luck or of workers.
    before = replace(UNTIL, deals=stopping.looks[-2])
    earlier = run_tournament(before, tmp_path, has_resume=True, on_start=quiet)
    assert earlier.stopping is None
    assert earlier.worst_half_width > 0.9 * 0.035


def test_two_workers_and_a_kill_come_to_the_same_end(tmp_path: Path) -> None:
    whole = play(UNTIL, tmp_path / "whole", until=0.035)
    assert play(UNTIL, tmp_path / "two", until=0.035, workers=2) == whole
    kill_after(8, UNTIL, tmp_path / "cut", until=0.035)
    assert play(UNTIL, tmp_path / "cut", until=0.035, has_resume=True) == whole


def test_playing_far_ahead_changes_nothing(tmp_path: Path) -> None:
    whole = play(UNTIL, tmp_path / "whole", until=0.035)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SequentialStop, "next_look", lambda *_: 12_000)
        assert play(UNTIL, tmp_path / "ahead", until=0.035) == whole
    assert whole["spec"]["deals"] < 12_000


def test_a_precision_out_of_reach_ends_at_the_limit(tmp_path: Path) -> None:
    spec = replace(KUHN, deals=20, agents=KUHN.agents[:2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arena.running.tournament.MAX_GROWTH", 4)
        summary = run_tournament(spec, tmp_path / "o", until=1e-9, on_start=quiet)
    assert summary.stopping is not None
    assert not summary.stopping.is_reached
    assert summary.spec.deals == 500
    assert "the limit of deals came first" in summary.to_text()
    with pytest.raises(MasqueradeError, match="above 0"):
        run_tournament(spec, tmp_path / "refused", until=0.0)
    assert not (tmp_path / "refused").exists()


def test_three_players_are_compared_in_duels(tmp_path: Path) -> None:
    agents = (AgentSpec.parse("random"), AgentSpec.parse("kuhn_rule"))
    spec = TournamentSpec("kuhn_v0", agents, {"num_players": 3}, deals=400)
    summary = run_tournament(spec, tmp_path, on_start=quiet)
    assert summary.comparisons[0].games == 6 * 400
    assert [single.games for single in summary.singles] == [3 * 400] * 2


# ---- the command line ----------------------------------------------------------------------------


def test_the_command_prints_a_table_and_keeps_it(tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out"
    code = evaluate.main(
        ["tournament", "kuhn_v0", "random", "kuhn_rule", "--games", "2000", "--out", str(out)]
    )
    printed = capsys.readouterr().out
    assert code == 0
    assert "kuhn_rule" in printed
    assert "1,000 deals" in printed
    assert json.loads((out / "summary.json").read_text())["spec"]["deals"] == 1000
    assert "| kuhn_rule |" in (out / "summary.md").read_text()
    for name in ("standings", "comparisons", "roles"):
        assert "kuhn_rule" in (out / f"{name}.csv").read_text()


@pytest.mark.parametrize("config", sorted(Path("configs/tournaments").glob("*.yaml")), ids=str)
def test_every_config_plays(config: Path, tmp_path: Path) -> None:
    spec = read_config(config)
    for agent in spec.agents:
        if "path" in agent.params:  # trained first, which is too long for a test
            source = source_of(Path(agent.params["path"]))
            assert source is not None
            run = RunConfig.parse(read_yaml(source[0]))
            assert (run.agent.id, run.build_game()) == (agent.id, spec.build_game())
    names = [agent.id for agent in spec.agents if "path" not in agent.params]
    out = str(tmp_path / "o")
    assert evaluate.main(["tournament", spec.game_id, *names, "--games", "40", "--out", out]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tournament"], "name a game and at least two agents"),
        (["tournament", "kuhn_v1", "random", "b=random"], "did you mean 'kuhn_v0'"),
        (["tournament", "kuhn_v0", "random", "randon"], "did you mean 'random'"),
        (["tournament", "kuhn_v0", "random", "random"], "two agents are called ['random']"),
        (["match", "kuhn_v0", "random", "leduc_rule"], "kuhn_v0"),
        (["match", "kuhn_v0", "random", "no.such:Agent"], "cannot be found"),
        (["match", "kuhn_v0", "random", "b=random", "--games", "0"], "deals must be at least 1"),
        (
            ["match", "kuhn_v0", "random", "b=random", "--workers", "0"],
            "workers must be at least 1",
        ),
        (["match", "kuhn_v0", "random", "b=random", "--design", "x"], "auto, distinct, duels"),
        (["match", "kuhn_v0", "random", "b=random", "--option", "dice"], "NAME=VALUE"),
        (["match", "kuhn_v0", "random", "b=random", "--option", "num_players=9"], "from 2 to 5"),
        (["tournament", "--config", "nowhere.yaml"], "cannot be read"),
    ],
)
def test_bad_input_gets_one_line_and_writes_nothing(
    arguments: list[str], message: str, tmp_path: Path, capsys: Any
) -> None:
    out = tmp_path / "out"
    assert evaluate.main([*arguments, "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not out.exists()


GAME = "game: {id: kuhn_v0}\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("game: {id: kuhn_v0}\nagent: [random]\n", "did you mean 'agents'"),
        ("game: kuhn_v0\nagents: [random, kuhn_rule]\n", "mapping with an id"),
        ("game: {id: kuhn_v0}\nagents: random\n", "must be a list"),
        ("game: {id: kuhn_v0}\nagents: [{name: x}, random]\n", "has no id"),
        (
            "game: {id: kuhn_v0}\nagents: [{id: random, param: {}}, random]\n",
            "did you mean 'params'",
        ),
        (
            "game: {id: kuhn_v0}\nagents: [{id: random, params: {x: 1}}, b=random]\n",
            "cannot be made",
        ),
        ("game: [", "no valid YAML"),
        ("- 1\n", "must be a mapping"),
    ],
)
def test_a_bad_config_gets_one_line(
    content: str, message: str, tmp_path: Path, capsys: Any
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(content)
    out = tmp_path / "out"
    assert evaluate.main(["tournament", "--config", str(path), "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not out.exists()


def test_a_spec_refuses_impossible_numbers() -> None:
    with pytest.raises(OptionError, match="confidence"):
        replace(KUHN, confidence=1.5)
