"""What no linter checks: annotations, arrows between rooms, no machine's paths."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

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
COMPILED = {"kernel", "compiled", "helper", "inlined", "summing"}

# Which rooms a room may import from: the arrows point one way.
MAY_IMPORT = {
    "common": {"common"},
    "envs": {"common", "envs"},
    "agents": {"agents", "common", "envs"},
    "arena": {"agents", "arena", "common", "envs"},
    "training": {"agents", "arena", "common", "envs", "training"},
    "play": {"agents", "arena", "common", "envs", "play"},
    "masquerade": {"agents", "arena", "common", "envs", "masquerade", "play", "training"},
    "experiments": {
        "agents",
        "arena",
        "benchmarks",
        "common",
        "envs",
        "experiments",
        "play",
        "training",
    },
    "benchmarks": {"agents", "arena", "benchmarks", "common", "envs", "play", "training"},
}

SOURCES = [path for room in ROOMS for path in sorted((PROJECT / room).rglob("*.py"))]


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def decorators(function: ast.FunctionDef) -> set[str]:
    names = set()
    for decorator in function.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(target, ast.Name):
            names.add(target.id)
    return names


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def test_everything_that_is_not_compiled_is_annotated() -> None:
    for path in SOURCES:
        for function in functions(tree_of(path)):
            if decorators(function) & COMPILED:
                continue
            arguments = function.args.args + function.args.kwonlyargs
            bare = [a.arg for a in arguments if a.annotation is None]
            where = f"{path.relative_to(PROJECT)}: {function.name}"
            assert not set(bare) - {"self", "cls"}, f"{where}: annotate {bare}"
            assert function.returns is not None, f"{where}: annotate what it returns"


def test_helpers_of_games_are_called_by_compiled_code_only() -> None:
    """From Python they are compiled in every process anew, which takes seconds."""
    trees = {path: tree_of(path) for path in SOURCES if "envs" in path.parts}
    names = {
        path: {f.name for f in functions(tree) if decorators(f) & {"helper", "inlined"}}
        for path, tree in trees.items()
    }
    modules = {".".join(path.relative_to(PROJECT).with_suffix("").parts): path for path in trees}
    for path, tree in trees.items():
        known = set(names[path])
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in modules:
                known |= {a.name for a in node.names} & names[modules[node.module]]
        for function in functions(tree):
            if not decorators(function) & COMPILED:
                calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
                called = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
                assert not called & known, f"{path.name}: {function.name} calls {called & known}"


def test_arrows_between_rooms_point_one_way() -> None:
    nodes = ((path, node) for path in SOURCES for node in ast.walk(tree_of(path)))
    for path, node in nodes:
        room = path.relative_to(PROJECT).parts[0]
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = [node.module]
        for module in modules:
            top = module.split(".")[0]
            assert top not in MAY_IMPORT or top in MAY_IMPORT[room], (
                f"{path}: {room} may not import {module}"
            )


def test_a_class_name_means_one_thing() -> None:
    places: dict[str, set[str]] = {}
    for path in SOURCES:
        if not path.is_symlink():
            for node in tree_of(path).body:
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, set()).add(str(path.relative_to(PROJECT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_folders_of_a_room_do_not_need_each_other() -> None:
    """What lies beside the folders of a room is its table and its contracts."""
    arrows = set()
    for path in SOURCES:
        here = path.relative_to(PROJECT).parts[:2]
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and node.module:
                there = tuple(node.module.split(".")[:2])
                if (
                    here[0] == there[0]
                    and here != there
                    and all(is_folder(at) for at in (here, there))
                ):
                    arrows.add((here, there))
    assert [arrow for arrow in arrows if arrow[::-1] in arrows] == []


def is_folder(parts: tuple[str, ...]) -> bool:
    return len(parts) == 2 and PROJECT.joinpath(*parts).is_dir()


def test_no_test_module_imports_another() -> None:
    """What tests share is in tests/support."""
    for path in sorted((PROJECT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert not (node.module or "").rpartition(".")[2].startswith("test_"), path


def test_no_tracked_file_is_large_or_names_a_machine() -> None:
    listing = subprocess.run(
        ["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    for name in listing.stdout.split():
        path = PROJECT / name
        if not path.exists():
            continue
        assert path.stat().st_size < 1_000_000, f"{name} is over 1 MB"
        if (
            path.suffix in {".py", ".md", ".toml", ".yaml", ".txt", ""}
            and path.name != "test_style.py"
        ):
            text = path.read_text(errors="ignore")
            assert "/root/" not in text, f"{name} names a machine's folder"
            assert "/work/" not in text, f"{name} names a machine's folder"
