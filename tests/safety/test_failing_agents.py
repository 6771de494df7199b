"""Whatever an agent raises costs its own games, in one short line; or one line says why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import evaluate
from agents.spec import AgentSpec
from common.errors import MasqueradeError
from envs import make_game

AGENTS = "tests.support.failing_agents"


def play(folder: Path, agent: str, *words: str) -> int:
    own = f"bad={AGENTS}:{agent}"
    command = ["match", "kuhn_v0", own, "random", "--games", "200", "--seed", "0"]
    return evaluate.main([*command, "--out", str(folder), *words])


@pytest.mark.parametrize(
    ("agent", "reason", "workers"),
    [
        ("Exits", "SystemExit: 3", "1"),
        ("Unspeakable", "whose text raises RuntimeError", "2"),
        ("Verbose", "ValueError: &lt;script&gt;", "1"),
    ],
)
def test_an_agent_that_fails_forfeits_and_nobody_else_suffers(
    tmp_path: Path, agent: str, reason: str, workers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(tmp_path / "match", agent, "--workers", workers) == 0
    summary = json.loads((tmp_path / "match" / "summary.json").read_text())
    standings = {each["name"]: each for each in summary["standings"]}
    assert standings["bad"]["faults"] == 200
    assert standings["random"]["faults"] == 0
    files = list((tmp_path / "match").rglob("*"))
    assert sum(file.stat().st_size for file in files if file.is_file()) < 4_000_000
    report = (tmp_path / "match" / "report.html").read_text()
    assert reason in report
    assert "<script>alert" not in report
    page = (tmp_path / "match" / "report.md").read_text()
    assert "<script>" not in page
    assert "\x1b" not in capsys.readouterr().out + page


def test_a_constructor_that_raises_gets_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(tmp_path / "match", "Unmade") == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.endswith("cannot be made: ZeroDivisionError: in its constructor")


@pytest.mark.parametrize(("agent", "said"), [("Secretive", "SystemExit"), ("Boastful", "add up")])
def test_a_policy_that_cannot_be_asked_is_no_distance(
    tmp_path: Path, agent: str, said: str
) -> None:
    assert play(tmp_path / "match", agent) == 0
    summary = json.loads((tmp_path / "match" / "summary.json").read_text())
    standings = {each["name"]: each for each in summary["standings"]}
    assert standings["bad"]["nash_conv"] is None
    assert said in standings["bad"]["policy"]
    assert standings["random"]["nash_conv"] is not None
    assert play(tmp_path / "corrected", agent, "--variance-reduction", "full") == 2


@pytest.mark.parametrize("text", ["a\nb", "a\x1b[31m", "\x00", "x" * 500, "a\u202eb"])
def test_names_that_would_spoil_a_table_are_refused(text: str) -> None:
    with pytest.raises(MasqueradeError, match=r"an agent's (name|id)"):
        AgentSpec.parse({"id": "random", "name": text})
    with pytest.raises(MasqueradeError):
        AgentSpec.parse(text).build(make_game("kuhn_v0"))
