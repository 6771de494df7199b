"""What programs from outside are sent."""

from __future__ import annotations

import pytest

from agents.processes.external import LineProcess


def lines_of(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Everything that is said to programs from now on."""
    lines: list[str] = []
    ask = LineProcess.ask

    def ask_and_note(process: LineProcess, line: str, seconds: float) -> str:
        lines.append(line)
        return ask(process, line, seconds)

    monkeypatch.setattr(LineProcess, "ask", ask_and_note)
    return lines
