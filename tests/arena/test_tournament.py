"""Tournaments: planted truths, any number of workers, taken up again, one bad agent among good."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import evaluate
from agents import AGENTS
from agents.spec import AgentSpec
from arena.folder import UnitStore
from arena.report.tables import to_text
from arena.schedule import WorkUnit
from arena.spec import TournamentSpec, read_config
from arena.stopping import SequentialStop
from arena.summary import Summary
from arena.tournament import run_tournament
from common.errors import MasqueradeError, OptionError
from envs.core.facts import Unit
from tests.support.sampling import sample
from training.config import RunConfig, read_yaml
from training.missing import source_of

KUHN = TournamentSpec(
    "kuhn_v0",
    tuple(AgentSpec.parse(agent) for agent in ("random", "kuhn_rule", "other=random")),
    deals=1200,
    seed=0,
)


def planted(passes: float) -> AgentSpec:
    params = {"passes": passes}
    return AgentSpec("tests.support.planted_agents:Folder", params, f"passes {passes}")


@pytest.fixture
def of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted agents under ids: whoever is of ours is not started anew for every seating."""
    for agent_id, name in (("folder", "Folder"), ("blunderer", "Blunderer")):
        monkeypatch.setitem(AGENTS, agent_id, f"tests.support.planted_agents:{name}")


def play(spec: TournamentSpec, folder: Path, **arguments: Any) -> dict[str, Any]:
    return run_tournament(spec, folder, **arguments).to_dict()


def test_two_workers_give_the_table_of_one(tmp_path: Path) -> None:
    assert play(KUHN, tmp_path / "one") == play(KUHN, tmp_path / "two", workers=2)


def kill_after(num_units: int, spec: TournamentSpec, folder: Path, **arguments: Any) -> None:
    """Play, and stop as by Ctrl-C when so many units are kept."""
    played: list[WorkUnit] = []
    save = UnitStore.save

    def save_some(store: UnitStore, unit: WorkUnit, result: Any) -> None:
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
    other = replace(spec, unit=Unit("bb/100", 50.0), confidence=0.9)
    assert play(other, tmp_path, has_resume=True) == play(other, tmp_path / "anew")
    noted = json.loads((tmp_path / "tournament.json").read_text())["spec"]
    assert noted["unit"] == {"name": "bb/100", "scale": 50.0}


@pytest.mark.usefixtures("of_ours")
def test_a_planted_ladder_is_recovered(tmp_path: Path) -> None:
    levels = (0.0, 0.25, 0.5, 1.0)
    agents = tuple(replace(planted(p), id="folder") for p in levels)
    spec = TournamentSpec("kuhn_v0", agents, deals=3000, seed=0)
    # Many intervals are to hold at once.
    spec = replace(spec, confidence=0.999)
    summary = run_tournament(spec, tmp_path)
    for comparison in summary.comparisons:
        p, q = (float(name.split()[1]) for name in (comparison.first, comparison.second))
        assert not comparison.lead.excludes(_kuhn_lead(p, q)), comparison
    for standing in summary.standings:
        p = float(standing.name.split()[1])
        truth = sum(_kuhn_lead(p, q) for q in levels if q != p) / 3
        assert not standing.mean_return.excludes(truth), standing
    assert [standing.name.split()[1] for standing in summary.standings] == [str(p) for p in levels]
    assert summary.metagame.cycles == ()
    assert summary.metagame.nash[0] == pytest.approx(1)


def _kuhn_lead(p: float, q: float) -> float:
    """Exact value of passing with probability p against q, averaged over both seats.

    Cards do not matter to either, so a showdown is worth nothing on average and only folds pay.
    """

    def first_seat(mine: float, theirs: float) -> float:
        bet_and_fold = (1 - mine) * theirs
        passed_and_bet = mine * (1 - theirs)
        return bet_and_fold - passed_and_bet * mine

    return (first_seat(p, q) - first_seat(q, p)) / 2


