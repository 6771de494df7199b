"""No module imports itself in a circle: what a room is made of can be read from the bottom up.

Imports for type checkers count, and so do imports within functions, unless a comment that begins
with ``Imported when needed`` above them says what they cost.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
ROOMS = (
    "common",
    "envs",
    "agents",
    "arena",
    "training",
    "play",
    "masquerade",
    "experiments",
    "benchmarks",
)
LAZY = "# Imported when needed"

# The only circles there may be, each of two or three modules that name each other's types.
KNOWN = (
    # A game makes positions and drawings of itself, and both take the game.
    ("envs.core.game", "envs.core.position", "envs.core.drawing"),
    *(
        (f"envs.{path.parent.name}.game", f"envs.{path.parent.name}.picture")
        for path in sorted((PROJECT / "envs").glob("*/picture.py"))
    ),
    # The table of a room looks up what is in it; this asks for the table.
    ("agents", "agents.base"),
)


def module_name(path: Path) -> str:
    parts = path.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path, modules: set[str]) -> Iterator[str]:
    """The modules among ``modules`` that a file imports."""
    text = path.read_text()
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Import | ast.ImportFrom) or is_lazy(lines, node.lineno):
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            # ``from package import name``: the name may be a module of the package.
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in modules else str(node.module) for name in names]
        yield from (name for name in names if name in modules)


def is_lazy(lines: list[str], number: int) -> bool:
    """Whether the comment above the import, over one line or several, gives a reason."""
    above = number - 2
    while above >= 0 and lines[above].strip().startswith("#"):
        if lines[above].strip().startswith(LAZY):
            return True
        above -= 1
    return False


def circles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """Sets of modules that import each other in a circle."""
    reach = {module: _reachable(graph, module) for module in graph}
    found = (frozenset(b for b in reach[a] if a in reach[b]) for a in graph)
    return {circle for circle in found if len(circle) > 1}


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for other in graph[waiting.pop()] - found:
            found.add(other)
            waiting.append(other)
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_no_module_of_a_room_imports_itself_in_a_circle(room: str) -> None:
    paths = {module_name(path): path for path in (PROJECT / room).rglob("*.py")}
    graph = {name: set(imported(path, set(paths))) - {name} for name, path in paths.items()}
    known = {frozenset(circle) for circle in KNOWN if all(name in paths for name in circle)}
    assert circles(graph) <= known


def test_a_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == {frozenset("bc")}
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == {frozenset("abc")}
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == set()


def test_an_import_with_a_reason_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        "def f():\n    # Imported when needed: it is slow.\n    import b\n    import c\n"
    )
    assert list(imported(path, {"b", "c"})) == ["c"]


HEAVY = ("numba", "numpy", "scipy", "torch", "envs.core.rng")


@pytest.mark.parametrize("door", ["train.py", "evaluate.py", "play.py"])
@pytest.mark.parametrize("question", ["--help", "--list"])
def test_a_door_answers_a_question_without_compiling(
    door: str, question: str, tmp_path: Path
) -> None:
    program = (
        "import runpy, sys\n"
        f"sys.argv = [{door!r}, {question!r}]\n"
        "try:\n"
        f"    runpy.run_path({str(PROJECT / door)!r}, run_name='__main__')\n"
        "except SystemExit as end:\n"
        "    assert not end.code, end.code\n"
        f"print('imported:', [name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=PROJECT,
        env={**os.environ, "MASQUERADE_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "imported: []" in done.stdout
    assert len(done.stdout.splitlines()) > 10
    assert not (tmp_path / "cache").exists()
