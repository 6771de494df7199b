"""Players that are programs: the protocol, and every way in which a program can fail."""

from __future__ import annotations

import gc
import json
import os
import re
import select
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evaluate
from agents import make_agent
from agents.processes.external import ExternalAgent, LineProcess
from agents.processes.outside import OutsideAgent
from agents.spec import AgentSpec
from arena.match import play_match
from arena.spec import TournamentSpec
from arena.tournament import run_tournament
from common.errors import OptionError
from envs import make_game
from envs.core.game import Game
from tests.support.mid_game import ROWS, batch_in_mid_game, moves_of, swap_worlds
from tests.support.option_sets import every_option_set
from tests.support.sampling import IS_FULL
from tests.support.wire import lines_of

pytestmark = pytest.mark.alone

EXAMPLE = "examples/external_player.py"
LEDUC = make_game("leduc_v0")


def command(fault: str, one_in: int = 1, max_rows: int = 1) -> list[str]:
    return ["python", "tests/support/planted_player.py", fault, str(one_in), str(max_rows)]


def player(fault: str, one_in: int = 1, max_rows: int = 1, **params: Any) -> ExternalAgent:
    return ExternalAgent(LEDUC, command=command(fault, one_in, max_rows), **params)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# ---- the protocol --------------------------------------------------------------------------------


def test_a_program_is_told_the_game_and_then_row_by_row_what_its_seat_may_know(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = lines_of(monkeypatch)
    game = make_game("kuhn_v0")
    agent = ExternalAgent(game, path=EXAMPLE, time_per_move=3.0)
    play_match(game, [agent, make_agent("random", game)], 4, seed=1)
    hello, first, second = (json.loads(line) for line in lines[:3])
    assert hello == {
        "type": "hello",
        "protocol": 1,
        "game": "kuhn_v0",
        "options": {"num_players": 2},
        "num_players": 2,
        "num_actions": 2,
        "roles": ["player", "player"],
        "min_return": -2.0,
        "max_return": 2.0,
        "observation": [
            {"name": piece.name, "size": piece.size, "meaning": piece.meaning}
            for piece in game.fields
        ],
        "time_per_move": 3.0,
    }
    # The first row is asked alone, to see whether there is an answer.
    assert (first["type"], first["id"], len(first["rows"])) == ("act", 1, 1)
    assert (second["type"], second["id"], len(second["rows"])) == ("act", 2, 3)
    row = first["rows"][0]
    assert set(row) == {"seat", "legal", "key", "seed", "game", "observation"}
    assert (row["seat"], row["legal"]) == (0, [0, 1])
    assert len(row["observation"]) == game.observation_size
    assert 0 <= row["seed"] < 2**53


def test_the_documentation_shows_what_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path("docs/external_players.md").read_text()
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
    hello, hello_answer, question, answer = blocks
    lines = lines_of(monkeypatch)
    game = make_game("kuhn_v0")
    agent = ExternalAgent(game, path=EXAMPLE)
    play_match(game, [agent, make_agent("random", game)], 1)
    sent = [json.loads(line) for line in lines[:2]]
    assert {**sent[0], "observation": []} == {**hello, "observation": []}
    assert sent[0]["observation"][0] == hello["observation"][0]
    assert set(sent[1]) == set(question)
    assert {key: type(value) for key, value in sent[1]["rows"][0].items()} == {
        key: type(value) for key, value in question["rows"][0].items()
    }
    assert len(sent[1]["rows"][0]["observation"]) == len(question["rows"][0]["observation"])
    assert hello_answer["protocol"] == 1
    assert answer == {"id": question["id"], "actions": [1]}


def test_its_choices_come_from_the_seeds_of_the_rows_whatever_the_batches() -> None:
    honest = make_agent("random", LEDUC)
    results = {}
    for max_rows in (1, 7, 64):
        agent = player("none", max_rows=max_rows)
        assert agent.max_rows == max_rows
        for seed in (3, 4):
            match = play_match(LEDUC, [agent, honest], 60, seed=seed)
            results[max_rows, seed] = match.returns
        small = play_match(LEDUC, [agent, honest], 60, seed=3, batch_size=7)
        assert (small.returns == results[max_rows, 3]).all()
    assert (results[1, 3] == results[7, 3]).all()
    assert (results[1, 3] == results[64, 3]).all()
    assert (results[1, 3] != results[1, 4]).any()


def test_two_workers_with_a_program_each_give_the_table_of_one(tmp_path: Path) -> None:
    agents = "random", f"mine={'external'}:{EXAMPLE}"
    spec = TournamentSpec("kuhn_v0", tuple(AgentSpec.parse(a) for a in agents), deals=300, seed=0)
    one, two = (run_tournament(spec, tmp_path / str(n), n).to_dict() for n in (1, 2))
    assert one == two


def test_the_command_plays_a_program_and_names_no_folder_of_this_machine(
    tmp_path: Path,
) -> None:
    path, out = Path(EXAMPLE).absolute(), tmp_path / "out"
    arguments = ["match", "kuhn_v0", "random", f"external:{path}", "--games", "20"]
    assert evaluate.main([*arguments, "--out", str(out)]) == 0
    spec = json.loads((out / "summary.json").read_text())["spec"]
    name = f"external:{EXAMPLE}"
    assert spec["agents"][1] == {"id": "external", "params": {"path": EXAMPLE}, "name": name}
    for file in out.glob("*.*"):
        assert os.getcwd() not in file.read_text(), file.name


@every_option_set
def test_what_is_sent_is_the_same_in_every_world_the_player_cannot_tell_apart(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = lines_of(monkeypatch)
    batch, rows = batch_in_mid_game(game, moves_of(game)[-1], seed=11), np.arange(ROWS)
    wants = command("wants everything")
    ExternalAgent(game, command=wants).act(batch.views(rows))
    sent = lines.copy()
    lines.clear()
    assert swap_worlds(batch, seed=200) > 0
    ExternalAgent(game, command=wants).act(batch.views(rows))
    assert lines == sent
    rows = [row for line in sent[1:] for row in json.loads(line)["rows"]]
    assert len(rows) == ROWS
    assert set(rows[0]) >= {"observation", "tokens", "text", "words", "key"}


def test_long_lines_and_loud_programs_block_nobody() -> None:
    game = make_game("liars_dice_v0", num_players=6)
    agent = ExternalAgent(game, command=command("loud", max_rows=1024))
    batch = batch_in_mid_game(game, 0, seed=1)
    assert len(json.dumps(agent.prepare(batch.views(np.arange(ROWS))))) > 65536
    actions = agent.act(batch.views(np.arange(ROWS)))
    assert (batch.views(np.arange(ROWS)).masks[np.arange(ROWS), actions] == 1).all()


# ---- failing -------------------------------------------------------------------------------------

FAULTS = {
    "garbage": "answered no JSON: 'thinking...'",
    "exits": "ended with exit code 1: RuntimeError: out of cheese",
    "one short": "answered 0 actions where 1 were asked for",
    "another id": "answered with another id than the question's",
    "no actions": "answered without a list of whole numbers 'actions'",
    "halves": "answered without a list of whole numbers 'actions'",
    "illegal": "illegal action 99",
    "huge": "illegal action -1",
}


@pytest.mark.parametrize("fault", list(FAULTS)[:: 1 if IS_FULL else 2])
def test_a_failure_costs_the_program_that_game_and_no_other(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OutsideAgent, "max_failures_in_row", 99)
    honest = make_agent("random", LEDUC)
    clean = play_match(LEDUC, [honest, player("none")], 24, seed=1)
    # Also when other rows are asked together with the bad one.
    for max_rows in (1, 8):
        seats = [honest, player(fault, one_in=7, max_rows=max_rows)]
        result = play_match(LEDUC, seats, 24, seed=1, has_forfeits=True)
        lost = {f.game for f in result.faults}
        assert 0 < len(lost) < 12
        assert {(f.seat, f.reason) for f in result.faults} == {(1, FAULTS[fault])}
        assert (result.returns[sorted(lost)] == [13.0, -13.0]).all()
        same = [number for number in range(24) if number not in lost]
        assert (result.returns[same] == clean.returns[same]).all()


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("closes its output", "closed its output"),
        ("endless line", "wrote more than 4,000,000 bytes without a line's end"),
    ],
)
def test_a_program_that_makes_us_wait_is_given_up(fault: str, reason: str) -> None:
    result = play_match(LEDUC, [player(fault)] * 2, 1, has_forfeits=True)
    assert [f.reason for f in result.faults] == [reason]