@pytest.mark.usefixtures("of_ours")
def test_who_is_right_more_often_stands_higher(tmp_path: Path) -> None:
    rights = (0.0, 0.6, 0.85, 1.0)
    agents = [AgentSpec("blunderer", {"right": right}, str(right)) for right in rights]
    spec = TournamentSpec("liars_dice_v0", tuple(agents), {"dice": 1}, deals=1000, seed=0)
    summary = run_tournament(spec, tmp_path)
    order = [str(right) for right in rights[::-1]]
    assert [standing.name for standing in summary.standings] == order
    for better, worse in pairwise(summary.standings):
        assert better.elo.low > worse.elo.high
        assert better.win_rate.low > worse.win_rate.high
    assert summary.metagame.cycles == ()
    assert summary.metagame.nash[3] == pytest.approx(1)


def test_one_bad_agent_does_not_spoil_the_rest(tmp_path: Path) -> None:
    bad = AgentSpec("tests.support.planted_agents:Broken", name="bad")
    good = run_tournament(KUHN, tmp_path / "good")
    mixed = run_tournament(replace(KUHN, agents=(*KUHN.agents, bad)), tmp_path / "mixed")
    before = {(c.first, c.second): c for c in good.comparisons}
    after = {(c.first, c.second): c for c in mixed.comparisons}
    assert all(after[pair] == comparison for pair, comparison in before.items())
    assert mixed.standings[-1].name == "bad"
    assert mixed.standings[-1].faults == mixed.standings[-1].seats
    assert any("bad lost 7,200 games: RuntimeError: always" in line for line in mixed.faults)


UNTIL = replace(KUHN, deals=300)


def worst_half_width(summary: Summary) -> float:
    return max(comparison.lead.half_width for comparison in summary.comparisons)


def test_playing_on_until_the_wanted_precision(tmp_path: Path) -> None:
    summary = run_tournament(UNTIL, tmp_path, until=0.06)
    stopping = summary.stopping
    assert stopping is not None
    assert stopping.is_reached
    assert stopping.reached == pytest.approx(worst_half_width(summary))
    assert stopping.reached <= 0.06
    assert stopping.looks[:2] == (500, 1000)
    assert summary.spec.deals == stopping.looks[-1] > 300
    assert all(group.games == 2 * summary.spec.deals for group in summary.groups)
    # One look less would have been too early, so the end is no matter of luck or of workers.
    before = replace(UNTIL, deals=stopping.looks[-2])
    earlier = run_tournament(before, tmp_path, has_resume=True)
    assert earlier.stopping is None
    assert 0.03 < worst_half_width(earlier) < 0.06  # at a fixed number of deals


def test_two_workers_and_a_kill_come_to_the_same_end(tmp_path: Path) -> None:
    whole = play(UNTIL, tmp_path / "whole", until=0.06)
    assert play(UNTIL, tmp_path / "two", until=0.06, workers=2) == whole
    kill_after(8, UNTIL, tmp_path / "cut", until=0.06)
    assert play(UNTIL, tmp_path / "cut", until=0.06, has_resume=True) == whole


def test_playing_far_ahead_changes_nothing(tmp_path: Path) -> None:
    whole = play(UNTIL, tmp_path / "whole", until=0.06)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SequentialStop, "next_look", lambda *_: 12_000)
        assert play(UNTIL, tmp_path / "ahead", until=0.06) == whole
    assert whole["spec"]["deals"] < 12_000


