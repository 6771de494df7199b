"""Documentation that cannot drift: its code runs, and the games' pages are generated."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from envs import GAMES
from envs.describe import DOCS, describe, picture

PROJECT = Path(__file__).resolve().parents[2]


def code_blocks() -> list[tuple[str, str]]:
    blocks = []
    for name in ("README.md", "CONTRIBUTING.md"):
        found = re.findall(r"```python\n(.*?)```", (PROJECT / name).read_text(), re.DOTALL)
        blocks += [(f"{name}-{i}", code) for i, code in enumerate(found)]
    return blocks


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in code_blocks()])
def test_the_code_in_the_documentation_runs(code: str) -> None:
    exec(compile(code, "documentation", "exec"), {"__name__": "documentation"})


@pytest.mark.parametrize("game_id", GAMES)
def test_the_page_of_a_game_says_what_the_code_does(game_id: str) -> None:
    page = (DOCS / "games" / f"{game_id}.md").read_text()
    assert page == describe(game_id), "run python -m envs.describe"


@pytest.mark.parametrize("game_id", GAMES)
def test_the_picture_of_a_game_is_what_the_code_draws(game_id: str) -> None:
    shown = (DOCS / "images" / f"{game_id}.svg").read_text()
    assert shown == picture(game_id), "run python -m envs.describe"


def test_every_link_in_the_documentation_leads_somewhere() -> None:
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (PROJECT / name).read_text()
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
            assert (PROJECT / target).exists(), f"{name}: {target}"


def test_every_game_has_a_row_in_the_readme() -> None:
    text = (PROJECT / "README.md").read_text()
    assert all(f"`{game_id}`" in text for game_id in GAMES)