def test_a_program_that_hangs_loses_that_game_and_is_started_again() -> None:
    honest = make_agent("random", LEDUC)
    clean = play_match(LEDUC, [honest, player("none")], 20, seed=1)
    slow = player("hangs", one_in=43, time_per_move=0.1)
    result = play_match(LEDUC, [honest, slow], 20, seed=1, has_forfeits=True)
    assert [(f.seat, f.reason) for f in result.faults] == [(1, "took longer than 0.1 s a move")]
    same = [number for number in range(20) if number != result.faults[0].game]
    assert (result.returns[same] == clean.returns[same]).all()


def test_one_that_answers_twice_is_out_of_step_and_is_found_out() -> None:
    twice = player("twice")
    result = play_match(LEDUC, [twice, twice], 4, seed=1, has_forfeits=True)
    assert {f.reason for f in result.faults} == {"answered with another id than the question's"}


@pytest.mark.parametrize(
    ("fault", "reason", "questions"),
    [
        ("hangs", "took longer than 0.05 s a move", [3, 1, 1, 0, 0]),
        ("no actions", FAULTS["no actions"], [3, 3, 3, 3, 3]),
    ],
)
def test_one_that_always_fails_is_not_asked_for_ever(
    fault: str, reason: str, questions: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = lines_of(monkeypatch)
    seconds = 0.05 if fault == "hangs" else None
    bad, honest = player(fault, time_per_move=seconds), make_agent("random", LEDUC)
    for num_asked in questions:
        lines.clear()
        result = play_match(LEDUC, [bad, honest], 30, has_forfeits=True)
        reasons = [f.reason for f in result.faults]
        assert len(result.faults) == 30
        assert reasons.count(reason) == num_asked
        later = f"not being asked again, having failed before: {reason}"
        assert reasons.count(later) == 30 - num_asked
        assert sum('"act"' in line for line in lines) == num_asked


def test_one_that_was_late_is_trusted_again_once_it_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bad, honest = player("hangs", time_per_move=0.05, max_rows=8), make_agent("random", LEDUC)
    for _ in range(2):
        play_match(LEDUC, [bad, honest], 30, has_forfeits=True)
    bad._command[-3] = "none"  # the program is repaired
    monkeypatch.setattr(bad, "limit", 20.0)
    lines = lines_of(monkeypatch)
    assert not play_match(LEDUC, [bad, honest], 30, has_forfeits=True).faults
    rows = [len(json.loads(line)["rows"]) for line in lines if '"act"' in line]
    assert rows[:4] == [1, 8, 8, 8]


def test_a_program_that_fails_now_and_then_is_not_asked_for_ever_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(OutsideAgent, "max_failures", 5)
    monkeypatch.setattr(OutsideAgent, "max_failures_in_row", 99)
    honest = make_agent("random", LEDUC)
    result = play_match(LEDUC, [honest, player("garbage", 5)], 200, has_forfeits=True)
    num_asked = sum(f.reason == FAULTS["garbage"] for f in result.faults)
    assert num_asked == 5 < len(result.faults) < 200


def test_without_forfeits_a_failure_stops_the_match() -> None:
    with pytest.raises(ValueError, match="1 of 1 rows failed, the first: answered no JSON"):
        play_match(LEDUC, [player("garbage")] * 2, 1)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"path": "examples/nowhere.py"}, "'examples/nowhere.py' cannot be found"),
        ({"path": "README.md"}, "'README.md' cannot be started: Permission denied"),
        ({"command": ["no-such-program"]}, "cannot be started: No such file"),
        ({}, "takes a path or a command"),
        ({"path": EXAMPLE, "command": ["python"]}, "takes a path or a command"),
        ({"command": "python x.py"}, "takes a path or a command"),
        ({"path": EXAMPLE, "time_per_move": 0.0}, "must be above 0 seconds, not 0"),
        ({"command": command("version 2")}, "speaks protocol 2: this arena speaks 1"),
        ({"command": command("wants the moon")}, "choose from observation, tokens, text"),
        ({"command": command("wants too many rows")}, "choose from 1 to 1024"),
        ({"command": command("hello is a list")}, r"answered no JSON object: '\[1\]'"),
        ({"command": command("garbled hello")}, "answered no JSON: 'Good morning!'"),
        ({"command": command("exits at hello")}, "exit code 1: no such model: brain.bin"),
    ],
)
def test_a_program_that_cannot_play_is_refused_in_one_line(
    params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        ExternalAgent(LEDUC, **params)
    assert "\n" not in str(caught.value)


def test_a_program_that_says_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OutsideAgent, "start_limit", 0.2)
    with pytest.raises(OptionError, match=r"did not answer hello within 0\.2 s"):
        player("hangs at hello")


