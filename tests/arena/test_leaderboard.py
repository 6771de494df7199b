"""Leaderboards: a page for each tournament file with its agents, the same from the same code."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import evaluate
from agents.spec import AgentSpec
from arena.report import leaderboard
from arena.report.leaderboard import (
    CONFIGS,
    PAGES,
    find_configs,
    make_index,
    name_of,
    settings_of,
    write_leaderboards,
)
from arena.spec import read_config
from common.errors import MasqueradeError

configs = pytest.mark.parametrize(
    "config", [pytest.param(path, id=name_of(path)) for path in find_configs()]
)


def agents_on(page: str) -> list[str]:
    """The first column of the first table."""
    lines = page.partition("\n\n|")[2].partition("\n\n")[0].splitlines()
    return [line.strip("| ").split(" | ")[0] for line in lines[2:]]


@configs
def test_a_page_lists_the_agents_of_its_file(config: Path) -> None:
    name = name_of(config)
    page = (PAGES / f"{name}.md").read_text()
    wanted = sorted(agent.name for agent in read_config(config).agents)
    assert sorted(agents_on(page)) == wanted, f"run evaluate.py leaderboard {name}"


@configs
def test_a_page_says_how_it_was_made(config: Path) -> None:
    name = name_of(config)
    page = (PAGES / f"{name}.md").read_text()
    spec = read_config(config)
    assert page.startswith(f"# {spec.game_id}")
    assert f"{spec.deals:,} deals" in page, f"run evaluate.py leaderboard {name}"
    for line in settings_of(spec):
        assert line in page, f"run evaluate.py leaderboard {name}"
    assert f"seed {spec.seed};" in page
    assert f"```bash\npython evaluate.py leaderboard {name}\n```" in page
    assert f"`configs/tournaments/{name}.yaml`" in page


def test_the_index_is_that_of_the_pages() -> None:
    index = (PAGES / "README.md").read_text()
    assert index == make_index(PAGES)
    linked = set(re.findall(r"\]\(([\w/]+)\.md\)", index))
    assert linked == {name_of(config) for config in find_configs()}
    assert {name_of(page, PAGES) for page in PAGES.rglob("*.md")} == linked | {"README"}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(
        "game: {id: kuhn_v0}\nagents: [random, kuhn_rule, 'a|b=random']\ndeals: 50\nseed: 2\n"
    )
    return path


def test_the_same_code_writes_the_same_page(small: Path, tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        folder = tmp_path / name
        written = list(write_leaderboards([small], pages=folder, runs=tmp_path / f"runs {name}"))
        assert written == [folder / "tiny.md", folder / "README.md"]
        made.append([path.read_text() for path in written])
    assert made[0] == made[1]
    page, index = made[0]
    assert sorted(agents_on(page)) == ["a&#124;b", "kuhn_rule", "random"]
    assert "50 deals, each in 2 seatings, for every pair of agents; seed 2" in page
    assert "[kuhn_v0](tiny.md)" in index


def test_what_was_played_is_not_played_again_unless_code_or_runs_change(
    small: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    def write() -> None:
        list(write_leaderboards([small], pages=tmp_path / "pages", runs=tmp_path / "runs"))

    write()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.npz")}
    assert before
    write()
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.npz")} == before
    monkeypatch.setattr(AgentSpec, "fingerprint", lambda _: "trained anew")
    write()
    assert len(list(tmp_path.rglob("*.npz"))) == 2 * len(before)
    code = tmp_path / "project" / "agents"
    code.mkdir(parents=True)
    (code / "new.py").write_text("changed = True\n")
    shutil.copy(leaderboard.PROJECT / "pyproject.toml", code.parent)
    monkeypatch.setattr(leaderboard, "PROJECT", code.parent)
    write()
    assert len(list(tmp_path.rglob("*.npz"))) == 3 * len(before)


def test_fewer_games_are_said_on_the_page(small: Path, tmp_path: Path) -> None:
    list(write_leaderboards([small], games=21, pages=tmp_path / "p", runs=tmp_path / "r"))
    page = (tmp_path / "p" / "tiny.md").read_text()
    assert "11 deals, each in 2 seatings" in page
    assert "leaderboard tiny --games 21\n" in page


def test_games_are_found_by_file_and_by_id(capsys: Any) -> None:
    assert find_configs(["leduc_v0", "kuhn"]) == [CONFIGS / "leduc.yaml", CONFIGS / "kuhn.yaml"]
    with pytest.raises(MasqueradeError, match="did you mean 'leduc'"):
        find_configs(["leduk"])
    assert evaluate.main(["leaderboard", "chess"]) == 2
    assert "no tournament file for 'chess'" in capsys.readouterr().err


@pytest.mark.slow
@configs
def test_the_page_is_what_the_command_writes(config: Path, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    list(write_leaderboards([config], pages=pages, runs=tmp_path / "runs"))
    page = f"{name_of(config)}.md"
    assert (pages / page).read_text() == (PAGES / page).read_text()
