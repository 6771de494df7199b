"""What is installed: one command, the doors behind it, types, and one version."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path

import pytest

import masquerade
from common.commands import answers_in_one_line, as_called, calling_from
from common.errors import MasqueradeError
from common.imports import look_up
from masquerade.__main__ import DOORS, main

PROJECT = Path(__file__).resolve().parents[2]
CONTENT = tomllib.loads((PROJECT / "pyproject.toml").read_text())
TOOL = CONTENT["tool"]["setuptools"]


def test_the_package_makes_environments() -> None:
    env = masquerade.make("kuhn_v0", num_players=3)
    env.reset(seed=0)
    assert len(env.agents) == 3
    assert callable(masquerade.register_envs)


def test_there_is_one_version() -> None:
    assert "version" in CONTENT["project"]["dynamic"]
    module, _, name = TOOL["dynamic"]["version"]["attr"].partition(".")
    assert getattr(importlib.import_module(module), name) == masquerade.__version__


def test_every_script_and_every_door_is_something_to_call() -> None:
    for target in CONTENT["project"]["scripts"].values():
        assert callable(look_up("script", {"it": target}, "it"))
    for name in DOORS:
        assert callable(look_up("command", DOORS, name))
        inside = PROJECT / "masquerade" / "doors" / f"{name}.py"
        assert inside.read_bytes() == (PROJECT / f"{name}.py").read_bytes()


def test_every_package_has_its_types_and_is_shipped_with_them() -> None:
    patterns = TOOL["packages"]["find"]["include"]
    assert "masquerade*" in patterns
    for pattern in patterns:
        assert (PROJECT / pattern.removesuffix("*") / "py.typed").exists(), pattern
    assert TOOL["package-data"]["*"] == ["py.typed"]


def test_every_folder_of_code_is_a_package() -> None:
    # What has no __init__.py is left out without a word.
    for pattern in TOOL["packages"]["find"]["include"]:
        for path in (PROJECT / pattern.removesuffix("*")).rglob("*.py"):
            assert (path.parent / "__init__.py").exists(), path


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
def test_without_a_command_it_says_which_there_are(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert all(f"masquerade {name} " in shown for name in DOORS)


def test_it_tells_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"masquerade {masquerade.__version__}\n"


def test_an_unknown_command_gets_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evalaute"]) == 2
    assert capsys.readouterr().err == (
        "masquerade: unknown command 'evalaute': did you mean 'evaluate'? "
        "(known: evaluate, play, train)\n"
    )


@pytest.mark.parametrize("door", DOORS)
def test_a_door_speaks_of_the_command_that_opened_it(
    door: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main([door, "--help"])
    assert not end.value.code
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: masquerade {door}")
    assert ".py --" not in shown.replace("player.py", "")
    assert main([door, "--nothing"]) == 2
    assert capsys.readouterr().err.startswith(f"masquerade {door}: ")


def test_messages_name_commands_as_they_can_be_called(capsys: pytest.CaptureFixture[str]) -> None:
    @answers_in_one_line("train.py")
    def refuse() -> int:
        raise MasqueradeError("see python evaluate.py --list, or ask my/play.py")

    assert refuse() == 2
    with calling_from("masquerade"):
        assert refuse() == 2
    assert as_called("python play.py") == "python play.py"
    assert capsys.readouterr().err.splitlines() == [
        "train.py: see python evaluate.py --list, or ask my/play.py",
        "masquerade train: see masquerade evaluate --list, or ask my/play.py",
    ]