# ---- leaving nothing behind ----------------------------------------------------------------------


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Ids of the programs that were started."""
    pids: list[int] = []
    init = LineProcess.__init__

    def init_and_note(process: LineProcess, *words: Any) -> None:
        init(process, *words)
        pids.append(process._process.pid)

    monkeypatch.setattr(LineProcess, "__init__", init_and_note)
    yield pids
    assert pids
    gc.collect()
    assert not any(is_alive(pid) for pid in pids)


@pytest.mark.parametrize("fault", ["none", "never leaves"])
def test_a_program_ends_with_its_agent(fault: str, started: list[int]) -> None:
    agent = player(fault)
    assert is_alive(started[0])
    del agent


def test_programs_that_failed_are_gone(started: list[int]) -> None:
    bad = player("exits", one_in=3)
    play_match(LEDUC, [bad, make_agent("random", LEDUC)], 30, has_forfeits=True)
    assert len(started) > 1
    assert sum(is_alive(pid) for pid in started) <= 1


def test_the_children_of_a_program_end_with_it(tmp_path: Path, started: list[int]) -> None:
    # The child holds one end of this pipe for as long as it lives.
    os.mkfifo(tmp_path / "pipe")
    pipe = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    words = [*command("has a child"), str(tmp_path / "pipe")]
    agent = ExternalAgent(LEDUC, command=words)
    with pytest.raises(BlockingIOError):
        os.read(pipe, 1)
    del agent
    assert select.select([pipe], [], [])[0]
    assert os.read(pipe, 1) == b""
    os.close(pipe)
