"""Every command with a disk that takes nothing: one line, exit code 2, and nothing lost.

The commands come from the project itself: each module that can be started, and each word that its
parser knows. A new one must be entered below, with what it writes.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

import evaluate
import train
from agents.spec import AgentSpec
from arena.report import leaderboard
from arena.spec import TournamentSpec
from arena.tournament import run_tournament
from benchmarks.harness import main as measure
from benchmarks.report import Job
from envs import describe
from envs.pursuit import boards
from experiments import runner
from experiments.holdem import population, selection
from experiments.no_thanks import makers
from masquerade import commands as arena_commands
from play import command_line
from tests.support.parsers import name_of, parser_of, sources
from tests.support.sampling import sample
from tests.support.small_files import POPULATION, RUN, SELECTION
from training import demo

Main = Callable[[list[str]], int]
Command = tuple[Main, list[str]]

FILES = {
    "run.yaml": RUN,
    "population.yaml": POPULATION,
    "selection.yaml": SELECTION,
    "tournament.yaml": {"game": {"id": "kuhn_v0"}, "agents": ["random", "kuhn_rule"], "deals": 2},
}
FEW_GAMES = ["--learner", "run.yaml", "--steps", "9", "--games", "20", "--choosing-games", "20"]
OUT = ["--force", "--out", "out.md"]  # over the older file, whoever wrote it
NEW = ["--out", "out"]
PAIR = ["kuhn_v0", "random", "kuhn_rule", "--games", "4"]
JOB = Job("a", "b", lambda: lambda: 1.0, lambda: lambda: 1.0, "c", "s")
SERVER = ["--no-open", "--port", "0", "--folder", "tables"]


def tiny(_settings: runner.Settings) -> list[runner.Row]:
    return [runner.Row("one", 1.0)]


TINY = {"A": tiny}
WRITES: dict[str, Command] = {
    "train": (train.main, ["--config", "run.yaml", "--quiet", *NEW]),
    "play": (command_line.main, SERVER),
    "evaluate tournament": (evaluate.main, ["tournament", *PAIR, *NEW]),
    "evaluate match": (evaluate.main, ["match", *PAIR, *NEW]),
    "evaluate report": (evaluate.main, ["report", "played", "--force", "--out", "out.html"]),
    "evaluate export": (evaluate.main, ["export", "hands", "--force", "--out", "out.phhs"]),
    "evaluate leaderboard": (evaluate.main, ["leaderboard", "tournament", "--games", "4"]),
    "evaluate exploitability": (evaluate.main, ["exploitability", "kuhn_v0", "random", *OUT]),
    "evaluate best-response": (
        evaluate.main,
        ["best-response", "kuhn_v0", "random", *FEW_GAMES, *OUT],
    ),
    "evaluate behaviour": (
        evaluate.main,
        ["behaviour", "holdem_v0", "random", "--games", "20", *NEW],
    ),
    "experiments.holdem.population": (population.main, ["--config", "population.yaml", *NEW]),
    "experiments.holdem.selection": (selection.main, ["--config", "selection.yaml", *NEW]),
    "experiments.__main__": (runner.main, ["tiny"]),
    "training.demo": (lambda _: demo.main(), []),
    "envs.pursuit.boards make": (boards.main, ["make", "grid", *OUT]),
    "envs.pursuit.boards draw": (boards.main, ["draw", "city", *OUT]),
    "envs.describe": (lambda _: describe.main(), []),
    "experiments.no_thanks.makers database": (
        makers.main,
        ["database", "out.npz", "--size", "1"],
    ),
    "experiments.no_thanks.makers network": (makers.main, ["network", "out.npz", "--size", "2"]),
    "experiments.no_thanks.makers self_play": (
        makers.main,
        ["self_play", "out.npz", "--rounds", "1", "--games", "2", "--epochs", "1"],
    ),
    "benchmarks": (lambda words: measure("tiny", "", [JOB], argv=words), ["--rounds", "1"]),
}
READS: dict[str, Command] = {
    "evaluate replay": (evaluate.main, ["replay", "played"]),
    "evaluate advise": (evaluate.main, ["advise", "kuhn_v0", "random"]),
    "envs.pursuit.boards check": (boards.main, ["check", "city"]),
}
NO_FILES = {
    "envs.core.warming",  # fills the compiler's cache, and does without if it cannot
    "play.compiling",
    "benchmarks.coverage",
    "benchmarks.dqn_quality",
    "benchmarks.play_load",
    "benchmarks.search_time",
    "benchmarks.variance_gain",
}
"""They print, or take long before they write by the one writer, as their sources show below."""


# ---- no command is forgotten ---------------------------------------------------------------------


BY_HARNESS = re.compile(r"benchmarks\.harness import (\([^)]*|[^\n(]*)\bmain\b")


def started() -> Iterator[str]:
    """Every command there is, by the name it is started with."""
    for path in sources():
        text = path.read_text(encoding="utf-8")
        if 'if __name__ == "__main__":' not in text:
            continue
        name = name_of(path)
        if BY_HARNESS.search(text):
            yield "benchmarks"  # all of them write by the harness
            continue
        words = words_of(name) if "add_subparsers(" in text else []
        yield from (f"{name} {word}" for word in words) if words else (name,)


def words_of(name: str) -> list[str]:
    main = command_line.main if name == "play" else import_module(name).main
    found = [
        each for each in parser_of(main)._actions if isinstance(each, argparse._SubParsersAction)
    ]
    return [word for each in found for word in each.choices]


def test_every_command_is_here() -> None:
    assert set(started()) == {*WRITES, *READS, *NO_FILES}


OWN_WRITERS = re.compile(
    r"\.write_text\(|\.write_bytes\(|open\([^)\n]*[\"'][wax]b?\+?[\"']|\.savefig\(path|"
    r"np\.savez?\w*\([^)\n]*path|torch\.save\(|\.to_csv\(|json\.dump\(|\.touch\(|pickle\.dump\("
)
ALLOWED = {
    "common.files": "the one writer",
    "training.metrics": "TensorBoard's own format grows while it is written",
    "benchmarks.peers": "os.devnull",
}


def test_everything_is_written_by_the_one_writer() -> None:
    """Whole or not at all, refused in one line: by common/files.py and by nobody else."""
    own = {name_of(path) for path in sources() if OWN_WRITERS.search(path.read_text("utf-8"))}
    assert own == set(ALLOWED)


# ---- a disk that takes nothing -------------------------------------------------------------------

FULL, READ_ONLY = OSError(28, "No space left on device"), OSError(30, "Read-only file system")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders that commands read: a tournament, and hands of hold'em."""
    folder = tmp_path_factory.mktemp("played")
    for name, game_id in (("played", "kuhn_v0"), ("hands", "holdem_v0")):
        agents = tuple(AgentSpec.parse(agent) for agent in ("random", "other=random"))
        options = {"num_players": 2} if game_id == "holdem_v0" else {}
        run_tournament(TournamentSpec(game_id, agents, options, deals=2), folder / name)
    return folder


