"""What editors are told about the files of runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import train

SCHEMA = Path("configs/schema.json")
MARK = "# yaml-language-server: $schema=../schema.json\n"


def test_the_schema_that_is_shipped_says_what_the_code_does(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert train.main(["--schema"]) == 0
    assert capsys.readouterr().out == SCHEMA.read_text(), (
        "run python train.py --schema > configs/schema.json"
    )


def test_nothing_is_compiled_to_say_so(tmp_path: Path) -> None:
    """Fields and ranges run nothing of what is compiled, and that takes minutes from nothing."""
    cache = tmp_path / "cache"
    found = subprocess.run(
        [sys.executable, "train.py", "--schema"],
        env={**os.environ, "MASQUERADE_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == SCHEMA.read_text()
    assert "compiling" not in found.stderr
    assert not cache.exists()


@pytest.fixture(scope="module")
def schema() -> Any:
    content = json.loads(SCHEMA.read_text())
    jsonschema.Draft7Validator.check_schema(content)
    return jsonschema.Draft7Validator(content)


def test_every_file_that_names_the_schema_follows_it(schema: Any) -> None:
    marked = [path for path in Path("configs").glob("*/*.yaml") if MARK in path.read_text()]
    assert len(marked) > 70
    for path in marked:
        assert not list(schema.iter_errors(yaml.safe_load(path.read_text()))), path


@pytest.mark.parametrize(
    "wrong",
    [
        {"trian": {}},
        {"train": {"amount": 3}},
        {"game": {"id": "kuhn"}},
        {"game": {"id": "kuhn_v0", "params": {"num_players": 9}}},
        {"agent": {"id": "dqn", "params": {"hiden": 3}}},
        {"agent": {"id": "dqn", "params": {"learning_rate": "fast"}}},
    ],
    ids=str,
)
def test_the_schema_refuses_what_a_run_refuses(wrong: dict[str, Any], schema: Any) -> None:
    assert list(schema.iter_errors(wrong))
