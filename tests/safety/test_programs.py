"""Programs at the table that misbehave: each costs its own games, and nobody else's."""

from __future__ import annotations

import itertools
import os
import pickle
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.base import Actions, Agent, Views
from agents.processes import hosted
from agents.processes.external import ExternalAgent, LineProcess
from agents.processes.hosted import HostedAgent
from agents.processes.outside import NoAnswer, OutsideAgent
from arena.match import play_match
from envs import make_game
from tests.support.sampling import IS_FULL

pytestmark = pytest.mark.alone

KUHN = make_game("kuhn_v0")
NUM_GAMES = 8
PROGRAM = '''
import json, os, signal, subprocess, sys, time
how, seen = sys.argv[1], 0
out, err = sys.stdout.buffer, sys.stderr.buffer

TIME_PASSES = """
import os, time

def let_time_pass():  # see tests/support/held_clock.py
    name = f"{os.getpid()} {time.monotonic_ns()}"
    open(os.path.join(os.environ["MASQUERADE_TESTS_HANGING"], name), "w").close()
"""
exec(TIME_PASSES)

def forever(write):
    for _ in range(100):  # more than a pipe holds
        write()
    let_time_pass()
    while True:
        write()

def child(words):
    subprocess.Popen([sys.executable, "-c", TIME_PASSES + words])

def misbehave(number, rows):
    right = [row["legal"][-1] for row in rows]
    if how == "floods its errors":
        forever(lambda: err.write(b"noise " * 10_000))
    if how == "drips":
        forever(lambda: (out.write(b"x"), out.flush()))
    if how == "bytes":
        return b"\\xff\\xfe\\x00\\x80" * 100
    if how == "half":
        return json.dumps({"id": number, "actions": right}).encode()[:-3]
    if how == "deep":
        return b"[" * 100_000
    if how == "many digits":
        return b'{"id": %d, "actions": [%s]}' % (number, b"9" * 10_000)
    if how == "not finite":
        return b'{"id": %d, "actions": [Infinity]}' % number
    if how == "true":
        return b'{"id": %d, "actions": [true]}' % number
    if how == "surrogates":
        return b'{"id": %d, "actions": ["\\\\ud800"]}' % number
    if how == "twice the key":
        return b'{"id": %d, "actions": [0], "actions": [99]}' % number
    if how == "escapes":
        sys.exit("\\x1b[31mred\\x07 <script>")
    if how == "leaves a child that holds its pipes":
        orphaned = f"while os.getppid() == {os.getpid()}: time.sleep(0.01)\\n"
        child(orphaned + "let_time_pass(); time.sleep(600)")
        sys.exit(3)
    if how == "leaves a child that floods":
        words = "import sys\\nwhile True: sys.stderr.write('noise' * 9999)"
        subprocess.Popen([sys.executable, "-c", words], stdout=subprocess.DEVNULL)
        os._exit(3)
    if how == "closes its input":
        os.close(0)
        let_time_pass()
        time.sleep(600)
    if how == "is killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "stops itself":
        let_time_pass()
        os.kill(os.getpid(), signal.SIGSTOP)
    if how == "a thousand answers":
        return json.dumps({"id": number, "actions": right * 1000}).encode()
    return json.dumps({"id": number, "actions": right}).encode()

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = b'{"protocol": 1, "max_rows": 4}'
        if how == "answers before it is asked":
            answer += b"".join(b'\\n{"id": %d, "actions": [0]}' % i for i in range(2000))
    elif message["type"] == "act":
        answer = misbehave(message["id"], message["rows"])
    else:
        break
    out.write(answer + b"\\n")
    out.flush()
'''
MISBEHAVIOUR: dict[str, str] = {
    "floods its errors": "took longer than",
    "drips": "took longer than",
    "bytes": "answered no JSON",
    "half": "answered no JSON",
    "deep": "answered no JSON",
    "many digits": "answered no JSON",
    "not finite": "without a list of whole numbers",
    "true": "without a list of whole numbers",
    "surrogates": "without a list of whole numbers",
    "twice the key": "illegal action 99",
    "escapes": "exit code 1: ?[31mred? <script>",
    "leaves a child that holds its pipes": "exit code 3",
    "leaves a child that floods": "exit code 3",
    "closes its input": "took longer than",
    "is killed": "was ended by signal 9",
    "stops itself": "took longer than",
    "a thousand answers": "where 1 were asked for",
}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def player(program: Path, how: str) -> ExternalAgent:
    return ExternalAgent(KUHN, command=["python", str(program), how], time_per_move=0.3)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little patience."""
    monkeypatch.setattr(OutsideAgent, "max_failures_in_row", 1)


@pytest.mark.parametrize("how", MISBEHAVIOUR)
def test_a_program_loses_its_own_games_in_time(how: str, program: Path) -> None:
    honest = make_agent("kuhn_rule", KUHN)
    bad = player(program, how)
    result = play_match(KUHN, [honest, bad], NUM_GAMES, seed=1, has_forfeits=True)
    bad.end()
    assert {fault.seat for fault in result.faults} == {1}
    reasons = [fault.reason for fault in result.faults]
    assert any(MISBEHAVIOUR[how] in reason for reason in reasons), reasons
    assert all(len(reason) < 600 and reason.isprintable() for reason in reasons)
    lost = [fault.game for fault in result.faults]
    assert (result.returns[lost] == [2.0, -2.0]).all()


def test_who_answers_before_it_is_asked_knows_no_more(program: Path) -> None:
    """Its answers count if they are legal: it has thrown its moves away."""
    honest, early = make_agent("kuhn_rule", KUHN), player(program, "answers before it is asked")
    result = play_match(KUHN, [honest, early], NUM_GAMES, seed=1, has_forfeits=True)
    early.end()
    assert {fault.seat for fault in result.faults} <= {1}
    assert np.isfinite(result.returns).all()


def test_the_others_play_as_if_it_were_not_there(program: Path) -> None:
    """Whatever a program does at one table, the games of others are the same to the last bit."""
    agents = [make_agent("random", KUHN), make_agent("kuhn_rule", KUHN)]
    clean = play_match(KUHN, agents, NUM_GAMES, seed=3)
    for how in ("is killed", "bytes"):
        bad = player(program, how)
        play_match(KUHN, [agents[0], bad], NUM_GAMES, seed=3, has_forfeits=True)
        bad.end()
        again = play_match(KUHN, agents, NUM_GAMES, seed=3)
        assert (again.returns == clean.returns).all()


def test_talking_without_end_is_no_answer() -> None:
    words = "import sys\nwhile True: sys.stderr.write('x' * 1000)"
    times = itertools.count(step=0.1)
    process = LineProcess([sys.executable, "-c", words], lambda: next(times))
    with pytest.raises(TimeoutError):
        process.ask("hello", 3.0)
    process.end()


@pytest.mark.parametrize(("words", "answer"), [("print('late')", "late"), ("", "exit code 3")])
def test_what_it_did_counts_even_if_we_look_too_late(words: str, answer: str) -> None:
    """The limit is the program's: not how soon this machine comes to read what it wrote."""
    times = itertools.count(step=1000.0)
    program = f"{words}\nraise SystemExit(3)"
    process = LineProcess([sys.executable, "-c", program], lambda: next(times))
    process._process.wait()
    if words:
        assert process.ask("hello", 0.1) == answer
    else:
        with pytest.raises(NoAnswer, match=answer):
            process.ask("hello", 0.1)
    process.end()


