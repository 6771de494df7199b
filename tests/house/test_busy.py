"""The command behind ``make test-busy``: the first failure ends it, and so does every loop."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import busy

# Passes once: it leaves a file, and fails where it finds one.
ONCE = "import pathlib, sys; p = pathlib.Path(sys.argv[1]); sys.exit(5 * p.exists() or p.touch())"


def test_it_stops_at_the_first_failure_and_ends_its_loops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def note(*arguments: Any, **more: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*arguments, **more))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", note)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert busy.main(["3", sys.executable, "-c", ONCE, str(tmp_path / "file")]) == 5
    said = capsys.readouterr().err.splitlines()
    assert said == ["busy run 1 of 3 passed", "busy run 2 of 3 failed with exit code 5"]
    assert len(started) == 2 + 2, "two loops, two runs"
    assert all(process.returncode is not None for process in started)
