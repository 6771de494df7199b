"""Time budgets: who hangs loses that game, whatever it hangs in, and everybody else goes on."""

from __future__ import annotations

import gc
import itertools
import os
import pickle
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evaluate
from agents import make_agent
from agents.learning.device import resolve_device
from agents.processes import hosted
from agents.processes.hosted import HostedAgent
from agents.processes.outside import NoAnswer, OutsideAgent
from arena import play_match
from arena.report.tables import to_text
from arena.running.tournament import run_tournament
from arena.schedules.spec import AgentSpec, TournamentSpec
from envs import make_game
from envs.core import Game, MasqueradeError, OptionError
from tests.support.held_clock import FOLDER
from tests.support.mid_game import ROWS, batch_in_mid_game, moves_of, swap_worlds
from tests.support.option_sets import every_option_set

pytestmark = pytest.mark.alone

HANGING = "tests.support.hanging_agents:Hanging"
TIMED = "tests.support.hanging_agents:Timed"
KUHN = make_game("kuhn_v0")
LEDUC = make_game("leduc_v0")


def host(game: Game, agent_id: str, limit: float = 20.0, **params: Any) -> HostedAgent:
    return HostedAgent(game, agent_id, params, limit)


# ---- an agent in a process of its own ------------------------------------------------------------


@pytest.mark.parametrize("agent_id", ["random", "liars_dice_rule"])
def test_a_hosted_agent_plays_the_games_it_plays_at_home(agent_id: str) -> None:
    game = make_game("liars_dice_v0", dice=2)
    home = make_agent(agent_id, game)
    away = host(game, agent_id)
    expected = play_match(game, [home, make_agent("random", game)], 60, seed=3)
    found = play_match(game, [away, make_agent("random", game)], 60, seed=3)
    assert (found.returns == expected.returns).all()
    assert (found.lengths == expected.lengths).all()


@every_option_set
def test_what_is_sent_gives_the_same_views_and_holds_nothing_hidden(game: Game) -> None:
    batch, rows = batch_in_mid_game(game, moves_of(game)[-1], seed=11), np.arange(ROWS)
    true_views = batch.views(rows)
    sent = pickle.dumps(true_views.part(rows))
    views = pickle.loads(sent)
    assert (views.rngs == true_views.rngs).all()
    assert (views.masks == true_views.masks).all()
    assert (views.observations == true_views.observations).all()
    assert (views.worlds() == true_views.worlds()).all()
    twin = batch_in_mid_game(game, moves_of(game)[-1], seed=11)
    assert swap_worlds(twin, seed=200) > 0
    assert pickle.dumps(twin.views(rows).part(rows)) == sent


def test_what_was_seen_earlier_is_sent_to_those_who_ask() -> None:
    agent_id = "tests.support.hanging_agents:Rememberer"
    home, away = make_agent(agent_id, LEDUC), host(LEDUC, agent_id)
    assert away.wants_tokens
    seats = [make_agent("random", LEDUC)]
    expected = play_match(LEDUC, [*seats, home], 30, seed=2)
    assert (play_match(LEDUC, [*seats, away], 30, seed=2).returns == expected.returns).all()
    away.wants_tokens = False  # then the match records nothing
    result = play_match(LEDUC, [*seats, away], 3, seed=2, has_forfeits=True)
    assert "ValueError: tokens were not recorded" in result.faults[0].reason


def test_an_error_of_a_hosted_agent_is_its_own_and_does_not_end_it() -> None:
    agent = host(KUHN, "tests.support.planted_agents:Broken")
    processes = set()
    for _ in range(2):
        result = play_match(KUHN, [agent, make_agent("random", KUHN)], 40, has_forfeits=True)
        assert {f.reason for f in result.faults} == {"RuntimeError: always"}
        assert len(result.faults) == 40
        processes.add(agent._process.pid)
    assert len(processes) == 1


