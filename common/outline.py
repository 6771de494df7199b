"""What a class says of itself, read from its source: nothing is imported or compiled."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]


def summary_of(place: str) -> str:
    """The first line of the docstring of ``"module:Class"``.

    >>> summary_of("agents.base:RandomAgent")
    'Plays uniformly among the legal actions.'
    """
    found = _class(place)
    docstring = ast.get_docstring(found[1]) if found else None
    return (docstring or "").partition("\n")[0]


def constant_of(place: str, attribute: str) -> Any:
    """What a class or one that it is derived from sets an attribute to; ``None`` if that is hidden.

    >>> constant_of("agents.games.kuhn.rule:KuhnRule", "game_ids")
    ('kuhn_v0',)
    >>> constant_of("agents.cfr.learner:CFRLearner", "unit")
    'iterations'
    """
    found = _assigned(place, attribute)
    if found and isinstance(found[1], ast.Name):
        found = _defined(found[0], found[1].id)
    return _literal(found)


def class_at(place: str, attribute: str) -> str | None:
    """The place of the class that a class names in an attribute, its own or an inherited one.

    >>> class_at("envs.kuhn.game:Kuhn", "Options")
    'envs.kuhn.game:KuhnOptions'
    """
    found = _assigned(place, attribute)
    if found is None or not isinstance(found[1], ast.Name):
        return None
    home = _class(f"{found[0]}:{found[1].id}")
    return f"{home[0]}:{home[1].name}" if home else None


def fields_of(place: str) -> tuple[str, ...] | None:
    """The fields of a class of ``Options`` with those it is derived from; ``None`` if hidden.

    >>> fields_of("envs.kuhn.game:KuhnOptions")
    ('num_players',)
    """
    found = _class(place)
    if found is None:
        return None
    module, node = found
    if (module, node.name) == ("envs.core.options", "Options"):
        return ()
    names: list[str] = []
    for base in _bases(module, node):
        above = fields_of(base) if base else None
        if above is None:
            return None
        names += above
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            names += [line.target.id] * ("ClassVar" not in ast.unparse(line.annotation))
    return tuple(dict.fromkeys(names))


def parameters_of(place: str) -> tuple[str, ...] | None:
    """What a class is made with; ``None`` if that is hidden.

    What a constructor takes beyond its own parameters are fields of its ``settings_class``, and
    what the constructor above it takes.

    >>> parameters_of("agents.games.holdem.players:PotOdds")
    ('game', 'num_samples')
    >>> "iterations" in (parameters_of("agents.games.holdem.search:HoldemSearch") or ())
    True
    """
    found = _class(place)
    if found is None or found[1].decorator_list:
        return None
    module, node = found
    makers = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
    taken = [a.arg for made in makers for a in (*made.args.args[1:], *made.args.kwonlyargs)]
    if makers and makers[0].args.kwarg is None:
        return tuple(taken)
    settings = class_at(place, "settings_class")
    rest = [fields_of(settings) if settings else None] if makers else []
    rest += [parameters_of(base) if base else None for base in _bases(module, node)]
    if None in rest:
        return None
    return tuple(dict.fromkeys((*taken, *(name for names in rest for name in names or ()))))


def value_of(place: str) -> Any:
    """What ``"module:NAME"`` is set to; ``None`` if that is hidden.

    >>> value_of("arena.workers:EXECUTORS")
    ('processes', 'ray')
    """
    return _literal(_defined(*place.split(":")))


def _literal(found: tuple[str, ast.AST] | None) -> Any:
    try:
        return ast.literal_eval(found[1]) if found else None
    except ValueError:
        return None


def _assigned(place: str, attribute: str) -> tuple[str, ast.AST] | None:
    """The expression that a class sets an attribute to, and the module in which that stands."""
    found = _class(place)
    if found is None:
        return None
    module, node = found
    for line in node.body:
        value = _value(line, attribute)
        if value:
            return module, value
    above = (_assigned(base, attribute) for base in _bases(module, node) if base)
    return next((inherited for inherited in above if inherited), None)


def _bases(module: str, node: ast.ClassDef) -> list[str | None]:
    """The places of the classes that a class is derived from; ``None`` for one that is hidden."""
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
    return [f"{module}:{base.id}" if isinstance(base, ast.Name) else None for base in bases]


def _class(place: str) -> tuple[str, ast.ClassDef] | None:
    """The module in which the class of a place is defined, by whatever import it came, and it."""
    found = _defined(*place.split(":"))
    return (found[0], found[1]) if found and isinstance(found[1], ast.ClassDef) else None


def _defined(module: str, name: str) -> tuple[str, ast.AST] | None:
    """The class or the expression that a name of a module stands for, and where that stands."""
    for node in _read(module):
        if isinstance(node, ast.ClassDef) and node.name == name:
            return module, node
        value = _value(node, name)
        if value:
            return module, value
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                if (each.asname or each.name) == name:
                    return _defined(node.module, each.name)
    return None


def _value(line: ast.stmt, name: str) -> ast.AST | None:
    """What a line sets a name to."""
    targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
    is_set = any(isinstance(target, ast.Name) and target.id == name for target in targets)
    return getattr(line, "value", None) if is_set else None


@cache
def _read(module: str) -> list[ast.stmt]:
    """The lines of a module of ours; none of any other."""
    path = PROJECT.joinpath(*module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return ast.parse(file.read_text(encoding="utf-8")).body
    return []
