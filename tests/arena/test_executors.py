"""Executors: the same results anywhere, and no worker that dies or is stopped loses any."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing
from functools import partial
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest

import evaluate
from agents.spec import AgentSpec
from arena.schedule import whole_units
from arena.spec import TournamentSpec
from arena.tournament import run_tournament
from arena.workers import WorkerContext, WorkersDiedError, play_units, serve
from common.errors import MasqueradeError
from tests.support.tournaments import (
    DEADLY,
    PROJECT,
    alive,
    played,
    processes,
    tournament,
    units_of,
    wait_until,
)

pytestmark = pytest.mark.alone


def test_units_cover_every_deal_once_and_small_ones_come_first() -> None:
    spec = tournament(Path(), "Patient", deals=5500)
    units = [unit for unit in units_of(spec) if (unit.group, unit.seating) == (2, 1)]
    deals = [d for u in units for d in range(u.first_deal, u.first_deal + u.num_deals)]
    assert deals == list(range(5500))
    sizes = [unit.num_deals for unit in units]
    assert sizes[:-1] == sorted(sizes[:-1])
    ends = [unit.first_deal + unit.num_deals for unit in units[:-1]]
    assert all(whole_units(end) == end for end in ends)
    assert whole_units(5500) == 6000


def test_workers_give_the_results_of_one_process(tmp_path: Path) -> None:
    spec = tournament(tmp_path, "Patient")
    (tmp_path / "go").touch()
    here = played(spec)
    assert set(here) == set(units_of(spec))
    first = processes(tmp_path)
    assert len(first) == len([unit for unit in units_of(spec) if unit.group])  # a copy for each
    assert os.getpid() not in first
    assert played(spec, workers=2) == here
    assert processes(tmp_path) > first
    assert not alive(tmp_path)


def test_one_worker_is_this_process_if_all_code_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    agents = tuple(AgentSpec.parse(name) for name in ("random", "kuhn_rule"))
    assert len(played(TournamentSpec("kuhn_v0", agents, deals=10, seed=0))) == 2


def test_a_worker_that_dies_costs_nothing_but_time(tmp_path: Path) -> None:
    spec = tournament(tmp_path, "Mortal", deaths=2)
    with_deaths = played(spec, workers=2)
    dead = {int(path.name.split()[1]) for path in tmp_path.glob("death *")}
    assert len(dead) == 2
    assert dead < processes(tmp_path)
    assert not alive(tmp_path)
    # Whoever has to die is dead, so here it is a random player like the others.
    assert with_deaths == played(spec)


def test_a_unit_that_kills_every_worker_is_named_and_the_others_are_kept(tmp_path: Path) -> None:
    spec = tournament(tmp_path, "Mortal", deaths=99, has_signal=True)
    out = tmp_path / "out"
    with pytest.raises(WorkersDiedError) as caught:
        run_tournament(spec, out, workers=2)
    message = str(caught.value)
    assert message.startswith("3 workers died while they played ")
    assert "random against planted, deals 0 to 99 (killed by SIGKILL" in message
    assert "\n" not in message
    assert not alive(tmp_path)
    kept = {path.stem for path in (out / "units").glob("*.npz")}
    assert {unit.name for unit in units_of(spec)[:2]} <= kept


def test_an_agent_that_fails_before_the_first_game_is_named_in_one_line(tmp_path: Path) -> None:
    spec = tournament(tmp_path, "Unready")
    with pytest.raises(MasqueradeError, match=r"planted failed before .*RuntimeError: not ready"):
        played(spec, workers=2)


def test_an_agent_that_cannot_be_made_in_a_worker_is_one_line(tmp_path: Path) -> None:
    spec = tournament(tmp_path, "Absent")
    with pytest.raises(MasqueradeError, match="Absent' cannot be found") as e:
        played(spec, workers=2)
    assert "\n" not in str(e.value)


def test_who_stops_listening_stops_the_workers(tmp_path: Path) -> None:
    spec = tournament(tmp_path, "Patient")
    with closing(play_units(WorkerContext(spec), units_of(spec), workers=2)) as units:
        for unit in units_of(spec):
            if unit.group == 0:
                assert next(units)[0].group == 0  # without the one who waits
        wait_until(lambda: alive(tmp_path))  # it waits in the middle of a unit
    assert not alive(tmp_path)


def test_ctrl_c_is_heard_wherever_it_is_pressed(tmp_path: Path) -> None:
    spec = tournament(tmp_path, "Patient")

    class Fragile:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)  # an exception here would be lost

    # Shells let commands in the background ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with closing(play_units(WorkerContext(spec), units_of(spec), workers=2)) as units:
            next(units)
            Fragile()
            with pytest.raises(KeyboardInterrupt):
                list(units)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert not alive(tmp_path)


def test_a_worker_that_is_asked_to_leave_on_its_way_out_says_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asking, asked = Pipe()
    asking.close()
    before, really, late = signal.getsignal(signal.SIGTERM), signal.signal, [signal.SIGTERM]

    def with_a_late_signal(number: int, handler: Any) -> None:
        if handler is signal.SIG_IGN and late:
            signal.raise_signal(late.pop())
        really(number, handler)

    monkeypatch.setattr(signal, "signal", with_a_late_signal)
    try:
        serve(os.dup(asked.fileno()))
    except KeyboardInterrupt:
        pytest.fail("the worker ends with a traceback")
    finally:
        really(signal.SIGTERM, before)
    assert not late


def test_ctrl_c_leaves_no_worker_and_keeps_what_was_played(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    out = tmp_path / "out"
    config.write_text(
        "game: {id: kuhn_v0}\ndeals: 50\nagents:\n- random\n- {id: random, name: other}\n"
        f"- {{id: '{DEADLY}:Patient', name: p, params: {{folder: '{tmp_path}'}}}}\n"
    )
    command = ["tournament", "--config", str(config), "--workers", "2", "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "evaluate.py", *command],
        cwd=PROJECT,
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    units = out / "units"
    wait_until(lambda: len(alive(tmp_path)) == 2 and len(list(units.glob("group*.npz"))) == 2)
    wait_until(lambda: len(list(tmp_path.glob("waiting *"))) == 2)  # both have imported all
    os.killpg(process.pid, signal.SIGINT)  # a terminal tells the whole group
    _, said = process.communicate()
    assert process.returncode == 130
    *progress, last = said.splitlines()
    assert last == "stopped; go on with the same command and --resume"
    assert not [line for line in progress if line and " of 300 games" not in line]
    assert not alive(tmp_path)
    assert len(list(units.glob("group*.npz"))) == 2
    (tmp_path / "go").touch()
    assert evaluate.main([*command, "--resume"]) == 0
    assert len(list(units.glob("group*.npz"))) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--executor", "rey"], "unknown executor 'rey': did you mean 'ray'"),
        (["--ray-address", "auto"], "with --executor ray only"),
        (["--executor", "ray", "--workers", "0"], "--workers: must be from 1 to"),
        (["--executor", "ray", "--ray-address", "127.0.0.1:1"], "a Ray cluster at '127.0.0.1:1'"),
    ],
)
def test_a_bad_executor_gets_one_line_and_writes_nothing(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    match = ["match", "kuhn_v0", "random", "b=random", "--out", str(out)]
    assert evaluate.main([*match, *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not out.exists()


def test_without_ray_the_line_says_how_to_install_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # what is None cannot be imported
    out = tmp_path / "out"
    match = ["match", "kuhn_v0", "random", "b=random", "--executor", "ray", "--out", str(out)]
    assert evaluate.main(match) == 2
    error = capsys.readouterr().err
    assert error == (
        "evaluate.py: Ray is not installed: pip install -c constraints.txt -e '.[ray]'\n"
    )
    assert not out.exists()
