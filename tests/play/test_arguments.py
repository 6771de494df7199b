"""Arguments of ``play.py`` that would be wrong or do nothing: one line, before anything starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from envs.core.errors import MasqueradeError
from play import door


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--against random", "a table needs a game"),
        ("--watch random", "a table needs a game"),
        ("--seat 0", "a table needs a game"),
        ("--option num_players=3", "a table needs a game"),
        ("kuhn_v0 --against nobody", "unknown agent 'nobody'"),
        ("kuhn_v0 --against leduc_rule", "plays leduc_v0"),
        ("kuhn_v0 --against =random", "nobody is renamed at a table"),
        ("kuhn_v0 --against cfr", "plays from a run"),
        ("kuhn_v0 --against cfr:nowhere", "is not there"),
        ("kuhn_v0 --against external", "external:PATH"),
        ("kuhn_v0 --against external:nowhere", "external player 'nowhere'"),
        ("kuhn_v0 --against random random", "but one seat is free"),
        ("liars_dice_v0 --against leaning", "on top of a trained player"),
        ("kuhn_v0 --watch random random random", "but 2 seats are free"),
        ("kuhn_v0 --watch me", "agents among themselves"),
        ("kuhn_v0 --watch random --seat 0", "leave out --seat"),
        ("kuhn_v0 --watch random --against random", "leave out --against"),
        ("kuhn_v0 --seat 2", "--seat must be from 0 to 1"),
        ("kuhn_v0 --seed 0", "leave out --seed"),
        ("kuhn_v0 --load game.json", "leave out the game"),
        ("--load game.json --terminal --seat 0", "leave out --seat and --terminal"),
        ("--load nowhere.json", "cannot be read"),
        ("--terminal kuhn_v0 --port 0", "leave out --port"),
        ("--terminal kuhn_v0 --pace 0 --folder x", "leave out --pace and --folder"),
        ("--terminal kuhn_v0 --against nobody", "unknown agent 'nobody'"),
        ("--terminal --against nobody", "unknown agent 'nobody'"),
        ("--terminal kuhn_v0 --watch random --seat 0", "leave out --seat"),
        ("--list --players random", "--list needs a game"),
        ("--list kuhn_v0 --seat 0", "leave out --seat"),
        ("kuhn_v0 --option num_players=3 --option num_players=4", "given twice"),
        ("kuhn_v0 --option preset=nothing", "preset"),
        ("kuhn_v0 --host=", "every address"),
        ("kuhn_v0 --players nobody", "unknown agent 'nobody'"),
        ("kuhn_v0 --players cfr", "plays from a run"),
    ],
)
def test_what_is_wrong_or_does_nothing_is_refused(
    words: str, said: str, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(door, "_listen", lambda *_: pytest.fail("a server was started"))
    monkeypatch.setattr("sys.stdin", None)
    assert door.main(words.split()) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert said in told.err


def test_a_host_that_there_is_not_is_no_fault_of_the_port() -> None:
    with pytest.raises(MasqueradeError, match="choose another --host"):
        door._listen("no host", 0)


def test_what_is_not_said_is_as_usual() -> None:
    parsed = door.parse_arguments(["kuhn_v0", "--seat", "0", "--port", "0", "--pace", "0"])
    assert (parsed.seat, parsed.port, parsed.pace) == (0, 0, 0)
    assert (parsed.host, parsed.folder) == ("127.0.0.1", door.FOLDER)