def test_a_signal_is_called_one() -> None:
    process = LineProcess(
        [sys.executable, "-c", f"import os; os.kill(os.getpid(), {signal.SIGTERM})"]
    )
    with pytest.raises(NoAnswer, match="was ended by signal 15"):
        process.ask("hello", 60)
    process.end()


# ---- classes in a process of their own -----------------------------------------------------------


class Garbler(Agent):
    """Puts something else into the pipe to the arena than answers."""

    def __init__(self, game: Any, how: str = "") -> None:
        super().__init__(game)
        self.how = how

    def act(self, views: Views) -> Actions:
        if self.how == "closes":
            os.close(int(sys.argv[1]))
            signal.pause()
        message: Any = {
            "a number": 7,
            "nothing": (),
            "another kind": ("run", "rm"),
            "no numbers": ("answer", "x", "y"),
            "too few": ("answer", np.zeros(0, np.int64), views.rngs[:0]),
            "one part": ("answer",),
        }.get(self.how)
        packed = b"\x80garbage" if message is None else pickle.dumps(message)
        os.write(int(sys.argv[1]), len(packed).to_bytes(4, "big") + packed)
        return np.zeros(len(views), np.int64)


GARBLED = ["a number", "nothing", "another kind", "no numbers", "too few", "one part", "garbage"]


@pytest.mark.parametrize("how", GARBLED if IS_FULL else ["nothing", "too few", "garbage"])
def test_a_class_that_garbles_its_pipe_loses_its_own_games(how: str) -> None:
    bad = HostedAgent(KUHN, f"{__name__}:Garbler", {"how": how}, limit=5.0)
    result = play_match(KUHN, [make_agent("random", KUHN), bad], 2, has_forfeits=True)
    bad.end()
    assert {fault.seat for fault in result.faults} == {1}
    assert all("no answer" in fault.reason for fault in result.faults)


def test_a_class_that_closes_its_pipe_and_lives_on_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hosted, "SECONDS_TO_END", 0.0)
    bad = HostedAgent(KUHN, f"{__name__}:Garbler", {"how": "closes"}, limit=5.0)
    result = play_match(KUHN, [make_agent("random", KUHN), bad], 1, has_forfeits=True)
    bad.end()
    assert [fault.reason for fault in result.faults] == ["closed its connection"]
