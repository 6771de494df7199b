"""No module imports itself in a circle: what a room is made of can be read from the bottom up.

Imports for type checkers count, and so do imports within functions, unless a comment that begins
with ``Imported when needed`` above them says what they cost.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
ROOMS = ("envs", "agents", "arena", "training", "benchmarks")
LAZY = "# Imported when needed"


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


def find_cycle(graph: dict[str, set[str]]) -> list[str]:
    """One circle of a graph, or nothing."""
    state: dict[str, int] = {}
    path: list[str] = []

    def visit(module: str) -> list[str]:
        state[module] = 1
        path.append(module)
        for other in sorted(graph[module]):
            if state.get(other) == 1:
                return [*path[path.index(other) :], other]
            if other not in state and (found := visit(other)):
                return found
        path.pop()
        state[module] = 2
        return []

    for module in sorted(graph):
        if module not in state and (found := visit(module)):
            return found
    return []


@pytest.mark.parametrize("room", ROOMS)
def test_no_module_of_a_room_imports_itself_in_a_circle(room: str) -> None:
    paths = {module_name(path): path for path in (PROJECT / room).rglob("*.py")}
    graph = {name: set(imported(path, set(paths))) - {name} for name, path in paths.items()}
    assert not (cycle := find_cycle(graph)), " -> ".join(cycle)


def test_a_circle_is_found() -> None:
    assert find_cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert find_cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_an_import_with_a_reason_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        "def f():\n    # Imported when needed: it is slow.\n    import b\n    import c\n"
    )
    assert list(imported(path, {"b", "c"})) == ["c"]
