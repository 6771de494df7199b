"""No command writes over a file that it has not written itself, unless it is asked to."""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import evaluate
from agents.spec import AgentSpec
from arena.running.tournament import run_tournament
from arena.schedules.spec import TournamentSpec
from benchmarks.growth import PAINTER, save_figure
from envs.core.errors import FileError
from envs.core.files import write_text
from envs.core.signed import check_folder, check_out, signed
from envs.pursuit import boards
from tests.support.parsers import parser_of
from tests.support.tournaments import PROJECT

BY = "python evaluate.py exploitability"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small tournament."""
    found = tmp_path_factory.mktemp("overwriting") / "T"
    agents = AgentSpec.parse("random"), AgentSpec.parse("kuhn_rule")
    run_tournament(TournamentSpec("kuhn_v0", agents, deals=4, seed=1), found)
    return found


def contents(folder: Path) -> dict[str, str]:
    """Every file below a folder, by what is in it."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


KUHN = ("kuhn_v0", "random")


@pytest.mark.parametrize(
    "words",
    [
        ["export", "T", "--trust", "--out", "T/tournament.json"],
        ["export", "T", "--trust", "--out", "T/notes.phhs"],
        ["exploitability", *KUHN, "--out", "T/tournament.json"],
        ["exploitability", *KUHN, "--out", "T/./summary.json"],
        ["exploitability", *KUHN, "--out", "T/notes.md"],
        ["exploitability", *KUHN, "--out", "link.json"],
        ["exploitability", *KUHN, "--out", "dangling.json"],
        ["exploitability", *KUHN, "--out", "folder.json"],
        ["exploitability", *KUHN, "--out", "T/tournament.json/x.json"],
        ["exploitability", *KUHN, "--out", "pipe.json"],
        ["exploitability", *KUHN, "--out", f"{'x' * 230}.json"],
        ["exploitability", *KUHN, "--out", "unfinished/summary.json"],
        ["best-response", *KUHN, "--out", "T/tournament.json"],
        ["report", "T", "--out", "T/tournament.html"],
        ["report", "T", "--out", "T/summary.html"],
        ["report", "T", "--out", "notes.html"],
        ["behaviour", "holdem_v0", "notes=holdem_tight", "--out", "T"],
        ["tournament", "kuhn_v0", "random", "kuhn_rule", "--games", "2", "--out", "."],
        ["match", "kuhn_v0", "random", "kuhn_rule", "--games", "2", "--out", "seeded"],
        ["match", "kuhn_v0", "random", "kuhn_rule", "--games", "2", "--out", "notes.md"],
    ],
)
def test_what_somebody_else_has_written_stays(
    words: list[str], folder: Path, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    write_text(Path("T/tournament.json"), (folder / "tournament.json").read_text())
    write_text(Path("T/summary.json"), (folder / "summary.json").read_text())
    for name in ("T/notes.md", "T/notes.phhs", "notes.md", "unfinished/seed", "seeded/seed"):
        write_text(Path(name), "mine\n")
    Path("link.json").symlink_to("T/tournament.json")
    Path("dangling.json").symlink_to("nowhere.json")
    Path("folder.json").mkdir()
    os.mkfifo("pipe.json")
    before = contents(tmp_path)
    assert evaluate.main(words) == 2
    told = capsys.readouterr().err
    assert told.startswith("evaluate.py: ")
    assert told.count("\n") == 1
    assert contents(tmp_path) == before
    assert Path("dangling.json").is_symlink()


def test_a_command_writes_its_own_file_anew_and_any_file_by_force(
    tmp_path: Path, capsys: Any
) -> None:
    for name in ("found.json", "found.md"):
        words = ["exploitability", *KUHN, "--out", str(tmp_path / name)]
        for _ in range(2):
            assert evaluate.main(words) == 0
        write_text(tmp_path / name, "mine")
        assert evaluate.main(words) == 2
        assert "--force" in capsys.readouterr().err
        assert evaluate.main([*words, "--force"]) == 0
        assert "mine" not in (tmp_path / name).read_text()


def test_a_report_is_written_anew_at_its_place_and_a_single_foreign_part_stops_it(
    folder: Path, tmp_path: Path, capsys: Any
) -> None:
    words = ["report", str(folder), "--out", str(tmp_path / "kuhn.html")]
    assert evaluate.main(words) == evaluate.main(words) == 0
    for path in sorted(tmp_path.iterdir()):
        kept = path.read_text()
        path.write_text("mine,all mine\n")
        before = contents(tmp_path)
        assert evaluate.main(words) == 2, path
        assert path.name in capsys.readouterr().err
        assert contents(tmp_path) == before
        path.write_text(kept)


def test_a_report_in_its_tournament_leaves_what_somebody_else_has_put_there(
    tmp_path: Path, capsys: Any
) -> None:
    match = ["match", *KUHN, "kuhn_rule", "--games", "4", "--out", str(tmp_path / "T")]
    report = ["report", str(tmp_path / "T")]
    assert evaluate.main(match) == evaluate.main([*match, "--resume"]) == evaluate.main(report) == 0
    for name in ("report.html", "report.md", "report.json", "standings.csv"):
        path = tmp_path / "T" / name
        kept = path.read_text()
        path.write_text("mine,all mine\n")
        before = contents(tmp_path)
        for words in (report, [*match, "--resume"]):
            assert evaluate.main(words) == 2, words
            assert name in capsys.readouterr().err
            assert contents(tmp_path) == before
        path.write_text(kept)
    path.unlink()
    path.symlink_to("../elsewhere.csv")
    assert evaluate.main(report) == 2
    assert evaluate.main([*report, "--force"]) == 0


@pytest.mark.parametrize("suffix", [".json", ".md", ".html", ".svg", ".phhs"])
def test_only_the_beginning_says_whose_a_file_is(suffix: str, tmp_path: Path) -> None:
    text = {".json": '{\n "a": 1\n}', ".html": "<!DOCTYPE html>\n<p>"}.get(suffix, "# a\n\nb\n")
    path = tmp_path / f"x{suffix}"
    write_text(path, signed(text, suffix, f"{BY} kuhn_v0"))
    check_out(path, BY)
    for stranger in ("python evaluate.py exploit", "python evaluate.py report"):
        with pytest.raises(FileError, match="was not written by"):
            check_out(path, stranger)
    # A name inside that says so proves nothing.
    write_text(path, f'{{"agents": ["Written by `{BY}`", "written_by: {BY}"]}}')
    with pytest.raises(FileError, match="was not written by"):
        check_out(path, BY)
    write_text(path, "")
    check_out(path, BY)  # nothing is lost


def test_devices_keep_their_place(tmp_path: Path) -> None:
    check_out(Path("/dev/null"), BY, suffixes=[".json"])
    code = (
        "from pathlib import Path; from envs.core.files import write_text\n"
        "print('before', flush=True); write_text(Path('/dev/stdout'), 'page\\n'); print('after')\n"
        "write_text(Path('/dev/null'), 'x')"
    )
    out = tmp_path / "out.txt"
    with out.open("w") as file:
        subprocess.run([sys.executable, "-c", code], cwd=PROJECT, stdout=file, check=True)
    assert out.read_text().split() == ["before", "page", "after"]
    assert Path("/dev/null").is_char_device()
    assert Path("/dev/stdout").is_symlink()


def test_a_folder_holds_its_own_kind_or_nothing(tmp_path: Path) -> None:
    check_folder(tmp_path / "new" / "one", "tournament.json")
    check_folder(tmp_path, "tournament.json")
    write_text(tmp_path / ".x.partial", "what was killed")
    write_text(tmp_path / "seed", "7")
    check_folder(tmp_path, "tournament.json", ["seed"])
    with pytest.raises(FileError, match="holds other files"):
        check_folder(tmp_path, "tournament.json")
    write_text(tmp_path / "tournament.json", "{}")
    check_folder(tmp_path, "tournament.json")


def test_a_board_is_kept_unless_it_is_the_same(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "map.json"
    make = ["make", "grid", "--rows", "3", "--columns", "3", "--out", str(path)]
    assert boards.main(make) == boards.main(make) == 0
    path.write_text(path.read_text().replace("grid", "mine"))
    assert boards.main(make) == 2
    assert "--force" in capsys.readouterr().err
    assert "mine" in path.read_text()
    assert boards.main([*make, "--force"]) == 0
    assert "mine" not in path.read_text()


def test_agents_are_not_described_over_each_other(capsys: Any, tmp_path: Path) -> None:
    words = ["behaviour", "holdem_v0", "a b=holdem_tight", "a+b=holdem_loose", "--out"]
    assert evaluate.main([*words, str(tmp_path)]) == 2
    assert "name them otherwise" in capsys.readouterr().err


def test_every_command_that_writes_a_file_can_be_forced_to() -> None:
    """So that none is added without the guard; folders are new or empty."""
    parser = parser_of(evaluate.main)
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    for name, command in commands.choices.items():
        options = command._option_string_actions
        if "--out" in options and name not in ("tournament", "match"):
            assert "--force" in options, name


def test_a_picture_says_who_has_drawn_it(tmp_path: Path) -> None:
    from matplotlib import pyplot

    path = tmp_path / "curve.png"
    save_figure(pyplot.figure(figsize=(1, 1)), path)
    check_out(path, PAINTER)
    pyplot.figure(figsize=(1, 1)).savefig(path)
    with pytest.raises(FileError, match="was not written by"):
        check_out(path, PAINTER)
