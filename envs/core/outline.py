"""What a class says of itself, read from its source: nothing is imported or compiled."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["attribute_of", "summary_of"]

PROJECT = Path(__file__).resolve().parents[2]


def summary_of(place: str) -> str:
    """The first line of the docstring of ``"module:Class"``.

    >>> summary_of("agents.uniform:RandomAgent")
    'Plays uniformly among the legal actions.'
    """
    module, name = place.split(":")
    found = _find(module, name)
    docstring = ast.get_docstring(found[1]) if found else None
    return (docstring or "").partition("\n")[0]


def attribute_of(place: str, attribute: str) -> Any:
    """A constant of ``"module:Class"``, its own or that of the class it is derived from.

    >>> attribute_of("agents.cfr.learner:CFRLearner", "unit")
    'iterations'
    """
    module, name = place.split(":")
    found = _find(module, name)
    if found is None:
        return None
    module, node = found
    for line in node.body:
        targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
        if any(isinstance(t, ast.Name) and t.id == attribute for t in targets):
            value = getattr(line, "value", None)
            return value.value if isinstance(value, ast.Constant) else None
    for base in node.bases:
        if isinstance(base, ast.Subscript):
            base = base.value
        inherited = isinstance(base, ast.Name) and attribute_of(f"{module}:{base.id}", attribute)
        if inherited:
            return inherited
    return None


def _find(module: str, name: str) -> tuple[str, ast.ClassDef] | None:
    """The module in which a class is defined, by whatever import it came, and the class."""
    tree = _read(module)
    for node in tree.body if tree else ():
        if isinstance(node, ast.ClassDef) and node.name == name:
            return module, node
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                if (each.asname or each.name) == name:
                    return _find(node.module, each.name)
    return None


@cache
def _read(module: str) -> ast.Module | None:
    path = PROJECT.joinpath(*module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return ast.parse(file.read_text(encoding="utf-8"))
    return None