@pytest.mark.parametrize(
    ("agent_id", "params", "error", "message"),
    [
        (HANGING, {"volume": 11}, TypeError, "volume"),
        ("leduc_rule", {}, MasqueradeError, "plays leduc_v0, not kuhn_v0"),
        ("tests.nowhere:Agent", {}, MasqueradeError, "cannot be found"),
        (HANGING, {"kind": 3, "one_in": 1, "path": "x"}, MasqueradeError, "takes no path"),
    ],
)
def test_an_agent_that_cannot_be_made_is_refused_as_at_home(
    agent_id: str, params: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        host(KUHN, agent_id, **params)


# ---- hanging -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["loop", "sleep", "swallows everything", "compiled loop", "dies"])
def test_whatever_it_hangs_in_it_is_ended(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OutsideAgent, "max_failures_in_row", 1)
    monkeypatch.setattr(hosted, "MAX_ROWS", 1)
    agent = host(KUHN, HANGING, 0.1, kind=kind)
    result = play_match(KUHN, [agent, make_agent("random", KUHN)], 20, has_forfeits=True)
    reason = "ended with exit code 3" if kind == "dies" else "took longer than 0.1 s a move"
    assert result.faults[0].reason == reason
    rest = {f.reason for f in result.faults[1:]}
    assert rest == {f"not being asked again, having failed before: {reason}"}
    assert (result.returns == [-2.0, 2.0]).all()
    assert agent._process.returncode is not None


@pytest.mark.parametrize("has_child", [False, True])
def test_who_died_before_we_looked_has_died_whatever_the_clock_says(
    has_child: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even if a child of it holds its pipe, so that the pipe does not end."""
    agent = host(KUHN, "random")
    agent._begin()
    agent._process.kill()
    agent._process.wait()
    if has_child:
        monkeypatch.setattr(agent._connection, "poll", lambda _: False, raising=False)
    times = itertools.count(step=1000.0)
    monkeypatch.setattr(OutsideAgent, "clock", staticmethod(lambda: next(times)))
    with pytest.raises(NoAnswer, match="ended with exit code -9"):
        agent._receive(0.1)
    agent.end()


def test_one_hanging_game_costs_that_game_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosted, "MAX_ROWS", 2)  # the row beside it is asked again
    honest = make_agent("random", LEDUC)
    clean = play_match(LEDUC, [honest, honest], 20, seed=1)
    agent = host(LEDUC, HANGING, 0.1, kind="loop", one_in=19)
    result = play_match(LEDUC, [honest, agent], 20, seed=1, has_forfeits=True)
    assert [(f.seat, f.reason) for f in result.faults] == [(1, "took longer than 0.1 s a move")]
    same = [number for number in range(20) if number != result.faults[0].game]
    assert (result.returns[same] == clean.returns[same]).all()


def test_no_process_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    agent, honest = host(KUHN, "random"), make_agent("random", KUHN)
    play_match(KUHN, [agent, honest], 4)
    pid = agent._process.pid
    os.kill(pid, 0)
    del agent
    gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    monkeypatch.setattr(OutsideAgent, "start_limit", 0.1)
    monkeypatch.setattr(OutsideAgent, "max_failures_in_row", 1)
    agent = host(KUHN, HANGING, kind="when it is made", home=os.getpid())
    result = play_match(KUHN, [agent, honest], 4, has_forfeits=True)
    assert result.faults[0].reason == "was not ready within 0.1 s"
    assert agent._process.returncode is not None


@pytest.mark.parametrize("kind", ["loop", "sleep", "swallows everything"])
def test_who_hangs_ends_with_a_program_that_is_killed(kind: str, tmp_path: Path) -> None:
    program = (
        "from tests.agents.test_time_limits import *\n"
        f"agent = host(KUHN, HANGING, 1e9, kind={kind!r})\n"
        "play_match(KUHN, [agent, make_agent('random', KUHN)], 1)"
    )
    asking = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, FOLDER: str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
    )
    while not os.listdir(tmp_path):
        time.sleep(0.05)
    asking.kill()
    asking.communicate()  # whoever hangs has its output, too: it ends when both have ended


# ---- in tournaments ------------------------------------------------------------------------------


def test_a_hanging_agent_loses_its_games_and_the_tournament_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosted, "MAX_ROWS", 1)
    monkeypatch.setattr(OutsideAgent, "max_failures_in_row", 1)
    names = AgentSpec("random", name="a"), AgentSpec("random", name="b")
    good = TournamentSpec("kuhn_v0", names, deals=100, seed=0)
    bad = AgentSpec(HANGING, {"kind": "loop"}, "bad", time_per_move=0.05)
    mixed = TournamentSpec("kuhn_v0", (*names, bad), deals=100, seed=0)
    before = run_tournament(good, tmp_path / "good")
    after = run_tournament(mixed, tmp_path / "mixed")
    assert after.comparisons[0].lead.mean == before.comparisons[0].lead.mean
    standing = next(s for s in after.standings if s.name == "bad")
    assert standing.faults == 400
    text = to_text(after)
    # Late in three units in a row, it is not asked in the fourth.
    assert "bad lost 3 games: took longer than 0.05 s a move" in text
    assert "bad lost 397 games: not being asked again, having failed before: took" in text


def test_agents_that_think_by_the_clock_get_the_time_and_are_marked() -> None:
    timed = AgentSpec(TIMED, name="t", time_per_move=20.0, device="cpu").build(KUHN)
    assert isinstance(timed, HostedAgent)
    assert timed._what[2]["time_per_move"] == 20.0
    assert not timed.is_reproducible
    assert timed.name == "t"
    params = {"time_per_move": 3.0, "device": "cpu"}
    assert not AgentSpec(TIMED, params).build(KUHN).is_reproducible
    assert AgentSpec(TIMED, device="cpu").build(KUHN).is_reproducible
    assert AgentSpec("random", time_per_move=20.0).build(KUHN).is_reproducible


def test_the_command_gives_every_agent_a_time_unless_it_has_one(
    tmp_path: Path, capsys: Any
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "game: {id: kuhn_v0}\n"
        "time_per_move: 20\n"
        "agents:\n"
        "  - random\n"
        f"  - {{id: '{TIMED}', name: timed, time_per_move: 30}}\n"
    )
    arguments = ["tournament", "--config", str(config), "--games", "20", "--time-per-move", "9"]
    assert evaluate.main([*arguments, "--out", str(tmp_path / "out")]) == 0
    assert "because of timed" in capsys.readouterr().out
    text = (tmp_path / "out" / "tournament.json").read_text()
    assert '"time_per_move": 20' in text
    assert '"time_per_move": 30' in text


# ---- devices -------------------------------------------------------------------------------------


def fake_torch(has_card: bool) -> Any:
    torch: Any = types.ModuleType("torch")
    torch.cuda = types.SimpleNamespace(is_available=lambda: has_card)
    torch.zeros = lambda *_, **__: None
    return torch


@pytest.mark.parametrize(("has_card", "auto"), [(True, "cuda"), (False, "cpu"), (None, "cpu")])
def test_auto_takes_a_card_if_there_is_one(
    has_card: bool | None, auto: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = None if has_card is None else fake_torch(has_card)
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert resolve_device("auto") == auto
    assert resolve_device("cpu") == "cpu"
    agent: Any = AgentSpec(TIMED).build(KUHN)
    assert agent.device == auto
    if has_card:
        assert resolve_device("cuda") == "cuda"
    else:
        with pytest.raises(OptionError, match="use auto or cpu"):
            AgentSpec(TIMED, device="cuda").build(KUHN)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--device", "gpu"], "unknown device 'gpu': did you mean 'cpu'? (known: auto, cpu, cuda)"),
        (["--time-per-move", "0"], "time_per_move must be seconds above 0, not 0.0"),
    ],
)
def test_bad_limits_get_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: Any
) -> None:
    out = tmp_path / "out"
    call = ["match", "kuhn_v0", "random", "kuhn_rule", "--out", str(out), *arguments]
    assert evaluate.main(call) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not out.exists()