@pytest.fixture
def folder(tmp_path: Path, played: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With the files that commands are given, and older ones where they write."""
    monkeypatch.chdir(tmp_path)
    for name in ("played", "hands"):
        (tmp_path / name).symlink_to(played / name)
    for name, content in FILES.items():
        (tmp_path / name).write_text(yaml.safe_dump(content))
    monkeypatch.setitem(runner.EXPERIMENTS, "tiny", f"{__name__}:TINY")
    for module, name, value in (
        (leaderboard, "PROJECT", tmp_path),
        (arena_commands, "PROJECT", tmp_path),
        (arena_commands, "find_configs", lambda _: [tmp_path / "tournament.yaml"]),
        (
            arena_commands,
            "write_leaderboards",
            partial(leaderboard.write_leaderboards, pages=tmp_path / "pages"),
        ),
        (demo, "CONFIGS", tmp_path / "demo"),
    ):
        monkeypatch.setattr(module, name, value)
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "x.yaml").write_text(yaml.safe_dump(RUN))
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def refuse_writing(monkeypatch: pytest.MonkeyPatch, fault: OSError) -> None:
    """Nothing can be made safe on a full disk, nor even begun on one that is read-only."""
    opened = os.open

    def fail(*_: Any, **__: Any) -> None:
        raise fault

    def open_to_read(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if flags & os.O_CREAT:
            raise fault
        return opened(path, flags, *rest, **more)

    made = os.mkdir

    def make_nothing(path: Any, *rest: Any) -> None:
        if Path(path).absolute().is_relative_to(Path.cwd()):
            raise fault
        made(path, *rest)  # such as the compiler's cache

    monkeypatch.setattr(os, "fsync", fail)
    if fault is READ_ONLY:
        monkeypatch.setattr(os, "open", open_to_read)
        monkeypatch.setattr(os, "mkdir", make_nothing)


CASES = [(name, fault) for name in WRITES for fault in (FULL, READ_ONLY)
         if (name, fault) != ("play", FULL)]  # fmt: skip
"""A server on a full disk begins, and says so at the tables: ``test_play_faults.py``."""


@pytest.mark.parametrize(
    ("name", "fault"),
    sample(CASES, lambda case: case[0]),
    ids=lambda value: getattr(value, "strerror", value),
)
def test_a_disk_that_takes_nothing_gets_one_line(
    name: str,
    fault: OSError,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    main, words = WRITES[name]
    (folder / "out.md").write_text("older")
    before = contents(folder)
    refuse_writing(monkeypatch, fault)
    assert main(words) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert str(fault.strerror) in said.splitlines()[-1]
    assert contents(folder) == before, "an older file stays whole, and nothing is left lying about"


@pytest.mark.parametrize("name", READS)
@pytest.mark.usefixtures("folder")
def test_who_only_reads_needs_no_disk(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_writing(monkeypatch, READ_ONLY)
    main, words = READS[name]
    assert main(words) == 0


@pytest.mark.parametrize("place", ["/proc/nowhere/out.md", "x" * 5000 + "/out.md"])
@pytest.mark.parametrize("name", [name for name, (_, words) in WRITES.items() if "--out" in words])
@pytest.mark.usefixtures("folder")
def test_a_place_that_cannot_be_written_gets_one_line(
    name: str, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main, words = WRITES[name]
    assert main([*words[:-1], place.replace(".md", Path(words[-1]).suffix)]) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert said.splitlines()[-1].count(":") > 1