def test_a_precision_out_of_reach_ends_at_the_limit(tmp_path: Path) -> None:
    spec = replace(KUHN, deals=20, agents=KUHN.agents[:2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arena.tournament.MAX_GROWTH", 4)
        summary = run_tournament(spec, tmp_path / "o", until=1e-9)
    assert summary.stopping is not None
    assert not summary.stopping.is_reached
    assert summary.spec.deals == 500
    assert "the limit of deals came first" in to_text(summary)
    with pytest.raises(MasqueradeError, match="above 0"):
        run_tournament(spec, tmp_path / "refused", until=0.0)
    assert not (tmp_path / "refused").exists()


def test_three_players_are_compared_in_duels(tmp_path: Path) -> None:
    agents = (AgentSpec.parse("random"), AgentSpec.parse("kuhn_rule"))
    spec = TournamentSpec("kuhn_v0", agents, {"num_players": 3}, deals=400)
    summary = run_tournament(spec, tmp_path)
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
    assert "| kuhn_rule |" in (out / "report.md").read_text()
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
            trained, played = run.build_game(), spec.build_game()
            assert (run.agent.id, trained.id) == (agent.id, played.id)
            assert trained.options.structural() == played.options.structural()
    agents = list({agent.id: agent for agent in spec.agents if "path" not in agent.params}.values())
    for agent in agents:
        agent.build(spec.build_game())
    players = [agent.to_dict() for agent in sample(agents, lambda _: None, per_kind=3)]
    content = {**read_yaml(config), "agents": players}
    short = tmp_path / "short.yaml"
    short.write_text(json.dumps(content), encoding="utf-8")  # which is YAML, too
    arguments = ["tournament", "--config", str(short), "--games", "2", "--out", str(tmp_path / "o")]
    assert evaluate.main(arguments) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tournament"], "name a game and at least two agents"),
        (["tournament", "kuhn_v1", "random", "b=random"], "did you mean 'kuhn_v0'"),
        (["tournament", "kuhn_v0", "random", "randon"], "did you mean 'random'"),
        (["tournament", "kuhn_v0", "random", "random"], "two agents are called ['random']"),
        (["match", "kuhn_v0", "random", "leduc_rule"], "kuhn_v0"),
        (["match", "kuhn_v0", "random", "no.such:Agent"], "cannot be found"),
        (
            ["match", "kuhn_v0", "random", "b=random", "--games", "0"],
            "--games: must be from 1 to",
        ),
        (
            ["match", "kuhn_v0", "random", "b=random", "--workers", "0"],
            "--workers: must be from 1 to",
        ),
        (
            ["match", "kuhn_v0", "random", "b=random", "--schedule", "x"],
            "known: auto, balanced",
        ),
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
        (GAME + "agents: [random, kuhn_rule]\nunit: chips\n", "a name and a scale, such as"),
        (GAME + "agents: [random, kuhn_rule]\ntables: 0\n", "tables must be a whole number from 1"),
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


# ---- the root seed -------------------------------------------------------------------------------


def test_a_tournament_with_somebody_from_outside_draws_its_seed(tmp_path: Path) -> None:
    spec = TournamentSpec("kuhn_v0", (AgentSpec.parse("random"), planted(0.5)), deals=30)
    seeds = set()
    for name in ("one", "two"):
        summary = run_tournament(spec, tmp_path / name)
        assert summary.spec.seed is not None
        seeds.add(summary.spec.seed)
        assert int((tmp_path / name / "seed").read_text()) == summary.spec.seed
    # What was drawn can be given: then the same games are played.
    again = run_tournament(replace(spec, seed=summary.spec.seed), tmp_path / "again")
    assert again.to_dict() == summary.to_dict()
    assert len(seeds) == 2
    assert all(seed > 2**32 for seed in seeds)


@pytest.mark.parametrize(
    ("agent", "is_outside"),
    [
        ("kuhn_rule", False),
        ({"id": "kuhn_rule", "time_per_move": 5.0}, True),
        ("external:examples/external_player.py", True),
        ("tests.support.planted_agents:Folder", True),
        ("openspiel:examples.openspiel_bots:cfr", True),
        ({"id": "q_learning", "params": {"opponent_model": {"id": "my.module:Model"}}}, True),
    ],
)
def test_who_counts_as_somebody_from_outside(agent: Any, is_outside: bool) -> None:
    spec = TournamentSpec("kuhn_v0", (AgentSpec.parse("random"), AgentSpec.parse(agent)))
    assert spec.has_outsiders == is_outside
    assert (spec.with_seed().seed == 0) == (not is_outside)
    assert replace(spec, seed=7).with_seed().seed == 7


def test_a_drawn_seed_chooses_the_tables_of_all_workers(tmp_path: Path) -> None:
    agents = [AgentSpec.parse(f"{name}=random") for name in "abcd"]
    spec = TournamentSpec("kuhn_v0", (*agents, planted(0.5)), {"num_players": 3}, deals=20)
    spec = replace(spec, schedule="balanced", tables=5)
    summary = run_tournament(spec, tmp_path / "drawn", workers=2)
    assert len(summary.groups) == 5
    again = replace(spec, seed=summary.spec.seed)
    assert play(again, tmp_path / "given") == summary.to_dict()


def test_a_drawn_seed_is_used_again_and_hidden_while_games_run(tmp_path: Path) -> None:
    spec = TournamentSpec("kuhn_v0", (AgentSpec.parse("random"), planted(0.5)), deals=300)
    kill_after(1, spec, tmp_path)
    seed = (tmp_path / "seed").read_text().strip()
    assert stat.S_IMODE((tmp_path / "seed").stat().st_mode) == 0o600
    # No other file has it before the end, nor has any name.
    for path in tmp_path.rglob("*"):
        assert seed not in path.name
        if path.is_file() and path.name != "seed":
            assert seed.encode() not in path.read_bytes()
    summary = run_tournament(spec, tmp_path, has_resume=True)
    assert str(summary.spec.seed) == seed
    assert play(replace(spec, seed=int(seed)), tmp_path / "whole") == summary.to_dict()
    (tmp_path / "seed").unlink()
    with pytest.raises(MasqueradeError, match="resumed with the seed in it"):
        run_tournament(spec, tmp_path, has_resume=True)


def test_the_seed_that_was_drawn_is_printed_and_in_no_folder_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["match", "kuhn_v0", "random", "b=tests.support.planted_agents:Raiser"]
    assert evaluate.main([*arguments, "--games", "20"]) == 0
    (folder,) = (tmp_path / "runs" / "tournaments").iterdir()
    assert folder.name == "kuhn_v0-match-random_vs_b-drawn"
    printed = capsys.readouterr().out
    seed = (folder / "seed").read_text().strip()
    assert f"seed {seed} was drawn" in printed
    assert f"--seed {seed}" in (folder / "report.md").read_text()


def test_no_worker_is_started_with_the_seed(tmp_path: Path) -> None:
    """Neither its command line nor its environment has it."""
    spec = TournamentSpec("kuhn_v0", (AgentSpec.parse("random"), planted(0.5)), deals=300)
    started = []
    popen = subprocess.Popen

    def note(command: Any, **options: Any) -> Any:
        started.append(json.dumps([command, {**os.environ, **options.get("env", {})}]))
        return popen(command, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arena.workers.subprocess.Popen", note)
        summary = run_tournament(spec, tmp_path, workers=2)
    assert started
    assert not any(str(summary.spec.seed) in text for text in started)


def test_a_folder_of_shared_deals_goes_on_with_these_or_not_at_all(tmp_path: Path) -> None:
    spec = replace(KUHN, deals=20, shared_deals=True)
    before = play(spec, tmp_path)
    with pytest.raises(MasqueradeError, match=r"another tournament \(shared_deals differ\)"):
        play(replace(spec, shared_deals=False), tmp_path, has_resume=True)
    assert play(spec, tmp_path, has_resume=True) == before
    assert {standing["deals"] for standing in before["standings"]} == {20}
    own = play(replace(spec, shared_deals=False), tmp_path / "own")
    assert {standing["deals"] for standing in own["standings"]} == {40}


def test_shared_deals_are_true_or_false() -> None:
    with pytest.raises(OptionError, match="shared_deals must be true or false, not 'no'"):
        replace(KUHN, shared_deals="no")  # type: ignore[arg-type]
