"""The programs of No Thanks!: bad input gets one line and exit code 2."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

MAKERS = "experiments.no_thanks.makers"
BAD = [
    (MAKERS, ["database", "{}/a.npz", "--size", "0"], "must be from 1 to"),
    (MAKERS, ["database", "{}/a.npz", "--segments", "3", "3"], "must add up to the 24 cards"),
    (MAKERS, ["database", "{}/a.npz", "--seed", "-1"], "must be from 0 to"),
    (MAKERS, ["network", "{}/a.npz", "--workers", "0"], "must be from 1 to"),
    (MAKERS, ["self_play", "{}/a.npz", "--games", "many"], "invalid"),
]


@pytest.mark.parametrize(("module", "arguments", "message"), BAD, ids=str)
def test_bad_input_is_answered_in_one_line(
    module: str,
    arguments: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    main = importlib.import_module(module).main
    assert main([text.format(tmp_path) for text in arguments]) == 2
    assert message in capsys.readouterr().err.splitlines()[-1]  # before it: what is compiled
    assert not list(tmp_path.iterdir())
